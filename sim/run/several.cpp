// SPDX-License-Identifier: MIT
#include "sim/run/several.h"

#include "sim/result/result.h"
#include "sim/result/schema_parts.h"

#include <fmt/format.h>

namespace tessera::sim {
namespace {

using nlohmann::json;

bool has_failed(const json& result) {
    return result.at("status") == "failed";
}

} // namespace

json failed_result(const std::string& workload, const Failure& failure) {
    return {{"schema_version", kResultSchemaVersion},
            {"status", "failed"},
            {"workload", {{"name", workload}}},
            {"exit_code", failure.exit_code},
            {"message", failure.message},
            {"not_modelled", failure.is_not_modelled}};
}

json several_results(const std::vector<json>& results) {
    return {{"schema_version", kResultSchemaVersion}, {"runs", results}};
}

std::string several_text(const std::vector<json>& results, const Layout& layout) {
    std::vector<json> good;
    std::string failures;
    for (const json& result : results) {
        if (has_failed(result)) {
            failures += fmt::format("{:<28} failed with exit code {}\n",
                                    result.at("workload").at("name").get<std::string>(),
                                    result.at("exit_code").get<int>());
        } else {
            good.push_back(result);
        }
    }
    return (good.empty() ? "" : ratio_text(good, layout)) + failures;
}

json several_schema() {
    json result = result_schema();
    result.erase("$schema");
    const json failed = schema::object(
        "a run that failed",
        {{"schema_version", {{"const", kResultSchemaVersion}}},
         {"status", {{"const", "failed"}}},
         {"workload", schema::object("that was to run", {{"name", schema::text("its name")}})},
         {"exit_code", schema::whole("that the run alone would have ended with")},
         {"message", schema::text("lines for people, as on stderr")},
         {"not_modelled",
          {{"type", "boolean"}, {"description", "whether it needs what is not modelled"}}}});
    json schema =
        schema::object("what a run of several workloads found",
                       {{"schema_version", {{"const", kResultSchemaVersion}}},
                        {"runs", schema::list("in the order of the command line",
                                              {{"oneOf", {std::move(result), failed}}})}});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Tessera results of several workloads";
    return schema;
}

} // namespace tessera::sim
