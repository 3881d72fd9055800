// SPDX-License-Identifier: MIT
// Mistakes that the C preprocessor finds, and where it stops.
#include "tests/support/source_path.h"
#include "tests/unit/models/isa/preprocess_support.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <fstream>
#include <iterator>

using namespace tessera::isa;
using namespace tessera::isa::assembly;
using namespace tessera::isa::assembly::test;
using Texts = std::vector<std::string>;

TEST_CASE("mistakes in directives say where they are") {
    const auto mistake = [](const std::string& text) {
        const Texts mistakes = preprocessed(text).mistakes;
        return mistakes.size() == 1 ? mistakes.front()
                                    : std::to_string(mistakes.size()) + " mistakes";
    };
    CHECK(mistake("\n #error no such  thing \n") == "a.S:2:3: #error: no such  thing");
    CHECK(mistake("#warning only that\n#pragma x\n#line 7\n#ident \"x\"\n") == "0 mistakes");
    CHECK(mistake("a\n#if 1\n#if 0\n#endif\n") == "a.S:2:2: #if without its #endif");
    CHECK(mistake("#endif\n") == "a.S:1:2: #endif without #if");
    CHECK(mistake("#else\n") == "a.S:1:2: #else without #if");
    CHECK(mistake("#if 1\n#else\n#elif 1\n#endif\n") == "a.S:3:2: #elif behind #else");
    CHECK(mistake("#define\n") == "a.S:1:2: expected a macro's name behind #define");
    CHECK(mistake("#define 1 2\n") == "a.S:1:9: expected a macro's name behind #define");
    CHECK(mistake("#define defined\n") == "a.S:1:9: expected a macro's name behind #define");
    CHECK(mistake("#define F(a\n") == "a.S:1:2: expected ',' or ')' in a macro's parameter list");
    CHECK(mistake("#define F(1)\n") == "a.S:1:11: expected a parameter's name");
    CHECK(mistake("#define F(..., a)\n") == "a.S:1:14: expected ')' behind '...'");
    CHECK(mistake("#define F(a, a)\n") == "a.S:1:14: parameter 'a' is there already");
    CHECK(mistake("#define A ## b\n") ==
          "a.S:1:11: '##' at an end of a macro's text, expected it between two tokens");
    CHECK(mistake("#define A b ##\n") ==
          "a.S:1:13: '##' at an end of a macro's text, expected it between two tokens");
    std::string parameters = "p";
    for (int number = 0; number < 1000; ++number) {
        parameters += ", p" + std::to_string(number);
    }
    CHECK(
        mistake("#define F(" + parameters + ") p\n").find("a macro has at most 1000 parameters") !=
        std::string::npos);
    CHECK(mistake("#undef\n") == "a.S:1:2: expected a macro's name behind #undef");
    CHECK(mistake("#ifdef\n#endif\n") == "a.S:1:2: expected a macro's name behind #ifdef");
    CHECK(mistake("#include\n") == "a.S:1:2: expected \"name\" or <name> behind #include");
    CHECK(mistake("#include \"x\n") == "a.S:1:2: expected \"name\" or <name> behind #include");
    CHECK(mistake("#include_next <x>\n") ==
          "a.S:1:2: #include_next is not supported, expected #include");
    CHECK(mistake("a /* b\nc\n") == "a.S:1:3: comment without its end, expected '*/'");
}

TEST_CASE("the example of the preprocessor's page gives its error") {
    std::ifstream file(tessera::test::source_path("docs/preprocessor.md"));
    const std::string page((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    const auto block = [&](const std::string& fence) {
        const std::size_t begin = page.find("\n" + fence + "\n") + fence.size() + 2;
        return page.substr(begin, page.find("```", begin) - begin);
    };
    const Preprocessed result = preprocessed(block("```asm"));
    CHECK(result.texts().front() == "scale_half:");
    CHECK(result.mistakes == Texts{"a.S:9:5: macro 'BOTH': got 4 arguments, expected 2"});
    CHECK(page.find("\n```\n" + result.mistakes.front() + "\n```\n") != std::string::npos);
}

TEST_CASE("mistakes in conditions say where they are") {
    const auto mistake = [](const std::string& condition) {
        const Texts mistakes = preprocessed("#if " + condition + "\n#endif\n").mistakes;
        return mistakes.size() == 1 ? mistakes.front()
                                    : std::to_string(mistakes.size()) + " mistakes";
    };
    CHECK(mistake("") == "a.S:1:2: expected an expression");
    CHECK(mistake("1 2") == "a.S:1:7: unexpected '2' behind the expression");
    CHECK(mistake("1 +") == "a.S:1:2: expected a value at the end of the expression");
    CHECK(mistake("(1") == "a.S:1:2: expected ')'");
    CHECK(mistake("1 ? 2") == "a.S:1:2: expected ':' of a '?'");
    CHECK(mistake("3 % (1 - 1)") == "a.S:1:7: division by zero");
    CHECK(mistake("1.5") == "a.S:1:5: '1.5' is no integer");
    CHECK(mistake("0x") == "a.S:1:5: '0x' is no integer");
    CHECK(mistake("99999999999999999999") ==
          "a.S:1:5: number '99999999999999999999' is too large, expected 64 bits");
    CHECK(mistake("\"x\"") == "a.S:1:5: expected a value, got '\"x\"'");
    CHECK(mistake("defined") == "a.S:1:2: expected a macro's name behind 'defined'");
    CHECK(mistake("defined 3") == "a.S:1:13: expected a macro's name behind 'defined'");
    CHECK(mistake("defined(3)") == "a.S:1:13: expected a macro's name behind 'defined'");
    CHECK(mistake("defined(") == "a.S:1:2: expected a macro's name behind 'defined'");
    CHECK(mistake("defined(A") == "a.S:1:2: expected ')'");
    const std::string deep = "expression nested too deeply, expected at most 200 levels";
    CHECK(mistake(std::string(100000, '(')).find(deep) != std::string::npos);
    CHECK(mistake(std::string(100000, '-') + "1").find(deep) != std::string::npos);
}

TEST_CASE("mistakes in macro calls show the way through the macros") {
    const Texts mistakes = preprocessed("#define IN(a, b) a b\n"
                                        "#define OUT IN(1)\n"
                                        "#define V(a, b, ...) a\n"
                                        "OUT\n"
                                        "V(1)\n"
                                        "IN(1,\n"
                                        "2\n")
                               .mistakes;
    CHECK(mistakes == Texts{"a.S:2:13: macro 'IN': got 1 arguments, expected 2\n"
                            "  a.S:4:1: in the expansion of macro 'OUT'",
                            "a.S:5:1: macro 'V': got 1 arguments, expected 2 or more",
                            "a.S:6:1: call of macro 'IN' does not end, expected ')'"});
}

TEST_CASE("a mistake in a caller's define names no line") {
    PreprocessOptions options;
    options.defines = {{"1x", ""}};
    CHECK(preprocessed("a\n", options).mistakes ==
          Texts{"a.S: expected a macro's name behind #define"});
}

TEST_CASE("recursion bombs end soon") {
    std::string chain;
    for (int level = 0; level < 60; ++level) {
        chain += "#define A" + std::to_string(level) + " A" + std::to_string(level + 1) + " A" +
                 std::to_string(level + 1) + "\n";
    }
    std::string nested = "1";
    for (int level = 0; level < 60; ++level) {
        nested = "F(" + nested + ")";
    }
    std::string deep = "1";
    for (int level = 0; level < 300; ++level) {
        deep = "I(" + deep + ")";
    }
    std::string many;
    for (int level = 0; level < 5000; ++level) {
        many += "#define B" + std::to_string(level) + " B" + std::to_string(level + 1) + "\n";
    }
    const std::string too_much = "macros make too much text, expected at most 1000000 tokens in a "
                                 "statement and 32000000 in a source";
    const std::string too_many = "too many macro calls, expected at most 200000 in a statement and "
                                 "2000000 in a source";
    const auto begin = std::chrono::steady_clock::now();
    const auto first_mistake = [](const std::string& text) {
        const Texts mistakes = preprocessed(text).mistakes;
        const std::string first = mistakes.empty() ? "none" : mistakes.front();
        const std::size_t message = first.find(": ") + 2;
        return first.substr(message, first.find('\n') - message);
    };
    CHECK(first_mistake(chain + "A0\n") == too_many);
    CHECK(first_mistake("#define F(x) x x\n" + nested + "\n") == too_much);
    CHECK(first_mistake("#define D(x) x x x x x x x x x x\n#define E(x) D(D(D(D(D(x)))))\n"
                        "E(E(x))\n") == too_much);
    CHECK(first_mistake("#define I(x) x\n" + deep + "\n") ==
          "macro calls nested too deeply in arguments, expected at most 200 levels");
    CHECK(first_mistake(many + "B0\n") ==
          "macros expand to each other too deeply, expected at most 400 levels");
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(8));
}

TEST_CASE("texts with many odd characters take time in proportion") {
    const auto begin = std::chrono::steady_clock::now();
    std::string quotes = "\"";
    std::string comments;
    std::string open;
    for (int copy = 0; copy < 200000; ++copy) {
        quotes += "\\\"";
        comments += "/**/\\\n";
        open += "/*\n";
    }
    CHECK(preprocessed("/**/" + quotes + "\n").mistakes.empty());
    CHECK(preprocessed(comments + "x\n").line(1).find('x') != std::string::npos);
    CHECK(preprocessed(open).mistakes.size() == 1);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("limits of macros and conditions are where the page says") {
    const auto is_accepted = [](const std::string& text) {
        return preprocessed(text).mistakes.empty();
    };
    const auto chain = [](int levels) {
        std::string text;
        for (int level = 0; level < levels; ++level) {
            text += "#define C" + std::to_string(level) + " C" + std::to_string(level + 1) + "\n";
        }
        return text + "C0\n";
    };
    CHECK(is_accepted(chain(400)));
    CHECK_FALSE(is_accepted(chain(401)));
    const auto calls = [](int levels) {
        std::string text = "1";
        for (int level = 0; level < levels; ++level) {
            text = "I(" + text + ")";
        }
        return "#define I(x) x\n" + text + "\n";
    };
    CHECK(is_accepted(calls(200)));
    CHECK_FALSE(is_accepted(calls(202)));
    const auto parameters = [](int count) {
        std::string text = "#define F(p0";
        for (int number = 1; number < count; ++number) {
            text += ", p" + std::to_string(number);
        }
        return text + ") p0\n";
    };
    CHECK(is_accepted(parameters(1000)));
    CHECK_FALSE(is_accepted(parameters(1001)));
    const auto levels = [](int count, const std::string& open, const std::string& close) {
        std::string text = "1";
        for (int level = 0; level < count; ++level) {
            text = open + text + close;
        }
        return "#if " + text + "\n#endif\n";
    };
    CHECK(is_accepted(levels(199, "(", ")")));
    CHECK_FALSE(is_accepted(levels(200, "(", ")")));
    CHECK(is_accepted(levels(199, "-", "")));
    CHECK_FALSE(is_accepted(levels(200, "-", "")));
    CHECK(is_accepted(levels(199, "1 ? 1 : ", "")));
    CHECK_FALSE(is_accepted(levels(200, "1 ? 1 : ", "")));
    const auto many = [](int statements, int calls_of_each) {
        std::string calls_of_one;
        for (int call = 0; call < calls_of_each; ++call) {
            calls_of_one += "A ";
        }
        std::string text = "#define A 1\n";
        for (int statement = 0; statement < statements; ++statement) {
            text += calls_of_one + "\n";
        }
        return text;
    };
    CHECK(is_accepted(many(1, 200'000)));
    CHECK_FALSE(is_accepted(many(1, 200'001)));
    CHECK(is_accepted("#if 18446744073709551615\n#endif\n"));
    CHECK_FALSE(is_accepted("#if 18446744073709551616\n#endif\n"));
    CHECK(is_accepted("#if 0xffffffffffffffff && 0177 && 0b1111ull\n#endif\n"));
    CHECK_FALSE(is_accepted("#if 0x10000000000000000\n#endif\n"));
    CHECK_FALSE(is_accepted("#if 08\n#endif\n"));
    CHECK_FALSE(is_accepted("#if 0b12\n#endif\n"));
    CHECK_FALSE(is_accepted("#if 1ulll\n#endif\n"));
}
