// SPDX-License-Identifier: MIT
#include "sim/vertex/expression.h"

#include "base/config/suggest.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace tessera::vertex {
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

template <class Map> std::vector<std::string> keys_of(const Map& map) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : map) {
        keys.push_back(key);
    }
    return keys;
}

const std::vector<std::string> kNumberFunctions{"min",  "max",   "ceildiv", "floordiv", "floor",
                                                "ceil", "round", "abs",     "sqrt",     "log2",
                                                "exp",  "log",   "tanh"};
const std::vector<std::string> kNameFunctions{"addr", "bytes", "elements", "symbol"};

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Recursive descent, one function a strength. Without a scope only the syntax counts and names
/// are collected.
class Evaluator {
public:
    Evaluator(std::string_view text, const Scope* scope) : text_(text), scope_(scope) {}

    double run() {
        work(0, text_.size());
        const double value = conditional();
        skip_space();
        if (at_ != text_.size()) {
            fail(at_,
                 fmt::format("got '{}', expected an operator or the end", text_.substr(at_, 1)));
        }
        return value;
    }
    std::vector<std::string> take_names() { return std::move(names_); }

private:
    [[noreturn]] static void fail(std::size_t at, const std::string& message,
                                  std::string hint = {}) {
        throw ExpressionError(at + 1, message, std::move(hint));
    }
    /// That many characters are read, again where it is a term of a sum.
    void work(std::size_t at, std::size_t characters) {
        if (scope_ == nullptr || scope_->work == nullptr) {
            return;
        }
        auto& left = scope_->work->characters_left;
        left -= static_cast<std::int64_t>(characters) + 1;
        if (left < 0) {
            fail(at,
                 fmt::format("the expressions of a file may read {} characters in all, terms of "
                             "sums each time, and this one reads more",
                             kMostCharactersRead));
        }
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
    void expect(std::string_view wanted) {
        if (!accept(wanted)) {
            const std::string got =
                at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 1)) : "the end";
            fail(at_, fmt::format("got {}, expected '{}'", got, wanted));
        }
    }

    /// Bit operators act on 64-bit integers, which a double holds exactly up to 2^53.
    std::int64_t whole(double value, std::size_t at, std::string_view of) const {
        constexpr double kLargest = 9007199254740992.0;
        if (scope_ == nullptr) {
            return 1;
        }
        if (!(std::fabs(value) <= kLargest) || std::floor(value) != value) {
            fail(at, fmt::format("{}: got {}, expected a whole number", of, value));
        }
        return static_cast<std::int64_t>(value);
    }
    double divisor(double value, std::size_t at) const {
        if (value == 0 && scope_ != nullptr) {
            fail(at, "division by zero");
        }
        return value;
    }

    template <class Next, class Apply>
    double bit_level(Next next, std::string_view sign, Apply apply) {
        double left = (this->*next)();
        for (std::size_t at = at_; accept(sign); at = at_) {
            const auto first = whole(left, at, sign);
            left = static_cast<double>(apply(first, whole((this->*next)(), at, sign)));
        }
        return left;
    }
    /// Reads a conditional without its value.
    void skip() {
        const Scope* const scope = std::exchange(scope_, nullptr);
        conditional();
        scope_ = scope;
    }
    /// Only the side that counts is evaluated.
    double conditional() {
        const double condition = bit_or();
        if (!accept("?")) {
            return condition;
        }
        if (++depth_ > 100) {
            fail(at_, "got more than 100 levels of operators and parentheses");
        }
        const bool first = condition != 0;
        double value = 1;
        if (first || scope_ == nullptr) {
            value = conditional();
        } else {
            skip();
        }
        expect(":");
        if (first && scope_ != nullptr) {
            skip();
        } else {
            value = conditional();
        }
        --depth_;
        return value;
    }
    double bit_or() {
        return bit_level(&Evaluator::bit_xor, "|", [](auto a, auto b) { return a | b; });
    }
    double bit_xor() {
        return bit_level(&Evaluator::bit_and, "^", [](auto a, auto b) { return a ^ b; });
    }
    double bit_and() {
        return bit_level(&Evaluator::equality, "&", [](auto a, auto b) { return a & b; });
    }
    double equality() {
        double left = relation();
        while (true) {
            if (accept("==")) {
                left = left == relation() ? 1 : 0;
            } else if (accept("!=")) {
                left = left != relation() ? 1 : 0;
            } else {
                return left;
            }
        }
    }
    double relation() {
        double left = shift();
        while (true) {
            if (accept("<=")) {
                left = left <= shift() ? 1 : 0;
            } else if (accept(">=")) {
                left = left >= shift() ? 1 : 0;
            } else if (accept("<")) {
                left = left < shift() ? 1 : 0;
            } else if (accept(">")) {
                left = left > shift() ? 1 : 0;
            } else {
                return left;
            }
        }
    }
    double shift() {
        double left = sum();
        while (true) {
            const std::size_t at = at_;
            const bool up = accept("<<");
            if (!up && !accept(">>")) {
                return left;
            }
            const auto value = whole(left, at, up ? "<<" : ">>");
            const auto bits = whole(sum(), at, up ? "<<" : ">>");
            if (bits < 0 || bits > 52) {
                fail(at, fmt::format("shift: got {} bits, expected 0..52", bits));
            }
            left = up ? static_cast<double>(value) * static_cast<double>(std::int64_t{1} << bits)
                      : static_cast<double>(value >> bits);
        }
    }
    double sum() {
        double left = product();
        while (true) {
            if (accept("+")) {
                left += product();
            } else if (accept("-")) {
                left -= product();
            } else {
                return left;
            }
        }
    }
    double product() {
        double left = unary();
        while (true) {
            skip_space();
            const std::size_t at = at_;
            if (accept("*")) {
                left *= unary();
            } else if (accept("/")) {
                left /= divisor(unary(), at);
            } else if (accept("%")) {
                const auto first = whole(left, at, "%");
                const auto second = whole(divisor(unary(), at), at, "%");
                left = static_cast<double>(first % second);
            } else {
                return left;
            }
        }
    }
    double unary() {
        if (++depth_ > 100) {
            fail(at_, "got more than 100 levels of operators and parentheses");
        }
        skip_space();
        const std::size_t at = at_;
        double value = 0;
        if (accept("-")) {
            value = -unary();
        } else if (accept("+")) {
            value = unary();
        } else if (accept("~")) {
            value = static_cast<double>(~whole(unary(), at, "~"));
        } else {
            value = primary();
        }
        --depth_;
        return value;
    }
    double primary() {
        skip_space();
        if (accept("(")) {
            const double value = conditional();
            expect(")");
            return value;
        }
        if (at_ < text_.size() && is_name_start(text_[at_])) {
            return name_or_call();
        }
        if (at_ < text_.size() &&
            (std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '.')) {
            return number();
        }
        fail(at_, fmt::format("got {}, expected a number, a name or '('",
                              at_ < text_.size() ? fmt::format("'{}'", text_.substr(at_, 1))
                                                 : std::string("the end")));
    }
    double number() {
        const std::size_t begin = at_;
        const bool hexadecimal = text_.substr(at_, 2) == "0x" || text_.substr(at_, 2) == "0X";
        double value = 0;
        std::uint64_t bits = 0;
        const char* const end = text_.data() + text_.size();
        const auto done = hexadecimal ? std::from_chars(text_.data() + at_ + 2, end, bits, 16)
                                      : std::from_chars(text_.data() + at_, end, value);
        at_ = static_cast<std::size_t>(done.ptr - text_.data());
        if (done.ec != std::errc{} || (at_ < text_.size() && is_name_part(text_[at_]))) {
            fail(begin, "got what is no number");
        }
        return hexadecimal ? static_cast<double>(bits) : value;
    }
    std::string name() {
        skip_space();
        const std::size_t begin = at_;
        if (at_ == text_.size() || !is_name_start(text_[at_])) {
            fail(at_, "expected a name");
        }
        while (at_ < text_.size() && is_name_part(text_[at_])) {
            ++at_;
        }
        return std::string(text_.substr(begin, at_ - begin));
    }

    double name_or_call() {
        const std::size_t begin = at_;
        const std::string word = name();
        if (accept("(")) {
            return call(word, begin);
        }
        if (word == "inf") {
            return std::numeric_limits<double>::infinity();
        }
        if (word == "nan") {
            return std::numeric_limits<double>::quiet_NaN();
        }
        for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
            if (local->first == word) {
                return local->second;
            }
        }
        if (scope_ == nullptr) {
            if (seen_.insert(word).second) {
                names_.push_back(word);
            }
            return 1;
        }
        const auto found = scope_->numbers.find(word);
        if (found == scope_->numbers.end()) {
            fail(begin, "unknown name " + in_quotes(word),
                 config::did_you_mean(word, keys_of(scope_->numbers)));
        }
        return found->second;
    }

    double call(const std::string& function, std::size_t begin) {
        if (is_one_of(kNameFunctions, function)) {
            return of_name(function, begin);
        }
        if (function == "at") {
            return element(begin);
        }
        if (function == "sum") {
            return sum_over(begin);
        }
        if (!is_one_of(kNumberFunctions, function)) {
            auto known = kNumberFunctions;
            known.insert(known.end(), kNameFunctions.begin(), kNameFunctions.end());
            known.insert(known.end(), {"at", "sum"});
            fail(begin, "unknown function " + in_quotes(function),
                 config::did_you_mean(function, known));
        }
        std::vector<double> arguments{conditional()};
        while (accept(",")) {
            arguments.push_back(conditional());
        }
        expect(")");
        return of_numbers(function, arguments, begin);
    }
    double of_numbers(const std::string& function, const std::vector<double>& arguments,
                      std::size_t begin) const {
        const bool any = function == "min" || function == "max";
        const bool two = function == "ceildiv" || function == "floordiv";
        const std::size_t wanted = two ? 2 : 1;
        if (!any && arguments.size() != wanted) {
            fail(begin, fmt::format("{}: got {} arguments, expected {}", function, arguments.size(),
                                    wanted));
        }
        const double first = arguments.front();
        if (function == "min") {
            return *std::min_element(arguments.begin(), arguments.end());
        }
        if (function == "max") {
            return *std::max_element(arguments.begin(), arguments.end());
        }
        if (two) {
            const double quotient = first / divisor(arguments[1], begin);
            return function == "ceildiv" ? std::ceil(quotient) : std::floor(quotient);
        }
        return function == "floor"   ? std::floor(first)
               : function == "ceil"  ? std::ceil(first)
               : function == "round" ? std::round(first)
               : function == "abs"   ? std::fabs(first)
               : function == "sqrt"  ? std::sqrt(first)
               : function == "exp"   ? std::exp(first)
               : function == "log"   ? std::log(first)
               : function == "tanh"  ? std::tanh(first)
                                     : std::log2(first);
    }
    double of_name(const std::string& function, std::size_t begin) {
        skip_space();
        const std::size_t at = at_;
        const std::string argument = name();
        expect(")");
        if (scope_ == nullptr) {
            return 1;
        }
        const auto table = scope_->tables.find(function);
        if (table == scope_->tables.end()) {
            fail(begin, fmt::format("{}() is not known here", function),
                 "it may stand in state and in values");
        }
        const auto found = table->second.find(argument);
        if (found == table->second.end()) {
            fail(at, fmt::format("{}: unknown name {}", function, in_quotes(argument)),
                 config::did_you_mean(argument, keys_of(table->second)));
        }
        return found->second;
    }
    double element(std::size_t begin) {
        skip_space();
        const std::size_t at = at_;
        const std::string array = name();
        expect(",");
        const double index = conditional();
        expect(")");
        if (scope_ == nullptr) {
            return 1;
        }
        const auto found = scope_->arrays.find(array);
        if (found == scope_->arrays.end()) {
            fail(at, "at: unknown array " + in_quotes(array),
                 config::did_you_mean(array, keys_of(scope_->arrays)));
        }
        const auto number = whole(index, begin, "at");
        if (number < 0 || static_cast<std::size_t>(number) >= found->second.size()) {
            fail(begin, fmt::format("at: got index {}, expected 0..{}", number,
                                    static_cast<std::int64_t>(found->second.size()) - 1));
        }
        return found->second[static_cast<std::size_t>(number)];
    }

    /// sum(k, low, high, expression): the last argument is read anew for each k.
    double sum_over(std::size_t begin) {
        const std::string variable = name();
        expect(",");
        const std::int64_t low = whole(conditional(), begin, "sum");
        expect(",");
        const std::int64_t high = whole(conditional(), begin, "sum");
        expect(",");
        const std::size_t term = at_;
        locals_.emplace_back(variable, 1);
        double total = 0;
        for (std::int64_t k = low; k < high && scope_ != nullptr; ++k) {
            at_ = term;
            locals_.back().second = static_cast<double>(k);
            total += conditional();
            work(begin, at_ - term);
        }
        if (at_ == term) {
            skip(); // without terms it is read for its end
        }
        locals_.pop_back();
        expect(")");
        return scope_ == nullptr ? 1 : total;
    }

    std::string_view text_;
    const Scope* scope_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::vector<std::pair<std::string, double>> locals_; ///< variables of sums, the innermost last
    std::vector<std::string> names_;
    std::set<std::string> seen_; ///< those of names_
};

} // namespace

double evaluate(std::string_view text, const Scope& scope) {
    return Evaluator(text, &scope).run();
}

std::vector<std::string> names_in(std::string_view text) {
    Evaluator evaluator(text, nullptr);
    static_cast<void>(evaluator.run());
    return evaluator.take_names();
}

bool is_name(std::string_view text) {
    return !text.empty() && is_name_start(text.front()) &&
           std::all_of(text.begin(), text.end(), is_name_part);
}

} // namespace tessera::vertex
