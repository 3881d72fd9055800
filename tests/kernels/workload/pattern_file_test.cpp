// SPDX-License-Identifier: MIT
#include "base/element_type.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/npy_entries.h"
#include "kernels/workload/pattern_file.h"
#include "kernels/workload/values.h"
#include "tests/kernels/workload/gzip.h"
#include "tests/kernels/workload/support.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

using tessera::ElementType;
using tessera::f32_to_f16;
using tessera::IoError;
using tessera::npy_of;
using tessera::test::config_error;
using tessera::test::gzip_of;
using tessera::test::ScratchFolder;
using namespace tessera::workload;

namespace {

template <class Element> std::string bytes_of(const std::vector<Element>& elements) {
    std::string bytes(elements.size() * sizeof(Element), '\0');
    std::memcpy(bytes.data(), elements.data(), bytes.size());
    return bytes;
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

bool same(const SparseF16& a, const SparseF16& b) {
    return a.rows == b.rows && a.columns == b.columns && a.block == b.block &&
           a.row_start == b.row_start && a.block_column == b.block_column && a.values == b.values;
}

/// One random matrix in every format that patterns are read from.
class OneMatrix {
public:
    OneMatrix() {
        SpmmWorkload workload;
        workload.m = kSide;
        workload.k = kSide;
        workload.pattern.density = 0.1;
        const SparseF16 a = make_sparse(workload);
        std::string columns;
        std::string offsets;
        std::string places;
        std::string entries;
        std::vector<std::uint8_t> is_kept(kSide * kSide, 0);
        std::vector<double> values(kSide * kSide, 0.0);
        for (std::size_t row = 0; row < kSide; ++row) {
            offsets += std::to_string(a.row_start[row]) + " ";
            for (auto at = a.row_start[row]; at < a.row_start[row + 1]; ++at) {
                const int column = a.block_column[static_cast<std::size_t>(at)];
                const double value = 0.25 * static_cast<double>(at % 7) + 0.25;
                columns += std::to_string(column) + " ";
                const std::string place =
                    std::to_string(row + 1) + " " + std::to_string(column + 1);
                places += place + "\n";
                entries += place + " " + std::to_string(value) + "\n";
                is_kept[row * kSide + static_cast<std::size_t>(column)] = 1;
                values[row * kSide + static_cast<std::size_t>(column)] = value;
            }
        }
        const std::string side = std::to_string(kSide);
        const std::string kept = std::to_string(a.blocks());
        const std::string head = "%%MatrixMarket matrix coordinate ";
        const std::string size = " general\n" + side + " " + side + " " + kept + "\n";
        mask_mtx = folder.file("mask.mtx", head + "pattern" + size + places);
        values_mtx = folder.file("values.mtx", head + "real" + size + entries);
        mask_smtx = folder.file("mask.smtx", side + ", " + side + ", " + kept + "\n" + offsets +
                                                 kept + "\n" + columns + "\n");
        const std::vector<std::int64_t> shape{kSide, kSide};
        mask_npy = folder.file("mask.npy", npy_bytes("|b1", shape, bytes_of(is_kept)));
        u1_npy = folder.file("u1.npy", npy_bytes("|u1", shape, bytes_of(is_kept)));
        values_npy = folder.file("values.npy", npy_bytes("<f8", shape, bytes_of(values)));
    }

    static constexpr std::int64_t kSide = 50;
    ScratchFolder folder;
    std::string mask_mtx, values_mtx, mask_smtx, mask_npy, u1_npy, values_npy;
};

CoordinateMatrix read_one(const ScratchFolder& folder, const std::string& bytes) {
    return read_npy_entries_file(folder.file("a.npy", bytes));
}

} // namespace

TEST_CASE("a pattern is the same operand in every format", "[operands]") {
    const OneMatrix one;
    using FileValues = PatternSpec::FileValues;
    for (const std::int64_t block : {1, 16}) {
        for (const auto values : {FileValues::Ones, FileValues::Gcn, FileValues::File}) {
            CAPTURE(block, static_cast<int>(values));
            const SparseF16 mask = make_sparse(from_file(one.mask_mtx, values, block));
            CHECK(same(mask, make_sparse(from_file(one.mask_smtx, values, block))));
            CHECK(same(mask, make_sparse(from_file(one.mask_npy, values, block))));
            CHECK(same(mask, make_sparse(from_file(one.u1_npy, values, block))));
            const SparseF16 filled = make_sparse(from_file(one.values_mtx, values, block));
            CHECK(same(filled, make_sparse(from_file(one.values_npy, values, block))));
            CHECK(same(filled, mask) == (values != FileValues::File));
        }
    }
}

TEST_CASE("a packed pattern is the same operand", "[operands]") {
    const OneMatrix one;
    const auto operand = [](const std::string& path) {
        return make_sparse(from_file(path, PatternSpec::FileValues::File));
    };
    for (const auto& path : {one.values_mtx, one.mask_smtx, one.values_npy}) {
        CAPTURE(path);
        std::ifstream file(path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        std::ofstream(path + ".gz", std::ios::binary) << gzip_of(bytes);
        CHECK(same(operand(path), operand(path + ".gz")));
        CHECK(read_pattern_file_size(matrix_place(path + ".gz")) ==
              MatrixShape{OneMatrix::kSide, OneMatrix::kSide});
    }
}

TEST_CASE("what entries of one place are is said beside the file", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file(
        "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n1 2 2\n");
    SpmmWorkload workload = from_file(path, PatternSpec::FileValues::File);
    CHECK(config_error([&] { return make_sparse(workload); }).find("is given twice") !=
          std::string::npos);
    workload.pattern.duplicates = Duplicates::Sum;
    CHECK(make_sparse(workload).values == std::vector<std::uint16_t>{f32_to_f16(3)});
}

TEST_CASE("integer values fill the masks that have none", "[operands]") {
    const OneMatrix one;
    const auto integer = [&](const std::string& path) {
        SpmmWorkload workload = from_file(path, PatternSpec::FileValues::File);
        workload.values.kind = ValuesSpec::Kind::Integer;
        return make_sparse(workload);
    };
    CHECK(same(integer(one.mask_mtx), integer(one.mask_smtx)));
    CHECK(same(integer(one.mask_mtx), integer(one.mask_npy)));
    CHECK(config_error([&] { return integer(one.u1_npy); }) ==
          "/pattern/values: got file values together with values 'integer', expected whole "
          "numbers; 'ones' keeps the pattern");
}

TEST_CASE("the size of a pattern's file is read by its ending", "[operands]") {
    const OneMatrix one;
    for (const auto& path : {one.mask_mtx, one.mask_smtx, one.mask_npy, one.values_npy}) {
        CHECK(read_pattern_file_size(matrix_place(path)) ==
              MatrixShape{OneMatrix::kSide, OneMatrix::kSide});
        CHECK(read_pattern_file(matrix_place(path)).rows == OneMatrix::kSide);
    }
    // only the start of the file is read
    const auto npy = one.folder.file("cut.npy", npy_bytes("<f2", {70000, 9}, ""));
    CHECK(read_pattern_file_size(matrix_place(npy)) == MatrixShape{70000, 9});
    SpmmWorkload workload = from_file(one.mask_smtx, PatternSpec::FileValues::Ones);
    workload.k = 7;
    CHECK(config_error([&] { return make_sparse(workload); }) ==
          "/k: got 7, expected 50 as in " + one.mask_smtx + "; leave it out to take the file's");
}

TEST_CASE("what is not zero in a dense file of any type is kept", "[operands]") {
    const ScratchFolder folder;
    const auto check = [&](std::string_view descr, const std::string& data, double value) {
        CAPTURE(descr);
        const auto matrix = read_one(folder, npy_bytes(descr, {2, 2}, data));
        REQUIRE(matrix.entries.size() == 2);
        CHECK(matrix.rows == 2);
        CHECK(matrix.columns == 2);
        CHECK(matrix.has_values() == (descr != "|b1"));
        CHECK(matrix.entries[0].row == 0);
        CHECK(matrix.entries[0].column == 1);
        CHECK(matrix.entries[0].value == value);
        CHECK(matrix.entries[1].row == 1);
        CHECK(matrix.entries[1].column == 0);
        CHECK(matrix.entries[1].value == 1.0);
    };
    check(npy_of(ElementType::Bool), bytes_of<std::uint8_t>({0, 1, 1, 0}), 1);
    check(npy_of(ElementType::I8), bytes_of<std::int8_t>({0, -3, 1, 0}), -3);
    check(npy_of(ElementType::U8), bytes_of<std::uint8_t>({0, 200, 1, 0}), 200);
    check(npy_of(ElementType::I16), bytes_of<std::int16_t>({0, -300, 1, 0}), -300);
    check(npy_of(ElementType::U16), bytes_of<std::uint16_t>({0, 40000, 1, 0}), 40000);
    check(npy_of(ElementType::I32), bytes_of<std::int32_t>({0, -70000, 1, 0}), -70000);
    check(npy_of(ElementType::U32), bytes_of<std::uint32_t>({0, 4000000000U, 1, 0}), 4e9);
    check("<i8", bytes_of<std::int64_t>({0, -5, 1, 0}), -5);
    check("<u8", bytes_of<std::uint64_t>({0, 5, 1, 0}), 5);
    check(npy_of(ElementType::F16),
          bytes_of<std::uint16_t>({0x8000, f32_to_f16(0.5F), f32_to_f16(1), 0}), 0.5);
    check(npy_of(ElementType::F32), bytes_of<float>({0, 0.25F, 1, -0.0F}), 0.25);
    check("<f8", bytes_of<double>({0, 1e-300, 1, -0.0}), 1e-300);
}

TEST_CASE("a dense file may be in Fortran's order and have the highest byte first", "[operands]") {
    const ScratchFolder folder;
    std::string bytes = npy_bytes(">i2", {2, 3}, std::string("\0\1\0\0\0\0\0\2\1\0\0\0", 12));
    const std::string order = "'fortran_order': False";
    bytes.replace(bytes.find(order), order.size(), "'fortran_order': True ");
    const auto matrix = read_one(folder, bytes); // columns 1 0, 0 2, 256 0
    REQUIRE(matrix.entries.size() == 3);
    const auto is = [&](std::size_t i, int row, int column, double value) {
        return matrix.entries[i].row == row && matrix.entries[i].column == column &&
               matrix.entries[i].value == value;
    };
    CHECK(is(0, 0, 0, 1));
    CHECK(is(1, 0, 2, 256));
    CHECK(is(2, 1, 1, 2));
}

TEST_CASE("a dense file of more than one piece is read whole", "[operands]") {
    const ScratchFolder folder;
    constexpr std::int64_t kRows = 700;
    constexpr std::int64_t kColumns = 701;
    std::vector<double> values(kRows * kColumns, 0.0);
    for (std::size_t i = 0; i < values.size(); i += 1009) {
        values[i] = static_cast<double>(i + 1);
    }
    const auto matrix = read_one(folder, npy_bytes("<f8", {kRows, kColumns}, bytes_of(values)));
    CHECK(matrix.entries.size() == (values.size() + 1008) / 1009);
    int wrong = 0;
    for (std::size_t i = 0; i < matrix.entries.size(); ++i) {
        const auto& entry = matrix.entries[i];
        const auto at = static_cast<std::size_t>(entry.row * kColumns + entry.column);
        wrong += at == i * 1009 && entry.value == static_cast<double>(at + 1) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEST_CASE("mistakes in a dense pattern file are told", "[operands]") {
    const ScratchFolder folder;
    const std::string path = folder.file("a.npy");
    const auto error_of = [&](const std::string& bytes) {
        return config_error([&] { return read_one(folder, bytes); });
    };
    const std::string three = bytes_of<float>({1, 0, 2});
    CHECK(error_of("x") == path + ": not an npy file: it does not start with \\x93NUMPY");
    CHECK(error_of(npy_bytes("<f4", {2, 2}, three)) ==
          path + ": data: got 12 bytes, expected 4 elements of 4 bytes; the file is truncated");
    CHECK(error_of(npy_bytes("<f4", {1, 2}, three)) ==
          path + ": data: got more than the expected 2 elements of 4 bytes");
    CHECK(error_of(npy_bytes("<f4", {3}, three)) == path + ": shape: got 1 dimensions, expected 2");
    CHECK(error_of(npy_bytes("<c8", {1, 1}, three)) ==
          path + ": descr: got '<c8', expected bools, floats of 2, 4 or 8 bytes or integers of 1, "
                 "2, 4 or 8, as |b1 or <f4");
    for (const float odd :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        CHECK(error_of(npy_bytes("<f4", {1, 2}, bytes_of<float>({0, odd}))) ==
              path + ": element [0, 1] is not finite, expected a finite number");
    }
    static_cast<void>(folder.file("a.npy", npy_bytes("<f4", {1, 2}, bytes_of<float>({0, 65520}))));
    CHECK(config_error([&] {
              return make_sparse(from_file(path, PatternSpec::FileValues::File));
          }) == path + ": element [0, 1] is not finite in f16, expected -65504..65504");
    CHECK(make_sparse(from_file(path, PatternSpec::FileValues::Ones)).blocks() == 1);
    CHECK_THROWS_AS(read_npy_entries_file(folder.file("absent.npy")), IoError);
    CHECK_THROWS_AS(read_npy_size(folder.file("absent.npy")), IoError);
}
