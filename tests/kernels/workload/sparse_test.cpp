// SPDX-License-Identifier: MIT
#include "kernels/workload/half.h"
#include "kernels/workload/stored_elements.h"
#include "kernels/workload/values.h"
#include "tests/kernels/workload/exactness.h"
#include "tests/kernels/workload/support.h"
#include "tests/support/source_path.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

using tessera::f16_to_f32;
using tessera::f32_to_f16;
using tessera::IoError;
using tessera::test::config_error;
using tessera::test::dense;
using tessera::test::densified;
using tessera::test::inexact_f16_sums;
using tessera::test::largest_absolute_sum;
using tessera::test::ScratchFolder;
using namespace tessera::workload;

namespace {

SpmmWorkload generated(std::int64_t m, std::int64_t k, std::int64_t block, double density) {
    SpmmWorkload workload;
    workload.m = m;
    workload.k = k;
    workload.n = 8;
    workload.block = block;
    workload.pattern.density = density;
    return workload;
}

SpmmWorkload from_file(const std::string& path, PatternSpec::FileValues values,
                       std::int64_t block = 1) {
    SpmmWorkload workload;
    workload.n = 8;
    workload.block = block;
    workload.pattern.source = PatternSpec::Source::File;
    workload.pattern.path = path;
    workload.pattern.file_values = values;
    return workload;
}

/// Checks the invariants of operands.h.
void check_well_formed(const SparseF16& a) {
    REQUIRE(static_cast<std::int64_t>(a.row_start.size()) == a.block_rows() + 1);
    CHECK(a.row_start.front() == 0);
    CHECK(a.row_start.back() == a.blocks());
    CHECK(static_cast<std::int64_t>(a.values.size()) == a.blocks() * a.block * a.block);
    int disorder = 0;
    for (std::size_t row = 0; row + 1 < a.row_start.size(); ++row) {
        for (auto at = a.row_start[row]; at < a.row_start[row + 1]; ++at) {
            const auto i = static_cast<std::size_t>(at);
            disorder += a.block_column[i] < 0 || a.block_column[i] >= a.block_columns() ? 1 : 0;
            disorder += at > a.row_start[row] && a.block_column[i] <= a.block_column[i - 1] ? 1 : 0;
        }
    }
    CHECK(disorder == 0);
}

std::vector<float> floats(const DenseF16& matrix) {
    std::vector<float> values;
    for (const std::uint16_t half : matrix.values) {
        values.push_back(f16_to_f32(half));
    }
    return values;
}

const std::string kPattern = "%%MatrixMarket matrix coordinate pattern general\n";
const std::string kSymmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n";
const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";

} // namespace

TEST_CASE("generated sparse matrices keep the rounded density of their blocks", "[operands]") {
    for (const auto source : {PatternSpec::Source::Uniform, PatternSpec::Source::Banded,
                              PatternSpec::Source::PowerLaw}) {
        for (const std::int64_t block : {1, 16}) {
            for (const double density : {0.0, 0.1, 0.5, 0.97, 1.0}) {
                SpmmWorkload workload = generated(100, 70, block, density);
                workload.pattern.source = source;
                const SparseF16 a = make_sparse(workload);
                CAPTURE(block, density);
                check_well_formed(a);
                CHECK(a.blocks() == std::llround(density * static_cast<double>(a.block_rows() *
                                                                               a.block_columns())));
            }
        }
    }
}

TEST_CASE("sparse matrices of n of m have as many blocks in each group", "[operands]") {
    SpmmWorkload workload = generated(100, 7 * 16, 16, 0.5);
    workload.pattern.source = PatternSpec::Source::NOfM;
    const SparseF16 a = make_sparse(workload);
    check_well_formed(a);
    CHECK(a.blocks() == 7 * (2 + 2)); // of 4, and round(3 / 2) of the last three
    workload.pattern.density = 1.0;
    CHECK(make_sparse(workload).blocks() == 7 * 7);
    workload.values.kind = ValuesSpec::Kind::Integer;
    const SparseF16 whole = make_sparse(workload);
    const DenseF16 x =
        make_dense(112, 3, workload.values, 1, Operand::B, contraction_length(whole));
    CHECK(inexact_f16_sums(densified(whole), x) == 0);
}

TEST_CASE("generated sparse matrices are functions of both seeds", "[operands]") {
    SpmmWorkload workload = generated(64, 64, 1, 0.25);
    const SparseF16 a = make_sparse(workload);
    workload.seed = 2;
    const SparseF16 other_values = make_sparse(workload);
    CHECK(other_values.block_column == a.block_column);
    CHECK(other_values.values != a.values);
    workload.pattern.seed = 2;
    CHECK(make_sparse(workload).block_column != a.block_column);
    CHECK(make_sparse(workload).values == make_sparse(workload).values);
}

TEST_CASE("elements beyond the edge of a padded block are zero", "[operands]") {
    const SparseF16 a = make_sparse(generated(17, 20, 16, 1.0));
    int inside = 0;
    int outside = 0;
    for (std::int64_t at = 0; at < a.blocks(); ++at) {
        for (std::int64_t i = 0; i < 256; ++i) {
            const bool in = at / 2 * 16 + i / 16 < 17 && at % 2 * 16 + i % 16 < 20;
            const bool zero = a.values.at(static_cast<std::size_t>(at * 256 + i)) == 0;
            inside += in && !zero ? 1 : 0;
            outside += !in && !zero ? 1 : 0;
        }
    }
    CHECK(outside == 0);
    CHECK(inside > 300); // of 340, one in 33 zero
}

TEST_CASE("gcn values are one over the root of both degrees", "[operands]") {
    const ScratchFolder folder;
    // A path 1 - 2 - 3 with a loop at 2, and 4 alone: degrees 1, 3, 1, 0.
    const std::string path = folder.file("g.mtx", kSymmetric + "4 4 3\n2 1\n2 2\n3 2\n");
    const SparseF16 a = make_sparse(from_file(path, PatternSpec::FileValues::Gcn));
    check_well_formed(a);
    CHECK(a.rows == 4);
    const float edge = f16_to_f32(f64_to_f16(1.0 / std::sqrt(3.0)));
    const float loop = f16_to_f32(f64_to_f16(1.0 / 3.0));
    CHECK(a.row_start == std::vector<std::int64_t>{0, 1, 4, 5, 5});
    CHECK(floats(densified(a)) == std::vector<float>{0, edge, 0, 0,       //
                                                     edge, loop, edge, 0, //
                                                     0, edge, 0, 0,       //
                                                     0, 0, 0, 0});
    CHECK(edge == Approx(0.57735).epsilon(0x1p-11));
}

TEST_CASE("gcn ignores the file's values and keeps a zero towards a row without entries",
          "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("g.mtx", kReal + "2 2 2\n1 1 9\n1 2 -4\n");
    const SparseF16 a = make_sparse(from_file(path, PatternSpec::FileValues::Gcn));
    CHECK(a.blocks() == 2);
    CHECK(floats(densified(a)) == std::vector<float>{0.5F, 0, 0, 0});
}

TEST_CASE("gcn needs a square matrix", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("g.mtx", kPattern + "2 3 1\n1 1\n");
    CHECK(
        config_error([&] { return make_sparse(from_file(path, PatternSpec::FileValues::Gcn)); }) ==
        "/pattern/values: got gcn for the 2 x 3 matrix of " + path + ", expected a square matrix");
}

TEST_CASE("file values and ones are stored as asked", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("v.mtx", kReal + "2 3 2\n1 3 0.1\n2 1 -8\n");
    const SparseF16 own = make_sparse(from_file(path, PatternSpec::FileValues::File));
    CHECK(own.rows == 2);
    CHECK(own.columns == 3);
    CHECK(densified(own).values == dense(2, 3, {0, 0, 0.1F, -8, 0, 0}).values);
    const SparseF16 ones = make_sparse(from_file(path, PatternSpec::FileValues::Ones));
    CHECK(densified(ones).values == dense(2, 3, {0, 0, 1, 1, 0, 0}).values);
    const std::string pattern = folder.file("p.mtx", kPattern + "2 3 2\n1 3\n2 1\n");
    const SparseF16 plain = make_sparse(from_file(pattern, PatternSpec::FileValues::File));
    CHECK(plain.values == ones.values);
}

TEST_CASE("a block of sixteen is kept if it holds an entry", "[operands]") {
    const ScratchFolder folder;
    const std::string path =
        folder.file("b.mtx", kReal + "33 40 4\n1 1 2\n16 16 3\n17 33 4\n33 40 5\n");
    const SparseF16 a = make_sparse(from_file(path, PatternSpec::FileValues::File, 16));
    check_well_formed(a);
    CHECK(a.block_rows() == 3);
    CHECK(a.block_columns() == 3);
    CHECK(a.row_start == std::vector<std::int64_t>{0, 1, 2, 3});
    CHECK(a.block_column == std::vector<std::int32_t>{0, 2, 2});
    CHECK(densified(a).values ==
          densified(make_sparse(from_file(path, PatternSpec::FileValues::File, 1))).values);
}

TEST_CASE("file values beyond binary16 are located", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("v.mtx", kReal + "2 2 2\n2 2 1\n1 1 65520\n");
    CHECK(config_error([&] {
              return make_sparse(from_file(path, PatternSpec::FileValues::File));
          }) == path + ":4:1: value: not finite in f16, expected -65504..65504");
}

TEST_CASE("a pattern may be given as that of the transpose", "[operands]") {
    const auto stored = [](const SparsePattern& a, bool turned) {
        std::set<std::pair<std::int64_t, std::int64_t>> places;
        for_each_stored(a, [&](std::size_t, std::int64_t row, std::int64_t column, std::int64_t) {
            places.insert(turned ? std::pair(column, row) : std::pair(row, column));
        });
        return places;
    };
    for (const std::int64_t block : {1, 4}) {
        const SparseF16 given = make_sparse(generated(36, 50, block, 0.3));
        SpmmWorkload workload = generated(50, 36, block, 0.3);
        workload.transpose_a = true;
        const SparseF16 a = make_sparse(workload);
        check_well_formed(a);
        CHECK(a.rows == 50);
        CHECK(a.columns == 36);
        CHECK(stored(a, false) == stored(given, true));
    }
    const ScratchFolder folder;
    const std::string path = folder.file("v.mtx", kReal + "2 3 2\n1 3 5\n2 1 7\n");
    SpmmWorkload workload = from_file(path, PatternSpec::FileValues::File);
    workload.transpose_a = true;
    const SparseF16 a = make_sparse(workload);
    CHECK(a.rows == 3);
    CHECK(a.row_start == std::vector<std::int64_t>{0, 1, 1, 2});
    CHECK(a.block_column == std::vector<std::int32_t>{1, 0});
    CHECK(a.values == std::vector<std::uint16_t>{f64_to_f16(7), f64_to_f16(5)});
    workload.m = 2;
    CHECK(config_error([&] { return make_sparse(workload); }) ==
          "/m: got 2, expected 3 as in " + path + ", transposed; leave it out to take the file's");
    const DenseF16 dense{2, 3, {1, 2, 3, 4, 5, 6}};
    CHECK(transposed(dense).rows == 3);
    CHECK(transposed(dense).values == std::vector<std::uint16_t>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("FP32 matrices hold the numbers of FP16 ones, and a file's more exactly", "[operands]") {
    const auto same = [](const SparseF16& half, const SparseF32& wide, double most) {
        CHECK(half.row_start == wide.row_start);
        CHECK(half.block_column == wide.block_column);
        REQUIRE(half.values.size() == wide.values.size());
        for (std::size_t i = 0; i < half.values.size(); ++i) {
            const double value = static_cast<double>(f16_to_f32(half.values[i]));
            CHECK(std::fabs(static_cast<double>(wide.values[i]) - value) <=
                  most * std::fabs(value));
        }
    };
    for (const std::int64_t block : {1, 4, 16}) {
        const SpmmWorkload workload = generated(37, 50, block, 0.4);
        same(make_sparse(workload), make_sparse_f32(workload), 0.0);
    }
    const ScratchFolder folder;
    const std::string beyond = folder.file("v.mtx", kReal + "2 2 2\n2 2 1\n1 1 1e39\n");
    CHECK(config_error([&] {
              return make_sparse_f32(from_file(beyond, PatternSpec::FileValues::File));
          }) == beyond + ":4:1: value: not finite in f32");
    // what rounds to 2^128 is beyond, the number before it is not
    for (const auto& [text, is_within] :
         {std::pair{"3.4028235677973366e38", false}, {"3.4028235677973362e38", true}}) {
        const std::string edge = folder.file("e.mtx", kReal + "1 1 1\n1 1 " + text + "\n");
        const auto at_edge = from_file(edge, PatternSpec::FileValues::File);
        if (is_within) {
            CHECK(make_sparse_f32(at_edge).values.front() == std::numeric_limits<float>::max());
        } else {
            CHECK_THROWS_AS(make_sparse_f32(at_edge), tessera::ConfigError);
        }
    }
    const std::string within =
        folder.file("w.mtx", kReal + "2 3 2\n1 1 0.3333333333333333\n2 3 -100000\n");
    const auto fits = from_file(within, PatternSpec::FileValues::File);
    CHECK_THROWS_AS(make_sparse(fits), tessera::ConfigError);
    CHECK(make_sparse_f32(fits).values ==
          std::vector<float>{static_cast<float>(1.0 / 3.0), -100000.0F});
}

TEST_CASE("dimensions that differ from the file are all reported", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("v.mtx", kPattern + "2 3 1\n1 1\n");
    SpmmWorkload workload = from_file(path, PatternSpec::FileValues::Ones);
    workload.m = 3;
    workload.k = 2;
    const std::string hint = "; leave it out to take the file's";
    CHECK(config_error([&] { return make_sparse(workload); }) ==
          "/m: got 3, expected 2 as in " + path + hint + "\n/k: got 2, expected 3 as in " + path +
              hint);
    workload.m = 2;
    workload.k = 3;
    CHECK(make_sparse(workload).columns == 3);
}

TEST_CASE("pattern files of absurd dimensions are refused before memory is taken", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("v.mtx", kPattern + "2147483647 1 1\n1 1\n");
    CHECK(config_error([&] {
              return make_sparse(from_file(path, PatternSpec::FileValues::Ones));
          }) == path + ": m: got 2147483647, expected at most 16777216");
    const auto of_columns = [&](const std::string& columns) {
        return make_sparse(from_file(folder.file("w.mtx", kPattern + "1 " + columns + " 1\n1 1\n"),
                                     PatternSpec::FileValues::Ones));
    };
    CHECK(of_columns("16777216").columns == 1 << 24);
    CHECK(config_error([&] { return of_columns("16777217"); }) ==
          folder.file("w.mtx") + ": k: got 16777217, expected at most 16777216");
    CHECK_THROWS_AS(
        make_sparse(from_file(folder.file("absent.mtx"), PatternSpec::FileValues::Ones)), IoError);
}

TEST_CASE("generator settings out of range are refused", "[operands]") {
    const auto error_of = [](const SpmmWorkload& workload) {
        return config_error([&] { return make_sparse(workload); });
    };
    CHECK(error_of(generated(32, 32, 2, 0.5)) == "/block: got 2, expected 1, 4, 8 or 16");
    CHECK(error_of(generated(0, 32, 1, 0.5)) == "/m: got 0, expected 1..16777216");
    CHECK(error_of(generated(32, 16777217, 1, 0.5)) == "/k: got 16777217, expected 1..16777216");
    CHECK(error_of(generated(32, 32, 1, 1.5)) == "/pattern/density: got 1.500000, expected 0..1");
    CHECK(error_of(generated(32, 32, 1, -0.5)) == "/pattern/density: got -0.500000, expected 0..1");
    CHECK(error_of(generated(32, 32, 1, std::numeric_limits<double>::quiet_NaN())) ==
          "/pattern/density: got nan, expected 0..1");
    SpmmWorkload skewed = generated(32, 32, 1, 0.5);
    skewed.pattern.source = PatternSpec::Source::PowerLaw;
    skewed.pattern.exponent = 0;
    CHECK(error_of(skewed) ==
          "/pattern/exponent: got 0.000000, expected more than 0 and at most 16");
    skewed.pattern.exponent = 16;
    CHECK(make_sparse(skewed).blocks() == 32 * 32 / 2);
    skewed.pattern.exponent = 17;
    CHECK(error_of(skewed) ==
          "/pattern/exponent: got 17.000000, expected more than 0 and at most 16");
    SpmmWorkload grouped = generated(32, 32, 1, 0.3);
    grouped.pattern.source = PatternSpec::Source::NOfM;
    CHECK(error_of(grouped) == "/pattern/density: got 0.3, 1.2 of each 4 blocks, expected a whole "
                               "number of them: 0.25 or 0.5");
    for (const std::int64_t group : {0, 1025}) {
        grouped.pattern.group = group;
        CHECK(error_of(grouped) ==
              "/pattern/group: got " + std::to_string(group) + " blocks, expected 1..1024 blocks");
    }
    for (const std::int64_t group : {1, 1024}) {
        grouped.pattern.group = group;
        grouped.pattern.density = group == 1 ? 1.0 : 0.5;
        CHECK(make_sparse(grouped).blocks() == (group == 1 ? 32 * 32 : 32 * 16));
    }
    grouped = generated(100000, 100000, 1, 0.5);
    grouped.pattern.source = PatternSpec::Source::NOfM;
    CHECK(error_of(grouped) ==
          "/pattern: got 5000000000 kept blocks of 1 x 1, expected at most 1073741824 stored "
          "elements");
    CHECK(error_of(generated(100000, 100000, 1, 0.5)) ==
          "/pattern: got 5000000000 kept blocks of 1 x 1, expected at most 1073741824 stored "
          "elements");
    // one block of 256 elements too many
    CHECK(error_of(generated(1 << 20, 1 << 20, 16, 4194305.0 / (1LL << 32))) ==
          "/pattern: got 4194305 kept blocks of 16 x 16, expected at most 1073741824 stored "
          "elements");
}

TEST_CASE("integer values make sparse products exact", "[operands]") {
    for (const auto& [m, k, block, density] : {std::tuple<int, int, int, double>{40, 60, 1, 0.3},
                                               {48, 96, 16, 0.5},
                                               {6, 5000, 1, 0.9},
                                               {32, 4128, 16, 0.8},
                                               {20, 9000, 1, 0.01}}) {
        CAPTURE(m, k, block, density);
        SpmmWorkload workload = generated(m, k, block, density);
        workload.values.kind = ValuesSpec::Kind::Integer;
        const SparseF16 a = make_sparse(workload);
        for (const std::int64_t length : {contraction_length(a), std::int64_t{k}}) {
            const DenseF16 x = make_dense(k, 3, workload.values, 1, Operand::B, length);
            CHECK(largest_absolute_sum(densified(a), x) <= 2048);
            CHECK(inexact_f16_sums(densified(a), x) == 0);
        }
    }
}

TEST_CASE("the contraction length of a sparse matrix is its fullest row", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("v.mtx", kPattern + "20 40 4\n1 1\n1 2\n1 40\n20 1\n");
    CHECK(contraction_length(make_sparse(from_file(path, PatternSpec::FileValues::Ones))) == 3);
    CHECK(contraction_length(make_sparse(from_file(path, PatternSpec::FileValues::Ones, 16))) ==
          32);
}

TEST_CASE("integer values fill a pattern file on its entries alone", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("v.mtx", kPattern + "40 40 3\n1 1\n2 2\n40 40\n");
    for (const std::int64_t block : {1, 16}) {
        SpmmWorkload workload = from_file(path, PatternSpec::FileValues::File, block);
        workload.values.kind = ValuesSpec::Kind::Integer;
        int whole = 0;
        float largest = 0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            workload.seed = seed;
            const auto values = floats(densified(make_sparse(workload)));
            for (std::size_t i = 0; i < values.size(); ++i) {
                const bool entry = i == 0 || i == 41 || i == 1599;
                whole += (entry || values[i] == 0) && values[i] == std::round(values[i]) ? 1 : 0;
                largest = std::max(largest, values[i]);
            }
        }
        CHECK(whole == 20 * 1600);
        CHECK(largest == 8.0F);
    }
}

TEST_CASE("integer values thin the long rows of a pattern file", "[operands]") {
    // Rows of 4,100 entries among 8,200 columns: sums of so many products would not be exact.
    constexpr int kEntries = 4100;
    const ScratchFolder folder;
    std::string text = kPattern + "2 8200 " + std::to_string(2 * kEntries) + "\n";
    for (int i = 1; i <= kEntries; ++i) {
        for (const char* row : {"1 ", "2 "}) {
            text += row + std::to_string(2 * i) + "\n";
        }
    }
    const std::string path = folder.file("p.mtx", text);
    for (const std::int64_t block : {1, 16}) {
        SpmmWorkload workload = from_file(path, PatternSpec::FileValues::File, block);
        workload.values.kind = ValuesSpec::Kind::Integer;
        const SparseF16 a = make_sparse(workload);
        const std::int64_t length = contraction_length(a);
        CHECK(length == (block == 1 ? kEntries : 8208));
        const DenseF16 x = make_dense(8200, 3, workload.values, 1, Operand::B, length);
        CHECK(inexact_f16_sums(densified(a), x) == 0);
        // Of each run of a row's places one is drawn; 2 of 3 drawn values are not zero.
        const std::int64_t run = (length + 2047) / 2048;
        CAPTURE(block, run);
        CHECK(run == (block == 1 ? 3 : 5));
        const auto values = floats(densified(a));
        std::vector<std::ptrdiff_t> places[2];
        for (std::ptrdiff_t i = 0; i < 2 * 8200; ++i) {
            if (values[static_cast<std::size_t>(i)] != 0) {
                places[i / 8200].push_back(i % 8200);
            }
        }
        for (const auto& row : places) {
            CHECK(std::abs(static_cast<double>(row.size()) -
                           2.0 / 3.0 * kEntries / static_cast<double>(run)) < 120);
        }
        // Each row draws its own places.
        std::vector<std::ptrdiff_t> both;
        std::set_intersection(places[0].begin(), places[0].end(), places[1].begin(),
                              places[1].end(), std::back_inserter(both));
        CHECK(2 * both.size() < places[0].size());
    }
}

TEST_CASE("integer values contradict gcn and the values of a file", "[operands]") {
    const ScratchFolder folder;
    const auto error_of = [](SpmmWorkload workload) {
        workload.values.kind = ValuesSpec::Kind::Integer;
        return config_error([&] { return make_sparse(workload); });
    };
    const std::string pattern = folder.file("p.mtx", kPattern + "2 2 1\n1 1\n");
    const std::string real = folder.file("r.mtx", kReal + "2 2 1\n1 1 0.5\n");
    const std::string text = " together with values 'integer', expected whole numbers; "
                             "'ones' keeps the pattern";
    CHECK(error_of(from_file(pattern, PatternSpec::FileValues::Gcn)) ==
          "/pattern/values: got gcn" + text);
    CHECK(error_of(from_file(real, PatternSpec::FileValues::File)) ==
          "/pattern/values: got file values" + text);
}

TEST_CASE("ones with integer values need rows whose sums stay exact", "[operands]") {
    const ScratchFolder folder;
    const auto row_of = [&](int entries) {
        std::string text = kPattern + "1 4000 " + std::to_string(entries) + "\n";
        for (int i = 1; i <= entries; ++i) {
            text += "1 " + std::to_string(i) + "\n";
        }
        SpmmWorkload workload =
            from_file(folder.file("p.mtx", text), PatternSpec::FileValues::Ones);
        workload.values.kind = ValuesSpec::Kind::Integer;
        return workload;
    };
    const SpmmWorkload allowed = row_of(2048);
    const SparseF16 a = make_sparse(allowed);
    const DenseF16 x = make_dense(4000, 3, allowed.values, 1, Operand::B, contraction_length(a));
    CHECK(inexact_f16_sums(densified(a), x) == 0);
    const SpmmWorkload refused = row_of(2049);
    CHECK(config_error([&] { return make_sparse(refused); }) ==
          "/pattern/values: got ones together with values 'integer' for a row of 2049 entries in " +
              refused.pattern.path + ", expected at most 2048 so that sums are exact");
}

TEST_CASE("the Cora graph gives a normalised adjacency matrix", "[operands]") {
    const std::string path = tessera::test::source_path("configs/data/cora.mtx");
    const SparseF16 a = make_sparse(from_file(path, PatternSpec::FileValues::Gcn));
    check_well_formed(a);
    CHECK(a.rows == 2708);
    CHECK(a.columns == 2708);
    CHECK(a.blocks() == 13264);
    // D^-1/2 A D^-1/2 of an undirected graph has the eigenvector root(D) for 1, here up to
    // binary16.
    double largest_error = 0;
    for (std::size_t row = 0; row < 2708; ++row) {
        const auto degree = [&](std::size_t i) {
            return static_cast<double>(a.row_start[i + 1] - a.row_start[i]);
        };
        double sum = 0;
        for (auto at = a.row_start[row]; at < a.row_start[row + 1]; ++at) {
            const auto i = static_cast<std::size_t>(at);
            sum += static_cast<double>(f16_to_f32(a.values[i])) *
                   std::sqrt(degree(static_cast<std::size_t>(a.block_column[i])));
        }
        largest_error = std::max(largest_error, std::fabs(sum / std::sqrt(degree(row)) - 1.0));
    }
    CHECK(largest_error < 0x1p-11);
    CHECK(make_sparse(from_file(path, PatternSpec::FileValues::Gcn, 16)).values.size() ==
          256 * static_cast<std::size_t>(
                    make_sparse(from_file(path, PatternSpec::FileValues::Ones, 16)).blocks()));
}

TEST_CASE("a transposed pattern has each block where its row and column are exchanged",
          "[operands]") {
    for (const std::int64_t block : {1, 4, 16}) {
        const auto a = make_sparse(generated(70, 50, block, 0.3));
        const auto made = transposed(a);
        SparseF16 turned;
        static_cast<SparsePattern&>(turned) = made.pattern;
        for (const std::int64_t from : made.from) {
            for (std::int64_t row = 0; row < block; ++row) {
                for (std::int64_t column = 0; column < block; ++column) {
                    turned.values.push_back(a.values.at(
                        static_cast<std::size_t>((from * block + column) * block + row)));
                }
            }
        }
        check_well_formed(turned);
        CHECK(densified(turned).values == transposed(densified(a)).values);
    }
}
