// SPDX-License-Identifier: MIT
// What expansions may cost at most, and slices of lines, which know where each column is from.
#include "models/isa/assembler/text_stack.h"

#include <catch2/catch.hpp>

using namespace tessera::isa::assembly;

namespace {

constexpr std::size_t kCostOfCall = 64;

struct Stack {
    SourceMap map;
    Diagnostics mistakes{map};
    TextStack text{{{"source", {}}}, mistakes};

    /// Makes calls until only `bytes` are left.
    void spend_to(std::size_t bytes) {
        while (text.bytes_left() > bytes) {
            text.enter({}, 1, 0, {});
            static_cast<void>(text.leave());
        }
        REQUIRE(text.bytes_left() == bytes);
        REQUIRE(mistakes.empty());
    }
};

bool same(const Origin& a, const Origin& b) {
    return a.at.file == b.at.file && a.at.line == b.at.line && a.at.column == b.at.column &&
           a.trail == b.trail;
}

} // namespace

TEST_CASE("expansions cost up to their limit and no byte more", "[isa]") {
    Stack stack;
    stack.spend_to(kCostOfCall);
    stack.text.enter({}, 1, 0, {});
    CHECK(stack.text.bytes_left() == 0);
    CHECK(stack.mistakes.empty());
    Statement statement;
    CHECK(stack.text.next(statement));
    CHECK(statement.text() == "source");
    stack.text.enter({}, 1, 0, {});
    CHECK_FALSE(stack.mistakes.empty());
    CHECK_FALSE(stack.text.next(statement)); // the source is at its end
}

TEST_CASE("lines and repetitions of an expansion cost up to the limit", "[isa]") {
    constexpr std::size_t kLeft = 3 * kCostOfCall;
    for (const std::size_t times : {1U, 3U}) {
        SourceLine line{"", {{}}};
        const auto cost = [&] { // and one a repetition
            return kCostOfCall + times * cost_bytes(line) + times - 1;
        };
        const std::size_t most = (kLeft - cost()) / times;
        for (const std::size_t length : {most - 1, most, most + 1}) {
            CAPTURE(times, length);
            Stack stack;
            stack.spend_to(kLeft);
            line.text.assign(length, ' ');
            REQUIRE((length != most || cost() == kLeft));
            stack.text.enter({line}, times, 0, {});
            Statement statement;
            CHECK(stack.text.next(statement) == (length <= most)); // the source behind it
            CHECK(stack.mistakes.empty() == (length <= most));
            if (length <= most) {
                CHECK(stack.text.bytes_left() == kLeft - cost());
            }
        }
    }
}

TEST_CASE("a slice of a line knows where its columns are from, and an empty one adds nothing",
          "[isa]") {
    const SourceLine from{
        "abcdefgh",
        {{0, {{1, 10, 1}, 0}, true}, {3, {{2, 20, 7}, 4}, false}, {5, {{1, 10, 6}, 0}, true}}};
    const SourceLine before{"xy", {{0, {{3, 30, 1}, 0}, true}}};
    for (std::size_t begin = 0; begin <= from.text.size(); ++begin) {
        for (std::size_t end = 0; end <= from.text.size(); ++end) {
            for (const auto trail : {std::optional<std::uint32_t>{}, {9U}}) {
                CAPTURE(begin, end, trail.has_value());
                SourceLine target = before;
                append_slice(target, from, begin, end, trail);
                const std::size_t length = end > begin ? end - begin : 0;
                CHECK(target.text == before.text + from.text.substr(begin, length));
                std::size_t pieces = before.pieces.size();
                for (std::size_t i = 0; i < length; ++i) {
                    const auto column = static_cast<std::uint32_t>(begin + i);
                    Origin origin = from.origin_of(column);
                    origin.trail = trail.value_or(origin.trail);
                    CHECK(same(target.origin_of(static_cast<std::uint32_t>(before.text.size() + i)),
                               origin));
                    pieces += i == 0 || column == 3 || column == 5 ? 1 : 0;
                }
                CHECK(target.pieces.size() == pieces);
            }
        }
    }
}

TEST_CASE(
    "a string ends behind its quote or with its line, a character behind its quote or where it "
    "begins",
    "[isa]") {
    struct Case {
        const char* text;
        std::size_t column;
        std::size_t end;
        bool is_closed = true; ///< of a string
    };
    for (const Case& one : {Case{R"("ab"c)", 0, 4},
                            {R"("")", 0, 2},
                            {R"(x "a" "b")", 2, 5},
                            {R"("a\"b" c)", 0, 6}, // a quote behind a backslash is text
                            {R"("a\\" b")", 0, 5},
                            {R"("ab)", 0, 3, false},
                            {R"(")", 0, 1, false},
                            {R"("ab\)", 0, 4, false},
                            {R"("ab\")", 0, 5, false},
                            {R"('a'b)", 0, 3},
                            {R"('\n'b)", 0, 4},
                            {R"(''')", 0, 3},
                            {R"(don't)", 3, 4}, // an apostrophe is no character
                            {R"('ab')", 0, 1},
                            {R"('a)", 0, 1},
                            {R"(')", 0, 1},
                            {R"('\')", 0, 1},
                            {R"('\)", 0, 1}}) {
        CAPTURE(one.text);
        CHECK(end_of_quoted(one.text, one.column) == one.end);
        if (one.text[one.column] == '"') {
            const auto closing = closing_quote(one.text, one.column);
            CHECK(closing.has_value() == one.is_closed);
            CHECK(closing.value_or(one.end - 1) == one.end - 1);
        }
    }
}
