// SPDX-License-Identifier: MIT
#include "sim/run/several.h"

#include "sim/result/result.h"
#include "sim/result/schema_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::run {
namespace {

using nlohmann::json;

bool has_failed(const json& result) {
    return result.at("status") == "failed";
}

bool have_different_machines(const std::vector<json>& results) {
    return std::any_of(results.begin(), results.end(), [&](const json& result) {
        return result.at("machine").at("name") != results.front().at("machine").at("name");
    });
}

} // namespace

json failed_result(const std::string& workload, const std::string& machine,
                   const process::Failure& failure) {
    return {{"schema_version", result::kResultSchemaVersion},
            {"status", "failed"},
            {"workload", {{"name", workload}}},
            {"machine", {{"name", machine}}},
            {"exit_code", failure.exit_code},
            {"message", failure.message},
            {"not_modelled", failure.is_not_modelled}};
}

json several_results(const std::vector<json>& results) {
    return {{"schema_version", result::kResultSchemaVersion}, {"runs", results}};
}

std::string several_text(const std::vector<json>& results, const Layout& layout) {
    const bool machines_differ = have_different_machines(results);
    std::vector<json> good;
    std::string failures;
    for (const json& result : results) {
        if (has_failed(result)) {
            const std::string on =
                machines_differ ? " on " + result.at("machine").at("name").get<std::string>() : "";
            failures += fmt::format("{:<28} failed with exit code {}\n",
                                    result.at("workload").at("name").get<std::string>() + on,
                                    result.at("exit_code").get<int>());
        } else {
            good.push_back(result);
        }
    }
    return (good.empty() ? "" : result::ratio_text(good, layout, machines_differ)) + failures;
}

json several_schema() {
    json result = result::result_schema();
    result.erase("$schema");
    const json failed = result::schema::object(
        "a run that failed",
        {{"schema_version", {{"const", result::kResultSchemaVersion}}},
         {"status", {{"const", "failed"}}},
         {"workload",
          result::schema::object("that was to run", {{"name", result::schema::text("its name")}})},
         {"machine", result::schema::object("that was to run it",
                                            {{"name", result::schema::text("its name")}})},
         {"exit_code", result::schema::whole("that the run alone would have ended with")},
         {"message", result::schema::text("lines for people, as on stderr")},
         {"not_modelled",
          {{"type", "boolean"}, {"description", "whether it needs what is not modelled"}}}});
    json schema = result::schema::object(
        "what several runs found",
        {{"schema_version", {{"const", result::kResultSchemaVersion}}},
         {"runs",
          result::schema::list("workload by workload, machines inside, as on the command line",
                               {{"oneOf", {std::move(result), failed}}})}});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Tessera results of several runs";
    return schema;
}

} // namespace tessera::run
