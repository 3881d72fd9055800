// SPDX-License-Identifier: MIT
#include "kernels/graph/copy_gathers.h"

#include "base/sort_keys.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace tessera::graph {
namespace {

/// Words that a gather vertex makes at most: their elements lie within what its indices of 16 bits
/// reach.
constexpr std::size_t kMostGathered = 64'000; ///< over the square of a word's parts
constexpr std::uint32_t kZeroIndex = 0;       ///< a gather's temporary begins with a word of zeros

/// The word of a part.
At word_of(const At& at) {
    return {at.tile, at.buffer, at.offset / kWord * kWord};
}

class Splitter {
public:
    Splitter(std::size_t most_words, std::uint32_t part)
        : part_(part), most_words_(std::min(kMostGathered / in_word() / in_word(), most_words)) {}

    Words run(const std::vector<Atom>& atoms, const std::vector<Atom>& in_place) {
        split(atoms);
        join_parts();
        join_moves();
        find_gathers(in_place);
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
        order_.sort(parts_, &Atom::to);
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
        if (parts_.empty()) {
            return;
        }
        struct Hull {
            std::uint32_t first = 0;
            std::uint32_t last = 0;
        };
        std::map<std::pair<TileId, std::uint32_t>, Hull> hulls;
        for (std::size_t i = 0; i < parts_.size();) { // ascending
            const At& first = parts_[i].to;
            Hull& hull = hulls[{first.tile, first.buffer}];
            hull.first = first.offset;
            for (; i < parts_.size() && parts_[i].to.tile == first.tile &&
                   parts_[i].to.buffer == first.buffer;
                 ++i) {
                hull.last = parts_[i].to.offset + part_;
            }
        }
        std::vector<Atom> kept;
        for (const Atom& move : moves_) {
            const auto hull = hulls.find({move.to.tile, move.to.buffer});
            if (hull == hulls.end() || move.to.offset + move.bytes <= hull->second.first ||
                move.to.offset >= hull->second.last) {
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
        order_.sort(parts_, &Atom::to);
        for (auto first = parts_.begin(); first != parts_.end();) {
            const At to = word_of(first->to);
            std::size_t count = 0; // parts of words so far
            auto last = first;
            do {
                count = ((last->to.offset - to.offset) / part_ / in_word() + 1) * in_word();
                ++last;
            } while (last != parts_.end() && goes_on(to, count, word_of(last->to)));
            add_gather(to, {first, last}, count);
            first = last;
        }
    }
    /// Whether a gather that has so many parts takes this word too.
    [[nodiscard]] bool goes_on(const At& to, std::size_t count, const At& word) const {
        const auto end = to.offset + static_cast<std::uint32_t>(count) * part_;
        const std::size_t words = (word.offset - to.offset) / kWord;
        return to.tile == word.tile && to.buffer == word.buffer && word.offset <= end + kSmallGap &&
               words < most_words_;
    }

    /// Numbers the words that a gather reads in the order in which they stand, and their parts.
    void add_gather(const At& to, std::span<const Atom> parts, std::size_t count) {
        Gather gather{.to = to,
                      .words = static_cast<std::int64_t>(count / in_word()),
                      .list = {},
                      .needed = {}};
        numbers_.assign(count, kZeroIndex);
        At word;
        for (const std::uint64_t key : order_.of(parts, &Atom::from)) {
            const Atom& part = parts[index_of_key(key)];
            const At here = word_of(part.from);
            if (gather.needed.empty() || here != word) {
                if (gather.needed.empty() || here != word + kWord) {
                    gather.needed.push_back({here, 0});
                }
                ++gather.needed.back().words;
                ++gather.needed_words;
                word = here;
            }
            numbers_[(part.to.offset - to.offset) / part_] =
                static_cast<std::uint32_t>(in_word()) * gather.needed_words +
                part.from.offset % kWord / part_;
        }
        gather.needs_zero = std::ranges::count(numbers_, kZeroIndex) > 0;
        gather.list.reserve(count / 2);
        for (std::size_t i = 0; i < count; i += 2) {
            gather.list.push_back(numbers_[i] | numbers_[i + 1] << 16U);
        }
        gathers_.push_back(std::move(gather));
    }

    [[nodiscard]] std::size_t in_word() const { return kWord / part_; }

    std::uint32_t part_; ///< bytes
    std::size_t most_words_;
    std::vector<Atom> moves_;
    std::vector<Atom> parts_;
    std::vector<Gather> gathers_;
    std::vector<std::uint32_t> numbers_; ///< by part that a gather writes
    AtomOrder order_;
};

} // namespace

Words in_words(const std::vector<Atom>& atoms, const std::vector<Atom>& in_place,
               std::size_t most_words, std::uint32_t part) {
    return Splitter(most_words, part).run(atoms, in_place);
}

} // namespace tessera::graph
