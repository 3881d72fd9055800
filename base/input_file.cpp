// SPDX-License-Identifier: MIT
#include "base/input_file.h"

#include "base/error.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tessera {

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
    descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) {
        const int reason = errno;
        if (descriptor_ >= 0) {
            close(descriptor_);
        }
        fail(reason);
    }
    if (S_ISDIR(status.st_mode)) {
        close(descriptor_);
        throw IoError(path_.string() + ": cannot be read: is a folder, expected a file");
    }
}

InputFile::~InputFile() {
    close(descriptor_);
}

void InputFile::append_to(std::string& bytes, std::size_t count) {
    constexpr std::size_t kPieceBytes = kMiB; // memory grows with what is there, not with `count`
    while (count > 0) {
        const std::size_t before = bytes.size();
        const std::size_t piece = std::min(count, kPieceBytes);
        bytes.resize(before + piece);
        const ssize_t got = read(descriptor_, bytes.data() + before, piece);
        const int reason = errno;
        bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
        if (got < 0 && reason != EINTR) {
            fail(reason);
        }
        if (got == 0) {
            return;
        }
        count -= bytes.size() - before;
    }
}

void InputFile::fail(int error_number) const {
    throw IoError(path_.string() +
                  ": cannot be read: " + std::generic_category().message(error_number));
}

std::string read_file(const std::filesystem::path& path, std::size_t most_bytes,
                      const std::string& what) {
    InputFile file(path);
    std::string bytes;
    file.append_to(bytes, most_bytes + 1);
    if (bytes.size() > most_bytes) {
        throw ConfigError(Diagnostic{path.string(), 0, 0, "",
                                     "got more than " + std::to_string(most_bytes / kMiB) +
                                         " MiB, the most of " + what,
                                     ""});
    }
    return bytes;
}

} // namespace tessera
