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
using namespace tessera::sim;

TEST_CASE("two options for one file are a mistake of the command line") {
    const test::ScratchFolder scratch;
    const std::string x = scratch.path("x");
    CHECK_FALSE(check_outputs("run", {}));
    CHECK_FALSE(check_outputs("run", {{"--json", ""}, {"--memory", ""}}));
    CHECK_FALSE(check_outputs("run", {{"--json", x}, {"--memory", scratch.path("y")}}));
    CHECK_THROWS_AS(check_outputs("run", {{"--json", x}, {"--memory", x}}), UsageError);
    CHECK_THROWS_WITH(check_outputs("run", {{"--json", x}, {"--trace", ""}, {"--memory", x}}),
                      "run: --json '" + x + "' and --memory '" + x +
                          "' are one file, expected different ones");
    std::filesystem::create_symlink("x", scratch.path("link"));
    CHECK_THROWS_AS(check_outputs("run", {{"--a", x}, {"--b", scratch.path("link")}}), UsageError);
    CHECK_FALSE(check_outputs("run", {{"--a", "/dev/null"}, {"--b", "/dev/null"}}));
}

TEST_CASE("standard output is one of the outputs") {
    const test::ScratchFolder scratch;
    CHECK(check_outputs("run", {{"--json", "-"}}));
    CHECK(check_outputs("run", {{"--json", "/dev/stdout"}}));
    CHECK_THROWS_AS(check_outputs("run", {{"--json", "-"}, {"--memory", "-"}}), UsageError);
    CHECK_THROWS_AS(check_outputs("run", {{"--json", "-"}, {"--csv", "/dev/stdout"}}), UsageError);

    const std::string x = scratch.write("x", "");
    const int before = dup(STDOUT_FILENO);
    REQUIRE(freopen(x.c_str(), "a", stdout) != nullptr);
    std::string why;
    try {
        check_outputs("run", {{"--json", x}});
    } catch (const UsageError& error) {
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
        const OutFolder first(out);
        CHECK_THROWS_AS(OutFolder(out), IoError);
        CHECK_THROWS_WITH(OutFolder(out), Catch::StartsWith(out + ": another run writes into"));
        const OutFolder other(scratch.path("deep"));
    }
    const OutFolder again(out);
    static_cast<void>(scratch.write("deep/out/result.json", "old"));
    again.remove("result.json");
    again.remove("result.json");
    CHECK(std::filesystem::is_empty(out));
    static_cast<void>(scratch.write("file", ""));
    CHECK_THROWS_WITH(OutFolder(scratch.path("file/inside")),
                      Catch::Contains("the folder cannot be made"));
}
