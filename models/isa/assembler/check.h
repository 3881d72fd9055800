// SPDX-License-Identifier: MIT
// The rules of the machine that can be checked at assembly, beyond what operands fit.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/unit.h"
#include "models/isa/instruction.h"
#include "models/isa/target.h"

#include <cstddef>
#include <span>
#include <string>

namespace tessera::isa::assembly {

class Checker {
public:
    /// All outlive the checker.
    Checker(const Unit& unit, const Target& target, Diagnostics& diagnostics)
        : unit_(unit), target_(target), diagnostics_(diagnostics) {}

    /// A broken rule, as severe as the source says.
    void report(Severity severity, const Origin& at, std::string message, std::string hint = {});

    /// Registers, who runs it, and whether the generation has it.
    void check_operation(const Instruction& instruction, const Operation& operation);
    void check_control_registers(const Instruction& instruction);

    /// If the item is an rpt: its body starts on 8 bytes and holds only bundles, without control or
    /// system instructions. `operations` has one for each instruction of the unit.
    void check_repeat(const Section& section, std::size_t index,
                      std::span<const Operation> operations);

private:
    void check_generation(const Instruction& instruction, const OpcodeSpec& spec);
    bool check_body_item(const Instruction& rpt, const Item& item,
                         std::span<const Operation> operations);

    const Unit& unit_;
    const Target& target_;
    Diagnostics& diagnostics_;
};

} // namespace tessera::isa::assembly
