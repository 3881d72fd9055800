// SPDX-License-Identifier: MIT
// What cells hold: words, numbers, counts, machines.
#include "sim/calibrate/machine_text.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace tessera;
using namespace tessera::calibrate;
using namespace tessera::test;

namespace {

/// What `read` says of a row whose column `held` has `cell`, or why it refuses it.
template <class Read> std::string of_cell(const std::string& cell, const Read& read) {
    try {
        const auto value = read(row_of({{"held", cell}}));
        return value ? std::to_string(*value) : "nothing";
    } catch (const ConfigError& error) {
        return error.diagnostics().front().text();
    }
}

} // namespace

TEST_CASE("a cell says words, capitals apart") {
    const auto row = row_of({{"held", "Az zA @[`{ 19"}});
    for (const std::string word : {"az", "AZ", "aZ", "za", "@[`{", "19", ""}) {
        CHECK(row.says("held", {word}));
    }
    CHECK(row.says("held", {"ZA", "az"}));
    for (const std::string word : {"azz", "`[`{", "@{`{", "@[@{", "@[`["}) {
        CHECK_FALSE(row.says("held", {word}));
    }
    CHECK_FALSE(row.says("held", {"az", "b"}));
    CHECK_FALSE(row.says("absent", {"az"}));
    CHECK(row.text("absent").empty());
}

TEST_CASE("a number is all of its cell and of this world") {
    const auto number = [](const std::string& cell) {
        return of_cell(cell, [](const ReferenceRow& row) { return row.number("held"); });
    };
    CHECK(number("") == "nothing");
    CHECK(number("-2.5") == "-2.500000");
    CHECK(number("1e3") == "1000.000000");
    for (const std::string wrong : {"1x", "x1", "inf", "-inf", "nan", "1e999", "1 2", "-"}) {
        CHECK(number(wrong) == "rows.csv:2:34: held: got '" + wrong + "', expected a number");
    }
}

TEST_CASE("a count is a whole number from one on") {
    const auto count = [](const std::string& cell) {
        return of_cell(cell, [](const ReferenceRow& row) { return row.count("held"); });
    };
    CHECK(count("") == "nothing");
    CHECK(count("1") == "1");
    CHECK(count("2e3") == "2000");
    CHECK(count("1000000000000000") == "1000000000000000");
    for (const std::string wrong : {"0", "-1", "0.5", "1.5", "2.999", "1000000000000001"}) {
        CHECK(count(wrong) == "rows.csv:2:34: held: got " + wrong +
                                  ", expected a whole number of at least 1 (to 1e+15)");
    }
}

TEST_CASE("a figure is above zero and of this world") {
    const auto value = [](const std::string& cell) -> std::string {
        try {
            const double held = row_of({{"value", cell}}).value();
            return held == std::stod(cell) ? "taken" : "other";
        } catch (const ConfigError& error) {
            return error.diagnostics().front().text();
        }
    };
    for (const std::string taken : {"1e-15", "2.5", "1e15"}) {
        CHECK(value(taken) == "taken");
    }
    for (const std::string wrong : {"9.9e-16", "0", "-1", "1.0000001e15", ""}) {
        CHECK(value(wrong) == "rows.csv:2:25: value: got '" + wrong +
                                  "', expected a number above 0 (1e-15..1e+15)");
    }
}

TEST_CASE("a mistake in a column that is not there is told at the row's id") {
    const auto row = row_of({});
    CHECK(row.error("tiles", "wrong").diagnostics().front().text() == "rows.csv:2:1: tiles: wrong");
    CHECK(row.error("workload", "wrong").diagnostics().front().text() ==
          "rows.csv:2:12: workload: wrong");
}

TEST_CASE("a machine is the first word, with the tiles and the clock of the text") {
    const std::vector<std::string> machines{"gc2", "tile"};
    const auto read = [&](const std::string& text) -> std::string {
        try {
            const auto machine = machine_of(row_of({{"machine", text}}), machines);
            if (const auto* none = std::get_if<NotCovered>(&machine)) {
                return none->reason;
            }
            std::string all = std::get<NamedMachine>(machine).name;
            for (const auto& set : std::get<NamedMachine>(machine).sets) {
                all += " " + set;
            }
            return all;
        } catch (const ConfigError& error) {
            return error.diagnostics().front().message;
        }
    };
    CHECK(read("GC2") == "gc2");
    CHECK(read("gC2-rest") == "gc2");
    CHECK(read("GC2 12 tiles 3 GHz") == "gc2 chip.tiles=12 chip.clock_hz=3e9");
    CHECK(read("GC2 (.5 GHz)") == "gc2 chip.clock_hz=.5e9");
    CHECK(read("GC2 5 MHz, 4tiles") == "gc2 chip.tiles=4 chip.clock_hz=5e6");
    CHECK(read("GC2 7") == "gc2");
    CHECK(read("tile 5") == "tile"); // nothing stands before the word
    CHECK(read("GC2 all tiles of 16") == "gc2");
    CHECK(read("16 tiles") == "machine '16 tiles'");
    CHECK(read("") == "machine ''");
    for (const std::string wrong : {"+5", "1e3", "5-", "1,2", "-", "0x5"}) {
        CHECK(read("GC2 (" + wrong + " tiles)") == "got '" + wrong +
                                                       "' before 'tile', expected a number such "
                                                       "as 1216 or 1.6");
    }
    CHECK(read("GC2 (,5 tiles)") == "gc2"); // does not look like a number
}

TEST_CASE("several chips are told by their number, by the machine and by the topology") {
    const auto several = [](const char* column, const char* cell) {
        return says_several_chips(row_of({{column, cell}}));
    };
    CHECK_FALSE(several("ipus", "1"));
    CHECK_FALSE(several("ipus", ""));
    CHECK(several("ipus", "2"));
    CHECK(several("ipus", "3"));
    CHECK_FALSE(several("topology", "on-chip"));
    CHECK(several("topology", "IPU-Link"));
}

TEST_CASE("a folder's mistakes are told together, and files of another form beside its rows") {
    const std::string heading = "id,machine,workload,metric,value,unit\n";
    const std::string row = ",gc2,x,latency,1,us\n";
    const auto mistakes = [](const ScratchFolder& folder) {
        std::vector<std::string> told;
        try {
            static_cast<void>(read_reference(folder.path()));
        } catch (const ConfigError& error) {
            for (const auto& one : error.diagnostics()) {
                told.push_back(one.text().substr(one.text().rfind('/') + 1));
            }
        }
        return told;
    };
    using Told = std::vector<std::string>;
    const ScratchFolder folder;
    static_cast<void>(folder.write("a.csv", "id,value\nr,1\n"));
    static_cast<void>(folder.write("b.csv", heading));
    CHECK(mistakes(folder) ==
          Told{"a.csv:1:1: no column 'machine'", "b.csv:1:1: no rows below the heading"});
    static_cast<void>(folder.write("c.csv", heading + "r" + row + "s" + row));
    const Reference reference = read_reference(folder.path());
    CHECK(reference.rows.size() == 2);
    REQUIRE(reference.other_files.size() == 2);
    CHECK(reference.other_files[0].reason == "no column 'machine'");
    CHECK(reference.other_files[0].rows == 1);
    CHECK(reference.other_files[1].reason == "no rows below the heading");
    CHECK(reference.other_files[1].rows == 0);
    static_cast<void>(folder.write("d.csv", heading + "s" + row + row));
    static_cast<void>(folder.write("e.csv", "a,a\n"));
    const Told told = mistakes(folder);
    REQUIRE(told.size() == 3);
    CHECK(told[0] == "c.csv:3"); // "... first at FOLDER/c.csv:3"
    CHECK(told[1] == "d.csv:3:1: id: got an empty id");
    CHECK(told[2] == "e.csv:1:3: got column 'a' twice");
}
