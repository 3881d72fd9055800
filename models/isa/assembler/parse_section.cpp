// SPDX-License-Identifier: MIT
// Directives about where code and data go and who runs the code; and the table of all directives.
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

std::span<const StatementParser::Directive> StatementParser::directives() {
    using P = StatementParser;
    constexpr auto kError = static_cast<std::uint32_t>(Severity::Error);
    constexpr auto kWarning = static_cast<std::uint32_t>(Severity::Warning);
    constexpr auto kNothing = static_cast<std::uint32_t>(Severity::Nothing);
    static const std::vector<Directive> list = [] {
        std::vector<Directive> all = {
            // sections
            {".section", &P::do_section, 0},
            {".pushsection", &P::do_section, 1},
            {".popsection", &P::do_pop_section},
            {".previous", &P::do_previous},
            {".subsection", &P::do_subsection},
            {".text", &P::do_named_section},
            {".data", &P::do_named_section},
            {".rodata", &P::do_named_section},
            {".bss", &P::do_named_section},
            // who runs it, what is checked
            {".worker", &P::do_mode, static_cast<std::uint32_t>(Mode::Worker)},
            {".supervisor", &P::do_mode, static_cast<std::uint32_t>(Mode::Supervisor)},
            {".allow_optimizations", &P::do_optimise, 1},
            {".disallow_optimizations", &P::do_optimise, 0},
            // data
            {".byte", &P::do_data, 1},
            {".short", &P::do_data, 2},
            {".half", &P::do_data, 2},
            {".hword", &P::do_data, 2},
            {".2byte", &P::do_data, 2},
            {".int", &P::do_data, 4},
            {".long", &P::do_data, 4},
            {".word", &P::do_data, 4},
            {".4byte", &P::do_data, 4},
            {".quad", &P::do_data, 8},
            {".8byte", &P::do_data, 8},
            {".float", &P::do_real, 4},
            {".single", &P::do_real, 4},
            {".double", &P::do_real, 8},
            {".ascii", &P::do_string, 0},
            {".asciz", &P::do_string, 1},
            {".string", &P::do_string, 1},
            {".space", &P::do_space},
            {".skip", &P::do_space},
            {".zero", &P::do_space},
            {".fill", &P::do_fill},
            {".align", &P::do_align, 0},
            {".balign", &P::do_align, 0},
            {".p2align", &P::do_align, 1},
            {".org", &P::do_origin},
            // symbols
            {".equ", &P::do_set, 0, true},
            {".set", &P::do_set, 0, true},
            {".equiv", &P::do_set, 1, true},
            {".globl", &P::do_binding, 0},
            {".global", &P::do_binding, 0},
            {".weak", &P::do_binding, 1},
            {".local", &P::do_binding, 2},
            {".extern", &P::do_nothing},
            {".size", &P::do_size},
            // messages
            {".err", &P::do_message, 0, true},
            {".error", &P::do_message, 0, true},
            {".warning", &P::do_message, 1, true},
        };
        for (const std::string_view name : {".hidden",
                                            ".protected",
                                            ".internal",
                                            ".type",
                                            ".file",
                                            ".loc",
                                            ".ident",
                                            ".addrsig",
                                            ".addrsig_sym",
                                            ".cfi_sections",
                                            ".cfi_startproc",
                                            ".cfi_endproc",
                                            ".cfi_def_cfa",
                                            ".cfi_def_cfa_register",
                                            ".cfi_def_cfa_offset",
                                            ".cfi_adjust_cfa_offset",
                                            ".cfi_offset",
                                            ".cfi_rel_offset",
                                            ".cfi_restore",
                                            ".cfi_undefined",
                                            ".cfi_same_value",
                                            ".cfi_remember_state",
                                            ".cfi_restore_state",
                                            ".cfi_register",
                                            ".cfi_return_column",
                                            ".cfi_signal_frame",
                                            ".cfi_personality",
                                            ".cfi_lsda",
                                            ".cfi_escape",
                                            ".cfi_val_offset",
                                            ".cfi_window_save"}) {
            all.push_back({name, &P::do_nothing, 0, true});
        }
        for (const std::string_view name :
             {".error_on_invalid_bundles", ".error_on_invalid_operands",
              ".error_on_invalid_execution_mode", ".error_on_invalid_repeat"}) {
            all.push_back({name, &P::do_check, kError, true});
        }
        for (const std::string_view name :
             {".warn_on_invalid_bundles", ".warn_on_invalid_operands",
              ".warn_on_invalid_execution_mode", ".warn_on_invalid_repeat"}) {
            all.push_back({name, &P::do_check, kWarning, true});
        }
        for (const std::string_view name :
             {".allow_invalid_bundles", ".allow_invalid_operands", ".allow_invalid_execution_mode",
              ".allow_invalid_repeat"}) {
            all.push_back({name, &P::do_check, kNothing, true});
        }
        std::sort(all.begin(), all.end(),
                  [](const Directive& a, const Directive& b) { return a.name < b.name; });
        return all;
    }();
    return list;
}

const StatementParser::Directive* StatementParser::find_directive(std::string_view name) {
    const auto all = directives();
    const auto found = std::lower_bound(
        all.begin(), all.end(), name,
        [](const Directive& entry, std::string_view wanted) { return entry.name < wanted; });
    return found != all.end() && found->name == name ? &*found : nullptr;
}

void StatementParser::unknown_directive(const Token& name) {
    std::vector<std::string_view> names = {
        ".macro", ".endm",  ".purgem", ".exitm",  ".rept",   ".irp",   ".irpc",  ".endr", ".if",
        ".ifeq",  ".ifne",  ".ifgt",   ".ifge",   ".iflt",   ".ifle",  ".ifc",   ".ifnc", ".ifb",
        ".ifnb",  ".ifeqs", ".ifnes",  ".elseif", ".ifndef", ".ifdef", ".endif", ".else",
    };
    for (const Directive& directive : directives()) {
        names.push_back(directive.name);
    }
    for (const auto& [macro_name, macro] : macros_) {
        names.push_back(macro_name);
    }
    state_.diagnostics.add(name.at, "directive '" + std::string(name.text) + "': not known",
                           state_.diagnostics.nearest(name.text, names));
    if (bundle_) {
        bundle_->is_ok = false;
    }
}

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
