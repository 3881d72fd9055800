// SPDX-License-Identifier: MIT
#include "base/config/document.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::config;
using nlohmann::json;
using tessera::test::Lines;
using tessera::test::mistakes_of;

namespace {

std::string place(const Document& document, const std::string& pointer) {
    const auto& origin = document.origins.at(pointer);
    return std::to_string(origin.key_line) + ":" + std::to_string(origin.key_column) + " " +
           std::to_string(origin.line) + ":" + std::to_string(origin.column);
}

Lines syntax_of(const std::string& text) {
    return mistakes_of([&] { static_cast<void>(parse_document(text, "a.json")); });
}

} // namespace

TEST_CASE("a document knows where its keys and values stand", "[unit][config]") {
    const auto document = parse_document("{\n"
                                         "  \"tile\": {\n"
                                         "    \"workers\" :  4, \"on\":true,\n"
                                         "    \"list\": [1, -2.5e3,\t\"x\\\"}\"]\n"
                                         "  },\n"
                                         "  \"a/b~\": null\n"
                                         "}\n",
                                         "a.json");
    CHECK(place(document, "") == "0:0 1:1");
    CHECK(place(document, "/tile") == "2:3 2:11");
    CHECK(place(document, "/tile/workers") == "3:5 3:18");
    CHECK(place(document, "/tile/on") == "3:21 3:26");
    CHECK(place(document, "/tile/list/0") == "0:0 4:14");
    CHECK(place(document, "/tile/list/1") == "0:0 4:17");
    CHECK(place(document, "/tile/list/2") == "0:0 4:25");
    CHECK(place(document, "/a~1b~0") == "6:3 6:11");
    CHECK(document.root["tile"]["list"][1] == -2500.0);
}

TEST_CASE("comments and characters of several bytes do not move positions", "[unit][config]") {
    const auto document = parse_document("\xef\xbb\xbf// \"workers\": 9\n"
                                         "{ /* two\n lines */ \"ä\": \"öü\", \"b\": 1// end\n"
                                         ", \"c\"://\n 7 }",
                                         "a.json");
    CHECK(place(document, "/ä") == "3:11 3:16");
    CHECK(place(document, "/b") == "3:22 3:27");
    CHECK(place(document, "/c") == "4:3 5:2");
    CHECK(document.root["c"] == 7);
}

TEST_CASE("columns count characters of any number of bytes", "[unit][config]") {
    for (const std::string character : {"x", "\u00e4", "\u20ac", "\U0001f600"}) {
        for (const std::size_t count : {1U, 2U, 5U}) {
            std::string key;
            for (std::size_t i = 0; i < count; ++i) {
                key += character;
            }
            const auto document = parse_document("{\"" + key + "\": 1, \"b\": 2}", "a.json");
            CAPTURE(key);
            // the brace, two quotes, a colon, a blank, and the key
            CHECK(place(document, "/" + key) == "1:2 1:" + std::to_string(6 + count));
            CHECK(place(document, "/b") ==
                  "1:" + std::to_string(9 + count) + " 1:" + std::to_string(14 + count));
        }
    }
    const auto escaped = parse_document(R"({"a\"b": "c\\", "d": 1})", "a.json");
    CHECK(place(escaped, "/d") == "1:17 1:22");
}

TEST_CASE("a syntax error says where and what was expected", "[unit][config]") {
    CHECK(syntax_of("{\n  \"a\": 1,\n}") ==
          Lines{"a.json:3:1: syntax error: got '}', expected a string"});
    CHECK(syntax_of("{\"a\" 1}") == Lines{"a.json:1:6: syntax error: got a number, expected ':'"});
    CHECK(syntax_of("{\"a\": }") == Lines{"a.json:1:7: syntax error: got '}', expected a value"});
    CHECK(syntax_of("{\"a\": 1") ==
          Lines{"a.json:1:8: syntax error: got the end of the file, expected '}'"});
    CHECK(syntax_of("") ==
          Lines{"a.json:1:1: syntax error: got the end of the file, expected a value"});
    CHECK(syntax_of("{} {}") ==
          Lines{"a.json:1:4: syntax error: got '{', expected the end of the file"});
    CHECK(syntax_of("{\"a\": fast}").front().rfind("a.json:1:7: syntax error: invalid", 0) == 0);
    CHECK(syntax_of("{\"a\":\n \"two\nlines\"}").front().rfind("a.json:2:2: syntax error: ", 0) ==
          0);
    CHECK(syntax_of("{\"a\": // one\n /* two */ , 1}") ==
          Lines{"a.json:2:12: syntax error: got ',', expected a value"});
    CHECK(syntax_of("{\"a\": 1, /* no end").front().rfind("a.json:1:10: syntax error: ", 0) == 0);
    CHECK(syntax_of("{\"a\": 01}").front().rfind("a.json:1:8: syntax error: got a number", 0) == 0);
    CHECK(syntax_of("{\"a\": \"\xff\"}").front().rfind("a.json:1:7: syntax error: ", 0) == 0);
}

TEST_CASE("a document ends where its text does, whatever is behind it", "[unit][config]") {
    const auto shown = [](std::string_view text) {
        Lines places;
        const Lines mistakes = mistakes_of([&] {
            const auto document = parse_document(text, "a.json");
            for (const auto& [pointer, origin] : document.origins) {
                places.push_back(pointer + " " + place(document, pointer) + " " + origin.file);
            }
        });
        return mistakes.empty() ? places : mistakes;
    };
    const std::string_view text = "// x\n{\"k\\\"\": [1, -2.5e3, true], /* y */ \"caf\xc3\xa9\" : "
                                  "{\"n\":null}, \"s\":\"t\"}\n";
    for (std::size_t length = 0; length <= text.size(); ++length) {
        const std::string_view part = text.substr(0, length);
        CAPTURE(part);
        CHECK(shown(part) == shown(std::string(part)));
    }
}

TEST_CASE("a number that does not fit and deep nesting are refused with their place",
          "[unit][config]") {
    CHECK(syntax_of("{\"a\":\n 1e400}") ==
          Lines{"a.json:2:2: got 1e400, expected a number that binary64 can hold"});
    const auto deep = syntax_of(std::string(100000, '['));
    REQUIRE(deep.size() == 1);
    CHECK(deep.front().rfind("a.json:1:65: /0/0/", 0) == 0);
    CHECK(deep.front().find(": nested deeper than 64") != std::string::npos);
}

TEST_CASE("a key given twice is noted with both places", "[unit][config]") {
    const auto document =
        parse_document("{\n \"a\": {\"x\": 1},\n \"a\": {\"x\": 2, \"x\": 3}\n}", "a.json");
    REQUIRE(document.duplicates.size() == 2);
    CHECK(document.duplicates[0].text() == "a.json:3:2: /a: duplicate key, first given at line 2");
    CHECK(document.duplicates[1].text() ==
          "a.json:3:16: /a/x: duplicate key, first given at line 3");
}

TEST_CASE("a key given twice is placed by its key, wherever its value is", "[unit][config]") {
    const auto document = parse_document("{\"a\":\n\n1,\n \"a\":\n2}", "a.json");
    REQUIRE(document.duplicates.size() == 1);
    CHECK(document.duplicates[0].text() == "a.json:4:2: /a: duplicate key, first given at line 1");
}

TEST_CASE("laying a document over another keeps the place of every value", "[unit][config]") {
    auto document = parse_document("{\"a\": {\"x\": 1, \"y\": 2}, \"b\": {\"z\": 1}}", "low.json");
    document.lay_over(parse_document("{\n\"a\": {\"y\": 3}, \"b\": 4}", "high.json"));
    CHECK(document.root == nlohmann::json::parse(R"({"a": {"x": 1, "y": 3}, "b": 4})"));
    CHECK(document.origins.at("/a/x").text() == "low.json:1");
    CHECK(document.origins.at("/a/y").text() == "high.json:2");
    CHECK(document.origins.at("/b").text() == "high.json:2");
    CHECK(document.origins.count("/b/z") == 0);
}

TEST_CASE("a file that cannot be read is an io error", "[unit][config]") {
    const test::ScratchFolder scratch;
    CHECK_THROWS_AS(read_document(scratch.path("absent.json")), IoError);
    CHECK_THROWS_AS(read_document(scratch.path()), IoError);
}

TEST_CASE("a document has a most of bytes, values and keys", "[unit][config]") {
    const test::ScratchFolder scratch;
    const std::string blank(kMostDocumentBytes - 2, ' ');
    CHECK(read_document(scratch.write("most.json", "{}" + blank)).root.empty());
    CHECK(test::mistakes_of(
              [&] { static_cast<void>(read_document(scratch.write("more.json", "{} " + blank))); },
              scratch.path()) ==
          test::Lines{
              "more.json: got more than 4 MiB, the most of a machine, workload or vertex file"});
    CHECK(test::mistakes_of([] { static_cast<void>(read_document("/dev/zero")); }).size() == 1);

    const auto values = [](std::size_t count) { // the array is one of them
        std::string text = "[0";
        for (std::size_t i = 2; i < count; ++i) {
            text += ",0";
        }
        return parse_document(text + "]", "v.json").root.size();
    };
    CHECK(values(100'000) == 99'999);
    CHECK(test::mistakes_of([&] { values(100'001); }) ==
          test::Lines{"v.json:1:200000: got more values than 100000, the most of a file; large "
                      "arrays belong in files of their own"});

    const auto keys = [](std::size_t outer, std::size_t inner) {
        return parse_document("{\"" + std::string(outer, 'a') + "\": {\"" +
                                  std::string(inner, 'b') + "\": 1}}",
                              "k.json")
            .root.size();
    };
    CHECK(keys(500, 498) == 1); // two slashes
    CHECK(test::mistakes_of([&] { keys(500, 499); }).size() == 1);
    CHECK(
        test::mistakes_of([&] { keys(2, 2'000'000); }) ==
        test::Lines{"k.json:1:9: /aa: got key '" + std::string(60, 'b') +
                    "...' (2000000 bytes), expected keys of 1000 bytes at most, with those around "
                    "them"});
}

TEST_CASE("long tokens are cut where a mistake names them", "[unit][config]") {
    const std::string token(1'000'000, 'x');
    for (const std::string& text :
         {"[" + token + "]", "[\"" + token, "{\"a\": 1, " + token + "}", "[1" + token + "]",
          "[9" + std::string(1'000'000, '9') + "e999999]"}) {
        const auto mistakes =
            test::mistakes_of([&] { static_cast<void>(parse_document(text, "t.json")); });
        REQUIRE(mistakes.size() == 1);
        CHECK(mistakes.front().size() < 400);
        CHECK(mistakes.front().find(std::string(201, 'x')) == std::string::npos);
    }
}

TEST_CASE("what a path makes on its way is named by as much of the path as leads there",
          "[unit][config]") {
    const std::vector<std::string> steps{"one", "two", "three", "four"};
    for (const std::string text : {"{}", R"({"one": 3})", R"({"one": {"two": {}}})"}) {
        CAPTURE(text);
        const Document before = parse_document(text, "a.json");
        Document document = before;
        document.replace("/one/two/three/four", 5,
                         {.file = "--set", .path = "car.one.two.three.four"});
        std::string pointer;
        std::string path = "car";
        for (const auto& step : steps) {
            pointer += "/" + step;
            path += "." + step;
            const bool was_there = before.root.contains(json::json_pointer(pointer)) &&
                                   before.root.at(json::json_pointer(pointer)).is_object();
            CAPTURE(pointer);
            const Diagnostic told = document.at_value(pointer, "bad", "");
            CHECK(told.file == (was_there ? "a.json" : "--set"));
            CHECK(told.pointer == (was_there ? pointer : path));
        }
    }
}

TEST_CASE("a mistake at a key stands where the key is, and of what has none where its value is",
          "[unit][config]") {
    const auto document = parse_document("{\n \"a\":\n  [1,\n   2]}", "a.json");
    const auto place_of = [&](const char* pointer) {
        const Diagnostic told = document.at_key(pointer, "bad", "");
        return std::to_string(told.line) + ":" + std::to_string(told.column);
    };
    CHECK(place_of("/a") == "2:2");
    CHECK(place_of("/a/0") == "3:4");
    CHECK(place_of("/a/1") == "4:4");
    CHECK(place_of("") == "1:1");
    CHECK(place_of("/a/1/absent") == "4:4");
}

TEST_CASE("the keys that either of two documents has twice are known of both together",
          "[unit][config]") {
    auto document = parse_document("{\"a\": 1, \"a\": 2}", "low.json");
    document.lay_over(parse_document("{\"b\": 1,\n\"b\": 2}", "high.json"));
    REQUIRE(document.duplicates.size() == 2);
    CHECK(document.duplicates[0].text() ==
          "low.json:1:10: /a: duplicate key, first given at line 1");
    CHECK(document.duplicates[1].text() ==
          "high.json:2:1: /b: duplicate key, first given at line 1");
}

TEST_CASE("a path goes into a list only where it has such an element", "[unit][config]") {
    const auto replaced = [](const char* pointer) {
        auto document = parse_document("{\"a\": [1, 2]}", "a.json");
        document.replace(pointer, 5, {.file = "--set", .path = "p"});
        return document.root["a"].dump();
    };
    CHECK(replaced("/a/0") == "[5,2]");
    CHECK(replaced("/a/1") == "[1,5]");
    CHECK(replaced("/a/2") == R"({"2":5})");
    CHECK(replaced("/a/01") == R"({"01":5})");
    CHECK(replaced("/a/x") == R"({"x":5})");
    CHECK(replaced("/a/1/b") == R"([1,{"b":5}])");
}
