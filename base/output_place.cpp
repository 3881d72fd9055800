// SPDX-License-Identifier: MIT
#include "base/output_place.h"

#include "base/error.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Kind = OutputPlace::Kind;

constexpr int kMostLinks = 40;

[[noreturn]] void fail(const std::string& path, int reason) {
    throw IoError(path + ": cannot be written: " + std::generic_category().message(reason));
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path{"."};
}

bool is_number(const std::string& text) {
    return !text.empty() && text.size() < 8 && std::all_of(text.begin(), text.end(), [](char c) {
        return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
}

/// The place of an entry of /proc/<process>/fd: a link only in name.
std::optional<OutputPlace> open_descriptor(const fs::path& path) {
    std::error_code failed;
    const fs::path folder = fs::canonical(folder_of(path), failed);
    if (failed || folder.filename() != "fd" || folder.string().rfind("/proc/", 0) != 0 ||
        !is_number(path.filename().string())) {
        return std::nullopt;
    }
    if (folder != "/proc/" + std::to_string(getpid()) + "/fd") {
        return OutputPlace{Kind::InPlace, path, -1};
    }
    return OutputPlace{Kind::Descriptor, path, std::stoi(path.filename().string())};
}

OutputPlace found_place(const std::string& path) {
    if (path.empty()) {
        fail(path, ENOENT);
    }
    if (path == "-") {
        return {Kind::Descriptor, "standard output", STDOUT_FILENO};
    }
    fs::path at = path;
    std::error_code failed;
    for (int links = 0; fs::is_symlink(at, failed); ++links) {
        if (const auto open = open_descriptor(at)) {
            return *open;
        }
        const fs::path next = fs::read_symlink(at, failed);
        if (failed || links == kMostLinks) {
            fail(path, failed ? failed.value() : ELOOP);
        }
        at = folder_of(at) / next;
    }
    const auto status = fs::status(at, failed);
    if (fs::is_directory(status)) {
        fail(path, EISDIR);
    }
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        return {Kind::InPlace, at, -1};
    }
    const fs::path folder = fs::weakly_canonical(fs::absolute(folder_of(at)), failed);
    return {Kind::File, failed ? at : folder / at.filename(), -1};
}

} // namespace

OutputPlace output_place(const std::string& path) {
    OutputPlace place = found_place(path);
    struct stat status {};
    const int failed = place.kind == Kind::Descriptor ? fstat(place.descriptor, &status)
                                                      : stat(place.path.c_str(), &status);
    if (failed == 0) {
        place.is_there = true;
        place.is_device = S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode);
        place.device = status.st_dev;
        place.inode = status.st_ino;
    }
    return place;
}

bool is_same_output(const OutputPlace& a, const OutputPlace& b) {
    if (a.kind == Kind::Descriptor && b.kind == Kind::Descriptor && a.descriptor == b.descriptor) {
        return true;
    }
    if (a.is_there && b.is_there) {
        return !a.is_device && a.device == b.device && a.inode == b.inode;
    }
    return a.path == b.path;
}

} // namespace tessera
