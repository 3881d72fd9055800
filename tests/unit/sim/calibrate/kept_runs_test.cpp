// SPDX-License-Identifier: MIT
#include "sim/calibrate/kept_runs.h"
#include "sim/calibrate/runner.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <unistd.h>

using namespace tessera;
using namespace tessera::calibrate;
using nlohmann::json;

namespace {

Run matmul(int n) {
    return {.machine = "tiny",
            .machine_sets = {},
            .workload = {{"kind", "matmul"}, {"n", n}},
            .mode = "timing"};
}

/// A folder that is gone at the end.
struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() /
        ("kept_runs_test_" + std::to_string(static_cast<long>(::getpid())));
    Folder() { std::filesystem::remove_all(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
};

} // namespace

TEST_CASE("what one calibration kept the next one has, of the same machine, mode and model alone") {
    const Folder folder;
    constexpr int kModel = 7;
    {
        KeptRuns kept(folder.path, kModel);
        CHECK_FALSE(kept.result_of(matmul(16)));
        kept.keep(matmul(16), {{"cycles", 123}});
        CHECK(kept.result_of(matmul(16)) == json{{"cycles", 123}});
    }
    const KeptRuns again(folder.path, kModel);
    CHECK(again.result_of(matmul(16)) == json{{"cycles", 123}});
    CHECK_FALSE(again.result_of(matmul(17)));
    Run other = matmul(16);
    other.machine_sets = {"tile.workers=4"};
    CHECK_FALSE(again.result_of(other));
    other = matmul(16);
    other.mode = "";
    CHECK_FALSE(again.result_of(other));
    CHECK_FALSE(KeptRuns(folder.path, kModel + 1).result_of(matmul(16)));
}

TEST_CASE("runs of vertices are not kept") {
    const Folder folder;
    KeptRuns kept(folder.path, 1);
    // as a run that is, but for the vertex
    Run vertex = matmul(16);
    vertex.vertex = "add";
    kept.keep(vertex, {{"cycles", 1}});
    CHECK_FALSE(kept.result_of(matmul(16)));
    kept.keep(matmul(16), {{"cycles", 2}});
    CHECK(kept.result_of(matmul(16)) == json{{"cycles", 2}});
    CHECK_FALSE(kept.result_of(vertex));
}

TEST_CASE("progress calls a run by why it ended, but not one that need not fit") {
    Run run = matmul(16);
    CHECK(RunOutcome{.result = {{"cycles", 1}}, .failure = {}}.status_of(run).empty());
    const RunOutcome too_large{.result = {}, .failure = "no", .does_not_fit = true};
    CHECK(RunOutcome{.result = {}, .failure = "no"}.status_of(run) == "failed");
    CHECK(RunOutcome{.result = {}, .failure = "no", .not_modelled = true}.status_of(run) ==
          "not_modelled");
    CHECK(too_large.status_of(run) == "does_not_fit");
    run.may_not_fit = true;
    CHECK(too_large.status_of(run).empty());
    CHECK(RunOutcome{.result = {}, .failure = "no"}.status_of(run) == "failed");
}
