// SPDX-License-Identifier: MIT
// The table of runs, kernels and steps: which lines there are, and that each cell is the result's own
// value.
#include "sim/result/result.h"
#include "sim/run/results_csv.h"
#include "sim/run/several.h"
#include "tests/unit/sim/scene.h"

#include <catch2/catch.hpp>

#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;
using nlohmann::json;

namespace {

using Line = std::map<std::string, std::string>;

/// Cells of a text without quoted line ends.
std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells{""};
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            cells.emplace_back();
        } else {
            cells.back() += c;
        }
    }
    return cells;
}

std::vector<Line> lines_of(const std::string& text) {
    std::istringstream in(text);
    std::string line;
    std::vector<std::string> head;
    std::vector<Line> lines;
    while (std::getline(in, line)) {
        REQUIRE(line.back() == '\r');
        const auto cells = cells_of(line.substr(0, line.size() - 1));
        if (head.empty()) {
            head = cells;
            continue;
        }
        REQUIRE(cells.size() == head.size());
        Line& one = lines.emplace_back();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            one[head[i]] = cells[i];
        }
        REQUIRE(one.size() == head.size()); // no column twice
        REQUIRE(one.count("") == 0);        // nor without a name
    }
    return lines;
}

/// Values of an object by their paths, as a line has them.
void check_cells(const Line& line, const std::string& prefix, const json& object) {
    for (const auto& [key, value] : object.items()) {
        CAPTURE(prefix + key);
        if (value.is_object()) {
            check_cells(line, prefix + key + ".", value);
        } else if (value.is_number()) {
            CHECK(std::stod(line.at(prefix + key)) == value.get<double>());
        } else if (value.is_string()) {
            CHECK(line.at(prefix + key) == value.get<std::string>());
        }
    }
}

} // namespace

TEST_CASE("a table has a line for each run, kernel and step, with the values of the result") {
    test::Scene scene;
    const json result = scene.result();
    const auto lines = lines_of(run::results_csv({result}));
    std::map<std::string, std::vector<Line>> parts;
    for (const Line& line : lines) {
        CHECK(line.at("status") == "ok");
        CHECK(line.at("machine") == result["machine"]["name"]);
        CHECK(line.at("workload") == result["workload"]["name"]);
        CHECK(line.at("mode") == "functional");
        CHECK(line.at("model") == std::to_string(result::kModelVersion));
        parts[line.at("part") + line.at("kind")].push_back(line);
    }
    REQUIRE(parts["run"].size() == 1);
    CHECK(lines.front().at("part") == "run");
    check_cells(parts["run"].front(), "phases.", result["phases"]);
    check_cells(parts["run"].front(), "explanation.", result["explanation"]);
    check_cells(parts["run"].front(), "", {{"cycles", result["cycles"]}});

    REQUIRE(parts["kernel"].size() == result["kernels"].size());
    double cycles = 0;
    for (std::size_t i = 0; i < parts["kernel"].size(); ++i) {
        const Line& line = parts["kernel"][i];
        CHECK(line.at("name") == result["kernels"][i]["name"]);
        for (const auto& [kind, all] : result["phases"].items()) {
            CHECK(std::stod(line.at("phases." + kind)) == result["kernels"][i][kind]);
            CHECK(line.count(kind) == 0);
        }
        cycles += std::stod(line.at("cycles"));
    }
    CHECK(cycles == result["cycles"]);

    std::size_t steps = 0;
    for (const auto& [list, kind] :
         {std::pair{"compute_sets", "compute"}, {"exchanges", "exchange"}, {"streams", "stream"}}) {
        const auto& of_kind = parts[std::string("step") + kind];
        REQUIRE(of_kind.size() == result[list].size());
        for (std::size_t i = 0; i < of_kind.size(); ++i) {
            check_cells(of_kind[i], "", result[list][i]);
        }
        steps += of_kind.size();
    }
    REQUIRE(steps > 0);
    CHECK(lines.size() == 1 + result["kernels"].size() + steps);
}

TEST_CASE("a table names the mode of each run, and says why one has no result") {
    test::Scene scene;
    json timed = scene.result();
    timed["timing"] = {{"phases", 3}};
    json estimated = timed;
    estimated["mode"] = "estimate";
    for (const char* list : {"kernels", "compute_sets", "exchanges", "streams"}) {
        estimated.erase(list);
    }
    const std::string why = "does not fit, \"here\"";
    const auto lines =
        lines_of(run::results_csv({run::failed_result("w", "m", {4, why}), estimated, timed}));
    REQUIRE(lines.size() > 3);
    CHECK(lines[0].at("status") == "failed");
    CHECK(lines[0].at("machine") == "m");
    CHECK(lines[0].at("workload") == "w");
    CHECK(lines[0].at("exit_code") == "4");
    CHECK(lines[0].at("message") == "does not fit, here"); // as cells_of reads doubled quotes
    CHECK(lines[0].at("cycles").empty());
    CHECK(lines[1].at("mode") == "estimate");
    CHECK(lines[2].at("part") == "run");
    CHECK(lines[2].at("mode") == "timing");
    CHECK(run::results_csv({run::failed_result("w", "m", {4, why})})
              .find("\"does not fit, \"\"here\"\"\"") != std::string::npos);
}
