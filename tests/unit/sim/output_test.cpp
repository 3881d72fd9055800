// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "sim/cli/cli.h"
#include "sim/process/output.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using namespace tessera;

TEST_CASE("two options for one file are a mistake of the command line") {
    const test::ScratchFolder scratch;
    const std::string x = scratch.path("x");
    CHECK_FALSE(process::check_outputs("run", {}));
    CHECK_FALSE(process::check_outputs("run", {{"--json", ""}, {"--memory", ""}}));
    CHECK_FALSE(process::check_outputs("run", {{"--json", x}, {"--memory", scratch.path("y")}}));
    CHECK_THROWS_AS(process::check_outputs("run", {{"--json", x}, {"--memory", x}}),
                    cli::UsageError);
    CHECK_THROWS_WITH(
        process::check_outputs("run", {{"--json", x}, {"--trace", ""}, {"--memory", x}}),
        "run: --json '" + x + "' and --memory '" + x + "' are one file, expected different ones");
    std::filesystem::create_symlink("x", scratch.path("link"));
    CHECK_THROWS_AS(process::check_outputs("run", {{"--a", x}, {"--b", scratch.path("link")}}),
                    cli::UsageError);
    CHECK_FALSE(process::check_outputs("run", {{"--a", "/dev/null"}, {"--b", "/dev/null"}}));
}

TEST_CASE("standard output is one of the outputs") {
    const test::ScratchFolder scratch;
    CHECK(process::check_outputs("run", {{"--json", "-"}}));
    CHECK(process::check_outputs("run", {{"--json", "/dev/stdout"}}));
    CHECK_THROWS_AS(process::check_outputs("run", {{"--json", "-"}, {"--memory", "-"}}),
                    cli::UsageError);
    CHECK_THROWS_AS(process::check_outputs("run", {{"--json", "-"}, {"--csv", "/dev/stdout"}}),
                    cli::UsageError);

    const std::string x = scratch.write("x", "");
    const int before = dup(STDOUT_FILENO);
    REQUIRE(freopen(x.c_str(), "a", stdout) != nullptr);
    std::string why;
    try {
        process::check_outputs("run", {{"--json", x}});
    } catch (const cli::UsageError& error) {
        why = error.what();
    }
    dup2(before, STDOUT_FILENO);
    close(before);
    CHECK(why ==
          "run: --json '" + x + "' and standard output are one file, expected different ones");
}

TEST_CASE("a folder of results is one run's at a time") {
    const test::ScratchFolder scratch;
    const std::string out = scratch.path("deep/out");
    {
        const process::OutFolder first(out);
        CHECK_THROWS_AS(process::OutFolder(out), IoError);
        CHECK_THROWS_WITH(process::OutFolder(out),
                          Catch::StartsWith(out + ": another run writes into"));
        const process::OutFolder other(scratch.path("deep"));
    }
    const process::OutFolder again(out);
    static_cast<void>(scratch.write("deep/out/result.json", "old"));
    again.remove("result.json");
    again.remove("result.json");
    CHECK(std::filesystem::is_empty(out));
    static_cast<void>(scratch.write("file", ""));
    CHECK_THROWS_WITH(process::OutFolder(scratch.path("file/inside")),
                      Catch::Contains("the folder cannot be made"));
}
