// SPDX-License-Identifier: MIT
// A small described struct, so that the tests of the mechanism do not move with the machine's
// parameters.
#pragma once

#include "base/config/describe.h"

#include <cstdint>
#include <string>

namespace tessera::test {

enum class Colour { Red, Green };

struct Engine {
    std::int64_t cylinders = 4;
    double power_w = 1.5;
    Colour colour = Colour::Green;

    template <class Description> static void describe(Description& d) {
        d.field("cylinders", &Engine::cylinders)
            .unit("cylinders")
            .range(1, 8)
            .says("pots that fire")
            .from("docs/engine.md#cylinders");
        d.field("power_w", &Engine::power_w).unit("W").range(0.5, 1e6).says("at the shaft");
        d.field("colour", &Engine::colour, {{"red", Colour::Red}, {"green", Colour::Green}})
            .says("of the cover");
    }
};

struct Car {
    std::string name = "car";
    bool open = false;
    std::int64_t seats = 0;
    std::int64_t big = 5;
    Engine engine;

    template <class Description> static void describe(Description& d) {
        d.fixed("schema_version", 1).required();
        d.note("extends");
        d.field("name", &Car::name).says("what it is called");
        d.field("open", &Car::open).says("no roof");
        d.field("seats", &Car::seats).range(1, 9).zero_if_absent("as the engine allows");
        d.field("big", &Car::big).says("any whole number");
        d.object("engine", &Car::engine).says("what drives it");
        d.require_if("engine", "colour", {"seats"});
    }
};

} // namespace tessera::test
