// SPDX-License-Identifier: MIT
// Directives about where code and data go and who runs the code.
#include "models/isa/assembler/statement_parser.h"

#include <algorithm>
#include <array>
#include <limits>

namespace tessera::isa::assembly {
namespace {

bool starts_with_any(std::string_view name, std::span<const std::string_view> starts) {
    return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) {
        return name.substr(0, start.size()) == start &&
               (name.size() == start.size() || name[start.size()] == '.' ||
                name[start.size()] == '_');
    });
}

constexpr std::array<std::string_view, 5> kDataNames = {".data", ".rodata", ".bss", ".sdata",
                                                        ".sbss"};
constexpr std::array<std::string_view, 3> kToolNames = {".debug", ".note", ".comment"};

} // namespace

// ---- sections

void StatementParser::enter_section(std::string_view name, std::int64_t subsection,
                                    std::string_view flags, bool has_flags) {
    auto& sections = state_.unit.sections;
    const auto next = static_cast<std::uint32_t>(sections.size());
    const auto [found, is_new] = section_numbers_.emplace(std::pair(name, subsection), next);
    const std::uint32_t number = found->second;
    if (is_new) {
        Section fresh;
        fresh.name = name;
        fresh.file = state_.file;
        fresh.subsection = subsection;
        fresh.group = next;
        auto sibling =
            section_numbers_.lower_bound({name, std::numeric_limits<std::int64_t>::min()});
        if (sibling == found) {
            ++sibling;
        }
        if (sibling != section_numbers_.end() && sibling->first.first == name) {
            const Section& other = sections[sibling->second];
            fresh.group = other.group;
            fresh.is_data = other.is_data;
            fresh.is_loaded = other.is_loaded;
        } else {
            fresh.is_data = has_flags ? flags.find('x') == std::string_view::npos
                                      : starts_with_any(name, kDataNames);
            fresh.is_loaded = has_flags ? flags.find('a') != std::string_view::npos
                                        : !starts_with_any(name, kToolNames);
        }
        sections.push_back(std::move(fresh));
    }
    section_ = number;
}

void StatementParser::go_to_section(std::uint32_t number) {
    previous_section_ = section_;
    section_ = number;
}

void StatementParser::do_section(const Token& name) {
    const auto section_name = name_argument(name);
    if (!section_name) {
        return;
    }
    const std::string_view text = state_.unit.names.intern(section_name->text);
    std::string_view flags;
    bool has_flags = false;
    if (state_.cursor.accept(",") && state_.cursor.peek().kind == TokenKind::String) {
        flags = state_.cursor.peek().text;
        has_flags = true;
    }
    skip_statement();
    if (directive_->argument == 1) {
        pushed_sections_.emplace_back(section_, previous_section_);
    }
    const std::uint32_t before = section_;
    enter_section(text, 0, flags, has_flags);
    previous_section_ = before;
}

void StatementParser::do_pop_section(const Token& name) {
    if (pushed_sections_.empty()) {
        state_.diagnostics.add(name.at, ".popsection: no .pushsection is open");
        return;
    }
    section_ = pushed_sections_.back().first;
    previous_section_ = pushed_sections_.back().second;
    pushed_sections_.pop_back();
}

void StatementParser::do_previous(const Token&) {
    go_to_section(previous_section_);
}

void StatementParser::do_named_section(const Token& name) {
    const std::uint32_t before = section_;
    enter_section(name.text, 0, "", false);
    if (state_.cursor.peek().kind == TokenKind::Number) {
        do_subsection(name);
    }
    previous_section_ = before;
}

void StatementParser::do_subsection(const Token& name) {
    const auto number = known_number(name, "a number");
    if (!number) {
        return;
    }
    const std::uint32_t before = section_;
    enter_section(section().name, *number, "", false);
    previous_section_ = before;
}

// ---- modes and checks

void StatementParser::do_mode(const Token&) {
    mode_ = static_cast<Mode>(directive_->argument);
}

void StatementParser::do_optimise(const Token&) {
    checks_.may_optimise = directive_->argument == 1;
}

void StatementParser::do_check(const Token& name) {
    const auto severity = static_cast<Severity>(directive_->argument);
    if (name.text.ends_with("_bundles")) {
        checks_.bundles = severity;
    } else if (name.text.ends_with("_operands")) {
        checks_.operands = severity;
    } else if (name.text.ends_with("_execution_mode")) {
        checks_.execution_mode = severity;
    } else {
        checks_.repeat = severity;
    }
}

} // namespace tessera::isa::assembly
