// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/input_file.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace tessera;

TEST_CASE("a file is read whole up to the limit and refused beyond it", "[unit][base]") {
    const test::ScratchFolder scratch;
    const std::string most(kMiB, 'x');
    CHECK(read_file(scratch.write("empty", ""), kMiB, "a test's file").empty());
    CHECK(read_file(scratch.write("most", most), kMiB, "a test's file") == most);
    const std::string more = scratch.write("more", most + "y");
    CHECK_THROWS_AS(read_file(more, kMiB, "a test's file"), ConfigError);
    CHECK_THROWS_WITH(read_file(more, kMiB, "a test's file"),
                      more + ": got more than 1 MiB, the most of a test's file");
    CHECK(read_file(more, 2 * kMiB, "a test's file") == most + "y");
}

TEST_CASE("a device without end is read to the limit", "[unit][base]") {
    for (const char* device : {"/dev/zero", "/dev/urandom"}) {
        CHECK_THROWS_WITH(read_file(device, 4 * kMiB, "a test's file"),
                          std::string(device) + ": got more than 4 MiB, the most of a test's file");
    }
    CHECK(read_file("/dev/null", kMiB, "a test's file").empty());
}

TEST_CASE("a pipe that gives its bytes in pieces is read to its end", "[unit][base]") {
    const test::ScratchFolder scratch;
    const std::string pipe = scratch.path("pipe");
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    std::thread writer([&] {
        std::ofstream out(pipe);
        for (int i = 0; i < 3; ++i) {
            out << "piece " << std::flush;
            usleep(2000);
        }
    });
    CHECK(read_file(pipe, kMiB, "a test's file") == "piece piece piece ");
    writer.join();
}

TEST_CASE("a pipe that nobody writes to is told, and one of the shell's own may be empty",
          "[unit][base]") {
    const test::ScratchFolder scratch;
    const std::string pipe = scratch.path("pipe");
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH(read_file(pipe, kMiB, "a test's file"),
                      pipe + ": cannot be read: is a pipe that nobody writes to");
    std::thread late([&] {
        usleep(300'000);
        std::ofstream out(pipe);
        out << "late" << std::flush;
        usleep(300'000);
        out << "r";
    });
    CHECK(read_file(pipe, kMiB, "a test's file") == "later");
    late.join();

    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(write(ends[1], "ab", 2) == 2);
    close(ends[1]);
    const std::string own = "/dev/fd/" + std::to_string(ends[0]);
    CHECK(read_file(own, kMiB, "a test's file") == "ab");
    CHECK(read_file(own, kMiB, "a test's file").empty());
    close(ends[0]);
}

TEST_CASE("bytes come one part behind the other", "[unit][base]") {
    const test::ScratchFolder scratch;
    InputFile file(scratch.write("f", "abcdef"));
    std::string bytes = "-";
    file.append_to(bytes, 2);
    CHECK(bytes == "-ab");
    file.append_to(bytes, 0);
    CHECK(bytes == "-ab");
    file.append_to(bytes, 100);
    CHECK(bytes == "-abcdef");
}

TEST_CASE("what cannot be read says why", "[unit][base]") {
    const test::ScratchFolder scratch;
    CHECK_THROWS_AS(read_file(scratch.path("absent"), kMiB, "a test's file"), IoError);
    CHECK_THROWS_WITH(read_file(scratch.path("absent"), kMiB, "a test's file"),
                      scratch.path("absent") + ": cannot be read: No such file or directory");
    CHECK_THROWS_WITH(read_file(scratch.path(), kMiB, "a test's file"),
                      scratch.path() + ": cannot be read: is a folder, expected a file");
}
