// SPDX-License-Identifier: MIT
// The table of all commands. Parsing, help, shell completion and the manual page are made from it,
// so a command or an option is added here and nowhere else.
#pragma once

#include "sim/cli/cli.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tessera::cli {

/// What may stand where a name or value is expected, for shells.
enum class Completes {
    Nothing,
    File,
    Directory,
    Machine,
    Workload,
    Vertex,
    Sweep,
    Parameter,
    Words
};

enum class Takes { Nothing, Text, Texts, Number }; ///< Texts: the option may be repeated

struct OptionSpec {
    std::string name;  ///< without its dashes
    std::string value; ///< what its value is called, or empty
    Takes takes = Takes::Nothing;
    std::string sentence;
    Completes completes = Completes::Nothing;
    std::vector<std::string> words = {}; ///< the only values, of Completes::Words
    std::string otherwise = {};          ///< the value where it is not given; empty: none
    std::string otherwise_shown = {};    ///< the same in words, where that says more
    char letter = '\0';                  ///< its short form, or none
};

/// What stands behind a command besides options.
struct OperandSpec {
    std::string word; ///< for messages: "workload"
    std::size_t least = 0;
    std::size_t most = 0;
    Completes completes = Completes::Nothing;
    std::vector<std::string> words = {}; ///< of Completes::Words: the first operand is one of these
    bool then_a_name = false;            ///< the second is a name of the kind that the first says
};

struct Example {
    std::string command;
    std::string sentence;
};

/// The values of a command line, checked against the table.
class Given {
public:
    virtual ~Given() = default;
    [[nodiscard]] virtual bool has(const std::string& option) const = 0; ///< not by default
    [[nodiscard]] virtual std::string text(const std::string& option) const = 0;
    [[nodiscard]] virtual std::vector<std::string> texts(const std::string& option) const = 0;
    [[nodiscard]] virtual int number(const std::string& option) const = 0;
    [[nodiscard]] virtual const std::vector<std::string>& operands() const = 0;
};

struct CommandSpec {
    std::string name;  ///< one word, or two: "sweep run"
    std::string usage; ///< behind "tessera name "
    std::string sentence;
    OperandSpec operands;
    std::vector<OptionSpec> options; ///< without those that all commands have
    std::vector<Example> examples;
    std::function<Command(const Given&)> make;
};

[[nodiscard]] const std::vector<CommandSpec>& commands();
/// The second words of the commands whose first is `word`; empty for a command of one word.
[[nodiscard]] std::vector<std::string> group(const std::string& word);
[[nodiscard]] inline bool is_group(const std::string& word) {
    return !group(word).empty();
}
/// @throws UsageError with the nearest name
[[nodiscard]] const CommandSpec& command_named(const std::string& name);

/// Its own options, then those that all commands have.
[[nodiscard]] std::vector<OptionSpec> all_options(const CommandSpec& command);

struct ExitCodeSpec {
    int code;
    const char* sentence;
};
[[nodiscard]] const std::vector<ExitCodeSpec>& exit_codes();

struct VariableSpec {
    const char* name;
    const char* sentence;
};
[[nodiscard]] const std::vector<VariableSpec>& environment_variables();

inline constexpr const char* kWhatItIs =
    "tessera simulates an IPU-like machine, instruction by instruction.";

// From the values of a command line to a command, one function a command. @throws UsageError
[[nodiscard]] Command make_run(const Given& given);
[[nodiscard]] Command make_vertex(const Given& given);
[[nodiscard]] Command make_calibrate(const Given& given);
[[nodiscard]] Command make_report(const Given& given);
[[nodiscard]] Command make_list(const Given& given);
[[nodiscard]] Command make_describe(const Given& given);
[[nodiscard]] Command make_diff(const Given& given);
[[nodiscard]] Command make_explain(const Given& given);
[[nodiscard]] Command make_plot(const Given& given);
[[nodiscard]] Command make_check(const Given& given);
[[nodiscard]] Command make_schema(const Given& given);
[[nodiscard]] Command make_import(const Given& given);
[[nodiscard]] Command make_assemble(const Given& given);
[[nodiscard]] Command make_disassemble(const Given& given);
[[nodiscard]] Command make_completion(const Given& given);
[[nodiscard]] Command make_manual(const Given& given);
[[nodiscard]] Command make_help(const Given& given);

/// `tessera sweep ...` (cli_sweep.cpp).
[[nodiscard]] std::vector<CommandSpec> sweep_commands();

/// `tessera pattern ...` (pattern.cpp).
[[nodiscard]] std::vector<CommandSpec> pattern_commands();

} // namespace tessera::cli
