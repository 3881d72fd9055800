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

const Shape& car_shape() {
    return *shape_of<Car>();
}

Lines mistakes(const std::string& text, Car* car = nullptr) {
    Car scratch;
    Lines out;
    for (const auto& found :
         read(car_shape(), parse_document(text, "a.json"), car != nullptr ? car : &scratch)) {
        out.push_back(found.text());
    }
    return out;
}

/// The one mistake of a car whose engine holds `inner`.
std::string engine_mistake(const std::string& inner) {
    const auto found = mistakes(R"({"schema_version": 1, "engine": {)" + inner + "}}");
    REQUIRE(found.size() == 1);
    return found.front();
}

} // namespace

TEST_CASE("a document sets what it names and leaves the rest", "[unit][config]") {
    Car car;
    CHECK(mistakes(R"({"schema_version": 1, "name": "fast", "open": true, "seats": 2,
                       "engine": {"power_w": 7, "colour": "red"}})",
                   &car)
              .empty());
    CHECK(car.name == "fast");
    CHECK(car.open);
    CHECK(car.engine.power_w == 7.0);
    CHECK(car.engine.colour == Colour::Red);
    CHECK(car.engine.cylinders == test::Engine{}.cylinders);
}

TEST_CASE("a number out of range names value range and unit", "[unit][config]") {
    CHECK(engine_mistake(R"("cylinders": 0)") ==
          "a.json:1:47: /engine/cylinders: got 0 cylinders, expected 1..8 cylinders");
    CHECK(engine_mistake(R"("cylinders": 9.0)") ==
          "a.json:1:47: /engine/cylinders: got 9 cylinders, expected 1..8 cylinders");
    CHECK(engine_mistake(R"("power_w": 0.25)") ==
          "a.json:1:45: /engine/power_w: got 0.25 W, expected 0.5..1000000 W");
    CHECK(engine_mistake(R"("cylinders": 18446744073709551615)")
              .find("got 18446744073709551615 cylinders, expected 1..8") != std::string::npos);
    CHECK(engine_mistake(R"("cylinders": 1e300)").find("expected 1..8") != std::string::npos);
}

TEST_CASE("whole numbers beyond 64 bits are refused also without a range", "[unit][config]") {
    CHECK(mistakes(R"({"schema_version": 1, "big": 9223372036854775807})").empty());
    CHECK(mistakes(R"({"schema_version": 1, "big": -9223372036854775808})").empty());
    for (const char* number :
         {"9223372036854775808", "18446744073709551615", "1e19", "-9223372036854775809"}) {
        const auto found = mistakes(R"({"schema_version": 1, "big": )" + std::string(number) + "}");
        REQUIRE(found.size() == 1);
        CHECK(found[0].find("expected a whole number of 64 bits") != std::string::npos);
    }
}

TEST_CASE("the ends of a range and whole floating numbers are accepted", "[unit][config]") {
    Car car;
    CHECK(mistakes(R"({"schema_version": 1, "engine": {"cylinders": 8.0, "power_w": 0.5}})", &car)
              .empty());
    CHECK(car.engine.cylinders == 8);
    CHECK(mistakes(R"({"schema_version": 1, "engine": {"cylinders": 1, "power_w": 1e6}})").empty());
}

TEST_CASE("a wrong type names what was got and what was expected", "[unit][config]") {
    CHECK(engine_mistake(R"("power_w": "fast")") ==
          "a.json:1:45: /engine/power_w: got string \"fast\", expected a number of W");
    CHECK(engine_mistake(R"("cylinders": 2.5)") ==
          "a.json:1:47: /engine/cylinders: got number 2.5, expected a whole number of cylinders");
    CHECK(engine_mistake(R"("cylinders": null)").find("got null, expected") != std::string::npos);
    CHECK(engine_mistake(R"("cylinders": [1])").find("got an array, ") != std::string::npos);
    CHECK(mistakes(R"({"schema_version": 1, "seats": 1, "engine": {"colour": true}})") ==
          Lines{"a.json:1:56: /engine/colour: got boolean true, expected one of red, green"});
    CHECK(mistakes(R"({"schema_version": 1, "open": 1, "name": 2, "engine": 3})") ==
          Lines{"a.json:1:31: /open: got number 1, expected true or false",
                "a.json:1:42: /name: got number 2, expected a string",
                "a.json:1:55: /engine: got number 3, expected an object"});
    CHECK(mistakes("[]") == Lines{"a.json:1:1: got an array, expected an object"});
}

TEST_CASE("long texts are shown up to sixty characters", "[unit][config]") {
    for (const std::size_t length : {1U, 57U, 58U, 59U, 60U, 1000U}) {
        const std::string whole = "\"" + std::string(length, 'y') + "\"";
        CHECK(got_text(std::string(length, 'y')) ==
              "string " + (whole.size() <= 60 ? whole
                                              : whole.substr(0, 60) + "... (" +
                                                    std::to_string(whole.size()) + " bytes)"));
    }
}

TEST_CASE("an unknown key names the nearest one", "[unit][config]") {
    CHECK(engine_mistake(R"("cylinder": 4)") ==
          "a.json:1:34: /engine/cylinder: unknown key; did you mean 'cylinders'?");
    CHECK(engine_mistake(R"("wheels": 4)") == "a.json:1:34: /engine/wheels: unknown key");
}

TEST_CASE("an unknown text names the list and the nearest one", "[unit][config]") {
    CHECK(mistakes(R"({"schema_version": 1, "seats": 1, "engine": {"colour": "gren"}})") ==
          Lines{"a.json:1:56: /engine/colour: got string \"gren\", expected one of red, green; did "
                "you mean 'green'?"});
}

TEST_CASE("a missing key says what is expected", "[unit][config]") {
    CHECK(mistakes("{}") == Lines{"a.json:1:1: /schema_version: missing, expected 1"});
    CHECK(mistakes(R"({"schema_version": 2})") ==
          Lines{"a.json:1:20: /schema_version: got number 2, expected 1"});
    CHECK(mistakes(R"({"schema_version": 1, "engine": {"colour": "red"}})") ==
          Lines{"a.json:1:1: /seats: missing together with engine.colour, expected 1..9"});
}

TEST_CASE("all mistakes come at once in the order of the text", "[unit][config]") {
    Car car;
    CHECK(mistakes("{\n"
                   "  \"nme\": \"x\",\n"
                   "  \"engine\": {\n"
                   "    \"power_w\": \"fast\",\n"
                   "    \"cylinders\": 0,\n"
                   "    \"cylinders\": 12\n"
                   "  },\n"
                   "  \"open\": \"yes\"\n"
                   "}",
                   &car) ==
          Lines{"a.json:1:1: /schema_version: missing, expected 1",
                "a.json:2:3: /nme: unknown key; did you mean 'name'?",
                "a.json:4:16: /engine/power_w: got string \"fast\", expected a number of W",
                "a.json:6:5: /engine/cylinders: duplicate key, first given at line 5",
                "a.json:6:18: /engine/cylinders: got 12 cylinders, expected 1..8 cylinders",
                "a.json:8:11: /open: got string \"yes\", expected true or false"});
    CHECK(car.engine.cylinders == test::Engine{}.cylinders);
}

TEST_CASE("a resolved document reads back to the same struct", "[unit][config]") {
    Car car;
    car.engine.cylinders = 6;
    car.open = true;
    const auto json = resolved(car_shape(), &car);
    CHECK(json.dump() == R"({"big":5,"engine":{"colour":"green","cylinders":6,"power_w":1.5},)"
                         R"("name":"car","open":true,"schema_version":1})");
    car.seats = 3; // a resolved colour asks for seats, as in a file
    Car again;
    CHECK(mistakes(resolved(car_shape(), &car).dump(), &again).empty());
    CHECK(resolved(car_shape(), &again) == resolved(car_shape(), &car));
}
