// SPDX-License-Identifier: MIT
// Rows of traffic between chips: which chips send what, and what is judged.
#include "sim/calibrate/groups.h"
#include "sim/calibrate/reference.h"
#include "tests/support/source_path.h"
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::calibrate;
using namespace tessera::test;
using nlohmann::json;

namespace {

const std::vector<std::string> kKnown{"bow", "gc2", "gc200", "gc2_ladder16", "m2000", "tiny"};
constexpr int kTiles = 1216;

using Columns = std::vector<std::pair<std::string, std::string>>;

Measurement link_row(Columns columns) {
    columns.emplace_back("machine", "GC2 (1216 tiles, 1.6 GHz)");
    return std::get<Measurement>(measurement_of(row_of(columns), kKnown));
}

Measurement pair_row(int from, int to) {
    return link_row({{"workload", "one-word transfer, IPU pair on a ladder"},
                     {"topology", "IPU ladder"},
                     {"from_chip", std::to_string(from)},
                     {"to_chip", std::to_string(to)},
                     {"unit", "us"}});
}

Measurement rate_row(const std::string& workload, const std::string& topology) {
    return link_row({{"workload", workload},
                     {"topology", topology},
                     {"metric", "aggregate_bandwidth"},
                     {"unit", "GB/s"}});
}

} // namespace

TEST_CASE("one word between two chips is sent on a ladder of the boards up to the farther chip") {
    for (const auto& [from, to] : {std::pair{1, 0}, {0, 1}, {2, 0}, {3, 12}, {15, 14}}) {
        CAPTURE(from, to);
        const Run run = pair_row(from, to).runs.at(0);
        CHECK(run.workload["pattern"] == "point_to_point");
        CHECK(run.workload["source"] == from);
        CHECK(run.workload["destination"] == to);
        CHECK(run.workload["bytes"] == 4);
        CHECK(run.workload["tile"] == kTiles / 2);
        CHECK(run.machine == "gc2_ladder16");
        CHECK(run.machine_sets.back() ==
              "system.chips=" + std::to_string(2 * (std::max(from, to) / 2 + 1)));
        CHECK(run.mode == "timing");
        CHECK(pair_row(from, to).group == "links: one word");
        CHECK(pair_row(from, to).timed == "the exchange and its barrier");
        CHECK(pair_row(from, to).assumed.empty());
    }
}

TEST_CASE("words about the topology are chips of a ladder") {
    const auto chips = [](const std::string& topology) {
        const json workload = link_row({{"workload", "point-to-point, one word, idle system"},
                                        {"topology", topology},
                                        {"unit", "us"}})
                                  .runs.at(0)
                                  .workload;
        return std::pair{workload["source"].get<int>(), workload["destination"].get<int>()};
    };
    CHECK(chips("other IPU, same board") == std::pair{0, 1});
    CHECK(chips("other IPU, other board, direct link") == std::pair{0, 2});
    CHECK(chips("other IPU, other board, no direct link") == std::pair{0, 3});
}

TEST_CASE("chips are told by whole numbers, of which a row has two") {
    const auto told = [](const std::string& from, const std::string& to) {
        return refusal(row_of({{"workload", "one-word transfer, IPU pair on a ladder"},
                               {"topology", "IPU ladder"},
                               {"machine", "GC2 (1216 tiles, 1.6 GHz)"},
                               {"from_chip", from},
                               {"to_chip", to},
                               {"unit", "us"}}));
    };
    CHECK(pair_row(1023, 0).runs.at(0).workload["source"] == 1023);
    for (const std::string wrong : {"1024", "-1", "0.5", ""}) {
        CAPTURE(wrong);
        CHECK(told("0", wrong).ends_with("column 'to_chip': expected a chip's number"));
        if (!wrong.empty()) { // an empty one says that words tell it
            CHECK(told(wrong, "0").ends_with("column 'from_chip': expected a chip's number"));
        }
    }
}

TEST_CASE("a rate between chips is of the bytes of all messages") {
    const std::string board = "other IPU, same board";
    const struct {
        Measurement row;
        std::string pattern;
        int messages;
    } cases[] = {
        {rate_row("point-to-point, one pair, large message", board), "point_to_point", 1},
        {rate_row("IPU to IPU, one direction, all tiles", board), "bulk", kTiles},
        {rate_row("IPU to IPU, both directions, all tiles", board), "bulk_both", 2 * kTiles},
    };
    for (const auto& [row, pattern, messages] : cases) {
        CAPTURE(pattern);
        const json& workload = row.runs.at(0).workload;
        CHECK(workload["pattern"] == pattern);
        const double cycles = messages * workload["bytes"].get<double>(); // at 1 B a cycle
        const double clock_hz = 1.6e9;
        json result = result_of(cycles, clock_hz);
        result["phases"] = {{"sync", cycles / 4}, {"link", 3 * cycles / 4}, {"compute", 19}};
        CHECK(row.read({result}) == Approx(clock_hz / 1e9)); // what controls it is no part of it
    }
}

TEST_CASE("messages between chips are those that the row means, and what it leaves open is told") {
    const std::string each = "each tile receives one message";
    const struct {
        Columns columns; ///< besides workload, metric and unit
        const char* workload;
        bool is_time;
        json keys;
        int chips;
        double messages; ///< of a rate
        std::string assumed;
    } cases[] = {{{{"topology", "other IPU, same board"}},
                  "one word from every tile of one IPU to another",
                  true,
                  {{"pattern", "bulk"}, {"bytes", 4}, {"source", 0}, {"destination", 1}},
                  2,
                  0,
                  each},
                 {{{"ipus", "3"}},
                  "one word from every tile to random tile system-wide",
                  true,
                  {{"pattern", "random"}, {"bytes", 4}},
                  4,
                  0,
                  each + ", none within a chip"},
                 {{{"ipus", "4"}},
                  "every tile to random tile system-wide",
                  false,
                  {{"pattern", "random"}, {"bytes", 10'240}},
                  4,
                  4 * kTiles,
                  "messages of 10240 B, " + each + ", none within a chip"},
                 {{{"topology", "other IPU, other board, direct link"}},
                  "IPU to IPU, both directions, all tiles",
                  false,
                  {{"pattern", "bulk_both"}, {"bytes", 10'240}, {"source", 0}, {"destination", 2}},
                  4,
                  2 * kTiles,
                  "messages of 10240 B, " + each},
                 {{{"topology", "other IPU, same board"}},
                  "point-to-point, one pair, large message",
                  false,
                  {{"pattern", "point_to_point"},
                   {"bytes", 102'400},
                   {"tile", kTiles / 2},
                   {"source", 0},
                   {"destination", 1}},
                  2,
                  1,
                  "a message of 102400 B"},
                 {{{"ipus", "2"}, {"tiles", "16"}, {"msg_bytes", "13"}},
                  "pair of a machine",
                  false,
                  {{"pattern", "bulk_both"},
                   {"bytes", 16},
                   {"source", 0},
                   {"destination", 1},
                   {"tiles", 16}},
                  2,
                  2 * 16,
                  ""}};
    for (const auto& one : cases) {
        CAPTURE(one.workload);
        Columns columns = one.columns;
        columns.emplace_back("workload", one.workload);
        columns.emplace_back("metric", one.is_time ? "latency" : "aggregate_bandwidth");
        columns.emplace_back("unit", one.is_time ? "cycles" : "GB/s");
        const Measurement made = link_row(columns);
        json keys = one.keys;
        keys.update({{"schema_version", 1}, {"kind", "link_pattern"}});
        CHECK(made.runs.at(0).workload == keys);
        CHECK(made.runs.at(0).machine_sets.back() == "system.chips=" + std::to_string(one.chips));
        CHECK(made.assumed == one.assumed);
        // at one byte a cycle
        const double cycles = one.is_time ? 700 : one.messages * keys["bytes"].get<double>();
        json result = result_of(cycles, 1.6e9);
        result["phases"] = {{"sync", cycles / 4}, {"link", 3 * cycles / 4}};
        CHECK(made.read({result}) == Approx(one.is_time ? 700 : 1.6));
    }
}

TEST_CASE("rows of several chips that no rule of links knows are not covered") {
    const auto reason = [](const Columns& columns) {
        return std::get<NotCovered>(measurement_of(row_of(columns), kKnown)).reason;
    };
    CHECK(reason({{"workload", "gather one word each"}, {"topology", "2 IPUs same board"}}) ==
          "more than one chip");
    CHECK(reason({{"workload", "IPU to IPU, one direction"},
                  {"topology", "other IPU, same board"},
                  {"machine", "GC200"}}) == "no system of machine gc200");
}

TEST_CASE("rows between chips that constants were taken from are not judged") {
    Reference own;
    add_rows(own, read_csv(source_path("configs/reference/measured/links.csv")));
    std::map<std::string, std::pair<int, int>> rows; // judged or open, fitted
    for (const ReferenceRow& row : own.rows) {
        CAPTURE(row.id());
        const Mapped mapped = measurement_of(row, kKnown);
        REQUIRE(std::holds_alternative<Measurement>(mapped));
        const std::string& group = std::get<Measurement>(mapped).group;
        CHECK(is_in(group, kLinkGroups));
        const bool is_fitted = !row.text("calibrates").empty();
        ++(is_fitted ? rows[group].second : rows[group].first);
        if (group == "links: one word") {
            const auto board = [&](const char* column) {
                return static_cast<int>(*row.number(column)) / 2;
            };
            const int rails = std::abs(board("from_chip") - board("to_chip"));
            CHECK(is_fitted == (rails % 4 < 2));
        }
    }
    CHECK(rows["links: one word"] == std::pair{74, 105});
    CHECK(rows["links: near chips"] == std::pair{3, 0});
    CHECK(rows["links: bulk"] == std::pair{8, 2});
    CHECK(rows["links: words of all tiles"] == std::pair{4, 2});
    CHECK(rows["links: random bulk"] == std::pair{2, 0});
    CHECK_FALSE(group_of("links: random bulk").target.asks());
    CHECK(group_of("links: bulk").target.asks());
    CHECK_FALSE(is_in("host", kLinkGroups));
}
