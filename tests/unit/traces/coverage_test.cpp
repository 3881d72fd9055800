// SPDX-License-Identifier: MIT
#include "traces/coverage.h"

#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::traces;

TEST_CASE("a covered run has no problems and its cycles add up by kind", "[unit][traces]") {
    CoverageSink sink{parse_selection("all", "worker", 1)};
    for (const auto track : {machine_track(), tile_track(0)}) {
        sink.span({track, Kind::Compute, kUnnamed, 0, 40});
        sink.span({track, Kind::Sync, kUnnamed, 40, 50});
    }
    sink.span({worker_track(0, 1), Kind::Compute, kUnnamed, 5, 10});
    sink.span({worker_track(0, 1), Kind::Compute, kUnnamed, 20, 30});
    CHECK(sink.problems(50).empty());
    CHECK(sink.totals(tile_track(0)) ==
          std::array<Cycles, traces::kKindWords.size()>{40, 0, 10, 0, 0});
    CHECK(sink.totals(worker_track(0, 1)) ==
          std::array<Cycles, traces::kKindWords.size()>{15, 0, 0, 0, 0});
    CHECK(sink.totals(tile_track(7)) == std::array<Cycles, traces::kKindWords.size()>{});
}

TEST_CASE("a gap and an overlap and a reversed span are problems", "[unit][traces]") {
    CoverageSink sink{parse_selection("all", "tile", 1)};
    sink.span({machine_track(), Kind::Compute, kUnnamed, 0, 40});
    sink.span({tile_track(0), Kind::Compute, kUnnamed, 0, 10});
    sink.span({tile_track(0), Kind::Sync, kUnnamed, 12, 30});
    sink.span({tile_track(0), Kind::Idle, kUnnamed, 25, 40});
    sink.span({tile_track(0), Kind::Idle, kUnnamed, 40, 39});
    CHECK(sink.problems(40) ==
          std::vector<std::string>{"tile_0: no span covers cycles 10 to 12",
                                   "tile_0: a span begins at cycle 25, inside the one until 30",
                                   "tile_0: a span from cycle 40 ends before it, at cycle 39"});
}

TEST_CASE("spans may touch and be empty, and not be a cycle apart or share one", "[unit][traces]") {
    for (const Cycles begin : {9, 10, 11}) {
        for (const auto track : {machine_track(), tile_track(0), worker_track(0, 0)}) {
            CoverageSink sink{parse_selection("all", "worker", 1)};
            for (const auto whole : {machine_track(), tile_track(0)}) {
                if (whole != track) {
                    sink.span({whole, Kind::Compute, kUnnamed, 0, 40});
                }
            }
            sink.span({track, Kind::Compute, kUnnamed, 0, 10});
            sink.span({track, Kind::Sync, kUnnamed, begin, begin});
            sink.span({track, Kind::Sync, kUnnamed, begin, 40});
            CAPTURE(begin, path(track));
            const bool gap_allowed = track == worker_track(0, 0) && begin > 10;
            CHECK(sink.problems(40).empty() == (begin == 10 || gap_allowed));
        }
    }
}

TEST_CASE("a track that ends before the run is a problem", "[unit][traces]") {
    CoverageSink sink{parse_selection("0-1", "tile", 2)};
    sink.span({machine_track(), Kind::Compute, kUnnamed, 0, 40});
    sink.span({tile_track(0), Kind::Compute, kUnnamed, 0, 30});
    CHECK(sink.problems(40) ==
          std::vector<std::string>{"tile_0: spans end at cycle 30, the run at cycle 40",
                                   "tile_1: spans end at cycle 0, the run at cycle 40"});
}

TEST_CASE("spans may touch and be empty", "[unit][traces]") {
    CoverageSink sink{parse_selection("all", "tile", 1)};
    for (const auto track : {machine_track(), tile_track(0)}) {
        sink.span({track, Kind::Compute, kUnnamed, 0, 10});
        sink.span({track, Kind::Sync, kUnnamed, 10, 10});
        sink.span({track, Kind::Idle, kUnnamed, 10, 11});
    }
    CHECK(sink.problems(11).empty());
    CHECK(sink.problems(10).size() == 2);
    CHECK(sink.problems(12).size() == 2);
    CHECK(sink.totals(tile_track(0)) ==
          std::array<Cycles, traces::kKindWords.size()>{10, 0, 0, 0, 1});
}
