// SPDX-License-Identifier: MIT
// Other programs as filters, folders of results, messages on stderr, and what terminals have room for.
#include "base/config/shape.h"
#include "base/error.h"
#include "base/layout.h"
#include "sim/process/exit_code.h"
#include "sim/process/filter.h"
#include "sim/process/output.h"
#include "sim/process/screen.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <pty.h>
#include <string>
#include <sys/time.h>
#include <system_error>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace tessera;
using process::filtered_by;

namespace {

std::string long_text(std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) {
        text += static_cast<char>('a' + i % 26);
    }
    return text;
}

/// What `says` writes to stderr.
std::string on_stderr(const std::function<void()>& says) {
    const test::ScratchFolder scratch;
    const std::string file = scratch.write("said", "");
    const int before = dup(STDERR_FILENO);
    REQUIRE(freopen(file.c_str(), "w", stderr) != nullptr);
    says();
    std::fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    return test::read_text(file);
}

std::string painted_bad(const std::string& text) {
    return painted({.color = true}, Paint::Bad, text);
}

template <class Error> process::Failure failure_of(const Error& error) {
    return process::failure_of(std::make_exception_ptr(error));
}

/// A variable of the environment for a while; nothing: it is not set.
class Variable {
public:
    Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
        const char* const before = std::getenv(name);
        before_ = before == nullptr ? std::nullopt : std::optional<std::string>(before);
        set(value);
    }
    ~Variable() { set(before_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    void set(const std::optional<std::string>& value) {
        if (value) {
            setenv(name_, value->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }
    const char* name_;
    std::optional<std::string> before_;
};

} // namespace

TEST_CASE("another program gets the whole input and hands back all that it writes", "[unit][sim]") {
    // pipes hold 65,536 bytes at once
    for (const std::size_t length : {0U, 1U, 65'535U, 65'536U, 65'537U, 300'001U}) {
        CAPTURE(length);
        const auto done = filtered_by({"cat"}, long_text(length));
        CHECK((done.out == long_text(length)));
        CHECK(done.error.empty());
        CHECK(done.exit_code == 0);
        CHECK(done.is_there);
        // the same on both of its outputs
        const auto twice = filtered_by({"tee", "/dev/stderr"}, long_text(length));
        CHECK((twice.out == long_text(length)));
        CHECK((twice.error == long_text(length)));
    }
}

TEST_CASE("how another program ends is told", "[unit][sim]") {
    const auto shell = [](const std::string& script, std::size_t input = 0) {
        return filtered_by({"sh", "-c", script}, long_text(input));
    };
    CHECK(shell("echo a; echo b >&2; exit 3").exit_code == 3);
    CHECK(shell("echo a; echo b >&2; exit 3").out == "a\n");
    CHECK(shell("echo a; echo b >&2; exit 3").error == "b\n");
    CHECK(shell("exit 126").is_there);
    CHECK(shell("kill -9 $$").is_there);
    CHECK(shell("kill -9 $$").exit_code == 128);
    const auto none = filtered_by({"there-is-no-such-program"}, "input");
    CHECK_FALSE(none.is_there);
    CHECK(none.exit_code == 127);
    // one that reads nothing of much
    struct sigaction before {};
    REQUIRE(sigaction(SIGPIPE, nullptr, &before) == 0);
    const auto early = shell("exec <&-; echo early", 1'000'000);
    CHECK(early.out == "early\n");
    CHECK(early.exit_code == 0);
    struct sigaction after {};
    REQUIRE(sigaction(SIGPIPE, nullptr, &after) == 0);
    CHECK(after.sa_handler == before.sa_handler);
}

TEST_CASE("signals on the way lose nothing of what another program writes", "[unit][sim]") {
    struct sigaction noted {};
    noted.sa_handler = [](int) {}; // calls are not begun again
    struct sigaction before {};
    REQUIRE(sigaction(SIGALRM, &noted, &before) == 0);
    const itimerval often{{0, 20'000}, {0, 20'000}};
    REQUIRE(setitimer(ITIMER_REAL, &often, nullptr) == 0);
    const auto done =
        filtered_by({"sh", "-c", "sleep 0.1; cat; exec >&- 2>&-; sleep 0.1"}, long_text(300'001));
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before, nullptr);
    CHECK((done.out == long_text(300'001)));
    CHECK(done.exit_code == 0);
}

TEST_CASE("a new folder appears when all is in it", "[unit][sim]") {
    namespace fs = std::filesystem;
    const test::ScratchFolder scratch;
    const std::string path = scratch.path("deep/new");
    {
        const process::NewFolder given_up(path + "/");
        CHECK(fs::is_directory(path + ".part"));
        CHECK_FALSE(fs::exists(path));
        CHECK_THROWS_WITH(process::NewFolder(path),
                          path + ".part: is there already: another run writes into it, or one was "
                                 "killed; wait for its end, or remove it");
    }
    CHECK_FALSE(fs::exists(path + ".part"));
    fs::create_directory(path); // an empty one may be there
    {
        process::NewFolder folder(path);
        const fs::path inner = folder.add("inner");
        CHECK(inner == path + ".part/inner");
        CHECK_THROWS_WITH(folder.add("inner"), path + ".part/inner: is there already");
        CHECK_THROWS_WITH(
            folder.add("no/such"),
            path + ".part/no/such: the folder cannot be made: No such file or directory");
        folder.put_in_place();
    }
    CHECK(fs::is_directory(path + "/inner"));
    CHECK_FALSE(fs::exists(path + ".part"));
    CHECK_THROWS_WITH(process::NewFolder(path + "/"),
                      path + "/: is there already, expected a new folder or an empty one");
    const std::string file = scratch.write("file", "");
    CHECK_THROWS_WITH(process::NewFolder(file),
                      file + ": is there already, expected a new folder or an empty one");
    CHECK_THROWS_WITH(process::NewFolder(file + "/new"),
                      file + "/new.part: the folder cannot be made: Not a directory");
    // what came there meanwhile is not replaced
    const std::string other = scratch.path("other");
    process::NewFolder late(other);
    static_cast<void>(scratch.write("other/theirs", ""));
    CHECK_THROWS_WITH(late.put_in_place(),
                      other + ": the folder cannot be made: Directory not empty");
}

TEST_CASE("files of older results are removed from a folder, and no others", "[unit][sim]") {
    const std::string longest(config::kLongestPart, 'x');
    for (const std::string& name : {std::string("output.c.npy"), std::string("output.A_-9.npy"),
                                    process::result_file("t"), "output." + longest + ".npy"}) {
        CAPTURE(name);
        CHECK(process::is_result_file(name));
    }
    for (const std::string& name :
         {std::string("output.npy"), std::string("output..npy"), std::string("output.a.b.npy"),
          std::string("xoutput.a.npy"), std::string("output.a.npyx"), std::string("outputXa.npy"),
          std::string("output.a+.npy"), "output." + longest + "x.npy"}) {
        CAPTURE(name);
        CHECK_FALSE(process::is_result_file(name));
    }
    const test::ScratchFolder scratch;
    for (const char* const name : {"output.a.npy", "output.b.npy", "output.npy", "mine.a.npy"}) {
        static_cast<void>(scratch.write(name, ""));
    }
    const process::OutFolder folder(scratch.path());
    CHECK(folder.file("a") == scratch.path("a"));
    folder.remove_results();
    CHECK(scratch.names() == std::vector<std::string>{"mine.a.npy", "output.npy"});
    static_cast<void>(scratch.write("output.c.npy/inside", ""));
    CHECK_THROWS_WITH(folder.remove("output.c.npy"),
                      scratch.path("output.c.npy") +
                          ": of an older run cannot be removed: Directory not empty");
}

TEST_CASE("a folder of results may have the lowest descriptor", "[unit][sim]") {
    const test::ScratchFolder scratch;
    const int before = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    CHECK_NOTHROW(process::OutFolder(scratch.path("out")));
    dup2(before, STDIN_FILENO);
    close(before);
}

TEST_CASE("each class of error has its words", "[unit][sim]") {
    const auto said = [](const auto& error) { return failure_of(error).message; };
    CHECK(said(cli::UsageError("run: x")) == "tessera: run: x");
    CHECK(said(ProgramError("tile 3: x")) == "tile 3: x");
    CHECK(said(NotModelled("a: x")) == "a: x");
    CHECK(said(OutOfHostMemory("x")) == "tessera: x");
    CHECK(said(std::bad_alloc()) == "tessera: the host has not enough memory for this run");
    CHECK(said(std::system_error(EAGAIN, std::generic_category(), "x")) ==
          "tessera: of the system: x: Resource temporarily unavailable");
    const std::runtime_error threads("pthread_create has failed");
    CHECK(said(threads) == "tessera: of the system: pthread_create has failed");
    CHECK(failure_of(threads).exit_code == process::kHostMemory);
    CHECK(said(std::runtime_error("no pthread_create has failed")) ==
          "tessera: internal error: no pthread_create has failed");
    CHECK(failure_of(NotModelled("x")).is_not_modelled);
    CHECK_FALSE(failure_of(ProgramError("x")).is_not_modelled);
    const process::Failure of_child =
        failure_of(process::ChildFailed({process::kConfig, "the child's", true}));
    CHECK(of_child.exit_code == process::kConfig);
    CHECK(of_child.message == "the child's");
    CHECK(of_child.is_not_modelled);
}

TEST_CASE("an error is told with its head painted, and its exit code returned", "[unit][sim]") {
    const auto report = [](const std::string& message) {
        return on_stderr([&] {
            CHECK(process::report_error(std::make_exception_ptr(ProgramError(message))) == 5);
        });
    };
    CHECK(report("f:1:2: x: y") == "f:1:2: x: y\n");
    CHECK(on_stderr([] { process::tell_warning("x"); }) == "tessera: warning: x\n");
    process::choose_color(cli::ColorChoice::Always);
    CHECK(report("f:1:2: x: y") == painted_bad("f:1:2") + ": x: y\n");
    CHECK(report("head\nx: y") == painted_bad("head") + "\nx: y\n");
    CHECK(report("no head") == "no head\n");
    CHECK(on_stderr([] { process::tell_failure("x"); }) == painted_bad("tessera") + ": x\n");
    CHECK(on_stderr([] { process::tell_warning("x"); }) ==
          painted({.color = true}, Paint::Warning, "tessera: warning:") + " x\n");
    process::choose_color(cli::ColorChoice::Auto);
}

TEST_CASE("a terminal has its own width and colors, a file neither", "[unit][sim]") {
    const test::ScratchFolder scratch;
    std::FILE* const file = std::fopen(scratch.path("f").c_str(), "w");
    REQUIRE(file != nullptr);
    const auto color_of = [](std::FILE* stream, cli::ColorChoice choice) {
        process::choose_color(choice);
        const bool color = process::layout_of(stream).color;
        process::choose_color(cli::ColorChoice::Auto);
        return color;
    };
    const Variable any_color("NO_COLOR", std::nullopt);
    const Variable good("TERM", "xterm");
    CHECK(process::layout_of(file).columns == Layout{}.columns);
    CHECK_FALSE(color_of(file, cli::ColorChoice::Auto));
    CHECK(color_of(file, cli::ColorChoice::Always));
    std::fclose(file);
    for (const auto& [wide, columns] : {std::pair{0, Layout{}.columns},
                                        {1, 80U},
                                        {79, 80U},
                                        {80, 80U},
                                        {81, 81U},
                                        {160, 160U},
                                        {161, 160U}}) {
        std::array<int, 2> ends{};
        winsize size{};
        size.ws_col = static_cast<unsigned short>(wide);
        REQUIRE(openpty(&ends[0], &ends[1], nullptr, nullptr, &size) == 0);
        std::FILE* const terminal = fdopen(ends[1], "w");
        CAPTURE(wide);
        CHECK(process::layout_of(terminal).columns == columns);
        CHECK(color_of(terminal, cli::ColorChoice::Auto));
        CHECK(color_of(terminal, cli::ColorChoice::Always));
        CHECK_FALSE(color_of(terminal, cli::ColorChoice::Never));
        {
            const Variable dumb("TERM", "dumb");
            CHECK_FALSE(color_of(terminal, cli::ColorChoice::Auto));
        }
        {
            const Variable none("NO_COLOR", "1");
            CHECK_FALSE(color_of(terminal, cli::ColorChoice::Auto));
            CHECK(color_of(terminal, cli::ColorChoice::Always));
        }
        const Variable empty("NO_COLOR", ""); // which counts as not set
        CHECK(color_of(terminal, cli::ColorChoice::Auto));
        std::fclose(terminal);
        close(ends[0]);
    }
}
