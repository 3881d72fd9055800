// SPDX-License-Identifier: MIT
#include "sim/cli/table.h"

#include "base/config/suggest.h"
#include "base/text.h"
#include "sim/cli/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::cli {
namespace {

constexpr std::size_t kMostFiles = 100'000;
constexpr std::size_t kMostWorkloads = 1000;

CommandSpec run_command() {
    return {.name = "run",
            .usage = "WORKLOAD|MATRIX... [options]",
            .sentence = "runs each workload on the machine and says where the cycles went",
            .operands = {"workload", 0, kMostWorkloads, Completes::Workload},
            .options =
                {otherwise("bow", texts("machine", "M",
                                        "machine: a name of `tessera list machines`, or a file; "
                                        "each machine runs every workload",
                                        Completes::Machine)),
                 texts("set", "PATH=VALUE",
                       "override a parameter, for example tile.workers=4 or workload.n=64",
                       Completes::Parameter),
                 text("json", "FILE",
                      "write the result as JSON; - for stdout, the summary then goes to stderr"),
                 text("csv", "FILE",
                      "write a line for each run, kernel and step; - for stdout, as with --json"),
                 text("out", "DIR",
                      "write result.json, output.npy, recording.bin.gz and trace.pftrace.gz to "
                      "DIR; of several results each is output.NAME.npy",
                      Completes::Directory),
                 text("memory", "FILE",
                      "write what stands in tile memory in each step, as JSON; - for stdout"),
                 text("record", "FILE",
                      "write what each tile did in each step, and when; compressed if FILE ends in "
                      ".gz"),
                 text("record-window", "FROM:TO",
                      "cycles of which the recording has each single execution, too",
                      Completes::Nothing),
                 text("edges", "FILE",
                      "write what goes over each edge between chips by time, as CSV; - for stdout"),
                 text("report", "FILE", "write a page for the browser that shows the result"),
                 text("trace", "FILE",
                      "write a trace: of value changes if FILE ends in .vcd, of Chrome's events if "
                      "in .json, else Perfetto's; compressed if .gz follows, - for stdout"),
                 text("trace-tiles", "TILES",
                      "tiles in the trace: all, or as in 0-15,700 (16 evenly spread and the "
                      "critical one if not given)",
                      Completes::Nothing),
                 word("trace-level", "LEVEL", "how fine the trace is (worker if not given)",
                      {"machine", "tile", "worker"}, {}),
                 word("trace-clock", "CLOCK",
                      "time of the trace: 1 ns a tile cycle, or the machine's own (cycles if not "
                      "given)",
                      {"cycles", "machine"}, {}),
                 threads("host threads; the result does not depend on it"),
                 word("mode", "MODE",
                      "functional: all data and a check of the result; timing: the same cycles "
                      "without data; auto: timing, where control does not depend on data; "
                      "estimate: closed forms of products alone (functional if not given)",
                      {"functional", "timing", "auto", "estimate"}, {}),
                 word("plan", "PLAN",
                      "of products: our own choices, or the published ones that measured hardware "
                      "ran; short for --set workload.plan=PLAN (fastest if not given)",
                      {"fastest", "published"}, {}),
                 number("audit", "N",
                        "tiles that timing mode runs in full and holds against what it counted (2 "
                        "if not given)"),
                 number("max-cycles", "N",
                        "end the run with a mistake where it takes more, and say where each chip "
                        "is"),
                 number("shuffle", "SEED",
                        "take simultaneous events in another order, as a test; the result does not "
                        "depend on it"),
                 text("point", "KEY",
                      "instead of workload and machine: the point of --store whose key begins so",
                      Completes::Nothing),
                 text("store", "DIR", "a sweep's results (all *.sweep here if not given)",
                      Completes::Directory),
                 flag("no-check", "do not compare the result with the host reference"),
                 quiet()},
            .examples = {{"tessera run cora",
                          "the Cora citation graph times a dense matrix, on a Bow chip"},
                         {"tessera run graph.mtx --set workload.n=512",
                          "a matrix of your own (.mtx, .smtx, .npy, .npz) times 512 columns"},
                         {"tessera run dense_4096_f16 --machine gc200 --set chip.clock_hz=1.5e9",
                          "another machine, with another clock"},
                         {"tessera run cora cora_dense --out out",
                          "two workloads, their ratio, all files"},
                         {"tessera run cora --machine bow --machine gc200 --csv cora.csv",
                          "one workload on two machines, their ratio, all steps as a table"},
                         {"tessera run tiny_matmul --machine tiny --json - -q | jq .cycles",
                          "one number of the result"}},
            .make = make_run};
}

CommandSpec vertex_command_spec() {
    return {
        .name = "vertex",
        .usage = "SPEC [options]",
        .sentence = "runs one vertex on one tile and says what it did in each cycle",
        .operands = {"vertex file", 1, 1, Completes::Vertex},
        .options =
            {text("machine", "M", "machine instead of the file's", Completes::Machine),
             texts("set", "PATH=VALUE",
                   "override a machine parameter, or one of the file as in parameters.rows=8",
                   Completes::Parameter),
             include(), define(),
             text("json", "FILE",
                  "write the result as JSON; - for stdout, the report then goes to stderr"),
             flag("arrays", "put all arrays after the run into the JSON"),
             text("out", "DIR", "write result.json and every array after the run to DIR",
                  Completes::Directory),
             texts("dump", "ARRAY=FILE", "write an array after the run as .npy"),
             texts("expect", "[ARRAY=]FILE",
                   "compare an array (the file's stem if not named) with an .npy file",
                   Completes::File),
             text("fit", "FORMULA", "fit cycles over the points, as in 'a + b*rows'",
                  Completes::Nothing),
             word("fit-of", "WHAT", "what is fitted", {"tile_cycles", "worker_cycles"},
                  "tile_cycles"),
             flag("lockstep", "list races and memory conflicts instead of stopping at the first"),
             number("lockstep-limit", "CYCLES",
                    "most cycles of a phase that are followed slot by slot (default 50000000)"),
             text("trace", "FILE",
                  "write a trace of each instruction, in the formats of `tessera run --trace`"),
             text("konata", "FILE", "write a pipeline trace for the viewer Konata"), quiet()},
        .examples = {{"tessera vertex scaled_add --set parameters.length=96",
                      "one point of a kernel, cycle by cycle"},
                     {"tessera vertex scaled_add --fit 'a + b*ceildiv(pairs, workers)'",
                      "a closed form over the points of the file"},
                     {"tessera vertex my_kernel.json --lockstep", "its races, with source lines"}},
        .make = make_vertex};
}

CommandSpec calibrate_command_spec() {
    return {
        .name = "calibrate",
        .usage = "[options]",
        .sentence = "runs the workloads that measured rows are about and says how near they come",
        .operands = {"nothing", 0, 0},
        .options =
            {text("reference", "DIR",
                  "measured rows: the CSV files of DIR instead of the project's own",
                  Completes::Directory),
             text("group", "G",
                  "only rows of this group, for example STREAM, or of all that are micro, "
                  "links, kernels or models",
                  Completes::Nothing),
             text("json", "FILE",
                  "write the result as JSON; - for stdout, the table then goes to stderr"),
             text("csv", "FILE", "write a line a row; - for stdout, the table then goes to stderr"),
             otherwise("3", number("seeds", "N", "patterns of each sparse row, of seeds 1 to N")),
             text("store", "DIR",
                  "keep results of runs in DIR as they come; runs that it has are not run "
                  "again",
                  Completes::Directory),
             threads("workloads that run at a time"),
             flag("check", "exit with 1 if a group misses its target"),
             flag("unexplained", "of kernels, tell what measured cycles have over simulated ones"),
             quiet()},
        .examples = {{"tessera calibrate --group STREAM", "one group of measured figures"},
                     {"tessera calibrate --group kernels", "whole products, by published plans"},
                     {"tessera calibrate --reference my_rows --csv -", "figures of your own"}},
        .make = make_calibrate};
}

CommandSpec report_command_spec() {
    return {.name = "report",
            .usage = "RESULT|DIR|STORE... [options]",
            .sentence = "makes a page for the browser of results, folders of --out and stores",
            .operands = {"result, folder or store", 1, kMostFiles, Completes::File},
            .options = {otherwise("report.html",
                                  shortened('o', text("output", "FILE",
                                                      "write the page to FILE; - for stdout"))),
                        quiet()},
            .examples = {{"tessera report out/result.json -o cora.html",
                          "one run: where its cycles went, rooflines, memory"},
                         {"tessera report matrix_rate.sweep",
                          "a sweep: its points, the front, what each parameter does"}},
            .make = make_report};
}

CommandSpec list_command() {
    return {
        .name = "list",
        .usage = "[machines|workloads|vertices|sweeps|families|instructions|parameters|metrics] "
                 "[--names|--paths]",
        .sentence = "lists what there is, a line each",
        .operands = {"kind of thing",
                     0,
                     1,
                     Completes::Words,
                     {"machines", "workloads", "vertices", "sweeps", "families", "instructions",
                      "parameters", "metrics"}},
        .options = {flag("names", "names alone"), flag("paths", "files instead of descriptions")},
        .examples = {{"tessera list workloads", "workloads, each with a sentence"},
                     {"tessera list families",
                      "what steps of pipelines may name, with inputs and options"},
                     {"tessera list metrics", "what columns and objectives of sweeps may name"},
                     {"tessera list instructions", "every operand form and its meaning"}},
        .make = make_list};
}

CommandSpec describe_command() {
    return {
        .name = "describe",
        .usage = "machine|workload [NAME|KIND] [options]",
        .sentence = "prints every parameter: unit, range, default, source, and NAME's value",
        .operands = {"machine or workload", 1, 2, Completes::Words, {"machine", "workload"}, true},
        .options = {texts("set", "PATH=VALUE", "override a parameter first", Completes::Parameter),
                    flag("json", "print the resolved file as JSON"),
                    flag("expanded", "the same of a workload, with the steps that it trains by")},
        .examples = {{"tessera describe machine bow", "its values and where they were set"},
                     {"tessera describe workload spmm", "the keys of one kind of workloads"},
                     {"tessera describe workload", "those of all kinds"}},
        .make = make_describe};
}

CommandSpec diff_command() {
    return {
        .name = "diff",
        .usage = "A B [options]",
        .sentence = "compares two results: what was set, what moved, and why",
        .operands = {"result", 2, 2, Completes::File},
        .options = {text("json", "FILE", "write the comparison as JSON; - for stdout"),
                    text("report", "FILE", "write a page for the browser that shows both"),
                    quiet()},
        .examples = {{"tessera diff before after", "two folders of --out, or two files of --json"},
                     {"tessera diff before after --report diff.html",
                      "a page that shows both timelines on one scale, one above the other"},
                     {"tessera diff lanes.sweep:3fa9 lanes.sweep:81c2",
                      "two points of a store, by the first digits of their keys"}},
        .make = make_diff};
}

CommandSpec explain_command() {
    return {.name = "explain",
            .usage = "RESULT [STEP]",
            .sentence = "tells a result in sentences, and what changes would be worth",
            .operands = {"result", 1, 2, Completes::File},
            .options = {},
            .examples = {{"tessera explain out", "the run of a folder of --out"},
                         {"tessera explain out multiply",
                          "its steps of that name, as their tiles saw them"}},
            .make = make_explain};
}

CommandSpec plot_command() {
    return {
        .name = "plot",
        .usage = "RESULT|STORE --chart NAME --output F.svg|F.pdf",
        .sentence = "draws a chart as a picture, with gnuplot",
        .operands = {"result or store", 1, 1, Completes::File},
        .options = {word("chart", "NAME",
                         "of a result phases, kernels, steps, energy, memory, roofline; of a "
                         "folder of --out balance and tiles too; of a store scatter, sensitivity",
                         {"phases", "kernels", "steps", "energy", "memory", "roofline", "balance",
                          "tiles", "scatter", "sensitivity"},
                         {}),
                    text("output", "FILE", "FILE.svg or FILE.pdf")},
        .examples = {{"tessera plot out --chart steps --output steps.svg",
                      "the slowest steps, with their bounds"},
                     {"tessera plot energy_delay.sweep --chart scatter --output front.pdf",
                      "two objectives and the front, for a paper"}},
        .make = make_plot};
}

CommandSpec check_command() {
    return {.name = "check",
            .usage = "FILE...",
            .sentence = "validates machine, workload and vertex files",
            .operands = {"file", 1, kMostFiles, Completes::File},
            .options = {},
            .examples = {{"tessera check my_machine.json", "its mistakes, all at once"}},
            .make = make_check};
}

CommandSpec schema_command() {
    return {.name = "schema",
            .usage = "KIND",
            .sentence = "prints a JSON Schema",
            .operands = {"kind of schema",
                         1,
                         1,
                         Completes::Words,
                         {"machine", "workload", "result", "results", "memory", "vertex",
                          "vertex_result", "calibration", "sweep", "schedule", "pattern", "buckets",
                          "diff"}},
            .options = {},
            .examples = {{"tessera schema workload",
                          "the format of a file that you write: also machine, vertex, sweep, "
                          "schedule (of `tessera pattern evolve`)"},
                         {"tessera schema result",
                          "the format of --json of `tessera run`: also results (of several runs), "
                          "memory, vertex_result, calibration, pattern, buckets, diff"}},
            .make = make_schema};
}

CommandSpec assemble_command() {
    return {
        .name = "asm",
        .usage = "FILE... [options]",
        .sentence = "assembles and links tile programs; lists their symbols and size",
        .operands = {"file", 1, kMostFiles, Completes::File},
        .options =
            {include(), define(),
             flag("listing", "print address, words, text and source line of each instruction"),
             flag("summary", "print instructions by mnemonic and the bytes of each section"),
             shortened('c', flag("allow-undefined",
                                 "list symbols that no file defines, instead of refusing them")),
             machine("machine, for its generation and memory map"),
             texts("set", "PATH=VALUE", "override a parameter of the machine",
                   Completes::Parameter),
             text("address", "A", "link to run at A (the start of region 0 if not given)",
                  Completes::Nothing),
             text("out", "FILE", "write the words to FILE, little-endian"),
             text("json", "FILE", "write symbols and listing as JSON; - for stdout"), quiet()},
        .examples = {{"tessera asm add.S --listing", "what a source becomes"},
                     {"tessera asm *.S --out program.bin -q", "only the words, in a file"}},
        .make = make_assemble};
}

CommandSpec import_command() {
    return {
        .name = "import",
        .usage = "MODEL -o FILE [options]",
        .sentence = "makes a workload, and a .safetensors file beside it, of an ONNX model",
        .operands = {"model", 0, 1, Completes::File},
        .options = {shortened('o', text("out", "FILE",
                                        "write the workload to FILE, which ends in .json")),
                    texts("size", "NAME=N", "a size of inputs that has no number in the model"),
                    texts("constant", "NAME=FILE", "an input that is known now, from an .npy file"),
                    flag("operators", "list the operators that are translated"), quiet()},
        .examples = {{"tessera import mlp.onnx -o mlp.json --size batch=32",
                      "then `tessera run mlp.json --set workload.tensors.x.values=x.npy`"},
                     {"tessera import --operators", "what a model may consist of"}},
        .make = make_import};
}

CommandSpec disassemble_command() {
    return {.name = "disasm",
            .usage = "FILE [options]",
            .sentence = "prints words as text that assembles to them",
            .operands = {"file", 1, 1, Completes::File},
            .options = {machine("machine, for its memory map"),
                        text("address", "A",
                             "the address of the first word (the start of region 0 if not given)",
                             Completes::Nothing),
                        flag("hex", "the file is text of hexadecimal words")},
            .examples = {{"tessera disasm program.bin", "what `tessera asm --out` wrote"}},
            .make = make_disassemble};
}

CommandSpec completion_command() {
    return {.name = "completion",
            .usage = "bash|zsh",
            .sentence = "prints the completion of this command line for a shell",
            .operands = {"shell", 1, 1, Completes::Words, {"bash", "zsh"}},
            .options = {},
            .examples = {{"source <(tessera completion bash)", "in a running shell"},
                         {"tessera completion zsh > ~/.zfunc/_tessera", "in a folder of $fpath"}},
            .make = make_completion};
}

CommandSpec manual_command() {
    return {.name = "manual",
            .usage = "",
            .sentence = "prints the manual page, which `cmake --install` puts into its place",
            .operands = {"nothing", 0, 0},
            .options = {},
            .examples = {{"tessera manual | man -l -", "read it"}},
            .make = make_manual};
}

CommandSpec help_command() {
    return {.name = "help",
            .usage = "[COMMAND]",
            .sentence = "prints help, of a command with its options and examples",
            .operands = {"command", 0, 2, Completes::Words},
            .options = {},
            .examples = {{"tessera help run", "the options of `tessera run`"}},
            .make = make_help};
}

std::vector<CommandSpec> make_commands() {
    std::vector<CommandSpec> all{run_command(), vertex_command_spec(), calibrate_command_spec()};
    for (CommandSpec& sweep : sweep_commands()) {
        all.push_back(std::move(sweep));
    }
    all.push_back(report_command_spec());
    for (CommandSpec& pattern : pattern_commands()) {
        all.push_back(std::move(pattern));
    }
    for (const auto& one :
         {diff_command(), explain_command(), plot_command(), list_command(), describe_command(),
          check_command(), schema_command(), import_command(), assemble_command(),
          disassemble_command(), completion_command(), manual_command(), help_command()}) {
        all.push_back(one);
    }
    std::vector<std::string> names;
    for (const auto& command : all) {
        std::string word = command.name.substr(0, command.name.find(' '));
        if (names.empty() || names.back() != word) {
            names.push_back(std::move(word));
        }
    }
    all.back().operands.words = std::move(names); // of help
    return all;
}

} // namespace

const std::vector<CommandSpec>& commands() {
    static const std::vector<CommandSpec> all = make_commands();
    return all;
}

std::vector<std::string> group(const std::string& word) {
    std::vector<std::string> seconds;
    for (const auto& command : commands()) {
        if (command.name.rfind(word + " ", 0) == 0) {
            seconds.push_back(command.name.substr(word.size() + 1));
        }
    }
    return seconds;
}

const CommandSpec& command_named(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& command : commands()) {
        if (command.name == name) {
            return command;
        }
        names.push_back(command.name);
    }
    const std::string hint = config::did_you_mean(name, names);
    throw UsageError(fmt::format("unknown command {}; {}", in_quotes(name),
                                 hint.empty() ? "see `tessera help`" : hint));
}

std::vector<OptionSpec> all_options(const CommandSpec& command) {
    std::vector<OptionSpec> options = command.options;
    options.push_back(
        word("color", "WHEN", "whether reports have colors", {"auto", "always", "never"}, "auto"));
    options.push_back(shortened('h', flag("help", "print this")));
    return options;
}

const std::vector<ExitCodeSpec>& exit_codes() {
    static const std::vector<ExitCodeSpec> all{
        {0, "ok"},
        {1, "the answer is wrong, a target is missed, or there is nothing to compare"},
        {2, "the command line is wrong"},
        {3, "a machine, workload, vertex, source or data file, or a --set, is wrong"},
        {4, "does not fit in tile memory or in streaming memory"},
        {5, "the tile program broke a rule of the machine, or needs what is not modelled"},
        {6, "a file cannot be read or written"},
        {70, "a bug of tessera"},
        {71, "the host has not enough memory"},
        {130, "interrupted (143 by SIGTERM)"},
    };
    return all;
}

const std::vector<VariableSpec>& environment_variables() {
    static const std::vector<VariableSpec> all{
        {"TESSERA_CONFIGS",
         "folders with machines/, workloads/, vertices/ and sweeps/, separated by ':'; "
         "they are looked up before ./configs and the installed ones"},
        {"NO_COLOR", "where it is not empty, reports have no colors unless --color says so"},
    };
    return all;
}

} // namespace tessera::cli
