// SPDX-License-Identifier: MIT
#include "sim/calibrate/report.h"
#include "sim/schema_parts.h"

namespace tessera::sim::calibrate {
namespace {

using nlohmann::json;
using schema::number;
using schema::object;
using schema::text;
using schema::whole;

json list_of(const char* sentence, const char* item, json properties,
             const std::vector<std::string>& optional = {}) {
    return schema::list(sentence, object(item, std::move(properties), optional));
}

json target_schema() {
    return object("what the group must reach; where nothing stands, nothing is asked",
                  {{"error_mean", number("largest error_mean")},
                   {"error_p90", number("largest error_p90")},
                   {"error_most", number("largest error_most")}},
                  {"error_mean", "error_p90", "error_most"});
}

json run_properties() {
    return {{"machine", text("name of a machine")},
            {"machine_sets", {{"type", "array"}, {"items", text("path=value")}}},
            {"workload", {{"type", "object"}, {"description", "see workload.schema.json"}}}};
}

json row_properties() {
    return {{"id", text("of the reference row")},
            {"source", text("where the figure was published")},
            {"machine", text("as the row names it")},
            {"workload", text("as the row names it")},
            {"metric", text("as the row names it")},
            {"unit", text("of measured and simulated")},
            {"measured", number("the row's figure; of rows that are covered")},
            {"simulated", number("the same from the runs")},
            {"ratio", number("simulated over measured")},
            {"use",
             {{"enum", json::array({"judged", "calibrated", "failed", "not covered"})},
              {"description", "calibrated: a machine parameter was taken from this row"}}},
            {"group", text("with which it is judged")},
            {"timed", text("which of the run's cycles are the figure")},
            {"note", text("what was assumed, or why it failed or is not covered")},
            {"runs", list_of("what was run for the row", "one workload", run_properties())}};
}

} // namespace

json calibration_schema() {
    json document =
        object("measured figures beside simulated ones",
               {{"schema_version", {{"const", 1}}},
                {"groups",
                 list_of("groups that have rows", "one group",
                         {{"name", text("of the group")},
                          {"rows", whole("judged")},
                          {"failed", whole("rows whose runs failed")},
                          {"ratio_mean", number("geometric mean of the ratios")},
                          {"error_mean", number("geometric mean of max(ratio, 1 / ratio), less 1")},
                          {"error_p90", number("90th percentile of |ratio - 1|")},
                          {"error_most", number("largest |ratio - 1|")},
                          {"target", target_schema()},
                          {"reached", {{"type", "boolean"}}}})},
                {"rows", list_of("in the order of the reference", "one row", row_properties(),
                                 {"measured", "simulated", "ratio", "group", "timed", "runs"})},
                {"other_files", list_of("files without such rows", "one file",
                                        {{"file", text("name")},
                                         {"reason", text("why not")},
                                         {"rows", whole("in it")}})}});
    document["$schema"] = "http://json-schema.org/draft-07/schema#";
    document["title"] = "Tessera calibration";
    return document;
}

} // namespace tessera::sim::calibrate
