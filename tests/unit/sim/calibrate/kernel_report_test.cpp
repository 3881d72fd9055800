// SPDX-License-Identifier: MIT
// Groups of kernels: ratios of times, without barriers, by our own plans, and the worst rows.
#include "sim/calibrate/report.h"
#include "sim/calibrate/report_parts.h"
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::calibrate;

namespace {

constexpr const char* kGroup = "dense FP16: n > 256";
constexpr double kCycles = 8000;
constexpr double kSync = 800;

ReferenceRow rate_row(const std::string& id, const std::string& value) {
    return test::row_of(
        {{"id", id}, {"metric", "flop_rate"}, {"value", value}, {"unit", "TFLOP/s"}});
}

RowOutcome rate(const std::string& id, double simulated, std::optional<double> ours) {
    Measurement measurement;
    measurement.group = kGroup;
    measurement.ratio_of_times = true;
    measurement.runs = {{.machine = "bow", .machine_sets = {}, .workload = {{"kind", "matmul"}}}};
    measurement.ours = measurement.runs;
    RunFacts facts{.cycles = kCycles,
                   .sync_cycles = kSync,
                   .words_per_tile = 100,
                   .steps = 4,
                   .by_step = {{"multiply", 6000}, {"bring", 1150}, {"sync", kSync}, {"cast", 50}}};
    return {.row = rate_row(id, "100"),
            .mapped = measurement,
            .simulated = simulated,
            .failure = {},
            .ours = ours,
            .facts = {facts}};
}

RowOutcome speedup(const std::string& id, const std::string& value, double simulated) {
    Measurement measurement;
    measurement.group = "static over dense: sign";
    measurement.runs = {{.machine = "bow", .machine_sets = {}, .workload = {{"kind", "matmul"}}},
                        {.machine = "bow", .machine_sets = {}, .workload = {{"kind", "spmm"}}}};
    measurement.runs[0].called = "dense";
    measurement.runs[1].called = "static";
    RunFacts dense{.cycles = 100, .sync_cycles = 10, .by_step = {{"multiply", 90}, {"sync", 10}}};
    dense.called = "dense";
    RunFacts sparse = dense;
    sparse.called = "static";
    return {.row = test::row_of({{"id", id}, {"value", value}, {"unit", "x"}}),
            .mapped = measurement,
            .simulated = simulated,
            .failure = {},
            .ours = 2.0,
            .facts = {dense, sparse}};
}

Calibration kernels() {
    RowOutcome absent = rate("absent", 1, {});
    absent.simulated.reset();
    absent.not_modelled = true;
    absent.failure = "x: not modelled: FP32 partials";
    absent.facts.clear();
    Calibration calibration;
    calibration.rows = {
        rate("fast", 125, 200.0),   rate("slow", 80, {}),         absent,
        speedup("right", "2", 1.5), speedup("wrong", "0.5", 1.1), speedup("unclear", "1.1", 0.9)};
    calibration.rows[1].ours_failure = "does not fit";
    return calibration;
}

} // namespace

TEST_CASE("of a rate of kernels the ratio is that of the times") {
    const auto row = rate("a", 80, 160.0);
    CHECK(*row.ratio() == Approx(100.0 / 80));
    CHECK(*row.ours_ratio() == Approx(100.0 / 160));
    CHECK(*row.no_sync_ratio() == Approx(*row.ratio() * (kCycles - kSync) / kCycles));
    const auto gap = row.gap();
    REQUIRE(gap);
    CHECK(gap->simulated_cycles == kCycles);
    CHECK(gap->measured_cycles == Approx(kCycles / *row.ratio()));
    CHECK(gap->words == 100);
    CHECK(gap->steps == 4);
}

TEST_CASE("speed-ups have neither cycles of their own nor a ratio without barriers") {
    const auto row = speedup("a", "2", 1.5);
    CHECK(*row.ratio() == Approx(0.75));
    CHECK(*row.ours_ratio() == Approx(1));
    CHECK_FALSE(row.no_sync_ratio());
    CHECK_FALSE(row.gap());
}

TEST_CASE("rows that need what is not modelled are listed and not counted") {
    const auto calibration = kernels();
    CHECK(calibration.rows[2].use() == "not modelled");
    const auto outcomes = group_outcomes(calibration);
    REQUIRE(outcomes.size() == 2);
    CHECK(outcomes[0].nearness.rows == 2);
    CHECK(outcomes[0].failed == 0);
    CHECK(outcomes[0].not_modelled == 1);
    CHECK(outcomes[0].nearness.ratio_mean == Approx(std::sqrt(100.0 / 125 * 100 / 80)));
    CHECK(outcomes[0].ours.rows == 1);
    CHECK(outcomes[0].ours.ratio_mean == Approx(0.5));
    CHECK(outcomes[1].signs.rows == 2);
    CHECK(outcomes[1].signs.right == 1);
    CHECK(outcomes[1].ours_signs.right == 1);
    CHECK_FALSE(outcomes[1].reached());
    REQUIRE(outcomes[0].worst.size() == 2);
    CHECK(outcomes[1].worst[0]->row.id() == "wrong");
}

TEST_CASE("where no row is judged, our plans' ratio is that of the rows that are not modelled") {
    Calibration calibration;
    calibration.rows = {rate("absent", 1, 50.0)};
    calibration.rows[0].simulated.reset();
    calibration.rows[0].not_modelled = true;
    const auto outcomes = group_outcomes(calibration);
    CHECK(outcomes.at(0).nearness.rows == 0);
    CHECK(outcomes[0].ours.rows == 1);
    CHECK(outcomes[0].ours.ratio_mean == Approx(2));
    CHECK_FALSE(outcomes[0].reached());
}

TEST_CASE("five rows of a group are the worst") {
    Calibration calibration;
    for (int i = 0; i < 7; ++i) {
        calibration.rows.push_back(rate("row " + std::to_string(i), 100 + i, {}));
    }
    const auto outcomes = group_outcomes(calibration);
    REQUIRE(outcomes.at(0).worst.size() == 5);
    CHECK(outcomes[0].worst[0]->row.id() == "row 6");
    CHECK(outcomes[0].worst[4]->row.id() == "row 2");
    for (RowOutcome& row : calibration.rows) { // of equals the first ones
        row.simulated = 125;
    }
    const auto equal = group_outcomes(calibration);
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(equal[0].worst.at(i)->row.id() == "row " + std::to_string(i));
    }
}

TEST_CASE("the text of kernels: rows, groups, and where the cycles of the worst rows went") {
    const auto text = calibration_text(kernels(), {.columns = 160, .color = false});
    CAPTURE(text);
    const auto has = [&](const char* line) { return text.find(line) != std::string::npos; };
    CHECK(text.find(R"(row      unit      measured  simulated   ratio  no sync    ours

dense FP16: n > 256
fast     TFLOP/s        100        125   0.800    0.720   0.500
slow     TFLOP/s        100         80   1.250    1.125       -
absent   TFLOP/s        100          -       -        -       -  x: not modelled: FP32 partials
)") == 0);
    CHECK(has("dense FP16: n > 256         2  1.000  25.0 %   25.0 %      -    0.900  0.500  "
              "0.92..1.08, p90 20 %: MISSED, 1 not modelled\n"));
    CHECK(has("  sign 90 %: MISSED, 50.0 % of 2\n"));
    CHECK(has("  fast  0.800  8,000: multiply 6,000, bring 1,150, sync 800\n"));
    CHECK(has("dense 100: multiply 90, sync 10; static 100: multiply 90, sync 10\n"));
    CHECK_FALSE(has("unexplained"));
    const auto gaps = unexplained_text(kernels(), {.columns = 160, .color = false});
    CAPTURE(gaps);
    // 6400 and 10000 measured cycles
    CHECK(gaps.find("dense FP16: n > 256     2     400  2.4 %") != std::string::npos);
    CHECK(unexplained_text({}, {}).empty());
}

TEST_CASE("paragraphs begin at the left edge, and tables below a head two columns from it") {
    const Layout wide{.columns = 1000, .color = false}; // nothing is wrapped
    Calibration calibration = kernels();
    for (const char* const group : {"STREAM", "sync", "reduction"}) { // one of each mark
        calibration.rows.push_back(speedup("micro", "2", 1.5));
        std::get<Measurement>(calibration.rows.back().mapped).group = group;
    }
    calibration.rows.push_back({.row = rate_row("nobody's", "1"),
                                .mapped = NotCovered{"few"},
                                .simulated = {},
                                .failure = {}});
    const std::string text =
        calibration_text(calibration, wide) + unexplained_text(kernels(), wide);
    CAPTURE(text);
    for (const char* const paragraph :
         {"ratio: geometric mean of simulated / measured;",
          "ratio: geometric mean of simulated / measured time", "*: loops", "=: most",
          "such figures test less", "cycles: sum over the rows", "  1  few: nobody's"}) {
        CAPTURE(paragraph);
        CHECK(text.find(std::string("\n") + paragraph) != std::string::npos);
    }
}

TEST_CASE("a step that takes a fiftieth of the worst rows' cycles is named") {
    const auto said = [](double cycles) {
        Calibration calibration;
        calibration.rows = {rate("fast", 125, {})};
        calibration.rows[0].facts[0].by_step = {{"multiply", 6000}, {"cast", cycles}};
        const auto text = calibration_text(calibration, {.columns = 160, .color = false});
        const auto begin = text.find("8,000: ") + 7;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    CHECK(said(kCycles / 50) == "multiply 6,000, cast 160");
    CHECK(said(kCycles / 50 - 1) == "multiply 6,000");
}

TEST_CASE("what is unexplained is fitted to words and steps where the rows tell them apart") {
    constexpr double kWord = 0.25;
    constexpr double kStep = 300;
    Calibration calibration;
    double missing = 0;
    double measured = 0;
    for (const auto& [words, steps] : {std::pair{1000, 4}, {2000, 4}, {1000, 2}}) {
        const double gap = kWord * words + kStep * steps;
        RowOutcome row = rate("r" + std::to_string(calibration.rows.size()),
                              100 * (kCycles + gap) / kCycles, {});
        row.facts[0].words_per_tile = words;
        row.facts[0].steps = steps;
        calibration.rows.push_back(row);
        missing += gap;
        measured += kCycles + gap;
    }
    const auto row_of = [&] {
        const auto text = unexplained_text(calibration, {.columns = 160, .color = false});
        std::istringstream in(text.substr(text.find(kGroup) + std::string(kGroup).size()));
        std::vector<std::string> cells;
        std::string line;
        std::getline(in, line);
        std::istringstream words(line);
        for (std::string cell; words >> cell;) {
            cells.push_back(cell);
        }
        return cells;
    };
    const std::string share = fmt::format("{:.1f}", 100 * missing / measured);
    CHECK(row_of() == std::vector<std::string>{"3", fmt::format("{:.0f}", missing), share, "%",
                                               "0.250", "300.0", "100.0", "%"});
    calibration.rows.pop_back(); // through two rows any plane goes
    CHECK(row_of().size() == 7);
    CHECK(row_of()[4] == "-");
    CHECK(row_of()[5] == "-");
    CHECK(row_of()[6] == "-");
}

TEST_CASE("JSON of kernels has the runs' plans, ratios and gaps") {
    const auto document = calibration_json(kernels());
    const auto& row = document["rows"][0];
    CHECK(row["ratio_ours"] == Approx(0.5));
    CHECK(row["ours"] == 200.0);
    CHECK(row["ratio_no_sync"] == Approx(0.72));
    CHECK(row["measured_cycles"] == Approx(kCycles / 0.8));
    CHECK(row["steps"] == 4);
    CHECK(row.contains("ours_runs"));
    CHECK(document["rows"][1]["ours_failure"] == "does not fit");
    CHECK(document["rows"][2]["use"] == "not modelled");
    const auto& group = document["groups"][0];
    CHECK(group["not_modelled"] == 1);
    CHECK(group["unexplained"]["rows"] == 2);
    CHECK(group["target"]["ratio_mean"] == nlohmann::json{0.92, 1.08});
    CHECK(group["worst"][0]["runs"][0]["steps"][0]["name"] == "multiply");
    CHECK(document["groups"][1]["sign_share"] == 0.5);
    CHECK(group.contains("ratio_no_sync"));
    for (const char* const key :
         {"ratio_no_sync", "spread", "unexplained"}) { // speed-ups have none
        CHECK_FALSE(document["groups"][1].contains(key));
    }
    CHECK(document["groups"][1]["target"]["sign_share"] == 0.9);
}

TEST_CASE("all groups of a kind have a name together") {
    CHECK(is_in("host", "host"));
    CHECK(is_in("host", kMicroGroups));
    CHECK_FALSE(is_in("host", kKernelGroups));
    CHECK(is_in(kGroup, kKernelGroups));
    CHECK(is_in("static over dense: sign", kKernelGroups));
    CHECK_NOTHROW(check_group_name(kKernelGroups));
    CHECK(is_in("SparQ attention", kModelGroups));
    CHECK_FALSE(is_in("SparQ attention", kKernelGroups));
    CHECK_FALSE(is_in(kGroup, kModelGroups));
    CHECK_NOTHROW(check_group_name(kModelGroups));
    CHECK_THROWS_AS(check_group_name("kernel"), ConfigError);
}

TEST_CASE("a row of several seeds is their geometric mean, and says how far they are apart") {
    Calibration calibration;
    calibration.rows = {rate("drawn", std::sqrt(80.0 * 125.0), {}), rate("once", 100, {})};
    calibration.rows[0].of_seeds = {125, 80};
    const RowOutcome& drawn = calibration.rows[0];
    CHECK(*drawn.ratio() == Approx(1));
    CHECK(*drawn.spread() == Approx(125.0 / 80));
    CHECK_FALSE(calibration.rows[1].spread());
    // the facts are those of the first seed, which took 100/125 of the measured time
    CHECK(drawn.gap()->measured_cycles == Approx(kCycles * 125 / 100));
    const auto outcomes = group_outcomes(calibration);
    REQUIRE(outcomes.size() == 1);
    CHECK(*outcomes[0].spread == Approx(125.0 / 80));
    const auto text = calibration_text(calibration, {.columns = 200, .color = false});
    CAPTURE(text);
    CHECK(text.find("2 seeds, 56.2 % apart") != std::string::npos);
    const auto document = calibration_json(calibration);
    CHECK(document["rows"][0]["of_seeds"] == nlohmann::json{125, 80});
    CHECK_FALSE(document["rows"][1].contains("of_seeds"));
    CHECK(document["groups"][0]["spread"].get<double>() == Approx(125.0 / 80));
}

TEST_CASE("below a ceiling there is no error, above it the distance is one") {
    const auto best = [](const std::string& id, double simulated) {
        RowOutcome row = rate(id, simulated, {});
        std::get<Measurement>(row.mapped).group = "static: best over n";
        return row;
    };
    Calibration calibration;
    calibration.rows = {best("far below", 50), best("at it", 100), best("above", 110)};
    auto outcomes = group_outcomes(calibration);
    REQUIRE(outcomes.size() == 1);
    CHECK(outcomes[0].nearness.error_most == Approx(0.10));
    CHECK(outcomes[0].nearness.error_mean == Approx(std::pow(1.10, 1.0 / 3) - 1));
    CHECK(outcomes[0].reached());
    REQUIRE(outcomes[0].worst.size() == 1);
    CHECK(outcomes[0].worst[0]->row.id() == "above");
    calibration.rows.push_back(best("far above", 116));
    outcomes = group_outcomes(calibration);
    CHECK_FALSE(outcomes[0].reached());
}

TEST_CASE("every group has a target but those of open rows, and signs stand for the marks of "
          "groups that are shown") {
    for (const Group& group : groups()) {
        CAPTURE(group.name);
        const std::string name = group.name;
        const bool is_open = name == "links: words of all tiles" || name == "links: random bulk" ||
                             name == "BERT-Large stage";
        CHECK(group.target.asks() != is_open);
    }
    const auto outcome = [](const char* name) {
        return GroupOutcome{.group = group_of(name), .nearness = {}};
    };
    const Layout layout{.columns = 200, .color = false};
    CHECK(marked_name(group_of("host")) == "host =");
    CHECK(marked_name(group_of("exchange: broadcast")) == "exchange: broadcast *+");
    CHECK(marked_name(group_of("exchange: pairs")) == "exchange: pairs");
    CHECK(marks_text({outcome("exchange: pairs")}, layout).empty());
    const auto text = marks_text({outcome("host"), outcome("exchange: gather")}, layout);
    CHECK(text.find("=: most of its figures") != std::string::npos);
    CHECK(text.find("+: which steps") != std::string::npos);
    CHECK(text.find("*:") == std::string::npos);
}

TEST_CASE("of dynamic speed-ups every row counts for the order, also one that is near 1") {
    Calibration calibration;
    calibration.rows = {speedup("near", "0.95", 1.02), speedup("far", "0.5", 0.52)};
    const auto judged = [&](const char* group) {
        for (RowOutcome& row : calibration.rows) {
            std::get<Measurement>(row.mapped).group = group;
        }
        const auto outcomes = group_outcomes(calibration);
        return std::pair(outcomes[0].signs.rows, outcomes[0].reached());
    };
    CHECK(judged("dynamic over static") == std::pair(std::size_t{2}, false));
    CHECK(judged("dynamic over dense") == std::pair(std::size_t{2}, false));
    CHECK(judged("static over dense: sign") == std::pair(std::size_t{1}, true));
    calibration.rows[0].simulated = 0.99;
    CHECK(judged("dynamic over static").second);
    CHECK(judged("dynamic over dense").second);
    calibration.rows[1].simulated = 0.5 * 1.26; // each row within a quarter, not only the mean
    CHECK(judged("dynamic over static").second);
    CHECK_FALSE(judged("dynamic over dense").second);
}

TEST_CASE("the runs that decide a row's figure stand behind it") {
    Calibration calibration;
    calibration.rows = {speedup("both", "0.5", 0.5)};
    calibration.rows[0].best = {"dynamic, n = 64", "other, n = 16"};
    CHECK(rows_text(calibration, {.columns = 160, .color = false}, true)
              .find("best: dynamic, n = 64 and other, n = 16") != std::string::npos);
    CHECK(calibration_json(calibration)["rows"][0]["best"] ==
          nlohmann::json{"dynamic, n = 64", "other, n = 16"});
}
