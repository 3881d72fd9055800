// SPDX-License-Identifier: MIT
#include "traces/output_file.h"

#include "base/error.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tessera::traces {

OutputFile::OutputFile(const std::string& path)
    : place_(output_place(path)), path_(path == "-" ? "standard output" : path) {
    const int descriptor = open_descriptor();
    if (descriptor < 0) {
        fail("cannot be written", errno);
    }
    // "T" is zlib's transparent mode: the same calls write the bytes as they are.
    file_ = gzdopen(descriptor, path.ends_with(".gz") ? "wb4" : "wbT");
    if (file_ == nullptr) {
        close(descriptor);
        fail("cannot be written", ENOMEM);
    }
}

OutputFile::~OutputFile() {
    if (file_ != nullptr) {
        gzclose(file_);
    }
}

/// A descriptor that zlib may close; -1 and errno where there is none.
int OutputFile::open_descriptor() {
    switch (place_.kind) {
    case OutputPlace::Kind::Descriptor:
        return fcntl(place_.descriptor, F_DUPFD_CLOEXEC, 0);
    case OutputPlace::Kind::InPlace:
        return open(place_.path.c_str(), O_WRONLY | O_CLOEXEC);
    case OutputPlace::Kind::File:
        break;
    }
    return open_beside_target();
}

int OutputFile::open_beside_target() {
    constexpr mode_t kPermissions = 0777;
    struct stat replaced {};
    const bool replaces = stat(place_.path.c_str(), &replaced) == 0;
    if (replaces && access(place_.path.c_str(), W_OK) != 0) {
        return -1;
    }
    try {
        temporary_.emplace(place_.path.parent_path());
    } catch (const std::system_error& error) {
        errno = error.code().value();
        return -1;
    }
    if (replaces && fchmod(temporary_->descriptor(), replaced.st_mode & kPermissions) != 0) {
        return -1;
    }
    return fcntl(temporary_->descriptor(), F_DUPFD_CLOEXEC, 0);
}

void OutputFile::write(std::string_view bytes) {
    TESSERA_ASSERT(file_ != nullptr);
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 20U; // zlib counts in unsigned
    while (!bytes.empty()) {
        const std::string_view piece = bytes.substr(0, kMostAtOnce);
        errno = 0;
        if (gzwrite(file_, piece.data(), static_cast<unsigned>(piece.size())) <= 0) {
            fail("cannot be written", errno);
        }
        bytes.remove_prefix(piece.size());
    }
}

void OutputFile::commit() {
    TESSERA_ASSERT(file_ != nullptr);
    errno = 0;
    if (gzclose(std::exchange(file_, nullptr)) != Z_OK) {
        fail("cannot be written", errno);
    }
    if (temporary_) {
        try {
            temporary_->put_in_place(place_.path);
        } catch (const std::system_error& error) {
            fail("cannot be put in place", error.code().value());
        }
    }
}

void OutputFile::fail(const char* what, int error_number) const {
    throw IoError(
        fmt::format("{}: {}: {}", path_, what, std::generic_category().message(error_number)));
}

} // namespace tessera::traces
