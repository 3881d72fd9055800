// SPDX-License-Identifier: MIT
// One worker's or the supervisor's code as a whole program, and what comes of running it.
#pragma once

#include "tests/support/assembled_tile.h"

#include <string>
#include <vector>

namespace tessera::test {

constexpr Address kIn = 0x80000;
constexpr Address kOut = 0x90000;

/// `body` on worker 0 with $m2 = kIn and $m3 = kOut, after the supervisor's `before`.
inline std::string worker_program(const std::string& body, const std::string& before = "") {
    return ".supervisor\n.globl start\nstart:\n" + before +
           "\nsetzi $m0, worker\nrun $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n"
           ".align 8\nworker:\nsetzi $m2, 0x80000\nsetzi $m3, 0x90000\n" +
           body + "\nexitz $mzero\n";
}

/// `body` as supervisor code with $m3 = kOut; `worker` is worker code that ends at once.
inline std::string supervisor_program(const std::string& body, const std::string& worker = "nop") {
    return ".supervisor\n.globl start\nstart:\nsetzi $m3, 0x90000\n" + body +
           "\nbr $lr\n.worker\n.align 8\nworker:\n" + worker + "\nexitz $mzero\n";
}

/// `words` words from kOut after a run of the program with `input` at kIn.
inline std::vector<std::uint32_t> output_of(const std::string& program,
                                            const std::vector<std::uint32_t>& input,
                                            std::size_t words,
                                            const spec::MachineSpec& machine = {}) {
    AssembledTile tile(program, machine);
    tile.write(kIn, input);
    tile.run();
    return tile.read<std::uint32_t>(kOut, words);
}

inline std::string fault_text_of(const std::string& program,
                                 const spec::MachineSpec& machine = {}) {
    AssembledTile tile(program, machine);
    try {
        tile.run();
    } catch (const tile::TileFault& fault) {
        return fault.what();
    }
    return "no fault";
}

} // namespace tessera::test
