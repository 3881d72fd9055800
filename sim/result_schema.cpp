// SPDX-License-Identifier: MIT
#include "sim/result.h"
#include "sim/schema_parts.h"

#include <string>

namespace tessera::sim {
namespace {

using nlohmann::json;
using schema::number;
using schema::object;
using schema::text;
using schema::whole;

json range(const char* sentence) {
    return object(sentence, {{"min", whole("least over the tiles")},
                             {"mean", number("mean over the tiles")},
                             {"max", whole("most over the tiles")}});
}

json step_properties() {
    return {
        {"name", text("as in the program")},
        {"executions", whole("how often it ran")},
        {"cycles", whole("sum over executions of the slowest tile")},
        {"bound_cycles", whole("the fewest cycles in which the busiest tile could have done it")},
        {"active_tiles", whole("tiles that take part")},
        {"slowest_tile", whole("of the last execution")},
        {"tile_cycles", range("sum over executions, over all tiles of the machine")}};
}

json list_of(const char* sentence, json properties) {
    return schema::list_of(sentence, "one step", std::move(properties));
}

json compute_set_properties() {
    json properties = step_properties();
    properties["worker_issues"] = whole("issue slots used by workers");
    properties["worker_bundles"] = whole("instructions and bundles executed by workers");
    properties["supervisor_instructions"] = whole("instructions executed by supervisors");
    return properties;
}

json exchange_properties() {
    json properties = step_properties();
    properties["bytes"] = whole("delivered, each receiver counted");
    properties["sent_bytes"] = whole("sent, a multicast counted once");
    properties["words"] = whole("of 4 bytes, delivered");
    return properties;
}

json bytes_by_kind(const char* sentence) {
    return object(sentence, {{"code", whole("bytes")},
                             {"stack", whole("bytes")},
                             {"vertex_state", whole("bytes")},
                             {"metadata", whole("bytes")},
                             {"exchange_row", whole("bytes")},
                             {"tensor", whole("bytes")}});
}

json part(const char* sentence) {
    return object(sentence,
                  {{"cycles", number("cycles")}, {"percent", number("of the run's cycles")}});
}

json explanation_schema() {
    return object("where the machine's cycles went; the parts sum to the run",
                  {{"compute", part("mean over the tiles, without reductions")},
                   {"exchange", part("mean over the tiles, without reductions")},
                   {"sync", part("barriers")},
                   {"reduction", part("compute sets and exchanges whose name starts with reduce")},
                   {"uneven_splits", part("what slowest tiles take longer than the mean")}});
}

json memory_schema() {
    return object("tile memory at the start of the run",
                  {{"tile_bytes", whole("what a tile has")},
                   {"mean_bytes", number("used, mean over all tiles")},
                   {"max_bytes", whole("used on the fullest tile")},
                   {"max_bytes_by_kind", bytes_by_kind("most over the tiles, each kind by itself")},
                   {"worst_tile", whole("the fullest tile")},
                   {"worst_tile_bytes_by_kind", bytes_by_kind("of the fullest tile")}});
}

json host_schema() {
    return object("what the host spent; the only part that differs between equal runs",
                  {{"plan_s", number("operands and plan")},
                   {"simulate_s", number("from elaboration to the result in the host's hands")},
                   {"check_s", number("host reference and comparison")},
                   {"wall_s", number("all of it")},
                   {"bundles", whole("executed by workers")},
                   {"bundles_per_s", number("over simulate_s")},
                   {"threads", whole("host threads")},
                   {"peak_rss_bytes", whole("of the process")}});
}

} // namespace

nlohmann::json result_schema() {
    json tiles = json::object();
    for (const char* kind : {"compute", "exchange", "sync", "stream", "idle"}) {
        tiles[std::string(kind) + "_cycles"] =
            range("per tile; the five kinds of a tile sum to cycles");
    }
    json document = object(
        "what one run of tessera found; keys are sorted, and all but host is the same for equal "
        "runs",
        {{"schema_version", {{"const", kResultSchemaVersion}}},
         {"sentence", text("the workload in words")},
         {"machine", {{"type", "object"}, {"description", "as resolved; see machine.schema.json"}}},
         {"workload",
          {{"type", "object"},
           {"description", "as resolved, with its name; see workload.schema.json"}}},
         {"cycles", whole("of the run: the sum of phases")},
         {"seconds", number("cycles over the clock")},
         {"flops", whole("2 m k n, or 2 nnz n where A is sparse")},
         {"flops_dense_equivalent", whole("2 m k n of a sparse product")},
         {"tflops", number("flops over seconds")},
         {"peak_tflops", number("of the matrix units for these input and partial types")},
         {"fraction_of_peak", number("tflops over peak_tflops")},
         {"useful_bytes", whole("that the workload moves for its user")},
         {"gbytes_per_s", number("useful_bytes over seconds, in 1e9 bytes a second")},
         {"phases", object("the machine's view: a phase lasts until its slowest tile",
                           {{"compute", whole("cycles")},
                            {"exchange", whole("cycles")},
                            {"sync", whole("cycles")},
                            {"stream", whole("cycles")}})},
         {"tiles", object("the tiles' view", std::move(tiles))},
         {"tiles_busy", whole("tiles that computed")},
         {"compute_sets", list_of("in the program's order", compute_set_properties())},
         {"exchanges", list_of("in the program's order", exchange_properties())},
         {"explanation", explanation_schema()},
         {"memory", memory_schema()},
         {"plan", {{"type", "object"}, {"description", "what the planner chose"}}},
         {"check",
          {{"type", json::array({"object", "null"})},
           {"description", "comparison with the host reference; null where switched off"}}},
         {"trace",
          object("of --trace", {{"slices", whole("written")},
                                {"tiles", {{"type", "array"}, {"items", whole("tile number")}}},
                                {"truncated", {{"type", "boolean"}}}})},
         {"host", host_schema()}},
        {"flops", "flops_dense_equivalent", "tflops", "peak_tflops", "fraction_of_peak",
         "useful_bytes", "gbytes_per_s", "trace"});
    document["$schema"] = "http://json-schema.org/draft-07/schema#";
    document["title"] = "Tessera result";
    return document;
}

} // namespace tessera::sim
