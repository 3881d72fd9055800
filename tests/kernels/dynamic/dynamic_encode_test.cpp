// SPDX-License-Identifier: MIT
#include "kernels/dynamic/bucket.h"
#include "kernels/dynamic/decode.h"
#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/fill.h"
#include "kernels/dynamic/recut.h"
#include "tests/kernels/dynamic/dynamic_patterns.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::dynamic;
using test::blocks_at;
using test::pattern_of;
using test::same;
using test::skewed;
using test::small_layout;
using workload::SparsePattern;

namespace {

constexpr ElementType kF16 = ElementType::F16;
constexpr ElementType kF32 = ElementType::F32;

published::DenseMachine machine_of(std::int64_t tiles) {
    spec::MachineSpec spec;
    spec.chip.tiles = tiles;
    return published::dense_machine(spec);
}

/// The layout of the best plan, or of the plan with a given split.
LayoutOf layouts(const Problem& problem, const published::DenseMachine& machine,
                 std::optional<Split> split = {}) {
    return [=](double excess) -> std::optional<Layout> {
        Problem other = problem;
        other.excess = excess;
        if (split) {
            return layout_of(other, machine, plan_of(other, machine, *split));
        }
        const auto found = plan(other, machine);
        return found ? std::optional(layout_of(other, machine, *found)) : std::nullopt;
    };
}

/// A sub-group's words, read without decode().
struct Seen {
    std::int64_t bucket = 0;
    std::int64_t group = 0; ///< from 0
    std::int64_t first = 0; ///< its first word
    std::int64_t blocks = 0;
    std::vector<std::int64_t> rows;      ///< numbers
    std::vector<std::int64_t> row_words; ///< from the sub-group
    std::vector<std::int64_t> row_blocks;
};

std::vector<Seen> sub_groups(const Layout& layout, const Encoding& encoding) {
    std::vector<Seen> all;
    for (std::int64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
        std::int64_t at = bucket * layout.bucket.metadata;
        const auto word = [&](std::int64_t number) {
            return static_cast<std::int64_t>(
                encoding.metadata.at(static_cast<std::size_t>(at + number)));
        };
        for (; word(0) != 0; at += word(SubGroup::kWords)) {
            Seen seen{bucket, word(0) - 1, at, word(SubGroup::kBlocks), {}, {}, {}};
            std::int64_t row = layout.header_words();
            for (std::int64_t left = word(SubGroup::kRowsLess1) + 1; left > 0; --left) {
                seen.rows.push_back(word(row));
                seen.row_words.push_back(row);
                seen.row_blocks.push_back(word(row + 1) + 1);
                row += 2 + seen.row_blocks.back();
            }
            REQUIRE(row == word(SubGroup::kWords));
            all.push_back(seen);
        }
        REQUIRE(at < (bucket + 1) * layout.bucket.metadata);
    }
    return all;
}

/// How full the buckets are goes together with what they hold.
void check_fill(const Layout& layout, const SparsePattern& pattern, const Encoding& encoding) {
    const Fill fill = fill_of(layout, encoding);
    const std::int64_t cut = pattern.block / layout.block;
    CHECK(fill.blocks.sum == pattern.blocks() * cut * cut);
    for (const auto& [spread, room] :
         {std::pair{fill.blocks, layout.bucket.blocks}, {fill.words, layout.bucket.metadata}}) {
        CHECK(spread.least * layout.buckets() <= spread.sum);
        CHECK(spread.sum <= spread.most * layout.buckets());
        CHECK(spread.most <= room);
    }
    CHECK(fill.words.least >= 1);
    CHECK((fill.words.least == 1) == (fill.blocks.least == 0));
    CHECK((fill.empty > 0) == (fill.blocks.least == 0));
    CHECK(fill.hosts <= fill.away);
    CHECK((fill.hosts > 0) == (encoding.travel.steps(layout.split) > 0));
}

/// All that must hold of an encoding that fits.
void check_encoding(const Layout& layout, const SparsePattern& pattern, const Encoding& encoding) {
    const Decoded decoded = decode(layout, encoding.metadata);
    CHECK(same(decoded.pattern,
               pattern.block == layout.block ? pattern : recut(pattern, layout.block).pattern));
    CHECK(decoded.pattern.rows == layout.rows * layout.block); // whole blocks
    CHECK(decoded.pattern.columns == layout.columns * layout.block);
    CHECK(decoded.pattern.block == layout.block);
    // A block's values are where decode says that the block is.
    std::vector<std::int32_t> values(static_cast<std::size_t>(pattern.stored_elements()));
    std::iota(values.begin(), values.end(), 1);
    const auto buckets = bucket_values(encoding, values);
    CHECK(pattern_values(encoding, buckets, pattern) == values);
    std::vector<std::int64_t> first_values(buckets.size(), -1); // by place
    std::int64_t used = 0;
    encoding.each_block([&](std::int64_t place, std::int64_t first) {
        first_values.at(static_cast<std::size_t>(place)) = first;
        ++used;
    });
    CHECK(used == decoded.pattern.blocks());
    for (std::int64_t block = 0; block < decoded.pattern.blocks(); ++block) {
        const std::int64_t place = decoded.places[static_cast<std::size_t>(block)];
        const std::int64_t first = first_values[static_cast<std::size_t>(place)];
        CHECK(first >= 0);
        if (pattern.block == layout.block) {
            CHECK(first == block * layout.block * layout.block);
        }
    }
    check_fill(layout, pattern, encoding);
}

/// Blocks reach their tiles on the way that the control words describe.
void check_travel(const Layout& layout, const Encoding& encoding) {
    const Split& split = layout.split;
    const Travel& travel = encoding.travel;
    CHECK(travel.end.z == split.z);
    std::int64_t farthest = 0;
    for (const Seen& seen : sub_groups(layout, encoding)) {
        const std::int64_t x =
            (seen.group / split.y - layout.x_of(seen.bucket) + split.x) % split.x;
        const std::int64_t y =
            (seen.group % split.y - layout.y_of(seen.bucket) + split.y) % split.y;
        farthest = std::max(farthest, x * split.y + y);
        if (x > 0 || y > 0) {
            CHECK(travel.uses_x(x));
            CHECK(x < travel.end.x);
            CHECK(y < travel.end.y);
        }
    }
    CHECK(travel.end.x == farthest / split.y + 1);
    CHECK(travel.end.y == (farthest >= split.y ? split.y : farthest + 1));
    CHECK((travel.steps(split) == 0) == (farthest == 0));
    CHECK(travel.words().size() == static_cast<std::size_t>(3 + (split.x + 15) / 16));
}

/// Workers of each sub-group take all of it, and nothing twice.
void check_workers(const Layout& layout, const Encoding& encoding) {
    for (const Seen& seen : sub_groups(layout, encoding)) {
        const auto word = [&](std::int64_t number) {
            return static_cast<std::int64_t>(
                encoding.metadata.at(static_cast<std::size_t>(seen.first + number)));
        };
        CHECK(std::set<std::int64_t>(seen.rows.begin(), seen.rows.end()).size() ==
              seen.rows.size());
        std::vector<std::int64_t> before(seen.rows.size() + 1);
        std::partial_sum(seen.row_blocks.begin(), seen.row_blocks.end(), before.begin() + 1);
        CHECK(before.back() == seen.blocks);
        const auto row_at = [&](std::int64_t words) {
            const auto row = std::find(seen.row_words.begin(), seen.row_words.end(), words);
            REQUIRE(row != seen.row_words.end());
            return static_cast<std::size_t>(row - seen.row_words.begin());
        };
        if (layout.block == 1) {
            CHECK(word(SubGroup::kColumns) == layout.n);
            std::set<std::pair<std::size_t, std::int64_t>> cells;
            for (std::int64_t worker = 0; worker < layout.workers; ++worker) {
                const std::int64_t at = SubGroup::kElementHeader + worker * WorkerEntry::kWords;
                const std::int64_t rows = word(at + WorkerEntry::kRows);
                if (rows == 0) {
                    continue;
                }
                const std::size_t first = row_at(word(at + WorkerEntry::kRowsWords));
                CHECK(word(at + WorkerEntry::kBlocksBefore) == before[first]);
                const std::int64_t column = word(at + WorkerEntry::kFirstColumn);
                CHECK(column % layout.n_grain == 0);
                CHECK(word(at + WorkerEntry::kColumns) % layout.n_grain == 0);
                for (std::int64_t row = 0; row < rows; ++row) {
                    for (std::int64_t c = 0; c < word(at + WorkerEntry::kColumns); ++c) {
                        CHECK(cells.emplace(first + static_cast<std::size_t>(row), column + c)
                                  .second);
                    }
                }
            }
            CHECK(std::ssize(cells) == std::ssize(seen.rows) * layout.n);
        }
        CHECK(word(SubGroup::kLists) == (layout.lists ? layout.workers : 0));
        std::int64_t listed = 0;
        for (std::int64_t worker = 0; layout.lists && worker < layout.workers; ++worker) {
            const std::int64_t at =
                layout.lists_at() +
                worker * (layout.block == 1 ? WorkerList::kElementWords : WorkerList::kBlockWords);
            const std::int64_t blocks = word(at + WorkerList::kBlocks);
            if (blocks == 0) {
                continue;
            }
            CHECK(word(at + WorkerList::kBlocksBefore) == listed);
            const std::size_t row = row_at(word(at + WorkerList::kRowWords));
            const std::int64_t in_row = listed - before[row];
            CHECK(in_row >= 0);
            CHECK(in_row < seen.row_blocks[row]);
            CHECK(word(at + WorkerList::kPlaceWords) == seen.row_words[row] + 2 + in_row);
            if (layout.block == 1) {
                CHECK(word(at + WorkerList::kRowBlocks) ==
                      std::min(blocks, seen.row_blocks[row] - in_row));
            }
            listed += blocks;
        }
        CHECK(listed == (layout.lists ? seen.blocks : 0));
    }
}

/// What BucketsOverflow says is so.
void check_overflow(const LayoutOf& layout_of, double excess, const SparsePattern& pattern,
                    const BucketsOverflow& overflow) {
    const Layout layout = *layout_of(excess);
    const BucketsOverflow::Facts& facts = overflow.facts();
    REQUIRE(facts.bucket < layout.buckets());
    CHECK(facts.group ==
          1 + layout.x_of(facts.bucket) * layout.split.y + layout.y_of(facts.bucket));
    CHECK(facts.held < facts.wanted);
    const std::string text = overflow.what();
    CHECK(text.find("bucket " + std::to_string(facts.bucket) + " ") != std::string::npos);
    CHECK(text.find("sub-group " + std::to_string(facts.group) + ":") != std::string::npos);
    REQUIRE(facts.excess);
    CHECK(*facts.excess > excess);
    const Layout enough = *layout_of(*facts.excess);
    check_encoding(enough, pattern, encode(enough, pattern));
    CHECK_THROWS_AS(encode(*layout_of(*facts.excess - kExcessStep), pattern), BucketsOverflow);
}

/// What another implementation of the library's encoding found for two or three uniform patterns
/// each, m = k = 4096.
struct KnownSpills {
    std::int64_t block, n;
    double inverse; ///< of the density
    std::int64_t least_overfull, most_overfull, least_steps, most_steps;
    bool overfull_agree = true;
};

/// Means and extremes over patterns.
class Spills {
public:
    void add(const Layout& layout, const Encoding& encoding) {
        const auto overfull = static_cast<double>(encoding.dealt.overfull);
        const std::int64_t steps = encoding.travel.steps(layout.split);
        ++patterns_;
        sum_ += overfull;
        squares_ += overfull * overfull;
        least_steps_ = std::min(least_steps_, steps);
        most_steps_ = std::max(most_steps_, steps);
    }

    void check(const KnownSpills& known) const {
        const double mean = sum_ / patterns_;
        const double deviation = std::sqrt(std::max(0.0, squares_ / patterns_ - mean * mean));
        const bool agree = static_cast<double>(known.least_overfull) >= mean - 3 * deviation &&
                           static_cast<double>(known.most_overfull) <= mean + 3 * deviation;
        CAPTURE(known.block, known.n, known.inverse, mean, deviation, least_steps_, most_steps_);
        CHECK(agree == known.overfull_agree);
        CHECK(known.least_steps >= least_steps_ - 2);
        CHECK(known.most_steps <= most_steps_ + 2);
    }

private:
    double patterns_ = 0;
    double sum_ = 0;
    double squares_ = 0;
    std::int64_t least_steps_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t most_steps_ = 0;
};

Layout known_layout(const KnownSpills& known) {
    Problem problem;
    problem.m = problem.k = 4096;
    problem.n = known.n;
    problem.block = known.block;
    problem.density = 1 / known.inverse;
    return *layouts(problem, machine_of(1472))(problem.excess);
}

constexpr std::uint64_t kSeeds = 30;

} // namespace

TEST_CASE("dynamic_encode: over-full buckets and steps are those known, over 30 seeds",
          "[kernels][dynamic]") {
    // The row that does not agree is in docs/published_plans.md#buckets.
    const std::vector<KnownSpills> table{
        {16, 16, 16, 245, 254, 19, 22}, {16, 64, 16, 38, 74, 32, 48, false},
        {16, 256, 16, 24, 36, 16, 24},  {16, 1024, 16, 0, 13, 0, 16},
        {8, 16, 16, 130, 139, 5, 6},    {8, 256, 16, 1, 4, 4, 4},
        {8, 1024, 16, 0, 0, 0, 0},      {4, 16, 16, 16, 27, 2, 2},
        {4, 256, 16, 0, 0, 0, 0},       {16, 16, 4, 84, 108, 3, 7},
        {16, 16, 8, 174, 194, 10, 23},  {16, 16, 32, 29, 33, 4, 12},
        {16, 1024, 32, 0, 0, 0, 0},
    };
    for (const KnownSpills& known : table) {
        const Layout layout = known_layout(known);
        Spills spills;
        for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
            spills.add(layout,
                       encode(layout, test::uniform(4096, known.block, 1 / known.inverse, seed)));
        }
        spills.check(known);
    }
}

TEST_CASE("dynamic_encode: a million elements fit and come back, over 30 seeds",
          "[kernels][dynamic][large]") {
    const std::vector<KnownSpills> table{{1, 16, 16, 0, 0, 0, 0}, {1, 256, 16, 0, 0, 0, 0}};
    std::vector<Spills> spills(table.size());
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const SparsePattern pattern = test::uniform(4096, 1, 1.0 / 16, seed);
        for (std::size_t i = 0; i < table.size(); ++i) {
            const Layout layout = known_layout(table[i]);
            const Encoding encoding = encode(layout, pattern);
            spills[i].add(layout, encoding);
            if (seed == 1) {
                CHECK(same(decode(layout, encoding.metadata).pattern, pattern));
            }
        }
    }
    for (std::size_t i = 0; i < table.size(); ++i) {
        spills[i].check(table[i]);
    }
}

TEST_CASE("dynamic_encode: what does not fit goes to the bucket behind, and travels one step",
          "[kernels][dynamic]") {
    const Layout layout = small_layout({2, 3, 1}, 2);
    // Part (0, 1) has three blocks in rows of their own or not; its bucket holds two.
    const auto three = blocks_at(layout, {{0, 3}, {0, 4}, {1, 5}});
    const Encoding encoding = encode(layout, three);
    CHECK(encoding.dealt.overfull == 1);
    const auto groups = sub_groups(layout, encoding);
    REQUIRE(groups.size() == 2);
    CHECK(groups[0].bucket == layout.bucket_of(0, 0, 0));
    CHECK(groups[0].group == 1);
    CHECK(groups[0].rows == std::vector<std::int64_t>{1});
    CHECK(groups[1].bucket == layout.bucket_of(0, 1, 0));
    CHECK(groups[1].rows == std::vector<std::int64_t>{0});
    CHECK(encoding.travel.end == Split{1, 2, 1});
    CHECK(encoding.travel.steps(layout.split) == 1);
    CHECK(encoding.travel.words() == std::vector<std::uint16_t>{1, 2, 1, 1});
    check_travel(layout, encoding);
}

TEST_CASE("dynamic_encode: rows are split where no bucket takes a whole one",
          "[kernels][dynamic]") {
    const Layout layout = small_layout({1, 2, 1}, 2);
    const auto row = blocks_at(layout, {{0, 0}, {0, 1}, {0, 2}});
    const Encoding encoding = encode(layout, row);
    std::map<std::int64_t, std::int64_t> blocks;
    for (const Seen& seen : sub_groups(layout, encoding)) {
        CHECK(seen.group == 0);
        blocks[seen.bucket] += seen.blocks;
    }
    CHECK(blocks == std::map<std::int64_t, std::int64_t>{{0, 2}, {1, 1}});
    check_encoding(layout, row, encoding);
}

TEST_CASE("dynamic_encode: the other rows of parts are used last", "[kernels][dynamic]") {
    const Layout layout = small_layout({2, 1, 1}, 4);
    const auto full = blocks_at(layout, {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}});
    const Encoding encoding = encode(layout, full);
    CHECK(encoding.travel.end == Split{2, 1, 1});
    CHECK_FALSE(encoding.travel.uses_x(0));
    CHECK(encoding.travel.uses_x(1));
    CHECK(encoding.travel.steps(layout.split) == 1);
    const Fill fill = fill_of(layout, encoding);
    CHECK(fill.blocks == Spread{2, 4, 6}); // one block of the second row is at home
    const auto words = [&](std::int64_t rows, std::int64_t blocks) {
        return layout.header_words() + 2 * rows + blocks + 1;
    };
    CHECK(fill.words == Spread{words(1, 2), words(2, 4), words(1, 2) + words(2, 4)});
    CHECK(fill.away == 2);
    CHECK(fill.hosts == 1);
    CHECK(fill.empty == 0);
    check_encoding(layout, full, encoding);
    check_travel(layout, encoding);
}

TEST_CASE("dynamic_encode: a pattern with more blocks than all buckets overflows",
          "[kernels][dynamic]") {
    const Layout layout = small_layout({1, 2, 1}, 2);
    const auto five = blocks_at(layout, {{0, 0}, {0, 1}, {0, 3}, {0, 4}, {1, 5}});
    try {
        (void)encode(layout, five);
        FAIL("it fits");
    } catch (const BucketsOverflow& overflow) {
        const auto& facts = overflow.facts();
        CHECK(facts.bucket == layout.bucket_of(0, 1, 0));
        CHECK(facts.group == 2);
        CHECK(facts.wanted == 3);
        CHECK(facts.held == 2);
        CHECK_FALSE(facts.excess);
        CHECK(std::string(overflow.what()) ==
              "the pattern does not fit into buckets of 2 blocks and 21 words: bucket 1 (x 0, y 1, "
              "z 0), sub-group 2: got 3 blocks, of which 2 have a place; no excess is known to be "
              "enough");
    }
}

TEST_CASE("dynamic_encode: every pattern comes back, of all blocks and types",
          "[kernels][dynamic]") {
    std::mt19937_64 random(7);
    int fitting = 0;
    int overflowing = 0;
    for (const std::int64_t block : {1, 4, 8, 16}) {
        for (const ElementType type : {kF16, kF32}) {
            for (const auto& [m, k, n, tiles] :
                 std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>>{
                     {128, 128, 16, 24}, {200, 72, 7, 60}, {48, 336, 64, 40}, {16, 16, 1, 3}}) {
                for (const bool lists : {false, true}) {
                    Problem problem;
                    problem.m = m;
                    problem.k = k;
                    problem.n = n;
                    problem.block = block;
                    problem.density = 0.2;
                    problem.data = type;
                    problem.passes.values_gradient = lists;
                    const auto layout_of = layouts(problem, machine_of(tiles));
                    const Layout layout = *layout_of(problem.excess);
                    for (int kind = 0; kind < test::kSkewedKinds; ++kind) {
                        CAPTURE(block, name_of(type), m, k, n, lists, kind);
                        const auto pattern = skewed(m, k, block, problem.density, kind, random);
                        try {
                            const Encoding encoding =
                                encode(layout, problem.excess, layout_of, pattern);
                            check_encoding(layout, pattern, encoding);
                            check_travel(layout, encoding);
                            check_workers(layout, encoding);
                            ++fitting;
                        } catch (const BucketsOverflow& overflow) {
                            check_overflow(layout_of, problem.excess, pattern, overflow);
                            ++overflowing;
                        }
                    }
                }
            }
        }
    }
    CHECK(fitting > 300);
    CHECK(overflowing > 30);
}

TEST_CASE("dynamic_encode: rows of many blocks share workers by blocks, few rows by columns",
          "[kernels][dynamic]") {
    Problem problem;
    problem.m = 64;
    problem.k = 64;
    problem.n = 48;
    problem.density = 0.5;
    const Layout layout = *layouts(problem, machine_of(1), Split{1, 1, 1})(1);
    std::vector<std::int64_t> blocks;
    for (std::int64_t row = 0; row < 2 * layout.workers + 1; ++row) {
        for (std::int64_t column = 0; column < (row == 0 ? 64 : 2); ++column) {
            blocks.push_back(row * 64 + column);
        }
    }
    const auto entry = [&](const Encoding& encoding, std::int64_t worker, std::int64_t word) {
        return encoding.metadata[static_cast<std::size_t>(SubGroup::kElementHeader +
                                                          worker * WorkerEntry::kWords + word)];
    };
    const Encoding many = encode(layout, pattern_of(64, 64, 1, blocks));
    check_workers(layout, many);
    CHECK(entry(many, 0, WorkerEntry::kRows) == 1); // 64 of 88 blocks
    CHECK(entry(many, 0, WorkerEntry::kColumns) == layout.n);
    blocks.resize(blocks.size() -
                  2); // two rows a worker: each has some, however many blocks these have
    const Encoding two = encode(layout, pattern_of(64, 64, 1, blocks));
    check_workers(layout, two);
    for (std::int64_t worker = 0; worker < layout.workers; ++worker) {
        CHECK(entry(two, worker, WorkerEntry::kRows) >= 1);
        CHECK(entry(two, worker, WorkerEntry::kRows) <= 3);
    }
    const Encoding few = encode(layout, pattern_of(64, 64, 1, {0, 1, 2}));
    check_workers(layout, few);
    for (std::int64_t worker = 0; worker < layout.workers; ++worker) {
        CHECK(entry(few, worker, WorkerEntry::kRows) == 1);
        CHECK(entry(few, worker, WorkerEntry::kColumns) <= layout.n / 4);
    }
}

TEST_CASE("dynamic_encode: words that encode does not write are refused", "[kernels][dynamic]") {
    const Layout layout = small_layout({2, 3, 1}, 2);
    const Encoding encoding = encode(layout, blocks_at(layout, {{0, 3}, {0, 4}, {3, 0}}));
    const auto first = static_cast<std::size_t>(layout.bucket_of(0, 1, 0) * layout.bucket.metadata);
    const std::size_t row = first + SubGroup::kBlockHeader;
    const auto message = [&](std::size_t at, std::uint16_t value) {
        auto words = encoding.metadata;
        words[at] = value;
        try {
            (void)decode(layout, words);
        } catch (const ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string bucket = "bucket " + std::to_string(layout.bucket_of(0, 1, 0));
    CHECK(message(first, 7) == bucket + ", word 0: no sub-group of this number and place");
    CHECK(message(first + SubGroup::kX, 1) ==
          bucket + ", word 0: no sub-group of this number and place");
    CHECK(message(row, 2) == bucket + ", word 7: no such row in the part");
    CHECK(message(row + 2, 3) == bucket + ", word 9: no such column in the part");
    CHECK(message(row + 2, 1).find("is in bucket") != std::string::npos);
    CHECK(message(row + 1, 8) == bucket + ", word 11: more blocks than the bucket holds");
    CHECK(message(first + SubGroup::kWords, 12) ==
          bucket + ", word 0: the sub-group ends elsewhere than it says");
    CHECK(message(first + SubGroup::kBlocks, 1) ==
          bucket + ", word 0: the sub-group ends elsewhere than it says");
    auto endless = encoding.metadata;
    std::fill(endless.begin() + static_cast<std::ptrdiff_t>(first) + 11, endless.end(), 1);
    CHECK_THROWS_WITH(decode(layout, endless),
                      bucket + ", word 11: no sub-group of this number and place");
    // no word behind the last one is read, however the ones before go on
    const std::span<const std::uint16_t> words(encoding.metadata.data() + first,
                                               encoding.metadata.data() + encoding.metadata.size());
    const auto whole = static_cast<std::size_t>(read_bucket(layout, words, 5).words);
    CHECK(read_bucket(layout, words.first(whole), 5).groups.size() == 1);
    for (std::size_t most = 0; most < whole; ++most) {
        CHECK_THROWS_WITH(read_bucket(layout, words.first(most), 5),
                          Catch::StartsWith("bucket 5, word ") &&
                              Catch::EndsWith(": the metadata have no end"));
    }
}
