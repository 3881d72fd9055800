// SPDX-License-Identifier: MIT
#include "kernels/pattern/npz.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "kernels/pattern/blocks.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/value_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>
#include <zip.h>

namespace tessera::pattern {

using workload::CoordinateEntry;
using workload::CoordinateMatrix;
using workload::NpyArray;
using workload::ValueType;

namespace {

constexpr std::size_t kMostNpzBytes = 1024 * kMiB;
constexpr std::size_t kMostMemberBytes = 1024 * kMiB;
constexpr std::size_t kMemberPieceBytes = kMiB / 16; ///< of a member, read at a time
constexpr std::array<std::string_view, 4> kStorageNames{"coo", "csr", "csc", "bsr"};

struct CloseError {
    void operator()(zip_error_t* error) const {
        zip_error_fini(error);
        delete error;
    }
};
using ZipError = std::unique_ptr<zip_error_t, CloseError>;

ZipError new_error() {
    ZipError error(new zip_error_t);
    zip_error_init(error.get());
    return error;
}

struct DiscardArchive {
    void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Archive = std::unique_ptr<zip_t, DiscardArchive>;

struct FreeSource {
    void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using ZipSource = std::unique_ptr<zip_source_t, FreeSource>;

struct CloseMember {
    void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Member = std::unique_ptr<zip_file_t, CloseMember>;

class NpzReader {
public:
    NpzReader(std::string_view bytes, const std::string& file_name) : from_{file_name, ""} {
        const ZipError error = new_error();
        ZipSource source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get()));
        if (source != nullptr) {
            archive_.reset(zip_open_from_source(source.get(), ZIP_RDONLY, error.get()));
        }
        if (archive_ == nullptr) {
            from_.fail(fmt::format("not a zip archive that can be read: {}",
                                   zip_error_strerror(error.get())));
        }
        static_cast<void>(source.release()); // is the archive's now
    }

    CoordinateMatrix read() {
        const Storage storage = read_storage();
        read_shape();
        data_ = array("data");
        const auto* const facts =
            workload::find_value_type(&workload::ValueTypeFacts::npy, data_.descr);
        TESSERA_ASSERT(facts != nullptr);
        matrix_.type = facts->type;
        switch (storage) {
        case Storage::Coo:
            read_coordinates();
            break;
        case Storage::Csr:
            read_compressed(matrix_.rows, matrix_.columns, false);
            break;
        case Storage::Csc:
            read_compressed(matrix_.columns, matrix_.rows, true);
            break;
        case Storage::Bsr:
            read_blocks();
            break;
        }
        workload::sort_by_place(matrix_.entries);
        refuse_duplicates(matrix_, from_);
        return std::move(matrix_);
    }

private:
    std::string member(const std::string& name) {
        const std::string file = name + ".npy";
        const zip_int64_t index = zip_name_locate(archive_.get(), file.c_str(), 0);
        if (index < 0) {
            from_.fail(file + " is missing, expected a matrix as scipy.sparse.save_npz saves it");
        }
        const Member open(zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), 0));
        if (open == nullptr) {
            from_.fail(fmt::format("{}: {}", file, zip_strerror(archive_.get())));
        }
        std::string bytes;
        while (true) {
            const std::size_t before = bytes.size();
            bytes.resize(before + kMemberPieceBytes);
            const zip_int64_t got = zip_fread(open.get(), bytes.data() + before, kMemberPieceBytes);
            if (got < 0) {
                from_.fail(fmt::format("{}: {}", file, zip_file_strerror(open.get())));
            }
            bytes.resize(before + static_cast<std::size_t>(got));
            if (got == 0) {
                return bytes;
            }
            if (bytes.size() > kMostMemberBytes) {
                from_.fail(fmt::format("{}: got more than {} MiB, the most of an array", file,
                                       kMostMemberBytes / kMiB));
            }
        }
    }

    /// Messages about an array name it behind the file.
    [[nodiscard]] std::string label(const std::string& name) const {
        return from_.file + ": " + name + ".npy";
    }

    NpyArray array(const std::string& name) {
        return workload::read_npy_array(member(name), label(name));
    }

    /// The whole numbers of an array of one size.
    std::vector<std::int64_t> numbers(const std::string& name, std::int64_t low,
                                      std::int64_t high) {
        const NpyArray read = array(name);
        const auto* const facts =
            workload::find_value_type(&workload::ValueTypeFacts::npy, read.descr);
        if (read.shape.size() != 1 || facts == nullptr || !workload::is_whole(facts->type)) {
            from_.fail(fmt::format("{}.npy: got {} sizes and elements {}, expected one size and "
                                   "whole numbers",
                                   name, read.shape.size(), read.descr));
        }
        std::vector<std::int64_t> made;
        made.reserve(read.data.size() / facts->bytes);
        for (std::size_t at = 0; at < read.data.size(); at += facts->bytes) {
            const double number = workload::decoded(facts->type, read.data.data() + at);
            if (!(number >= static_cast<double>(low) && number <= static_cast<double>(high))) {
                from_.fail(fmt::format("{}.npy, element {}: got {:.0f}, expected {}..{}", name,
                                       made.size(), number, low, high));
            }
            made.push_back(static_cast<std::int64_t>(number));
        }
        return made;
    }

    Storage read_storage() {
        const std::string text = workload::read_npy_text(member("format"), label("format"));
        const auto* const found = std::find(kStorageNames.begin(), kStorageNames.end(), text);
        if (found == kStorageNames.end()) {
            from_.fail(
                fmt::format("format: got {}, expected coo, csr, csc or bsr", in_quotes(text)));
        }
        return static_cast<Storage>(found - kStorageNames.begin());
    }

    void read_shape() {
        const std::vector<std::int64_t> shape = numbers("shape", 1, kLargestSize);
        if (shape.size() != 2) {
            from_.fail(fmt::format("shape.npy: got {} sizes, expected 2", shape.size()));
        }
        matrix_.rows = shape[0];
        matrix_.columns = shape[1];
    }

    void expect_data(const std::string& name, std::int64_t wanted) {
        if (data_.shape.size() != 1) {
            from_.fail(fmt::format("data.npy: got {} sizes, expected 1", data_.shape.size()));
        }
        if (data_.shape[0] < wanted) {
            from_.fail(fmt::format("data.npy: got {} values, expected {} as {}.npy says",
                                   data_.shape[0], wanted, name));
        }
    }

    /// Entry `number` of data.npy.
    void add(std::int64_t row, std::int64_t column, std::int64_t number) {
        const std::size_t at =
            static_cast<std::size_t>(number) * workload::facts_of(matrix_.type).bytes;
        const double value = workload::decoded(matrix_.type, data_.data.data() + at);
        if (!std::isfinite(value)) {
            from_.fail(fmt::format("data.npy, element {}: the value is not finite, expected a "
                                   "finite number",
                                   number));
        }
        if (matrix_.type == ValueType::Mask && value == 0.0) {
            return;
        }
        if (matrix_.entries.size() == kMostEntries) {
            from_.fail(
                fmt::format("got more than {} entries, the most of a pattern", kMostEntries));
        }
        matrix_.entries.push_back(
            {static_cast<std::int32_t>(row), static_cast<std::int32_t>(column), 0, value});
    }

    void read_coordinates() {
        const auto rows = numbers("row", 0, matrix_.rows - 1);
        const auto columns = numbers("col", 0, matrix_.columns - 1);
        if (rows.size() != columns.size()) {
            from_.fail(fmt::format("col.npy: got {} numbers, expected {} as in row.npy",
                                   columns.size(), rows.size()));
        }
        expect_data("row", static_cast<std::int64_t>(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            add(rows[i], columns[i], static_cast<std::int64_t>(i));
        }
    }

    /// Entries or blocks, line by line: those of line i are starts[i] to starts[i + 1] - 1.
    struct Lines {
        std::vector<std::int64_t> starts;
        std::vector<std::int64_t> places; ///< of each in its line
    };

    Lines read_lines(std::int64_t lines, std::int64_t places) {
        Lines read;
        read.places = numbers("indices", 0, places - 1);
        read.starts = numbers("indptr", 0, static_cast<std::int64_t>(read.places.size()));
        const auto& starts = read.starts;
        if (starts.size() != static_cast<std::size_t>(lines) + 1 || starts.front() != 0) {
            from_.fail(fmt::format("indptr.npy: got {} numbers from {} on, expected {} from 0 on",
                                   starts.size(), starts.empty() ? 0 : starts.front(), lines + 1));
        }
        const auto less = std::adjacent_find(starts.begin(), starts.end(), std::greater<>{});
        if (less != starts.end()) {
            from_.fail(fmt::format("indptr.npy, element {}: got {} behind {}, expected as much or "
                                   "more",
                                   less - starts.begin() + 1, *(less + 1), *less));
        }
        return read;
    }

    /// Calls visit(line, place in it, number) for each entry or block.
    template <class Visit> static void for_each(const Lines& lines, const Visit& visit) {
        for (std::size_t line = 0; line + 1 < lines.starts.size(); ++line) {
            for (std::int64_t number = lines.starts[line]; number < lines.starts[line + 1];
                 ++number) {
                visit(static_cast<std::int64_t>(line),
                      lines.places[static_cast<std::size_t>(number)], number);
            }
        }
    }

    void read_compressed(std::int64_t lines, std::int64_t places, bool by_column) {
        const Lines read = read_lines(lines, places);
        expect_data("indptr", read.starts.back());
        for_each(read, [&](std::int64_t line, std::int64_t place, std::int64_t number) {
            add(by_column ? place : line, by_column ? line : place, number);
        });
    }

    void read_blocks() {
        const std::vector<std::int64_t>& sizes = data_.shape;
        if (sizes.size() != 3 || sizes[1] < 1 || sizes[2] < 1 || matrix_.rows % sizes[1] != 0 ||
            matrix_.columns % sizes[2] != 0) {
            from_.fail(fmt::format("data.npy: got sizes {}, expected blocks, and two sides that "
                                   "divide {} x {}",
                                   fmt::join(sizes, " x "), matrix_.rows, matrix_.columns));
        }
        const std::int64_t height = sizes[1];
        const std::int64_t width = sizes[2];
        const Lines read = read_lines(matrix_.rows / height, matrix_.columns / width);
        if (sizes[0] < read.starts.back()) {
            from_.fail(fmt::format("data.npy: got {} blocks, expected {} as indptr.npy says",
                                   sizes[0], read.starts.back()));
        }
        for_each(read, [&](std::int64_t line, std::int64_t place, std::int64_t number) {
            for (std::int64_t i = 0; i < height * width; ++i) {
                add(line * height + i / width, place * width + i % width,
                    number * height * width + i);
            }
        });
    }

    Source from_;
    Archive archive_;
    CoordinateMatrix matrix_;
    NpyArray data_;
};

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

    std::string bytes(const Source& to) const {
        const ZipError error = new_error();
        const auto fail = [&](const char* why) {
            throw IoError(to.file + ": the zip archive cannot be made: " + why);
        };
        const ZipSource made(zip_source_buffer_create(nullptr, 0, 0, error.get()));
        if (made == nullptr) {
            fail(zip_error_strerror(error.get()));
        }
        zip_source_keep(made.get()); // stays when the archive goes
        Archive archive(zip_open_from_source(made.get(), ZIP_TRUNCATE, error.get()));
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

void add_values(const CoordinateMatrix& matrix, NpzWriter& writer, const Source& to) {
    writer.add("data", npy_type_of(matrix, to), {static_cast<std::int64_t>(matrix.entries.size())},
               value_bytes(matrix, to));
}

/// Lines with the places of their entries: rows, or with a transposed matrix columns.
void add_compressed(const CoordinateMatrix& matrix, NpzWriter& writer, const Source& to) {
    writer.add("indices", numbers_of(matrix.entries, &CoordinateEntry::column));
    writer.add("indptr", starts_of(matrix.entries, matrix.rows,
                                   [](const CoordinateEntry& entry) { return entry.row; }));
    add_values(matrix, writer, to);
}

void add_blocks(const CoordinateMatrix& matrix, std::int64_t block, NpzWriter& writer,
                const Source& to) {
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

std::string_view name_of(Storage storage) {
    return kStorageNames[static_cast<std::size_t>(storage)];
}

CoordinateMatrix read_npz(std::string_view bytes, const std::string& file_name) {
    return NpzReader(bytes, file_name).read();
}

CoordinateMatrix read_npz_file(const std::string& path) {
    return read_npz(read_file(path, kMostNpzBytes, "an .npz file"), path);
}

std::string_view npy_type_of(const CoordinateMatrix& matrix, const Source& to) {
    const auto& facts = workload::facts_of(matrix.type);
    if (facts.npy.empty()) {
        to.fail(fmt::format("NumPy has no type {}", facts.name), "--type f32 keeps the values");
    }
    return facts.npy;
}

std::string npz_bytes(const CoordinateMatrix& matrix, Storage storage, std::int64_t block,
                      const Source& to) {
    NpzWriter writer;
    const std::string_view name = name_of(storage);
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
