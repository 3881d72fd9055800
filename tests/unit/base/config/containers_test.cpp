// SPDX-License-Identifier: MIT
// Lists and maps of objects, and shapes that hold themselves.
#include "base/config/describe.h"
#include "base/config/read.h"
#include "base/config/report.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <cctype>
#include <string>

using namespace tessera;
using namespace tessera::config;
using tessera::test::Lines;

namespace {

struct Room {
    std::string name;
    std::vector<std::int64_t> sides;
    std::string use = "any";
    std::vector<Room> inside;
};

struct House {
    std::vector<Room> rooms;  ///< by name
    std::vector<Room> houses; ///< in their order
};

std::shared_ptr<const Shape> room_shape() {
    const auto shape = std::make_shared<Shape>();
    const std::shared_ptr<const Shape> itself(std::shared_ptr<const Shape>(), shape.get());
    Describe<Room> d;
    d.list("sides", &Room::sides, [](FieldLine one) { one.unit("m").range(1, 9); })
        .unit("sides")
        .range(2, 2)
        .required();
    d.field("use", &Room::use).name();
    d.list("inside", &Room::inside, itself).empty_if_absent("nothing");
    *shape = *d.shape();
    shape->definition = "room";
    return shape;
}

const Shape& house_shape() {
    static const auto shape = [] {
        Describe<House> d;
        d.map("rooms", &House::rooms, &Room::name, room_shape());
        d.list("houses", &House::houses, room_shape()).unit("houses").range(0, 2);
        return d.shape();
    }();
    return *shape;
}

Lines mistakes(const std::string& text, House* house = nullptr, const Lines& sets = {}) {
    House scratch;
    Document document = parse_document(text, "a.json");
    auto found = apply_sets(house_shape(), document, sets);
    for (const auto& mistake : read(house_shape(), document, house != nullptr ? house : &scratch)) {
        found.push_back(mistake);
    }
    Lines out;
    for (const auto& mistake : found) {
        out.push_back(mistake.text());
    }
    return out;
}

const char* const kHouse = R"({"rooms": {"bath": {"sides": [2, 3]},
 "hall": {"sides": [4, 5], "inside": [{"sides": [1, 1], "use": "coats"}]}}, "houses": [{"sides": [9, 9]}]})";

} // namespace

TEST_CASE("lists and maps are read, each element by its shape", "[unit][config]") {
    House house;
    REQUIRE(mistakes(kHouse, &house).empty());
    REQUIRE(house.rooms.size() == 2);
    CHECK(house.rooms[0].name == "bath");
    CHECK(house.rooms[1].sides == std::vector<std::int64_t>{4, 5});
    CHECK(house.rooms[1].inside.at(0).use == "coats");
    CHECK(house.houses.at(0).sides == std::vector<std::int64_t>{9, 9});
    const auto document = resolved(house_shape(), &house);
    CHECK(document["rooms"]["bath"]["use"] == "any");
    CHECK(document["rooms"]["hall"]["inside"][0]["sides"] == nlohmann::json({1, 1}));
    House again;
    CHECK(mistakes(document.dump(), &again).empty());
    CHECK(resolved(house_shape(), &again) == document);
}

TEST_CASE("mistakes in lists and maps have their place", "[unit][config]") {
    CHECK(mistakes(R"({"rooms": [], "houses": {}})") ==
          Lines{"a.json:1:11: /rooms: got an array, expected an object",
                "a.json:1:25: /houses: got an object, expected a list of 0..2 houses"});
    CHECK(mistakes(R"({"rooms": {"a b": {"sides": [1, 1]}}})") ==
          Lines{"a.json:1:12: /rooms/a b: got name 'a b', expected letters, digits, '_' and '-'"});
    CHECK(mistakes(R"({"rooms": {"a": {"sides": [1, 10]}, "b": {"sides": [1]}, "c": {}}})") ==
          Lines{"a.json:1:31: /rooms/a/sides/1: got 10 m, expected 1..9 m",
                "a.json:1:52: /rooms/b/sides: got 1 sides, expected 2 sides",
                "a.json:1:63: /rooms/c/sides: missing, expected a list of 2 sides"});
    CHECK(mistakes(R"({"houses": [3, {"sides": [1, 1], "use": ""}, {"sides": [1, 1]}]})") ==
          Lines{"a.json:1:12: /houses: got 3 houses, expected 0..2 houses",
                "a.json:1:13: /houses/0: got number 3, expected an object",
                "a.json:1:41: /houses/1/use: got string \"\", expected a name of letters, digits, "
                "'_' and '-'"});
}

TEST_CASE("a name has up to 16 parts of 1 to 64 letters, digits, '_' and '-', with dots between",
          "[unit][config]") {
    const auto check = [](const std::string& name, bool is_good) {
        CAPTURE(name);
        const nlohmann::json sides = {1, 1};
        const nlohmann::json key = {{"rooms", {{name, {{"sides", sides}}}}}};
        nlohmann::json value;
        value["houses"] = nlohmann::json::array({{{"sides", sides}, {"use", name}}});
        CHECK(mistakes(key.dump()).empty() == is_good);
        CHECK(mistakes(value.dump()).empty() == is_good);
    };
    for (const std::size_t length : {0U, 1U, 2U, 63U, 64U, 65U, 200U}) {
        check(std::string(length, 'x'), length >= 1 && length <= kLongestPart);
    }
    const std::string others = "_-";
    for (char letter = ' '; letter < 0x7f; ++letter) {
        const bool is_good = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                             others.find(letter) != std::string::npos;
        check(std::string("a") + letter, is_good);
        check(std::string(1, letter) + "a", is_good);
    }
    const std::string part(kLongestPart, 'x');
    for (const std::string name : {"a.b", "a.0.b", "-._"}) {
        check(name, true);
    }
    check(part + "." + part, true);
    check(part + "." + part + "x", false);
    for (const std::string name : {".", "a.", ".a", "a..b"}) {
        check(name, false);
    }
    std::string parts = "a";
    for (std::size_t count = 1; count <= kMostParts + 1; ++count, parts += ".a") {
        check(parts, count <= kMostParts);
    }
}

TEST_CASE("set options reach elements that are there", "[unit][config]") {
    House house;
    REQUIRE(
        mistakes(kHouse, &house,
                 {"rooms.hall.inside.0.use=shoes", "houses.0.sides=[3,4]", "rooms.bath.use=wash"})
            .empty());
    CHECK(house.rooms[1].inside.at(0).use == "shoes");
    CHECK(house.rooms[1].inside.at(0).sides == std::vector<std::int64_t>{1, 1});
    CHECK(house.houses.at(0).sides == std::vector<std::int64_t>{3, 4});
    CHECK(house.rooms[0].use == "wash");
    CHECK(mistakes(kHouse, nullptr, {"rooms.hall.inside.1.use=a"}) ==
          Lines{"--set: rooms.hall.inside.1.use: unknown key; did you mean 'rooms.bath.use'?"});
    CHECK(mistakes(kHouse, nullptr, {"houses=[]", "houses.0.use=a"}).size() == 1); // it is gone
    CHECK_FALSE(is_set_path(house_shape(), "rooms.bath.use"));                     // of no document
    const auto document = nlohmann::json::parse(kHouse);
    CHECK(is_set_path(house_shape(), "p.rooms.bath.use", "p.", document));
    CHECK_FALSE(is_set_path(house_shape(), "p.rooms.cellar.use", "p.", document));
}

TEST_CASE("parameters of lists and maps have a name or a number in their path", "[unit][config]") {
    Lines paths;
    for (const auto& parameter : parameters(house_shape(), "p.")) {
        paths.push_back(parameter.path + " " + parameter.type);
    }
    CHECK(paths == Lines{"p.rooms.NAME.sides list", "p.rooms.NAME.use text",
                         "p.rooms.NAME.inside list", "p.houses.N.sides list", "p.houses.N.use text",
                         "p.houses.N.inside list"});
    House house;
    REQUIRE(mistakes(kHouse, &house).empty());
    const auto text = resolved_text(house_shape(), "", resolved(house_shape(), &house),
                                    parse_document(kHouse, "a.json").origins);
    CHECK(text.find("\nrooms.hall.inside.0.sides  [1,1]") != std::string::npos);
    CHECK(text.find("set at a.json:2") != std::string::npos);
}

TEST_CASE("the schema of a shape that holds itself refers to it", "[unit][config]") {
    const auto schema = json_schema(house_shape(), "houses");
    CHECK(schema["properties"]["houses"]["items"]["$ref"] == "#/definitions/room");
    const auto& room = schema["definitions"]["room"]["properties"];
    CHECK(room["inside"]["items"]["$ref"] == "#/definitions/room");
    CHECK(room["sides"]["maxItems"] == 2);
    CHECK(room["sides"]["items"]["maximum"] == 9);
    CHECK(room["use"]["pattern"] == kNamePattern);
    CHECK(schema["properties"]["rooms"]["patternProperties"][kNamePattern]["$ref"] ==
          "#/definitions/room");
}
