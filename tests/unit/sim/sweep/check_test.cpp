// SPDX-License-Identifier: MIT
// What is known of a sweep before its first point.
#include "sim/result/estimate_gap.h"
#include "sim/sweep/command/check.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

#include <functional>
#include <string>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;
using test::Lines;

namespace {

/// A sweep of files in a folder of its own.
class Checked {
public:
    Checked() {
        write("dense.json",
              {{"schema_version", 1}, {"kind", "matmul"}, {"m", 16}, {"k", 16}, {"n", 16}});
        write("sums.json", {{"schema_version", 1}, {"kind", "reduction"}, {"operands", 10}});
    }
    void write(const std::string& name, const Json& json) const {
        static_cast<void>(folder_.write(name, json.dump(1)));
    }
    [[nodiscard]] Source source(const Json& also) const {
        Json text{{"schema_version", 1}, {"machine", "tiny"}, {"workload", "./dense.json"}};
        text.update(also);
        return read_source({folder_.write("s.json", text.dump()), {}, {}, {}}, paths_);
    }
    /// From the pointer on where there is one; of other files from their names on.
    [[nodiscard]] Lines mistakes(const Json& also) const {
        Lines lines =
            test::mistakes_of([&] { check_names(source(also), paths_); }, folder_.path(""));
        for (std::string& line : lines) {
            if (line.starts_with("s.json:")) {
                line.erase(0, line.find(": /") + 2);
            }
        }
        return lines;
    }
    [[nodiscard]] Lines notes(const Json& also) const { return check_sweep(source(also), paths_); }
    [[nodiscard]] Lines estimates(const Json& also, bool screens) const {
        return check_estimates(source(also).sweep, screens, paths_);
    }

private:
    test::ScratchFolder folder_;
    config::ConfigPaths paths_ = test::source_paths();
};

std::string refusal_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const NotModelled& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("a name that leads nowhere is told at its place, all of them at once", "[unit][sweep]") {
    const Checked bench;
    CHECK(bench.mistakes(Json::object()).empty());
    CHECK(bench.mistakes({{"machine", "tinny"}}) ==
          Lines{"/machine: unknown machine 'tinny'; did you mean 'tiny'?"});
    CHECK(bench.mistakes({{"machine", {"tiny", "tinny"}}, {"workload", {"tiny_matmull", "mlp"}}}) ==
          Lines{"/machine/1: unknown machine 'tinny'; did you mean 'tiny'?",
                "/workload/0: unknown workload 'tiny_matmull'; did you mean 'tiny_matmul'?"});
    // a workload's own mistake has a place of its own
    bench.write("w.json", {{"schema_version", 1},
                           {"kind", "matmul"},
                           {"m", 16},
                           {"k", 16},
                           {"n", 16},
                           {"repeat", 3}});
    const Lines lines = bench.mistakes({{"workload", {"./dense.json", "./w.json"}}});
    REQUIRE(lines.size() == 1);
    CHECK_THAT(lines[0], Catch::StartsWith("w.json:") && Catch::Contains("/repeat: unknown key"));
    CHECK_THAT(bench.mistakes({{"workload", {"./dense.json", "./gone.json"}}}).at(0),
               Catch::StartsWith("/workload/1: "));
    // what is wrong with names is told before what they have
    CHECK(bench.mistakes({{"machine", "tinny"}, {"set", {{"tile.workrs", 3}}}}).size() == 1);
}

TEST_CASE("each setting of a sweep is one of its machines or workloads", "[unit][sweep]") {
    const Checked bench;
    const auto unknown = [](const std::string& place, const std::string& path,
                            const std::string& hint = {}) {
        return place + ": no machine and no workload of this sweep has '" + path + "'" +
               (hint.empty() ? "" : "; did you mean '" + hint + "'?");
    };
    const auto axes = [](const Json& one) {
        return Json{{"axes", {{{"path", "tile.workers"}, {"values", {2}}}, one}}};
    };
    CHECK(bench.mistakes({{"set", {{"tile.workrs", 3}}}}) ==
          Lines{unknown("/set/tile.workrs", "tile.workrs", "tile.workers")});
    CHECK(bench.mistakes({{"derive", {{"tile.workrs", "3"}}}}) ==
          Lines{unknown("/derive/tile.workrs", "tile.workrs", "tile.workers")});
    CHECK(bench.mistakes({{"points", {{{"tile.workers", 3}}, {{"tile.workrs", 3}}}}}) ==
          Lines{unknown("/points/1/tile.workrs", "tile.workrs", "tile.workers")});
    CHECK(bench.mistakes(axes({{"path", "tile.workrs"}, {"values", {2}}})) ==
          Lines{unknown("/axes/1/path", "tile.workrs", "tile.workers")});
    CHECK(bench.mistakes(axes({{"paths", {"workload.m", "workload.mm"}}, {"values", {{2, 2}}}}))
              .at(0)
              .starts_with("/axes/1/paths/1: no machine and no workload"));
    // a seed is the workload's
    CHECK(bench.mistakes({{"set", {{"seed", 3}}}}).empty());
    CHECK(bench.mistakes(axes({{"path", "seed"}, {"values", {2}}})).empty());
    CHECK(bench.mistakes(axes({{"paths", {"seed", "workload.m"}}, {"values", {{2, 2}}}})).empty());
}

TEST_CASE("an estimate is refused where nothing would come of it", "[unit][sweep]") {
    const Checked bench;
    const Json dense{{"workload", "./dense.json"}};
    const Json both{{"workload", {"./dense.json", "./sums.json"}}};
    const Json sums{{"workload", "./sums.json"}};
    const Json two{{"workload", {"./sums.json", "stencil"}}};
    const std::string forms = "; there are closed forms of kinds " +
                              result::kinds_with_estimates() +
                              ", see docs/timing_mode.md#estimates";
    const auto with = [](Json sweep, const char* mode) {
        sweep["mode"] = mode;
        return sweep;
    };
    for (const char* mode : {"timing", "functional", "estimate"}) {
        CAPTURE(mode);
        CHECK(bench.estimates(with(dense, mode), false).empty());
        CHECK(bench.estimates(with(dense, mode), true).empty());
        // a screen needs them of all workloads, whatever the mode
        for (const Json& sweep : {both, sums}) {
            CHECK(
                refusal_of([&] { static_cast<void>(bench.estimates(with(sweep, mode), true)); }) ==
                "--screen estimate: no point has an estimate of './sums.json' (reduction)" + forms);
        }
    }
    // other modes need none
    CHECK(bench.estimates(with(both, "timing"), false).empty());
    CHECK(bench.estimates(with(sums, "functional"), false).empty());
    // points of some workloads are better than none
    CHECK(bench.estimates(with(both, "estimate"), false) == Lines{"'./sums.json' (reduction)"});
    CHECK(refusal_of([&] { static_cast<void>(bench.estimates(with(two, "estimate"), false)); }) ==
          "mode estimate: no point has an estimate of './sums.json' (reduction), 'stencil' "
          "(stencil)" +
              forms);
}

TEST_CASE("what is worth knowing of a right sweep is said of it", "[unit][sweep]") {
    const Checked bench;
    CHECK(bench.notes(Json::object()).empty());
    CHECK(bench.notes({{"workload", {"./dense.json", "./sums.json"}}}) ==
          Lines{"there is no estimate of './sums.json' (reduction): --screen estimate would refuse "
                "it"});
    CHECK(bench.notes({{"workload", {"./dense.json", "./sums.json"}}, {"mode", "estimate"}}) ==
          Lines{"there is no estimate of './sums.json' (reduction): its points are not modelled in "
                "this mode"});
    const Json axis{{"path", "tile.workers"}, {"values", {2, 4}}};
    CHECK(bench.notes({{"axes", {axis}}}).empty());
    CHECK(bench.notes({{"axes", {axis}}, {"exclude", {"tile.workers > 3"}}}).empty());
    CHECK(bench.notes({{"axes", {axis}}, {"exclude", {"tile.workers > 1"}}}) ==
          Lines{"it has no points: all are excluded"});
    // an odd number of tiles has no complete pairs
    const auto notes = [&](const Json& tiles) {
        const Json pairs{{"path", "exchange.pair_double"}, {"values", {true, false}}};
        return bench.notes({{"axes", {{{"path", "chip.tiles"}, {"values", tiles}}, pairs}}});
    };
    CHECK(notes({2, 4}).empty());
    const Lines one = notes({2, 3});
    const Lines two = notes({3, 4, 5});
    REQUIRE(one.size() == 1);
    REQUIRE(two.size() == 1);
    CHECK_THAT(one[0], Catch::StartsWith("1 point cannot be, as ") &&
                           Catch::Contains("chip.tiles: got 3 tiles"));
    CHECK_THAT(two[0], Catch::StartsWith("2 points cannot be, as ") &&
                           Catch::Contains("chip.tiles: got 3 tiles"));
}
