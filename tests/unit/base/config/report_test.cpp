// SPDX-License-Identifier: MIT
#include "base/config/read.h"
#include "base/config/report.h"
#include "tests/unit/base/config/sample.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::config;
using tessera::test::Car;

TEST_CASE("the list of parameters comes from the descriptions", "[unit][config]") {
    const auto list = parameters(*shape_of<Car>(), "car.");
    REQUIRE(list.size() == 9);
    const auto& cylinders = list[6];
    CHECK(cylinders.path == "car.engine.cylinders");
    CHECK(cylinders.type == "integer");
    CHECK(cylinders.unit == "cylinders");
    CHECK(cylinders.range == "1..8");
    CHECK(cylinders.default_value == "4");
    CHECK(cylinders.sentence == "pots that fire");
    CHECK(cylinders.source == "docs/engine.md#cylinders");
    CHECK(list[0].default_value == "required");
    // the version and what the file extends are the file's alone
    CHECK_FALSE(list[0].settable);
    CHECK_FALSE(list[1].settable);
    CHECK(list[2].settable);
    CHECK(list[4].default_value == "as the engine allows");
    CHECK(list[8].range == "red|green");
    CHECK(list[8].default_value == "green");
}

TEST_CASE("the list of parameters has a line of columns and a meaning each", "[unit][config]") {
    CHECK(parameters_text(
              {{"a.b", "", "integer", "B", "1..2", "1", "one thing", "x.md", "by x", true, {}},
               {"long.path", "kind=k", "text", "", "p|q", "p", "other", "", "", true, {}},
               {"c", "kind=k", "boolean", "", "", "required", "", "", "", true, {}}}) ==
          "path  type     range   default\n"
          "a.b   integer  1..2 B  1\n"
          "    one thing; used by x; x.md\n"
          "\n"
          "kind=k\n"
          "path       type     range   default\n"
          "long.path  text     one of  p\n"
          "    other; one of p, q\n"
          "c          boolean          required\n");
}

TEST_CASE("the resolved values say unit, range, default and where each was set", "[unit][config]") {
    auto document =
        parse_document("{\n\"schema_version\": 1,\n\"engine\": {\"power_w\": 3}}", "a.json");
    REQUIRE(apply_sets(*shape_of<Car>(), document, {"open=true"}).empty());
    Car car;
    REQUIRE(read(*shape_of<Car>(), document, &car).empty());
    const auto text =
        resolved_text(*shape_of<Car>(), "car.", resolved(*shape_of<Car>(), &car), document.origins);
    CAPTURE(text);
    const auto has = [&](const std::string& lines) {
        return text.find(lines) != std::string::npos;
    };
    CHECK(has("car.engine.cylinders  4 cylinders  1..8"));
    CHECK(has("  4\n    pots that fire; docs/engine.md#cylinders\n"));
    CHECK(has("car.open"));
    CHECK(has("set at --set\n"));
    CHECK(has("set at a.json:3\n"));
    CHECK(has("one of red, green"));
    CHECK_FALSE(has("set at default"));
}

TEST_CASE("numbers are written as people write them", "[unit][config]") {
    CHECK(value_text(1.85e9) == "1850000000");
    CHECK(value_text(0.0625) == "0.0625");
    CHECK(value_text(1e300) == "1e+300");
    CHECK(value_text(-3) == "-3");
    // whole numbers have all their digits as far as binary64 tells them apart
    CHECK(value_text(999999999999999.0) == "999999999999999");
    CHECK(value_text(-1e15) == "-1000000000000000");
    CHECK(value_text(1e16) == "1e+16");
}

TEST_CASE("whole numbers have no exponent below ten to the fifteenth", "[unit][config]") {
    CHECK(value_text(999'999'999'999'999.0) == "999999999999999");
    CHECK(value_text(1e16) == "1e+16");
    CHECK(value_text(-999'999'999'999'999.0) == "-999999999999999");
    CHECK(value_text(0.5) == "0.5");
}

TEST_CASE("the heading of a list of parameters has the quiet color, and nothing else has it",
          "[unit][config]") {
    const Layout colored{.columns = 100, .color = true};
    const std::vector<Parameter> list{
        {"a.b", "", "integer", "B", "1..2", "1", "thing", "", "", true, {}},
        {"a.c", "", "integer", "B", "1..2", "1", "other", "", "", true, {}}};
    CHECK(parameters_text(list, colored) ==
          painted(colored, Paint::Quiet, "path  type     range   default") +
              "\n"
              "a.b   integer  1..2 B  1\n"
              "    thing\n"
              "a.c   integer  1..2 B  1\n"
              "    other\n");
}

TEST_CASE("what may stand in a place of any type is told with its articles", "[unit][config]") {
    const auto expected = [](const std::vector<std::string>& types) {
        Field field;
        field.type = FieldType::Any;
        field.json_types = types;
        return expected_text(field);
    };
    CHECK(expected({"number"}) == "a number");
    CHECK(expected({"number", "array"}) == "a number or an array");
    CHECK(expected({"integer", "string", "object"}) == "an integer, a string or an object");
    CHECK(expected({"boolean", "array", "string", "number"}) ==
          "a boolean, an array, a string or a number");
}
