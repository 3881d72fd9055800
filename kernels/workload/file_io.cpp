// SPDX-License-Identifier: MIT
#include "kernels/workload/file_io.h"

#include "base/error.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace tessera::workload {

std::string read_file(const std::string& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) {
        throw IoError(
            path + ": cannot be read: " + (error ? error.message() : std::string("no such file")));
    }
    if (!std::filesystem::is_regular_file(status)) {
        throw IoError(path + ": cannot be read: not a regular file");
    }
    const auto file_bytes = std::filesystem::file_size(path, error);
    std::ifstream in(path, std::ios::binary);
    if (error || !in) {
        throw IoError(path + ": cannot be opened for reading");
    }
    std::string bytes(static_cast<std::size_t>(file_bytes), '\0');
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (in.gcount() != static_cast<std::streamsize>(bytes.size())) {
        throw IoError(path + ": cannot be read to its end");
    }
    return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
    const std::string temporary = path + ".tmp";
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    if (!out) {
        throw IoError(path + ": cannot be written: cannot open " + temporary);
    }
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    std::error_code error;
    if (out) {
        std::filesystem::rename(temporary, path, error);
    }
    if (!out || error) {
        std::error_code ignored;
        std::filesystem::remove(temporary, ignored);
        throw IoError(path + ": cannot be written" + (error ? ": " + error.message() : ""));
    }
}

} // namespace tessera::workload
