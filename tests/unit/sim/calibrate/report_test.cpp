// SPDX-License-Identifier: MIT
#include "sim/calibrate/report.h"
#include "sim/result.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include <filesystem>
#include <fstream>
#include <string>

using namespace tessera::sim::calibrate;
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
    CHECK(outcomes[0].nearness.error_most == Approx(0.1));
    CHECK(outcomes[0].failed == 1);
    CHECK_FALSE(outcomes[0].reached());
    calibration.rows.erase(calibration.rows.begin() + 2);
    CHECK(group_outcomes(calibration)[0].reached());
}

TEST_CASE("a row that a parameter was taken from is shown and not judged") {
    auto calibration = scene();
    calibration.rows.erase(calibration.rows.begin() + 2);
    const std::string id = "JIA-T4.19-00";
    REQUIRE_FALSE(calibrated_parameter(id).empty());
    REQUIRE(calibrated_parameter("JIA-T4.19-0").empty());
    Reference reference;
    add_rows(reference,
             parse_csv("id,machine,workload,metric,value,unit\n" + id + ",gc2,x,latency,1,us\n",
                       "rows.csv"));
    calibration.rows.push_back({reference.rows[0], calibration.rows[0].mapped, 50.0, ""});
    const auto& row = calibration.rows.back();
    CHECK(row.use() == "calibrated");
    CHECK(row.note() == calibrated_parameter(id) + " was taken from this row");
    CHECK(calibration.rows.front().use() == "judged");
    const auto outcome = group_outcomes(calibration).at(0);
    CHECK(outcome.nearness.rows == 2);
    CHECK(outcome.nearness.error_most == Approx(0.1)); // not 49
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
    CHECK(compared == 4 * 12);
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
    CHECK(text == tessera::sim::json_text(calibration_schema()));
}
