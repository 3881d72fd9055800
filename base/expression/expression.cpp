// SPDX-License-Identifier: MIT
#include "base/expression/expression.h"

#include "base/config/suggest.h"
#include "base/expression/steps.h"
#include "base/text.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace tessera::expression {
namespace {

template <class Map> std::vector<std::string> keys_of(const Map& map) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : map) {
        keys.push_back(key);
    }
    return keys;
}

template <class Map>
const typename Map::mapped_type* found_in(const Map& map, const std::string& name) {
    const auto found = map.find(name);
    return found == map.end() ? nullptr : &found->second;
}

/// @throws TooMuchWork where there are not so many left
void take_steps(std::size_t steps, std::size_t at, const Scope& scope) {
    if (scope.work == nullptr) {
        return;
    }
    scope.work->steps_left -= static_cast<std::int64_t>(steps);
    if (scope.work->steps_left < 0) {
        throw TooMuchWork(
            at + 1, fmt::format("the expressions of {} may take {} steps in all, one for each "
                                "character and for each number, name and operator of each term of "
                                "a sum, and this one takes more",
                                scope.work->of, scope.work->most));
    }
}

/// Walks the steps of an expression.
class Machine {
public:
    Machine(Compiled compiled, const Scope& scope) : compiled_(std::move(compiled)), scope_(scope) {
        std::vector<const double*> numbers;
        for (const auto& name : compiled_.numbers) {
            numbers.push_back(found_in(scope.numbers, name));
        }
        for (auto& step : compiled_.steps) {
            if (step.op == Op::Name) {
                step.found = numbers[step.argument];
            } else if (step.op == Op::Table) {
                const auto* const table = found_in(scope.tables, compiled_.names[step.argument]);
                step.found = table == nullptr
                                 ? nullptr
                                 : found_in(*table, compiled_.names[step.argument + 1]);
            } else if (step.op == Op::Element) {
                step.array = found_in(scope.arrays, compiled_.names[step.argument]);
            }
            step.op = step.found == nullptr ? step.op : Op::Known;
        }
    }

    double run() {
        for (std::size_t next = 0; next < compiled_.steps.size();) {
            next = step(compiled_.steps[next], next + 1);
        }
        return stack_.back();
    }

private:
    struct Loop {
        std::int64_t k;
        std::int64_t high;
        double total;
    };

    double pop() {
        const double value = stack_.back();
        stack_.pop_back();
        return value;
    }
    /// Bit operators act on 64-bit integers, which a double holds exactly up to 2^53.
    static std::int64_t whole(double value, std::size_t at, std::string_view of) {
        constexpr double kLargest = 9007199254740992.0;
        if (!(std::fabs(value) <= kLargest) || std::floor(value) != value) {
            fail_at(at, fmt::format("{}: got {}, expected a whole number", of, value));
        }
        return static_cast<std::int64_t>(value);
    }
    static double divisor(double value, std::size_t at) {
        if (value == 0) {
            fail_at(at, "division by zero");
        }
        return value;
    }

    /// @returns the number of the step that comes after this one
    std::size_t step(const Step& now, std::size_t following) {
        switch (now.op) {
        case Op::Number:
            stack_.push_back(now.value);
            break;
        case Op::Known:
            stack_.push_back(*now.found);
            break;
        case Op::Name:
        case Op::Table:
            unknown(now);
        case Op::Index:
            stack_.push_back(static_cast<double>(loops_[now.argument].k));
            break;
        case Op::Element:
            stack_.back() = element(now);
            break;
        case Op::Jump:
            return now.argument;
        case Op::JumpIfZero:
            return pop() != 0 ? following : now.argument;
        case Op::SumBegin: {
            const std::int64_t high = whole(pop(), now.at, "sum");
            const std::int64_t low = whole(pop(), now.at, "sum");
            if (low >= high) {
                stack_.push_back(0);
                return now.argument;
            }
            loops_.push_back({low, high, 0});
            break;
        }
        case Op::SumNext: {
            auto& loop = loops_.back();
            loop.total += pop();
            take_steps(static_cast<std::size_t>(now.value), now.at, scope_);
            if (++loop.k < loop.high) {
                return now.argument;
            }
            stack_.push_back(loop.total);
            loops_.pop_back();
            break;
        }
        default:
            if (now.op == Op::Negate || now.op == Op::Invert || now.op >= Op::Floor) {
                stack_.back() = of_one(now, stack_.back());
            } else {
                const double right = pop();
                stack_.back() = of_two(now, stack_.back(), right);
            }
        }
        return following;
    }

    static double of_one(const Step& now, double value) {
        switch (now.op) {
        case Op::Negate:
            return -value;
        case Op::Invert:
            return static_cast<double>(~whole(value, now.at, "~"));
        case Op::Floor:
            return std::floor(value);
        case Op::Ceil:
            return std::ceil(value);
        case Op::Round:
            return std::round(value);
        case Op::Abs:
            return std::fabs(value);
        case Op::Sqrt:
            return std::sqrt(value);
        case Op::Log2:
            return std::log2(value);
        case Op::Exp:
            return std::exp(value);
        case Op::Log:
            return std::log(value);
        case Op::Not:
            return value == 0 ? 1 : 0;
        case Op::Truth:
            return value == 0 ? 0 : 1;
        default:
            return std::tanh(value);
        }
    }
    static double of_two(const Step& now, double left, double right) {
        switch (now.op) {
        case Op::Add:
            return left + right;
        case Op::Subtract:
            return left - right;
        case Op::Multiply:
            return left * right;
        case Op::Divide:
            return left / divisor(right, now.at);
        case Op::Modulo:
            return static_cast<double>(whole(left, now.at, "%") %
                                       whole(divisor(right, now.at), now.at, "%"));
        case Op::ShiftUp:
        case Op::ShiftDown:
            return shift(now, left, right);
        case Op::BitAnd:
            return static_cast<double>(whole(left, now.at, "&") & whole(right, now.at, "&"));
        case Op::BitXor:
            return static_cast<double>(whole(left, now.at, "^") ^ whole(right, now.at, "^"));
        case Op::BitOr:
            return static_cast<double>(whole(left, now.at, "|") | whole(right, now.at, "|"));
        case Op::Equal:
            return left == right ? 1 : 0;
        case Op::Unequal:
            return left != right ? 1 : 0;
        case Op::Less:
            return left < right ? 1 : 0;
        case Op::LessEqual:
            return left <= right ? 1 : 0;
        case Op::Greater:
            return left > right ? 1 : 0;
        case Op::GreaterEqual:
            return left >= right ? 1 : 0;
        case Op::Minimum:
            return right < left ? right : left;
        case Op::Maximum:
            return left < right ? right : left;
        case Op::Ceildiv:
            return std::ceil(left / divisor(right, now.at));
        default:
            return std::floor(left / divisor(right, now.at));
        }
    }
    static double shift(const Step& now, double left, double right) {
        const bool up = now.op == Op::ShiftUp;
        const std::int64_t value = whole(left, now.at, up ? "<<" : ">>");
        const std::int64_t bits = whole(right, now.at, up ? "<<" : ">>");
        if (bits < 0 || bits > 52) {
            fail_at(now.at, fmt::format("shift: got {} bits, expected 0..52", bits));
        }
        return up ? static_cast<double>(value) * static_cast<double>(std::int64_t{1} << bits)
                  : static_cast<double>(value >> bits);
    }
    [[noreturn]] void unknown(const Step& now) const {
        if (now.op == Op::Name) {
            const auto& name = compiled_.numbers[now.argument];
            fail_at(now.at, "unknown name " + in_quotes(name),
                    config::did_you_mean(name, keys_of(scope_.numbers)));
        }
        const auto& function = compiled_.names[now.argument];
        const auto& argument = compiled_.names[now.argument + 1];
        const auto* const table = found_in(scope_.tables, function);
        if (table == nullptr) {
            fail_at(now.at, fmt::format("{}() is not known here", function), scope_.no_table);
        }
        fail_at(now.name_at, fmt::format("{}: unknown name {}", function, in_quotes(argument)),
                config::did_you_mean(argument, keys_of(*table)));
    }
    [[nodiscard]] double element(const Step& now) const {
        if (now.array == nullptr) {
            const auto& array = compiled_.names[now.argument];
            fail_at(now.name_at, "at: unknown array " + in_quotes(array),
                    config::did_you_mean(array, keys_of(scope_.arrays)));
        }
        const auto number = whole(stack_.back(), now.at, "at");
        if (number < 0 || static_cast<std::size_t>(number) >= now.array->size()) {
            fail_at(now.at, fmt::format("at: got index {}, expected 0..{}", number,
                                        static_cast<std::int64_t>(now.array->size()) - 1));
        }
        return (*now.array)[static_cast<std::size_t>(number)];
    }
    Compiled compiled_;
    const Scope& scope_;
    std::vector<double> stack_;
    std::vector<Loop> loops_;
};

} // namespace

double evaluate(std::string_view text, const Scope& scope) {
    take_steps(text.size() + 1, 0, scope);
    return Machine(compile(text), scope).run();
}

} // namespace tessera::expression
