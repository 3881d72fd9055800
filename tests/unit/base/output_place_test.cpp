// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/output_place.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;
using Kind = OutputPlace::Kind;
namespace fs = std::filesystem;

TEST_CASE("links lead to the file that is to be replaced", "[unit][base]") {
    const test::ScratchFolder scratch;
    const std::string real = scratch.write("folder/real", "");
    const fs::path wanted = fs::canonical(real);
    fs::create_symlink(real, scratch.path("absolute"));
    fs::create_symlink("folder/real", scratch.path("relative"));
    fs::create_symlink("relative", scratch.path("twice"));
    fs::create_symlink("folder", scratch.path("linked"));
    for (const char* name : {"folder/real", "absolute", "relative", "twice", "linked/real",
                             "folder/../linked/./real"}) {
        INFO(name);
        const OutputPlace place = output_place(scratch.path(name));
        CHECK(place.kind == Kind::File);
        CHECK(place.path == wanted);
        CHECK(is_same_output(place, output_place(real)));
    }
    fs::create_symlink("folder/new", scratch.path("dangling"));
    CHECK(output_place(scratch.path("dangling")).path == wanted.parent_path() / "new");
    CHECK(is_same_output(output_place(scratch.path("dangling")),
                         output_place(scratch.path("linked/new"))));
}

TEST_CASE("only the system's own folders of descriptors have descriptors", "[unit][base]") {
    const test::ScratchFolder scratch;
    const std::string real = scratch.write("real", "");
    fs::create_directories(scratch.path("fd"));
    fs::create_symlink(real, scratch.path("fd/1"));
    const OutputPlace place = output_place(scratch.path("fd/1"));
    CHECK(place.kind == Kind::File);
    CHECK(place.path == fs::canonical(real));
    const std::string own = "/proc/" + std::to_string(getpid()) + "/fd/";
    const int descriptor = open(real.c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(descriptor >= 0);
    const OutputPlace opened = output_place(own + std::to_string(descriptor));
    CHECK(opened.kind == Kind::Descriptor);
    CHECK(opened.descriptor == descriptor);
    close(descriptor);
}

TEST_CASE("what is no file cannot be replaced by one", "[unit][base]") {
    const test::ScratchFolder scratch;
    CHECK_THROWS_WITH(output_place(""), ": cannot be written: No such file or directory");
    CHECK_THROWS_WITH(output_place(scratch.path()),
                      scratch.path() + ": cannot be written: Is a directory");
    fs::create_symlink("b", scratch.path("a"));
    fs::create_symlink("a", scratch.path("b"));
    CHECK_THROWS_WITH(output_place(scratch.path("a")),
                      Catch::Contains("Too many levels of symbolic links"));
}

TEST_CASE("devices and pipes are written in place", "[unit][base]") {
    const test::ScratchFolder scratch;
    const std::string pipe = scratch.path("pipe");
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    fs::create_symlink("/dev/null", scratch.path("null"));
    CHECK(output_place(pipe).kind == Kind::InPlace);
    CHECK(output_place("/dev/null").kind == Kind::InPlace);
    CHECK(output_place(scratch.path("null")).path == "/dev/null");
    CHECK(is_same_output(output_place(pipe), output_place(pipe)));
    CHECK_FALSE(is_same_output(output_place("/dev/null"), output_place(scratch.path("null"))));
}

TEST_CASE("descriptors of this process are themselves under all their names", "[unit][base]") {
    const test::ScratchFolder scratch;
    const int descriptor = open(scratch.path("f").c_str(), O_WRONLY | O_CREAT, 0600);
    REQUIRE(descriptor > 0);
    const std::string number = std::to_string(descriptor);
    for (const std::string& name : {"/dev/fd/" + number, "/proc/self/fd/" + number}) {
        const OutputPlace place = output_place(name);
        CHECK(place.kind == Kind::Descriptor);
        CHECK(place.descriptor == descriptor);
        CHECK(is_same_output(place, output_place(scratch.path("f"))));
        CHECK_FALSE(is_same_output(place, output_place("-")));
    }
    CHECK(output_place("-").descriptor == STDOUT_FILENO);
    CHECK(output_place("/dev/stdout").descriptor == STDOUT_FILENO);
    CHECK(is_same_output(output_place("/dev/stdout"), output_place("-")));
    CHECK(output_place("/proc/1/fdinfo/-").kind == Kind::File);
    // a child's descriptor of the same number is another one
    const pid_t child = fork();
    if (child == 0) {
        pause();
    }
    const OutputPlace other = output_place("/proc/" + std::to_string(child) + "/fd/" + number);
    CHECK(other.kind == Kind::InPlace);
    CHECK(is_same_output(other, output_place(scratch.path("f"))));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(descriptor);
}

TEST_CASE("two outputs are one however they are spelt", "[unit][base]") {
    const test::ScratchFolder scratch;
    const auto same = [&](const std::string& a, const std::string& b) {
        return is_same_output(output_place(scratch.path(a)), output_place(scratch.path(b)));
    };
    // files that are not there yet, in a folder that is not there either
    CHECK(same("x", "./x"));
    CHECK(same("new/x", "./new/../new/x"));
    CHECK_FALSE(same("x", "y"));
    CHECK_FALSE(same("new/x", "other/x"));
    static_cast<void>(scratch.write("x", ""));
    CHECK_FALSE(same("x", "y"));
    CHECK_FALSE(same("y", "x"));
    fs::create_hard_link(scratch.path("x"), scratch.path("y"));
    CHECK(same("x", "y"));
    static_cast<void>(scratch.write("z", ""));
    CHECK_FALSE(same("x", "z"));
}
