// SPDX-License-Identifier: MIT
#include "kernels/workload/npz.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "kernels/workload/dense_entries.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/value_type.h"
#include "kernels/workload/zip_archive.h"

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

namespace tessera::workload {
namespace {

constexpr std::size_t kMostNpzBytes = 1024 * kMiB;
constexpr std::size_t kMostMemberBytes = 1024 * kMiB;
constexpr std::size_t kMemberPieceBytes = kMiB / 16; ///< of a member, read at a time
constexpr std::array<std::string_view, 4> kStorageNames{"coo", "csr", "csc", "bsr"};

struct CloseMember {
    void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using Member = std::unique_ptr<zip_file_t, CloseMember>;

class NpzReader {
public:
    NpzReader(std::string_view bytes, const std::string& file_name, Duplicates duplicates)
        : from_{file_name, ""}, duplicates_(duplicates) {
        const ZipError error = new_zip_error();
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
        const auto* const facts = find_value_type(&ValueTypeFacts::npy, data_.descr);
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
        sort_by_place(matrix_.entries);
        finish_duplicates();
        return std::move(matrix_);
    }

    MatrixShape size() {
        read_shape();
        return {matrix_.rows, matrix_.columns};
    }

private:
    void finish_duplicates() {
        if (duplicates_ == Duplicates::Error) {
            refuse_duplicates(matrix_, from_);
        } else if (const auto entry = sum_duplicates(matrix_)) {
            from_.fail(element_text(entry->row, entry->column) +
                       ": the sum of its entries is not finite");
        }
    }

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

    NpyArray array(const std::string& name) { return read_npy_array(member(name), label(name)); }

    /// The whole numbers of an array of one size.
    std::vector<std::int64_t> numbers(const std::string& name, std::int64_t low,
                                      std::int64_t high) {
        const NpyArray read = array(name);
        const auto* const facts = find_value_type(&ValueTypeFacts::npy, read.descr);
        if (read.shape.size() != 1 || facts == nullptr || !is_whole(facts->type)) {
            from_.fail(fmt::format("{}.npy: got {} sizes and elements {}, expected one size and "
                                   "whole numbers",
                                   name, read.shape.size(), read.descr));
        }
        std::vector<std::int64_t> made;
        made.reserve(read.data.size() / facts->bytes);
        for (std::size_t at = 0; at < read.data.size(); at += facts->bytes) {
            const double number = decoded(facts->type, read.data.data() + at);
            if (!(number >= static_cast<double>(low) && number <= static_cast<double>(high))) {
                from_.fail(fmt::format("{}.npy, element {}: got {:.0f}, expected {}..{}", name,
                                       made.size(), number, low, high));
            }
            made.push_back(static_cast<std::int64_t>(number));
        }
        return made;
    }

    Storage read_storage() {
        const std::string text = read_npy_text(member("format"), label("format"));
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
        const std::size_t at = static_cast<std::size_t>(number) * facts_of(matrix_.type).bytes;
        const double value = decoded(matrix_.type, data_.data.data() + at);
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

    MatrixSource from_;
    Duplicates duplicates_;
    ZipArchive archive_;
    CoordinateMatrix matrix_;
    NpyArray data_;
};

std::string npz_file(const std::string& path) {
    return read_file(path, kMostNpzBytes, "an .npz file");
}

} // namespace

std::string_view name_of(Storage storage) {
    return kStorageNames[static_cast<std::size_t>(storage)];
}

CoordinateMatrix read_npz(std::string_view bytes, const std::string& file_name,
                          Duplicates duplicates) {
    return NpzReader(bytes, file_name, duplicates).read();
}

CoordinateMatrix read_npz_file(const std::string& path, Duplicates duplicates) {
    return read_npz(npz_file(path), path, duplicates);
}

MatrixShape read_npz_size(const std::string& path) {
    return NpzReader(npz_file(path), path, Duplicates::Error).size();
}

} // namespace tessera::workload
