// SPDX-License-Identifier: MIT
// Whether the host has the memory that something will need, asked before it is touched: a system
// that hands out more than it has kills later, without a word.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera {

struct HostMemory {
    std::int64_t bytes = INT64_MAX; ///< that this process can still get
    std::string limit;              ///< what sets the bound: "MemAvailable", "ulimit -v", ...
};

/// The least of what the system has (MemAvailable and free swap), of the limit on this process's
/// address space, and of the memory limits of its control groups (version 1 and 2). What cannot be
/// found out bounds nothing. `root` is where /proc and /sys stand.
[[nodiscard]] HostMemory host_memory_left(const std::filesystem::path& root = "/");

/// Whether this process may have only so many addresses (`ulimit -v`), used or not.
[[nodiscard]] bool are_addresses_limited();

/// @throws OutOfHostMemory if `bytes`, which `what` will take at least, are more than that
void need_host_memory(double bytes, const std::string& what);
void need_host_memory(double bytes, const std::string& what, const HostMemory& left);

} // namespace tessera
