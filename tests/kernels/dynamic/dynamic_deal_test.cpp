// SPDX-License-Identifier: MIT
// Which bucket has which blocks: beside the rules of docs/published_plans.md#buckets, written down
// once more, block by block.
#include "kernels/dynamic/deal.h"
#include "tests/kernels/dynamic/dynamic_patterns.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::dynamic;

namespace {

/// A block of a part.
struct Block {
    std::int64_t row = 0; ///< in the part
    std::int64_t column = 0;
    std::int64_t number = 0; ///< in the pattern
};

/// What a bucket has, part by part in the order in which they came.
struct Held {
    std::vector<std::pair<std::int64_t, std::vector<Block>>> parts;

    [[nodiscard]] std::int64_t blocks() const {
        std::int64_t all = 0;
        for (const auto& [part, blocks] : parts) {
            all += static_cast<std::int64_t>(blocks.size());
        }
        return all;
    }
    /// A header for each part, two words for each of its rows, one for each block.
    [[nodiscard]] std::int64_t words(const Layout& layout) const {
        std::int64_t all = 0;
        for (const auto& [part, blocks] : parts) {
            std::map<std::int64_t, std::int64_t> rows;
            for (const Block& block : blocks) {
                ++rows[block.row];
            }
            all += layout.header_words() + 2 * static_cast<std::int64_t>(rows.size()) +
                   static_cast<std::int64_t>(blocks.size());
        }
        return all;
    }
};

struct Over {
    std::int64_t bucket = 0;
    std::int64_t part = 0;
    std::vector<std::vector<Block>> rows;
    std::size_t next = 0; ///< bucket that is tried next

    [[nodiscard]] std::int64_t blocks() const {
        std::int64_t all = 0;
        for (const auto& row : rows) {
            all += static_cast<std::int64_t>(row.size());
        }
        return all;
    }
};

class Slowly {
public:
    Slowly(const Layout& layout, const workload::SparsePattern& pattern)
        : layout_(layout), held_(static_cast<std::size_t>(layout.split.tiles())),
          wanted_(held_.size()) {
        cut(pattern);
        strip();
        overfull_ = over_.size();
        for (const std::int64_t many : {layout.split.z, layout.split.z * layout.split.y,
                                        layout.split.z * layout.split.y * layout.split.x}) {
            for (const bool in_pieces : {false, true}) {
                place(many, in_pieces);
            }
        }
        std::stable_sort(over_.begin(), over_.end(), [](const Over& one, const Over& other) {
            return one.blocks() > other.blocks();
        });
    }

    [[nodiscard]] const std::vector<Held>& held() const { return held_; }
    [[nodiscard]] std::size_t overfull() const { return overfull_; }
    [[nodiscard]] const std::vector<Over>& left() const { return over_; }
    [[nodiscard]] std::int64_t wanted(std::int64_t bucket) const {
        return wanted_[static_cast<std::size_t>(bucket)];
    }

private:
    [[nodiscard]] bool has_room(const Held& held) const {
        return held.blocks() <= layout_.bucket.blocks &&
               held.words(layout_) + 1 <= layout_.bucket.metadata; // a zero behind the last
    }

    /// Blocks of a part by rows, as many to each of its buckets, the last ones fewer.
    void cut(const workload::SparsePattern& pattern) {
        const Split& split = layout_.split;
        std::vector<std::vector<Block>> parts(static_cast<std::size_t>(split.x * split.y));
        for (std::int64_t row = 0; row < pattern.block_rows(); ++row) {
            for (auto at = pattern.first_block(row); at < pattern.first_block(row + 1); ++at) {
                const std::int64_t column = pattern.column_of(at);
                const std::int64_t part =
                    row / layout_.part_rows * split.y + column / layout_.part_columns;
                parts[static_cast<std::size_t>(part)].push_back(
                    {row % layout_.part_rows, column % layout_.part_columns, at});
            }
        }
        for (std::size_t part = 0; part < parts.size(); ++part) {
            const auto number = static_cast<std::int64_t>(part);
            const auto all = static_cast<std::int64_t>(parts[part].size());
            const std::int64_t share = (all + split.z - 1) / split.z;
            for (std::int64_t i = 0; i < all; ++i) {
                const std::int64_t bucket =
                    layout_.bucket_of(number / split.y, number % split.y, i / share);
                auto& held = held_[static_cast<std::size_t>(bucket)];
                if (held.parts.empty()) {
                    held.parts.emplace_back(number, std::vector<Block>{});
                }
                held.parts[0].second.push_back(parts[part][static_cast<std::size_t>(i)]);
                ++wanted_[static_cast<std::size_t>(bucket)];
            }
        }
    }

    /// Whole rows leave at the end until the rest has room.
    void strip() {
        for (std::size_t bucket = 0; bucket < held_.size(); ++bucket) {
            Held& held = held_[bucket];
            Over over{static_cast<std::int64_t>(bucket), 0, {}, 0};
            while (!held.parts.empty() && !has_room(held)) {
                auto& [part, blocks] = held.parts[0];
                over.part = part;
                const std::int64_t row = blocks.back().row;
                const auto first = std::find_if(blocks.begin(), blocks.end(),
                                                [&](const Block& one) { return one.row == row; });
                over.rows.emplace(over.rows.begin(), first, blocks.end());
                blocks.erase(first, blocks.end());
                if (blocks.empty()) {
                    held.parts.clear();
                }
            }
            if (!over.rows.empty()) {
                over_.push_back(std::move(over));
            }
        }
    }

    /// Buckets of so many neighbours, from the own one backwards. Who has most left goes next.
    void place(std::int64_t many, bool in_pieces) {
        for (Over& over : over_) {
            over.next = 0;
        }
        while (true) {
            Over* most = nullptr;
            for (Over& over : over_) {
                const bool may = over.blocks() > 0 && over.next < static_cast<std::size_t>(many);
                if (may && (most == nullptr || over.blocks() > most->blocks())) {
                    most = &over;
                }
            }
            if (most == nullptr) {
                break;
            }
            const std::int64_t before = most->blocks();
            while (most->next < static_cast<std::size_t>(many) && most->blocks() == before) {
                give(*most, many, in_pieces);
                ++most->next;
            }
        }
        std::erase_if(over_, [](const Over& over) { return over.blocks() == 0; });
    }

    void give(Over& over, std::int64_t many, bool in_pieces) {
        // neighbours by x, then y, then z
        std::vector<std::int64_t> ring;
        for (std::int64_t x = 0; x < layout_.split.x; ++x) {
            for (std::int64_t y = 0; y < layout_.split.y; ++y) {
                for (std::int64_t z = 0; z < layout_.split.z; ++z) {
                    ring.push_back(layout_.bucket_of(x, y, z));
                }
            }
        }
        const std::int64_t own = std::find(ring.begin(), ring.end(), over.bucket) - ring.begin();
        std::int64_t at = own - static_cast<std::int64_t>(over.next);
        if (at < own / many * many) {
            at += many;
        }
        Held& to = held_[static_cast<std::size_t>(ring[static_cast<std::size_t>(at)])];
        for (auto& row : over.rows) {
            Held with = to;
            std::size_t taken = 0;
            for (std::size_t wanted = row.size(); wanted > 0;
                 --wanted) { // as many as there is room for
                with = to;
                auto part = std::find_if(with.parts.begin(), with.parts.end(),
                                         [&](const auto& one) { return one.first == over.part; });
                if (part == with.parts.end()) {
                    part = with.parts.insert(with.parts.end(), {over.part, {}});
                }
                part->second.insert(part->second.end(), row.begin(),
                                    row.begin() + static_cast<std::ptrdiff_t>(wanted));
                if (has_room(with)) {
                    taken = wanted;
                    break;
                }
                if (!in_pieces) {
                    break;
                }
            }
            if (taken > 0) {
                to = std::move(with);
                row.erase(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(taken));
            }
        }
        std::erase_if(over.rows, [](const auto& row) { return row.empty(); });
    }

    const Layout& layout_;
    std::vector<Held> held_;
    std::vector<std::int64_t> wanted_;
    std::vector<Over> over_;
    std::size_t overfull_ = 0;
};

/// Counts what the two do not have alike.
int differences(const Layout& layout, const Deal& made, const Slowly& wanted) {
    int wrong = 0;
    wrong += made.overfull != static_cast<std::int64_t>(wanted.overfull());
    for (std::size_t bucket = 0; bucket < made.buckets.size(); ++bucket) {
        const Holding& holding = made.buckets[bucket];
        const Held& held = wanted.held()[bucket];
        wrong += holding.blocks != held.blocks();
        wrong += holding.words != held.words(layout);
        if (holding.pieces.size() != held.parts.size()) {
            ++wrong;
            continue;
        }
        for (std::size_t i = 0; i < held.parts.size(); ++i) {
            const auto& [part, blocks] = held.parts[i];
            wrong += holding.pieces[i].group != part;
            std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> got;
            std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> expected;
            for (const Run& run : holding.pieces[i].runs) {
                for (std::int64_t at = run.first; at < run.first + run.blocks; ++at) {
                    const DealtBlock& block = made.blocks[static_cast<std::size_t>(at)];
                    got.emplace_back(run.row, block.column, block.number);
                }
            }
            for (const Block& block : blocks) {
                expected.emplace_back(block.row, block.column, block.number);
            }
            wrong += got != expected;
        }
    }
    if (made.left.size() != wanted.left().size()) {
        return wrong + 1;
    }
    for (std::size_t i = 0; i < made.left.size(); ++i) {
        const Over& over = wanted.left()[i];
        const std::int64_t run = wanted.wanted(over.bucket);
        wrong += made.left[i].bucket != over.bucket;
        wrong += made.left[i].wanted != run;
        wrong += made.left[i].held != run - over.blocks();
    }
    return wrong;
}

} // namespace

TEST_CASE("dynamic_encode: buckets have what the rules give them, for any room",
          "[kernels][dynamic]") {
    std::mt19937_64 random(11);
    const auto below = [&](std::int64_t end) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
    };
    int overfull = 0;
    int left = 0;
    int away = 0; // buckets with blocks of several parts
    for (int i = 0; i < 3000; ++i) {
        const Split split{1 + below(4), 1 + below(4), 1 + below(4)};
        Layout layout = test::small_layout(split, 1 + below(6));
        layout.part_rows = 1 + below(4);
        layout.part_columns = 1 + below(5);
        // the last parts may be smaller
        layout.rows = split.x * layout.part_rows - below(layout.part_rows);
        layout.columns = split.y * layout.part_columns - below(layout.part_columns);
        layout.bucket.metadata =
            1 + layout.header_words() + 3 + below(layout.bucket.blocks * 3 + layout.header_words());
        const int kind = static_cast<int>(below(test::kSkewedKinds));
        const double density = 0.1 + 0.1 * static_cast<double>(below(8));
        const auto pattern =
            test::skewed(layout.rows * 8, layout.columns * 8, 8, density, kind, random);
        const Deal made = deal(layout, pattern);
        const Slowly wanted(layout, pattern);
        CAPTURE(i, split.x, split.y, split.z, layout.part_rows, layout.part_columns, kind);
        REQUIRE(differences(layout, made, wanted) == 0);
        overfull += made.overfull > 0 ? 1 : 0;
        left += made.left.empty() ? 0 : 1;
        for (const Holding& holding : made.buckets) {
            away += holding.pieces.size() > 1 ? 1 : 0;
        }
    }
    CHECK(overfull > 300);
    CHECK(left > 100);
    CHECK(away > 100);
}
