// SPDX-License-Identifier: MIT
#include "traces/output_file.h"

#include "base/error.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tessera::traces {
namespace {

bool is_device_or_pipe(const std::string& path) {
    std::error_code unreadable;
    const auto status = std::filesystem::status(path, unreadable);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
           !std::filesystem::is_directory(status);
}

} // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
    written_path_ = is_device_or_pipe(path_) ? path_ : path_ + ".tmp";
    if (path_.empty()) {
        fail("cannot be written", ENOENT);
    }
    std::error_code unreadable;
    if (std::filesystem::is_directory(path_, unreadable)) {
        fail("cannot be written", EISDIR);
    }
    // "T" is zlib's transparent mode: the same calls write the bytes as they are.
    errno = 0;
    file_ = gzopen(written_path_.c_str(), path_.ends_with(".gz") ? "wb4" : "wbT");
    if (file_ == nullptr) {
        fail("cannot be written", errno);
    }
}

OutputFile::~OutputFile() {
    if (file_ == nullptr) {
        return;
    }
    gzclose(file_);
    if (written_path_ != path_) {
        std::remove(written_path_.c_str());
    }
}

void OutputFile::write(std::string_view bytes) {
    TESSERA_ASSERT(file_ != nullptr);
    if (bytes.empty()) {
        return;
    }
    errno = 0;
    if (gzwrite(file_, bytes.data(), static_cast<unsigned>(bytes.size())) <= 0) {
        fail("cannot be written", errno);
    }
}

void OutputFile::commit() {
    TESSERA_ASSERT(file_ != nullptr);
    errno = 0;
    const int closed = gzclose(std::exchange(file_, nullptr));
    const int close_error = errno;
    if (written_path_ == path_) {
        if (closed != Z_OK) {
            fail("cannot be written", close_error);
        }
        return;
    }
    if (closed != Z_OK) {
        std::remove(written_path_.c_str());
        fail("cannot be written", close_error);
    }
    if (std::rename(written_path_.c_str(), path_.c_str()) != 0) {
        const int rename_error = errno;
        std::remove(written_path_.c_str());
        fail("cannot be put in place", rename_error);
    }
}

void OutputFile::fail(const char* what, int error_number) const {
    throw IoError(
        fmt::format("{}: {}: {}", path_, what, std::generic_category().message(error_number)));
}

} // namespace tessera::traces
