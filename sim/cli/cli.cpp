// SPDX-License-Identifier: MIT
#include "sim/cli/cli.h"

#include "base/config/suggest.h"
#include "base/text.h"
#include "sim/cli/table.h"

#include <boost/program_options.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace tessera::cli {
namespace {

namespace po = boost::program_options;

constexpr std::size_t kMostSets = 1000;
constexpr const char* kOperands = "operands"; ///< Boost's name for what is no option

void one_of(const std::string& where, const std::string& given,
            const std::vector<std::string>& allowed) {
    if (std::find(allowed.begin(), allowed.end(), given) == allowed.end()) {
        const std::string hint = config::did_you_mean(given, allowed);
        throw UsageError(fmt::format("{}: got {}, expected one of {}{}{}", where, in_quotes(given),
                                     fmt::join(allowed, ", "), hint.empty() ? "" : "; ", hint));
    }
}

/// All options of the table as Boost's; each one a text or a flag.
po::options_description boost_options(const std::vector<OptionSpec>& options) {
    po::options_description description;
    for (const auto& option : options) {
        const std::string name =
            option.name + (option.letter == '\0' ? "" : "," + std::string(1, option.letter));
        if (option.takes == Takes::Nothing) {
            description.add_options()(name.c_str(), "");
        } else if (option.takes == Takes::Texts) {
            description.add_options()(name.c_str(),
                                      po::value<std::vector<std::string>>()->composing(), "");
        } else {
            description.add_options()(name.c_str(), po::value<std::string>(), "");
        }
    }
    return description;
}

class Parsed final : public Given {
public:
    Parsed(const CommandSpec& command, po::variables_map values)
        : command_(command), options_(all_options(command)), values_(std::move(values)) {
        if (values_.count(kOperands) != 0) {
            operands_ = values_[kOperands].as<std::vector<std::string>>();
        }
        for (const auto& option : options_) {
            if (has(option.name) && option.completes == Completes::Words) {
                one_of(command_.name + ": --" + option.name, text(option.name), option.words);
            }
        }
    }

    bool has(const std::string& option) const override { return values_.count(option) != 0; }
    std::string text(const std::string& option) const override {
        return has(option) ? values_[option].as<std::string>() : spec(option).otherwise;
    }
    std::vector<std::string> texts(const std::string& option) const override {
        return has(option) ? values_[option].as<std::vector<std::string>>()
                           : std::vector<std::string>{};
    }
    int number(const std::string& option) const override {
        const std::string written = text(option);
        int value = 0;
        const char* const end = written.data() + written.size();
        const auto [stop, error] = std::from_chars(written.data(), end, value);
        if (error != std::errc{} || stop != end) {
            throw UsageError(fmt::format("{}: --{}: got {}, expected a whole number", command_.name,
                                         option, in_quotes(written)));
        }
        return value;
    }
    const std::vector<std::string>& operands() const override { return operands_; }

private:
    const OptionSpec& spec(const std::string& name) const {
        return *std::find_if(options_.begin(), options_.end(),
                             [&](const OptionSpec& option) { return option.name == name; });
    }

    const CommandSpec& command_;
    std::vector<OptionSpec> options_;
    po::variables_map values_;
    std::vector<std::string> operands_;
};

/// The last argument that Boost says it choked on may name the option with or without dashes.
[[noreturn]] void refuse_option(const CommandSpec& command, std::string given) {
    if (given.rfind('-', 0) != 0) {
        given.insert(0, "--");
    }
    std::vector<std::string> names;
    for (const auto& option : all_options(command)) {
        names.push_back("--" + option.name);
    }
    const std::string hint = config::did_you_mean(given, names);
    throw UsageError(
        fmt::format("{}: unknown option {}; {}", command.name, in_quotes(given),
                    hint.empty() ? fmt::format("see `tessera help {}`", command.name) : hint));
}

po::variables_map values_of(const CommandSpec& command, const std::vector<std::string>& arguments) {
    po::options_description all = boost_options(all_options(command));
    all.add_options()(kOperands, po::value<std::vector<std::string>>());
    po::positional_options_description positional;
    positional.add(kOperands, -1);
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
        refuse_option(command, error.get_option_name());
    } catch (const po::error& error) {
        throw UsageError(fmt::format("{}: {}", command.name, error.what()));
    }
    return values;
}

void check_operands(const CommandSpec& command, const std::vector<std::string>& operands) {
    const OperandSpec& spec = command.operands;
    if (operands.size() < spec.least || operands.size() > spec.most) {
        throw UsageError(fmt::format("{}: got {} names, expected {}: tessera {} {}", command.name,
                                     operands.size(),
                                     operands.size() < spec.least ? "a " + spec.word : "fewer",
                                     command.name, command.usage));
    }
    if (spec.completes == Completes::Words && !operands.empty() && command.name != "help") {
        one_of(command.name, operands.front(), spec.words);
    }
}

void check_sets(const CommandSpec& command, const std::vector<std::string>& sets) {
    if (sets.size() > kMostSets) {
        throw UsageError(fmt::format("{}: got {} options --set, expected at most {}", command.name,
                                     sets.size(), kMostSets));
    }
}

ColorChoice color_of(const Given& given) {
    const std::string color = given.text("color");
    return color == "always"  ? ColorChoice::Always
           : color == "never" ? ColorChoice::Never
                              : ColorChoice::Auto;
}

} // namespace

CommandLine parse_command_line(const std::vector<std::string>& arguments) {
    if (arguments.empty()) {
        throw UsageError("expected a command; see `tessera help`");
    }
    const std::string& first = arguments.front();
    if (first == "--version") {
        return {VersionCommand{}};
    }
    if (first == "--help" || first == "-h") {
        return {HelpCommand{}};
    }
    if (first.rfind('-', 0) == 0) {
        const std::string hint = config::did_you_mean(first, {"--version", "--help"});
        throw UsageError(
            fmt::format("unknown option {}; {}", in_quotes(first),
                        hint.empty() ? "the command comes first, see `tessera help`" : hint));
    }
    const std::size_t words = is_group(first) ? 2 : 1;
    if (arguments.size() < words || (words == 2 && arguments[1].rfind('-', 0) == 0)) {
        if (arguments.size() > 1 && (arguments[1] == "--help" || arguments[1] == "-h")) {
            return {HelpCommand{first}};
        }
        throw UsageError(fmt::format("{}: expected {}", first, fmt::join(group(first), ", ")));
    }
    const CommandSpec& command = command_named(words == 1 ? first : first + " " + arguments[1]);
    const auto behind = arguments.begin() + static_cast<std::ptrdiff_t>(words);
    const Parsed parsed(command, values_of(command, {behind, arguments.end()}));
    if (parsed.has("help")) {
        return {HelpCommand{command.name}, color_of(parsed)};
    }
    check_operands(command, parsed.operands());
    check_sets(command, parsed.texts("set"));
    return {command.make(parsed), color_of(parsed)};
}

} // namespace tessera::cli
