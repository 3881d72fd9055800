// SPDX-License-Identifier: MIT
#include "base/temporary_file.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <array>
#include <csignal>
#include <list>
#include <sys/stat.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

/// Runs `body` in a child process, which then waits until it is killed.
class Child {
public:
    template <class Body> explicit Child(const Body& body) {
        std::array<int, 2> ends{};
        REQUIRE(pipe(ends.data()) == 0);
        process_ = fork();
        if (process_ == 0) {
            body();
            static_cast<void>(!write(ends[1], "x", 1));
            while (true) {
                pause();
            }
        }
        char begun = 0;
        REQUIRE(read(ends[0], &begun, 1) == 1);
    }
    ~Child() {
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }

private:
    pid_t process_;
};

} // namespace

TEST_CASE("a temporary file goes with its object or takes its place", "[unit][base]") {
    const test::ScratchFolder scratch;
    const std::string target = scratch.write("target", "old");
    {
        const TemporaryFile file(scratch.path());
        CHECK(scratch.names().size() == 2);
        CHECK(scratch.names().front().rfind(".tessera-" + std::to_string(getpid()) + "-", 0) == 0);
    }
    CHECK(scratch.names() == std::vector<std::string>{"target"});
    CHECK(test::read_text(target) == "old");
    {
        TemporaryFile file(scratch.path());
        REQUIRE(write(file.descriptor(), "new", 3) == 3);
        file.put_in_place(target);
        remove_temporary_files(); // not what is in place
    }
    CHECK(scratch.names() == std::vector<std::string>{"target"});
    CHECK(test::read_text(target) == "new");
}

TEST_CASE("any number of temporary files have names of their own", "[unit][base]") {
    const test::ScratchFolder scratch;
    constexpr std::size_t kMany = 50;
    std::list<TemporaryFile> files;
    for (std::size_t i = 0; i < kMany; ++i) {
        files.emplace_back(scratch.path());
    }
    CHECK(scratch.names().size() == kMany);
    remove_temporary_files();
    CHECK(scratch.names().empty());
}

TEST_CASE("what is not in place can be forgotten or removed", "[unit][base]") {
    const test::ScratchFolder scratch;
    {
        const TemporaryFile file(scratch.path());
        forget_temporary_files();
        remove_temporary_files();
        CHECK(scratch.names().size() == 1);
    }
    CHECK(scratch.names().size() == 1);
}

TEST_CASE("a folder that is not there is an error of the system", "[unit][base]") {
    const test::ScratchFolder scratch;
    CHECK_THROWS_AS(TemporaryFile(scratch.path("absent")), std::system_error);
}

TEST_CASE("what dead owners left goes and what living ones hold stays", "[unit][base]") {
    const test::ScratchFolder scratch;
    const Child living([&] { new TemporaryFile(scratch.path()); });
    const auto held = scratch.names();
    REQUIRE(held.size() == 1);
    { // killed, so it leaves its file
        const Child dead([&] { new TemporaryFile(scratch.path()); });
        REQUIRE(scratch.names().size() == 2);
    }
    // names that only look like ours
    static_cast<void>(scratch.write(".tessera-notes", "mine"));
    static_cast<void>(scratch.write("results.tmp", "mine"));
    fs::create_directory(scratch.path(".tessera-1-1.tmp"));
    fs::create_symlink("results.tmp", scratch.path(".tessera-1-2.tmp"));
    REQUIRE(mkfifo(scratch.path(".tessera-1-3.tmp").c_str(), 0600) == 0);
    { const TemporaryFile first(scratch.path()); }
    CHECK(scratch.names() == std::vector<std::string>{".tessera-1-1.tmp", ".tessera-1-2.tmp",
                                                      ".tessera-1-3.tmp", held.front(),
                                                      ".tessera-notes", "results.tmp"});
}
