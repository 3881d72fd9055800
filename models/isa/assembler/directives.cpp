// SPDX-License-Identifier: MIT
// The table of all directives but those about text (parse_text.cpp).
#include "models/isa/assembler/statement_parser.h"

#include <algorithm>

namespace tessera::isa::assembly {

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
            {".octa", &P::do_octa},
            {".uleb128", &P::do_leb128, 0},
            {".sleb128", &P::do_leb128, 1},
            {".dc", &P::do_data, 2},
            {".dc.a", &P::do_data, 4},
            {".dc.b", &P::do_data, 1},
            {".dc.w", &P::do_data, 2},
            {".dc.l", &P::do_data, 4},
            {".dc.s", &P::do_real, 4},
            {".dc.d", &P::do_real, 8},
            {".dcb", &P::do_block, 2},
            {".dcb.b", &P::do_block, 1},
            {".dcb.w", &P::do_block, 2},
            {".dcb.l", &P::do_block, 4},
            {".dcb.s", &P::do_real_block, 4},
            {".dcb.d", &P::do_real_block, 8},
            {".ds", &P::do_block, 2},
            {".ds.b", &P::do_block, 1},
            {".ds.w", &P::do_block, 2},
            {".ds.l", &P::do_block, 4},
            {".ds.s", &P::do_block, 4},
            {".ds.d", &P::do_block, 8},
            {".ds.p", &P::do_block, 12},
            {".ds.x", &P::do_block, 12},
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
            {".incbin", &P::do_include_bytes},
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
            {".comm", &P::do_common},
            {".lcomm", &P::do_local_common},
            {".extern", &P::do_nothing},
            {".size", &P::do_size},
            {".scatters", &P::do_scatters},
            // messages
            {".err", &P::do_message, 0, true},
            {".error", &P::do_message, 0, true},
            {".warning", &P::do_message, 1, true},
            {".print", &P::do_print, 0, true},
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
        ".altmacro", ".noaltmacro", ".end",   ".macro", ".endm", ".purgem", ".exitm", ".rept",
        ".irp",      ".irpc",       ".endr",  ".if",    ".ifeq", ".ifne",   ".ifgt",  ".ifge",
        ".iflt",     ".ifle",       ".ifc",   ".ifnc",  ".ifb",  ".ifnb",   ".ifeqs", ".ifnes",
        ".elseif",   ".ifndef",     ".ifdef", ".endif", ".else",
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

} // namespace tessera::isa::assembly
