// SPDX-License-Identifier: MIT
#include "sim/calibrate/report.h"
#include "sim/result/schema_parts.h"

namespace tessera::calibrate {
namespace {

using nlohmann::json;
using result::schema::number;
using result::schema::object;
using result::schema::text;
using result::schema::whole;

json list_of(const char* sentence, const char* item, json properties,
             const std::vector<std::string>& optional = {}) {
    return result::schema::list(sentence, object(item, std::move(properties), optional));
}

json list_of_numbers(const char* sentence) {
    return {{"type", "array"}, {"description", sentence}, {"items", {{"type", "number"}}}};
}

json target_schema() {
    return object("what the group must reach; where nothing stands, nothing is asked",
                  {{"error_mean", number("largest error_mean")},
                   {"error_p90", number("largest error_p90")},
                   {"error_most", number("largest error_most")},
                   {"ratio_mean", list_of_numbers("least and largest ratio_mean")},
                   {"sign_share", number("least sign_share")}},
                  {"error_mean", "error_p90", "error_most", "ratio_mean", "sign_share"});
}

json run_properties() {
    return {{"machine", text("name of a machine")},
            {"machine_sets", {{"type", "array"}, {"items", text("path=value")}}},
            {"workload", {{"type", "object"}, {"description", "see workload.schema.json"}}},
            {"mode", text("of the run, where it is not functional")},
            {"vertex", text("in place of a workload: name of a vertex file")},
            {"parameters", {{"type", "array"}, {"items", text("of the vertex: name=value")}}}};
}

json runs_schema(const char* sentence) {
    return list_of(sentence, "one workload or vertex", run_properties(),
                   {"workload", "mode", "vertex", "parameters"});
}

json worst_properties() {
    const json steps =
        list_of("most cycles first", "one step",
                {{"name", text("of the step, or sync")}, {"cycles", number("of all executions")}});
    return {{"id", text("of the reference row")},
            {"ratio", number("of its times")},
            {"runs", list_of("as the row has them", "one run",
                             {{"cycles", number("of the run")}, {"steps", steps}})}};
}

json unexplained_schema() {
    return object("measured less simulated cycles, and their least squares over words and steps",
                  {{"rows", whole("that have one run and cycles")},
                   {"cycles", number("sum over the rows")},
                   {"share", number("of their measured cycles")},
                   {"cycles_per_word", number("for each word that a tile receives, mean")},
                   {"cycles_per_step", number("for each step")},
                   {"explained", number("share of the sum of squares that these take away")}},
                  {"cycles_per_word", "cycles_per_step", "explained"});
}

json row_properties() {
    return {
        {"id", text("of the reference row")},
        {"source", text("where the figure was published")},
        {"machine", text("as the row names it")},
        {"workload", text("as the row names it")},
        {"metric", text("as the row names it")},
        {"unit", text("of measured and simulated")},
        {"measured", number("the row's figure; of rows that are covered")},
        {"simulated", number("the same from the runs")},
        {"ratio", number("simulated over measured; of kernels, of the times")},
        {"best",
         {{"type", "array"},
          {"description", "of several runs: what those are called that the figure is of"},
          {"items", {{"type", "string"}}}}},
        {"of_seeds", list_of_numbers("as simulated, of each seed's pattern; simulated is their "
                                     "geometric mean")},
        {"ratio_no_sync", number("of kernels: without the cycles of barriers")},
        {"ours", number("as simulated, by our own plan")},
        {"ratio_ours", number("as ratio, by our own plan")},
        {"ours_failure", text("why the run of our own plan failed")},
        {"measured_cycles", number("of kernels with one run: the figure as cycles")},
        {"simulated_cycles", number("the same from the run")},
        {"words_per_tile", number("received in all exchanges, mean over the tiles")},
        {"steps", number("executions of compute sets, exchanges and streams")},
        {"use",
         {{"enum",
           json::array({"judged", "open", "calibrated", "failed", "not modelled", "not covered"})},
          {"description", "calibrated: a constant was taken from this row; not modelled: its run "
                          "needs what is not modelled"}}},
        {"group", text("with which it is judged")},
        {"timed", text("which of the run's cycles are the figure")},
        {"note", text("what was assumed, or why it failed or is not covered")},
        {"runs", runs_schema("what was run for the row")},
        {"ours_runs", runs_schema("the same by our own plans")}};
}

} // namespace

json calibration_schema() {
    json document = object(
        "measured figures beside simulated ones",
        {{"schema_version", {{"const", 1}}},
         {"groups",
          list_of(
              "groups that have rows", "one group",
              {{"name", text("of the group")},
               {"rows", whole("judged")},
               {"read_from_rows",
                {{"type", "boolean"}, {"description", "loops or parts were read from its rows"}}},
               {"timing_chosen",
                {{"type", "boolean"},
                 {"description", "which steps are timed was chosen after its rows were seen"}}},
               {"mostly_constant",
                {{"type", "boolean"}, {"description", "most of its figures is one constant"}}},
               {"spread", number("of sparse kernels: geometric mean of its rows' largest over "
                                 "least figure of a seed")},
               {"failed", whole("rows whose runs failed")},
               {"not_modelled", whole("rows that need what is not modelled")},
               {"ratio_mean", number("geometric mean of the ratios")},
               {"error_mean", number("geometric mean of max(ratio, 1 / ratio), less 1")},
               {"error_p90", number("90th percentile of max(ratio, 1 / ratio), less 1")},
               {"error_most", number("largest max(ratio, 1 / ratio), less 1")},
               {"target", target_schema()},
               {"reached", {{"type", "boolean"}}},
               {"ratio_no_sync", number("of kernels: without the cycles of barriers")},
               {"ratio_ours", number("of kernels: by our own plans")},
               {"sign_rows", whole("rows whose order is judged")},
               {"sign_share", number("of them: the same one is faster")},
               {"sign_share_ours", number("the same by our own plans")},
               {"worst", list_of("of kernels: the rows that are farthest off", "one row",
                                 worst_properties())},
               {"unexplained", unexplained_schema()}},
              {"spread", "ratio_no_sync", "ratio_ours", "sign_rows", "sign_share",
               "sign_share_ours", "worst", "unexplained"})},
         {"rows",
          list_of("in the order of the reference", "one row", row_properties(),
                  {"measured", "simulated", "ratio", "best", "of_seeds", "ratio_no_sync", "ours",
                   "ratio_ours", "ours_failure", "measured_cycles", "simulated_cycles",
                   "words_per_tile", "steps", "group", "timed", "runs", "ours_runs"})},
         {"other_files",
          list_of(
              "files without such rows", "one file",
              {{"file", text("name")}, {"reason", text("why not")}, {"rows", whole("in it")}})}});
    document["$schema"] = "http://json-schema.org/draft-07/schema#";
    document["title"] = "Tessera calibration";
    return document;
}

} // namespace tessera::calibrate
