// SPDX-License-Identifier: MIT
// What the parser makes of the sources: sections of items, symbols, and expressions that may wait
// for the link.
//
// Label values stay (section, offset) until every section has its address; differences inside one
// section are plain numbers at once.
#pragma once

#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/names.h"
#include "models/isa/assembler/position.h"
#include "models/isa/csr.h"
#include "models/isa/instruction.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::isa::assembly {

/// A place in a section, in bytes.
struct Location {
    std::uint32_t section = 0;
    std::uint32_t offset = 0;
};

/// A number, or a number of bytes from the start of a section.
struct Value {
    static constexpr std::uint32_t kAbsolute = 0xffffffff;
    std::uint32_t section = kAbsolute;
    std::int64_t number = 0;
    std::int32_t addresses = 0; ///< added in it, less those subtracted: 1 where it is an address

    [[nodiscard]] bool is_absolute() const { return section == kAbsolute; }
};

enum class NodeKind : std::uint8_t {
    Constant,   ///< value
    Place,      ///< location
    Symbol,     ///< name, looked up when evaluated
    Definition, ///< the assignment number `value`
    Forward,    ///< Nf: `label` and the number of its definitions so far
    Negate,
    Invert,
    Not,
    Field, ///< what a relocation makes of an address; `value` is a RelocationField
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Xor,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    LogicalAnd,
    LogicalOr,
};

/// `@abs19@s2` or `@relative@16@s2`: so many bits of an address that is shifted right, counted from
/// the start of memory if it is relative.
struct RelocationField {
    bool is_relative = false;
    std::uint8_t bits = 0;
    std::uint8_t shift = 0;

    [[nodiscard]] std::int64_t packed() const {
        return (is_relative ? 0x10000 : 0) | (bits << 8) | shift;
    }
    [[nodiscard]] static RelocationField of(std::int64_t packed) {
        return {(packed & 0x10000) != 0, static_cast<std::uint8_t>((packed >> 8) & 0xff),
                static_cast<std::uint8_t>(packed & 0xff)};
    }
    [[nodiscard]] std::string text() const {
        return (is_relative ? "@relative@" : "@abs") + std::to_string(bits) +
               (shift == 0 ? "" : "@s" + std::to_string(shift));
    }
};

/// One step of an expression in postfix order.
struct Node {
    NodeKind kind = NodeKind::Constant;
    std::int64_t value = 0;
    Location location; ///< Place; of Forward, {ordinal, 0}
    std::string_view name;
    std::uint32_t scope = 0; ///< Symbol and Forward: the source whose names count
    Origin at;
};

/// A run of nodes in Unit::nodes.
struct Expression {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
};

/// `sym = expr`; each assignment is a definition of its own, so a use keeps the value that it saw.
struct Definition {
    Expression expression;
    Origin at;
    std::optional<Value> known;
    bool is_failed = false;
    std::string_view undefined; ///< symbol for which it failed, if that may be undefined
    bool is_active = false;     ///< being evaluated
};

struct Symbol {
    enum class Kind : std::uint8_t {
        Declared,
        Label,
        Assigned,
        Common, ///< .comm: a label in .bss once all sources are read and none defines it
    };
    Kind kind = Kind::Declared;
    bool is_global = false;
    bool is_local = false; ///< .local
    bool is_weak = false;
    bool is_fixed = false; ///< .equiv: may not be assigned again
    bool scatters = false; ///< .scatters
    Location location;
    std::uint32_t definition = 0;    ///< the last one
    std::optional<Expression> bytes; ///< .size
    std::uint32_t common_bytes = 0;
    std::uint32_t common_alignment = 1;
    Origin at;
};

/// The names of one source.
struct Scope {
    std::unordered_map<std::string_view, Symbol> symbols;
    std::unordered_map<std::int64_t, std::vector<Location>> numeric_labels;
};

enum class OperandShape : std::uint8_t { Register, Csr, Expression };
enum class RegisterFile : std::uint8_t { Main, Aux };
enum class Suffix : std::uint8_t { None, Step, Increment, At, Shift };

/// An operand as it is written.
struct Operand {
    OperandShape shape = OperandShape::Expression;
    RegisterFile file = RegisterFile::Main;
    std::uint8_t first = 0;
    std::uint8_t width = 1; ///< registers: 1, 2 or 4
    Suffix suffix = Suffix::None;
    Broadcast broadcast = Broadcast::None;
    const CsrName* csr = nullptr;
    Expression expression;
    std::int64_t value = 0;       ///< of the expression, once evaluated
    std::uint8_t field_shift = 0; ///< `value` was shifted so far, as in x@abs19@s2
    bool is_address = false;      ///< `value` is an address
    std::int64_t address = 0;     ///< then from the start of memory
    Origin at;
};

/// Who runs the code; Any until .worker or .supervisor.
enum class Mode : std::uint8_t { Any, Worker, Supervisor };

/// What happens where a rule is broken: `.error_on_…`, `.warn_on_…` and `.allow_…`.
enum class Severity : std::uint8_t { Error, Warning, Nothing };

struct Checks {
    Severity bundles = Severity::Error;
    Severity operands = Severity::Error;
    Severity execution_mode = Severity::Error;
    Severity repeat = Severity::Error;
    bool may_optimise = false; ///< .allow_optimizations
};

struct Instruction {
    std::string_view mnemonic;
    Origin at;
    Mode mode = Mode::Any;
    Checks checks;
    std::uint32_t operand_begin = 0;
    std::uint32_t operand_end = 0;
};

struct Item {
    enum class Kind : std::uint8_t {
        Instruction,
        Bundle,
        Data,    ///< expressions from `index` on, each of `element_bytes`
        Text,    ///< bytes from `index` on
        Leb128,  ///< the expression `index` in `bytes` bytes of seven bits
        Fill,    ///< the expression `index`, `element_bytes` each time
        Padding, ///< nops in code, zeros elsewhere
    };
    Kind kind = Kind::Instruction;
    std::uint32_t offset = 0;
    std::uint32_t bytes = 0;
    std::uint32_t index = 0; ///< of the (first) instruction, data expression or byte
    std::uint32_t element_bytes = 0;
};

struct Section {
    std::string_view name;
    std::uint32_t file = 0;      ///< the source
    std::int64_t subsection = 0; ///< those of one name follow each other by number
    std::uint32_t group = 0;     ///< the first section of this name
    std::uint32_t alignment = 8;
    std::uint32_t bytes = 0;
    std::uint32_t base = 0; ///< address, set by the link
    std::uint32_t gap = 0;  ///< bytes before it, set by the link
    bool is_apart = false;  ///< linked where data go, set by the link
    bool is_data = false;   ///< by name or flags: neither code nor anything that is executed
    bool is_loaded = true;  ///< false: for tools (debug information and notes), not in memory
    bool has_code = false;  ///< holds instructions
    std::vector<Item> items;

    [[nodiscard]] bool is_only_data() const { return is_data && !has_code; }
};

struct Unit {
    std::vector<Scope> scopes; ///< one a source
    std::vector<Section> sections;
    std::vector<Node> nodes;
    std::vector<Definition> definitions;
    std::vector<Operand> operands;
    std::vector<Instruction> instructions;
    std::vector<Expression> data;
    std::vector<std::uint8_t> text;   ///< of .ascii
    std::vector<std::string> printed; ///< by .print
    NamePool names;                   ///< what all the string_views here point into
};

} // namespace tessera::isa::assembly
