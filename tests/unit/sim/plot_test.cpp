// SPDX-License-Identifier: MIT
// Charts have the numbers of results, and scripts those of charts.
#include "base/error.h"
#include "models/spec/matrix_unit.h"
#include "sim/plot/charts.h"
#include "sim/plot/plot_command.h"
#include "tests/unit/sim/made_recording.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

using namespace tessera;
using Catch::Contains;
using plot::Chart;
using plot::Form;
using plot::Series;
using Json = nlohmann::json;
using Numbers = std::vector<double>;
using Texts = std::vector<std::string>;

namespace {

Json plain() {
    return {{"cycles", 10'000},
            {"workload", {{"name", "w"}}},
            {"machine", {{"name", "m"}}},
            {"compute_sets", Json::array()}};
}

Json step(const std::string& name, int cycles) {
    return {{"name", name}, {"cycles", cycles}};
}

Chart chart_of(const std::string& name, const Json& result) {
    return plot::chart_of_result(name, result, nullptr);
}

Texts names_of(const Chart& chart) {
    Texts names;
    for (const Series& series : chart.series) {
        names.push_back(series.name);
    }
    return names;
}

} // namespace

TEST_CASE("bars of an object are what is above 0, the longest first", "[unit][sim]") {
    Json one = plain();
    one["explanation"] = {{"a_b", {{"cycles", 5}}},
                          {"none", {{"cycles", 0}}},
                          {"c_d_e", {{"cycles", 70}}},
                          {"like", {{"cycles", 5}}},
                          {"least", {{"cycles", 1}}}};
    const Chart phases = chart_of("phases", one);
    CHECK(phases.title == "w on m: where cycles went");
    CHECK(phases.x_label == "cycles of the run");
    CHECK(phases.labels == Texts{"c d e", "a b", "like", "least"});
    REQUIRE(phases.series.size() == 1);
    CHECK(phases.series[0].x == Numbers{70, 5, 5, 1});

    one["energy"] = {
        {"total_j", 2},
        {"low_j", 1.5},
        {"high_j", 3.25},
        {"by_kind", {{"matrix", 1.25}, {"idle_tiles", 0.75}, {"zero", 0}, {"word", "x"}}}};
    const Chart energy = chart_of("energy", one);
    CHECK(energy.title == "w on m: energy, 2 J (1.5 to 3.25)");
    CHECK(energy.x_label == "J");
    CHECK(energy.labels == Texts{"matrix", "idle tiles"});
    CHECK(energy.series[0].x == Numbers{1.25, 0.75});

    one["memory"] = {{"max_bytes", 300},
                     {"tile_bytes", 1200},
                     {"worst_tile_bytes_by_kind", {{"code", 100}, {"tensor_data", 200}}}};
    const Chart memory = chart_of("memory", one);
    CHECK(memory.title == "w on m: memory of the fullest tile, 25.0 % of a tile's");
    CHECK(memory.x_label == "bytes");
    CHECK(memory.labels == Texts{"tensor data", "code"});
    CHECK(memory.series[0].x == Numbers{200, 100});
    one["memory"]["tile_bytes"] = 0; // a machine without memory has no share
    CHECK_THAT(chart_of("memory", one).title, Contains("30000.0 % of a tile's"));
}

TEST_CASE("a chart of what a result lacks is refused", "[unit][sim]") {
    Json one = plain();
    one.erase("compute_sets");
    for (const auto& [chart, key] : {std::pair{"phases", "explanation"},
                                     {"energy", "energy"},
                                     {"memory", "memory"},
                                     {"kernels", "compute_sets"},
                                     {"steps", "compute_sets"},
                                     {"roofline", "compute_sets"}}) {
        CHECK_THROWS_WITH(chart_of(chart, one),
                          fmt::format("plot: the result has no '{}', which the "
                                      "chart '{}' shows",
                                      key, chart));
    }
    for (const char* const chart : {"balance", "tiles"}) {
        CHECK_THROWS_WITH(chart_of(chart, plain()), Contains("needs a recording"));
    }
}

TEST_CASE("kernels have the phases that any of them has, twenty kernels at most", "[unit][sim]") {
    Json one = plain();
    one["kernels"] = {
        {{"name", "a"}, {"compute", 1}, {"exchange", 0}, {"sync", 3}, {"stream", 0}, {"link", 0}},
        {{"name", "b"}, {"compute", 4}, {"exchange", 0}, {"sync", 0}, {"stream", 0}, {"link", 6}}};
    const Chart chart = chart_of("kernels", one);
    CHECK(chart.title == "w on m: kernels");
    CHECK(chart.labels == Texts{"a", "b"});
    CHECK(names_of(chart) == Texts{"compute", "sync", "link"});
    CHECK(chart.series.at(0).x == Numbers{1, 4});
    CHECK(chart.series.at(1).x == Numbers{3, 0});
    CHECK(chart.series.at(2).x == Numbers{0, 6});
    one["kernels"] = Json::array();
    for (int i = 0; i < 20; ++i) {
        one["kernels"].push_back({{"name", std::to_string(i)}, {"compute", i}, {"sync", 1}});
    }
    CHECK(chart_of("kernels", one).title == "w on m: kernels");
    one["kernels"].push_back({{"name", "20"}, {"compute", 20}, {"sync", 1}});
    const Chart cut = chart_of("kernels", one);
    CHECK(cut.title == "w on m: kernels, the first 20 of 21");
    CHECK(cut.labels.size() == 20);
    CHECK(cut.labels.back() == "19");
    CHECK(cut.series.at(0).x.size() == 20);
    CHECK(cut.series.at(1).x.size() == 20);
}

TEST_CASE("the slowest steps are their bounds and what is beyond these", "[unit][sim]") {
    Json one = plain();
    one["compute_sets"] = {step("c", 100), step("never", 0)};
    one["exchanges"] = {step("e", 300)};
    one["streams"] = {step("s", 100)};
    one["link_exchanges"] = {step("l", 200)};
    one["exchanges"][0]["critical_bound_cycles"] = 180;
    one["link_exchanges"][0]["critical_bound_cycles"] = 250; // of several rounds that are shorter
    const Chart chart = chart_of("steps", one);
    CHECK(chart.labels == Texts{"e", "l", "c", "s"});
    CHECK(names_of(chart) == Texts{"bound of the critical tile", "beyond it"});
    CHECK(chart.series.at(0).x == Numbers{180, 200, 0, 0});
    CHECK(chart.series.at(1).x == Numbers{120, 0, 100, 100});
    for (int i = 0; i < 30; ++i) {
        one["streams"].push_back(step("more", 1 + i));
    }
    CHECK(chart_of("steps", one).labels.size() == 20);
    CHECK(chart_of("steps", one).labels.back() == "more");
}

TEST_CASE("the roofline counts operations of each kind of step", "[unit][sim]") {
    constexpr double kUnits = 8;        // of a set
    constexpr double kMultiplyAdds = 2; // operations
    Json one = plain();
    one["machine"].update({{"chip", {{"clock_hz", 1e9}, {"tiles", 4}, {"generation", "ipu2"}}},
                           {"amp", {{"steps_per_issue", 1}}}});
    const auto operations = [&](const char* list, const char* kind) {
        one["compute_sets"] = {
            {{"cycles", 100},
             {"counts", {{list, {{kind, 10}}}, {"memory_bytes", {{"loaded", 3}, {"stored", 5}}}}}}};
        const Chart chart = chart_of("roofline", one);
        REQUIRE(chart.series.size() == 3);
        REQUIRE(chart.series[0].x.size() == 1);
        CHECK(chart.series[0].y.at(0) == Approx(chart.series[0].x[0] * 8 / 100 * 1e9));
        return chart.series[0].x[0] * 8 / 10;
    };
    for (const auto& [kind, inputs, sets] : {std::tuple{"f16v4hihov4", 4, 2},
                                             {"f16v4siso", 4, 1},
                                             {"f16v4hiho", 4, 1},
                                             {"f16v4siho", 4, 1},
                                             {"f32siso", 1, 1},
                                             {"f32sisov2", 1, 2},
                                             {"f8v8hihov4", 8, 2}}) {
        CAPTURE(kind);
        CHECK(operations("matrix_steps", kind) == Approx(kUnits * kMultiplyAdds * inputs * sets));
    }
    for (const auto& [kind, numbers] : {std::pair{"f8v2", 2},
                                        {"f8v4", 4},
                                        {"f16", 1},
                                        {"f16v2", 2},
                                        {"f16v4", 4},
                                        {"f16v8", 8},
                                        {"f32", 1},
                                        {"f32v2", 2},
                                        {"f32v4", 4}}) {
        CAPTURE(kind);
        CHECK(operations("vector_operations", kind) == Approx(numbers));
    }
}

TEST_CASE("the roofline's ceilings meet where memory and matrix units take the same time",
          "[unit][sim]") {
    Json one = plain();
    const double clock = 1.5e9;
    const double tiles = 6;
    const auto set = [](int cycles, int loaded, int steps) {
        return Json{{"cycles", cycles},
                    {"counts",
                     {{"matrix_steps", {{"f32siso", steps}}},
                      {"memory_bytes", {{"loaded", loaded}, {"stored", 0}}}}}};
    };
    one["compute_sets"] = {set(10, 160, 1), set(10, 16, 16), set(0, 16, 1), set(10, 0, 1),
                           set(10, 16, 0)};
    for (const auto& [word, generation] :
         {std::pair{"ipu1", spec::Generation::Ipu1}, {"ipu2", spec::Generation::Ipu2}}) {
        for (const double steps : {0.5, 1.0, 2.0}) {
            one["machine"].update(
                {{"chip", {{"clock_hz", clock}, {"tiles", tiles}, {"generation", word}}},
                 {"amp", {{"steps_per_issue", steps}}}});
            spec::MachineSpec machine;
            machine.chip.generation = generation;
            machine.amp.steps_per_issue = steps;
            const spec::MatrixUnit unit = spec::matrix_unit(machine);
            const double most = 2.0 * static_cast<double>(unit.macs_f16_f16) * tiles * clock;
            const double ridge = 2.0 * static_cast<double>(unit.macs_f16_f16) /
                                 static_cast<double>(unit.memory_bytes);
            const Chart chart = chart_of("roofline", one);
            CHECK(chart.has_log_x);
            CHECK(chart.has_log_y);
            CHECK(chart.form == Form::Points);
            REQUIRE(names_of(chart) == Texts{"compute sets", "tile memory", "matrix units, FP16"});
            REQUIRE(chart.series[0].x.size() == 2); // those that compute and move something
            CHECK(chart.series[0].x[0] == Approx(0.1));
            CHECK(chart.series[0].x[1] == Approx(16));
            const Series& memory = chart.series[1];
            const Series& matrix = chart.series[2];
            CHECK(memory.has_line);
            CHECK(matrix.has_line);
            CHECK_FALSE(chart.series[0].has_line);
            CHECK(memory.x.at(0) == Approx(0.1 / 4)); // a quarter of the least of all
            CHECK(memory.y.at(0) ==
                  Approx(0.1 / 4 * static_cast<double>(unit.memory_bytes) * tiles * clock));
            CHECK(memory.x.at(1) == Approx(ridge));
            CHECK(memory.y.at(1) == Approx(most));
            CHECK(matrix.x.at(0) == Approx(ridge));
            CHECK(matrix.x.at(1) == Approx(16 * 4)); // four times the most
            CHECK(matrix.y == Numbers{most, most});
        }
    }
    one["compute_sets"] = {set(10, 16, 1)}; // on one side of the ridge alone
    CHECK(chart_of("roofline", one).series.at(2).x.at(1) >
          chart_of("roofline", one).series.at(2).x.at(0));
    one["compute_sets"] = {set(10, 16, 1000)};
    CHECK(chart_of("roofline", one).series.at(1).x.at(0) <
          chart_of("roofline", one).series.at(1).x.at(1));
    one["compute_sets"] = {set(0, 16, 1)};
    CHECK(chart_of("roofline", one).series.empty());
}

TEST_CASE("tiles of the six slowest steps stand in order of their cycles", "[unit][sim]") {
    test::Made made;
    made.header["tiles"] = 4;
    Json one = plain();
    for (int i = 0; i < 7; ++i) {
        one["exchanges"].push_back(step("e" + std::to_string(i), 100 + i));
        made.add_step("exchange", i, {{"cycles", made.add(Numbers{4, 3, 9.5, 100.0 + i})}});
    }
    one["streams"] = {step("not recorded", 500)};
    made.chip()["tiles_by_kind"] = {{"compute", made.add(std::vector<std::uint32_t>{1, 0, 2, 0})},
                                    {"exchange", 0},
                                    {"sync", 7},
                                    {"stream", 0},
                                    {"link", 0},
                                    {"idle", made.add(Numbers{0, 0, 0, 5})}};
    const auto recording = made.read();
    const Chart chart = plot::chart_of_result("balance", one, &recording);
    CHECK(names_of(chart) ==
          Texts{"e6", "e5", "e4", "e3", "e2"}); // and one of a kind that has no step
    CHECK(chart.series.at(0).x == Numbers{0, 1, 2, 3});
    CHECK(chart.series.at(0).y == Numbers{3, 4, 9.5, 106});
    CHECK(chart.series.at(4).y == Numbers{3, 4, 9.5, 102});
    const Chart tiles = plot::chart_of_result("tiles", one, &recording);
    CHECK(names_of(tiles) == Texts{"compute", "sync", "idle"});
    CHECK(tiles.series.at(0).x == Numbers{0, 1, 2, 3});
    CHECK(tiles.series.at(0).y == Numbers{1, 0, 2, 0});
    CHECK(tiles.series.at(1).y == Numbers{7, 7, 7, 7});
    CHECK(tiles.series.at(2).y == Numbers{0, 0, 0, 5});
}

TEST_CASE("a script of bars stacks the series, the first bar on top", "[unit][sim]") {
    Chart chart{
        "t's", "x", "y", Form::Bars, {"a", "b\"\\c"}, {{"one", {1, 2}, {}}, {"two", {3, 4.5}, {}}}};
    const std::string script = plot::script_of(chart, "svg");
    CHECK_THAT(script, Contains("set title 't''s'\n"));
    CHECK_THAT(
        script,
        Contains("$data << END_OF_DATA\n2 \"a\" 0 1 1 4\n1 \"b''c\" 0 2 2 6.5\nEND_OF_DATA\n"));
    CHECK_THAT(script,
               Contains(fmt::format("set yrange [0.3:2.7]\nset xrange [0:{}]\n", 1.05 * 6.5)));
    CHECK_THAT(
        script,
        Contains(
            "plot $data using 3:1:3:4:($1-0.36):($1+0.36):ytic(2) with boxxyerror fs solid "
            "noborder lc rgb '#0072B2' title 'one', $data using 5:1:5:6:($1-0.36):($1+0.36) with "
            "boxxyerror fs solid noborder lc rgb '#E69F00' title 'two'\n"));
    CHECK_THAT(script, Contains("set grid x lc"));
    CHECK_THAT(script, !Contains("logscale"));
    chart.series.pop_back();
    CHECK_THAT(plot::script_of(chart, "svg"),
               Contains("title ''\n")); // a single series needs no key
    chart.series[0].x = {0, 0};
    CHECK_THAT(plot::script_of(chart, "svg"), Contains("set xrange [0:1]\n"));
    // names leave room for bars
    chart.labels = {std::string(44, 'l'), std::string(45, 'm')};
    CHECK_THAT(plot::script_of(chart, "svg"), Contains("\"" + std::string(44, 'l') + "\""));
    CHECK_THAT(plot::script_of(chart, "svg"), Contains("\"" + std::string(41, 'm') + "...\""));
}

TEST_CASE("a picture is as high as its bars need", "[unit][sim]") {
    Chart chart{"t", "x", "y", Form::Bars, {}, {{"", {}, {}}}};
    const auto size = [&] {
        const std::string script = plot::script_of(chart, "svg");
        const std::size_t begin = script.find("size ") + 5;
        return script.substr(begin, script.find(' ', begin) - begin);
    };
    CHECK(size() == "800,460");
    CHECK_THAT(plot::script_of(chart, "svg"), Contains("there is nothing to show"));
    for (const std::size_t bars : {1, 2, 20}) {
        chart.labels.assign(bars, "l");
        chart.series[0].x.assign(bars, 1.0);
        CHECK(size() == fmt::format("800,{}", bars == 1 ? 200 : 160 + 26 * bars));
    }
    CHECK_THAT(plot::script_of(chart, "pdfcairo"),
               Contains("set terminal pdfcairo noenhanced size 8in,6.8in "));
    chart.form = Form::Lines; // labels are of bars alone
    chart.series[0] = {"l", {1}, {1}};
    CHECK(size() == "800,460");
}

TEST_CASE("a script of curves leaves out what is not finite", "[unit][sim]") {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    constexpr double kFar = std::numeric_limits<double>::infinity();
    Chart chart{"t", "x",
                "y", Form::Points,
                {},  {{"p", {1, kNone, 3, 4}, {5, 6, kFar, 8}}, {"f", {1}, {2}, true}}};
    const std::string points = plot::script_of(chart, "svg");
    CHECK_THAT(points, Contains("$data0 << END_OF_DATA\n1 5\n4 8\nEND_OF_DATA\n$data1 << "
                                "END_OF_DATA\n1 2\nEND_OF_DATA\n"));
    CHECK_THAT(
        points,
        Contains("set yrange [0:*]\nplot $data0 using 1:2 with points pt 7 ps 0.6 lc rgb '#0072B2' "
                 "title 'p', "
                 "$data1 using 1:2 with linespoints lw 2 pt 6 lc rgb '#E69F00' title 'f'\n"));
    CHECK_THAT(points, Contains("set grid x y lc"));
    chart.form = Form::Lines;
    chart.has_log_x = true;
    const std::string lines = plot::script_of(chart, "svg");
    CHECK_THAT(lines, Contains("$data1 using 1:2 with lines lw 2 lc"));
    CHECK_THAT(lines,
               Contains("set logscale x\n") && !Contains("logscale y") && Contains("yrange [0:*]"));
    chart.has_log_x = false;
    chart.has_log_y = true; // which has no 0
    CHECK_THAT(plot::script_of(chart, "svg"),
               Contains("set logscale y\n") && !Contains("logscale x") && !Contains("yrange"));
    // of nine series the last has the first one's colour again
    chart.series.assign(9, {"s", {1}, {2}});
    const std::string nine = plot::script_of(chart, "svg");
    const std::size_t first = nine.find("#0072B2");
    CHECK(nine.find("#0072B2", first + 1) > nine.find("#000000"));
    CHECK(nine.find("#0072B2", first + 1) != std::string::npos);
    chart.series = {{"none", {}, {}}, {"some", {1}, {1}}};
    CHECK_THAT(plot::script_of(chart, "svg"), !Contains("there is nothing to show"));
    chart.series.pop_back();
    CHECK_THAT(plot::script_of(chart, "svg"), Contains("there is nothing to show"));
}

namespace {

/// A store whose points were asked for one by one, and what is good of them.
struct Store {
    explicit Store(const Json& objectives) {
        static_cast<void>(scratch.write("s/sweeps/s-1.json", Json{{"schema_version", 1},
                                                                  {"machine", "tiny"},
                                                                  {"workload", "tiny_matmul"},
                                                                  {"objectives", objectives}}
                                                                 .dump()));
        static_cast<void>(
            scratch.write("s/sweeps/s-1/places.json", R"({"places": {}, "is_asked": true})"));
    }
    void add(const Json& changes, const Json& result) {
        Json line{{"key", fmt::format("{:064x}", ++points)},
                  {"status", result.is_null() ? "crash" : "ok"},
                  {"machine", "tiny"},
                  {"workload", "tiny_matmul"},
                  {"mode", "timing"},
                  {"changes", changes}};
        if (!result.is_null()) {
            line["result"] = result;
        }
        lines += line.dump() + "\n";
        static_cast<void>(scratch.write("s/x.jsonl", lines));
    }
    [[nodiscard]] Chart chart(const char* name) const {
        return plot::chart_of_store(name, scratch.path("s"));
    }

    test::ScratchFolder scratch;
    std::string lines;
    int points = 0;
};

} // namespace

TEST_CASE("a store's points and front stand in its first two objectives", "[unit][sim]") {
    Store store(
        {{{"path", "cycles"}}, {{"path", "tiles_busy"}, {"goal", "max"}}, {{"path", "seconds"}}});
    const auto add = [&](int workers, double cycles, int busy, double seconds) {
        store.add({{"tile.workers", workers}},
                  {{"cycles", cycles}, {"tiles_busy", busy}, {"seconds", seconds}});
    };
    add(1, 100, 4, 9);
    add(2, 50, 2, 8);
    add(3, 60, 1, 1); // the best in the third alone
    store.add({{"tile.workers", 4}}, {});
    const Chart chart = store.chart("scatter");
    CHECK(chart.title == "points of " + store.scratch.path("s"));
    CHECK(chart.x_label == "cycles");
    CHECK(chart.y_label == "tiles_busy");
    CHECK(chart.form == Form::Points);
    REQUIRE(names_of(chart) == Texts{"points", "front"});
    CHECK(chart.series[0].x == Numbers{100, 50, 60});
    CHECK(chart.series[0].y == Numbers{4, 2, 1});
    CHECK_FALSE(chart.series[0].has_line);
    CHECK(chart.series[1].x == Numbers{50, 100});
    CHECK(chart.series[1].y == Numbers{2, 4});
    CHECK(chart.series[1].has_line);
    Store one(Json::array({{{"path", "cycles"}}}));
    one.add({}, {{"cycles", 1}});
    CHECK_THROWS_WITH(one.chart("scatter"),
                      "plot: the sweep has one objective, and 'scatter' shows two");
}

TEST_CASE("bars of sensitivity are what paths do to the first objective, twenty at most",
          "[unit][sim]") {
    Store store({{{"path", "cycles"}}, {{"path", "seconds"}}});
    store.add({{"a", 1}, {"b", "x"}}, {{"cycles", 100}, {"seconds", 1}});
    store.add({{"a", 2}, {"b", "x"}}, {{"cycles", 400}, {"seconds", 2}});
    store.add({{"a", 1}, {"b", "y"}}, {{"cycles", 200}, {"seconds", 9}});
    store.add({{"a", 2}, {"b", "y"}}, {{"cycles", 800}, {"seconds", 90}});
    const Chart chart = store.chart("sensitivity");
    CHECK(chart.title == store.scratch.path("s") + ": what cycles hangs on");
    CHECK(chart.x_label == "largest over smallest mean, less 1");
    CHECK(chart.form == Form::Bars);
    CHECK(chart.labels == Texts{"a", "b"});
    REQUIRE(chart.series.size() == 1);
    CHECK(chart.series[0].x == Numbers{4 - 1, 2 - 1});
    Store many(Json::array({{{"path", "cycles"}}}));
    many.add(Json::object(), {{"cycles", 10}});
    for (int i = 0; i < 21; ++i) {
        CHECK(many.chart("sensitivity").labels.size() == static_cast<std::size_t>(std::min(i, 20)));
        many.add({{"path" + std::to_string(i), 1}}, {{"cycles", 20 + i}});
    }
    CHECK(many.chart("sensitivity").labels.size() == 20);
}

namespace {

/// A program called gnuplot that runs a script of the shell, for a while.
class Gnuplot {
public:
    explicit Gnuplot(const std::string& script) : path_(std::getenv("PATH")) {
        const std::string file = scratch_.write("gnuplot", "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
        setenv("PATH", (scratch_.path() + ":" + path_).c_str(), 1);
    }
    ~Gnuplot() { setenv("PATH", path_.c_str(), 1); }
    Gnuplot(const Gnuplot&) = delete;
    Gnuplot& operator=(const Gnuplot&) = delete;

private:
    test::ScratchFolder scratch_;
    std::string path_;
};

std::string refusal(const std::string& what, const std::string& chart, const std::string& output) {
    try {
        static_cast<void>(plot::plot_command({what, chart, output}));
        return "drawn";
    } catch (const std::exception& error) {
        return error.what();
    }
}

} // namespace

TEST_CASE("what gnuplot makes of a chart's script is the picture", "[unit][sim]") {
    test::Made made;
    made.header["tiles"] = 2;
    made.chip()["tiles_by_kind"]["compute"] = made.add(std::vector<std::uint32_t>{3, 4});
    for (const char* const kind : {"exchange", "sync", "stream", "link", "idle"}) {
        made.chip()["tiles_by_kind"][kind] = 0;
    }
    static_cast<void>(made.written());
    Json result = plain();
    result["explanation"] = {{"work", {{"cycles", 5}}}};
    static_cast<void>(made.scratch.write("result.json", result.dump()));
    const std::string folder = made.scratch.path();
    const std::string file = made.scratch.path("result.json");
    const Gnuplot echo("exec cat");
    for (const auto& [ending, terminal] : {std::pair{"svg", "svg"}, {"pdf", "pdfcairo"}}) {
        for (const std::string& what : {folder, file}) {
            const std::string output = made.scratch.path(std::string("f.") + ending);
            CHECK(refusal(what, "phases", output) == "drawn");
            CHECK(test::read_text(output) == plot::script_of(chart_of("phases", result), terminal));
        }
    }
    const std::string output = made.scratch.path("f.svg");
    const recording::Recording recording(made.scratch.path(recording::kFile));
    CHECK(refusal(folder, "tiles", output) == "drawn");
    CHECK(test::read_text(output) ==
          plot::script_of(plot::chart_of_result("tiles", result, &recording), "svg"));
    CHECK(refusal(file, "tiles", output) ==
          "plot: the chart 'tiles' needs a recording: give a folder of `tessera run --out`, not a "
          "file");
    CHECK(refusal(folder, "", output) == "plot: expected --chart");
    CHECK(refusal(folder, "phases", "") == "plot: expected --output");
    for (const std::string wrong : {"f.png", "svg", "f.svg.txt", "f.SVG", ".pdf"}) {
        CHECK(refusal(folder, "phases", wrong) ==
              "plot: --output: got '" + wrong + "', expected FILE.svg or FILE.pdf");
    }
    made.header["cycles"] = 1;
    static_cast<void>(made.written());
    CHECK(refusal(folder, "tiles", output) == "'" + made.scratch.path(recording::kFile) +
                                                  "' is of another run than the result beside it");
    CHECK(refusal(folder, "phases", output) == "drawn"); // which shows no single tiles
    std::filesystem::remove(made.scratch.path(recording::kFile));
    CHECK_THAT(refusal(folder, "tiles", output), Contains("needs a recording"));
}

TEST_CASE("a picture that gnuplot cannot make is told with what it says", "[unit][sim]") {
    const test::ScratchFolder scratch;
    Json result = plain();
    result["explanation"] = {{"work", {{"cycles", 5}}}};
    const std::string file = scratch.write("result.json", result.dump());
    const std::string output = scratch.write("f.svg", "before");
    for (const auto& [script, why] :
         {std::pair{"cat; echo no >&2; exit 1", "plot: gnuplot failed: no\n"},
          {"echo nothing >&2", "plot: gnuplot failed: nothing\n"},
          {"exit 127", "plot: there is no gnuplot here, which draws the charts: install the "
                       "package gnuplot-nox, or use `tessera report`"}}) {
        const Gnuplot fails(script);
        CHECK(refusal(file, "phases", output) == why);
        CHECK(test::read_text(output) == "before");
    }
}
