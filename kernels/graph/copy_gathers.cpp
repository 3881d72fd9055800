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
constexpr std::size_t kMostGathered = 64'000; ///< over the square of a word's parts
constexpr std::uint32_t kZeroIndex = 0;       ///< a gather's temporary begins with a word of zeros

class Splitter {
public:
    Splitter(std::size_t most_words, std::uint32_t part)
        : part_(part), most_words_(std::min(kMostGathered / in_word() / in_word(), most_words)) {}

    Words run(const std::vector<Atom>& atoms, const std::vector<Atom>& in_place) {
        split(atoms);
        join_parts();
        join_moves();
        find_gathers(in_place);
        for (Gather& gather : gathers_) {
            fill(gather);
        }
        return {std::move(moves_), std::move(gathers_)};
    }

private:
    /// Whole words, and parts of words.
    void split(const std::vector<Atom>& atoms) {
        for (Atom atom : atoms) {
            if (atom.from.offset % kWord != atom.to.offset % kWord) {
                add_parts(atom);
                continue;
            }
            const std::uint32_t first =
                std::min(atom.bytes, (kWord - atom.to.offset % kWord) % kWord);
            add_parts({atom.from, atom.to, first});
            atom = {atom.from + first, atom.to + first, atom.bytes - first};
            const std::uint32_t whole = atom.bytes / kWord * kWord;
            if (whole != 0) {
                moves_.push_back({atom.from, atom.to, whole});
            }
            add_parts({atom.from + whole, atom.to + whole, atom.bytes - whole});
        }
    }
    void add_parts(const Atom& atom) {
        for (std::uint32_t at = 0; at < atom.bytes; at += part_) {
            parts_.push_back({atom.from + at, atom.to + at, part_});
        }
    }

    /// All parts of one word that stay together are a whole one.
    void join_parts() {
        std::ranges::sort(parts_, {}, &Atom::to);
        std::vector<Atom> kept;
        for (const Atom& part : parts_) {
            const bool goes_on = !kept.empty() && kept.back().to + kept.back().bytes == part.to &&
                                 kept.back().from + kept.back().bytes == part.from &&
                                 part.to.offset % kWord != 0;
            if (!goes_on || kept.back().from.offset % kWord != kept.back().to.offset % kWord) {
                kept.push_back(part);
                continue;
            }
            kept.back().bytes += part.bytes;
            if (kept.back().bytes == kWord) {
                moves_.push_back(kept.back());
                kept.pop_back();
            }
        }
        parts_.clear();
        for (const Atom& some : kept) {
            add_parts(some);
        }
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

    /// A word made of parts takes a codelet. So do then the words around it, as far as gaps are
    /// small: one vertex makes them all.
    void find_gathers(const std::vector<Atom>& in_place) {
        std::ranges::sort(parts_, {}, &Atom::to);
        std::map<std::pair<TileId, std::uint32_t>, std::pair<std::uint32_t, std::uint32_t>> hulls;
        for (const Atom& part : parts_) {
            const auto [hull, added] = hulls.emplace(std::pair{part.to.tile, part.to.buffer},
                                                     std::pair{part.to.offset, part.to.offset});
            hull->second.second = part.to.offset + part_;
        }
        std::vector<Atom> kept;
        for (const Atom& move : moves_) {
            const auto hull = hulls.find({move.to.tile, move.to.buffer});
            if (hull == hulls.end() || move.to.offset + move.bytes <= hull->second.first ||
                move.to.offset >= hull->second.second) {
                kept.push_back(move);
            } else {
                add_parts(move);
            }
        }
        moves_ = std::move(kept);
        for (const Atom& there : in_place) { // would be lost as gaps
            if (hulls.contains({there.to.tile, there.to.buffer})) {
                add_parts(there);
            }
        }
        std::ranges::sort(parts_, {}, &Atom::to);
        for (const Atom& part : parts_) {
            const At word{part.to.tile, part.to.buffer, part.to.offset / kWord * kWord};
            if (gathers_.empty() || !goes_on(gathers_.back(), word)) {
                gathers_.push_back({.to = word, .sources = {}, .list = {}, .needed = {}});
            }
            Gather& gather = gathers_.back();
            const std::size_t index = (part.to.offset - gather.to.offset) / part_;
            gather.sources.resize((index / in_word() + 1) * in_word());
            gather.sources[index] = part.from;
        }
    }
    [[nodiscard]] bool goes_on(const Gather& gather, const At& word) const {
        const auto end =
            gather.to.offset + static_cast<std::uint32_t>(gather.sources.size()) * part_;
        const std::size_t words = (word.offset - gather.to.offset) / kWord;
        return gather.to.tile == word.tile && gather.to.buffer == word.buffer &&
               word.offset <= end + kSmallGap && words < most_words_;
    }

    [[nodiscard]] std::uint32_t index_of(const Gather& gather,
                                         const std::optional<At>& source) const {
        if (!source) {
            return kZeroIndex;
        }
        const At word{source->tile, source->buffer, source->offset / kWord * kWord};
        const auto at = std::lower_bound(gather.needed.begin(), gather.needed.end(), word);
        const auto before = static_cast<std::uint32_t>(std::distance(gather.needed.begin(), at));
        return static_cast<std::uint32_t>(in_word()) * (before + 1) +
               source->offset % kWord / part_;
    }

    /// Finds the words that a gather reads, and numbers their parts.
    void fill(Gather& gather) const {
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

    [[nodiscard]] std::size_t in_word() const { return kWord / part_; }

    std::uint32_t part_; ///< bytes
    std::size_t most_words_;
    std::vector<Atom> moves_;
    std::vector<Atom> parts_;
    std::vector<Gather> gathers_;
};

} // namespace

Words in_words(const std::vector<Atom>& atoms, const std::vector<Atom>& in_place,
               std::size_t most_words, std::uint32_t part) {
    return Splitter(most_words, part).run(atoms, in_place);
}

} // namespace tessera::graph
