// SPDX-License-Identifier: MIT
#include "sim/cli.h"

#include "base/config/suggest.h"
#include "base/text.h"

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <thread>

namespace tessera::sim {
namespace {

namespace po = boost::program_options;

constexpr int kMaxThreads = 1024;
constexpr std::size_t kMostSets = 1000;

int default_threads() {
    const unsigned cores = std::thread::hardware_concurrency();
    return cores == 0 ? 1 : std::min(static_cast<int>(cores), kMaxThreads);
}

/// One command: how it is written, what it does, its options and how many names may follow.
struct CommandSpec {
    std::string name;
    std::string usage;
    std::string sentence;
    std::string positional; ///< what the names are, for messages
    std::size_t least = 0;
    std::size_t most = 0;
    std::function<void(po::options_description&)> add_options;
    std::function<Command(const po::variables_map&, const std::vector<std::string>&)> make;
};

const std::vector<std::string> kListable{"machines", "workloads", "vertices", "instructions"};
const std::vector<std::string> kDescribable{"machine", "workload"};
const std::vector<std::string> kSchemas{"machine", "workload", "result",        "results",
                                        "memory",  "vertex",   "vertex_result", "calibration"};

void one_of(const std::string& command, const std::string& given,
            const std::vector<std::string>& allowed) {
    if (std::find(allowed.begin(), allowed.end(), given) == allowed.end()) {
        const std::string hint = config::did_you_mean(given, allowed);
        throw UsageError(fmt::format("{}: got {}, expected one of {}{}{}", command,
                                     in_quotes(given), fmt::join(allowed, ", "),
                                     hint.empty() ? "" : "; ", hint));
    }
}

std::string text_of(const po::variables_map& options, const std::string& name) {
    return options.count(name) != 0 ? options[name].as<std::string>() : std::string{};
}

std::vector<std::string> texts_of(const po::variables_map& options, const std::string& name) {
    return options.count(name) != 0 ? options[name].as<std::vector<std::string>>()
                                    : std::vector<std::string>{};
}

void refuse_empty(const std::string& command, const po::variables_map& options,
                  const std::vector<std::string>& names) {
    for (const auto& name : names) {
        if (options.count(name) != 0 && options[name].as<std::string>().empty()) {
            throw UsageError(fmt::format("{}: --{}: got an empty text, expected a name or a file",
                                         command, name));
        }
    }
}

void refuse_dash_folder(const std::string& command, const std::string& folder) {
    if (folder == "-") {
        throw UsageError(command + ": --out: got '-', expected a folder");
    }
}

int threads_of(const std::string& command, const po::variables_map& options) {
    const int threads = options["threads"].as<int>();
    if (threads < 1 || threads > kMaxThreads) {
        throw UsageError(fmt::format("{}: --threads: got {}, expected 1..{} threads", command,
                                     threads, kMaxThreads));
    }
    return threads;
}

Command make_run(const po::variables_map& options, const std::vector<std::string>& names) {
    RunCommand run;
    refuse_empty("run", options, {"machine", "json", "out", "memory", "trace"});
    run.workloads = names;
    run.machine = options["machine"].as<std::string>();
    run.sets = texts_of(options, "set");
    run.json = text_of(options, "json");
    run.out_directory = text_of(options, "out");
    run.memory = text_of(options, "memory");
    run.trace = text_of(options, "trace");
    run.trace_tiles = text_of(options, "trace-tiles");
    run.trace_level = text_of(options, "trace-level");
    refuse_dash_folder("run", run.out_directory);
    run.check = options.count("no-check") == 0;
    run.threads = threads_of("run", options);
    if (run.trace.empty() && run.out_directory.empty() &&
        !(run.trace_tiles.empty() && run.trace_level.empty())) {
        throw UsageError(
            "run: --trace-tiles and --trace-level say what a trace shows, and there is "
            "no --trace or --out");
    }
    if (!run.trace.empty() && names.size() > 1) {
        throw UsageError("run: --trace: got several workloads, expected one a trace");
    }
    if (!run.memory.empty() && names.size() > 1) {
        throw UsageError("run: --memory: got several workloads, expected one a report");
    }
    return run;
}

void add_run_options(po::options_description& options) {
    options.add_options()("machine",
                          po::value<std::string>()->default_value("bow")->value_name("M"),
                          "machine: a name of `tessera list machines`, or a file")(
        "set", po::value<std::vector<std::string>>()->composing()->value_name("PATH=VALUE"),
        "override a parameter, for example tile.workers=4 or workload.n=64; may be repeated")(
        "json", po::value<std::string>()->value_name("FILE"),
        "write the result as JSON; - for stdout, the summary then goes to stderr")(
        "out", po::value<std::string>()->value_name("DIR"),
        "write result.json, output.npy and trace.pftrace.gz to DIR")(
        "memory", po::value<std::string>()->value_name("FILE"),
        "write what stands in tile memory in each step, as JSON; - for stdout")(
        "trace", po::value<std::string>()->value_name("FILE"),
        "write a Perfetto trace; compressed if FILE ends in .gz, - for stdout")(
        "trace-tiles", po::value<std::string>()->value_name("TILES"),
        "tiles in the trace: all, or as in 0-15,700 (default 16 evenly spread)")(
        "trace-level", po::value<std::string>()->value_name("LEVEL"),
        "machine, tile or worker (default worker)")(
        "threads", po::value<int>()->default_value(default_threads(), "all cores")->value_name("N"),
        "host threads; the result does not depend on it")(
        "no-check", "do not compare the result with the host reference");
}

/// `array=FILE.npy`; for --expect the file's stem may name the array.
void check_array_files(const std::string& option, const std::vector<std::string>& given,
                       bool name_needed) {
    for (const auto& text : given) {
        const auto equals = text.find('=');
        const bool named = equals != std::string::npos && equals > 0 && equals + 1 < text.size();
        if (text.empty() || equals == 0 || (name_needed && !named)) {
            throw UsageError(
                fmt::format("vertex: --{}: got '{}', expected ARRAY=FILE.npy", option, text));
        }
    }
}

Command make_vertex(const po::variables_map& options, const std::vector<std::string>& names) {
    VertexCommand vertex;
    refuse_empty("vertex", options, {"machine", "json", "out", "trace", "konata", "fit"});
    vertex.vertex = names.front();
    vertex.machine = text_of(options, "machine");
    vertex.sets = texts_of(options, "set");
    vertex.include_directories = texts_of(options, "include");
    vertex.defines = texts_of(options, "define");
    vertex.out_directory = text_of(options, "out");
    refuse_dash_folder("vertex", vertex.out_directory);
    vertex.json = text_of(options, "json");
    vertex.expects = texts_of(options, "expect");
    vertex.dumps = texts_of(options, "dump");
    vertex.fit = text_of(options, "fit");
    vertex.fit_of = options["fit-of"].as<std::string>();
    vertex.trace = text_of(options, "trace");
    vertex.konata = text_of(options, "konata");
    vertex.arrays = options.count("arrays") != 0;
    vertex.lockstep = options.count("lockstep") != 0;
    check_array_files("expect", vertex.expects, false);
    check_array_files("dump", vertex.dumps, true);
    one_of("vertex: --fit-of", vertex.fit_of, {"tile_cycles", "worker_cycles"});
    if (vertex.fit.empty() && !options["fit-of"].defaulted()) {
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

void add_vertex_options(po::options_description& options) {
    const auto texts = [](const char* name) {
        return po::value<std::vector<std::string>>()->composing()->value_name(name);
    };
    const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    options.add_options()("machine", text("M"), "machine instead of the file's")(
        "set", texts("PATH=VALUE"),
        "override a machine parameter, or one of the file as in parameters.rows=8; may be "
        "repeated")("include,I", texts("DIR"), "search sources' includes in DIR too")(
        "define,D", texts("X=Y"), "preprocessor macro of the sources; may be repeated")(
        "json", text("FILE"),
        "write the result as JSON; - for stdout, the report then goes to stderr")(
        "arrays", "put all arrays after the run into the JSON")(
        "out", text("DIR"), "write result.json and every array after the run to DIR")(
        "dump", texts("ARRAY=FILE"), "write an array after the run as .npy; may be repeated")(
        "expect", texts("[ARRAY=]FILE"),
        "compare an array (the file's stem if not named) with an .npy file; may be repeated")(
        "fit", text("FORMULA"), "fit cycles over the points, as in 'a + b*rows'")(
        "fit-of", po::value<std::string>()->default_value("tile_cycles")->value_name("WHAT"),
        "tile_cycles or worker_cycles")(
        "lockstep", "list races and memory conflicts instead of stopping at the first")(
        "trace", text("FILE"), "write a Perfetto trace of each instruction")(
        "konata", text("FILE"), "write a pipeline trace for the viewer Konata");
}

Command make_calibrate(const po::variables_map& options, const std::vector<std::string>&) {
    refuse_empty("calibrate", options, {"reference", "group", "json", "csv"});
    CalibrateCommand command;
    command.reference = text_of(options, "reference");
    command.group = text_of(options, "group");
    command.json = text_of(options, "json");
    command.csv = text_of(options, "csv");
    command.threads = threads_of("calibrate", options);
    command.check = options.count("check") != 0;
    return command;
}

void add_calibrate_options(po::options_description& options) {
    const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    options.add_options()("reference", text("DIR"),
                          "measured rows: the CSV files of DIR instead of the project's own")(
        "group", text("G"), "only rows of this group, for example STREAM")(
        "json", text("FILE"),
        "write the result as JSON; - for stdout, the table then goes to stderr")(
        "csv", text("FILE"), "write a line a row; - for stdout, the table then goes to stderr")(
        "threads", po::value<int>()->default_value(default_threads())->value_name("N"),
        "workloads that run at a time")("check", "exit with 1 if a group misses its target");
}

Command make_assemble(const po::variables_map& options, const std::vector<std::string>& names) {
    AssembleCommand command;
    command.files = names;
    command.include_directories = texts_of(options, "include");
    command.defines = texts_of(options, "define");
    command.machine = options["machine"].as<std::string>();
    command.sets = texts_of(options, "set");
    command.address = text_of(options, "address");
    command.out = text_of(options, "out");
    command.json = text_of(options, "json");
    command.listing = options.count("listing") != 0;
    command.summary = options.count("summary") != 0;
    command.allow_undefined = options.count("allow-undefined") != 0;
    return command;
}

void add_assemble_options(po::options_description& options) {
    options.add_options()("include,I",
                          po::value<std::vector<std::string>>()->composing()->value_name("DIR"),
                          "look for included files in DIR; may be repeated")(
        "define,D", po::value<std::vector<std::string>>()->composing()->value_name("NAME=VALUE"),
        "define a preprocessor macro, 1 without a value; may be repeated")(
        "listing", "print address, words, text and source line of each instruction")(
        "summary", "print instructions by mnemonic and the bytes of each section")(
        "allow-undefined,c", "list symbols that no file defines, instead of refusing them")(
        "machine", po::value<std::string>()->default_value("bow")->value_name("M"),
        "machine, for its generation and memory map")(
        "set", po::value<std::vector<std::string>>()->composing()->value_name("PATH=VALUE"),
        "override a parameter of the machine; may be repeated")(
        "address", po::value<std::string>()->value_name("A"),
        "link to run at A (default the start of region 0)")(
        "out", po::value<std::string>()->value_name("FILE"),
        "write the words to FILE, little-endian")(
        "json", po::value<std::string>()->value_name("FILE"),
        "write symbols and listing as JSON; - for stdout");
}

Command make_disassemble(const po::variables_map& options, const std::vector<std::string>& names) {
    DisassembleCommand command;
    command.file = names[0];
    command.machine = options["machine"].as<std::string>();
    command.address = text_of(options, "address");
    command.hex = options.count("hex") != 0;
    return command;
}

void add_disassemble_options(po::options_description& options) {
    options.add_options()("machine",
                          po::value<std::string>()->default_value("bow")->value_name("M"),
                          "machine, for its memory map")(
        "address", po::value<std::string>()->value_name("A"),
        "the address of the first word (default the start of region 0)")(
        "hex", "the file is text of hexadecimal words");
}

void add_describe_options(po::options_description& options) {
    options.add_options()(
        "set", po::value<std::vector<std::string>>()->composing()->value_name("PATH=VALUE"),
        "override a parameter first; may be repeated")("json", "print the resolved file as JSON");
}

const std::vector<CommandSpec>& commands() {
    const auto no_options = [](po::options_description&) {};
    static const std::vector<CommandSpec> all{
        {"run", "tessera run WORKLOAD... [options]",
         "Runs each workload on the machine and says where the cycles went.", "workload", 1, 1000,
         add_run_options, make_run},
        {"vertex", "tessera vertex SPEC [options]",
         "Runs one vertex on one tile and says what it did in each cycle.", "vertex file", 1, 1,
         add_vertex_options, make_vertex},
        {"calibrate", "tessera calibrate [--reference DIR] [--group G] [options]",
         "Runs the workloads that measured rows are about and says how near they come.", "nothing",
         0, 0, add_calibrate_options, make_calibrate},
        {"list", "tessera list [machines|workloads|vertices|instructions]", "Lists what there is.",
         "kind of thing", 0, 1, no_options,
         [](const po::variables_map&, const std::vector<std::string>& names) -> Command {
             if (!names.empty()) {
                 one_of("list", names[0], kListable);
             }
             return ListCommand{names.empty() ? std::string{} : names[0]};
         }},
        {"describe", "tessera describe machine|workload [NAME] [options]",
         "Prints a machine or workload with the origin of each value; without NAME, all "
         "parameters.",
         "machine or workload", 1, 2, add_describe_options,
         [](const po::variables_map& options, const std::vector<std::string>& names) -> Command {
             one_of("describe", names[0], kDescribable);
             return DescribeCommand{names[0], names.size() > 1 ? names[1] : std::string{},
                                    texts_of(options, "set"), options.count("json") != 0};
         }},
        {"check", "tessera check FILE...", "Validates machine, workload and vertex files.", "file",
         1, 100000, no_options,
         [](const po::variables_map&, const std::vector<std::string>& names) -> Command {
             return CheckCommand{names};
         }},
        {"schema",
         "tessera schema machine|workload|result|results|memory|vertex|vertex_result|calibration",
         "Prints a JSON Schema.", "kind of schema", 1, 1, no_options,
         [](const po::variables_map&, const std::vector<std::string>& names) -> Command {
             one_of("schema", names[0], kSchemas);
             return SchemaCommand{names[0]};
         }},
        {"asm", "tessera asm FILE... [-c] [--listing] [--summary] [options]",
         "Assembles and links tile programs; lists their symbols and size.", "file", 1, 100000,
         add_assemble_options, make_assemble},
        {"disasm", "tessera disasm FILE [--hex] [options]",
         "Prints words as text that assembles to them.", "file", 1, 1, add_disassemble_options,
         make_disassemble},
        {"help", "tessera help [COMMAND]", "Prints help.", "command", 0, 1, no_options,
         [](const po::variables_map&, const std::vector<std::string>& names) -> Command {
             return HelpCommand{names.empty() ? std::string{} : names[0]};
         }},
    };
    return all;
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

std::vector<std::string> option_names(const po::options_description& options) {
    std::vector<std::string> names;
    for (const auto& option : options.options()) {
        names.push_back("--" + option->long_name());
    }
    return names;
}

po::options_description options_of(const CommandSpec& command) {
    po::options_description options("options");
    command.add_options(options);
    options.add_options()("help,h", "print this");
    return options;
}

/// The last argument that Boost says it choked on may name the option with or without dashes.
[[noreturn]] void refuse_option(const CommandSpec& command, const po::options_description& options,
                                std::string given) {
    if (given.rfind('-', 0) != 0) {
        given.insert(0, "--");
    }
    const std::string hint = config::did_you_mean(given, option_names(options));
    throw UsageError(
        fmt::format("{}: unknown option {}; {}", command.name, in_quotes(given),
                    hint.empty() ? fmt::format("see `tessera help {}`", command.name) : hint));
}

Command parse_one(const CommandSpec& command, const std::vector<std::string>& arguments) {
    po::options_description options = options_of(command);
    po::options_description all;
    all.add(options).add_options()("names", po::value<std::vector<std::string>>());
    po::positional_options_description positional;
    positional.add("names", -1);
    po::variables_map values;
    try {
        po::store(
            po::command_line_parser(arguments)
                .options(all)
                .positional(positional)
                .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                .run(),
            values);
        po::notify(values);
    } catch (const po::unknown_option& error) {
        refuse_option(command, options, error.get_option_name());
    } catch (const po::error& error) {
        throw UsageError(fmt::format("{}: {}", command.name, error.what()));
    }
    if (values.count("help") != 0) {
        return HelpCommand{command.name};
    }
    if (texts_of(values, "set").size() > kMostSets) {
        throw UsageError(fmt::format("{}: got {} options --set, expected at most {}", command.name,
                                     texts_of(values, "set").size(), kMostSets));
    }
    const auto names = texts_of(values, "names");
    if (names.size() < command.least || names.size() > command.most) {
        throw UsageError(fmt::format(
            "{}: got {} names, expected {}: {}", command.name, names.size(),
            names.size() < command.least ? "a " + command.positional : "fewer", command.usage));
    }
    return command.make(values, names);
}

} // namespace

Command parse_command_line(const std::vector<std::string>& arguments) {
    if (arguments.empty()) {
        throw UsageError("expected a command; see `tessera help`");
    }
    const std::string& first = arguments.front();
    if (first == "--version") {
        return VersionCommand{};
    }
    if (first == "--help" || first == "-h") {
        return HelpCommand{};
    }
    if (first.rfind('-', 0) == 0) {
        const std::string hint = config::did_you_mean(first, {"--version", "--help"});
        throw UsageError(
            fmt::format("unknown option {}; {}", in_quotes(first),
                        hint.empty() ? "the command comes first, see `tessera help`" : hint));
    }
    return parse_one(command_named(first), {arguments.begin() + 1, arguments.end()});
}

std::string help_text(const std::string& topic) {
    std::ostringstream text;
    if (!topic.empty()) {
        const CommandSpec& command = command_named(topic);
        text << command.usage << "\n\n" << command.sentence << "\n\n" << options_of(command);
        return text.str();
    }
    text << "tessera simulates an IPU-like machine, instruction by instruction.\n\n";
    for (const auto& command : commands()) {
        text << fmt::format("  {:<54} {}\n", command.usage, command.sentence);
    }
    text << "  tessera --version\n\n"
            "Exit codes: 0 ok, 1 the result is wrong, 2 usage, 3 invalid configuration, 4 does not "
            "fit in\n"
            "tile or streaming memory, 5 program fault or not modelled, 6 a file cannot be read or "
            "written, 70 "
            "a bug of\n"
            "tessera, 71 the host has not enough memory, 130 interrupted.\n";
    return text.str();
}

} // namespace tessera::sim
