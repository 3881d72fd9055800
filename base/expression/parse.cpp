// SPDX-License-Identifier: MIT
#include "base/config/suggest.h"
#include "base/expression/steps.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace tessera::expression {
namespace {

bool is_name_start(char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_name_part(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

struct Function {
    std::string_view name;
    Op op;
    int arguments; ///< 0: any number of them, from one
};
constexpr std::array kNumberFunctions{
    Function{"min", Op::Minimum, 0},     Function{"max", Op::Maximum, 0},
    Function{"ceildiv", Op::Ceildiv, 2}, Function{"floordiv", Op::Floordiv, 2},
    Function{"floor", Op::Floor, 1},     Function{"ceil", Op::Ceil, 1},
    Function{"round", Op::Round, 1},     Function{"abs", Op::Abs, 1},
    Function{"sqrt", Op::Sqrt, 1},       Function{"log2", Op::Log2, 1},
    Function{"exp", Op::Exp, 1},         Function{"log", Op::Log, 1},
    Function{"tanh", Op::Tanh, 1},
};
constexpr std::array<std::string_view, 4> kNameFunctions{"addr", "bytes", "elements", "symbol"};

/// Recursive descent, one function a strength of operators.
class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Compiled run() {
        if (text_.size() > kLongest) {
            fail_at(0, fmt::format("got an expression of {} characters, expected at most {}",
                                   text_.size(), kLongest));
        }
        conditional();
        skip_space();
        if (at_ != text_.size()) {
            fail_at(at_,
                    fmt::format("got '{}', expected an operator or the end", text_.substr(at_, 1)));
        }
        return std::move(compiled_);
    }

private:
    struct Binary {
        std::string_view sign;
        Op op;
    };

    void emit(Op op, std::size_t at, std::size_t argument = 0) {
        Step step{op};
        step.at = static_cast<std::uint32_t>(at);
        step.argument = static_cast<std::uint32_t>(argument);
        compiled_.steps.push_back(step);
    }
    /// The number of the step that comes next.
    [[nodiscard]] std::size_t here() const { return compiled_.steps.size(); }
    std::size_t jump_if_zero() {
        emit(Op::JumpIfZero, at_);
        return here() - 1;
    }
    std::size_t jump() {
        emit(Op::Jump, at_);
        return here() - 1;
    }
    void lead_here(std::size_t jump) {
        compiled_.steps[jump].argument = static_cast<std::uint32_t>(here());
    }
    std::size_t hold(std::string name) {
        compiled_.names.push_back(std::move(name));
        return compiled_.names.size() - 1;
    }

    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }
    bool accept(std::string_view wanted) {
        skip_space();
        // mostly another character stands here, and every level of operators asks
        if (at_ == text_.size() || text_[at_] != wanted.front() ||
            text_.substr(at_, wanted.size()) != wanted) {
            return false;
        }
        at_ += wanted.size();
        return true;
    }
    /// Whether the sign & or | that may stand here is the first half of && or ||.
    [[nodiscard]] bool is_doubled(std::string_view sign) const {
        return (sign == "&" || sign == "|") && text_.substr(at_, 1) == sign &&
               text_.substr(at_ + 1, 1) == sign;
    }
    void expect(std::string_view wanted) {
        if (!accept(wanted)) {
            const std::string got =
                at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 1)) : "the end";
            fail_at(at_, fmt::format("got {}, expected '{}'", got, wanted));
        }
    }
    void deeper() {
        if (++depth_ > 100) {
            fail_at(at_, "got more than 100 levels of operators and parentheses");
        }
    }

    /// Only the side that counts is evaluated.
    void conditional() {
        either();
        if (!accept("?")) {
            return;
        }
        deeper();
        const std::size_t to_second = jump_if_zero();
        conditional();
        expect(":");
        const std::size_t to_end = jump();
        lead_here(to_second);
        conditional();
        lead_here(to_end);
        --depth_;
    }
    void either() {
        both();
        while (accept("||")) {
            const std::size_t to_second = jump_if_zero();
            push(1);
            const std::size_t to_end = jump();
            lead_here(to_second);
            both();
            emit(Op::Truth, at_);
            lead_here(to_end);
        }
    }
    void both() {
        bit_or();
        while (accept("&&")) {
            const std::size_t to_no = jump_if_zero();
            bit_or();
            emit(Op::Truth, at_);
            const std::size_t to_end = jump();
            lead_here(to_no);
            push(0);
            lead_here(to_end);
        }
    }
    /// Operands of one strength between `operators`, from left to right. A sign comes after those
    /// that begin like it.
    template <std::size_t N>
    void level(void (Parser::*operand)(), const std::array<Binary, N>& operators) {
        (this->*operand)();
        while (true) {
            skip_space();
            const std::size_t at = at_;
            const auto* const found =
                std::find_if(operators.begin(), operators.end(), [&](const Binary& binary) {
                    return !is_doubled(binary.sign) && accept(binary.sign);
                });
            if (found == operators.end()) {
                return;
            }
            (this->*operand)();
            emit(found->op, at);
        }
    }
    void bit_or() { level(&Parser::bit_xor, std::array{Binary{"|", Op::BitOr}}); }
    void bit_xor() { level(&Parser::bit_and, std::array{Binary{"^", Op::BitXor}}); }
    void bit_and() { level(&Parser::equality, std::array{Binary{"&", Op::BitAnd}}); }
    void equality() {
        level(&Parser::relation, std::array{Binary{"==", Op::Equal}, Binary{"!=", Op::Unequal}});
    }
    void relation() {
        level(&Parser::shift,
              std::array{Binary{"<=", Op::LessEqual}, Binary{">=", Op::GreaterEqual},
                         Binary{"<", Op::Less}, Binary{">", Op::Greater}});
    }
    void shift() {
        level(&Parser::sum, std::array{Binary{"<<", Op::ShiftUp}, Binary{">>", Op::ShiftDown}});
    }
    void sum() {
        level(&Parser::product, std::array{Binary{"+", Op::Add}, Binary{"-", Op::Subtract}});
    }
    void product() {
        level(&Parser::unary, std::array{Binary{"*", Op::Multiply}, Binary{"/", Op::Divide},
                                         Binary{"%", Op::Modulo}});
    }
    void unary() {
        deeper();
        skip_space();
        const std::size_t at = at_;
        if (accept("-")) {
            unary();
            emit(Op::Negate, at);
        } else if (accept("+")) {
            unary();
        } else if (accept("!")) {
            unary();
            emit(Op::Not, at);
        } else if (accept("~")) {
            unary();
            emit(Op::Invert, at);
        } else {
            primary();
        }
        --depth_;
    }
    void primary() {
        skip_space();
        if (accept("(")) {
            conditional();
            expect(")");
        } else if (at_ < text_.size() && is_name_start(text_[at_])) {
            name_or_call();
        } else if (at_ < text_.size() &&
                   (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 ||
                    text_[at_] == '.')) {
            number();
        } else {
            fail_at(at_, fmt::format("got {}, expected a number, a name or '('",
                                     at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 1))
                                                        : std::string("the end")));
        }
    }
    void push(double value) {
        emit(Op::Number, at_);
        compiled_.steps.back().value = value;
    }
    void number() {
        const std::size_t begin = at_;
        const bool hexadecimal = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
        double value = 0;
        std::uint64_t bits = 0;
        const char* const end = text_.data() + text_.size();
        const auto done = hexadecimal ? std::from_chars(text_.data() + at_ + 2, end, bits, 16)
                                      : std::from_chars(text_.data() + at_, end, value);
        at_ = static_cast<std::size_t>(done.ptr - text_.data());
        if (done.ec != std::errc{} || (at_ < text_.size() && is_name_part(text_[at_]))) {
            fail_at(begin, "got what is no number");
        }
        push(hexadecimal ? static_cast<double>(bits) : value);
    }
    std::string name() {
        skip_space();
        const std::size_t begin = at_;
        if (at_ == text_.size() || !is_name_start(text_[at_])) {
            fail_at(at_, "expected a name");
        }
        while (at_ < text_.size() &&
               (is_name_part(text_[at_]) ||
                (text_[at_] == '.' && at_ + 1 < text_.size() && is_name_start(text_[at_ + 1])))) {
            ++at_;
        }
        return std::string(text_.substr(begin, at_ - begin));
    }

    void name_or_call() {
        const std::size_t begin = at_;
        const std::string word = name();
        if (accept("(")) {
            call(word, begin);
            return;
        }
        if (word == "inf") {
            push(std::numeric_limits<double>::infinity());
            return;
        }
        if (word == "nan") {
            push(std::numeric_limits<double>::quiet_NaN());
            return;
        }
        const auto local = std::find(variables_.rbegin(), variables_.rend(), word);
        if (local != variables_.rend()) {
            emit(Op::Index, begin, static_cast<std::size_t>(variables_.rend() - local) - 1);
            return;
        }
        auto found = number_of_.find(word);
        if (found == number_of_.end()) {
            found = number_of_.emplace(word, compiled_.numbers.size()).first;
            compiled_.numbers.push_back(word);
        }
        emit(Op::Name, begin, found->second);
    }

    void call(const std::string& function, std::size_t begin) {
        if (std::find(kNameFunctions.begin(), kNameFunctions.end(), function) !=
            kNameFunctions.end()) {
            of_name(function, begin);
            return;
        }
        if (function == "at") {
            element(begin);
            return;
        }
        if (function == "sum") {
            sum_over(begin);
            return;
        }
        const auto* const found =
            std::find_if(kNumberFunctions.begin(), kNumberFunctions.end(),
                         [&](const Function& known) { return known.name == function; });
        if (found == kNumberFunctions.end()) {
            std::vector<std::string> known{"at", "sum"};
            known.insert(known.end(), kNameFunctions.begin(), kNameFunctions.end());
            for (const auto& other : kNumberFunctions) {
                known.emplace_back(other.name);
            }
            fail_at(begin, "unknown function " + in_quotes(function),
                    config::did_you_mean(function, known));
        }
        of_numbers(*found, begin);
    }
    void of_numbers(const Function& function, std::size_t begin) {
        int arguments = 1;
        conditional();
        for (; accept(","); ++arguments) {
            conditional();
            if (function.arguments == 0) {
                emit(function.op, begin);
            }
        }
        expect(")");
        if (function.arguments == 0) {
            return;
        }
        if (arguments != function.arguments) {
            fail_at(begin, fmt::format("{}: got {} arguments, expected {}", function.name,
                                       arguments, function.arguments));
        }
        emit(function.op, begin);
    }
    void of_name(const std::string& function, std::size_t begin) {
        skip_space();
        const std::size_t at = at_;
        const std::size_t held = hold(function);
        hold(name());
        expect(")");
        emit(Op::Table, begin, held);
        compiled_.steps.back().name_at = static_cast<std::uint32_t>(at);
    }
    void element(std::size_t begin) {
        skip_space();
        const std::size_t at = at_;
        const std::size_t array = hold(name());
        expect(",");
        conditional();
        expect(")");
        emit(Op::Element, begin, array);
        compiled_.steps.back().name_at = static_cast<std::uint32_t>(at);
    }
    /// sum(k, low, high, expression): the last argument is evaluated for each k.
    void sum_over(std::size_t begin) {
        std::string variable = name();
        expect(",");
        conditional();
        expect(",");
        conditional();
        expect(",");
        const std::size_t first = here();
        emit(Op::SumBegin, begin);
        variables_.push_back(std::move(variable));
        conditional();
        variables_.pop_back();
        expect(")");
        emit(Op::SumNext, begin, first + 1);
        auto& steps = compiled_.steps;
        steps.back().value = std::accumulate(
            steps.begin() + static_cast<std::ptrdiff_t>(first) + 1, steps.end(), 0.0,
            [](double sum, const Step& step) { return sum + cost_of(step.op); });
        lead_here(first);
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::vector<std::string> variables_; ///< of sums, the innermost last
    std::map<std::string, std::size_t> number_of_;
    Compiled compiled_;
};

} // namespace

void fail_at(std::size_t at, const std::string& message, std::string hint) {
    throw Error(at + 1, message, std::move(hint));
}

Compiled compile(std::string_view text) {
    return Parser(text).run();
}

std::vector<std::string> names_in(std::string_view text) {
    return compile(text).numbers;
}

bool is_name(std::string_view text) {
    return !text.empty() && is_name_start(text.front()) &&
           std::all_of(text.begin(), text.end(), is_name_part);
}

} // namespace tessera::expression
