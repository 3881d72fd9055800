// SPDX-License-Identifier: MIT
#include "models/isa/assembler/check.h"

#include "models/isa/assembler/match.h"

#include <string>
#include <utility>

namespace tessera::isa::assembly {

void Checker::report(Severity severity, const Origin& at, std::string message, std::string hint) {
    if (severity == Severity::Error) {
        diagnostics_.add(at, std::move(message), std::move(hint));
    } else if (severity == Severity::Warning) {
        diagnostics_.warn(at, std::move(message));
    }
}

void Checker::check_operation(const Instruction& instruction, const Operation& operation) {
    const OpcodeSpec& spec = spec_of(operation.opcode);
    const std::string name(instruction.mnemonic);
    if (const std::string problem = operation_problem(operation); !problem.empty()) {
        report(instruction.checks.operands, instruction.at, name + ": " + problem);
    }
    const Severity severity = instruction.checks.execution_mode;
    if (instruction.mode == Mode::Worker && (spec.flags & kSupervisor) != 0) {
        report(severity, instruction.at, name + ": got worker code, expected supervisor code");
    }
    if (instruction.mode == Mode::Supervisor && (spec.flags & kWorker) != 0) {
        report(severity, instruction.at, name + ": got supervisor code, expected worker code");
    }
    check_generation(instruction, spec);
}

void Checker::check_generation(const Instruction& instruction, const OpcodeSpec& spec) {
    const Target& target = target_;
    const bool is_short_of_sets = (spec.flags & kTwoSets) != 0 && target.accumulator_sets() < 2;
    const bool is_short_of_fp8 = (spec.flags & kFp8) != 0 && !target.has_fp8();
    if (is_short_of_sets || is_short_of_fp8) {
        diagnostics_.add(instruction.at, std::string(instruction.mnemonic) + ": got architecture " +
                                             std::to_string(target.architecture) + ", expected " +
                                             (is_short_of_fp8 ? "21, which has FP8"
                                                              : "2 or 21, which have two sets "
                                                                "of accumulators"));
    }
}

void Checker::check_control_registers(const Instruction& instruction) {
    for (std::uint32_t i = instruction.operand_begin; i < instruction.operand_end; ++i) {
        const Operand& operand = unit_.operands[i];
        if (operand.shape != OperandShape::Csr) {
            continue;
        }
        if (operand.csr->is_of_fp8 && !target_.has_fp8()) {
            diagnostics_.add(operand.at, "control register $" + std::string(operand.csr->name) +
                                             ": got architecture " +
                                             std::to_string(target_.architecture) +
                                             ", expected 21, which has FP8");
        }
        if (instruction.mode == Mode::Any) {
            continue;
        }
        const bool is_worker = instruction.mode == Mode::Worker;
        const CsrContext wrong = is_worker ? CsrContext::Supervisor : CsrContext::Worker;
        if (operand.csr->context == wrong) {
            report(instruction.checks.execution_mode, operand.at,
                   "control register $" + std::string(operand.csr->name) +
                       (is_worker ? ": got worker code, expected supervisor code"
                                  : ": got supervisor code, expected worker code"));
        }
    }
}

/// The body of an rpt starts on 8 bytes and holds bundles without control or system
/// instructions.
void Checker::check_repeat(const Section& section, std::size_t index,
                           std::span<const Operation> operations) {
    const Item& item = section.items[index];
    if (item.kind != Item::Kind::Instruction && item.kind != Item::Kind::Bundle) {
        return;
    }
    const Operation& operation = operations[item.index];
    const Form form = spec_of(operation.opcode).form;
    if (operation.opcode == Opcode::kNone || (form != Form::RptReg && form != Form::RptImm)) {
        return;
    }
    const Instruction& instruction = unit_.instructions[item.index];
    const Severity severity = instruction.checks.repeat;
    const Origin at = instruction.at;
    if (severity == Severity::Nothing) {
        return;
    }
    if ((item.offset + item.bytes) % 8 != 0) {
        report(severity, at, "rpt: the body starts at an address that is no multiple of 8",
               "put .align 8 and a nop before it, or make rpt a bundle");
    }
    for (std::int32_t bundle = 0; bundle <= operation.imm2; ++bundle) {
        const std::size_t next = index + 1 + static_cast<std::size_t>(bundle);
        if (next >= section.items.size()) {
            report(severity, at,
                   "rpt: the section ends inside the body, expected " +
                       std::to_string(operation.imm2 + 1) + " bundles");
            return;
        }
        if (!check_body_item(instruction, section.items[next], operations)) {
            return;
        }
    }
}

bool Checker::check_body_item(const Instruction& rpt, const Item& item,
                              std::span<const Operation> operations) {
    const Severity severity = rpt.checks.repeat;
    const std::string where = "rpt: the body of line " + std::to_string(rpt.at.at.line);
    if (item.kind == Item::Kind::Instruction) {
        report(severity, unit_.instructions[item.index].at,
               where + " holds an instruction alone, expected only bundles");
        return false;
    }
    if (item.kind != Item::Kind::Bundle) {
        report(severity, rpt.at, "rpt: the body holds data or padding, expected only bundles");
        return false;
    }
    for (std::uint32_t half = 0; half < 2; ++half) {
        const OpcodeSpec& spec = spec_of(operations[item.index + half].opcode);
        if ((spec.flags & (kControl | kSystem)) != 0) {
            report(severity, unit_.instructions[item.index + half].at,
                   where + " holds " + std::string(spec.mnemonic) +
                       ", expected no control or system instruction");
            return false;
        }
    }
    return true;
}

} // namespace tessera::isa::assembly
