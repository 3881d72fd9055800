// SPDX-License-Identifier: MIT
#include "base/config/read.h"
#include "tests/unit/base/config/sample.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::config;
using tessera::test::Car;
using tessera::test::Colour;
using tessera::test::Lines;

namespace {

struct Result {
    Car car;
    Lines mistakes;
    Document document;
};

Result set(const Lines& options, const std::string& prefix = {}) {
    Result out;
    out.document = parse_document(R"({"schema_version": 1, "seats": 2})", "a.json");
    auto found = apply_sets(*shape_of<Car>(), out.document, options, prefix);
    const auto more = read(*shape_of<Car>(), out.document, &out.car);
    found.insert(found.end(), more.begin(), more.end());
    for (const auto& mistake : found) {
        out.mistakes.push_back(mistake.text());
    }
    return out;
}

} // namespace

TEST_CASE("a set option sets numbers booleans and text by path", "[unit][config]") {
    const auto out = set({"engine.cylinders=6", "engine.power_w=2e3", "engine.colour=red",
                          "open=true", "name=hot rod", "engine.cylinders=7"});
    CHECK(out.mistakes.empty());
    CHECK(out.car.engine.cylinders == 7);
    CHECK(out.car.engine.power_w == 2000.0);
    CHECK(out.car.engine.colour == Colour::Red);
    CHECK(out.car.open);
    CHECK(out.car.name == "hot rod");
    CHECK(out.document.origins.at("/engine/cylinders").text() == "--set");
    CHECK(out.document.origins.at("/seats").text() == "a.json:1");
}

TEST_CASE("a text field takes what looks like a number and quoted text", "[unit][config]") {
    CHECK(set({"name=123"}).car.name == "123");
    CHECK(set({"name=true"}).car.name == "true");
    CHECK(set({"name=\"quoted\""}).car.name == "quoted");
    CHECK(set({"name=a=b"}).car.name == "a=b");
    CHECK(set({"name="}).car.name.empty());
}

TEST_CASE("a set option can give a whole object", "[unit][config]") {
    const auto out = set({R"(engine={"cylinders": 2})"});
    CHECK(out.mistakes.empty());
    CHECK(out.car.engine.cylinders == 2);
    CHECK(set({R"(engine={"cylinder": 2})"}).mistakes ==
          Lines{"--set: engine.cylinder: unknown key; did you mean 'cylinders'?"});
    CHECK(set({"engine=3", "engine.cylinders=2"}).car.engine.cylinders == 2);
}

TEST_CASE("a wrong value in a set option is told with its path", "[unit][config]") {
    CHECK(set({"engine.cylinders=0", "open=maybe"}).mistakes ==
          Lines{"--set: engine.cylinders: got 0 cylinders, expected 1..8 cylinders",
                "--set: open: got string \"maybe\", expected true or false"});
}

TEST_CASE("an unknown path in a set option names the nearest one", "[unit][config]") {
    CHECK(set({"engine.cylinder=4"}).mistakes ==
          Lines{"--set: engine.cylinder: unknown key; did you mean 'engine.cylinders'?"});
    CHECK(set({"cylinders=4"}).mistakes ==
          Lines{"--set: cylinders: unknown key; did you mean 'engine.cylinders'?"});
    CHECK(set({"banana=4"}).mistakes == Lines{"--set: banana: unknown key"});
    CHECK(set({"cylinder=4"}).mistakes ==
          Lines{"--set: cylinder: unknown key; did you mean 'engine.cylinders'?"});
    CHECK(set({"engine.seat=4"}).mistakes == Lines{"--set: engine.seat: unknown key"});
    CHECK(set({"engine.=4"}).mistakes.front().rfind("--set: engine.: unknown key", 0) == 0);
    // `extends` is done when options come: to set it would do nothing
    CHECK(set({"extends=other"}).mistakes == Lines{"--set: extends: unknown key"});
}

TEST_CASE("a set option without a value is refused", "[unit][config]") {
    CHECK(set({"engine.cylinders"}).mistakes ==
          Lines{"--set: got 'engine.cylinders', expected path=value"});
    CHECK(set({"=4"}).mistakes == Lines{"--set: got '=4', expected path=value"});
}

TEST_CASE("a prefix stands before every path", "[unit][config]") {
    CHECK(set({"car.engine.cylinders=3"}, "car.").car.engine.cylinders == 3);
    CHECK(set({"engine.cylinders=3"}, "car.").mistakes ==
          Lines{"--set: engine.cylinders: unknown key; did you mean 'car.engine.cylinders'?"});
    CHECK(set({"car.engine.cylinders=0"}, "car.").mistakes ==
          Lines{"--set: car.engine.cylinders: got 0 cylinders, expected 1..8 cylinders"});
}

TEST_CASE("mistakes of set options come after those of files and each once", "[unit][config]") {
    std::vector<Diagnostic> found{{"--set", 0, 0, "a", "bad", ""},
                                  {"b.json", 2, 1, "/a", "bad", ""},
                                  {"b.json", 1, 9, "/a", "bad", ""},
                                  {"b.json", 2, 1, "/a", "bad", ""}};
    CHECK(test::mistakes_of([&] { throw_if_any(found); }) ==
          Lines{"b.json:1:9: /a: bad", "b.json:2:1: /a: bad", "--set: a: bad"});
    CHECK_NOTHROW(throw_if_any({}));
}
