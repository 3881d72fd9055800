// SPDX-License-Identifier: MIT
#include "kernels/pattern/npz.h"

#include "kernels/pattern/blocks.h"
#include "kernels/pattern/dense.h"
#include "kernels/pattern/npz_writer.h"
#include "kernels/workload/value_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::pattern {

using workload::CoordinateEntry;
using workload::CoordinateMatrix;
using workload::MatrixSource;
using workload::Storage;

namespace {

/// Where the entries of each line begin; entries ascend by line.
template <class LineOf>
std::vector<std::int32_t> starts_of(const std::vector<CoordinateEntry>& entries, std::int64_t lines,
                                    const LineOf& line_of) {
    std::vector<std::int32_t> starts(static_cast<std::size_t>(lines) + 1, 0);
    for (const CoordinateEntry& entry : entries) {
        ++starts[static_cast<std::size_t>(line_of(entry)) + 1];
    }
    for (std::size_t line = 1; line < starts.size(); ++line) {
        starts[line] += starts[line - 1];
    }
    return starts;
}

std::vector<std::int32_t> numbers_of(const std::vector<CoordinateEntry>& entries,
                                     std::int32_t CoordinateEntry::*number) {
    std::vector<std::int32_t> numbers;
    numbers.reserve(entries.size());
    for (const CoordinateEntry& entry : entries) {
        numbers.push_back(entry.*number);
    }
    return numbers;
}

void add_values(const CoordinateMatrix& matrix, NpzWriter& writer, const MatrixSource& to) {
    writer.add("data", npy_type_of(matrix, to), {static_cast<std::int64_t>(matrix.entries.size())},
               value_bytes(matrix, to));
}

/// Lines with the places of their entries: rows, or with a transposed matrix columns.
void add_compressed(const CoordinateMatrix& matrix, NpzWriter& writer, const MatrixSource& to) {
    writer.add("indices", numbers_of(matrix.entries, &CoordinateEntry::column));
    writer.add("indptr", starts_of(matrix.entries, matrix.rows,
                                   [](const CoordinateEntry& entry) { return entry.row; }));
    add_values(matrix, writer, to);
}

void add_blocks(const CoordinateMatrix& matrix, std::int64_t block, NpzWriter& writer,
                const MatrixSource& to) {
    if (matrix.rows % block != 0 || matrix.columns % block != 0) {
        to.fail(fmt::format("bsr: got {} x {}, expected sizes that blocks of {} x {} divide",
                            matrix.rows, matrix.columns, block, block));
    }
    CoordinateMatrix ordered = whole_blocks(matrix, block);
    const std::int64_t columns = matrix.columns / block;
    const auto number_of = [&](const CoordinateEntry& entry) {
        return entry.row / block * columns + entry.column / block;
    };
    // stable: inside a block the elements stay row-major
    std::stable_sort(ordered.entries.begin(), ordered.entries.end(),
                     [&](const CoordinateEntry& a, const CoordinateEntry& b) {
                         return number_of(a) < number_of(b);
                     });
    std::vector<CoordinateEntry> blocks; // the first element of each
    for (std::size_t at = 0; at < ordered.entries.size();
         at += static_cast<std::size_t>(block * block)) {
        blocks.push_back(ordered.entries[at]);
        blocks.back().row = static_cast<std::int32_t>(blocks.back().row / block);
        blocks.back().column = static_cast<std::int32_t>(blocks.back().column / block);
    }
    writer.add("indices", numbers_of(blocks, &CoordinateEntry::column));
    writer.add("indptr", starts_of(blocks, matrix.rows / block,
                                   [](const CoordinateEntry& entry) { return entry.row; }));
    writer.add("data", npy_type_of(matrix, to),
               {static_cast<std::int64_t>(blocks.size()), block, block}, value_bytes(ordered, to));
}

} // namespace

std::string_view npy_type_of(const CoordinateMatrix& matrix, const MatrixSource& to) {
    const auto& facts = workload::facts_of(matrix.type);
    if (facts.npy.empty()) {
        to.fail(fmt::format("NumPy has no type {}", facts.name), "--type f32 keeps the values");
    }
    return facts.npy;
}

std::string npz_bytes(const CoordinateMatrix& matrix, Storage storage, std::int64_t block,
                      const MatrixSource& to) {
    NpzWriter writer;
    const std::string_view name = workload::name_of(storage);
    switch (storage) {
    case Storage::Coo:
        writer.add("row", numbers_of(matrix.entries, &CoordinateEntry::row));
        writer.add("col", numbers_of(matrix.entries, &CoordinateEntry::column));
        add_values(matrix, writer, to);
        break;
    case Storage::Csr:
        add_compressed(matrix, writer, to);
        break;
    case Storage::Csc:
        add_compressed(transposed(matrix), writer, to);
        break;
    case Storage::Bsr:
        add_blocks(matrix, block, writer, to);
        break;
    }
    writer.add("format", "|S3", {}, name);
    writer.add("shape", std::vector<std::int64_t>{matrix.rows, matrix.columns});
    return writer.bytes(to);
}

} // namespace tessera::pattern
