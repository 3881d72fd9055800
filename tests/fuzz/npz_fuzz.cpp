// SPDX-License-Identifier: MIT
// Any bytes either give a matrix that keeps its promises or a ConfigError that names the file. The
// first byte says what the others are: a zip archive, or the members of one, each with its length
// in front, so that check sums do not keep everything out.
#include "base/error.h"
#include "kernels/workload/npz.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zip.h>

namespace {

/// The archive whose members are the pieces of `text`, in the order of `kMembers`.
std::string archive_of(std::string_view text) {
    static constexpr std::array<const char*, 7> kMembers{
        "format.npy", "shape.npy", "data.npy", "indices.npy", "indptr.npy", "row.npy", "col.npy"};
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* const made = zip_source_buffer_create(nullptr, 0, 0, &error);
    zip_source_keep(made);
    zip_t* const archive = zip_open_from_source(made, ZIP_TRUNCATE, &error);
    TESSERA_ASSERT(archive != nullptr);
    for (const char* const name : kMembers) {
        if (text.size() < 2) {
            break;
        }
        const std::size_t length = static_cast<unsigned char>(text[0]) +
                                   std::size_t{static_cast<unsigned char>(text[1])} * 256;
        const std::string_view piece = text.substr(2, length);
        text.remove_prefix(2 + piece.size());
        zip_source_t* const source = zip_source_buffer(archive, piece.data(), piece.size(), 0);
        const zip_int64_t index = zip_file_add(archive, name, source, 0);
        zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
    }
    TESSERA_ASSERT(zip_close(archive) == 0);
    zip_stat_t facts;
    zip_stat_init(&facts);
    TESSERA_ASSERT(zip_source_stat(made, &facts) == 0);
    std::string bytes(facts.size, '\0');
    if (zip_source_open(made) == 0) {
        static_cast<void>(zip_source_read(made, bytes.data(), bytes.size()));
        zip_source_close(made);
    }
    zip_source_free(made);
    zip_error_fini(&error);
    return bytes;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace tessera::workload;
    std::string_view text(reinterpret_cast<const char*>(data), bytes);
    if (text.empty()) {
        return 0;
    }
    const bool is_archive = text.front() % 2 == 0;
    text.remove_prefix(1);
    try {
        const auto matrix = read_npz(is_archive ? std::string(text) : archive_of(text), "fuzz.npz");
        TESSERA_ASSERT(matrix.rows > 0 && matrix.columns > 0);
        for (std::size_t i = 0; i < matrix.entries.size(); ++i) {
            const auto& entry = matrix.entries[i];
            TESSERA_ASSERT(entry.row >= 0 && entry.row < matrix.rows);
            TESSERA_ASSERT(entry.column >= 0 && entry.column < matrix.columns);
            TESSERA_ASSERT(i == 0 ||
                           std::pair(matrix.entries[i - 1].row, matrix.entries[i - 1].column) <
                               std::pair(entry.row, entry.column));
        }
    } catch (const tessera::ConfigError& error) {
        TESSERA_ASSERT(error.diagnostics().size() == 1);
        TESSERA_ASSERT(error.diagnostics().front().file.starts_with("fuzz.npz"));
    }
    return 0;
}
