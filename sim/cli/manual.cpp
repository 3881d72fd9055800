// SPDX-License-Identifier: MIT
#include "sim/cli/cli.h"
#include "sim/cli/table.h"

#include <fmt/format.h>

namespace tessera::cli {
namespace {

/// Text as troff shows it unchanged.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    }
    const bool is_request = !out.empty() && (out.front() == '.' || out.front() == '\'');
    return (is_request ? "\\&" : "") + out;
}

std::string item(const std::string& head, const std::string& text) {
    return ".TP\n" + head + "\n" + escaped(text) + "\n";
}

std::string option_item(const OptionSpec& option) {
    std::string head = option.letter == '\0' ? "" : fmt::format("\\fB\\-{}\\fR, ", option.letter);
    head += fmt::format("\\fB{}\\fR", escaped("--" + option.name));
    if (!option.value.empty()) {
        head += fmt::format(" \\fI{}\\fR", escaped(option.value));
    }
    std::string text = option.sentence;
    for (const auto& word : option.words) {
        text += (&word == &option.words.front() ? ": " : ", ") + word;
    }
    const std::string& shown =
        option.otherwise_shown.empty() ? option.otherwise : option.otherwise_shown;
    return item(head, text + (shown.empty() ? "" : " (default " + shown + ")"));
}

std::string command_section(const CommandSpec& command) {
    std::string text = fmt::format(".SS \"tessera {} {}\"\n{}.\n", command.name,
                                   escaped(command.usage), escaped(command.sentence));
    for (const auto& option : command.options) {
        text += option_item(option);
    }
    for (const auto& example : command.examples) {
        text += fmt::format(".PP\n{}:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", escaped(example.sentence),
                            escaped(example.command));
    }
    return text;
}

} // namespace

std::string manual_text() {
    std::string text = fmt::format(".TH TESSERA 1 \"\" \"tessera {}\" \"User Commands\"\n"
                                   ".SH NAME\ntessera \\- simulator of an IPU\\-like machine\n"
                                   ".SH SYNOPSIS\n\\fBtessera\\fR \\fICOMMAND\\fR [options]\n"
                                   ".SH DESCRIPTION\n{}\n.SH COMMANDS\n",
                                   TESSERA_VERSION, escaped(kWhatItIs));
    for (const auto& command : commands()) {
        text += command_section(command);
    }
    text += ".SH \"OPTIONS OF ALL COMMANDS\"\n";
    const CommandSpec none{};
    for (const auto& option : all_options(none)) {
        text += option_item(option);
    }
    text += ".SH \"EXIT STATUS\"\n";
    for (const auto& code : exit_codes()) {
        text += item(std::to_string(code.code), code.sentence);
    }
    text += ".SH ENVIRONMENT\n";
    for (const auto& variable : environment_variables()) {
        text += item(variable.name, variable.sentence);
    }
    return text + ".SH \"SEE ALSO\"\nThe pages in docs/ of the project's sources.\n";
}

} // namespace tessera::cli
