// SPDX-License-Identifier: MIT
#include "sim/result/schema_parts.h"
#include "sim/vertex/report.h"

namespace tessera::vertex {
namespace {

using result::schema::list;
using result::schema::object;
using result::schema::text;
using result::schema::whole;

Json leaf(const Json& type, const char* sentence) {
    return {{"type", type}, {"description", sentence}};
}

Json value(const char* sentence) {
    return leaf(Json::array({"number", "string"}), sentence);
}

Json unused_parameters() {
    Json schema = leaf("object", "machine parameters that --set gave and the vertex has no use "
                                 "for, each with what it lacks");
    schema["additionalProperties"] = {{"type", "string"}};
    return schema;
}

Json counts(const char* sentence) {
    return {{"type", "object"},
            {"description", sentence},
            {"additionalProperties", {{"type", "integer"}, {"minimum", 0}}}};
}

Json or_null(Json schema) {
    schema["type"] = Json::array({schema["type"], "null"});
    return schema;
}

Json named_values(const char* sentence) {
    return list(sentence, object("one of them", {{"name", text("as in the file or formula")},
                                                 {"value", value("a number, inf or nan")}}));
}

Json access(Json more) {
    more.update(Json{{"context", text("worker_N or supervisor")},
                     {"cycle", whole("since the start of the phase")},
                     {"instruction", text("as assembly text")},
                     {"source", text("file:line, or stub")}});
    return object("an access", std::move(more));
}

Json activity(const char* sentence) {
    return object(sentence,
                  {{"issues", whole("instructions and bundles")},
                   {"issue_cycles", whole("tile cycles of the issues: of a worker as many as there "
                                          "are workers")},
                   {"stall_cycles", counts("tile cycles of waiting, by reason")}});
}

Json phase() {
    const Json worker = object("one run", {{"worker", whole("number")},
                                           {"launch", whole("index in launches")},
                                           {"entry", text("symbol")},
                                           {"begin", whole("cycle of the first issue")},
                                           {"end", whole("cycle behind the last issue")},
                                           {"cycles", whole("issues times the slots of a round")}});
    const Json launch = object("all workers that are started up to a sync",
                               {{"entry", text("symbols, each once")},
                                {"workers", whole("that took part")},
                                {"begin", whole("cycle of the first issue")},
                                {"end", whole("cycle behind the last issue")},
                                {"cycles", whole("of the worker that has most")}});
    return object("one compute phase",
                  {{"cycles", whole("from the first instruction of the stub to its return")},
                   {"supervisor_instructions", whole("issued, with those of the stub")},
                   {"worker_issues", whole("turns taken, with waits of several turns")},
                   {"worker_instructions", whole("instructions and bundles")},
                   {"racing_accesses", whole("pairs of accesses whose order changes the result")},
                   {"unused_reads", whole("that would race, had anything come of them")},
                   {"launches", list("in their order", launch)},
                   {"conflicts", whole("accesses against the rules of memory elements")},
                   {"workers", list("runs in the order of their launch", worker)}});
}

Json check() {
    const Json mismatch = object("an element", {{"index", whole("in row-major order")},
                                                {"got", value("after the run")},
                                                {"expected", value("from expect")}});
    const Json array = object("an array", {{"array", text("its name")},
                                           {"elements", whole("compared")},
                                           {"wrong", whole("beyond the tolerance")},
                                           {"first", list("the first ten", mismatch)}});
    return or_null(object(
        "comparison with expect; null where nothing is expected",
        {{"passed", leaf("boolean", "nothing is wrong")}, {"arrays", list("by name", array)}}));
}

Json point() {
    const Json race =
        object("two accesses to one word without a sync between",
               {{"address", whole("of the word")},
                {"first", access({{"writes", leaf("boolean", "or reads")}})},
                {"second", access({{"writes", leaf("boolean", "or reads")}})},
                {"used_at", or_null(text("where something comes of what was read"))}});
    const Json order = or_null(object(
        "what the order of contexts that race decides: of the machine's order, slot by slot, which "
        "is shown, and of one context after the other; null where nothing races",
        {{"racing_accesses", whole("of all phases")},
         {"words", or_null(whole("of memory that are different"))},
         {"first_word", or_null(whole("address of the first of them"))},
         {"other_cycles", or_null(whole("of all phases, one context after the other"))},
         {"other_fault", or_null(text("which that order ends in"))}}));
    const Json unaligned = object(
        "a line", {{"source", text("file:line")}, {"cycles", whole("that branches to it lose")}});
    const Json placement =
        object("what workers lose by branches to bundles at 4 modulo 8",
               {{"cycles", whole("of all workers")},
                {"share", leaf("number", "of the cycles of workers")},
                {"lines", list("to align to 8 bytes, most cycles first", unaligned)}});
    const Json placed = object("a block of memory", {{"name", text("of the array or block")},
                                                     {"address", whole("of its first byte")},
                                                     {"bytes", whole("with padding")},
                                                     {"element", whole("memory element")}});
    const Json line =
        object("a line", {{"source", text("file:line, or stub")},
                          {"issues", whole("of its instructions")},
                          {"cycles", whole("of issues and of waits, summed over "
                                           "the workers that ran it and the "
                                           "supervisor: may be more than tile_cycles")},
                          {"workers", whole("that ran it")}});
    const Json array = object("after the run", {{"type", text("of an element")},
                                                {"shape", list("dimensions", whole("elements"))},
                                                {"values", list("row-major", value("element"))}});
    return object(
        "one run",
        {{"parameters", named_values("in the order of the file")},
         {"tile_cycles", whole("of all phases")},
         {"worker_cycles", whole("of the slowest worker of each launch, summed over launches")},
         {"phases", list("in order", phase())},
         {"workers", activity("all workers together")},
         {"supervisor", activity("the supervisor")},
         {"instructions", object("executed, both halves of a bundle counted",
                                 {{"by_mnemonic", counts("times issued")},
                                  {"by_class", counts("times issued")},
                                  {"by_lane", counts("worker issues by the lanes that do work")}})},
         {"lines", list("source lines, most cycles first", line)},
         {"placement", placement},
         {"races", list("in order", race)},
         {"order", order},
         {"conflicts",
          list("in order, where they are recorded",
               access({{"kind", text("fetch or element")}, {"address", whole("accessed")}}))},
         {"code_bytes", whole("of the sources")},
         {"undefined_symbols",
          list("that no source defines, where nothing that ran needs them",
               object("a symbol", {{"name", text("as the source has it")},
                                   {"place", text("file:line:column of a use")}}))},
         {"memory", list("ascending addresses", placed)},
         {"check", check()},
         {"arrays",
          {{"type", "object"}, {"description", "by name"}, {"additionalProperties", array}}}},
        {"arrays"});
}

} // namespace

Json vertex_result_schema() {
    const Json fit = or_null(
        object("of --fit", {{"formula", text("as given")},
                            {"of", text("what was fitted")},
                            {"coefficients", named_values("in the order of the formula")},
                            {"fitted", list("value at each point", leaf("number", "cycles"))},
                            {"largest_residual", leaf("number", "cycles")}}));
    Json schema = object("what tessera vertex found",
                         {{"schema_version", {{"const", kVertexResultSchemaVersion}}},
                          {"name", text("of the vertex file")},
                          {"machine", text("its name")},
                          {"unused_parameters", unused_parameters()},
                          {"points", list("runs", point())},
                          {"fit", fit}});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Tessera vertex result";
    return schema;
}

} // namespace tessera::vertex
