// SPDX-License-Identifier: MIT
// Files of matrices as this program writes and reads them; SciPy's are in
// tests/system/pattern_test.py.
#include "base/error.h"
#include "kernels/pattern/blocks.h"
#include "kernels/pattern/matrix_file.h"
#include "kernels/pattern/npz.h"
#include "kernels/pattern/npz_writer.h"
#include "tests/kernels/pattern/scene.h"
#include "tests/support/scratch_folder.h"

#include <fstream>

using namespace tessera::pattern;
using namespace tessera::workload;
using tessera::ConfigError;
using tessera::test::check_same;
using tessera::test::random_matrix;
using tessera::test::ScratchFolder;

namespace {

CoordinateMatrix written_and_read(const CoordinateMatrix& matrix, const std::string& name,
                                  NpzForm form = {}) {
    const ScratchFolder folder;
    const MatrixPlace place = matrix_place(folder.path(name));
    std::ofstream(place.file, std::ios::binary) << matrix_bytes(matrix, place, form);
    return read_pattern_file(place);
}

} // namespace

TEST_CASE("a format that has the type gives the matrix back", "[pattern]") {
    constexpr std::int64_t kBlock = 4;
    for (const auto& facts : kValueTypes) {
        for (const std::uint64_t seed : {1U, 2U}) {
            const CoordinateMatrix matrix =
                random_matrix(6 * kBlock, 5 * kBlock, 7, facts.type, seed);
            check_same(written_and_read(matrix, "a.safetensors"), matrix);
            check_same(written_and_read(matrix, "a.safetensors:some.name"), matrix);
            if (facts.npy.empty()) {
                for (const char* name : {"a.npy", "a.npz"}) {
                    CHECK_THROWS_WITH(
                        written_and_read(matrix, name),
                        Catch::Contains("NumPy has no type " + std::string(facts.name)));
                }
                continue;
            }
            check_same(written_and_read(matrix, "a.npy"), matrix);
            for (const Storage storage : {Storage::Coo, Storage::Csr, Storage::Csc}) {
                check_same(written_and_read(matrix, "a.npz", {storage}), matrix);
            }
            check_same(written_and_read(matrix, "a.npz", {Storage::Bsr, kBlock}),
                       whole_blocks(matrix, kBlock));
        }
    }
}

TEST_CASE("text keeps values, but of types only whole or real", "[pattern]") {
    for (const auto& facts : kValueTypes) {
        CoordinateMatrix matrix = random_matrix(9, 17, 6, facts.type, 5);
        CoordinateMatrix read = written_and_read(matrix, "a.mtx");
        CHECK(read.type == (facts.type == ValueType::Mask ? ValueType::Mask
                            : is_whole(facts.type)        ? ValueType::I64
                                                          : ValueType::F64));
        for (auto& entry : read.entries) {
            entry.line = 0;
        }
        read.type = matrix.type;
        check_same(read, matrix);
        matrix.type = ValueType::Mask;
        for (auto& entry : matrix.entries) {
            entry.value = 1.0;
        }
        check_same(written_and_read(matrix, "a.smtx"), matrix);
    }
    CoordinateMatrix tenth{1, 1, ValueType::F64, {{0, 0, 0, 0.1}}};
    CHECK(written_and_read(tenth, "a.mtx").entries.front().value == 0.1);
    tenth.entries.front().value = 0x1p-1074;
    CHECK(written_and_read(tenth, "a.mtx").entries.front().value == 0x1p-1074);
}

TEST_CASE("a whole number that binary64 may have rounded is refused", "[pattern]") {
    const CoordinateMatrix matrix{1, 1, ValueType::I64, {{0, 0, 0, 0x1p53}}};
    for (const char* name : {"a.mtx", "a.npy", "a.npz", "a.safetensors"}) {
        CHECK_THROWS_AS(matrix_bytes(matrix, matrix_place(name), {}), ConfigError);
    }
    const CoordinateMatrix below{1, 1, ValueType::I64, {{0, 0, 0, 0x1p53 - 1}}};
    check_same(written_and_read(below, "a.npz"), below);
}

TEST_CASE("empty matrices stay empty", "[pattern]") {
    const CoordinateMatrix matrix{3, 5, ValueType::F32, {}};
    for (const char* name : {"a.npy", "a.npz", "a.safetensors"}) {
        check_same(written_and_read(matrix, name), matrix);
    }
    const CoordinateMatrix mask{3, 5, ValueType::Mask, {}};
    for (const char* name : {"a.mtx", "a.smtx"}) {
        check_same(written_and_read(mask, name), mask);
    }
}

TEST_CASE("an ending says the format, a colon the tensor", "[pattern]") {
    CHECK(matrix_place("a.mtx.gz").format == MatrixFormat::MatrixMarket);
    CHECK(matrix_place("a.smtx").format == MatrixFormat::Smtx);
    CHECK(matrix_place("a.npy.gz").format == MatrixFormat::Npy);
    CHECK(matrix_place("a.npz").format == MatrixFormat::Npz);
    const MatrixPlace place = matrix_place("b/a.safetensors:layer.mtx");
    CHECK(place.format == MatrixFormat::Safetensors);
    CHECK(place.file == "b/a.safetensors");
    CHECK(place.tensor == "layer.mtx");
    for (const char* name : {"a", "a.npz.gz", "a.txt", ""}) {
        CHECK_THROWS_AS(matrix_place(name), ConfigError);
    }
}

TEST_CASE("a dense file is not made of a matrix that is too large for one", "[pattern]") {
    const CoordinateMatrix matrix{1 << 20, 1 << 20, ValueType::F32, {{5, 6, 0, 1.0}}};
    CHECK_THROWS_AS(matrix_bytes(matrix, matrix_place("a.npy"), {}), ConfigError);
    check_same(written_and_read(matrix, "a.npz"), matrix);
}

TEST_CASE("the size of a file is that of its matrix", "[pattern]") {
    const ScratchFolder folder;
    const CoordinateMatrix matrix = random_matrix(9, 17, 6, ValueType::F32, 5);
    for (const char* name :
         {"a.mtx", "a.smtx", "a.npy", "a.npz", "a.safetensors", "a.safetensors:some.name"}) {
        const MatrixPlace place = matrix_place(folder.path(name));
        std::ofstream(place.file, std::ios::binary) << matrix_bytes(matrix, place, {});
        CHECK(read_pattern_file_size(place) == MatrixShape{matrix.rows, matrix.columns});
        CHECK_NOTHROW(check_pattern_file(place));
    }
}

TEST_CASE("entries of one place of an .npz file are a mistake or their sum", "[pattern]") {
    for (const ValueType type : {ValueType::F32, ValueType::Mask}) {
        const bool has_values = type != ValueType::Mask;
        CoordinateMatrix matrix{
            2, 3, type, {{0, 1, 0, 1}, {0, 2, 0, 1}, {0, 2, 0, 1}, {1, 0, 0, 1}}};
        const std::string bytes = npz_bytes(matrix, Storage::Coo, 1, {"a.npz", ""});
        CHECK_THROWS_AS(read_npz(bytes, "a.npz"), ConfigError);
        matrix.entries.erase(matrix.entries.begin() + 2);
        matrix.entries[1].value = has_values ? 2 : 1;
        check_same(read_npz(bytes, "a.npz", Duplicates::Sum), matrix);
    }
    CoordinateMatrix large{1, 1, ValueType::F64, {{0, 0, 0, 1e308}, {0, 0, 0, 1e308}}};
    CHECK_THROWS_WITH(
        read_npz(npz_bytes(large, Storage::Coo, 1, {"a.npz", ""}), "a.npz", Duplicates::Sum),
        Catch::Contains("the sum of its entries is not finite"));
}

namespace {

using Numbers = std::vector<std::int32_t>;

std::string_view bytes_of(const Numbers& numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size()};
}

/// An array of a matrix of 4 x 6.
struct NpzArray {
    std::string name;
    Numbers numbers;
    std::vector<std::int64_t> shape = {}; ///< empty: one size
    std::string descr = "<i4";
};

/// Returns what is told of a file of these arrays; "" where it is read.
std::string told_of(const std::string& format, const std::vector<NpzArray>& arrays) {
    NpzWriter writer;
    writer.add("format", "|S" + std::to_string(format.size()), {}, format);
    bool has_shape = false;
    for (const NpzArray& one : arrays) {
        has_shape = has_shape || one.name == "shape";
        writer.add(one.name, one.descr,
                   one.shape.empty() ? std::vector{static_cast<std::int64_t>(one.numbers.size())}
                                     : one.shape,
                   bytes_of(one.numbers));
    }
    if (!has_shape) {
        writer.add("shape", "<i4", {2}, bytes_of({4, 6}));
    }
    try {
        static_cast<void>(read_npz(writer.bytes({"a.npz", ""}), "a.npz"));
    } catch (const ConfigError& error) {
        return error.diagnostics().front().text();
    }
    return "";
}

} // namespace

TEST_CASE("what the arrays of an .npz file have wrong is told with the array", "[pattern]") {
    const NpzArray data{"data", {1, 2, 3}};
    const NpzArray row{"row", {0, 1, 3}};
    const NpzArray col{"col", {5, 0, 2}};
    CHECK(told_of("coo", {data, row, col}).empty());
    CHECK(told_of("dia", {data, row, col}) ==
          "a.npz: format: got 'dia', expected coo, csr, csc or bsr");
    CHECK(told_of("coo", {data, row}) ==
          "a.npz: col.npy is missing, expected a matrix as scipy.sparse.save_npz saves it");
    CHECK(told_of("coo", {data, {"row", {0, 1, 4}}, col}) ==
          "a.npz: row.npy, element 2: got 4, expected 0..3");
    CHECK(told_of("coo", {data, {"row", {0, -1, 3}}, col}) ==
          "a.npz: row.npy, element 1: got -1, expected 0..3");
    CHECK(told_of("coo", {data, row, {"col", {5, 6, 2}}}) ==
          "a.npz: col.npy, element 1: got 6, expected 0..5");
    CHECK(told_of("coo", {data, row, {"col", {5, 0}}}) ==
          "a.npz: col.npy: got 2 numbers, expected 3 as in row.npy");
    CHECK(told_of("coo", {{"data", {1, 2}}, row, col}) ==
          "a.npz: data.npy: got 2 values, expected 3 as row.npy says");
    CHECK(told_of("coo", {{"data", {1, 2, 3, 4}}, row, col}).empty()); // one that nothing names
    CHECK(told_of("coo", {{"data", {1, 2, 3, 4}, {2, 2}}, row, col}) ==
          "a.npz: data.npy: got 2 sizes, expected 1");
    CHECK(told_of("coo", {data, {"row", {0, 1, 3, 0}, {2, 2}}, col}) ==
          "a.npz: row.npy: got 2 sizes and elements <i4, expected one size and whole numbers");
    CHECK(told_of("coo", {data, {"row", {0, 0, 0}, {}, "<f4"}, col}) ==
          "a.npz: row.npy: got 1 sizes and elements <f4, expected one size and whole numbers");
    CHECK(told_of("coo", {data, row, col, {"shape", {4, 6, 1}}}) ==
          "a.npz: shape.npy: got 3 sizes, expected 2");
    CHECK(told_of("coo", {data, row, col, {"shape", {0, 6}}})
              .starts_with("a.npz: shape.npy, element 0: got 0, expected 1.."));
    CHECK(told_of("coo", {{"data", {1, 0x7f800000, 3}, {}, "<f4"}, row, col}) ==
          "a.npz: data.npy, element 1: the value is not finite, expected a finite number");

    const NpzArray indices{"indices", {5, 0, 2}};
    const NpzArray starts{"indptr", {0, 1, 1, 2, 3}};
    CHECK(told_of("csr", {data, indices, starts}).empty());
    CHECK(told_of("csr", {data, {"indices", {6, 0, 2}}, starts}) ==
          "a.npz: indices.npy, element 0: got 6, expected 0..5");
    CHECK(told_of("csr", {data, indices, {"indptr", {0, 1, 2, 3}}}) ==
          "a.npz: indptr.npy: got 4 numbers from 0 on, expected 5 from 0 on");
    CHECK(told_of("csr", {data, indices, {"indptr", {1, 1, 1, 2, 3}}}) ==
          "a.npz: indptr.npy: got 5 numbers from 1 on, expected 5 from 0 on");
    CHECK(told_of("csr", {data, indices, {"indptr", {0, 2, 1, 2, 3}}}) ==
          "a.npz: indptr.npy, element 2: got 1 behind 2, expected as much or more");
    CHECK(told_of("csr", {data, indices, {"indptr", {0, 1, 1, 2, 4}}}) ==
          "a.npz: indptr.npy, element 4: got 4, expected 0..3");
    CHECK(told_of("csr", {{"data", {1, 2}}, indices, starts}) ==
          "a.npz: data.npy: got 2 values, expected 3 as indptr.npy says");
    CHECK(
        told_of("csc", {data, {"indices", {3, 0, 2}}, {"indptr", {0, 1, 1, 2, 3, 3, 3}}}).empty());
    CHECK(told_of("csc", {data, {"indices", {4, 0, 2}}, {"indptr", {0, 1, 1, 2, 3, 3, 3}}}) ==
          "a.npz: indices.npy, element 0: got 4, expected 0..3");

    // blocks of 2 x 3
    const auto blocks = [](std::int64_t count, std::int64_t height, std::int64_t width) {
        return NpzArray{"data",
                        Numbers(static_cast<std::size_t>(count * height * width), 1),
                        {count, height, width}};
    };
    const NpzArray places{"indices", {1, 0}};
    const NpzArray of_rows{"indptr", {0, 1, 2}};
    CHECK(told_of("bsr", {blocks(2, 2, 3), places, of_rows}).empty());
    CHECK(told_of("bsr", {blocks(2, 4, 6), {"indices", {0, 0}}, {"indptr", {0, 1}}}).empty());
    CHECK(told_of("bsr", {blocks(3, 1, 1), indices, starts}).empty());
    CHECK(told_of("bsr", {blocks(1, 2, 3), places, of_rows}) ==
          "a.npz: data.npy: got 1 blocks, expected 2 as indptr.npy says");
    CHECK(told_of("bsr", {blocks(2, 2, 3), {"indices", {2, 0}}, of_rows}) ==
          "a.npz: indices.npy, element 0: got 2, expected 0..1");
    for (const auto& [height, width] : {std::pair{3, 3}, {2, 4}, {8, 3}}) {
        CHECK(told_of("bsr", {blocks(2, height, width), places, of_rows}) ==
              "a.npz: data.npy: got sizes 2 x " + std::to_string(height) + " x " +
                  std::to_string(width) + ", expected blocks, and two sides that divide 4 x 6");
    }
    CHECK(told_of("bsr", {{"data", {1, 1}, {2, 1}}, places, of_rows}) ==
          "a.npz: data.npy: got sizes 2 x 1, expected blocks, and two sides that divide 4 x 6");
}

TEST_CASE("a damaged .npz file gives a matrix or a mistake that names it", "[pattern]") {
    const CoordinateMatrix matrix = random_matrix(8, 8, 4, ValueType::F32, 6);
    for (const Storage storage : {Storage::Coo, Storage::Csr, Storage::Bsr}) {
        const std::string good = npz_bytes(matrix, storage, 2, {"a.npz", ""});
        for (std::size_t end = 0; end < good.size(); end += 3) {
            CHECK_THROWS_AS(read_npz(good.substr(0, end), "a.npz"), ConfigError);
        }
        for (std::size_t at = 0; at < good.size(); ++at) {
            std::string damaged = good;
            damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
            try {
                const CoordinateMatrix read = read_npz(damaged, "a.npz");
                CHECK(read.rows == matrix.rows);
            } catch (const ConfigError& error) {
                CHECK(error.diagnostics().front().file.starts_with("a.npz"));
            }
        }
    }
}
