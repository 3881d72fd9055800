// SPDX-License-Identifier: MIT
// Results that operands name: files, folders, and points of stores.
#include "base/error.h"
#include "sim/compare/compare_command.h"
#include "sim/result/cost_tables.h"
#include "tests/unit/sim/sweep/frozen_store.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

using namespace tessera;
using Json = nlohmann::json;
using test::FrozenStore;

namespace {

std::string refusal(const std::string& operand) {
    try {
        static_cast<void>(compare::operand_of(operand));
        return "accepted";
    } catch (const std::exception& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("an operand is a result's file, or a folder with one", "[unit][sim]") {
    const test::ScratchFolder scratch;
    const auto result = [](const char* name) {
        return Json{{"cycles", 1}, {"machine", {{"name", "m"}}}, {"workload", {{"name", name}}}};
    };
    const std::string file = scratch.write("a.json", result("a").dump());
    const std::string inner = scratch.write("out/result.json", result("b").dump());
    const std::string odd = scratch.write("out:key", result("c").dump()); // a file all the same
    for (const auto& [operand, source, name] :
         std::vector<std::tuple<std::string, std::string, const char*>>{
             {file, file, "a"}, {scratch.path("out"), inner, "b"}, {odd, odd, "c"}}) {
        const compare::Operand found = compare::operand_of(operand);
        CHECK(found.result == result(name));
        CHECK(found.source == source);
        CHECK(compare::result_of(operand) == found.result);
    }
    const std::string empty = scratch.path("empty");
    std::filesystem::create_directory(empty);
    CHECK(refusal(empty) ==
          "'" + empty + "' has no result.json; of a store's points say STORE:KEY");
    CHECK(refusal(scratch.path("none")).find("No such file") != std::string::npos);
    CHECK(refusal(scratch.path("none:key")).find("No such file") != std::string::npos);
}

TEST_CASE("an operand is a point of a store by what its key begins with", "[unit][sim]") {
    FrozenStore store;
    Json result = test::result_of_run();
    store.add(result, {{"tile.workers", 4}, {"chip.generation", "ipu1"}, {"workload.n", 96}},
              {{"lists", {{"compute_sets", {1, 2}}, {"notes", {"n"}}}}});
    result.erase("flops");
    store.add(result);
    result["activity"].erase("barriers");
    store.add(result);
    store.add(result, Json::object(), {{"contents", {{"machine", "0"}, {"workload", "0"}}}});
    store.add({}, Json::object(), {{"status", "crash"}});
    const auto operand = [&](std::size_t number, std::size_t digits = 12) {
        return store.path() + ":" + FrozenStore::key(number).substr(0, digits);
    };

    const compare::Operand whole = compare::operand_of(operand(0));
    CHECK(whole.source == operand(0));
    const spec::MachineSpec machine = store.machine({"tile.workers=4", "chip.generation=ipu1"});
    CHECK(whole.result["machine"]["name"] == "m");
    CHECK(whole.result["machine"]["tile"]["workers"] == 4);
    CHECK(whole.result["machine"]["chip"]["generation"] == "ipu1");
    CHECK(whole.result["workload"]["name"] == "w");
    CHECK(whole.result["workload"]["n"] == 96);
    CHECK(whole.result["workload"]["m"] == 16);
    CHECK(whole.result["compute_sets"] == Json{1, 2});
    CHECK(whole.result["notes"] == Json{"n"});
    CHECK(whole.result["cycles"] == 100);
    CHECK(whole.result["area"] == result::area_values(machine));
    CHECK(whole.result["energy"] ==
          result::energy_values(test::activity(), test::kSeconds, test::kFlops, machine));

    const Json no_flops = compare::result_of(operand(1));
    CHECK(no_flops["machine"]["tile"]["workers"] == 6);
    CHECK(no_flops["workload"]["n"] == 48);
    CHECK(no_flops["energy"] ==
          result::energy_values(test::activity(), test::kSeconds, std::nullopt, store.machine()));
    CHECK_FALSE(no_flops.contains("compute_sets"));
    const Json no_activity = compare::result_of(operand(2));
    CHECK(no_activity["area"] == result::area_values(store.machine()));
    CHECK_FALSE(no_activity.contains("energy"));
    // where the store has not frozen the files, names are all that is known
    const Json unknown = compare::result_of(operand(3));
    CHECK(unknown["machine"] == Json{{"name", "m"}});
    CHECK(unknown["workload"] == Json{{"name", "w"}});
    CHECK_FALSE(unknown.contains("area"));

    CHECK(refusal(operand(4)) == "the point '" + FrozenStore::key(4).substr(0, 12) + "' of '" +
                                     store.path() + "' has no result: crash");
    CHECK(refusal(store.path() + ":xyz") == "no key of '" + store.path() + "' begins with 'xyz'");
    CHECK(refusal(store.path() + ":") == "several keys of '" + store.path() + "' begin with ''");
}
