// SPDX-License-Identifier: MIT
#include "kernels/pattern/npz.h"

#include "base/error.h"
#include "kernels/pattern/blocks.h"
#include "kernels/pattern/dense.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/value_type.h"
#include "kernels/workload/zip_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::pattern {

using workload::CoordinateEntry;
using workload::CoordinateMatrix;
using workload::MatrixSource;
using workload::Storage;
using workload::ZipArchive;
using workload::ZipError;
using workload::ZipSource;

namespace {

struct NamedBytes {
    std::string name;
    std::string bytes;
};

/// The arrays of a file.
class NpzWriter {
public:
    void add(const std::string& name, std::string_view descr,
             const std::vector<std::int64_t>& shape, std::string_view data) {
        members_.push_back({name + ".npy", workload::npy_bytes(descr, shape, data)});
    }

    template <class Number> void add(const std::string& name, const std::vector<Number>& numbers) {
        add(name, sizeof(Number) == sizeof(std::int32_t) ? "<i4" : "<i8",
            {static_cast<std::int64_t>(numbers.size())},
            {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
    }

    std::string bytes(const MatrixSource& to) const {
        const ZipError error = workload::new_zip_error();
        const auto fail = [&](const char* why) {
            throw IoError(to.file + ": the zip archive cannot be made: " + why);
        };
        const ZipSource made(zip_source_buffer_create(nullptr, 0, 0, error.get()));
        if (made == nullptr) {
            fail(zip_error_strerror(error.get()));
        }
        zip_source_keep(made.get()); // stays when the archive goes
        ZipArchive archive(zip_open_from_source(made.get(), ZIP_TRUNCATE, error.get()));
        if (archive == nullptr) {
            zip_source_free(made.get());
            fail(zip_error_strerror(error.get()));
        }
        for (const NamedBytes& member : members_) {
            put(archive.get(), member, fail);
        }
        if (zip_close(archive.get()) != 0) {
            fail(zip_strerror(archive.get()));
        }
        static_cast<void>(archive.release());
        return content(made.get(), fail);
    }

private:
    template <class Fail>
    static void put(zip_t* archive, const NamedBytes& member, const Fail& fail) {
        constexpr zip_uint16_t kFirstDate = 1U << 5U | 1U; // 1 January 1980: no clock in the bytes
        ZipSource source(zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0));
        if (source == nullptr) {
            fail(zip_strerror(archive));
        }
        const zip_int64_t index =
            zip_file_add(archive, member.name.c_str(), source.get(), ZIP_FL_ENC_GUESS);
        if (index < 0) {
            fail(zip_strerror(archive));
        }
        static_cast<void>(source.release());
        if (zip_file_set_dostime(archive, static_cast<zip_uint64_t>(index), 0, kFirstDate, 0) !=
            0) {
            fail(zip_strerror(archive));
        }
    }

    template <class Fail> static std::string content(zip_source_t* source, const Fail& fail) {
        zip_stat_t facts;
        zip_stat_init(&facts);
        if (zip_source_stat(source, &facts) != 0 || zip_source_open(source) != 0) {
            fail("its bytes cannot be read");
        }
        std::string bytes(facts.size, '\0');
        const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
        zip_source_close(source);
        if (got != static_cast<zip_int64_t>(bytes.size())) {
            fail("its bytes cannot be read");
        }
        return bytes;
    }

    std::vector<NamedBytes> members_;
};

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
