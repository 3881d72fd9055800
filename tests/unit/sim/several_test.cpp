// SPDX-License-Identifier: MIT
#include "sim/result/result.h"
#include "sim/run/several.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>

#include <fstream>

using namespace tessera::sim;
using nlohmann::json;

TEST_CASE("a run that failed stands among the results with why") {
    const json failed = failed_result("large", {4, "does not fit"});
    CHECK(failed == json{{"schema_version", kResultSchemaVersion},
                         {"status", "failed"},
                         {"workload", {{"name", "large"}}},
                         {"exit_code", 4},
                         {"message", "does not fit"},
                         {"not_modelled", false}});
    CHECK(several_results({failed})["runs"] == json::array({failed}));
    CHECK(several_text({failed}) == "large                        failed with exit code 4\n");
}

TEST_CASE("ratios are to the first run that has a result") {
    const auto good = [](const char* name, int cycles) {
        return json{{"status", "ok"},
                    {"workload", {{"name", name}}},
                    {"cycles", cycles},
                    {"seconds", 1e-6 * cycles}};
    };
    const json failed = failed_result("large", {4, "does not fit"});
    const std::string text = several_text({failed, good("one", 100), good("two", 250)});
    CHECK(text.find("1.000") < text.find("2.500"));
    CHECK(text.find("large") > text.find("2.500"));
    CHECK(several_text({good("one", 100), good("two", 250)}).find("failed") == std::string::npos);
}

TEST_CASE("the schema of several results is the one in configs") {
    std::ifstream file(tessera::test::source_path("configs/schemas/results.schema.json"));
    CHECK(json::parse(file) == several_schema());
}
