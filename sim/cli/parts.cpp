// SPDX-License-Identifier: MIT
#include "sim/cli/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace tessera::cli {
namespace {

constexpr int kMaxThreads = 1024;

} // namespace

std::string default_threads() {
    return std::to_string(std::clamp(std::thread::hardware_concurrency(), 1U, 1024U));
}

OptionSpec flag(std::string name, std::string sentence) {
    return {.name = std::move(name), .value = {}, .sentence = std::move(sentence)};
}

OptionSpec text(std::string name, std::string value, std::string sentence, Completes completes) {
    return {.name = std::move(name),
            .value = std::move(value),
            .takes = Takes::Text,
            .sentence = std::move(sentence),
            .completes = completes};
}

OptionSpec texts(std::string name, std::string value, std::string sentence, Completes completes) {
    OptionSpec option = text(std::move(name), std::move(value),
                             std::move(sentence) + "; may be repeated", completes);
    option.takes = Takes::Texts;
    return option;
}

OptionSpec word(std::string name, std::string value, std::string sentence,
                std::vector<std::string> words, std::string otherwise) {
    OptionSpec option =
        text(std::move(name), std::move(value), std::move(sentence), Completes::Words);
    option.words = std::move(words);
    option.otherwise = std::move(otherwise);
    return option;
}

OptionSpec shortened(char letter, OptionSpec option) {
    option.letter = letter;
    return option;
}

OptionSpec otherwise(std::string value, OptionSpec option, std::string shown) {
    option.otherwise = std::move(value);
    option.otherwise_shown = std::move(shown);
    return option;
}

OptionSpec number(std::string name, std::string value, std::string sentence) {
    OptionSpec option =
        text(std::move(name), std::move(value), std::move(sentence), Completes::Nothing);
    option.takes = Takes::Number;
    return option;
}

OptionSpec threads(std::string sentence) {
    return otherwise(default_threads(), number("threads", "N", std::move(sentence)), "all cores");
}

OptionSpec machine(std::string sentence) {
    return otherwise("bow", text("machine", "M", std::move(sentence), Completes::Machine));
}

OptionSpec quiet() {
    return shortened('q', flag("quiet", "print no report, only errors and warnings"));
}

OptionSpec include() {
    return shortened(
        'I', texts("include", "DIR", "look for included files in DIR too", Completes::Directory));
}

OptionSpec define() {
    return shortened('D', texts("define", "X=Y",
                                "define a preprocessor macro of the sources, 1 without a value"));
}

void refuse_empty(const std::string& command, const std::string& option, const std::string& text) {
    if (text.empty()) {
        throw UsageError(
            fmt::format("{}: --{}: got an empty text, expected a name or a file", command, option));
    }
}

void refuse_empty(const std::string& command, const Given& given,
                  const std::vector<std::string>& names) {
    for (const auto& name : names) {
        if (given.has(name)) {
            refuse_empty(command, name, given.text(name));
        }
    }
}

void refuse_dash_folder(const std::string& command, const std::string& folder,
                        const std::string& option) {
    if (folder == "-") {
        throw UsageError(fmt::format("{}: --{}: got '-', expected a folder", command, option));
    }
}

int threads_of(const std::string& command, const Given& given, const std::string& option) {
    const int threads = given.number(option);
    if (threads < 1 || threads > kMaxThreads) {
        throw UsageError(fmt::format("{}: --{}: got {}, expected 1..{} threads", command, option,
                                     threads, kMaxThreads));
    }
    return threads;
}

std::string operand_or_nothing(const Given& given, std::size_t number) {
    return given.operands().size() > number ? given.operands()[number] : std::string{};
}

} // namespace tessera::cli
