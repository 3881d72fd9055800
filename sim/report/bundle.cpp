// SPDX-License-Identifier: MIT
#include "sim/report/bundle.h"

#include <cstddef>

// TESSERA_REPORT_DIST is the folder of the files. The assembler copies them into the object file.
#define TESSERA_EMBED(symbol, file)                                                                \
    __asm__(".pushsection .rodata\n"                                                               \
            ".global " symbol "_begin\n" symbol "_begin:\n"                                        \
            ".incbin \"" TESSERA_REPORT_DIST "/" file "\"\n"                                       \
            ".global " symbol "_end\n" symbol "_end:\n"                                            \
            ".byte 0\n"                                                                            \
            ".popsection\n")

TESSERA_EMBED("tessera_report_script", "report.js");
TESSERA_EMBED("tessera_report_style", "report.css");
TESSERA_EMBED("tessera_report_licences", "licences.txt");

extern "C" {
extern const char tessera_report_script_begin[];
extern const char tessera_report_script_end[];
extern const char tessera_report_style_begin[];
extern const char tessera_report_style_end[];
extern const char tessera_report_licences_begin[];
extern const char tessera_report_licences_end[];
}

namespace tessera::report {
namespace {

std::string_view between(const char* begin, const char* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

} // namespace

std::string_view bundled_script() {
    return between(tessera_report_script_begin, tessera_report_script_end);
}

std::string_view bundled_style() {
    return between(tessera_report_style_begin, tessera_report_style_end);
}

std::string_view bundled_licences() {
    return between(tessera_report_licences_begin, tessera_report_licences_end);
}

} // namespace tessera::report
