// SPDX-License-Identifier: MIT
#include "base/config/read.h"
#include "base/config/report.h"
#include "tests/unit/config/sample.h"

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
    CHECK(list[4].default_value == "as the engine allows");
    CHECK(list[8].range == "red|green");
    CHECK(list[8].default_value == "green");
}

TEST_CASE("the text table is aligned and has no trailing blanks", "[unit][config]") {
    CHECK(parameters_text({{"a.b", "", "integer", "B", "1..2", "1", "one thing", "x.md", "by x"},
                           {"long.path", "kind=k", "text", "", "p|q", "p", "other", "", ""}}) ==
          "path       type     unit  range  default  meaning    source  used  belongs to\n"
          "a.b        integer  B     1..2   1        one thing  x.md    by x\n"
          "long.path  text           p|q    p        other                    kind=k\n");
}

TEST_CASE("the resolved values say where each was set", "[unit][config]") {
    auto document =
        parse_document("{\n\"schema_version\": 1,\n\"engine\": {\"power_w\": 3}}", "a.json");
    REQUIRE(apply_sets(*shape_of<Car>(), document, {"open=true"}).empty());
    Car car;
    REQUIRE(read(*shape_of<Car>(), document, &car).empty());
    CHECK(resolved_text(resolved(*shape_of<Car>(), &car), document.origins) ==
          "big               5        default\n"
          "engine.colour     \"green\"  default\n"
          "engine.cylinders  4        default\n"
          "engine.power_w    3        a.json:3\n"
          "name              \"car\"    default\n"
          "open              true     --set\n"
          "schema_version    1        a.json:2\n");
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
