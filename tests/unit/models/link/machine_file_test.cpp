// SPDX-License-Identifier: MIT
#include "models/machine_file/load.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <string>

using namespace tessera;
using tessera::test::Lines;

namespace {

/// The mistakes of a machine file of four chips with these routes, which begin in line 5.
Lines mistakes(const std::string& routes, const Lines& sets = {}) {
    const test::ScratchFolder scratch;
    const auto file = scratch.write("four.json", "{\n"
                                                 "  \"schema_version\": 1,\n"
                                                 "  \"extends\": \"tiny4\",\n"
                                                 "  \"system\": {\"links\": {\"routes\":\n" +
                                                     routes + "\n}}}\n");
    return test::mistakes_of(
        [&] { static_cast<void>(machine_file::load(file, test::source_paths(), sets)); },
        scratch.path());
}

const std::string kTurning = R"([{"through": [0, 1, 3]}, {"through": [1, 3, 2]},
 {"through": [3, 2, 0]}, {"through": [2, 0, 1]}])";

} // namespace

TEST_CASE("a machine whose links may stand still is refused by name of the circle",
          "[unit][link]") {
    CHECK(mistakes(kTurning) ==
          Lines{"four.json:5:1: /system/links/routes: packets can wait for each other's places in "
                "a circle of full buffers: 0 -> 1 -> 3 -> 2 -> 0; let a route turn elsewhere, or "
                "set system.links.buffer_packets=0 (endless)"});
    CHECK(mistakes(kTurning, {"system.links.buffer_packets=0"}).empty());
    CHECK(mistakes(R"([{"through": [0, 1, 3]}])").empty());
}

TEST_CASE("a route that is none is a mistake where the machine file says it", "[unit][link]") {
    CHECK(mistakes(R"([{"through": [0, 1, 3]},
  {"through": [0, 3]}])") ==
          Lines{"four.json:6:3: /system/links/routes/1: no edge joins chips 0 and 3"});
    CHECK(mistakes(R"([{"through": [0, 1, 3]}])", {"system.chips=2"}) ==
          Lines{"four.json:5:2: /system/links/routes/0: got chip 3, expected chips below "
                "system.chips = 2"});
    CHECK(mistakes(R"([{"through": [0]}])").size() == 1); // the reader's own
}

TEST_CASE("all machines of the project have links without circles", "[unit][link]") {
    for (const std::string name : {"bow", "bow2000", "c2_card", "gc2_ladder16", "m2000", "tiny",
                                   "tiny2", "tiny4", "tiny8"}) {
        CAPTURE(name);
        CHECK_NOTHROW(machine_file::load(name, test::source_paths()));
    }
    for (const std::string topology : {"ladder", "full"}) {
        for (const std::string chips : {"2", "64", "1024"}) {
            CAPTURE(topology, chips);
            CHECK_NOTHROW(machine_file::load("tiny4", test::source_paths(),
                                             {"system.chips=" + chips, "system.domain_chips=1024",
                                              "system.links.topology=" + topology}));
        }
    }
}
