// SPDX-License-Identifier: MIT
#include "models/isa/assembler/emit.h"

#include "models/isa/assembler/check.h"
#include "models/isa/assembler/match.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

namespace tessera::isa::assembly {
namespace {

std::uint32_t align_up(std::uint32_t value, std::uint32_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

/// Bytes of one range of addresses.
struct Memory {
    Address begin = 0;
    std::vector<std::uint8_t> bytes;

    void put(std::uint32_t address, std::uint64_t value, std::uint32_t width) {
        for (std::uint32_t i = 0; i < width; ++i) {
            const std::uint64_t sign = static_cast<std::int64_t>(value) < 0 ? 0xff : 0;
            bytes[address - begin + i] =
                static_cast<std::uint8_t>(i < 8 ? value >> (8U * i) : sign);
        }
    }
    [[nodiscard]] std::vector<std::uint32_t> words() const {
        std::vector<std::uint32_t> list((bytes.size() + 3) / 4);
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            list[i / 4] |= std::uint32_t{bytes[i]} << (8U * (i % 4));
        }
        return list;
    }
};

class Emitter {
public:
    Emitter(Unit& unit, Evaluator& evaluator, const SourceMap& map, const EmitOptions& options,
            Diagnostics& diagnostics, program::Codelet& codelet)
        : unit_(unit), evaluator_(evaluator), map_(map), options_(options),
          diagnostics_(diagnostics), codelet_(codelet), checker_(unit, options.target, diagnostics),
          operations_(unit.instructions.size()) {}

    void run() {
        place_sections();
        evaluator_.start_late();
        for (const Section* section : order_) {
            if (section->bytes == 0 || !section->is_loaded) {
                continue;
            }
            for (const Item& item : section->items) {
                emit_item(*section, item);
            }
            for (std::size_t i = 0; i < section->items.size(); ++i) {
                checker_.check_repeat(*section, i, operations_);
            }
        }
        codelet_.words = code_.words();
        codelet_.data_words = data_.words();
        write_symbols();
    }

private:
    [[nodiscard]] Memory& memory_of(const Section& section) {
        return section.is_apart ? data_ : code_;
    }

    /// Sections of one name and source stand together, their subsections by number.
    void place_sections() {
        for (const Section& section : unit_.sections) {
            order_.push_back(&section);
        }
        std::stable_sort(order_.begin(), order_.end(), [](const Section* a, const Section* b) {
            return std::tie(a->group, a->subsection) < std::tie(b->group, b->subsection);
        });
        code_.begin = codelet_.address;
        data_.begin = options_.data_address.value_or(0);
        codelet_.data_address = data_.begin;
        std::uint32_t next_code = code_.begin;
        std::uint32_t next_data = data_.begin;
        for (const Section* placed : order_) {
            Section& section =
                unit_.sections[static_cast<std::size_t>(placed - unit_.sections.data())];
            if (!section.is_loaded) {
                continue;
            }
            section.is_apart = options_.data_address.has_value() && section.is_only_data();
            std::uint32_t& next = section.is_apart ? next_data : next_code;
            section.base = next;
            if (section.bytes != 0) {
                section.base = align_up(next, section.alignment);
                section.gap = section.base - next;
                next = section.base + section.bytes;
            }
        }
        code_.bytes.resize(align_up(next_code - code_.begin, 4));
        data_.bytes.resize(align_up(next_data - data_.begin, 4));
        fill_with_nops(code_.begin, next_code);
    }

    /// What stands between code may be run through.
    void fill_with_nops(Address begin, Address end) {
        for (Address at = begin; at < end; at += 4) {
            code_.put(at, nop_, 4);
        }
    }

    void emit_item(const Section& section, const Item& item) {
        const std::uint32_t at = section.base + item.offset;
        Memory& memory = memory_of(section);
        switch (item.kind) {
        case Item::Kind::Padding:
            emit_padding(memory, at, item.bytes, !section.is_only_data());
            break;
        case Item::Kind::Data:
            emit_data(memory, item, at);
            break;
        case Item::Kind::Text:
            for (std::uint32_t i = 0; i < item.bytes; ++i) {
                memory.put(at + i, unit_.text[item.index + i], 1);
            }
            break;
        case Item::Kind::Leb128:
            emit_leb128(memory, item, at);
            break;
        case Item::Kind::Fill:
            emit_fill(memory, item, at);
            break;
        case Item::Kind::Instruction:
            emit_instruction(item, at);
            break;
        case Item::Kind::Bundle:
            emit_bundle(item, at);
            break;
        }
        evaluator_.note_uses(at, item.kind != Item::Kind::Instruction &&
                                     item.kind != Item::Kind::Bundle);
        if (!item_ends_word(section, item)) {
            memory.put(at + item.bytes, 0, (4 - (at + item.bytes) % 4) % 4);
        }
    }

    /// The last word of a section is zero behind its data.
    [[nodiscard]] static bool item_ends_word(const Section& section, const Item& item) {
        return item.offset + item.bytes != section.bytes || (section.base + section.bytes) % 4 == 0;
    }

    /// Nops where code may run through; zeros up to the first whole word, and in data. Padding that
    /// reaches a whole word ends at one.
    void emit_padding(Memory& memory, std::uint32_t at, std::uint32_t bytes, bool is_code) {
        const std::uint32_t end = at + bytes;
        while (at < end && at % 4 != 0) {
            memory.put(at++, 0, 1);
        }
        for (; at < end; at += 4) {
            memory.put(at, is_code ? nop_ : 0, 4);
        }
    }

    [[nodiscard]] bool check_range(const Origin& at, std::int64_t value, std::uint32_t bytes) {
        if (bytes >= 8) {
            return true;
        }
        const std::int64_t range = std::int64_t{1} << (8U * bytes);
        if (value >= -range / 2 && value < range) {
            return true;
        }
        diagnostics_.add(at, "data: got " + std::to_string(value) + ", expected " +
                                 std::to_string(-range / 2) + ".." + std::to_string(range - 1));
        return false;
    }

    void emit_data(Memory& memory, const Item& item, std::uint32_t at) {
        for (std::uint32_t i = 0; i < item.bytes / item.element_bytes; ++i) {
            const Expression& expression = unit_.data[item.index + i];
            const auto value = evaluator_.late(expression);
            if (value &&
                check_range(unit_.nodes[expression.begin].at, *value, item.element_bytes)) {
                memory.put(at + i * item.element_bytes, static_cast<std::uint64_t>(*value),
                           item.element_bytes);
            }
        }
    }

    void emit_fill(Memory& memory, const Item& item, std::uint32_t at) {
        const Expression& expression = unit_.data[item.index];
        const auto value = evaluator_.late(expression);
        if (!value || !check_range(unit_.nodes[expression.begin].at, *value, item.element_bytes)) {
            return;
        }
        for (std::uint32_t i = 0; i < item.bytes; i += item.element_bytes) {
            memory.put(at + i, static_cast<std::uint64_t>(*value), item.element_bytes);
        }
    }

    void emit_leb128(Memory& memory, const Item& item, std::uint32_t at) {
        const Expression& expression = unit_.data[item.index];
        const auto value = evaluator_.late(expression);
        if (!value) {
            return;
        }
        const std::int64_t range = std::int64_t{1} << (7U * item.bytes);
        const bool is_signed = item.element_bytes != 0;
        const std::int64_t least = is_signed ? -range / 2 : 0;
        const std::int64_t most = is_signed ? range / 2 - 1 : range - 1;
        if (*value < least || *value > most) {
            diagnostics_.add(unit_.nodes[expression.begin].at,
                             "data: got " + std::to_string(*value) + ", expected " +
                                 std::to_string(least) + ".." + std::to_string(most),
                             "only a value that is known above may be longer");
            return;
        }
        for (std::uint32_t i = 0; i < item.bytes; ++i) {
            const bool is_last = i + 1 == item.bytes;
            const auto group = static_cast<std::uint64_t>(*value >> (7U * i)) & 0x7fU;
            memory.put(at + i, group | (is_last ? 0U : 0x80U), 1);
        }
    }

    void add_line(std::uint32_t at, const Instruction& instruction) {
        Origin call = instruction.at;
        Origin outermost = call;
        while (call.trail != 0) {
            const Trail& step = map_.trails[call.trail];
            call = {step.at, step.parent};
            if (step.is_include) {
                break;
            }
            outermost = call;
        }
        codelet_.lines.push_back({at, outermost.at.file, outermost.at.line, instruction.at.at.file,
                                  instruction.at.at.line});
    }

    void emit_instruction(const Item& item, std::uint32_t at) {
        const Instruction& instruction = unit_.instructions[item.index];
        const auto operations = operations_of(instruction, item.bytes == 8);
        for (std::uint32_t i = 0; i < operations.size(); ++i) {
            add_line(at + 4 * i, instruction);
            code_.put(at + 4 * i, encode(operations[i]), 4);
            if (has_two_words(operations[i].opcode)) {
                code_.put(at + 4, encode_second(operations[i]), 4);
                check_alignment(instruction, at);
            }
        }
        if (operations.size() == 1) {
            operations_[item.index] = operations[0];
        }
    }

    void check_alignment(const Instruction& instruction, std::uint32_t at) {
        if (at % 8 != 0) {
            diagnostics_.add(instruction.at,
                             std::string(instruction.mnemonic) +
                                 ": stands at an address that is no multiple of 8",
                             "put .align 8 before it");
        }
    }

    void emit_bundle(const Item& item, std::uint32_t at) {
        bool is_ok = true;
        for (std::uint32_t half = 0; half < 2; ++half) {
            const auto operations = operations_of(unit_.instructions[item.index + half], false);
            is_ok = is_ok && operations.size() == 1;
            if (is_ok) {
                operations_[item.index + half] = operations[0];
            }
        }
        if (!is_ok) {
            return;
        }
        Instruction& first = unit_.instructions[item.index];
        Instruction& second = unit_.instructions[item.index + 1];
        Operation& main = operations_[item.index];
        Operation& aux = operations_[item.index + 1];
        std::string problem = bundle_problem(main, aux);
        if (!problem.empty() && first.checks.may_optimise && bundle_problem(aux, main).empty()) {
            std::swap(main, aux);
            std::swap(first, second);
            problem.clear();
        }
        if (!problem.empty()) {
            checker_.report(first.checks.bundles, first.at, "bundle: " + problem);
        }
        add_line(at, first);
        add_line(at + 4, second);
        code_.put(at, encode(main) | kBundleBit, 4);
        code_.put(at + 4, encode(aux), 4);
    }

    [[nodiscard]] bool evaluate(Operand& operand) {
        const auto value = evaluator_.late_value(operand.expression);
        if (!value) {
            return false;
        }
        operand.value = value->number;
        operand.is_address = value->addresses == 1;
        operand.address = value->number - options_.target.memory_base;
        const Node& last = unit_.nodes[operand.expression.end - 1];
        operand.field_shift =
            last.kind == NodeKind::Field ? RelocationField::of(last.value).shift : std::uint8_t{0};
        return true;
    }

    /// Empty after a mistake, which is then reported.
    std::vector<Operation> operations_of(const Instruction& instruction, bool is_long) {
        std::vector<Operand> operands;
        for (std::uint32_t i = instruction.operand_begin; i < instruction.operand_end; ++i) {
            operands.push_back(unit_.operands[i]);
            if (operands.back().shape == OperandShape::Expression && !evaluate(operands.back())) {
                return {};
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
                if (!report_mismatch(instruction, *mismatch, real.operands)) {
                    return {};
                }
                operations.push_back(*mismatch->loose);
            } else {
                operations.push_back(std::get<Operation>(matched));
            }
            checker_.check_operation(instruction, operations.back());
        }
        checker_.check_control_registers(instruction);
        return operations;
    }

    void report_mnemonic(const Instruction& instruction) {
        const std::string name(instruction.mnemonic);
        if (const std::string forms = pseudo_forms(name); !forms.empty()) {
            diagnostics_.add(instruction.at, name + ": got other operands, expected " + forms);
            return;
        }
        std::vector<std::string_view> names(mnemonics().begin(), mnemonics().end());
        names.insert(names.end(), pseudo_mnemonics().begin(), pseudo_mnemonics().end());
        diagnostics_.add(instruction.at, "instruction '" + name + "': not known",
                         diagnostics_.nearest(name, names));
    }

    /// Whether the instruction is taken nevertheless (`.allow_invalid_operands`).
    bool report_mismatch(const Instruction& instruction, const Mismatch& mismatch,
                         const std::vector<Operand>& operands) {
        Origin at = instruction.at;
        if (mismatch.operand && operands[*mismatch.operand].at.at.line != 0) {
            at = operands[*mismatch.operand].at;
        }
        const Severity severity = mismatch.loose ? instruction.checks.operands : Severity::Error;
        checker_.report(severity, at, mismatch.message);
        return severity != Severity::Error;
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
        std::int64_t address = 0;
        if (symbol.kind == Symbol::Kind::Assigned) {
            const auto& known = unit_.definitions[symbol.definition].known;
            if (!known || known->number < 0 || known->number > 0xffffffffLL) {
                return;
            }
            address = known->number;
        } else {
            const Section& section = unit_.sections[symbol.location.section];
            if (!section.is_loaded) {
                return;
            }
            address = std::int64_t{section.base} + symbol.location.offset;
        }
        program::SymbolInfo info;
        info.binding = !symbol.is_global ? program::SymbolBinding::Local
                       : symbol.is_weak  ? program::SymbolBinding::Weak
                                         : program::SymbolBinding::Global;
        if (symbol.bytes) {
            info.bytes = evaluator_.late(*symbol.bytes).value_or(0);
        }
        info.scatters = symbol.scatters;
        codelet_.symbols.emplace(name, static_cast<Address>(address));
        codelet_.symbol_info.emplace(name, info);
    }

    [[nodiscard]] static std::uint32_t nop_word() {
        const auto real = expand_pseudo("nop", {}, false);
        return encode(std::get<Operation>(match(real[0].mnemonic, real[0].operands)));
    }

    Unit& unit_;
    Evaluator& evaluator_;
    const SourceMap& map_;
    const EmitOptions& options_;
    Diagnostics& diagnostics_;
    program::Codelet& codelet_;
    Checker checker_;
    std::vector<Operation>
        operations_; ///< one an instruction; kNone where it failed or expands to two
    std::vector<const Section*> order_;
    Memory code_;
    Memory data_;
    const std::uint32_t nop_ = nop_word();
};

} // namespace

void emit(Unit& unit, Evaluator& evaluator, const SourceMap& map, const EmitOptions& options,
          Diagnostics& diagnostics, program::Codelet& codelet) {
    Emitter(unit, evaluator, map, options, diagnostics, codelet).run();
}

} // namespace tessera::isa::assembly
