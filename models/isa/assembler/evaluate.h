// SPDX-License-Identifier: MIT
// The value of an expression: early (while parsing, what is known so far) or late (all addresses
// known).
#pragma once

#include "models/isa/assembler.h"
#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/unit.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tessera::isa::assembly {

class Evaluator {
public:
    Evaluator(Unit& unit, const Constants& constants, bool allows_undefined, Address memory_base,
              Diagnostics& diagnostics)
        : unit_(unit), constants_(constants), allows_undefined_(allows_undefined),
          memory_base_(memory_base), diagnostics_(diagnostics) {}

    /// The value as far as it is known while parsing; says nothing when it is not.
    [[nodiscard]] std::optional<Value> early(const Expression& expression);

    /// The value after the link; reports why there is none. 0 where a symbol is undefined that may
    /// be.
    [[nodiscard]] std::optional<std::int64_t> late(const Expression& expression);
    /// The same with whether it is an address.
    [[nodiscard]] std::optional<Value> late_value(const Expression& expression);

    /// Symbols that nobody defines, with the place of a use: those that may be undefined.
    [[nodiscard]] const std::map<std::string_view, Origin>& undefined() const { return undefined_; }
    /// Notes for what stands at an address whether late() has met such a symbol since the last note.
    void note_uses(Address at, bool is_data);
    [[nodiscard]] const std::vector<UndefinedUse>& undefined_uses() const { return uses_; }

    /// Sections have their addresses from here on, and globals of all sources are visible.
    void start_late();

    [[nodiscard]] const std::unordered_map<std::string_view, Symbol>& globals() const {
        return globals_;
    }

    /// A label or an assigned symbol of this source, or a constant of the machine.
    [[nodiscard]] bool is_defined(std::uint32_t scope, std::string_view name) const {
        const auto& own = unit_.scopes[scope].symbols;
        const auto found = own.find(name);
        return (found != own.end() && found->second.kind != Symbol::Kind::Declared) ||
               constants_.contains(std::string(name));
    }

private:
    std::optional<Value> evaluate(const Expression& expression);
    bool push_operand(const Node& node);
    bool push_symbol(const Node& node);
    bool push_definition(std::uint32_t index, const Origin& at);
    void push_place(Location location);
    bool apply_unary(const Node& node);
    bool apply_field(const Node& node);
    bool apply_binary(const Node& node);
    std::optional<Value> combine(const Node& node, Value left, Value right);
    bool fail(const Origin& at, std::string message, std::string hint = {});
    [[nodiscard]] const Symbol* find(std::uint32_t scope, std::string_view name) const;
    void collect_globals();
    void report_undefined(const Node& node);
    void report_unknown_register(const Node& node);

    Unit& unit_;
    const Constants& constants_;
    bool allows_undefined_;
    Address memory_base_;
    Diagnostics& diagnostics_;
    std::unordered_map<std::string_view, Symbol> globals_;
    std::unordered_set<std::string_view> reported_;
    std::map<std::string_view, Origin> undefined_;
    std::string_view met_undefined_; ///< in the expression that is being evaluated
    std::string_view unnoted_;       ///< the last that late() has met
    std::vector<UndefinedUse> uses_;
    std::vector<Value> stack_;
    unsigned depth_ = 0;
    bool is_late_ = false;
};

} // namespace tessera::isa::assembly
