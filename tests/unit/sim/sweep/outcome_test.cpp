// SPDX-License-Identifier: MIT
#include "sim/sweep/outcome.h"
#include "sim/sweep/store.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;
using Lines = std::vector<std::string>;

namespace {

Json record(const std::string& key, const std::string& status, const Json& also) {
    Json made{{"key", sha256(key).text()},
              {"status", status},
              {"machine", "bow"},
              {"workload", "dense"},
              {"changes", {{"tile.workers", 4}, {"exchange.fabric", "mesh"}}}};
    made.update(also);
    return made;
}

constexpr const char* kPoint = ", as bow dense exchange.fabric=mesh tile.workers=4";

} // namespace

TEST_CASE("points that are not ok are told with what they say", "[unit][sweep]") {
    Outcome outcome;
    const Json check{{"check", {{"sentence", "row 3 is wrong"}}}};
    outcome.add(record("a", "ok", {{"message", "fine"}, {"result", check}}));
    outcome.add(record("b", "does_not_fit", {{"message", "too large"}}));
    outcome.add(record("c", "check_failed", {{"result", check}}));
    outcome.add(record("d", "crash", Json::object()));
    CHECK(outcome.not_ok().count() == 3);
    CHECK(outcome.not_ok().lines() ==
          Lines{std::string("1 check_failed") + kPoint + ": row 3 is wrong",
                std::string("1 crash") + kPoint,
                std::string("1 does_not_fit") + kPoint + ": too large"});
    CHECK(outcome.wrong().lines() ==
          Lines{std::string("1 check_failed") + kPoint + ": row 3 is wrong"});
}

TEST_CASE("of what a store knows of some points the last counts", "[unit][sweep]") {
    const test::ScratchFolder folder;
    {
        StoreWriter writer(folder.path("s"));
        for (const Json& line :
             {record("a", "crash", {{"message", "first"}}), record("b", "crash", Json::object()),
              record("a", "time_limit", {{"message", "last"}}),
              record("c", "crash", Json::object()), record("c", "ok", {{"result", 1}})}) {
            writer.append(line);
        }
    }
    Outcome outcome;
    outcome.add_known(folder.path("s"), {});
    CHECK(outcome.not_ok().count() == 0);
    outcome.add_known(folder.path("s"), {sha256("a"), sha256("c")});
    CHECK(outcome.not_ok().lines() == Lines{std::string("1 time_limit") + kPoint + ": last"});
    CHECK(outcome.wrong().count() == 0);
    // of points with one reason the first that the store has is named
    std::unordered_set<PointKey, PointKey::Hash> all;
    StoreWriter writer(folder.path("many"));
    for (int i = 0; i < 20; ++i) {
        const std::string name = std::to_string(i);
        writer.append_line(record(name, "crash", {{"machine", name}}).dump());
        all.insert(sha256(name));
    }
    Outcome many;
    many.add_known(folder.path("many"), all);
    REQUIRE(many.not_ok().lines().size() == 1);
    CHECK(many.not_ok().lines()[0].rfind("20 crash, as 0 dense ", 0) == 0);
}
