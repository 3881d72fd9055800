// SPDX-License-Identifier: MIT
#include "base/input_file.h"

#include "base/error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace tessera {

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
    // without waiting: a pipe's other end may never come
    descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
    if (S_ISFIFO(status.st_mode)) {
        wait_for_writer();
    }
    fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
}

InputFile::~InputFile() {
    close(descriptor_);
}

void InputFile::wait_for_writer() {
    struct statfs system {};
    const bool has_name = fstatfs(descriptor_, &system) == 0 && system.f_type != PIPEFS_MAGIC;
    constexpr std::chrono::milliseconds kLongest{2000};
    constexpr std::chrono::milliseconds kPeriod{10};
    const auto end = std::chrono::steady_clock::now() + kLongest;
    while (has_name) { // a pipe of the shell's own has had its writer
        char byte = 0;
        const ssize_t got = read(descriptor_, &byte, 1);
        begun_.assign(&byte, got > 0 ? 1 : 0);
        if (got != 0) { // there is one, whether it has written anything yet or not
            return;
        }
        if (std::chrono::steady_clock::now() >= end) {
            close(descriptor_);
            throw IoError(path_.string() + ": cannot be read: is a pipe that nobody writes to");
        }
        std::this_thread::sleep_for(kPeriod);
    }
}

void InputFile::append_to(std::string& bytes, std::size_t count) {
    const std::size_t known = std::min(count, begun_.size());
    bytes.append(begun_, 0, known);
    begun_.erase(0, known);
    count -= known;
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
