// SPDX-License-Identifier: MIT
#include "sim/calibrate/report.h"
#include "sim/result/result.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

using namespace tessera;
using namespace tessera::calibrate;
using nlohmann::json;

namespace {

bool schema_accepts(const json& document) {
    valijson::Schema schema;
    const json text = calibration_schema();
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter{text}, schema);
    valijson::Validator validator;
    return validator.validate(schema, valijson::adapters::NlohmannJsonAdapter{document}, nullptr);
}

/// Two judged rows, one whose run failed and one that nothing covers.
Calibration scene() {
    Reference reference;
    add_rows(reference,
             parse_csv("id,machine,workload,metric,value,unit\na,gc2,\"x, y\",latency,100,us\n"
                       "b,gc2,x,latency,200,us\nc,gc2,x,latency,1,us\nd,gc2,x,other,none,?\n",
                       "rows.csv"));
    Measurement measurement;
    measurement.group = "host";
    measurement.timed = "all";
    measurement.runs = {{"gc2", {}, {{"kind", "sync"}}}};
    Calibration calibration;
    calibration.rows = {{reference.rows[0], measurement, 110.0, ""},
                        {reference.rows[1], measurement, 180.0, ""},
                        {reference.rows[2], measurement, {}, "it broke"},
                        {reference.rows[3], NotCovered{"nobody runs it"}, {}, ""}};
    calibration.other_files = {{"z.csv", "no column 'id'", 7}};
    return calibration;
}

} // namespace

TEST_CASE("groups are judged by the rows that ran, and a failed run misses the target") {
    auto calibration = scene();
    const auto outcomes = group_outcomes(calibration);
    REQUIRE(outcomes.size() == 1);
    CHECK(outcomes[0].nearness.rows == 2);
    CHECK(outcomes[0].nearness.error_most == Approx(1 / 0.9 - 1));
    CHECK(outcomes[0].failed == 1);
    CHECK_FALSE(outcomes[0].reached());
    calibration.rows.erase(calibration.rows.begin() + 2);
    CHECK(group_outcomes(calibration)[0].reached());
}

TEST_CASE("a row that a parameter was taken from is shown and not judged") {
    auto calibration = scene();
    calibration.rows.erase(calibration.rows.begin() + 2);
    Reference reference;
    add_rows(reference, parse_csv("id,machine,workload,metric,value,unit,calibrates\n"
                                  "x,gc2,x,latency,1,us,the latency\n",
                                  "rows.csv"));
    calibration.rows.push_back({reference.rows[0], calibration.rows[0].mapped, 50.0, ""});
    const auto& row = calibration.rows.back();
    CHECK(row.use() == "calibrated");
    CHECK(row.note() == "the latency was taken from this row");
    CHECK(calibration.rows.front().use() == "judged");
    const auto outcome = group_outcomes(calibration).at(0);
    CHECK(outcome.nearness.rows == 2);
    CHECK(outcome.nearness.error_most == Approx(1 / 0.9 - 1)); // not 49
    CHECK(outcome.failed == 0);
    CHECK(outcome.reached());
    CHECK(calibration_text(calibration, {.columns = 400, .color = false}).find(row.note()) !=
          std::string::npos);
}

TEST_CASE("text, JSON and CSV tell each row, also those without a figure") {
    const auto calibration = scene();
    const auto text = calibration_text(calibration);
    CAPTURE(text);
    CHECK(text.find("it broke") != std::string::npos);
    CHECK(text.find("1  nobody runs it: d") != std::string::npos);
    CHECK(text.find("7  no column 'id': z.csv") != std::string::npos);
    CHECK(text.find("each 25 %: MISSED, 1 failed") != std::string::npos);

    const auto table = parse_csv(calibration_csv(calibration), "out.csv");
    CHECK(table.rows.size() == calibration.rows.size());

    const auto document = calibration_json(calibration);
    CHECK(document["rows"][0]["ratio"].get<double>() == Approx(1.1));
    CHECK(document["rows"][2]["use"] == "failed");
    CHECK(document["rows"][3]["use"] == "not covered");
    CHECK(schema_accepts(document));
    auto extra = document;
    extra["rows"][0]["surprise"] = 1;
    CHECK_FALSE(schema_accepts(extra));
}

TEST_CASE("a column of CSV says what JSON says of the row by that name") {
    const auto calibration = scene();
    const auto table = parse_csv(calibration_csv(calibration), "out.csv");
    const auto document = calibration_json(calibration);
    REQUIRE(table.rows.size() == document["rows"].size());
    int compared = 0;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const json& row = document["rows"][i];
        REQUIRE(table.rows[i].size() == table.heading.size());
        for (std::size_t column = 0; column < table.heading.size(); ++column) {
            const std::string& name = table.heading[column];
            const std::string& cell = table.rows[i][column].text;
            CAPTURE(i, name, cell);
            if (name == "measured") {
                CHECK(cell == calibration.rows[i].row.text("value"));
            } else if (!row.contains(name)) {
                CHECK(cell.empty());
            } else if (row[name].is_string()) {
                CHECK(cell == row[name].get<std::string>());
            } else {
                CHECK(std::stod(cell) == row[name].get<double>());
            }
            ++compared;
        }
    }
    CHECK(compared == 4 * 14);
}

TEST_CASE("a row of JSON has what the row, its measurement and its run say") {
    const json rows = calibration_json(scene())["rows"];
    REQUIRE(rows.size() == 4);
    const json& run = rows[0];
    CHECK(run["id"] == "a");
    CHECK(run["machine"] == "gc2");
    CHECK(run["workload"] == "x, y");
    CHECK(run["metric"] == "latency");
    CHECK(run["unit"] == "us");
    CHECK(run["measured"] == 100);
    CHECK(run["simulated"] == 110);
    CHECK(run["group"] == "host");
    CHECK(run["timed"] == "all");
    CHECK(run["runs"] == json::parse(R"([{"machine": "gc2", "machine_sets": [],
                                          "workload": {"kind": "sync"}}])"));
    CHECK(rows[2]["note"] == "it broke");
    CHECK_FALSE(rows[2].contains("simulated"));
    CHECK(rows[3]["note"] == "nobody runs it");
    CHECK_FALSE(rows[3].contains("group"));
}

TEST_CASE("the checked in schema of calibrations is the one the program writes") {
    std::ifstream file(tessera::test::source_path("configs/schemas/calibration.schema.json"));
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    CHECK(text == result::json_text(calibration_schema()));
}

TEST_CASE("the whole text: rows by group, how near the groups are, and what is not covered") {
    Reference reference;
    std::string table = "id,machine,workload,metric,value,unit\n";
    for (const std::string id : {"a", "long-id", "c", "d", "e", "f", "g", "h", "i"}) {
        table += id + ",gc2,x,latency,2," + (id == "c" ? "cycles" : "us") + "\n";
    }
    add_rows(reference, parse_csv(table, "rows.csv"));
    const auto measurement = [](const char* group, const char* assumed) {
        Measurement made;
        made.group = group;
        made.assumed = assumed;
        return made;
    };
    const auto& rows = reference.rows;
    Calibration calibration;
    calibration.rows = {{rows[0], measurement("host", "so much"), 2.5, ""},
                        {rows[1], measurement("STREAM", ""), 2.0, ""},
                        {rows[2], measurement("host", ""), 2.4, ""},
                        {rows[3], measurement("reduction", ""), {}, "it broke"},
                        {rows[4], measurement("sync", ""), 3.0, ""},
                        {rows[5], NotCovered{"few"}, {}, ""},
                        {rows[6], NotCovered{"few"}, {}, ""},
                        {rows[7], NotCovered{"few"}, {}, ""}};
    const std::string lines = R"(row      unit     measured  simulated   ratio

STREAM
long-id  us              2          2   1.000

reduction
d        us              2     failed       -  it broke

sync
e        us              2          3   1.500

host
a        us              2        2.5   1.250  assumed: so much
c        cycles          2        2.4   1.200
)";
    CHECK(calibration_text(calibration, {.columns = 100, .color = false}).find(lines) == 0);
    const auto text = [&] {
        return calibration_text(calibration, {.columns = 200, .color = false});
    };
    CAPTURE(text());
    const auto has = [&](const char* line) { return text().find(line) != std::string::npos; };
    CHECK(has("\nSTREAM *        1  1.000   0.0 %   0.0 %   0.0 %  each 3 %: reached\n"));
    CHECK(has("\nreduction *     0      -       -       -       -  mean 10 %, p90 25 %: MISSED, 1 "
              "failed\n"));
    CHECK(has("\nsync =          1  1.500  50.0 %  50.0 %  50.0 %  each 25 %: MISSED\n"));
    CHECK(has("\nhost =          2  1.225  22.5 %  25.0 %  25.0 %  each 25 %: reached\n"));
    CHECK(has("\nnot covered\n  3  few: f, g, h\n"));
    calibration.rows.push_back({rows[8], NotCovered{"few"}, {}, ""});
    CHECK(has("\nnot covered\n  4  few: f, g, h, ...\n"));
    calibration.rows.resize(5, calibration.rows.front());
    CHECK_FALSE(has("not covered"));
    calibration.rows[0].simulated = 2.51;
    CHECK(has("25.5 %  25.5 %  each 25 %: MISSED\n"));

    // a group whose only row gave a parameter its value is not judged
    add_rows(reference, parse_csv("id,machine,workload,metric,value,unit,calibrates\n"
                                  "j,gc2,x,latency,2,us,the latency\n",
                                  "more.csv"));
    calibration.rows = {{reference.rows.back(), measurement("host", ""), 2.0, ""}};
    CHECK(has("each 25 %: no row judged\n"));
    CHECK_FALSE(group_outcomes(calibration).at(0).reached());
}

TEST_CASE("verdicts have their colors") {
    auto calibration = scene();
    const Layout colored{.columns = 200, .color = true};
    const auto painted_as = [&](const char* word, Paint paint) {
        return calibration_text(calibration, colored).find(painted(colored, paint, word)) !=
               std::string::npos;
    };
    CHECK(painted_as("MISSED", Paint::Bad));
    CHECK(painted_as("host", Paint::Head));
    CHECK(painted_as("not covered", Paint::Head));
    calibration.rows.erase(calibration.rows.begin() + 2);
    CHECK(painted_as("reached", Paint::Good));
}

TEST_CASE("JSON tells of a group what was asked of it and what it came to") {
    auto calibration = scene();
    const json group = calibration_json(calibration)["groups"].at(0);
    CHECK(group["name"] == "host");
    CHECK(group["rows"] == 2);
    CHECK(group["failed"] == 1);
    CHECK(group["ratio_mean"].get<double>() == Approx(std::sqrt(1.1 * 0.9)));
    CHECK(group["error_mean"].get<double>() == Approx(std::sqrt(1.1 / 0.9) - 1));
    CHECK(group["error_p90"].get<double>() == Approx(1 / 0.9 - 1));
    CHECK(group["error_most"].get<double>() == Approx(1 / 0.9 - 1));
    CHECK(group["target"] == json{{"error_most", 0.25}});
    CHECK(group["reached"] == false);
    CHECK(group["read_from_rows"] == false);
    CHECK(group["timing_chosen"] == false);
    CHECK(group["mostly_constant"] == true);
    CHECK(group["not_modelled"] == 0);
    CHECK(group.size() == 13); // and nothing that only kernels have
    CHECK(calibration_json(calibration)["other_files"] ==
          json::parse(R"([{"file": "z.csv", "reason": "no column 'id'", "rows": 7}])"));
    auto measurement = std::get<Measurement>(calibration.rows[0].mapped);
    measurement.group = "exchange: gather";
    calibration.rows.resize(1, calibration.rows[0]);
    calibration.rows[0].mapped = measurement;
    calibration.rows[0].simulated = 105.0;
    const json exchange = calibration_json(calibration)["groups"].at(0);
    CHECK(exchange["target"] == json{{"error_mean", 0.1}, {"error_p90", 0.25}});
    CHECK(exchange["reached"] == true);
}
