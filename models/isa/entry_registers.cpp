// SPDX-License-Identifier: MIT
#include "models/isa/entry_registers.h"

#include "models/isa/decoded_program.h"

#include <algorithm>
#include <vector>

namespace tessera::isa {
namespace {

constexpr std::uint16_t kAllRegisters = 0x0fff;

/// Where the code goes on behind an operation, inside its program.
struct WaysOn {
    std::vector<std::size_t> next;
    bool leaves = false; ///< to where nobody knows
};

WaysOn ways_on(const DecodedProgram& program, std::size_t index) {
    const MicroOperation& op = program.operations[index];
    if (op.code >= static_cast<std::uint16_t>(Opcode::kCount)) {
        switch (static_cast<Internal>(op.code)) {
        case Internal::Continue:
            return {{static_cast<std::size_t>(op.imm)}, false};
        case Internal::Invalid:
        case Internal::BadRepeat:
        case Internal::EndOfCode:
            return {};
        default:
            return {{index + 1}, false};
        }
    }
    const OpcodeSpec& spec = spec_of(static_cast<Opcode>(op.code));
    if ((spec.flags & kControl) == 0) {
        return {{index + 1}, false};
    }
    if ((spec.flags & kSolo) != 0) {
        return {}; // an exit
    }
    if (is_repeat(static_cast<Opcode>(op.code))) {
        return {{index + 1, static_cast<std::size_t>(op.imm2) + 1}, false};
    }
    if (!has_constant_target(spec.form) || op.imm2 == DecodedProgram::kOutside) {
        return {{index + 1}, true};
    }
    return {{index + 1, index + static_cast<std::size_t>(std::ptrdiff_t{op.imm2})}, false};
}

} // namespace

EntryRegisters entry_registers(const DecodedProgram& program, std::size_t index) {
    // All operations that the code may come to.
    std::vector<std::size_t> reached{index};
    std::vector<WaysOn> ways(program.operations.size());
    std::vector<bool> is_reached(program.operations.size());
    is_reached[index] = true;
    const auto reach = [&](std::size_t next) {
        if (next < is_reached.size() && !is_reached[next]) {
            is_reached[next] = true;
            reached.push_back(next);
        }
    };
    EntryRegisters found;
    for (std::size_t at = 0; at < reached.size(); ++at) {
        const std::size_t one = reached[at];
        ways[one].next = ways_on(program, one).next;
        ways[one].leaves = ways_on(program, one).leaves;
        const MicroOperation& op = program.operations[one];
        if (op.code < static_cast<std::uint16_t>(Opcode::kCount) &&
            is_repeat(static_cast<Opcode>(op.code))) {
            // The end of its body leads back to the begin.
            ways[static_cast<std::size_t>(op.imm2)].next.push_back(one + 1);
        }
        for (const std::size_t next : ways[one].next) {
            reach(next);
        }
        found.written |=
            ways[one].leaves
                ? kAllRegisters
                : static_cast<std::uint16_t>(program.main_registers[one].written & kAllRegisters);
    }
    std::vector<std::uint16_t> needed(program.operations.size());
    for (bool changes = true; changes;) {
        changes = false;
        for (auto one = reached.rbegin(); one != reached.rend(); ++one) {
            std::uint16_t behind = ways[*one].leaves ? kAllRegisters : std::uint16_t{0};
            for (const std::size_t next : ways[*one].next) {
                behind |= next < needed.size() ? needed[next] : std::uint16_t{0};
            }
            const MainRegisters& own = program.main_registers[*one];
            const auto all =
                static_cast<std::uint16_t>(((behind & ~own.written) | own.read) & kAllRegisters);
            changes = changes || all != needed[*one];
            needed[*one] = all;
        }
    }
    found.needed = needed[index];
    return found;
}

} // namespace tessera::isa
