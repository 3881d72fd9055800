// SPDX-License-Identifier: MIT
// libFuzzer: any text either assembles or throws ConfigError, and what assembles survives the way
// through the disassembler.
#include "base/error.h"
#include "models/isa/assembler.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace tessera;
    constexpr Address kBase = 0x4c000;
    static const isa::AssemblyOptions options = isa::options_for(isa::kDefaultTarget);
    const std::string text(data, data + bytes);
    program::Codelet codelet;
    try {
        codelet = isa::assemble("fuzz", {{"a.S", text}}, kBase, options);
    } catch (const ConfigError&) {
        return 0;
    }
    std::string again;
    for (const auto& line : isa::disassemble(codelet.words, kBase)) {
        // An rpt is checked against its body, which may end where data follows code: keep the
        // words.
        if (line.text.find("rpt") == std::string::npos) {
            again += line.text + "\n";
        } else {
            for (const std::uint32_t word : line.words) {
                again += ".word " + std::to_string(word) + "\n";
            }
        }
    }
    if (isa::assemble("again", {{"b.S", again}}, kBase, options).words != codelet.words) {
        std::abort();
    }
    return 0;
}
