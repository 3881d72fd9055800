// SPDX-License-Identifier: MIT
#include "sim/cli/cli.h"
#include "sim/cli/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

/// "-I, --include DIR"
std::string option_head(const OptionSpec& option) {
    return fmt::format("{}--{}{}{}",
                       option.letter == '\0' ? "" : fmt::format("-{}, ", option.letter),
                       option.name, option.value.empty() ? "" : " ", option.value);
}

std::string option_sentence(const OptionSpec& option) {
    std::string text = option.sentence;
    if (!option.words.empty()) {
        text += ":";
        for (const auto& word : option.words) {
            text += (&word == &option.words.front() ? " " : ", ") + word;
        }
    }
    const std::string& shown =
        option.otherwise_shown.empty() ? option.otherwise : option.otherwise_shown;
    return text + (shown.empty() ? "" : fmt::format(" (default {})", shown));
}

std::string title(const Layout& layout, const std::string& word) {
    return "\n" + painted(layout, Paint::Head, word) + "\n";
}

std::string examples_text(const Layout& layout, const std::vector<Example>& examples) {
    std::string text;
    for (const auto& example : examples) {
        text += "  " + example.command + "\n" + wrapped(layout, 6, example.sentence);
    }
    return text;
}

std::string of_command(const CommandSpec& command, const Layout& layout) {
    std::string text =
        wrapped(layout, 0, fmt::format("tessera {} {}", command.name, command.usage)) + "\n" +
        wrapped(layout, 0, command.sentence);
    Rows rows;
    for (const auto& option : all_options(command)) {
        rows.push_back({option_head(option), option_sentence(option)});
    }
    text += title(layout, "options") + table(layout, 2, {Align::Left, Align::Left}, rows);
    return text + title(layout, "examples") + examples_text(layout, command.examples);
}

std::string of_group(const std::string& word, const Layout& layout) {
    Rows rows;
    std::vector<Example> examples;
    for (const std::string& second : group(word)) {
        const CommandSpec& command = command_named(word + " " + second);
        rows.push_back({command.name, command.sentence});
        examples.push_back(command.examples.front());
    }
    return wrapped(layout, 0, fmt::format("tessera {} {} ...", word, fmt::join(group(word), "|"))) +
           title(layout, "commands") + table(layout, 2, {Align::Left, Align::Left}, rows) +
           title(layout, "examples") + examples_text(layout, examples) + "\n" +
           wrapped(layout, 0,
                   fmt::format("`tessera help {} {}` shows options.", word, group(word).front()));
}

std::string of_program(const Layout& layout) {
    std::string text = wrapped(layout, 0, kWhatItIs);
    Rows rows;
    std::vector<Example> examples;
    for (const auto& command : commands()) {
        rows.push_back({command.name, command.sentence});
        if (examples.size() < 4) {
            examples.push_back(command.examples.front());
        }
    }
    text += title(layout, "commands") + table(layout, 2, {Align::Left, Align::Left}, rows);
    text += title(layout, "examples") + examples_text(layout, examples);
    rows.clear();
    for (const auto& code : exit_codes()) {
        rows.push_back({std::to_string(code.code), code.sentence});
    }
    text += title(layout, "exit codes") + table(layout, 2, {Align::Right, Align::Left}, rows);
    rows.clear();
    for (const auto& variable : environment_variables()) {
        rows.push_back({variable.name, variable.sentence});
    }
    text += title(layout, "environment") + table(layout, 2, {Align::Left, Align::Left}, rows);
    return text + "\n" +
           wrapped(layout, 0,
                   "`tessera help COMMAND` shows the options of a command and examples, "
                   "`tessera --version` the version.");
}

} // namespace

std::string help_text(const std::string& topic, const Layout& layout) {
    if (is_group(topic)) {
        return of_group(topic, layout);
    }
    return topic.empty() ? of_program(layout) : of_command(command_named(topic), layout);
}

} // namespace tessera::cli
