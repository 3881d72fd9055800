// SPDX-License-Identifier: MIT
#include "kernels/workload/npy.h"
#include "kernels/workload/random.h"
#include "kernels/workload/values.h"
#include "tests/kernels/workload/exactness.h"
#include "tests/kernels/workload/support.h"

#include <algorithm>
#include <cmath>
#include <set>

using tessera::ElementType;
using tessera::f16_to_f32;
using tessera::IoError;
using tessera::test::config_error;
using tessera::test::dense;
using tessera::test::ScratchFolder;
using namespace tessera::workload;

namespace {

const ValuesSpec kUniform{.kind = ValuesSpec::Kind::Uniform, .path = ""};
const ValuesSpec kInteger{.kind = ValuesSpec::Kind::Integer, .path = ""};

} // namespace

TEST_CASE("uniform values are all the sixteenths from -1 to 1", "[operands]") {
    const DenseF16 matrix = make_dense(100, 50, kUniform, 1, Operand::A, 50);
    CHECK(matrix.rows == 100);
    CHECK(matrix.columns == 50);
    std::set<float> seen;
    for (const std::uint16_t half : matrix.values) {
        seen.insert(f16_to_f32(half) * 16.0F);
    }
    std::set<float> expected;
    for (int value = -16; value <= 16; ++value) {
        expected.insert(static_cast<float>(value));
    }
    CHECK(matrix.values.size() == 5000);
    CHECK(seen == expected);
}

TEST_CASE("values are a function of seed and operand", "[operands]") {
    for (const ValuesSpec& values : {kUniform, kInteger}) {
        const auto a = make_dense(20, 20, values, 1, Operand::A, 20).values;
        CHECK(a == make_dense(20, 20, values, 1, Operand::A, 20).values);
        CHECK(a != make_dense(20, 20, values, 2, Operand::A, 20).values);
        CHECK(a != make_dense(20, 20, values, 1, Operand::B, 20).values);
    }
}

TEST_CASE("the amplitude of integer values follows its rule", "[operands]") {
    CHECK(integer_amplitude(0) == 8);
    CHECK(integer_amplitude(32) == 8);  // 64 * 32 = 2048
    CHECK(integer_amplitude(33) == 7);  // 49 * 33 = 1617
    CHECK(integer_amplitude(512) == 2); // 4 * 512 = 2048
    CHECK(integer_amplitude(513) == 1);
    CHECK(integer_amplitude(2048) == 1);
    CHECK(integer_amplitude(100000) == 1);
}

TEST_CASE("integer values are whole and use their whole range", "[operands]") {
    const DenseF16 matrix = make_dense(96, 96, kInteger, 1, Operand::B, 96);
    std::set<float> seen;
    for (const std::uint16_t half : matrix.values) {
        seen.insert(f16_to_f32(half));
    }
    CHECK(seen == std::set<float>{-4, -3, -2, -1, 0, 1, 2, 3, 4});
}

TEST_CASE("integer products are exact in binary16 in any order", "[operands]") {
    for (const std::int64_t k : {1, 31, 32, 33, 96, 511, 2047, 2048, 2049, 4096, 4099, 10000}) {
        CAPTURE(k);
        const DenseF16 a = make_dense(6, k, kInteger, 1, Operand::A, k);
        const DenseF16 b = make_dense(k, 5, kInteger, 1, Operand::B, k);
        CHECK(tessera::test::largest_absolute_sum(a, b) <= 2048);
        CHECK(tessera::test::inexact_f16_sums(a, b) == 0);
    }
}

TEST_CASE("long integer contractions thin the rows of A alone", "[operands]") {
    static constexpr std::int64_t kLength = 5000; // runs of three
    const DenseF16 a = make_dense(4, kLength, kInteger, 1, Operand::A, kLength);
    const DenseF16 b = make_dense(kLength, 4, kInteger, 1, Operand::B, kLength);
    const auto non_zeros = [](const DenseF16& matrix) {
        return std::count_if(matrix.values.begin(), matrix.values.end(),
                             [](std::uint16_t half) { return half != 0; });
    };
    // Two of three drawn values are not zero; in A one of three is drawn.
    CHECK(std::abs(static_cast<double>(non_zeros(b)) - 20000 * 2.0 / 3.0) < 400);
    CHECK(std::abs(static_cast<double>(non_zeros(a)) - 20000 * 2.0 / 9.0) < 400);
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t run = 0; run < kLength / 3; ++run) {
            const auto first =
                a.values.begin() + static_cast<std::ptrdiff_t>(row * kLength + 3 * run);
            CHECK(std::count(first, first + 3, std::uint16_t{0}) >= 2);
        }
    }
}

TEST_CASE("binary32 operands are the numbers of binary16 ones", "[operands]") {
    for (const ValuesSpec& values : {kUniform, kInteger}) {
        const DenseF16 halves = make_dense(9, 5000, values, 3, Operand::A, 5000);
        const DenseF32 floats = make_dense_f32(9, 5000, values, 3, Operand::A, 5000);
        REQUIRE(floats.values.size() == halves.values.size());
        CHECK(std::equal(
            floats.values.begin(), floats.values.end(), halves.values.begin(),
            [](float one, std::uint16_t half) { return one == tessera::f16_to_f32(half); }));
    }
    const ScratchFolder folder;
    const std::vector<float> thirds{1.0F / 3, 2.0F / 3};
    const ValuesSpec file{.kind = ValuesSpec::Kind::File,
                          .path = folder.file("b.npy", npy_bytes_f32(thirds, {2, 1}))};
    CHECK(make_dense_f32(2, 1, file, 1, Operand::B, 2).values == thirds);
}

TEST_CASE("dense values are read from a file of the right shape", "[operands]") {
    const ScratchFolder folder;
    const DenseF16 matrix = dense(2, 3, {1, 2, 3, 4, 5, 6});
    static_cast<void>(folder.file("b.npy", npy_bytes_f16(matrix.values, {2, 3})));
    const ValuesSpec file{.kind = ValuesSpec::Kind::File, .path = folder.file("b.npy")};
    CHECK(make_dense(2, 3, file, 1, Operand::B, 2).values == matrix.values);
    CHECK(config_error([&] { return make_dense(3, 2, file, 1, Operand::B, 3); }) ==
          "/values: " + file.path +
              ": shape: got (2, 3), expected (3, 2); values_a and values_b name a file for each "
              "operand");
    const ValuesSpec named{.kind = ValuesSpec::Kind::File, .path = file.path, .key = "/values_b"};
    CHECK(config_error([&] { return make_dense(3, 2, named, 1, Operand::B, 3); }) ==
          "/values_b: " + file.path + ": shape: got (2, 3), expected (3, 2)");
    const ValuesSpec absent{.kind = ValuesSpec::Kind::File, .path = folder.file("absent.npy")};
    CHECK_THROWS_AS(make_dense(2, 3, absent, 1, Operand::B, 2), IoError);
}

TEST_CASE("values are drawn by the number of their element, on every host alike", "[operands]") {
    constexpr std::int64_t kRows = 3;
    constexpr std::int64_t kLength = 5000; // runs of three
    for (const std::uint64_t seed : {1, 9}) {
        const DenseF16 a = make_dense(kRows, kLength, kInteger, seed, Operand::A, kLength);
        const DenseF16 b = make_dense(kLength, kRows, kInteger, seed, Operand::B, kLength);
        const CounterRandom draws_a(seed, 1);
        const CounterRandom draws_b(seed, 2);
        const CounterRandom places(seed, 0x100 + 1); // where a run of A has its element
        int wrong = 0;
        for (std::uint64_t i = 0; i < kRows * kLength; ++i) {
            const std::uint64_t row = i / kLength;
            const std::uint64_t column = i % kLength;
            const bool is_kept = places.below(3, (row << 32U) + column / 3) == column % 3;
            // -1, 0 or 1
            const double of_a = is_kept ? static_cast<double>(draws_a.below(3, i)) - 1 : 0;
            const double of_b = static_cast<double>(draws_b.below(3, i)) - 1;
            wrong += static_cast<double>(f16_to_f32(a.values[i])) == of_a ? 0 : 1;
            wrong += static_cast<double>(f16_to_f32(b.values[i])) == of_b ? 0 : 1;
        }
        CHECK(wrong == 0);
        const DenseF16 bias = make_dense(1, 40, kUniform, seed, Operand::Bias, 0);
        const CounterRandom draws_bias(seed, 3);
        for (std::uint64_t i = 0; i < 40; ++i) {
            CHECK(static_cast<double>(f16_to_f32(bias.values[i])) ==
                  (static_cast<double>(draws_bias.below(33, i)) - 16) / 16);
        }
    }
}

TEST_CASE("groups are one below the other, and rows of each are thinned alike", "[operands]") {
    constexpr std::int64_t kGroups = 3;
    constexpr std::int64_t kRows = 2;
    constexpr std::int64_t kLength = 4097; // runs of three
    const DenseF16 all =
        make_groups<std::uint16_t>({kGroups}, kRows, kLength, kInteger, 5, Operand::A, kLength);
    CHECK(all.rows == kGroups * kRows);
    CHECK(all.columns == kLength);
    const CounterRandom places(5, 0x100 + 1);
    int wrong = 0;
    for (std::uint64_t row = 0; row < kGroups * kRows; ++row) {
        for (std::uint64_t column = 0; column < kLength; ++column) {
            const bool is_kept = places.below(3, ((row % kRows) << 32U) + column / 3) == column % 3;
            const std::uint16_t value = all.values[row * kLength + column];
            wrong += is_kept || value == 0 ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
    const DenseF32 wide =
        make_groups<float>({kGroups}, kRows, kLength, kInteger, 5, Operand::A, kLength);
    CHECK(std::equal(wide.values.begin(), wide.values.end(), all.values.begin(),
                     [](float one, std::uint16_t half) { return one == f16_to_f32(half); }));
}

TEST_CASE("a bias is one product more in every run of a contraction", "[operands]") {
    // runs of ceil(L / 2048) leave at most 2047 products beside the bias
    for (const auto& [products, length] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 0},
                                                            {1, 2},
                                                            {2046, 2047},
                                                            {2047, 2048},
                                                            {2048, 2050},
                                                            {4094, 4096},
                                                            {4095, 4098}}) {
        CAPTURE(products);
        CHECK(contraction_with_one_more(products) == length);
        const std::int64_t run = std::max<std::int64_t>(1, (length + kExactSum - 1) / kExactSum);
        CHECK((products + run - 1) / run <= kExactSum - 1);
        CHECK(integer_amplitude(length) * integer_amplitude(length) *
                  ((products + run - 1) / run + 1) <=
              kExactSum);
    }
}

TEST_CASE("kept blocks of a whole matrix have its elements", "[kernels][workload]") {
    using Source = PatternSpec::Source;
    constexpr std::int64_t kSize = 16;
    constexpr std::int64_t kBlock = 4;
    constexpr std::int64_t kBlocks = kSize / kBlock * (kSize / kBlock);
    for (const Source source : {Source::Uniform, Source::Largest}) {
        SpmmWorkload workload;
        workload.m = kSize;
        workload.k = kSize;
        workload.block = kBlock;
        workload.dtype = ElementType::F32;
        workload.pattern.source = source;
        workload.pattern.density = 0.25;
        workload.whole_a.emplace();
        const DenseF32 whole =
            make_dense_f32(kSize, kSize, *workload.whole_a, workload.seed, Operand::A, kSize);
        const SparseF32 part = make_sparse_f32(workload);
        CAPTURE(static_cast<int>(source));
        REQUIRE(part.blocks() == kBlocks / 4);
        std::vector<double> sums(static_cast<std::size_t>(kBlocks));
        std::vector<bool> kept(static_cast<std::size_t>(kBlocks));
        for (std::int64_t row = 0; row < part.block_rows(); ++row) {
            for (std::int64_t number = part.first_block(row); number < part.first_block(row + 1);
                 ++number) {
                const std::int64_t column = part.column_of(number);
                kept[static_cast<std::size_t>(row * part.block_columns() + column)] = true;
                for (std::int64_t at = 0; at < kBlock * kBlock; ++at) {
                    const std::int64_t in_row = row * kBlock + at / kBlock;
                    const std::int64_t in_column = column * kBlock + at % kBlock;
                    CHECK(part.values[static_cast<std::size_t>(number * kBlock * kBlock + at)] ==
                          whole.values[static_cast<std::size_t>(in_row * kSize + in_column)]);
                }
            }
        }
        for (std::int64_t at = 0; at < kSize * kSize; ++at) {
            const std::int64_t block =
                at / kSize / kBlock * part.block_columns() + at % kSize / kBlock;
            sums[static_cast<std::size_t>(block)] +=
                std::fabs(static_cast<double>(whole.values[static_cast<std::size_t>(at)]));
        }
        double least_kept = 1e9;
        double most_pruned = 0;
        for (std::size_t block = 0; block < sums.size(); ++block) {
            double& bound = kept[block] ? least_kept : most_pruned;
            bound = kept[block] ? std::min(bound, sums[block]) : std::max(bound, sums[block]);
        }
        CHECK((least_kept >= most_pruned) == (source == Source::Largest));
    }
}

TEST_CASE("a matrix without blocks says why it has none", "[operands]") {
    SparsePattern none;
    none.rows = 64;
    none.columns = 2048;
    none.block = 16;
    none.row_start.assign(5, 0);
    CHECK(contraction_length(none) == 0);
    // the longest row, and what is added to its sum
    SparsePattern some = none;
    some.row_start = {0, 1, 4, 4, 6};
    CHECK(contraction_length(some) == 3 * some.block);
    SpmmWorkload workload;
    CHECK(contraction_length(workload, some) == 3 * some.block);
    for (const Accumulate accumulate : {Accumulate::Apart, Accumulate::Over}) {
        workload.accumulate = accumulate;
        CHECK(contraction_length(workload, some) == contraction_with_one_more(3 * some.block));
    }
    PatternSpec pattern;
    pattern.density = 0;
    CHECK(why_empty(none, pattern) == "density 0 keeps no block of 16 x 16 in 64 x 2048");
    pattern.density = 1e-6;
    CHECK(why_empty(none, pattern) == "density 1e-06 rounds to no block of 16 x 16 in 64 x 2048");
    pattern.source = PatternSpec::Source::File;
    pattern.path = "some.mtx";
    CHECK(why_empty(none, pattern) == "some.mtx has no entries");
    none.block_column.push_back(0);
    CHECK(why_empty(none, pattern) == std::nullopt);
}
