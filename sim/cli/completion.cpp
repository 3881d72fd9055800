// SPDX-License-Identifier: MIT
#include "sim/cli/cli.h"
#include "sim/cli/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::cli {
namespace {

/// Text within single quotes of a shell.
std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return out + "'";
}

std::string first_word(const CommandSpec& command) {
    return command.name.substr(0, command.name.find(' '));
}

/// In `case` of a shell.
std::string pattern_of(const CommandSpec& command) {
    return first_word(command) == command.name ? command.name : quoted(command.name);
}

/// What bash runs to complete a value; nothing: it offers nothing.
std::string bash_action(Completes completes, const std::vector<std::string>& words) {
    switch (completes) {
    case Completes::File:
        return "_tessera_files";
    case Completes::Directory:
        return "_tessera_directories";
    case Completes::Machine:
        return "_tessera_names machines; _tessera_files";
    case Completes::Workload:
        return "_tessera_names workloads; _tessera_files";
    case Completes::Vertex:
        return "_tessera_names vertices; _tessera_files";
    case Completes::Sweep:
        return "_tessera_names sweeps; _tessera_names workloads; _tessera_files";
    case Completes::Parameter:
        return "_tessera_parameters";
    case Completes::Words:
        return "_tessera_words " + quoted(fmt::format("{}", fmt::join(words, " ")));
    case Completes::Nothing:
        break;
    }
    return ":";
}

std::string bash_command(const CommandSpec& command) {
    std::vector<std::string> names;
    std::string values;
    for (const auto& option : all_options(command)) {
        names.push_back("--" + option.name);
        if (option.takes == Takes::Nothing) {
            continue;
        }
        const std::string letter = option.letter == '\0' ? "" : fmt::format("|-{}", option.letter);
        values += fmt::format("                --{}{}) {}; return ;;\n", option.name, letter,
                              bash_action(option.completes, option.words));
    }
    const std::string second = command.operands.then_a_name
                                   ? "            elif ((COMP_CWORD > 2)); then\n"
                                     "                _tessera_names \"${COMP_WORDS[2]}s\"\n"
                                   : "";
    return fmt::format("        {})\n            case $previous in\n{}            esac\n"
                       "            if [[ $current == -* ]]; then\n"
                       "                _tessera_words {}\n{}"
                       "            else\n                {}\n            fi ;;\n",
                       pattern_of(command), values,
                       quoted(fmt::format("{}", fmt::join(names, " "))), second,
                       bash_action(command.operands.completes, command.operands.words));
}

/// Of commands with two words: the second is asked for first.
std::string bash_group(const std::string& word) {
    return fmt::format("        {})\n            if ((COMP_CWORD == 2)); then\n"
                       "                _tessera_words {}\n                return\n"
                       "            fi\n            command+=\" ${{COMP_WORDS[2]}}\" ;;\n",
                       word, quoted(fmt::format("{}", fmt::join(group(word), " "))));
}

constexpr const char* kBashFrame =
    R"sh(# bash completion of tessera, made by `tessera completion bash`
_tessera_words() {{ COMPREPLY+=($(compgen -W "$1" -- "$current")); }}
_tessera_names() {{ _tessera_words "$("$program" list "$1" --names 2>/dev/null)"; }}
_tessera_files() {{ compopt -o filenames; COMPREPLY+=($(compgen -f -- "$current")); }}
_tessera_directories() {{ compopt -o filenames; COMPREPLY+=($(compgen -d -- "$current")); }}
_tessera_parameters() {{
    local names=$("$program" list parameters --names 2>/dev/null)
    compopt -o nospace
    COMPREPLY+=($(compgen -W "$names" -S = -- "$current"))
}}
_tessera() {{
    local program=$1 current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
    COMPREPLY=()
    # --option=value is three words
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    if ((COMP_CWORD == 1)); then
        _tessera_words {}
        return
    fi
    local command=${{COMP_WORDS[1]}}
    case $command in
{}    esac
    case $command in
{}    esac
}}
complete -F _tessera tessera
)sh";

std::string bash_text() {
    std::vector<std::string> names;
    std::string groups;
    std::string cases;
    for (const auto& command : commands()) {
        const std::string word = first_word(command);
        if (names.empty() || names.back() != word) {
            names.push_back(word);
            groups += word == command.name ? "" : bash_group(word);
        }
        cases += bash_command(command);
    }
    names.insert(names.end(), {"--version", "--help"});
    return fmt::format(kBashFrame, quoted(fmt::format("{}", fmt::join(names, " "))), groups, cases);
}

/// What zsh does for a value.
std::string zsh_action(Completes completes, const std::vector<std::string>& words) {
    switch (completes) {
    case Completes::File:
        return "_files";
    case Completes::Directory:
        return "_files -/";
    case Completes::Machine:
        return "_tessera_names machines";
    case Completes::Workload:
        return "_tessera_names workloads";
    case Completes::Vertex:
        return "_tessera_names vertices";
    case Completes::Sweep:
        return "_tessera_names sweeps";
    case Completes::Parameter:
        return "_tessera_parameters";
    case Completes::Words:
        return fmt::format("({})", fmt::join(words, " "));
    case Completes::Nothing:
        break;
    }
    return " ";
}

/// Text inside the brackets of an argument of _arguments.
std::string zsh_described(const std::string& text) {
    std::string out;
    for (const char c : text) {
        out += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
    }
    return out;
}

std::string zsh_option(const OptionSpec& option) {
    const std::string repeated = option.takes == Takes::Texts ? "*" : "";
    const std::string sentence = "[" + zsh_described(option.sentence) + "]";
    const std::string value = option.takes == Takes::Nothing
                                  ? ""
                                  : fmt::format(":{}:{}", zsh_described(option.value),
                                                zsh_action(option.completes, option.words));
    const std::string equals = option.takes == Takes::Nothing ? "" : "=";
    std::string lines = quoted(repeated + "--" + option.name + equals + sentence + value);
    if (option.letter != '\0') {
        const std::string plus = option.takes == Takes::Nothing ? "" : "+";
        lines += " \\\n                " +
                 quoted(fmt::format("{}-{}{}{}{}", repeated, option.letter, plus, sentence, value));
    }
    return lines;
}

std::string zsh_command(const CommandSpec& command) {
    std::string text =
        fmt::format("            {})\n                _arguments", pattern_of(command));
    for (const auto& option : all_options(command)) {
        text += " \\\n                " + zsh_option(option);
    }
    if (command.operands.most > 0) {
        const bool one = command.operands.most == 1 || command.operands.then_a_name;
        text += " \\\n                " +
                quoted(fmt::format("{}:{}:{}", one ? "1" : "*", command.operands.word,
                                   zsh_action(command.operands.completes, command.operands.words)));
    }
    if (command.operands.then_a_name) {
        text += " \\\n                '2:name:_tessera_names ${line[1]}s'";
    }
    return text + " ;;\n";
}

std::string zsh_group(const std::string& word) {
    std::string cases;
    for (const std::string& second : group(word)) {
        cases += zsh_command(command_named(word + " " + second));
    }
    return fmt::format("            {})\n"
                       "                _arguments -C '1:command:({})' '*::argument:->second'\n"
                       "                if [[ $state == second ]]; then\n"
                       "                    case \"{} $line[1]\" in\n{}"
                       "                    esac\n                fi ;;\n",
                       word, fmt::join(group(word), " "), word, cases);
}

constexpr const char* kZshFrame = R"sh(#compdef tessera
# zsh completion of tessera, made by `tessera completion zsh`
_tessera_names() {{
    local -a names=(${{(f)"$(tessera list $1 --names 2>/dev/null)"}})
    compadd -a names
    _files -g '*.json'
}}
_tessera_parameters() {{
    local -a names=(${{(f)"$(tessera list parameters --names 2>/dev/null)"}})
    compadd -S = -a names
}}
_tessera() {{
    local state curcontext=$curcontext
    local -a line all=(
{}    )
    _arguments -C '1:command:->command' '*::argument:->argument'
    case $state in
    command) _describe command all ;;
    argument)
        case $line[1] in
{}        esac ;;
    esac
}}
if [[ $funcstack[1] == _tessera ]]; then
    _tessera "$@"
else
    compdef _tessera tessera
fi
)sh";

std::string zsh_text() {
    std::string described;
    std::string cases;
    std::string last_group;
    for (const auto& command : commands()) {
        const std::string word = first_word(command);
        const bool is_plain = word == command.name;
        if (!is_plain && word == last_group) {
            continue;
        }
        const std::string sentence =
            is_plain ? command.sentence : fmt::format("{}", fmt::join(group(word), ", "));
        described +=
            "        " + quoted(fmt::format("{}:{}", word, zsh_described(sentence))) + "\n";
        cases += is_plain ? zsh_command(command) : zsh_group(word);
        last_group = is_plain ? "" : word;
    }
    return fmt::format(kZshFrame, described, cases);
}

} // namespace

std::string completion_text(const CompletionCommand& command) {
    return command.shell == "zsh" ? zsh_text() : bash_text();
}

} // namespace tessera::cli
