// SPDX-License-Identifier: MIT
#include "sim/cli/parts.h"
#include "sim/cli/table.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <utility>

namespace tessera::cli {
namespace {

/// `array=FILE.npy`; for --expect the file's stem may name the array.
void check_array_files(const std::string& option, const std::vector<std::string>& given,
                       bool name_needed) {
    for (const auto& text : given) {
        const auto equals = text.find('=');
        const bool named = equals != std::string::npos && equals + 1 < text.size();
        if (text.empty() || equals == 0 || (name_needed && !named)) {
            throw UsageError(
                fmt::format("vertex: --{}: got '{}', expected ARRAY=FILE.npy", option, text));
        }
    }
}

/// The machines that each workload runs on.
void take_machines(const Given& given, RunCommand& run) {
    std::vector<std::string> machines = given.texts("machine");
    std::set<std::string> different;
    for (const std::string& machine : machines) {
        refuse_empty("run", "machine", machine);
        if (!different.insert(machine).second) {
            throw UsageError(fmt::format(
                "run: --machine: got '{}' twice, expected different machines", machine));
        }
    }
    if (!machines.empty()) {
        run.machine = machines.front();
    }
    if (machines.size() > 1) {
        run.machines = std::move(machines);
    }
}

/// Options that are of one run.
void refuse_with_several(const Given& given, const RunCommand& run) {
    const char* const several = run.workloads.size() > 1  ? "workloads"
                                : run.machines.size() > 1 ? "machines"
                                                          : nullptr;
    for (const auto& [option, one] : {std::pair{"trace", "trace"},
                                      {"memory", "report"},
                                      {"edges", "table"},
                                      {"record", "recording"}}) {
        if (several != nullptr && given.has(option)) {
            throw UsageError(
                fmt::format("run: --{}: got several {}, expected one a {}", option, several, one));
        }
    }
}

/// Options of a run's program, data, trace and order, which estimates have none of.
void refuse_without_a_run(const Given& given) {
    for (const char* option :
         {"out", "memory", "edges", "record", "record-window", "trace", "trace-tiles",
          "trace-level", "trace-clock", "shuffle", "max-cycles", "no-check"}) {
        if (given.has(option)) {
            throw UsageError(fmt::format("run: --{}: --mode estimate makes no program and runs "
                                         "nothing; its result is that of --json",
                                         option));
        }
    }
}

/// "2000:3500" @throws UsageError
std::pair<std::int64_t, std::int64_t> window_of(const std::string& text) {
    std::int64_t from = 0;
    std::int64_t to = 0;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, from);
    const bool goes_on = first.ec == std::errc() && first.ptr != end && *first.ptr == ':';
    const auto second = goes_on ? std::from_chars(first.ptr + 1, end, to) : first;
    if (!goes_on || second.ec != std::errc() || second.ptr != end || from < 0 || from >= to) {
        throw UsageError(fmt::format("run: --record-window: got '{}', expected FROM:TO in cycles, "
                                     "as in 2000:3500",
                                     text));
    }
    return {from, to};
}

} // namespace

Command make_run(const Given& given) {
    RunCommand run;
    refuse_empty(
        "run", given,
        {"json", "csv", "out", "memory", "edges", "record", "report", "trace", "point", "store"});
    run.workloads = given.operands();
    take_machines(given, run);
    run.point = given.text("point");
    run.store = given.text("store");
    if (run.point.empty() && !run.store.empty()) {
        throw UsageError("run: --store is of --point");
    }
    if (!run.point.empty() && (!run.workloads.empty() || given.has("machine"))) {
        throw UsageError("run: --point says which workload and machine");
    }
    if (run.point.empty() && run.workloads.empty()) {
        throw UsageError(
            "run: got 0 names, expected a workload: tessera run WORKLOAD... [options]");
    }
    run.sets = given.texts("set");
    if (given.has("plan")) {
        run.sets.push_back("workload.plan=" + given.text("plan"));
    }
    run.json = given.text("json");
    run.csv = given.text("csv");
    run.out_directory = given.text("out");
    refuse_dash_folder("run", run.out_directory, "out");
    run.memory = given.text("memory");
    run.record = given.text("record");
    run.report = given.text("report");
    if (given.has("record-window")) {
        run.record_window = window_of(given.text("record-window"));
        if (run.record.empty() && run.report.empty() && run.out_directory.empty()) {
            throw UsageError("run: --record-window is of a recording: --record, --out or --report");
        }
    }
    run.edges = given.text("edges");
    run.trace = given.text("trace");
    run.trace_tiles = given.text("trace-tiles");
    run.trace_level = given.text("trace-level");
    run.trace_clock = given.text("trace-clock");
    run.check = !given.has("no-check");
    run.quiet = given.has("quiet");
    run.threads = threads_of("run", given);
    if (given.has("shuffle")) {
        run.shuffle = given.number("shuffle");
        if (*run.shuffle < 0) {
            throw UsageError(
                fmt::format("run: --shuffle: got {}, expected 0 or more", *run.shuffle));
        }
    }
    if (given.has("max-cycles")) {
        run.max_cycles = given.number("max-cycles");
        if (*run.max_cycles < 1) {
            throw UsageError(
                fmt::format("run: --max-cycles: got {}, expected 1 or more", *run.max_cycles));
        }
    }
    run.mode = given.text("mode");
    if (given.has("audit")) {
        run.audit = given.number("audit");
        if (*run.audit < 0) {
            throw UsageError(fmt::format("run: --audit: got {}, expected 0 or more", *run.audit));
        }
        if (run.mode != "timing" && run.mode != "auto") {
            throw UsageError("run: --audit says how many tiles timing mode runs in full, and there "
                             "is no --mode timing or auto");
        }
    }
    if (run.mode == "estimate") {
        refuse_without_a_run(given);
    }
    if (run.trace.empty() && run.out_directory.empty() &&
        !(run.trace_tiles.empty() && run.trace_level.empty() && run.trace_clock.empty())) {
        throw UsageError("run: --trace-tiles, --trace-level and --trace-clock say what a trace "
                         "shows, and there is no --trace or --out");
    }
    refuse_with_several(given, run);
    return run;
}

Command make_vertex(const Given& given) {
    VertexCommand vertex;
    refuse_empty("vertex", given, {"machine", "json", "out", "trace", "konata", "fit"});
    vertex.vertex = given.operands().front();
    vertex.machine = given.text("machine");
    vertex.sets = given.texts("set");
    vertex.include_directories = given.texts("include");
    vertex.defines = given.texts("define");
    vertex.out_directory = given.text("out");
    refuse_dash_folder("vertex", vertex.out_directory, "out");
    vertex.json = given.text("json");
    vertex.expects = given.texts("expect");
    vertex.dumps = given.texts("dump");
    vertex.fit = given.text("fit");
    vertex.fit_of = given.text("fit-of");
    vertex.trace = given.text("trace");
    vertex.konata = given.text("konata");
    vertex.arrays = given.has("arrays");
    vertex.lockstep = given.has("lockstep");
    if (given.has("lockstep-limit")) {
        vertex.lockstep_limit = given.number("lockstep-limit");
        if (*vertex.lockstep_limit < 1) {
            throw UsageError(fmt::format("vertex: --lockstep-limit: got {}, expected 1 or more",
                                         *vertex.lockstep_limit));
        }
    }
    vertex.quiet = given.has("quiet");
    check_array_files("expect", vertex.expects, false);
    check_array_files("dump", vertex.dumps, true);
    if (vertex.fit.empty() && given.has("fit-of")) {
        throw UsageError("vertex: --fit-of says what is fitted, and there is no --fit");
    }
    for (const auto& define : vertex.defines) {
        if (define.empty() || define.front() == '=') {
            throw UsageError(
                fmt::format("vertex: -D: got '{}', expected NAME or NAME=VALUE", define));
        }
    }
    return vertex;
}

int seeds_of(const Given& given) {
    constexpr int kMost = 100;
    const int seeds = given.number("seeds");
    if (seeds < 1 || seeds > kMost) {
        throw UsageError(
            fmt::format("calibrate: --seeds: got {}, expected 1..{} patterns", seeds, kMost));
    }
    return seeds;
}

Command make_calibrate(const Given& given) {
    refuse_empty("calibrate", given, {"reference", "group", "json", "csv", "store"});
    CalibrateCommand command;
    command.reference = given.text("reference");
    command.group = given.text("group");
    command.json = given.text("json");
    command.csv = given.text("csv");
    command.store = given.text("store");
    command.seeds = seeds_of(given);
    command.threads = threads_of("calibrate", given);
    command.check = given.has("check");
    command.unexplained = given.has("unexplained");
    command.quiet = given.has("quiet");
    return command;
}

Command make_report(const Given& given) {
    refuse_empty("report", given, {"output"});
    return ReportCommand{given.operands(), given.text("output"), given.has("quiet")};
}

Command make_list(const Given& given) {
    ListCommand command;
    command.what = operand_or_nothing(given, 0);
    command.names = given.has("names");
    command.paths = given.has("paths");
    if (command.names && command.paths) {
        throw UsageError("list: got --names and --paths, expected one of them");
    }
    if (command.names && command.what.empty()) {
        throw UsageError("list: --names needs the kind of thing, as in `tessera list machines`");
    }
    return command;
}

Command make_describe(const Given& given) {
    return DescribeCommand{given.operands()[0], operand_or_nothing(given, 1), given.texts("set"),
                           given.has("json"), given.has("expanded")};
}

Command make_diff(const Given& given) {
    refuse_empty("diff", given, {"json", "report"});
    return DiffCommand{given.operands().at(0), given.operands().at(1), given.text("json"),
                       given.text("report"), given.has("quiet")};
}
Command make_explain(const Given& given) {
    return ExplainCommand{given.operands().at(0), operand_or_nothing(given, 1)};
}
Command make_plot(const Given& given) {
    refuse_empty("plot", given, {"chart", "output"});
    return PlotCommand{given.operands().at(0), given.text("chart"), given.text("output")};
}
Command make_check(const Given& given) {
    return CheckCommand{given.operands()};
}

Command make_schema(const Given& given) {
    return SchemaCommand{given.operands()[0]};
}

Command make_import(const Given& given) {
    ImportCommand command;
    command.model = operand_or_nothing(given, 0);
    command.out = given.text("out");
    command.sizes = given.texts("size");
    command.constants = given.texts("constant");
    command.operators = given.has("operators");
    command.quiet = given.has("quiet");
    refuse_empty("import", given, {"out"});
    if (!command.operators && (command.model.empty() || command.out.empty())) {
        throw UsageError("import: expected a model and a workload's file: tessera import M.onnx -o "
                         "M.json");
    }
    return command;
}

Command make_assemble(const Given& given) {
    AssembleCommand command;
    command.files = given.operands();
    command.include_directories = given.texts("include");
    command.defines = given.texts("define");
    command.machine = given.text("machine");
    command.sets = given.texts("set");
    command.address = given.text("address");
    command.out = given.text("out");
    command.json = given.text("json");
    command.listing = given.has("listing");
    command.summary = given.has("summary");
    command.allow_undefined = given.has("allow-undefined");
    command.quiet = given.has("quiet");
    return command;
}

Command make_disassemble(const Given& given) {
    DisassembleCommand command;
    command.file = given.operands()[0];
    command.machine = given.text("machine");
    command.address = given.text("address");
    command.hex = given.has("hex");
    return command;
}

Command make_completion(const Given& given) {
    return CompletionCommand{given.operands()[0]};
}

Command make_manual(const Given& /*given*/) {
    return ManualCommand{};
}

Command make_help(const Given& given) {
    const std::string second = operand_or_nothing(given, 1);
    if (!second.empty() && !is_group(operand_or_nothing(given, 0))) {
        throw UsageError("help: got 2 names, expected fewer: tessera help [COMMAND]");
    }
    return HelpCommand{operand_or_nothing(given, 0) + (second.empty() ? "" : " " + second)};
}

} // namespace tessera::cli
