// SPDX-License-Identifier: MIT
#include "models/isa/assembler/emit.h"

#include "models/isa/assembler/match.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tessera::isa::assembly {
namespace {

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

class Emitter {
public:
    Emitter(Unit& unit, Evaluator& evaluator, Diagnostics& diagnostics, program::Codelet& codelet)
        : unit_(unit), evaluator_(evaluator), diagnostics_(diagnostics), codelet_(codelet),
          operations_(unit.instructions.size()) {}

    void run() {
        place_sections();
        evaluator_.start_late();
        fill_with_nops();
        for (const Section& section : unit_.sections) {
            for (const Item& item : section.items) {
                emit_item(section, item);
            }
            finish_word(section.base - codelet_.address + section.bytes);
        }
        for (const Section& section : unit_.sections) {
            for (std::size_t i = 0; i < section.items.size(); ++i) {
                check_repeat(section, i);
            }
        }
        write_words();
        write_symbols();
    }

private:
    void place_sections() {
        std::uint32_t next = codelet_.address;
        for (Section& section : unit_.sections) {
            section.base = next;
            if (section.bytes != 0) {
                section.base = align_up(next, section.alignment);
                next = section.base + section.bytes;
            }
        }
        bytes_.resize(align_up(next - codelet_.address, 4));
    }

    void fill_with_nops() {
        const auto real = expand_pseudo("nop", {}, false);
        const std::uint32_t nop =
            encode(std::get<Operation>(match(real[0].mnemonic, real[0].operands)));
        for (std::uint32_t at = 0; at < bytes_.size(); at += 4) {
            put(at, nop, 4);
        }
    }

    /// Padding is nops already; what is left of a word before it is zero.
    void finish_word(std::uint32_t begin) {
        for (std::uint32_t at = begin; at < align_up(begin, 4); ++at) {
            bytes_[at] = 0;
        }
    }

    void put(std::uint32_t at, std::uint64_t value, std::uint32_t bytes) {
        for (std::uint32_t i = 0; i < bytes; ++i) {
            bytes_[at + i] = static_cast<std::uint8_t>(value >> (8U * i));
        }
    }

    void emit_item(const Section& section, const Item& item) {
        const std::uint32_t at = section.base - codelet_.address + item.offset;
        switch (item.kind) {
        case Item::Kind::Padding:
            finish_word(at);
            break;
        case Item::Kind::Data:
            emit_data(item, at);
            break;
        case Item::Kind::Instruction:
            emit_instruction(item, at);
            break;
        case Item::Kind::Bundle:
            emit_bundle(item, at);
            break;
        }
    }

    void emit_data(const Item& item, std::uint32_t at) {
        const std::int64_t range = std::int64_t{1} << (8U * item.element_bytes);
        for (std::uint32_t i = 0; i < item.bytes / item.element_bytes; ++i) {
            const Expression& expression = unit_.data[item.index + i];
            const auto value = evaluator_.late(expression);
            if (!value) {
                continue;
            }
            if (*value < -range / 2 || *value >= range) {
                diagnostics_.add(unit_.nodes[expression.begin].at,
                                 "data: got " + std::to_string(*value) + ", expected " +
                                     std::to_string(-range / 2) + ".." + std::to_string(range - 1));
            }
            put(at + i * item.element_bytes, static_cast<std::uint64_t>(*value),
                item.element_bytes);
        }
    }

    void add_line(std::uint32_t at, const Instruction& instruction) {
        codelet_.lines.push_back({codelet_.address + at, instruction.at.file, instruction.at.line});
    }

    void emit_instruction(const Item& item, std::uint32_t at) {
        const Instruction& instruction = unit_.instructions[item.index];
        const auto operations = operations_of(instruction, item.bytes == 8);
        for (std::uint32_t i = 0; i < operations.size(); ++i) {
            add_line(at + 4 * i, instruction);
            put(at + 4 * i, encode(operations[i]), 4);
            if (has_two_words(operations[i].opcode)) {
                put(at + 4, encode_second(operations[i]), 4);
                check_alignment(instruction, at);
            }
        }
        if (operations.size() == 1) {
            operations_[item.index] = operations[0];
        }
    }

    void check_alignment(const Instruction& instruction, std::uint32_t at) {
        if ((codelet_.address + at) % 8 != 0) {
            diagnostics_.add(instruction.at,
                             std::string(instruction.mnemonic) +
                                 ": stands at an address that is no multiple of 8",
                             "put .align 8 before it");
        }
    }

    void emit_bundle(const Item& item, std::uint32_t at) {
        bool is_ok = true;
        for (std::uint32_t half = 0; half < 2; ++half) {
            const Instruction& instruction = unit_.instructions[item.index + half];
            add_line(at + 4 * half, instruction);
            const auto operations = operations_of(instruction, false);
            is_ok = is_ok && operations.size() == 1;
            if (is_ok) {
                operations_[item.index + half] = operations[0];
            }
        }
        if (!is_ok) {
            return;
        }
        const Operation& main = operations_[item.index];
        const Operation& aux = operations_[item.index + 1];
        if (const std::string problem = bundle_problem(main, aux); !problem.empty()) {
            diagnostics_.add(unit_.instructions[item.index].at, "bundle: " + problem);
        }
        put(at, encode(main) | kBundleBit, 4);
        put(at + 4, encode(aux), 4);
    }

    /// Empty after a mistake, which is then reported.
    std::vector<Operation> operations_of(const Instruction& instruction, bool is_long) {
        std::vector<Operand> operands;
        for (std::uint32_t i = instruction.operand_begin; i < instruction.operand_end; ++i) {
            operands.push_back(unit_.operands[i]);
            if (operands.back().shape == OperandShape::Expression) {
                const auto value = evaluator_.late(operands.back().expression);
                if (!value) {
                    return {};
                }
                operands.back().value = *value;
            }
        }
        std::vector<Operation> operations;
        for (const auto& real : expand_pseudo(instruction.mnemonic, operands, is_long)) {
            if (opcodes_named(real.mnemonic).empty()) {
                report_mnemonic(instruction);
                return {};
            }
            const auto matched = match(real.mnemonic, real.operands);
            if (const auto* mismatch = std::get_if<Mismatch>(&matched)) {
                report_mismatch(instruction, *mismatch, real.operands);
                return {};
            }
            operations.push_back(std::get<Operation>(matched));
            check_operation(instruction, operations.back());
        }
        check_control_registers(instruction);
        return operations;
    }

    void report_mnemonic(const Instruction& instruction) {
        const std::string name(instruction.mnemonic);
        if (const std::string why = refused_mnemonic(name); !why.empty()) {
            diagnostics_.add(instruction.at, name + ": " + why);
            return;
        }
        if (const std::string forms = pseudo_forms(name); !forms.empty()) {
            diagnostics_.add(instruction.at, name + ": got other operands, expected " + forms);
            return;
        }
        std::vector<std::string_view> names(mnemonics().begin(), mnemonics().end());
        names.insert(names.end(), pseudo_mnemonics().begin(), pseudo_mnemonics().end());
        diagnostics_.add(instruction.at, "instruction '" + name + "': not known",
                         diagnostics_.nearest(name, names));
    }

    void report_mismatch(const Instruction& instruction, const Mismatch& mismatch,
                         const std::vector<Operand>& operands) {
        Position at = instruction.at;
        if (mismatch.operand && operands[*mismatch.operand].at.line != 0) {
            at = operands[*mismatch.operand].at;
        }
        diagnostics_.add(at, mismatch.message);
    }

    void check_operation(const Instruction& instruction, const Operation& operation) {
        const OpcodeSpec& spec = spec_of(operation.opcode);
        const std::string name(instruction.mnemonic);
        if (const std::string problem = operation_problem(operation); !problem.empty()) {
            diagnostics_.add(instruction.at, name + ": " + problem);
        }
        if (instruction.mode == Mode::Worker && (spec.flags & kSupervisor) != 0) {
            diagnostics_.add(instruction.at, name + ": got worker code, expected supervisor code");
        }
        if (instruction.mode == Mode::Supervisor && (spec.flags & kWorker) != 0) {
            diagnostics_.add(instruction.at, name + ": got supervisor code, expected worker code");
        }
    }

    void check_control_registers(const Instruction& instruction) {
        for (std::uint32_t i = instruction.operand_begin; i < instruction.operand_end; ++i) {
            const Operand& operand = unit_.operands[i];
            if (operand.shape != OperandShape::Csr || instruction.mode == Mode::Any) {
                continue;
            }
            const bool is_worker = instruction.mode == Mode::Worker;
            const CsrContext wrong = is_worker ? CsrContext::Supervisor : CsrContext::Worker;
            if (operand.csr->context == wrong) {
                diagnostics_.add(operand.at,
                                 "control register $" + std::string(operand.csr->name) +
                                     (is_worker ? ": got worker code, expected supervisor code"
                                                : ": got supervisor code, expected worker "
                                                  "code"));
            }
        }
    }

    /// The body of an rpt starts on 8 bytes and holds bundles without control or system
    /// instructions.
    void check_repeat(const Section& section, std::size_t index) {
        const Item& item = section.items[index];
        if (item.kind != Item::Kind::Instruction && item.kind != Item::Kind::Bundle) {
            return;
        }
        const Operation& operation = operations_[item.index];
        const Form form = spec_of(operation.opcode).form;
        if (operation.opcode == Opcode::kNone || (form != Form::RptReg && form != Form::RptImm)) {
            return;
        }
        const Position at = unit_.instructions[item.index].at;
        if ((item.offset + item.bytes) % 8 != 0) {
            diagnostics_.add(at, "rpt: the body starts at an address that is no multiple of 8",
                             "put .align 8 and a nop before it, or make rpt a bundle");
        }
        for (std::int32_t bundle = 0; bundle <= operation.imm2; ++bundle) {
            const std::size_t next = index + 1 + static_cast<std::size_t>(bundle);
            if (next >= section.items.size()) {
                diagnostics_.add(at, "rpt: the section ends inside the body, expected " +
                                         std::to_string(operation.imm2 + 1) + " bundles");
                return;
            }
            if (!check_body_item(at, section.items[next])) {
                return;
            }
        }
    }

    bool check_body_item(Position rpt, const Item& item) {
        const std::string where = "rpt: the body of line " + std::to_string(rpt.line);
        if (item.kind == Item::Kind::Instruction) {
            diagnostics_.add(unit_.instructions[item.index].at,
                             where + " holds an instruction alone, expected only bundles");
            return false;
        }
        if (item.kind != Item::Kind::Bundle) {
            diagnostics_.add(rpt, "rpt: the body holds data or padding, expected only bundles");
            return false;
        }
        for (std::uint32_t half = 0; half < 2; ++half) {
            const OpcodeSpec& spec = spec_of(operations_[item.index + half].opcode);
            if ((spec.flags & (kControl | kSystem)) != 0) {
                diagnostics_.add(unit_.instructions[item.index + half].at,
                                 where + " holds " + std::string(spec.mnemonic) +
                                     ", expected no control or system instruction");
                return false;
            }
        }
        return true;
    }

    void write_words() {
        codelet_.words.resize(bytes_.size() / 4);
        for (std::size_t i = 0; i < bytes_.size(); ++i) {
            codelet_.words[i / 4] |= std::uint32_t{bytes_[i]} << (8U * (i % 4));
        }
    }

    void write_symbols() {
        for (const auto& [name, symbol] : evaluator_.globals()) {
            add_symbol(name, symbol);
        }
        for (const Scope& scope : unit_.scopes) {
            for (const auto& [name, symbol] : scope.symbols) {
                if (symbol.kind == Symbol::Kind::Label && name.substr(0, 2) != ".L") {
                    add_symbol(name, symbol);
                }
            }
        }
    }

    void add_symbol(std::string_view name, const Symbol& symbol) {
        std::int64_t address =
            std::int64_t{unit_.sections[symbol.location.section].base} + symbol.location.offset;
        if (symbol.kind == Symbol::Kind::Assigned) {
            const auto& known = unit_.definitions[symbol.definition].known;
            if (!known || known->number < 0 || known->number > 0xffffffffLL) {
                return;
            }
            address = known->number;
        }
        codelet_.symbols.emplace(name, static_cast<Address>(address));
    }

    Unit& unit_;
    Evaluator& evaluator_;
    Diagnostics& diagnostics_;
    program::Codelet& codelet_;
    std::vector<Operation>
        operations_; ///< one an instruction; kNone where it failed or expands to two
    std::vector<std::uint8_t> bytes_;
};

} // namespace

void emit(Unit& unit, Evaluator& evaluator, Diagnostics& diagnostics, program::Codelet& codelet) {
    Emitter(unit, evaluator, diagnostics, codelet).run();
}

} // namespace tessera::isa::assembly
