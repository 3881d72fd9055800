// SPDX-License-Identifier: MIT
#include "sim/cli/cli.h"
#include "sim/cli/table.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;

namespace {

template <class Wanted> Wanted parsed(const std::vector<std::string>& arguments) {
    return std::get<Wanted>(cli::parse_command_line(arguments).command);
}

std::string refusal(const std::vector<std::string>& arguments) {
    try {
        static_cast<void>(cli::parse_command_line(arguments));
    } catch (const cli::UsageError& error) {
        return error.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("run takes workloads and options in any order") {
    const auto run = parsed<cli::RunCommand>({"run", "--set", "tile.workers=4", "one", "--json",
                                              "-", "--set=workload.n=-1", "--threads=3",
                                              "--machine", "tiny", "two", "--no-check"});
    CHECK(run.workloads == std::vector<std::string>{"one", "two"});
    CHECK(run.sets == std::vector<std::string>{"tile.workers=4", "workload.n=-1"});
    CHECK(run.json == "-");
    CHECK(run.threads == 3);
    CHECK(run.machine == "tiny");
    CHECK_FALSE(run.check);
}

TEST_CASE("run has defaults for all but the workload") {
    const auto run = parsed<cli::RunCommand>({"run", "cora"});
    CHECK(run.machine == "bow");
    CHECK(run.threads >= 1);
    CHECK(run.check);
    CHECK(run.json.empty());
    CHECK(run.trace.empty());
}

TEST_CASE("trace options belong to a trace of one workload") {
    const auto run = parsed<cli::RunCommand>(
        {"run", "cora", "--trace", "t.gz", "--trace-tiles", "0-3", "--trace-level", "worker"});
    CHECK(run.trace == "t.gz");
    CHECK(run.trace_tiles == "0-3");
    CHECK(run.trace_level == "worker");
    for (const auto& [option, value] :
         {std::pair{"--trace-tiles", "0-3"}, {"--trace-clock", "machine"}}) {
        CHECK(refusal({"run", "cora", option, value}).find("there is no --trace") !=
              std::string::npos);
    }
    CHECK(refusal({"run", "cora", "--trace", "t", "--trace-clock", "machines"})
              .find("did you mean 'machine'?") != std::string::npos);
    CHECK(refusal({"run", "cora", "cora_dense", "--trace", "t"}).find("several workloads") !=
          std::string::npos);
}

TEST_CASE("unknown commands and options name the nearest") {
    CHECK(refusal({"rum"}) == "unknown command 'rum'; did you mean 'run'?");
    CHECK(refusal({"xyzzy"}) == "unknown command 'xyzzy'; see `tessera help`");
    CHECK(refusal({"--versoin"}) == "unknown option '--versoin'; did you mean '--version'?");
    CHECK(refusal({"run", "cora", "--treads", "2"}) ==
          "run: unknown option '--treads'; did you mean '--threads'?");
    CHECK(refusal({"list", "machnes"}).find("did you mean 'machines'?") != std::string::npos);
}

TEST_CASE("options are not guessed from their beginnings") {
    CHECK(refusal({"run", "cora", "--thread", "2"}).find("unknown option '--thread'") !=
          std::string::npos);
    CHECK(refusal({"run", "cora", "--mach", "tiny"}).find("unknown option '--mach'") !=
          std::string::npos);
}

TEST_CASE("estimates refuse what only a run has") {
    for (const auto& [option, value] : {std::pair{"--out", "dir"},
                                        {"--memory", "m.json"},
                                        {"--trace", "t.gz"},
                                        {"--trace-tiles", "0-3"},
                                        {"--trace-level", "tile"},
                                        {"--trace-clock", "machine"},
                                        {"--shuffle", "1"},
                                        {"--no-check", ""}}) {
        std::vector<std::string> words{"run", "cora", "--mode", "estimate", option};
        if (*value != '\0') {
            words.emplace_back(value);
        }
        CHECK(refusal(words) == "run: " + std::string(option) +
                                    ": --mode estimate makes no program and runs nothing; its "
                                    "result is that of --json");
    }
    CHECK(refusal({"run", "cora", "--mode", "estimate", "--audit", "2"})
              .find("there is no --mode timing or auto") != std::string::npos);
    const auto run =
        parsed<cli::RunCommand>({"run", "cora", "cora_dense", "--mode", "estimate", "--json", "-",
                                 "--threads", "2", "--set", "tile.workers=4", "-q"});
    CHECK(run.mode == "estimate");
}

TEST_CASE("values that make no sense are refused") {
    CHECK(refusal({"run", "cora", "--threads", "0"}).find("expected 1..1024 threads") !=
          std::string::npos);
    CHECK(refusal({"run", "cora", "--threads", "two"}) != "accepted");
    CHECK(refusal({"run", "cora", "--json"}) != "accepted");
    CHECK(refusal({"run", "cora", "--json", ""}) != "accepted");
    CHECK(refusal({"run"}) != "accepted");
    CHECK(refusal({}) != "accepted");
    CHECK(refusal({"check"}) != "accepted");
    CHECK(refusal({"schema"}) != "accepted");
    CHECK(refusal({"schema", "sweeps"}) != "accepted");
    CHECK(refusal({"describe", "tile", "bow"}) != "accepted");
    CHECK(refusal({"list", "machines", "workloads"}) != "accepted");
}

TEST_CASE("every command has help, options and examples, and a version is told") {
    CHECK(std::holds_alternative<cli::VersionCommand>(
        cli::parse_command_line({"--version"}).command));
    CHECK(parsed<cli::HelpCommand>({"--help"}).topic.empty());
    CHECK(parsed<cli::HelpCommand>({"run", "--help"}).topic == "run");
    CHECK(parsed<cli::HelpCommand>({"run", "-h"}).topic == "run");
    CHECK_THROWS_AS(cli::help_text("rum"), cli::UsageError);
    const auto whole = cli::help_text("");
    for (const auto& command : cli::commands()) {
        CAPTURE(command.name);
        CHECK(whole.find("\n  " + command.name + " ") != std::string::npos);
        const auto help = cli::help_text(command.name);
        CHECK(help.find("tessera " + command.name) == 0);
        CHECK(help.find(command.sentence) != std::string::npos);
        for (const auto& option : cli::all_options(command)) {
            CHECK(help.find("--" + option.name) != std::string::npos);
            CHECK_FALSE(option.sentence.empty());
        }
        REQUIRE_FALSE(command.examples.empty());
        for (const auto& example : command.examples) {
            CHECK(help.find("\n  " + example.command + "\n") != std::string::npos);
        }
    }
}

TEST_CASE("the examples of the help are commands that parse") {
    for (const auto& command : cli::commands()) {
        for (const auto& example : command.examples) {
            CAPTURE(example.command);
            std::string line = example.command.substr(example.command.find("tessera ") + 8);
            line = line.substr(0, line.find_first_of("|>)"));
            std::vector<std::string> arguments;
            for (std::size_t at = 0; at < line.size();) { // words, and words in single quotes
                if (line[at] == ' ') {
                    ++at;
                    continue;
                }
                const bool quoted = line[at] == '\'';
                const std::size_t end =
                    std::min(line.find(quoted ? '\'' : ' ', at + 1), line.size());
                arguments.push_back(
                    line.substr(at + (quoted ? 1 : 0), end - at - (quoted ? 1 : 0)));
                at = end + 1;
            }
            CHECK_NOTHROW(cli::parse_command_line(arguments));
            const std::string two =
                arguments.front() + " " + (arguments.size() > 1 ? arguments[1] : "");
            CHECK((arguments.front() == command.name || two == command.name));
        }
    }
}

TEST_CASE("no line of the help is longer than asked for") {
    for (const std::size_t columns : {80U, 100U}) {
        std::string text = cli::help_text("", {.columns = columns, .color = false});
        for (const auto& command : cli::commands()) {
            text += cli::help_text(command.name, {.columns = columns, .color = false});
        }
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            CHECK(line.size() <= columns);
        }
    }
}

TEST_CASE("colors are chosen on any command, and quiet where there is a report") {
    CHECK(cli::parse_command_line({"list"}).color == cli::ColorChoice::Auto);
    CHECK(cli::parse_command_line({"list", "--color", "always"}).color == cli::ColorChoice::Always);
    CHECK(cli::parse_command_line({"run", "--color=never", "cora"}).color ==
          cli::ColorChoice::Never);
    CHECK(cli::parse_command_line({"run", "--color=never", "--help"}).color ==
          cli::ColorChoice::Never);
    CHECK(refusal({"list", "--color", "allways"}).find("did you mean 'always'?") !=
          std::string::npos);
    CHECK(parsed<cli::RunCommand>({"run", "cora", "-q"}).quiet);
    CHECK_FALSE(parsed<cli::RunCommand>({"run", "cora"}).quiet);
    CHECK(parsed<cli::VertexCommand>({"vertex", "v", "--quiet"}).quiet);
    CHECK(parsed<cli::CalibrateCommand>({"calibrate", "-q"}).quiet);
    CHECK(parsed<cli::AssembleCommand>({"asm", "a.S", "-q"}).quiet);
    CHECK(refusal({"list", "-q"}) != "accepted");
}

TEST_CASE("values are taken by every option that has one, and words are checked") {
    const auto vertex = parsed<cli::VertexCommand>(
        {"vertex", "v",          "-I",       "a",         "-Ib",           "--include=c",
         "-DX=1",  "--define",   "Y",        "--dump",    "x=x.npy",       "--expect",
         "y.npy",  "--fit",      "a",        "--fit-of",  "worker_cycles", "--konata",
         "k",      "--lockstep", "--arrays", "--machine", "tiny",          "--json",
         "j",      "--out",      "o"});
    CHECK(vertex.include_directories == std::vector<std::string>{"a", "b", "c"});
    CHECK(vertex.defines == std::vector<std::string>{"X=1", "Y"});
    CHECK(vertex.dumps == std::vector<std::string>{"x=x.npy"});
    CHECK(vertex.expects == std::vector<std::string>{"y.npy"});
    CHECK(vertex.fit == "a");
    CHECK(vertex.fit_of == "worker_cycles");
    CHECK(vertex.konata == "k");
    CHECK(vertex.lockstep);
    CHECK(vertex.arrays);
    CHECK(vertex.machine == "tiny");
    CHECK(vertex.json == "j");
    CHECK(vertex.out_directory == "o");
    CHECK(parsed<cli::VertexCommand>({"vertex", "v"}).fit_of == "tile_cycles");
    CHECK(refusal({"vertex", "v", "--fit", "a", "--fit-of", "worker"}).find("worker_cycles") !=
          std::string::npos);
    CHECK(refusal({"run", "cora", "--trace", "t", "--trace-level", "tiles"})
              .find("did you mean 'tile'?") != std::string::npos);
    const auto assembly = parsed<cli::AssembleCommand>({"asm", "a.S", "b.S", "--address", "0x4c000",
                                                        "--out", "o", "--json", "-", "--listing",
                                                        "--set", "tile.workers=4", "-DN=2", "-Id"});
    CHECK(assembly.files == std::vector<std::string>{"a.S", "b.S"});
    CHECK(assembly.machine == "bow");
    CHECK(assembly.address == "0x4c000");
    CHECK(assembly.out == "o");
    CHECK(assembly.json == "-");
    CHECK(assembly.listing);
    CHECK(assembly.sets == std::vector<std::string>{"tile.workers=4"});
    CHECK(assembly.defines == std::vector<std::string>{"N=2"});
    CHECK(assembly.include_directories == std::vector<std::string>{"d"});
    const auto words = parsed<cli::DisassembleCommand>({"disasm", "w", "--hex", "--address", "8"});
    CHECK(words.file == "w");
    CHECK(words.hex);
    CHECK(words.address == "8");
    const auto calibrate =
        parsed<cli::CalibrateCommand>({"calibrate", "--reference", "r", "--group", "g", "--csv",
                                       "-", "--threads", "1024", "--check"});
    CHECK(calibrate.reference == "r");
    CHECK(calibrate.group == "g");
    CHECK(calibrate.csv == "-");
    CHECK(calibrate.threads == 1024);
    CHECK(calibrate.check);
    CHECK(refusal({"calibrate", "--threads", "1025"}).find("expected 1..1024") !=
          std::string::npos);
    CHECK(refusal({"run", "cora", "--threads", "2x"}).find("got '2x', expected a whole number") !=
          std::string::npos);
    const auto describe = parsed<cli::DescribeCommand>(
        {"describe", "workload", "cora", "--set", "workload.n=8", "--json"});
    CHECK(describe.what == "workload");
    CHECK(describe.name == "cora");
    CHECK(describe.sets.size() == 1);
    CHECK(describe.json);
    CHECK(parsed<cli::CheckCommand>({"check", "a", "b"}).files.size() == 2);
    CHECK(parsed<cli::SchemaCommand>({"schema", "result"}).what == "result");
    CHECK(parsed<cli::CompletionCommand>({"completion", "zsh"}).shell == "zsh");
    CHECK(parsed<cli::ListCommand>({"list", "workloads", "--paths"}).paths);
    CHECK(parsed<cli::ListCommand>({"list", "workloads", "--names"}).names);
    CHECK(refusal({"list", "--names"}).find("needs the kind of thing") != std::string::npos);
    CHECK(refusal({"list", "machines", "--names", "--paths"}).find("one of them") !=
          std::string::npos);
    CHECK(refusal({"completion", "fish"}).find("expected one of bash, zsh") != std::string::npos);
}

TEST_CASE("a command takes as many operands as it has a use for") {
    using Words = std::vector<std::string>;
    for (const Words& most : {Words{"vertex", "v"}, Words{"calibrate"}, Words{"list", "machines"},
                              Words{"describe", "workload", "cora"}, Words{"schema", "result"},
                              Words{"disasm", "f"}, Words{"completion", "bash"}, Words{"manual"},
                              Words{"help", "run"}, Words{"help", "sweep", "run"},
                              Words{"sweep", "show", "s"}, Words{"sweep", "diff", "a", "b"}}) {
        CAPTURE(most);
        CHECK(refusal(most) == "accepted");
        Words more = most;
        more.push_back(most.size() > 1 ? most.back() : "x");
        CHECK(refusal(more) != "accepted");
    }
    for (const Words& fewest :
         {Words{"run", "w"}, Words{"vertex", "v"}, Words{"describe", "machine"}, Words{"asm", "f"},
          Words{"check", "f"}, Words{"schema", "result"}, Words{"disasm", "f"},
          Words{"completion", "zsh"}}) {
        CAPTURE(fewest);
        CHECK(refusal(fewest) == "accepted");
        CHECK(refusal({fewest.front()}) != "accepted");
    }
}

TEST_CASE("arrays, files and macros are named as asked for") {
    for (const std::string wrong : {"x", "x=", "=x.npy", ""}) {
        CAPTURE(wrong);
        CHECK(refusal({"vertex", "v", "--dump=" + wrong}) != "accepted");
    }
    CHECK(refusal({"vertex", "v", "--expect", "=x.npy"}).find("expected ARRAY=FILE.npy") !=
          std::string::npos);
    CHECK(refusal({"vertex", "v", "--expect", "x.npy"}) == "accepted");
    CHECK(refusal({"vertex", "v", "-D", "=3"}).find("expected NAME or NAME=VALUE") !=
          std::string::npos);
    for (const std::string option :
         {"--machine", "--json", "--csv", "--out", "--memory", "--trace"}) {
        CHECK(refusal({"run", "cora", option, ""}).find("got an empty text") != std::string::npos);
    }
    for (const std::string option :
         {"--machine", "--json", "--out", "--trace", "--konata", "--fit"}) {
        CAPTURE(option);
        CHECK(refusal({"vertex", "v", option, ""}).find("got an empty text") != std::string::npos);
    }
    for (const std::string option : {"--reference", "--group", "--csv"}) {
        CHECK(refusal({"calibrate", option, ""}).find("got an empty text") != std::string::npos);
    }
    CHECK(refusal({"run", "a", "b", "--memory", "m"}).find("several workloads") !=
          std::string::npos);
    CHECK(refusal({"run", "a", "--out", "o", "--trace-tiles", "0"}) == "accepted");
    CHECK(refusal({"run", "a", "--trace-level", "tile"}).find("there is no --trace") !=
          std::string::npos);
}

TEST_CASE("several machines are different ones, and what is of one run does not go with them") {
    const std::vector<std::string> both{"run", "cora", "--machine", "bow", "--machine", "gc2"};
    const auto with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = both;
        words.insert(words.end(), more.begin(), more.end());
        return refusal(words);
    };
    CHECK(with({"--json", "j", "--csv", "c", "--out", "o"}) == "accepted");
    CHECK(with({"--machine", "bow"}).find("got 'bow' twice") != std::string::npos);
    CHECK(with({"--machine", ""}).find("got an empty text") != std::string::npos);
    CHECK(with({"--trace", "t"}).find("--trace: got several machines") != std::string::npos);
    CHECK(with({"--memory", "m"}).find("--memory: got several machines") != std::string::npos);
    CHECK(with({"--point", "k"}).find("--point says which workload and machine") !=
          std::string::npos);
}

TEST_CASE("threads are one to a most, and an array's file has a name before its path") {
    for (const std::string command : {"run", "calibrate"}) {
        const auto given = [&](const std::string& threads) {
            std::vector<std::string> words{command, "--threads", threads};
            if (command == "run") {
                words.insert(words.begin() + 1, "cora");
            }
            return refusal(words);
        };
        for (const std::string taken : {"1", "2", "1023", "1024"}) {
            CHECK(given(taken) == "accepted");
        }
        for (const std::string wrong : {"0", "-1", "1025"}) {
            CHECK(given(wrong) ==
                  command + ": --threads: got " + wrong + ", expected 1..1024 threads");
        }
    }
    CHECK(refusal({"help"}) == "accepted");
    for (const std::string taken : {"a=b", "abc=f.npy", "a=b=c"}) {
        CHECK(refusal({"vertex", "v", "--dump", taken}) == "accepted");
        CHECK(refusal({"vertex", "v", "--expect", taken}) == "accepted");
    }
    for (const std::string wrong : {"a", "a=", "=a", "="}) {
        CHECK(refusal({"vertex", "v", "--dump", wrong}) ==
              "vertex: --dump: got '" + wrong + "', expected ARRAY=FILE.npy");
    }
}

namespace {

/// The manual page without the signs that keep a dash.
std::string plain_manual() {
    std::string manual = cli::manual_text();
    for (std::size_t at = 0; (at = manual.find("\\-", at)) != std::string::npos;) {
        manual.replace(at, 2, "-");
    }
    return manual;
}

} // namespace

TEST_CASE("an option is told with its value, its words and what holds without it") {
    struct Told {
        std::string command, option, head, manual_head, behind;
    };
    const std::string manual = plain_manual();
    for (const Told& told : {
             Told{"run", "threads", "--threads N", R"(\fB--threads\fR \fIN\fR)",
                  " (default all cores)"},
             {"run", "machine", "--machine M", R"(\fB--machine\fR \fIM\fR)", " (default bow)"},
             {"run", "mode", "--mode MODE", R"(\fB--mode\fR \fIMODE\fR)",
              ": functional, timing, auto, estimate"},
             {"run", "quiet", "-q, --quiet", R"(\fB-q\fR, \fB--quiet\fR)", ""},
             {"pattern make", "block", "--block B", R"(\fB--block\fR \fIB\fR)", " (default 1)"},
         }) {
        CAPTURE(told.command, told.option);
        const auto all = cli::all_options(cli::command_named(told.command));
        const auto option = std::find_if(all.begin(), all.end(),
                                         [&](const auto& one) { return one.name == told.option; });
        REQUIRE(option != all.end());
        const std::string text = option->sentence + told.behind;
        CHECK(manual.find(".TP\n" + told.manual_head + "\n" + text + "\n") != std::string::npos);
        const std::string help = cli::help_text(told.command, {.columns = 1000, .color = false});
        const std::size_t at = help.find("\n  " + told.head + " ");
        REQUIRE(at != std::string::npos);
        const std::string line = help.substr(at + 1, help.find('\n', at + 1) - at - 1);
        CHECK(line.substr(line.size() - text.size()) == text);
        CHECK(line.find_first_not_of(' ', 2 + told.head.size()) == line.size() - text.size());
    }
}

TEST_CASE("the help of the program has four examples, that of a group one of each command") {
    const auto count = [](const std::string& text, const std::string& part) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) {
            ++found;
        }
        return found;
    };
    const std::string whole = cli::help_text("");
    CHECK(count(whole.substr(whole.find("\nexamples\n")), "\n  tessera ") == 4);
    std::map<std::string, std::vector<std::string>> groups;
    for (const auto& command : cli::commands()) {
        const std::size_t space = command.name.find(' ');
        if (space != std::string::npos) {
            groups[command.name.substr(0, space)].push_back(command.name.substr(space + 1));
        }
    }
    for (const auto& [word, seconds] : groups) {
        const std::string text = cli::help_text(word, {.columns = 1000, .color = false});
        CHECK(text.find(fmt::format("tessera {} {} ...\n", word, fmt::join(seconds, "|"))) == 0);
        CHECK(count(text.substr(text.find("\nexamples\n")), "\n  tessera ") == seconds.size());
        CHECK(text.find(fmt::format("`tessera help {} {}` shows options.\n", word,
                                    seconds.front())) != std::string::npos);
        for (const std::string& second : seconds) {
            CHECK(text.find(fmt::format("\n  {} {} ", word, second)) != std::string::npos);
        }
    }
}

TEST_CASE("completions and the manual page have every command and option") {
    const std::string bash = cli::completion_text({"bash"});
    const std::string zsh = cli::completion_text({"zsh"});
    const std::string manual = plain_manual();
    CHECK(zsh.find("#compdef tessera\n") == 0);
    const std::size_t first = bash.find("COMP_CWORD == 1");
    const std::string words = bash.substr(first, bash.find("return", first) - first);
    for (const std::string word : {"--version", "--help", "run", "manual"}) {
        CAPTURE(word, words);
        CHECK(words.find(word) != std::string::npos);
    }
    CHECK(manual.find(".TH TESSERA 1") == 0);
    for (const auto& command : cli::commands()) {
        CAPTURE(command.name);
        const bool two_words = command.name.find(' ') != std::string::npos;
        const std::string pattern = two_words ? "'" + command.name + "'" : command.name;
        CHECK(bash.find("\n        " + pattern + ")\n") != std::string::npos);
        CHECK(zsh.find("\n            " + pattern + ")\n") != std::string::npos);
        CHECK(manual.find(".SS \"tessera " + command.name) != std::string::npos);
        for (const auto& option : cli::all_options(command)) {
            CHECK(bash.find("--" + option.name) != std::string::npos);
            CHECK(zsh.find("--" + option.name) != std::string::npos);
            CHECK(manual.find("\\fB--" + option.name + "\\fR") != std::string::npos);
        }
    }
    for (const auto& code : cli::exit_codes()) {
        CHECK(manual.find(std::string(code.sentence).substr(0, 8)) != std::string::npos);
        CHECK(cli::help_text("").find(fmt::format("{:>5}  {}", code.code, code.sentence)) !=
              std::string::npos);
    }
}
