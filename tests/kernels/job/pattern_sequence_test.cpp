// SPDX-License-Identifier: MIT
#include "kernels/job/pattern_sequence.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

using namespace tessera;
using job::PatternSequence;

namespace {

constexpr std::int64_t kBlock = 4;
constexpr std::int64_t kWidth = kBlock * kBlock;
constexpr std::int64_t kGridRows = 3;
constexpr std::int64_t kGridColumns = 5;

/// Of blocks by their numbers in the grid, ascending.
workload::SparsePattern pattern_of(const std::vector<std::int64_t>& blocks) {
    workload::SparsePattern pattern{kGridRows * kBlock, kGridColumns * kBlock, kBlock, {0}, {}};
    for (std::int64_t row = 0; row < kGridRows; ++row) {
        for (const std::int64_t block : blocks) {
            if (block / kGridColumns == row) {
                pattern.block_column.push_back(static_cast<std::int32_t>(block % kGridColumns));
            }
        }
        pattern.row_start.push_back(pattern.blocks());
    }
    return pattern;
}

std::vector<std::byte> bytes_of_floats(const std::vector<float>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

/// Every element of a block is `scale` times one more than its number in the grid.
std::vector<std::byte> numbered(const std::vector<std::int64_t>& blocks, float scale) {
    std::vector<float> values;
    for (const std::int64_t block : blocks) {
        values.insert(values.end(), kWidth, scale * static_cast<float>(block + 1));
    }
    return bytes_of_floats(values);
}

family::Value value_of(const std::vector<std::int64_t>& blocks, std::vector<std::byte> bytes) {
    family::TensorType type{ElementType::F32, {kGridRows * kBlock, kGridColumns * kBlock}};
    type.sparse = std::make_shared<const workload::SparsePattern>(pattern_of(blocks));
    return {std::move(type), std::move(bytes), false};
}

/// The first element of each block, by the block's number in the grid.
std::map<std::int64_t, float> by_block(const workload::SparsePattern& pattern,
                                       const std::vector<std::byte>& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    std::map<std::int64_t, float> found;
    for (std::int64_t row = 0; row < kGridRows; ++row) {
        for (std::int64_t at = pattern.first_block(row); at < pattern.first_block(row + 1); ++at) {
            found[row * kGridColumns + pattern.column_of(at)] =
                values.at(static_cast<std::size_t>(at * kWidth));
        }
    }
    return found;
}

const std::vector<std::int64_t> kFirst{0, 2, 6, 7, 11, 14};

} // namespace

TEST_CASE("a given pattern brings its values, and states move along with blocks that stay",
          "[kernels][job]") {
    const std::vector<std::int64_t> second{1, 2, 7, 8, 14};
    PatternSequence patterns(value_of(kFirst, numbered(kFirst, 1)), {numbered(kFirst, 0)});
    PatternSequence::Left left;
    left.values = numbered(kFirst, 100); // lost
    left.states = {numbered(kFirst, 10)};
    patterns.take(value_of(second, numbered(second, 2)), left);
    CHECK(patterns.changes() == 1);
    CHECK(patterns.went() == std::vector<std::int64_t>{3}); // 0, 6 and 11
    CHECK(patterns.now().bytes == numbered(second, 2));
    CHECK(by_block(*patterns.now().type.sparse, patterns.states().front()) ==
          std::map<std::int64_t, float>{{1, 0}, {2, 30}, {7, 80}, {8, 0}, {14, 150}});
}

TEST_CASE("a schedule moves values and states by the same blocks", "[kernels][job]") {
    workload::Schedule schedule;
    schedule.decay = workload::Schedule::Decay::None;
    schedule.fraction = 0.5;
    schedule.regrow = workload::Schedule::Regrow::Gradient;
    std::vector<float> norms(kGridRows * kGridColumns, 1);
    norms[4] = norms[9] = norms[13] = 2; // these come
    PatternSequence patterns(value_of(kFirst, numbered(kFirst, 1)), {numbered(kFirst, 0)});
    patterns.change(schedule, {.values = numbered(kFirst, 1),
                               .gradients = bytes_of_floats(norms),
                               .states = {numbered(kFirst, 10)}});
    // 0, 2 and 6 have the least values
    CHECK(patterns.went() == std::vector<std::int64_t>{3});
    CHECK_FALSE(patterns.is_drawn_instead());
    const workload::SparsePattern& now = *patterns.now().type.sparse;
    CHECK(by_block(now, patterns.now().bytes) ==
          std::map<std::int64_t, float>{{4, 0}, {7, 8}, {9, 0}, {11, 12}, {13, 0}, {14, 15}});
    CHECK(by_block(now, patterns.states().front()) ==
          std::map<std::int64_t, float>{{4, 0}, {7, 80}, {9, 0}, {11, 120}, {13, 0}, {14, 150}});
}

TEST_CASE("values and states that are not known stay so", "[kernels][job]") {
    PatternSequence patterns(value_of(kFirst, {}), {{}});
    workload::Schedule schedule;
    PatternSequence::Left left;
    left.states = {{}};
    patterns.change(schedule, left);
    CHECK(patterns.is_drawn_instead());
    CHECK(patterns.now().bytes.empty());
    CHECK(patterns.states() == std::vector<std::vector<std::byte>>{{}});
}
