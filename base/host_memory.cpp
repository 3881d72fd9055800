// SPDX-License-Identifier: MIT
#include "base/host_memory.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// The number behind `key` at the start of a line.
std::optional<std::int64_t> number_of(const fs::path& file, const std::string& key) {
    std::ifstream in(file);
    std::string word;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::int64_t number = 0;
        if (words >> word >> number && word == key) {
            return number;
        }
    }
    return std::nullopt;
}

/// The number that is all of a file; "max", the word for no limit, is none.
std::optional<std::int64_t> only_number(const fs::path& file) {
    std::ifstream in(file);
    std::int64_t number = 0;
    return in >> number ? std::optional(number) : std::nullopt;
}

void bound(HostMemory& memory, std::int64_t bytes, const char* limit) {
    if (bytes < memory.bytes) {
        memory = {std::max<std::int64_t>(bytes, 0), limit};
    }
}

void bound_by_system(const fs::path& root, HostMemory& memory) {
    constexpr std::int64_t kKiB = 1024;
    const fs::path file = root / "proc/meminfo";
    if (const auto available = number_of(file, "MemAvailable:")) {
        const auto swap = number_of(file, "SwapFree:").value_or(0);
        bound(memory, (*available + swap) * kKiB, "MemAvailable and SwapFree in /proc/meminfo");
    }
}

void bound_by_address_space(const fs::path& root, HostMemory& memory) {
    rlimit limit{};
    const auto pages = only_number(root / "proc/self/statm");
    if (getrlimit(RLIMIT_AS, &limit) == 0 && pages &&
        limit.rlim_cur < static_cast<rlim_t>(INT64_MAX)) { // RLIM_INFINITY is above it
        bound(memory, static_cast<std::int64_t>(limit.rlim_cur) - *pages * sysconf(_SC_PAGESIZE),
              "ulimit -v");
    }
}

/// How a version of control groups calls things. Memory of files is given back when it is needed.
struct GroupFiles {
    const char* controller; ///< in /proc/self/cgroup; empty: the one line of version 2
    const char* mount;
    const char* limit;
    const char* kept; ///< in memory.stat
};
constexpr GroupFiles kVersions[] = {
    {"memory", "sys/fs/cgroup/memory", "memory.limit_in_bytes", "total_rss"},
    {"", "sys/fs/cgroup", "memory.max", "anon"}};

bool has_word(const std::string& list, const std::string& word) {
    return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// Every group around this process may have a limit.
void bound_by_groups(const fs::path& root, const GroupFiles& files, const std::string& group,
                     HostMemory& memory) {
    const fs::path mount = root / files.mount;
    fs::path at = (mount / fs::path(group).relative_path()).lexically_normal();
    for (;; at = at.parent_path()) {
        if (const auto limit = only_number(at / files.limit)) {
            bound(memory, *limit - number_of(at / "memory.stat", files.kept).value_or(0),
                  "the memory limit of the control group");
        }
        if (at.string().size() <= mount.string().size()) {
            return;
        }
    }
}

} // namespace

HostMemory host_memory_left(const fs::path& root) {
    HostMemory memory;
    bound_by_system(root, memory);
    bound_by_address_space(root, memory);
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) { // number:controllers:path
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        for (const GroupFiles& files : kVersions) {
            if (has_word(controllers, files.controller)) {
                bound_by_groups(root, files, line.substr(second + 1), memory);
            }
        }
    }
    return memory;
}

bool are_addresses_limited() {
    rlimit limit{};
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

void need_host_memory(double bytes, const std::string& what) {
    constexpr double kAlwaysThere = 64 << 20; // asking costs more
    if (bytes > kAlwaysThere) {
        need_host_memory(bytes, what, host_memory_left());
    }
}

void need_host_memory(double bytes, const std::string& what, const HostMemory& left) {
    constexpr double kGiB = 1 << 30;
    if (bytes > static_cast<double>(left.bytes)) {
        throw OutOfHostMemory(fmt::format("{}: needs {:.1f} GiB of the host's memory, and {:.1f} "
                                          "GiB are left ({})",
                                          what, bytes / kGiB,
                                          static_cast<double>(left.bytes) / kGiB, left.limit));
    }
}

} // namespace tessera
