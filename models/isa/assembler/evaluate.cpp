// SPDX-License-Identifier: MIT
#include "models/isa/assembler/evaluate.h"

#include "models/isa/assembler/operand.h"

#include <limits>
#include <tuple>
#include <utility>

namespace tessera::isa::assembly {
namespace {

constexpr unsigned kMaxSymbolDepth = 200;

std::int64_t wrap(std::uint64_t bits) {
    return static_cast<std::int64_t>(bits);
}

/// Arithmetic wraps in 64 bits, `>>` brings in zeros and comparisons give -1 for true, as in GNU
/// assemblers and LLVM's.
std::optional<std::int64_t> calculate(NodeKind kind, std::int64_t a, std::int64_t b) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    const auto truth = [](bool is_true) { return is_true ? std::int64_t{-1} : std::int64_t{0}; };
    switch (kind) {
    case NodeKind::Add:
        return wrap(x + y);
    case NodeKind::Subtract:
        return wrap(x - y);
    case NodeKind::Multiply:
        return wrap(x * y);
    case NodeKind::Divide:
    case NodeKind::Remainder:
        if (b == 0) {
            return std::nullopt;
        }
        if (b == -1) {
            return kind == NodeKind::Divide ? wrap(0 - x) : 0;
        }
        return kind == NodeKind::Divide ? a / b : a % b;
    case NodeKind::ShiftLeft:
        return b < 0 || b > 63 ? std::nullopt : std::optional(wrap(x << y));
    case NodeKind::ShiftRight:
        return b < 0 || b > 63 ? std::nullopt : std::optional(wrap(x >> y));
    case NodeKind::And:
        return a & b;
    case NodeKind::Or:
        return a | b;
    case NodeKind::Xor:
        return a ^ b;
    case NodeKind::Equal:
        return truth(a == b);
    case NodeKind::NotEqual:
        return truth(a != b);
    case NodeKind::Less:
        return truth(a < b);
    case NodeKind::LessEqual:
        return truth(a <= b);
    case NodeKind::Greater:
        return truth(a > b);
    case NodeKind::GreaterEqual:
        return truth(a >= b);
    case NodeKind::LogicalAnd:
        return (a != 0 && b != 0) ? 1 : 0;
    case NodeKind::LogicalOr:
        return (a != 0 || b != 0) ? 1 : 0;
    default:
        return std::nullopt;
    }
}

bool is_comparison(NodeKind kind) {
    return kind >= NodeKind::Equal && kind <= NodeKind::GreaterEqual;
}

} // namespace

std::optional<Value> Evaluator::early(const Expression& expression) {
    stack_.clear();
    return evaluate(expression);
}

std::optional<std::int64_t> Evaluator::late(const Expression& expression) {
    const auto value = late_value(expression);
    return value ? std::optional(value->number) : std::nullopt;
}

std::optional<Value> Evaluator::late_value(const Expression& expression) {
    stack_.clear();
    met_undefined_ = {};
    const auto value = evaluate(expression);
    if (!met_undefined_.empty()) {
        unnoted_ = met_undefined_;
        return Value{}; // whatever is made of a value that is not known: it has no range
    }
    return value;
}

void Evaluator::note_uses(Address at, bool is_data) {
    if (!unnoted_.empty()) {
        uses_.push_back({at, std::string(std::exchange(unnoted_, {})), is_data});
    }
}

void Evaluator::start_late() {
    is_late_ = true;
    collect_globals();
    // In source order, where each mostly needs the ones before it: nesting stays shallow.
    for (std::uint32_t i = 0; i < unit_.definitions.size(); ++i) {
        stack_.clear();
        met_undefined_ = {};
        push_definition(i, unit_.definitions[i].at);
    }
}

void Evaluator::collect_globals() {
    for (std::size_t file = 0; file < unit_.scopes.size(); ++file) {
        for (const auto& [name, symbol] : unit_.scopes[file].symbols) {
            if (!symbol.is_global || symbol.kind == Symbol::Kind::Declared) {
                continue;
            }
            const auto [found, is_new] = globals_.emplace(name, symbol);
            if (is_new) {
                continue;
            }
            if (found->second.is_weak && !symbol.is_weak) {
                found->second = symbol;
            } else if (!symbol.is_weak) {
                diagnostics_.add(symbol.at, "global symbol '" + std::string(name) +
                                                "': defined in another source too, expected one "
                                                "definition");
            }
        }
    }
}

bool Evaluator::fail(const Origin& at, std::string message, std::string hint) {
    if (is_late_) {
        diagnostics_.add(at, std::move(message), std::move(hint));
    }
    return false;
}

std::optional<Value> Evaluator::evaluate(const Expression& expression) {
    const std::size_t base = stack_.size();
    for (std::uint32_t i = expression.begin; i < expression.end; ++i) {
        // A copy: evaluation of a definition may not add nodes, but the reference would outlive a
        // later push.
        const Node node = unit_.nodes[i];
        const bool is_ok = node.kind < NodeKind::Negate ? push_operand(node)
                           : node.kind < NodeKind::Add  ? apply_unary(node)
                                                        : apply_binary(node);
        if (!is_ok) {
            return std::nullopt; // all that needs it fails too, and who asks next empties the stack
        }
    }
    const Value value = stack_.back();
    stack_.resize(base);
    return value;
}

bool Evaluator::push_operand(const Node& node) {
    switch (node.kind) {
    case NodeKind::Constant:
        stack_.push_back({Value::kAbsolute, node.value});
        return true;
    case NodeKind::Place:
        push_place(node.location);
        return true;
    case NodeKind::Definition:
        return push_definition(static_cast<std::uint32_t>(node.value), node.at);
    case NodeKind::Forward: {
        const auto& labels = unit_.scopes[node.scope].numeric_labels[node.value];
        if (node.location.section >= labels.size()) {
            return fail(node.at, "label " + std::to_string(node.value) +
                                     "f: no such label follows, expected '" +
                                     std::to_string(node.value) + ":' below");
        }
        push_place(labels[node.location.section]);
        return true;
    }
    default:
        return push_symbol(node);
    }
}

void Evaluator::push_place(Location location) {
    if (is_late_) {
        stack_.push_back({Value::kAbsolute,
                          std::int64_t{unit_.sections[location.section].base} + location.offset,
                          1});
    } else {
        stack_.push_back({location.section, location.offset, 1});
    }
}

/// A weak symbol is known only after the link: another source may define it better.
const Symbol* Evaluator::find(std::uint32_t scope, std::string_view name) const {
    const auto& own = unit_.scopes[scope].symbols;
    const auto found = own.find(name);
    const bool is_own = found != own.end() && found->second.kind != Symbol::Kind::Declared;
    if (is_own && !(found->second.is_global && found->second.is_weak)) {
        return &found->second;
    }
    const auto global = globals_.find(name);
    return global == globals_.end() ? nullptr : &global->second;
}

bool Evaluator::push_symbol(const Node& node) {
    if (const Symbol* symbol = find(node.scope, node.name)) {
        if (symbol->kind == Symbol::Kind::Assigned) {
            return push_definition(symbol->definition, node.at);
        }
        if (symbol->kind == Symbol::Kind::Common) {
            return false; // only while parsing: the link makes a label of it
        }
        push_place(symbol->location);
        return true;
    }
    const auto constant = constants_.find(std::string(node.name));
    if (constant != constants_.end()) {
        stack_.push_back({Value::kAbsolute, constant->second});
        return true;
    }
    if (!is_late_) {
        return false;
    }
    const auto& own = unit_.scopes[node.scope].symbols;
    if (const auto declared = own.find(node.name);
        declared != own.end() && declared->second.is_weak) {
        stack_.push_back({Value::kAbsolute, 0});
        return true;
    }
    if (allows_undefined_) {
        const auto place = [](const Position& at) { return std::tie(at.file, at.line, at.column); };
        const auto [known, is_new] = undefined_.emplace(node.name, node.at);
        if (!is_new && place(node.at.at) < place(known->second.at)) {
            known->second = node.at; // assignments are evaluated before all else
        }
        met_undefined_ = node.name;
    } else {
        report_undefined(node);
    }
    return false;
}

void Evaluator::report_unknown_register(const Node& node) {
    diagnostics_.add(node.at, "register '" + std::string(node.name) + "': not known",
                     diagnostics_.nearest(node.name.substr(1), dollar_names()));
}

void Evaluator::report_undefined(const Node& node) {
    if (node.name.front() == '$') {
        report_unknown_register(node);
        return;
    }
    if (!reported_.insert(node.name).second) {
        return;
    }
    std::vector<std::string_view> names;
    for (const auto& [name, symbol] : unit_.scopes[node.scope].symbols) {
        if (symbol.kind != Symbol::Kind::Declared) {
            names.push_back(name);
        }
    }
    for (const auto& [name, symbol] : globals_) {
        names.push_back(name);
    }
    for (const auto& [name, value] : constants_) {
        names.push_back(name);
    }
    diagnostics_.add(node.at, "symbol '" + std::string(node.name) + "': not defined",
                     diagnostics_.nearest(node.name, names));
}

bool Evaluator::push_definition(std::uint32_t index, const Origin& at) {
    Definition& definition = unit_.definitions[index];
    if (!definition.known && !definition.is_failed) {
        if (definition.is_active || depth_ >= kMaxSymbolDepth) {
            return fail(at, definition.is_active
                                ? "symbol: its value depends on itself"
                                : "symbol: its value is nested more than 200 symbols deep");
        }
        definition.is_active = true;
        ++depth_;
        definition.known = evaluate(definition.expression);
        --depth_;
        definition.is_active = false;
        definition.is_failed = !definition.known && is_late_;
        definition.undefined = definition.is_failed ? met_undefined_ : std::string_view{};
    }
    if (!definition.known) {
        met_undefined_ = met_undefined_.empty() ? definition.undefined : met_undefined_;
        return false;
    }
    if (is_late_ && !definition.known->is_absolute()) {
        definition.known =
            Value{Value::kAbsolute,
                  unit_.sections[definition.known->section].base + definition.known->number,
                  definition.known->addresses};
    }
    stack_.push_back(*definition.known);
    return true;
}

bool Evaluator::apply_unary(const Node& node) {
    Value& value = stack_.back();
    if (!value.is_absolute()) {
        return false; // only while parsing: after the link every value is a number
    }
    switch (node.kind) {
    case NodeKind::Negate:
        value.number = wrap(0 - static_cast<std::uint64_t>(value.number));
        value.addresses = -value.addresses;
        return true;
    case NodeKind::Invert:
        value = {Value::kAbsolute, ~value.number};
        return true;
    case NodeKind::Not:
        value = {Value::kAbsolute, value.number == 0 ? 1 : 0};
        return true;
    default:
        return apply_field(node);
    }
}

bool Evaluator::apply_field(const Node& node) {
    const RelocationField field = RelocationField::of(node.value);
    Value& value = stack_.back();
    const std::int64_t offset = field.is_relative ? value.number - memory_base_ : value.number;
    const std::int64_t unit = std::int64_t{1} << field.shift;
    const std::int64_t most = ((std::int64_t{1} << field.bits) - 1) * unit;
    if (offset < 0 || offset > most || offset % unit != 0) {
        return fail(node.at, "relocation " + field.text() + ": got " + std::to_string(offset) +
                                 (field.is_relative ? " from the start of memory" : "") +
                                 ", expected " +
                                 (unit == 1 ? "" : "a multiple of " + std::to_string(unit) + ", ") +
                                 "0.." + std::to_string(most));
    }
    value = {Value::kAbsolute, offset / unit};
    return true;
}

bool Evaluator::apply_binary(const Node& node) {
    const Value right = stack_.back();
    stack_.pop_back();
    const auto result = combine(node, stack_.back(), right);
    if (!result) {
        return false;
    }
    stack_.back() = *result;
    return true;
}

std::optional<Value> Evaluator::combine(const Node& node, Value left, Value right) {
    std::uint32_t section = Value::kAbsolute;
    if (!left.is_absolute() || !right.is_absolute()) {
        const bool is_same = left.section == right.section;
        if (node.kind == NodeKind::Add && (left.is_absolute() || right.is_absolute())) {
            section = left.is_absolute() ? right.section : left.section;
        } else if (node.kind == NodeKind::Subtract && right.is_absolute()) {
            section = left.section;
        } else if (!(is_same && (node.kind == NodeKind::Subtract || is_comparison(node.kind)))) {
            return std::nullopt; // only while parsing: after the link every value is a number
        }
    }
    const auto number = calculate(node.kind, left.number, right.number);
    if (!number) {
        fail(node.at, node.kind == NodeKind::Divide || node.kind == NodeKind::Remainder
                          ? "expression: division by zero"
                          : "expression: got a shift by " + std::to_string(right.number) +
                                ", expected 0..63");
        return std::nullopt;
    }
    const std::int32_t addresses = node.kind == NodeKind::Add ? left.addresses + right.addresses
                                   : node.kind == NodeKind::Subtract
                                       ? left.addresses - right.addresses
                                       : 0;
    return Value{section, *number, addresses};
}

} // namespace tessera::isa::assembly
