// SPDX-License-Identifier: MIT
#include "base/temporary_file.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <functional>
#include <iterator>
#include <list>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

using namespace tessera;
namespace fs = std::filesystem;

namespace {

/// What the next lock comes to, in place of the system's answer.
std::function<int(int descriptor)> next_lock;

} // namespace

/// In place of the C library's.
extern "C" int flock(int descriptor, int operation) noexcept {
    if (const auto answer = std::exchange(next_lock, nullptr)) {
        return answer(descriptor);
    }
    return static_cast<int>(syscall(SYS_flock, descriptor, operation));
}

namespace {

std::ptrdiff_t open_descriptors() {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

bool has_name(int descriptor) {
    struct stat status {};
    REQUIRE(fstat(descriptor, &status) == 0);
    return status.st_nlink == 1;
}

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

TEST_CASE("a file that another process took for one that was left is given up", "[unit][base]") {
    struct Answer {
        const char* what;
        std::function<int(int)> lock;
        std::size_t files; ///< that are there afterwards
    };
    const std::vector<Answer> answers{
        {"it is being removed", [](int) { return errno = EWOULDBLOCK, -1; }, 2},
        {"it has been removed",
         [](int descriptor) {
             const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
             fs::remove(fs::read_symlink(link));
             return 0;
         },
         1},
        {"the file system knows no locks", [](int) { return errno = ENOLCK, -1; }, 1},
        {"it is ours", [](int) { return 0; }, 1}};
    for (const Answer& answer : answers) {
        INFO(answer.what);
        const test::ScratchFolder scratch;
        const auto before = open_descriptors();
        next_lock = answer.lock;
        const TemporaryFile file(scratch.path());
        CHECK(next_lock == nullptr);
        CHECK(has_name(file.descriptor()));
        CHECK(scratch.names().size() == answer.files);
        CHECK(open_descriptors() == before + 1);
    }
}

TEST_CASE("a signal that comes while a file is made finds it", "[unit][base]") {
    const test::ScratchFolder scratch;
    next_lock = [&](int) {
        CHECK(scratch.names().size() == 1);
        remove_temporary_files(); // as the handler does
        CHECK(scratch.names().empty());
        return 0;
    };
    const TemporaryFile file(scratch.path()); // as if the process lived on
    CHECK(has_name(file.descriptor()));
}

TEST_CASE("a temporary file may be a process's first descriptor", "[unit][base]") {
    const test::ScratchFolder scratch;
    const int input = dup(0);
    REQUIRE(input >= 0);
    close(0);
    std::size_t files = 0;
    int descriptor = -1;
    {
        const TemporaryFile file(scratch.path());
        descriptor = file.descriptor();
        files = scratch.names().size();
    }
    REQUIRE(dup2(input, 0) == 0);
    close(input);
    CHECK(descriptor == 0);
    CHECK(files == 1);
    CHECK(scratch.names().empty());
}

TEST_CASE("a temporary file's path is as long as the system takes it", "[unit][base]") {
    const test::ScratchFolder scratch;
    const auto name_length = [&] {
        const TemporaryFile file(scratch.path());
        return scratch.names().front().size();
    };
    constexpr std::size_t kLongest = PATH_MAX - 1; // a byte ends it
    for (const std::size_t length : {kLongest - 1, kLongest, kLongest + 1, kLongest + 2}) {
        // the name's number may have a digit more than the last one's
        const std::size_t name = std::max(name_length(), name_length());
        const std::string folder =
            scratch.path() + std::string(length - name - scratch.path().size(), '/');
        CAPTURE(length);
        int reason = 0;
        try {
            const TemporaryFile file(folder);
            CHECK(scratch.names().size() == 1);
        } catch (const std::system_error& error) {
            reason = error.code().value();
        }
        CHECK(reason == (length <= kLongest ? 0 : ENAMETOOLONG));
        CHECK(scratch.names().empty());
    }
}

TEST_CASE("no descriptor stays with a temporary file that is gone", "[unit][base]") {
    const test::ScratchFolder folder;
    const auto open_descriptors = [] {
        namespace fs = std::filesystem;
        return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
    };
    { const TemporaryFile first(folder.path()); }
    const auto before = open_descriptors();
    for (int i = 0; i < 5; ++i) {
        TemporaryFile file(folder.path());
        CHECK(open_descriptors() == before + 1);
        if (i % 2 == 0) {
            file.put_in_place(folder.path("there"));
        }
    }
    CHECK(open_descriptors() == before);
}
