// SPDX-License-Identifier: MIT
#include "sim/memory_report.h"
#include "sim/result.h"
#include "sim/schema_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

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

json role_schema() {
    std::string sentence = "what the step is for";
    json words = json::array();
    for (const program::RoleWord& role : program::kRoles) {
        sentence += fmt::format("{} {}: {}", words.empty() ? ";" : ",", role.word, role.sentence);
        words.push_back(role.word);
    }
    return {{"enum", std::move(words)}, {"description", std::move(sentence)}};
}

json step_properties() {
    return {{"name", text("as in the program")},
            {"role", role_schema()},
            {"executions", whole("how often it ran")},
            {"cycles", whole("sum over executions of the slowest tile")},
            {"bound_cycles", whole("the fewest cycles in which the busiest tile could have done "
                                   "it; never more than cycles")},
            {"active_tiles", whole("tiles that take part")},
            {"slowest_tile", whole("of the last execution")},
            {"tile_cycles", range("sum over executions, over all tiles of the machine")}};
}

json list_of(const char* sentence, json properties) {
    return schema::list(sentence, object("one step", std::move(properties)));
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
    properties["sent_bytes"] = whole("sent, a multicast counted once each time that it is sent");
    properties["words"] = whole("of 4 bytes, delivered");
    return properties;
}

json stream_properties() {
    json properties = step_properties();
    properties["peer"] = text("streaming_memory or host, and the remote buffer");
    properties["direction"] = text("read: into tiles; write: out of them");
    properties["bytes"] = whole("delivered");
    properties["sent_bytes"] = whole("sent");
    properties["transfer_cycles"] =
        whole("sum over executions from start to end, also where nothing waited");
    properties["cycles"] = whole("sum over executions of what the machine waited");
    properties["bound_cycles"] =
        whole("sum over executions of what the link needed; never more than transfer_cycles");
    return properties;
}

json explanation_schema() {
    json parts = json::object();
    for (const ExplanationPart& part : kExplanationParts) {
        parts[part.key] = object(part.sentence, {{"cycles", number("cycles")},
                                                 {"percent", number("of the run's cycles")}});
    }
    return object("where the machine's cycles went; the parts sum to the run", std::move(parts));
}

json memory_schema() {
    return object(
        "tile memory in the step in which most of it is used",
        {{"tile_bytes", whole("what a tile has")},
         {"mean_bytes", number("used in a tile's fullest step, mean over all tiles")},
         {"max_bytes", whole("used on the fullest tile in its fullest step")},
         {"peak_step", text("that step")},
         {"max_bytes_by_kind", by_kind_schema("most over tiles and steps, each kind by itself")},
         {"worst_tile", whole("the fullest tile")},
         {"worst_tile_bytes_by_kind", by_kind_schema("of the fullest tile in that step")}});
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
    json schema = object(
        "what one run of tessera found; keys are sorted, and all but host is the same for equal "
        "runs",
        {{"schema_version", {{"const", kResultSchemaVersion}}},
         {"status",
          {{"const", "ok"}, {"description", "there is a result; check says if it is right"}}},
         {"sentence", text("the workload in words")},
         {"machine", {{"type", "object"}, {"description", "as resolved; see machine.schema.json"}}},
         {"unused_parameters", schema::unused_parameters_schema()},
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
         {"matrix_unit", object("the most that a tile's matrix unit does for these types",
                                {{"macs_per_cycle", whole("multiply-accumulates a tile cycle")},
                                 {"memory_bytes_per_cycle",
                                  whole("that the memory port then moves a tile cycle, paced")}})},
         {"useful_bytes", whole("that the workload moves for its user")},
         {"gbytes_per_s", number("useful_bytes over seconds, in 1e9 bytes a second")},
         {"phases", object("the machine's view: a phase lasts until its slowest tile",
                           {{"compute", whole("cycles")},
                            {"exchange", whole("cycles")},
                            {"sync", whole("cycles")},
                            {"stream", whole("cycles")}})},
         {"tiles", object("the tiles' view", std::move(tiles))},
         {"tiles_busy", whole("tiles that computed, exchanged or streamed")},
         {"tiles_busy_by_kind",
          object("tiles that took part in some step of the kind; a tile may count in several",
                 {{"compute", whole("in compute sets")},
                  {"exchange", whole("in exchanges")},
                  {"stream", whole("in stream copies")}})},
         {"compute_sets", list_of("in the program's order", compute_set_properties())},
         {"exchanges", list_of("in the program's order", exchange_properties())},
         {"streams", list_of("stream copies, in the program's order", stream_properties())},
         {"explanation", explanation_schema()},
         {"kernels",
          schema::list(
              "whose the cycles were; they sum to the run",
              object("a kernel, or a step of a pipeline",
                     {{"name", text("the kernel, or what the pipeline calls the step; 'control "
                                    "program' has what is nobody's")},
                      {"cycles", whole("of the run")},
                      {"percent", number("of the run's cycles")},
                      {"compute", whole("cycles of its compute sets")},
                      {"exchange", whole("cycles of its exchanges")},
                      {"sync", whole("cycles of the barriers before its exchanges")},
                      {"stream", whole("cycles in which the machine waited for its stream copies")},
                      {"rearrange_cycles", whole("of all these, in steps of role rearrange")}}))},
         {"memory", memory_schema()},
         {"plan", {{"type", "object"}, {"description", "what the planner chose"}}},
         {"digests",
          object("CRC-32 in hexadecimal; runs with equal ones found the same",
                 {{"tile_cycles", text("of every tile's compute, exchange, sync, stream and idle "
                                       "cycles")},
                  {"output", text("of the names and bytes of all tensors that the run makes")}})},
         {"check",
          {{"type", json::array({"object", "null"})},
           {"description", "comparison with the host reference; null where switched off"}}},
         {"trace",
          object("of --trace", {{"slices", whole("written")},
                                {"tiles", {{"type", "array"}, {"items", whole("tile number")}}},
                                {"truncated", {{"type", "boolean"}}}})},
         {"host", host_schema()}},
        {"flops", "flops_dense_equivalent", "tflops", "peak_tflops", "fraction_of_peak",
         "matrix_unit", "useful_bytes", "gbytes_per_s", "trace"});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Tessera result";
    return schema;
}

} // namespace tessera::sim
