// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/host_memory.h"
#include "base/host_threads.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace tessera;

namespace {

constexpr std::int64_t kKiB = 1024;

/// A host of 1000 KiB and 24 KiB of swap.
void write_system(const test::ScratchFolder& root) {
    static_cast<void>(root.write("proc/meminfo", "MemTotal:       4000 kB\n"
                                                 "MemAvailable:   1000 kB\n"
                                                 "SwapFree:         24 kB\n"));
}

} // namespace

TEST_CASE("the system's memory is what is available and free swap", "[unit][base]") {
    const test::ScratchFolder root;
    CHECK(host_memory_left(root.path()).bytes == INT64_MAX);
    write_system(root);
    const HostMemory left = host_memory_left(root.path());
    CHECK(left.bytes == 1024 * kKiB);
    CHECK(left.limit.find("MemAvailable") == 0);
}

TEST_CASE("the least limit of the control groups around a process counts", "[unit][base]") {
    struct Version {
        const char* line;
        std::string mount;
        std::string limit;
        std::string kept;
    };
    for (const Version& version :
         {Version{"7:cpu:/\n4:blkio,memory:/outer/inner\n", "sys/fs/cgroup/memory/",
                  "memory.limit_in_bytes", "total_rss"},
          Version{"0::/outer/inner\n", "sys/fs/cgroup/", "memory.max", "anon"}}) {
        INFO(version.mount);
        const test::ScratchFolder root;
        write_system(root);
        static_cast<void>(root.write("proc/self/cgroup", version.line));
        const auto write = [&](const std::string& group, const std::string& limit, int kept) {
            static_cast<void>(root.write(version.mount + group + version.limit, limit + "\n"));
            static_cast<void>(root.write(version.mount + group + "memory.stat",
                                         "file 7\n" + version.kept + " " + std::to_string(kept)));
        };
        write("outer/inner/", "max", 5);
        CHECK(host_memory_left(root.path()).bytes == 1024 * kKiB);
        write("outer/inner/", "9000", 5);
        CHECK(host_memory_left(root.path()).bytes == 9000 - 5);
        CHECK(host_memory_left(root.path()).limit.find("control group") != std::string::npos);
        write("outer/", "5000", 6);
        CHECK(host_memory_left(root.path()).bytes == 5000 - 6);
        write("", "3000", 7);
        CHECK(host_memory_left(root.path()).bytes == 3000 - 7);
        write("outer/inner/", "100", 500); // over its limit already
        CHECK(host_memory_left(root.path()).bytes == 0);
    }
}

TEST_CASE("of equal limits the first is told, and only a lower one takes its place",
          "[unit][base]") {
    const test::ScratchFolder root;
    write_system(root);
    static_cast<void>(root.write("proc/self/cgroup", "0::/inner\n"));
    constexpr std::int64_t kSystem = 1024 * kKiB;
    for (const std::int64_t limit : {kSystem - 1, kSystem, kSystem + 1}) {
        CAPTURE(limit);
        // no memory.stat: the group has nothing yet
        static_cast<void>(root.write("sys/fs/cgroup/inner/memory.max", std::to_string(limit)));
        const HostMemory left = host_memory_left(root.path());
        CHECK(left.bytes == std::min(limit, kSystem));
        CHECK((left.limit == "the memory limit of the control group") == (limit < kSystem));
    }
}

TEST_CASE("a group counts by the whole name of its controller, in lines that are whole",
          "[unit][base]") {
    const test::ScratchFolder root;
    static_cast<void>(root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "77"));
    struct Line {
        const char* text;
        bool counts;
    };
    for (const Line& line :
         {Line{"4:memory:/", true}, Line{"4:cpu,memory:/", true}, Line{"4:memory,cpu:/", true},
          Line{"4:memory2:/", false}, Line{"4:xmemory:/", false}, Line{"4:mem:/", false},
          Line{"memory", false}, Line{"4:memory", false}, Line{"", false},
          Line{"memory\n4:memory:/", true}}) {
        CAPTURE(line.text);
        static_cast<void>(root.write("proc/self/cgroup", std::string(line.text) + "\n"));
        CHECK((host_memory_left(root.path()).bytes == 77) == line.counts);
    }
}

TEST_CASE("a host without swap has what is available", "[unit][base]") {
    const test::ScratchFolder root;
    for (const std::int64_t available : {0, 1, 1000}) {
        static_cast<void>(
            root.write("proc/meminfo", "MemAvailable: " + std::to_string(available) + " kB\n"));
        CHECK(host_memory_left(root.path()).bytes == available * kKiB);
    }
    static_cast<void>(root.write("proc/meminfo", "SwapFree: 24 kB\n"));
    CHECK(host_memory_left(root.path()).bytes == INT64_MAX);
}

TEST_CASE("of a limit on addresses counts what is left of it", "[unit][base]") {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    constexpr std::int64_t kRoom = std::int64_t{1} << 24;
    const rlimit limited{static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + kRoom),
                         before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &limited) == 0);
    const HostMemory left = host_memory_left();
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(left.limit == "ulimit -v");
    CHECK(left.bytes <= kRoom);
    CHECK(left.bytes > kRoom / 2); // the test itself has had some
}

TEST_CASE("what needs more than there is says so before it is had", "[unit][base]") {
    const HostMemory left{std::int64_t{3} << 29, "ulimit -v"};
    CHECK_NOTHROW(need_host_memory(static_cast<double>(left.bytes), "a buffer", left));
    CHECK_THROWS_AS(need_host_memory(static_cast<double>(left.bytes) + 1, "a buffer", left),
                    OutOfHostMemory);
    CHECK_THROWS_WITH(need_host_memory(5e12, "a buffer", left),
                      "a buffer: needs 4656.6 GiB of the host's memory, and 1.5 GiB are left "
                      "(ulimit -v)");
    CHECK_NOTHROW(need_host_memory(1, "a byte"));
    CHECK_THROWS_AS(need_host_memory(1e18, "an exabyte"), OutOfHostMemory);
}

TEST_CASE("a process knows whether its addresses are limited", "[unit][base]") {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    CHECK(are_addresses_limited() == (before.rlim_cur != RLIM_INFINITY));
    const rlimit limited{rlim_t{1} << 40, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &limited) == 0);
    CHECK(are_addresses_limited());
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
}

TEST_CASE("as many threads start as there are addresses for", "[unit][base]") {
    CHECK(startable_threads(1) == 1);
    CHECK(startable_threads(4) == 4);
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    constexpr std::int64_t kRoom = std::int64_t{64} << 20; // fewer stacks than asked for
    const rlimit limited{static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + kRoom),
                         before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &limited) == 0);
    const int started = startable_threads(1000);
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(started >= 1);
    CHECK(started < 1000);
}
