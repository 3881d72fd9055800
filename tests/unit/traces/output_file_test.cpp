// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "tests/support/scratch_folder.h"
#include "traces/output_file.h"

#include <catch2/catch.hpp>
#include <zlib.h>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tessera;
using namespace tessera::traces;
namespace fs = std::filesystem;

namespace {

void write_all(const std::string& path, const std::string& text) {
    OutputFile file(path);
    file.write(text.substr(0, 3));
    file.write(text.substr(std::min<std::size_t>(3, text.size())));
    file.commit();
}

mode_t mode_of(const std::string& path) {
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    return status.st_mode & 07777U;
}

/// What a read of a descriptor gives until its end.
std::string all_of(int descriptor) {
    std::string text;
    std::array<char, 256> buffer{};
    for (ssize_t now = 0; (now = read(descriptor, buffer.data(), buffer.size())) > 0;) {
        text.append(buffer.data(), static_cast<std::size_t>(now));
    }
    return text;
}

} // namespace

TEST_CASE("a replaced file keeps its mode and a new one has the usual", "[unit][traces]") {
    const test::ScratchFolder scratch;
    const mode_t mask = umask(0027);
    write_all(scratch.path("new"), "text");
    CHECK(mode_of(scratch.path("new")) == (0666U & ~0027U));
    for (const mode_t mode : {0600U, 0644U, 0755U, 0666U}) {
        const std::string path = scratch.write("old", "older");
        REQUIRE(chmod(path.c_str(), mode) == 0);
        write_all(path, "text");
        CHECK(mode_of(path) == mode);
        CHECK(test::read_text(path) == "text");
    }
    umask(mask);
}

TEST_CASE("a link stays and what it leads to is replaced", "[unit][traces]") {
    const test::ScratchFolder scratch;
    const std::string real = scratch.write("deep/real", "older");
    fs::create_symlink("deep/real", scratch.path("link"));
    fs::create_symlink("deep/new", scratch.path("dangling"));
    write_all(scratch.path("link"), "text");
    write_all(scratch.path("dangling"), "other");
    CHECK(fs::is_symlink(scratch.path("link")));
    CHECK(fs::is_symlink(scratch.path("dangling")));
    CHECK(test::read_text(real) == "text");
    CHECK(test::read_text(scratch.path("deep/new")) == "other");
    CHECK(scratch.names() == std::vector<std::string>{"dangling", "deep", "link"});
}

TEST_CASE("a file stays as it was until the new one is whole", "[unit][traces]") {
    const test::ScratchFolder scratch;
    const std::string path = scratch.write("f", "older");
    {
        OutputFile file(path);
        file.write("half");
        CHECK(test::read_text(path) == "older");
        CHECK(scratch.names().size() == 2);
    }
    CHECK(test::read_text(path) == "older");
    CHECK(scratch.names() == std::vector<std::string>{"f"});
}

TEST_CASE("two writers of one file do not mix", "[unit][traces]") {
    const test::ScratchFolder scratch;
    const std::string path = scratch.path("f");
    OutputFile first(path);
    OutputFile second(path);
    first.write("first");
    second.write("second, longer");
    second.commit();
    CHECK(test::read_text(path) == "second, longer");
    first.commit();
    CHECK(test::read_text(path) == "first");
    CHECK(scratch.names() == std::vector<std::string>{"f"});
}

TEST_CASE("a pipe, a device and an open descriptor are written in place", "[unit][traces]") {
    const test::ScratchFolder scratch;
    const std::string pipe_path = scratch.path("pipe");
    REQUIRE(mkfifo(pipe_path.c_str(), 0600) == 0);
    std::string got;
    std::thread reader([&] {
        const int descriptor = open(pipe_path.c_str(), O_RDONLY);
        got = all_of(descriptor);
        close(descriptor);
    });
    write_all(pipe_path, "through a pipe");
    reader.join();
    CHECK(got == "through a pipe");
    CHECK(fs::is_fifo(pipe_path));

    write_all("/dev/null", "away");
    CHECK(fs::is_character_file("/dev/null"));

    // behind what stands there already, as a shell's redirection has it
    const std::string redirected = scratch.write("redirected", "before ");
    const int descriptor = open(redirected.c_str(), O_WRONLY | O_APPEND);
    write_all("/dev/fd/" + std::to_string(descriptor), "after");
    CHECK(fcntl(descriptor, F_GETFD) >= 0);
    close(descriptor);
    CHECK(test::read_text(redirected) == "before after");
    CHECK(scratch.names() == std::vector<std::string>{"pipe", "redirected"});
}

TEST_CASE("a dash is standard output", "[unit][traces]") {
    const test::ScratchFolder scratch;
    const int before = dup(STDOUT_FILENO);
    const int file = open(scratch.path("out").c_str(), O_WRONLY | O_CREAT, 0600);
    REQUIRE(dup2(file, STDOUT_FILENO) >= 0);
    write_all("-", "to stdout");
    write_all("/dev/stdout", ", twice");
    dup2(before, STDOUT_FILENO);
    close(before);
    close(file);
    CHECK(test::read_text(scratch.path("out")) == "to stdout, twice");
}

TEST_CASE("a name that ends in .gz is compressed, also through a link's name", "[unit][traces]") {
    const test::ScratchFolder scratch;
    write_all(scratch.path("f.gz"), "compressed");
    const std::string bytes = test::read_text(scratch.path("f.gz"));
    CHECK(bytes.substr(0, 2) == "\x1f\x8b");
    const gzFile file = gzopen(scratch.path("f.gz").c_str(), "rb");
    std::array<char, 100> text{};
    CHECK(gzread(file, text.data(), 100) == 10);
    gzclose(file);
    CHECK(std::string(text.data()) == "compressed");
    write_all(scratch.path("ngz"), "plain");
    CHECK(test::read_text(scratch.path("ngz")) == "plain");
}

TEST_CASE("much is written as little is", "[unit][traces]") {
    const test::ScratchFolder scratch;
    std::string much;
    for (int i = 0; much.size() < 2'500'000; ++i) {
        much += std::to_string(i) + " ";
    }
    OutputFile file(scratch.path("f"));
    file.write(much);
    file.commit();
    CHECK(test::read_text(scratch.path("f")) == much);
}

TEST_CASE("a limit on the size of files is an error that leaves nothing", "[unit][traces]") {
    const test::ScratchFolder scratch;
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit limited{1000, before.rlim_max};
    const auto handler = signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limited) == 0);
    std::string why;
    try {
        write_all(scratch.path("f"), std::string(100'000, 'x'));
    } catch (const IoError& error) {
        why = error.what();
    }
    REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, handler);
    CHECK(why == scratch.path("f") + ": cannot be written: File too large");
    CHECK(scratch.names().empty());
}

TEST_CASE("an output that cannot be written is found when it is opened", "[unit][traces]") {
    const test::ScratchFolder scratch;
    CHECK_THROWS_WITH(OutputFile(scratch.path("no/such/f")),
                      scratch.path("no/such/f") + ": cannot be written: No such file or directory");
    CHECK_THROWS_WITH(OutputFile(scratch.path()),
                      scratch.path() + ": cannot be written: Is a directory");
    // a file that may not be written is not replaced either; no mode stops root
    const std::string kept = scratch.write("kept", "");
    REQUIRE(chmod(kept.c_str(), 0444) == 0);
    REQUIRE(chmod(scratch.path().c_str(), 0777) == 0);
    const pid_t child = fork();
    if (child == 0) {
        constexpr uid_t kNobody = 65534;
        static_cast<void>(getuid() == 0 && setresuid(kNobody, kNobody, kNobody) != 0);
        try {
            const OutputFile file(kept);
        } catch (const IoError& error) {
            _exit(std::string(error.what()) == kept + ": cannot be written: Permission denied" ? 7
                                                                                               : 8);
        }
        _exit(9);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("what is found at the end leaves nothing either", "[unit][traces]") {
    const test::ScratchFolder scratch;
    {
        OutputFile file(scratch.path("f"));
        file.write("text");
        fs::create_directories(scratch.path("f/inside"));
        CHECK_THROWS_WITH(file.commit(),
                          scratch.path("f") + ": cannot be put in place: Is a directory");
    }
    CHECK(scratch.names() == std::vector<std::string>{"f"});
}
