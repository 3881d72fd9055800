// SPDX-License-Identifier: MIT
#include "kernels/graph/copy_gathers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace tessera::graph {
namespace {

/// Words that a gather vertex makes at most: their elements lie within what its indices of 16 bits
/// reach.
constexpr std::size_t kMostGathered = 16'000;
constexpr std::uint32_t kZeroIndex = 0; ///< a gather's temporary begins with a word of zeros

class Splitter {
public:
    explicit Splitter(std::size_t most_words) : most_words_(std::min(kMostGathered, most_words)) {}

    Words run(const std::vector<Atom>& atoms, const std::vector<Atom>& in_place) {
        split(atoms);
        join_halves();
        join_moves();
        find_gathers(in_place);
        for (Gather& gather : gathers_) {
            fill(gather);
        }
        return {std::move(moves_), std::move(gathers_)};
    }

private:
    /// Whole words, and halves of words.
    void split(const std::vector<Atom>& atoms) {
        for (Atom atom : atoms) {
            if (atom.from.offset % kWord != atom.to.offset % kWord) {
                add_halves(atom);
                continue;
            }
            if (atom.to.offset % kWord != 0) {
                add_halves({atom.from, atom.to, kHalf});
                atom = {atom.from + kHalf, atom.to + kHalf, atom.bytes - kHalf};
            }
            const std::uint32_t whole = atom.bytes / kWord * kWord;
            if (whole != 0) {
                moves_.push_back({atom.from, atom.to, whole});
            }
            add_halves({atom.from + whole, atom.to + whole, atom.bytes - whole});
        }
    }
    void add_halves(const Atom& atom) {
        for (std::uint32_t at = 0; at < atom.bytes; at += kHalf) {
            halves_.push_back({atom.from + at, atom.to + at, kHalf});
        }
    }

    /// Two halves of one word that stay together are a whole one.
    void join_halves() {
        std::ranges::sort(halves_, {}, &Atom::to);
        std::vector<Atom> kept;
        for (const Atom& half : halves_) {
            const bool fits = !kept.empty() && half.to.offset % kWord == kHalf &&
                              half.from.offset % kWord == kHalf &&
                              kept.back().to + kHalf == half.to &&
                              kept.back().from + kHalf == half.from;
            if (fits) {
                moves_.push_back({kept.back().from, kept.back().to, kWord});
                kept.pop_back();
            } else {
                kept.push_back(half);
            }
        }
        halves_ = std::move(kept);
    }

    /// Moves that go on in the next one become one.
    void join_moves() {
        std::sort(moves_.begin(), moves_.end(), [](const Atom& left, const Atom& right) {
            return std::tie(left.from.tile, left.to.tile, left.from, left.to) <
                   std::tie(right.from.tile, right.to.tile, right.from, right.to);
        });
        std::vector<Atom> joined;
        for (const Atom& move : moves_) {
            if (!joined.empty() && joined.back().from + joined.back().bytes == move.from &&
                joined.back().to + joined.back().bytes == move.to) {
                joined.back().bytes += move.bytes;
            } else {
                joined.push_back(move);
            }
        }
        moves_ = std::move(joined);
    }

    /// A word made of halves takes a codelet. So do then the words around it, as far as gaps are
    /// small: one vertex makes them all.
    void find_gathers(const std::vector<Atom>& in_place) {
        std::ranges::sort(halves_, {}, &Atom::to);
        std::map<std::pair<TileId, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> hulls;
        for (const Atom& half : halves_) {
            const auto [hull, added] = hulls.emplace(std::pair{half.to.tile, half.to.buffer},
                                                     std::pair{half.to.offset, half.to.offset});
            hull->second.second = half.to.offset + kHalf;
        }
        std::vector<Atom> kept;
        for (const Atom& move : moves_) {
            const auto hull = hulls.find({move.to.tile, move.to.buffer});
            if (hull == hulls.end() || move.to.offset + move.bytes <= hull->second.first ||
                move.to.offset >= hull->second.second) {
                kept.push_back(move);
            } else {
                add_halves(move);
            }
        }
        moves_ = std::move(kept);
        for (const Atom& there : in_place) { // would be lost as gaps
            if (hulls.contains({there.to.tile, there.to.buffer})) {
                add_halves(there);
            }
        }
        std::ranges::sort(halves_, {}, &Atom::to);
        for (const Atom& half : halves_) {
            const At word{half.to.tile, half.to.buffer, half.to.offset / kWord * kWord};
            if (gathers_.empty() || !goes_on(gathers_.back(), word)) {
                gathers_.push_back({.to = word, .sources = {}, .list = {}, .needed = {}});
            }
            Gather& gather = gathers_.back();
            const std::size_t index = (half.to.offset - gather.to.offset) / kHalf;
            gather.sources.resize((index / 2 + 1) * 2);
            gather.sources[index] = half.from;
        }
    }
    [[nodiscard]] bool goes_on(const Gather& gather, const At& word) const {
        const auto end =
            gather.to.offset + static_cast<std::uint32_t>(gather.sources.size()) * kHalf;
        const std::size_t words = (word.offset - gather.to.offset) / kWord;
        return gather.to.tile == word.tile && gather.to.buffer == word.buffer &&
               word.offset <= end + kSmallGap && words < most_words_;
    }

    [[nodiscard]] static std::uint32_t index_of(const Gather& gather,
                                                const std::optional<At>& source) {
        if (!source) {
            return kZeroIndex;
        }
        const At word{source->tile, source->buffer, source->offset / kWord * kWord};
        const auto at = std::lower_bound(gather.needed.begin(), gather.needed.end(), word);
        const auto before = static_cast<std::uint32_t>(std::distance(gather.needed.begin(), at));
        return 2 * (before + 1) + (source->offset % kWord) / kHalf;
    }

    /// Which words a gather reads, and their halves by number.
    static void fill(Gather& gather) {
        const auto& sources = gather.sources;
        for (const auto& source : sources) {
            gather.needs_zero = gather.needs_zero || !source;
            if (source) {
                gather.needed.push_back(
                    {source->tile, source->buffer, source->offset / kWord * kWord});
            }
        }
        std::sort(gather.needed.begin(), gather.needed.end());
        gather.needed.erase(std::unique(gather.needed.begin(), gather.needed.end()),
                            gather.needed.end());
        for (std::size_t i = 0; i < sources.size(); i += 2) {
            gather.list.push_back(index_of(gather, sources[i]) | index_of(gather, sources[i + 1])
                                                                     << 16U);
        }
    }

    std::size_t most_words_;
    std::vector<Atom> moves_;
    std::vector<Atom> halves_;
    std::vector<Gather> gathers_;
};

} // namespace

Words in_words(const std::vector<Atom>& atoms, const std::vector<Atom>& in_place,
               std::size_t most_words) {
    return Splitter(most_words).run(atoms, in_place);
}

} // namespace tessera::graph
