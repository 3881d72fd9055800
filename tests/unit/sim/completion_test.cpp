// SPDX-License-Identifier: MIT
// What shells are told of each option and operand, read back from the scripts.
#include "sim/cli/cli.h"
#include "sim/cli/table.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace tessera;

namespace {

/// From `begin`, which stands there once, to the next `end`.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
    const auto at = text.find(begin);
    REQUIRE(at != std::string::npos);
    CHECK(text.find(begin, at + 1) == std::string::npos);
    const auto from = at + begin.size();
    return text.substr(from, text.find(end, from) - from);
}

/// The words of a line of a shell: single quotes hold words together, a backslash the next one.
std::vector<std::string> shell_words(const std::string& text) {
    std::vector<std::string> words;
    bool in_word = false;
    bool in_quotes = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const bool apart = !in_quotes && (c == ' ' || c == '\n');
        if (apart) {
            in_word = false;
            continue;
        }
        if (!in_quotes && c == '\\' && at + 1 < text.size() && text[at + 1] == '\n') {
            ++at;
            continue;
        }
        if (!in_word) {
            words.emplace_back();
            in_word = true;
        }
        if (c == '\'') {
            in_quotes = !in_quotes;
        } else if (!in_quotes && c == '\\') {
            words.back() += text[++at];
        } else {
            words.back() += c;
        }
    }
    return words;
}

const std::map<cli::Completes, std::string> kOfZsh{
    {cli::Completes::Nothing, " "},
    {cli::Completes::File, "_files"},
    {cli::Completes::Directory, "_files -/"},
    {cli::Completes::Machine, "_tessera_names machines"},
    {cli::Completes::Workload, "_tessera_names workloads"},
    {cli::Completes::Vertex, "_tessera_names vertices"},
    {cli::Completes::Sweep, "_tessera_names sweeps"},
    {cli::Completes::Parameter, "_tessera_parameters"}};
const std::map<cli::Completes, std::string> kOfBash{
    {cli::Completes::Nothing, ":"},
    {cli::Completes::File, "_tessera_files"},
    {cli::Completes::Directory, "_tessera_directories"},
    {cli::Completes::Machine, "_tessera_names machines; _tessera_files"},
    {cli::Completes::Workload, "_tessera_names workloads; _tessera_files"},
    {cli::Completes::Vertex, "_tessera_names vertices; _tessera_files"},
    {cli::Completes::Sweep, "_tessera_names sweeps; _tessera_names workloads; _tessera_files"},
    {cli::Completes::Parameter, "_tessera_parameters"}};

std::string list_of(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& word : words) {
        text += (text.empty() ? "" : " ") + word;
    }
    return text;
}

std::string pattern_of(const std::string& command) {
    return command.find(' ') == std::string::npos ? command : "'" + command + "'";
}

std::string escaped(std::string text) {
    for (std::size_t at = 0; (at = text.find_first_of("[]:\\", at)) != std::string::npos; at += 2) {
        text.insert(at, "\\");
    }
    return text;
}

} // namespace

TEST_CASE("zsh is told of every option what it takes, and of every operand") {
    const std::string zsh = cli::completion_text({"zsh"});
    for (const auto& command : cli::commands()) {
        CAPTURE(command.name);
        const auto action = [](cli::Completes completes, const std::vector<std::string>& words) {
            return completes == cli::Completes::Words ? "(" + list_of(words) + ")"
                                                      : kOfZsh.at(completes);
        };
        std::vector<std::string> expected;
        for (const auto& option : cli::all_options(command)) {
            const bool takes = option.takes != cli::Takes::Nothing;
            const std::string repeated = option.takes == cli::Takes::Texts ? "*" : "";
            const std::string rest =
                "[" + escaped(option.sentence) + "]" +
                (takes ? ":" + escaped(option.value) + ":" + action(option.completes, option.words)
                       : "");
            expected.push_back(repeated + "--" + option.name + (takes ? "=" : "") + rest);
            if (option.letter != '\0') {
                expected.push_back(repeated + "-" + option.letter + (takes ? "+" : "") + rest);
            }
        }
        const auto& operands = command.operands;
        if (operands.most != 0) {
            expected.push_back((operands.most == 1 || operands.then_a_name ? "1:" : "*:") +
                               operands.word + ":" + action(operands.completes, operands.words));
        }
        if (operands.then_a_name) {
            expected.emplace_back("2:name:_tessera_names ${line[1]}s");
        }
        const auto block = between(
            zsh, "\n            " + pattern_of(command.name) + ")\n                _arguments",
            " ;;\n");
        CHECK(shell_words(block) == expected);
        const std::string first = command.name.substr(0, command.name.find(' '));
        CHECK(zsh.find("        '" + first + ":") != std::string::npos);
        CHECK((first == command.name ||
               zsh.find("'1:command:(" + list_of(cli::group(first)) + ")'") != std::string::npos));
    }
}

TEST_CASE("bash is told of every option that takes something, and of every operand") {
    const std::string bash = cli::completion_text({"bash"});
    for (const auto& command : cli::commands()) {
        CAPTURE(command.name);
        const auto action = [](cli::Completes completes, const std::vector<std::string>& words) {
            return completes == cli::Completes::Words ? "_tessera_words '" + list_of(words) + "'"
                                                      : kOfBash.at(completes);
        };
        std::string expected = "            case $previous in\n";
        std::vector<std::string> names;
        for (const auto& option : cli::all_options(command)) {
            names.push_back("--" + option.name);
            if (option.takes != cli::Takes::Nothing) {
                expected += "                --" + option.name;
                expected += option.letter == '\0' ? "" : std::string("|-") + option.letter;
                expected += ") " + action(option.completes, option.words) + "; return ;;\n";
            }
        }
        expected += "            esac\n            if [[ $current == -* ]]; then\n"
                    "                _tessera_words '" +
                    list_of(names) + "'\n";
        expected += command.operands.then_a_name
                        ? "            elif ((COMP_CWORD > 2)); then\n"
                          "                _tessera_names \"${COMP_WORDS[2]}s\"\n"
                        : "";
        expected += "            else\n                " +
                    action(command.operands.completes, command.operands.words) +
                    "\n            fi ;;\n";
        CHECK(bash.find("\n        " + pattern_of(command.name) + ")\n" + expected) !=
              std::string::npos);
    }
}

TEST_CASE("no two options of a command have one name or one letter") {
    for (const auto& command : cli::commands()) {
        std::set<std::string> known;
        for (const auto& option : cli::all_options(command)) {
            CAPTURE(command.name, option.name);
            CHECK(known.insert(option.name).second);
            CHECK((option.letter == '\0' || known.insert(std::string(1, option.letter)).second));
        }
    }
}

TEST_CASE("help is given of every command, by its first word, which is offered once") {
    std::vector<std::string> words;
    for (const cli::CommandSpec& command : cli::commands()) {
        const std::string word = command.name.substr(0, command.name.find(' '));
        if (std::find(words.begin(), words.end(), word) == words.end()) {
            words.push_back(word);
        }
    }
    CHECK(words.size() > 8);
    const auto help = std::find_if(cli::commands().begin(), cli::commands().end(),
                                   [](const auto& command) { return command.name == "help"; });
    REQUIRE(help != cli::commands().end());
    CHECK(help->operands.words == words);
}
