// SPDX-License-Identifier: MIT
#include "sim/result/result.h"
#include "sim/run/several.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>

#include <fstream>

using namespace tessera;

using nlohmann::json;

namespace {

json good(const char* name, int cycles, const char* machine = "tiny", double clock_hz = 1e6) {
    return json{{"status", "ok"},
                {"workload", {{"name", name}}},
                {"machine", {{"name", machine}}},
                {"cycles", cycles},
                {"seconds", cycles / clock_hz}};
}

} // namespace

TEST_CASE("a run that failed stands among the results with why") {
    const json failed = run::failed_result("large", "tiny", {4, "does not fit"});
    CHECK(failed == json{{"schema_version", result::kResultSchemaVersion},
                         {"status", "failed"},
                         {"workload", {{"name", "large"}}},
                         {"machine", {{"name", "tiny"}}},
                         {"exit_code", 4},
                         {"message", "does not fit"},
                         {"not_modelled", false}});
    CHECK(run::several_results({failed})["runs"] == json::array({failed}));
    CHECK(run::several_text({failed}) == "large                        failed with exit code 4\n");
}

TEST_CASE("ratios are to the first run that has a result") {
    const json failed = run::failed_result("large", "tiny", {4, "does not fit"});
    const std::string text = run::several_text({failed, good("one", 100), good("two", 250)});
    CHECK(text.find("1.000") < text.find("2.500"));
    CHECK(text.find("large") > text.find("2.500"));
    CHECK(run::several_text({good("one", 100), good("two", 250)}).find("failed") ==
          std::string::npos);
}

TEST_CASE("runs on different machines name their machine and compare times too") {
    const auto failed = run::failed_result("two", "fast", {4, "does not fit"});
    CHECK(run::several_text({good("one", 100), good("one", 200, "fast", 4e6), failed}) ==
          "workload  machine  cycles       time  of peak  cycles ratio  time ratio\n"
          "one       tiny        100  100.00 us        -         1.000       1.000\n"
          "one       fast        200   50.00 us        -         2.000       0.500\n"
          "two on fast                  failed with exit code 4\n");
}

TEST_CASE("a machine is not named where all runs have the same") {
    const auto failed = run::failed_result("two", "tiny", {4, "does not fit"});
    const std::string text = run::several_text({good("one", 100), failed});
    CHECK(text.find("tiny") == std::string::npos);
    CHECK(text.find("time ratio") == std::string::npos);
}

TEST_CASE("the schema of several results is the one in configs") {
    std::ifstream file(tessera::test::source_path("configs/schemas/results.schema.json"));
    CHECK(json::parse(file) == run::several_schema());
}
