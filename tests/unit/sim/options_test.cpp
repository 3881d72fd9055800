// SPDX-License-Identifier: MIT
// Every option of every command sets one field, and nothing else; a new option without a case
// fails.
#include "sim/cli/cli.h"
#include "sim/cli/table.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

using namespace tessera;

namespace {

using Fields = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

std::string joined(const Words& words) {
    return fmt::format("{}", fmt::join(words, ","));
}

Fields fields(const cli::RunCommand& run) {
    return {{"workloads", joined(run.workloads)},
            {"machine", run.machine},
            {"machines", joined(run.machines)},
            {"sets", joined(run.sets)},
            {"json", run.json},
            {"csv", run.csv},
            {"out_directory", run.out_directory},
            {"memory", run.memory},
            {"record", run.record},
            {"record_window", run.record_window ? fmt::format("{}:{}", run.record_window->first,
                                                              run.record_window->second)
                                                : ""},
            {"edges", run.edges},
            {"report", run.report},
            {"trace", run.trace},
            {"trace_tiles", run.trace_tiles},
            {"trace_level", run.trace_level},
            {"trace_clock", run.trace_clock},
            {"threads", std::to_string(run.threads)},
            {"shuffle", run.shuffle ? std::to_string(*run.shuffle) : ""},
            {"max_cycles", run.max_cycles ? std::to_string(*run.max_cycles) : ""},
            {"mode", run.mode},
            {"audit", run.audit ? std::to_string(*run.audit) : ""},
            {"point", run.point},
            {"store", run.store},
            {"check", run.check ? "yes" : "no"},
            {"quiet", run.quiet ? "yes" : "no"}};
}
Fields fields(const cli::VertexCommand& vertex) {
    return {{"vertex", vertex.vertex},
            {"machine", vertex.machine},
            {"sets", joined(vertex.sets)},
            {"include_directories", joined(vertex.include_directories)},
            {"defines", joined(vertex.defines)},
            {"out_directory", vertex.out_directory},
            {"json", vertex.json},
            {"expects", joined(vertex.expects)},
            {"dumps", joined(vertex.dumps)},
            {"fit", vertex.fit},
            {"fit_of", vertex.fit_of},
            {"trace", vertex.trace},
            {"konata", vertex.konata},
            {"arrays", vertex.arrays ? "yes" : "no"},
            {"lockstep", vertex.lockstep ? "yes" : "no"},
            {"lockstep_limit", vertex.lockstep_limit ? std::to_string(*vertex.lockstep_limit) : ""},
            {"quiet", vertex.quiet ? "yes" : "no"}};
}
Fields fields(const cli::CalibrateCommand& calibrate) {
    return {{"reference", calibrate.reference},
            {"group", calibrate.group},
            {"json", calibrate.json},
            {"csv", calibrate.csv},
            {"store", calibrate.store},
            {"seeds", std::to_string(calibrate.seeds)},
            {"threads", std::to_string(calibrate.threads)},
            {"check", calibrate.check ? "yes" : "no"},
            {"unexplained", calibrate.unexplained ? "yes" : "no"},
            {"quiet", calibrate.quiet ? "yes" : "no"}};
}
Fields fields(const cli::ReportCommand& report) {
    return {{"inputs", joined(report.inputs)},
            {"output", report.output},
            {"quiet", report.quiet ? "yes" : "no"}};
}
Fields fields(const cli::SweepRunCommand& run) {
    return {{"what", run.what},
            {"machines", joined(run.machines)},
            {"sets", joined(run.sets)},
            {"mode", run.mode},
            {"store", run.store},
            {"jobs", std::to_string(run.jobs)},
            {"time_limit_s", std::to_string(run.time_limit_s)},
            {"memory_limit_mib", std::to_string(run.memory_limit_mib)},
            {"retry", joined(run.retry)},
            {"screen", run.screen ? "yes" : "no"},
            {"keep_percent", std::to_string(run.keep_percent)},
            {"keep_lists", run.keep_lists ? "yes" : "no"},
            {"shard", std::to_string(run.shard) + " of " + std::to_string(run.shards)},
            {"from_stdin", run.from_stdin ? "yes" : "no"},
            {"dry_run", run.dry_run ? "yes" : "no"},
            {"quiet", run.quiet ? "yes" : "no"}};
}
Fields fields(const cli::SweepShowCommand& show) {
    return {{"store", show.store},
            {"sweep", show.sweep},
            {"columns", joined(show.columns)},
            {"filters", joined(show.filters)},
            {"sort", joined(show.sort)},
            {"group", joined(show.group)},
            {"objectives", joined(show.objectives)},
            {"look", show.look},
            {"base", show.base},
            {"format", show.format},
            {"limit", std::to_string(show.limit)}};
}
Fields fields(const cli::SweepCollectCommand& collect) {
    return {{"stores", joined(collect.stores)},
            {"into", collect.into},
            {"sqlite", collect.sqlite},
            {"csv", collect.csv},
            {"quiet", collect.quiet ? "yes" : "no"}};
}
Fields fields(const cli::SweepDiffCommand& diff) {
    return {{"before", diff.before},
            {"after", diff.after},
            {"path", diff.path},
            {"format", diff.format}};
}
Fields fields(const cli::SweepSubmitCommand& submit) {
    Fields all = fields(submit.run);
    all["engine"] = submit.engine;
    all["engine_options"] = joined(submit.engine_options);
    all["print"] = submit.print ? "yes" : "no";
    return all;
}
Fields fields(const cli::ListCommand& list) {
    return {{"what", list.what},
            {"names", list.names ? "yes" : "no"},
            {"paths", list.paths ? "yes" : "no"}};
}
Fields fields(const cli::DescribeCommand& describe) {
    return {{"what", describe.what},
            {"name", describe.name},
            {"sets", joined(describe.sets)},
            {"json", describe.json ? "yes" : "no"},
            {"expanded", describe.expanded ? "yes" : "no"}};
}
Fields fields(const cli::AssembleCommand& assemble) {
    return {{"files", joined(assemble.files)},
            {"include_directories", joined(assemble.include_directories)},
            {"defines", joined(assemble.defines)},
            {"machine", assemble.machine},
            {"sets", joined(assemble.sets)},
            {"address", assemble.address},
            {"out", assemble.out},
            {"json", assemble.json},
            {"listing", assemble.listing ? "yes" : "no"},
            {"summary", assemble.summary ? "yes" : "no"},
            {"allow_undefined", assemble.allow_undefined ? "yes" : "no"},
            {"quiet", assemble.quiet ? "yes" : "no"}};
}
Fields fields(const cli::ImportCommand& import) {
    return {{"model", import.model},
            {"out", import.out},
            {"sizes", joined(import.sizes)},
            {"constants", joined(import.constants)},
            {"operators", import.operators ? "yes" : "no"},
            {"quiet", import.quiet ? "yes" : "no"}};
}
Fields fields(const cli::DisassembleCommand& disassemble) {
    return {{"file", disassemble.file},
            {"machine", disassemble.machine},
            {"address", disassemble.address},
            {"hex", disassemble.hex ? "yes" : "no"}};
}
Fields fields(const cli::PatternMakeCommand& make) {
    return {{"generator", make.generator},         {"size", make.size}, {"keys", joined(make.keys)},
            {"block", std::to_string(make.block)}, {"as", make.as},     {"out", make.out}};
}
Fields fields(const cli::PatternShowCommand& show) {
    return {{"file", show.file},
            {"block", std::to_string(show.block)},
            {"marks", show.marks ? "yes" : "no"},
            {"json", show.json},
            {"quiet", show.quiet ? "yes" : "no"}};
}
Fields fields(const cli::PatternConvertCommand& convert) {
    return {{"file", convert.file},
            {"block", std::to_string(convert.block)},
            {"transpose", convert.transpose ? "yes" : "no"},
            {"marks", convert.marks ? "yes" : "no"},
            {"type", convert.type},
            {"as", convert.as},
            {"out", convert.out}};
}
Fields fields(const cli::PatternSparsifyCommand& sparsify) {
    return {{"file", sparsify.file},
            {"config", sparsify.config},
            {"out", sparsify.out},
            {"quiet", sparsify.quiet ? "yes" : "no"}};
}
Fields fields(const cli::PatternFinalizeCommand& finalize) {
    return {
        {"file", finalize.file}, {"out", finalize.out}, {"quiet", finalize.quiet ? "yes" : "no"}};
}
Fields fields(const cli::PatternEncodeCommand& encode) {
    return {{"file", encode.file},
            {"workload", encode.workload},
            {"machine", encode.machine},
            {"sets", joined(encode.sets)},
            {"tensor", encode.tensor},
            {"step", encode.step},
            {"bucket", encode.bucket ? std::to_string(*encode.bucket) : ""},
            {"marks", encode.marks ? "yes" : "no"},
            {"out", encode.out},
            {"json", encode.json},
            {"quiet", encode.quiet ? "yes" : "no"}};
}
Fields fields(const cli::PatternEvolveCommand& evolve) {
    return {{"file", evolve.file},
            {"schedule", evolve.schedule},
            {"gradients", evolve.gradients},
            {"block", std::to_string(evolve.block)},
            {"marks", evolve.marks ? "yes" : "no"},
            {"out", evolve.out},
            {"quiet", evolve.quiet ? "yes" : "no"}};
}
Fields fields(const cli::SweepStatusCommand& status) {
    return {{"store", status.store}, {"sweep", status.sweep}};
}
Fields fields(const cli::PlotCommand& plot) {
    return {{"what", plot.what}, {"chart", plot.chart}, {"output", plot.output}};
}
Fields fields(const cli::DiffCommand& diff) {
    return {{"a", diff.a},
            {"b", diff.b},
            {"json", diff.json},
            {"report", diff.report},
            {"quiet", diff.quiet ? "yes" : "no"}};
}
Fields fields(const cli::ExplainCommand& explain) {
    return {{"what", explain.what}, {"step", explain.step}};
}

/// The others have no options of their own.
template <class Other> Fields fields(const Other& /*command*/) {
    return {};
}

Fields parsed(const Words& words) {
    return std::visit([](const auto& command) { return fields(command); },
                      cli::parse_command_line(words).command);
}

struct Case {
    Words line;         ///< without the option; starts with the command
    std::string option; ///< without its dashes
    std::string value;  ///< empty: it takes none
    std::string field;
    std::string shown; ///< the field then
};

const std::vector<Case> kOwnCases{
    {{"run", "w"}, "machine", "m", "machine", "m"},
    {{"run", "w"}, "set", "a=1", "sets", "a=1"},
    {{"run", "w"}, "json", "j", "json", "j"},
    {{"run", "w"}, "csv", "c", "csv", "c"},
    {{"run", "w"}, "out", "o", "out_directory", "o"},
    {{"run", "w", "--machine", "m"}, "machine", "n", "machines", "m,n"},
    {{"run", "w"}, "memory", "f", "memory", "f"},
    {{"run", "w"}, "record", "t", "record", "t"},
    {{"run", "w", "--record", "r"}, "record-window", "5:9", "record_window", "5:9"},
    {{"run", "w"}, "edges", "f", "edges", "f"},
    {{"run", "w"}, "report", "f", "report", "f"},
    {{"run", "w"}, "trace", "t", "trace", "t"},
    {{"run", "w", "--trace", "t"}, "trace-tiles", "0-3", "trace_tiles", "0-3"},
    {{"run", "w", "--trace", "t"}, "trace-level", "tile", "trace_level", "tile"},
    {{"run", "w", "--trace", "t"}, "trace-clock", "machine", "trace_clock", "machine"},
    {{"run", "w"}, "threads", "777", "threads", "777"},
    {{"run", "w"}, "shuffle", "0", "shuffle", "0"},
    {{"run", "w"}, "max-cycles", "9", "max_cycles", "9"},
    {{"run", "w"}, "mode", "timing", "mode", "timing"},
    {{"run", "w"}, "mode", "estimate", "mode", "estimate"},
    {{"run", "w"}, "plan", "published", "sets", "workload.plan=published"},
    {{"run", "w", "--mode", "auto"}, "audit", "7", "audit", "7"},
    {{"run", "w", "--mode", "auto"}, "audit", "0", "audit", "0"},
    {{"run", "w"}, "no-check", "", "check", "no"},
    {{"run", "w"}, "quiet", "", "quiet", "yes"},
    {{"vertex", "v"}, "machine", "m", "machine", "m"},
    {{"vertex", "v"}, "set", "a=1", "sets", "a=1"},
    {{"vertex", "v"}, "include", "d", "include_directories", "d"},
    {{"vertex", "v"}, "define", "X=2", "defines", "X=2"},
    {{"vertex", "v"}, "json", "j", "json", "j"},
    {{"vertex", "v"}, "arrays", "", "arrays", "yes"},
    {{"vertex", "v"}, "out", "o", "out_directory", "o"},
    {{"vertex", "v"}, "dump", "x=x.npy", "dumps", "x=x.npy"},
    {{"vertex", "v"}, "expect", "x=y.npy", "expects", "x=y.npy"},
    {{"vertex", "v"}, "fit", "a*n", "fit", "a*n"},
    {{"vertex", "v", "--fit", "a"}, "fit-of", "worker_cycles", "fit_of", "worker_cycles"},
    {{"vertex", "v"}, "lockstep", "", "lockstep", "yes"},
    {{"vertex", "v"}, "lockstep-limit", "777", "lockstep_limit", "777"},
    {{"vertex", "v"}, "trace", "t", "trace", "t"},
    {{"vertex", "v"}, "konata", "k", "konata", "k"},
    {{"vertex", "v"}, "quiet", "", "quiet", "yes"},
    {{"calibrate"}, "reference", "r", "reference", "r"},
    {{"calibrate"}, "unexplained", "", "unexplained", "yes"},
    {{"calibrate"}, "group", "g", "group", "g"},
    {{"calibrate"}, "json", "j", "json", "j"},
    {{"calibrate"}, "csv", "c", "csv", "c"},
    {{"calibrate"}, "store", "s", "store", "s"},
    {{"calibrate"}, "seeds", "7", "seeds", "7"},
    {{"calibrate"}, "seeds", "1", "seeds", "1"},
    {{"calibrate"}, "seeds", "100", "seeds", "100"},
    {{"calibrate"}, "threads", "777", "threads", "777"},
    {{"calibrate"}, "check", "", "check", "yes"},
    {{"calibrate"}, "unexplained", "", "unexplained", "yes"},
    {{"calibrate"}, "quiet", "", "quiet", "yes"},
    {{"plot", "r", "--output", "f.svg"}, "chart", "steps", "chart", "steps"},
    {{"plot", "r", "--chart", "steps"}, "output", "f.svg", "output", "f.svg"},
    {{"diff", "a", "b"}, "json", "j", "json", "j"},
    {{"diff", "a", "b"}, "report", "r", "report", "r"},
    {{"diff", "a", "b"}, "quiet", "", "quiet", "yes"},
    {{"report", "r"}, "output", "f", "output", "f"},
    {{"report", "r"}, "quiet", "", "quiet", "yes"},
    {{"sweep", "run", "s"}, "dry-run", "", "dry_run", "yes"},
    {{"sweep", "run", "s"}, "quiet", "", "quiet", "yes"},
    {{"sweep", "run", "s"}, "screen", "estimate", "screen", "yes"},
    {{"sweep", "run", "s", "--screen=estimate"}, "keep", "25%", "keep_percent", "25.000000"},
    {{"sweep", "worker", "s"}, "shard", "1/2", "shard", "1 of 2"},
    {{"sweep", "worker", "s"}, "stdin", "", "from_stdin", "yes"},
    {{"sweep", "worker", "s", "--stdin"}, "quiet", "", "quiet", "yes"},
    {{"sweep", "submit", "s"}, "engine", "slurm", "engine", "slurm"},
    {{"sweep", "submit", "s"}, "shards", "7", "shard", "0 of 7"},
    {{"sweep", "submit", "s"}, "print", "", "print", "yes"},
    {{"sweep", "show", "s"}, "columns", "a,b", "columns", "a,b"},
    {{"sweep", "show", "s"}, "filter", "a > 1", "filters", "a > 1"},
    {{"sweep", "show", "s"}, "sort", "-a", "sort", "-a"},
    {{"sweep", "show", "s"}, "group", "a", "group", "a"},
    {{"sweep", "show", "s"}, "limit", "9", "limit", "9"},
    {{"sweep", "show", "s"}, "pareto", "", "look", "pareto"},
    {{"sweep", "show", "s"}, "best", "", "look", "best"},
    {{"sweep", "show", "s"}, "sensitivity", "", "look", "sensitivity"},
    {{"sweep", "show", "s", "--best"}, "base", "b", "base", "b"},
    {{"sweep", "status", "s"}, "sweep", "w", "sweep", "w"},
    {{"sweep", "show", "s"}, "objective", "a:max", "objectives", "a:max"},
    {{"sweep", "show", "s"}, "sweep", "w", "sweep", "w"},
    {{"sweep", "show", "s"}, "format", "csv", "format", "csv"},
    {{"sweep", "collect", "s", "--csv", "c"}, "into", "d", "into", "d"},
    {{"sweep", "collect", "s", "--csv", "c"}, "sqlite", "f", "sqlite", "f"},
    {{"sweep", "collect", "s", "--into", "c"}, "csv", "f", "csv", "f"},
    {{"sweep", "collect", "s", "--into", "c"}, "quiet", "", "quiet", "yes"},
    {{"sweep", "diff", "a", "b"}, "path", "seconds", "path", "seconds"},
    {{"sweep", "diff", "a", "b"}, "format", "json", "format", "json"},
    {{"pattern", "make", "uniform", "4x4"}, "out", "o", "out", "o"},
    {{"pattern", "make", "uniform", "4x4"}, "block", "8", "block", "8"},
    {{"pattern", "make", "uniform", "4x4"}, "as", "coo", "as", "coo"},
    {{"pattern", "show", "f"}, "block", "8", "block", "8"},
    {{"pattern", "show", "f"}, "marks", "", "marks", "yes"},
    {{"pattern", "show", "f"}, "json", "j", "json", "j"},
    {{"pattern", "show", "f"}, "quiet", "", "quiet", "yes"},
    {{"pattern", "convert", "f"}, "out", "o", "out", "o"},
    {{"pattern", "convert", "f"}, "block", "8", "block", "8"},
    {{"pattern", "convert", "f"}, "transpose", "", "transpose", "yes"},
    {{"pattern", "convert", "f"}, "type", "bf16", "type", "bf16"},
    {{"pattern", "convert", "f"}, "as", "csc", "as", "csc"},
    {{"pattern", "convert", "f"}, "marks", "", "marks", "yes"},
    {{"pattern", "sparsify", "f"}, "config", "c", "config", "c"},
    {{"pattern", "sparsify", "f"}, "out", "o", "out", "o"},
    {{"pattern", "sparsify", "f"}, "quiet", "", "quiet", "yes"},
    {{"pattern", "finalize", "f"}, "out", "o", "out", "o"},
    {{"pattern", "finalize", "f"}, "quiet", "", "quiet", "yes"},
    {{"pattern", "evolve", "f"}, "schedule", "s", "schedule", "s"},
    {{"pattern", "evolve", "f"}, "gradients", "g", "gradients", "g"},
    {{"pattern", "evolve", "f"}, "block", "8", "block", "8"},
    {{"pattern", "evolve", "f"}, "marks", "", "marks", "yes"},
    {{"pattern", "evolve", "f"}, "out", "o", "out", "o"},
    {{"pattern", "evolve", "f"}, "quiet", "", "quiet", "yes"},
    {{"pattern", "encode", "f", "w"}, "machine", "m", "machine", "m"},
    {{"pattern", "encode", "f", "w"}, "set", "a=1", "sets", "a=1"},
    {{"pattern", "encode", "f", "w"}, "plan", "published", "sets", "workload.plan=published"},
    {{"pattern", "encode", "f", "w"}, "tensor", "a", "tensor", "a"},
    {{"pattern", "encode", "f", "w"}, "step", "s", "step", "s"},
    {{"pattern", "encode", "f", "w"}, "bucket", "7", "bucket", "7"},
    {{"pattern", "encode", "f", "w"}, "marks", "", "marks", "yes"},
    {{"pattern", "encode", "f", "w"}, "out", "o", "out", "o"},
    {{"pattern", "encode", "f", "w"}, "json", "j", "json", "j"},
    {{"pattern", "encode", "f", "w"}, "quiet", "", "quiet", "yes"},
    {{"list", "machines"}, "names", "", "names", "yes"},
    {{"list", "machines"}, "paths", "", "paths", "yes"},
    {{"describe", "machine", "n"}, "set", "a=1", "sets", "a=1"},
    {{"describe", "machine", "n"}, "json", "", "json", "yes"},
    {{"describe", "workload", "n"}, "expanded", "", "expanded", "yes"},
    {{"asm", "f"}, "include", "d", "include_directories", "d"},
    {{"asm", "f"}, "define", "X=2", "defines", "X=2"},
    {{"asm", "f"}, "machine", "m", "machine", "m"},
    {{"asm", "f"}, "set", "a=1", "sets", "a=1"},
    {{"asm", "f"}, "address", "0x50000", "address", "0x50000"},
    {{"asm", "f"}, "out", "o", "out", "o"},
    {{"asm", "f"}, "json", "j", "json", "j"},
    {{"asm", "f"}, "listing", "", "listing", "yes"},
    {{"asm", "f"}, "summary", "", "summary", "yes"},
    {{"asm", "f"}, "allow-undefined", "", "allow_undefined", "yes"},
    {{"asm", "f"}, "quiet", "", "quiet", "yes"},
    {{"import", "--operators"}, "out", "o.json", "out", "o.json"},
    {{"import", "m", "--out", "o.json"}, "size", "n=2", "sizes", "n=2"},
    {{"import", "m", "--out", "o.json"}, "constant", "k=f", "constants", "k=f"},
    {{"import", "m", "--out", "o.json"}, "operators", "", "operators", "yes"},
    {{"import", "m", "--out", "o.json"}, "quiet", "", "quiet", "yes"},
    {{"disasm", "f"}, "machine", "m", "machine", "m"},
    {{"disasm", "f"}, "address", "0x50000", "address", "0x50000"},
    {{"disasm", "f"}, "hex", "", "hex", "yes"},
};

/// What `tessera sweep` run, worker and submit have in common.
std::vector<Case> cases_of_points() {
    std::vector<Case> cases;
    for (const Words& line : {Words{"sweep", "run", "s"}, Words{"sweep", "worker", "s", "--stdin"},
                              Words{"sweep", "submit", "s"}}) {
        cases.insert(cases.end(), {
                                      {line, "store", "d", "store", "d"},
                                      {line, "jobs", "777", "jobs", "777"},
                                      {line, "time-limit", "9", "time_limit_s", "9"},
                                      {line, "memory-limit", "9", "memory_limit_mib", "9"},
                                      {line, "machine", "m", "machines", "m"},
                                      {line, "set", "a=1,2", "sets", "a=1,2"},
                                      {line, "mode", "functional", "mode", "functional"},
                                      {line, "retry", "crash", "retry", "crash"},
                                      {line, "keep", "full", "keep_lists", "yes"},
                                  });
    }
    return cases;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases = kOwnCases;
    const std::vector<Case> of_points = cases_of_points();
    cases.insert(cases.end(), of_points.begin(), of_points.end());
    return cases;
}

const std::vector<Case> kCases = all_cases();

std::string name_of(const Words& line) {
    return line.front() + (cli::is_group(line.front()) ? " " + line[1] : "");
}

} // namespace

TEST_CASE("an option sets its field and leaves the others alone") {
    for (const Case& each : kCases) {
        CAPTURE(each.line, each.option, each.value);
        const Fields before = parsed(each.line);
        REQUIRE(before.count(each.field) == 1);
        Fields expected = before;
        expected[each.field] = each.shown;
        CHECK(expected != before);
        Words apart = each.line;
        apart.push_back("--" + each.option);
        Words together = each.line;
        together.push_back("--" + each.option);
        if (!each.value.empty()) {
            apart.push_back(each.value);
            together.back() += "=" + each.value;
        }
        CHECK(parsed(apart) == expected);
        CHECK(parsed(together) == expected);
    }
}

TEST_CASE("every option has a case here, and its short form is the same") {
    const std::set<std::string> common{"help", "color"};
    for (const auto& command : cli::commands()) {
        for (const auto& option : cli::all_options(command)) {
            CAPTURE(command.name, option.name);
            const bool of_points =
                command.name == "run" && (option.name == "point" || option.name == "store");
            if (common.count(option.name) == 1 || of_points) {
                continue;
            }
            bool found = false;
            for (const Case& each : kCases) {
                if (name_of(each.line) != command.name || each.option != option.name) {
                    continue;
                }
                found = true;
                if (option.letter != '\0') {
                    Words line = each.line;
                    line.push_back(std::string("-") + option.letter);
                    if (!each.value.empty()) {
                        line.push_back(each.value);
                    }
                    CHECK(parsed(line).at(each.field) == each.shown);
                }
            }
            CHECK(found);
        }
    }
}

TEST_CASE("a run is of workloads or of a point, and only a point is of a store") {
    CHECK(parsed({"run", "--point", "a"}).at("point") == "a");
    CHECK(parsed({"run", "--point", "a", "--store", "s"}).at("store") == "s");
    const std::vector<Words> wrong{{"run"},
                                   {"run", "w", "--point", "a"},
                                   {"run", "w", "--store", "s"},
                                   {"run", "--store", "s"},
                                   {"run", "--point", ""},
                                   {"run", "--point", "a", "--machine", "m"},
                                   {"run", "--point", "a", "--machine", "m", "--machine", "n"}};
    for (const Words& line : wrong) {
        CAPTURE(line);
        CHECK_THROWS_AS(parsed(line), cli::UsageError);
    }
}

TEST_CASE("shares and numbers of processes are taken from the least to the most, and no further") {
    struct Given {
        Words line;
        std::string field; ///< empty: it is refused
        std::string shown = {};
    };
    const auto keep = [](const char* text) {
        return Words{"sweep", "run", "s", "--screen=estimate", "--keep", text};
    };
    const auto shard = [](const char* text) {
        return Words{"sweep", "worker", "s", "--shard", text};
    };
    const auto shards = [](const char* text) {
        return Words{"sweep", "submit", "s", "--shards", text};
    };
    const std::vector<Given> all{{keep("0.001%"), "keep_percent", "0.001000"},
                                 {keep("100%"), "keep_percent", "100.000000"},
                                 {keep("0%"), ""},
                                 {keep("-1%"), ""},
                                 {keep("100.1%"), ""},
                                 {keep("x%"), ""},
                                 {keep("1x%"), ""},
                                 {shard("0/1"), "shard", "0 of 1"},
                                 {shard("6/7"), "shard", "6 of 7"},
                                 {shard("7/7"), ""},
                                 {shard("-1/7"), ""},
                                 {shard("0/0"), ""},
                                 {shard("x/7"), ""},
                                 {shard("1x/7"), ""},
                                 {shard("/7"), ""},
                                 {shard("1/x"), ""},
                                 {shard("1/7x"), ""},
                                 {shard("1/"), ""},
                                 {shard("1"), ""},
                                 {shards("1"), "shard", "0 of 1"},
                                 {shards("100000"), "shard", "0 of 100000"},
                                 {shards("0"), ""},
                                 {shards("100001"), ""}};
    for (const Given& given : all) {
        CAPTURE(given.line);
        if (given.field.empty()) {
            CHECK_THROWS_AS(parsed(given.line), cli::UsageError);
        } else {
            CHECK(parsed(given.line).at(given.field) == given.shown);
        }
    }
}

TEST_CASE("numbers are taken from the least to the most that their options say") {
    struct Range {
        Words line;
        std::string option;
        int least;
        int most; ///< 0: as many as there are
    };
    const std::vector<Range> all{{{"run", "w"}, "threads", 1, 1024},
                                 {{"run", "w"}, "shuffle", 0, 0},
                                 {{"run", "w"}, "max-cycles", 1, 0},
                                 {{"run", "w", "--mode", "timing"}, "audit", 0, 0},
                                 {{"vertex", "v"}, "lockstep-limit", 1, 0},
                                 {{"calibrate"}, "seeds", 1, 100},
                                 {{"sweep", "run", "s"}, "jobs", 1, 1024},
                                 {{"sweep", "run", "s"}, "time-limit", 0, 0},
                                 {{"sweep", "run", "s"}, "memory-limit", 0, 0},
                                 {{"pattern", "make", "uniform", "4x4"}, "block", 1, 1024}};
    for (const auto& [line, option, least, most] : all) {
        const auto is_taken = [&, &words = line, &name = option](int number) {
            Words given = words;
            given.push_back("--" + name);
            given.push_back(std::to_string(number));
            try {
                static_cast<void>(parsed(given));
                return true;
            } catch (const cli::UsageError&) {
                return false;
            }
        };
        CAPTURE(line, option);
        CHECK(is_taken(least));
        CHECK_FALSE(is_taken(least - 1));
        if (most > 0) {
            CHECK(is_taken(most));
            CHECK_FALSE(is_taken(most + 1));
        }
    }
}

TEST_CASE("a window of a recording is from a cycle to a later one") {
    const auto window = [](const std::string& text) {
        return parsed({"run", "w", "--record", "r", "--record-window", text}).at("record_window");
    };
    for (const std::string text : {"0:1", "0:7", "5:6", "2000:3500", "9:9223372036854775807"}) {
        CHECK(window(text) == text);
    }
    for (const std::string text :
         {"", ":", "5", "5:", ":5", "5:5", "9:5", "0:0", "-1:5", "-5:-1", "x:5", "5:x", "5:9x",
          "5x:9", "5-9", "5:9:12", " 5:9", "9:9223372036854775808"}) {
        CAPTURE(text);
        CHECK_THROWS_AS(window(text), cli::UsageError);
    }
}

TEST_CASE("so many options --set are taken, and no more") {
    for (const int count : {1, 1000, 1001}) {
        Words line{"run", "w"};
        for (int i = 0; i < count; ++i) {
            line.push_back("--set");
            line.push_back("tile.workers=" + std::to_string(i));
        }
        if (count <= 1000) {
            CHECK(parsed(line).at("machine") == parsed({"run", "w"}).at("machine"));
        } else {
            CHECK_THROWS_AS(parsed(line), cli::UsageError);
        }
    }
}

namespace {

/// What is said of a command line; "" if it is taken.
std::string told(const Words& line) {
    try {
        static_cast<void>(parsed(line));
    } catch (const cli::UsageError& error) {
        return error.what();
    }
    return "";
}

Words with(Words line, const Words& more) {
    line.insert(line.end(), more.begin(), more.end());
    return line;
}

} // namespace

TEST_CASE("options of a run that need another one, or go with no other, say so") {
    const Words run{"run", "w"};
    CHECK(told(run).empty());
    CHECK(told({"run"}) ==
          "run: got 0 names, expected a workload: tessera run WORKLOAD... [options]");
    CHECK(told({"run", "w", "--store", "s"}) == "run: --store is of --point");
    CHECK(told({"run", "w", "--point", "p"}) == "run: --point says which workload and machine");
    for (const std::string option : {"--record", "--out", "--report"}) {
        CHECK(told(with(run, {"--record-window", "0:5", option, "f"})).empty());
    }
    for (const std::string option : {"--json", "--trace"}) {
        CHECK(told(with(run, {"--record-window", "0:5", option, "f"})) ==
              "run: --record-window is of a recording: --record, --out or --report");
    }
    CHECK(told(with(run, {"--record", "r", "--record-window", "5"})) ==
          "run: --record-window: got '5', expected FROM:TO in cycles, as in 2000:3500");
    for (const std::string mode : {"timing", "auto"}) {
        CHECK(told(with(run, {"--audit", "1", "--mode", mode})).empty());
    }
    for (const std::string mode : {"functional", "estimate"}) {
        CHECK(told(with(run, {"--audit", "1", "--mode", mode})) ==
              "run: --audit says how many tiles timing mode runs in full, and there is no --mode "
              "timing or auto");
    }
    for (const Words& shown : {Words{"--trace-tiles", "1"}, Words{"--trace-level", "tile"},
                               Words{"--trace-clock", "cycles"}}) {
        CAPTURE(shown);
        const auto alone = told(with(run, shown));
        CHECK(alone ==
              "run: --trace-tiles, --trace-level and --trace-clock say what a trace shows, "
              "and there is no --trace or --out");
        CHECK(told(with(with(run, shown), {"--trace", "t"})).empty());
        CHECK(told(with(with(run, shown), {"--out", "o"})).empty());
    }
    CHECK(told(with(run, {"--max-cycles", "0"})) == "run: --max-cycles: got 0, expected 1 or more");
    CHECK(told(with(run, {"--out", "-"})) != "");
}

TEST_CASE("an estimate has none of what a run makes") {
    const Words estimate{"run", "w", "--mode", "estimate"};
    CHECK(told(with(estimate, {"--json", "f"})).empty());
    CHECK(told(with(estimate, {"--csv", "f"})).empty());
    for (const std::string option : {"out", "memory", "edges", "record", "trace"}) {
        CHECK(told(with(estimate, {"--" + option, "f"})) ==
              "run: --" + option +
                  ": --mode estimate makes no program and runs nothing; its result is that of "
                  "--json");
        CHECK(told({"run", "w", "--mode", "timing", "--" + option, "f"}).empty());
    }
    for (const Words& more :
         {Words{"--shuffle", "1"}, Words{"--max-cycles", "9"}, Words{"--no-check"}}) {
        CHECK(told(with(estimate, more)) == "run: " + more.front() +
                                                ": --mode estimate makes no program and runs "
                                                "nothing; its result is that of --json");
    }
}

TEST_CASE("outputs of one run are not those of several") {
    for (const auto& [option, one] : {std::pair<std::string, std::string>{"trace", "trace"},
                                      {"memory", "report"},
                                      {"edges", "table"},
                                      {"record", "recording"}}) {
        const std::string end = ", expected one a " + one;
        CHECK(told({"run", "w", "v", "--" + option, "f"}) ==
              "run: --" + option + ": got several workloads" + end);
        CHECK(told({"run", "w", "--machine", "m", "--machine", "n", "--" + option, "f"}) ==
              "run: --" + option + ": got several machines" + end);
        CHECK(told({"run", "w", "--machine", "m", "--" + option, "f"}).empty());
    }
    CHECK(told({"run", "w", "--machine", "m", "--machine", "n", "--machine", "m"}) ==
          "run: --machine: got 'm' twice, expected different machines");
    CHECK(told({"run", "w", "v", "--json", "f"}).empty());
}

TEST_CASE("options of other commands that need another one, or go with no other, say so") {
    struct Case {
        Words line;
        std::string said; ///< empty: it is taken
    };
    for (const auto& [line, said] : std::vector<Case>{
             {{"vertex", "v", "--fit", "n", "--fit-of", "tile_cycles"}, ""},
             {{"vertex", "v", "--fit-of", "tile_cycles"},
              "vertex: --fit-of says what is fitted, and there is no --fit"},
             {{"vertex", "v", "-D", "X"}, ""},
             {{"vertex", "v", "-D", "=1"}, "vertex: -D: got '=1', expected NAME or NAME=VALUE"},
             {{"vertex", "v", "--lockstep-limit", "0"},
              "vertex: --lockstep-limit: got 0, expected 1 or more"},
             {{"vertex", "v", "--dump", "=f"}, "vertex: --dump: got '=f', expected ARRAY=FILE.npy"},
             {{"calibrate", "--seeds", "101"},
              "calibrate: --seeds: got 101, expected 1..100 patterns"},
             {{"list"}, ""},
             {{"list", "machines", "--names"}, ""},
             {{"list", "machines", "--paths"}, ""},
             {{"list", "machines", "--names", "--paths"},
              "list: got --names and --paths, expected one of them"},
             {{"list", "--names"},
              "list: --names needs the kind of thing, as in `tessera list machines`"},
             {{"import", "m", "-o", "f"}, ""},
             {{"import", "--operators"}, ""},
             {{"import", "m"},
              "import: expected a model and a workload's file: tessera import M.onnx -o M.json"},
             {{"import", "-o", "f"},
              "import: expected a model and a workload's file: tessera import M.onnx -o M.json"},
             {{"help", "sweep", "run"}, ""},
             {{"help", "run", "w"}, "help: got 2 names, expected fewer: tessera help [COMMAND]"},
             {{"sweep", "run", "s", "--screen", "estimate", "--keep", "10%", "--keep", "full"}, ""},
             {{"sweep", "run", "s", "--keep", "full"}, ""},
             {{"sweep", "run", "s", "--keep", "10%"},
              "sweep run: --keep of a share goes with --screen estimate"},
             {{"sweep", "run", "s", "--screen", "estimate", "--keep", "all"},
              "sweep run: --keep: got 'all', expected full or a share as in 10%"},
             {{"sweep", "worker", "s", "--stdin"}, ""},
             {{"sweep", "worker", "s", "--stdin", "--shard", "0/2"},
              "sweep worker: --shard and --stdin do not go together"},
             {{"sweep", "worker", "s", "--shard", "2/2"},
              "sweep worker: --shard: got '2/2', expected I/N, I from 0 to N - 1"},
             {{"sweep", "submit", "s", "--shards", "0"},
              "sweep submit: --shards: got 0, expected 1..100000"},
             {{"sweep", "show", "s", "--best", "--base", "m"}, ""},
             {{"sweep", "show", "s", "--base", "m"},
              "sweep show: --base says what --best is compared with"},
             {{"sweep", "show", "s", "--pareto", "--best"},
              "sweep show: --pareto and --best do not go together"},
             {{"sweep", "show", "s", "--sensitivity", "--best"},
              "sweep show: --sensitivity and --best do not go together"},
             {{"sweep", "collect", "s", "--csv", "f"}, ""},
             {{"sweep", "collect", "s", "--sqlite", "f"}, ""},
             {{"sweep", "collect", "s", "--into", "f"}, ""},
             {{"sweep", "collect", "s"}, "sweep collect: expected --into, --sqlite or --csv"},
             {{"pattern", "make", "uniform", "4x4", "--block", "0"},
              "pattern make: --block: got 0, expected 1..1024 elements"}}) {
        CAPTURE(line);
        CHECK(told(line) == said);
    }
}

TEST_CASE("a name that is empty is told by its option") {
    struct Case {
        Words line;
        Words options;
    };
    for (const auto& [line, options] : std::vector<Case>{
             {{"run", "w"},
              {"json", "csv", "out", "memory", "edges", "record", "report", "trace", "machine"}},
             {{"vertex", "v"}, {"machine", "json", "out", "trace", "konata", "fit"}},
             {{"calibrate"}, {"reference", "group", "json", "csv", "store"}},
             {{"report", "r"}, {"output"}},
             {{"diff", "a", "b"}, {"json", "report"}},
             {{"plot", "r"}, {"chart", "output"}},
             {{"sweep", "run", "s"}, {"store"}},
             {{"sweep", "show", "s"}, {"sweep", "format", "base"}},
             {{"sweep", "status", "s"}, {"sweep"}},
             {{"sweep", "collect", "s"}, {"into", "sqlite", "csv"}},
             {{"import", "m"}, {"out"}},
             {{"pattern", "make", "uniform", "4x4"}, {"out"}}}) {
        for (const std::string& option : options) {
            CAPTURE(line, option);
            const std::string said = told(with(line, {"--" + option, ""}));
            if (option == "format" || option == "chart") { // one of some words
                CHECK_FALSE(said.empty());
            } else {
                CHECK(said.ends_with(": --" + option +
                                     ": got an empty text, expected a name or a file"));
            }
        }
    }
}
