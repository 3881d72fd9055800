// SPDX-License-Identifier: MIT
// Rows that nobody has seen: other ids, tile counts and sizes.
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>

#include <string>
#include <variant>
#include <vector>

using namespace tessera;
using namespace tessera::calibrate;
using namespace tessera::test;
using nlohmann::json;

TEST_CASE("tile counts and message sizes that no row had are taken from the columns") {
    for (const std::string tiles : {"3", "44", "900"}) {
        const auto gather =
            measured(exchange_row("gather one word each, n tiles to one", tiles, "4", "latency"));
        CHECK(gather.group == "exchange: gather");
        CHECK(gather.runs[0].workload["pattern"] == "gather");
        CHECK(gather.runs[0].workload["tiles"] == std::stoi(tiles));
        const auto scatter = measured(exchange_row("scatter 320 B each, one tile to n", tiles,
                                                   "320", "aggregate_bandwidth", "1", "GB/s"));
        CHECK(scatter.runs[0].workload["bytes"] == 320);
    }
}

TEST_CASE("the machine is the one that the row names, with its tiles and clock") {
    const auto run = [](const char* machine) {
        return measured(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", machine))
            .runs[0];
    };
    CHECK(run("GC200 x1 (1472 tiles, 1.33 GHz)").machine == "gc200");
    CHECK(run("GC200 x1 (1472 tiles, 1.33 GHz)").machine_sets ==
          std::vector<std::string>{"chip.tiles=1472", "chip.clock_hz=1.33e9"});
    CHECK(run("Bow-2000, 1 IPU, 1.85 GHz").machine == "bow");
    CHECK(run("C600 x1").machine_sets.empty());
}

TEST_CASE("rows of several chips and of other machines are not covered") {
    CHECK(reason(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", "GC2 x4")) ==
          "more than one chip");
    CHECK(reason(exchange_row("broadcast one word", "7", "4", "latency", "1", "us",
                              "IPUModel Mk2")) == "machine 'IPUModel Mk2'");
    CHECK(reason(exchange_row("square root of a tile", "7", "4", "latency")) ==
          "no micro-workload for 'square root of a tile', latency");
}

TEST_CASE("a cell that the mapping needs and cannot use is a mistake") {
    CHECK(refusal(exchange_row("broadcast one word", "many", "4", "latency")) ==
          "rows.csv:2:71: tiles: got 'many', expected a number");
    CHECK(refusal(exchange_row("broadcast one word", "2.5", "4", "latency"))
              .find("expected a whole number of at least 1") != std::string::npos);
    CHECK(refusal(exchange_row("broadcast one word", "", "4", "latency"))
              .find("column 'tiles': expected a whole number") != std::string::npos);
    CHECK(refusal(exchange_row("broadcast one word", "7", "4", "latency", "1", "hours"))
              .find("got 'hours', expected one of cycles, ms, ns, s, us") != std::string::npos);
    CHECK(refusal(exchange_row("broadcast one word", "7", "4", "latency", "-1"))
              .find("expected a number above 0") != std::string::npos);
}

TEST_CASE("numbers of the row's machine that no machine can have are told at its cell") {
    const auto of = [](const char* machine) {
        return refusal(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", machine));
    };
    const std::string place = "rows.csv:2:8: machine: ";
    CHECK(of("GC2 (0 tiles)").find(place + "chip.tiles: got 0 tiles, expected 1..") == 0);
    CHECK(of("GC2 (-16 tiles)").find(place + "chip.tiles: got -16 tiles, expected 1..") == 0);
    CHECK(of("GC2 (1,216 tiles)").find(place + "got '1,216' before 'tile', expected a number") ==
          0);
    CHECK(of("GC2 (1.6.3 GHz)").find(place + "got '1.6.3' before 'GHz', expected a number") == 0);
    CHECK(of("GC2 (0 MHz)").find(place + "chip.clock_hz: got 0 Hz, expected ") == 0);
    CHECK(of("GC2 (all tiles, 1600 MHz)") == "accepted");
}

TEST_CASE("a row with more tiles than its machine is a mistake") {
    const auto of = [](const char* workload, const char* tiles) {
        return refusal(exchange_row(workload, tiles, "4", "latency"));
    };
    CHECK(of("gather one word", "1217") ==
          "rows.csv:2:68: tiles: got 1217 tiles, expected 1..1216 (the row's machine)");
    CHECK(of("gather one word", "1216") == "accepted");
}

TEST_CASE("a row whose machine has more tiles than the exchange numbers is a mistake at its cell") {
    const auto of = [](const char* machine) {
        return refusal(
            exchange_row("point-to-point, one word", "1", "4", "latency", "1", "us", machine));
    };
    CHECK(of("GC2 (4096 tiles)") == "accepted");
    CHECK(
        of("GC2 (9000 tiles)").find("machine: chip.tiles: got 9000 tiles, expected at most 8128") !=
        std::string::npos);
}

TEST_CASE("bytes that are no whole words move as the next whole words, and the row says so") {
    const auto measurement =
        measured(exchange_row("gather from n tiles", "7", "13", "bandwidth", "1", "GB/s"));
    CHECK(measurement.runs[0].workload["bytes"] == 16);
    CHECK(measurement.assumed == "messages of 13 B move as 16 B");
}

TEST_CASE("names that are nearly right are told with the right ones") {
    CHECK(reason(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", "GC20 x1")) ==
          "machine 'GC20 x1'; did you mean 'gc2'?");
    CHECK(reason(exchange_row("scatter one word", "7", "4", "latencies"))
              .find("latencies; metrics: latency, bandwidth") != std::string::npos);
    CHECK(refusal(exchange_row("broadcast one word", "7", "4", "latency", "1", "cycle"))
              .find("did you mean 'cycles'?") != std::string::npos);
}

TEST_CASE("a root is one of the tiles of long messages and keeps or copies its own") {
    const auto workload = [](const char* text, const char* bytes) {
        return measured(exchange_row(text, "5", bytes, "aggregate_bandwidth", "1", "GB/s"))
            .runs[0]
            .workload;
    };
    CHECK(workload("scatter 160 B each, one tile to n", "160")["tiles"] == 4);
    const json gather = workload("gather 160 B each, n tiles to one", "160");
    CHECK(gather["tiles"] == 5);
    CHECK(gather["include_self"] == true);
    CHECK(gather["copies"] == "one_worker");
    CHECK_FALSE(workload("gather 12 B each, n tiles to one", "12").contains("copies"));
}

TEST_CASE("a copy between memory regions is paced") {
    const auto row = exchange_row("copy inside a tile, standard to interleaved memory", "1", "640",
                                  "latency", "1", "cycles", "C600 x1");
    const auto measurement = measured(row);
    CHECK(measurement.group == "self copy");
    CHECK(measurement.runs[0].workload["copies"] == "paced");
    json run = result_of(0, 1e9);
    run["phases"]["compute"] = 222;
    CHECK(measurement.read({run}) == Approx(222));
}

TEST_CASE("sparse attention reads rows of components, then keys and values") {
    const std::int64_t heads = 2 * 3;
    const auto row_of = [](const std::string& components) {
        Reference reference;
        add_rows(reference,
                 parse_csv("id,machine,workload,batch,n_head,head_dim,seq_len,r,k,metric,"
                           "value,unit\nunseen,Bow,sparq-attn,2,3,64,4096," +
                               components + ",50,duration,1,cycles\n",
                           "rows.csv"));
        return measured(reference.rows.front());
    };
    const auto few = row_of("5");
    CHECK(few.group == "remote buffer: rows");
    CHECK(few.runs[0].workload["rows"] == heads * 5);
    CHECK(few.runs[0].workload["row_bytes"] == 4096 * 2);
    CHECK(few.runs[1].workload["rows"] == heads * 50);
    CHECK(few.runs[1].workload["row_bytes"] == 64 * 2);
    const double components = 700;
    const double positions = 90;
    const std::vector<json> results{result_of(components, 1e9), result_of(positions, 1e9)};
    CHECK(few.read(results) == Approx(1.5 * (components + 2 * positions)));

    const std::int64_t most_rows = (std::int64_t{1} << 27) / (4096 * 2);
    const auto many = row_of(std::to_string(most_rows)); // heads copies of the largest size
    CHECK(many.runs[0].workload["chunk_rows"] == most_rows);
    CHECK(many.read(results) == Approx(1.5 * (heads * components + 2 * positions)));

    // a row more than two in each of three copies: a fourth one, and all hold as much as the
    // fullest
    const std::int64_t uneven = most_rows / 2 + 1;
    const auto cut = row_of(std::to_string(uneven));
    CHECK(heads * uneven % 4 != 0);
    CHECK(cut.runs[0].workload["chunk_rows"] == (heads * uneven + 3) / 4);
}

TEST_CASE("the last chunk of keys and values may be a part of one") {
    const auto timed = [](int positions) {
        Reference reference;
        add_rows(reference, parse_csv("id,machine,workload,batch,n_head,head_dim,seq_len,chunk,"
                                      "metric,value,unit\nunseen,Bow,attn-remote,1,2,64," +
                                          std::to_string(positions) + ",100,duration,1,cycles\n",
                                      "rows.csv"));
        return measured(reference.rows.front()).timed;
    };
    CHECK(timed(299) == timed(300));
    CHECK(timed(201) == timed(300));
    CHECK(timed(300).find("from 4 of 6 chunks") != std::string::npos);
    CHECK(timed(301).find("from 4 of 8 chunks") != std::string::npos);
}

TEST_CASE("arrays of a stream are whole pieces of 16 bytes") {
    const auto elements = [](int given) {
        Reference reference;
        add_rows(reference, parse_csv("id,machine,workload,elems,metric,value,unit\n"
                                      "unseen,Bow,stream triad FP16," +
                                          std::to_string(given) + ",bandwidth,1,GB/s\n",
                                      "rows.csv"));
        return measured(reference.rows.front()).runs[0].workload["elements"];
    };
    CHECK(elements(8000) == 8000);
    CHECK(elements(8001) == 8008);
    CHECK(elements(8004) == 8008);
    CHECK(elements(8008) == 8008);
}

TEST_CASE("from four on the last island of a broadcast listens as a whole, but for the root's") {
    constexpr int kTiles = 1216;
    const auto listeners = [](int tiles) {
        const auto row = exchange_row("broadcast one word", std::to_string(tiles), "4", "latency");
        return measured(row).runs.at(0).workload.at("tiles").get<int>();
    };
    for (const int tiles : {1, 2, 3}) {
        CHECK(listeners(tiles) == tiles);
    }
    for (const int tiles : {4, 8, 600, kTiles - 4}) {
        CHECK(listeners(tiles) == tiles);
        CHECK(listeners(tiles - 1) == (tiles == 4 ? 3 : tiles));
    }
    for (const int tiles : {kTiles - 3, kTiles - 2, kTiles - 1}) {
        CHECK(listeners(tiles) == kTiles - 2);
    }
}

TEST_CASE("a number stands before its unit with blanks between them or none") {
    const auto sets = [](const std::string& machine) {
        return measured(exchange_row("broadcast one word", "7", "4", "latency", "1", "us", machine))
            .runs[0]
            .machine_sets;
    };
    using Sets = std::vector<std::string>;
    for (const std::string blanks : {"", " ", "   "}) {
        for (const std::string before : {" ", " (", " ,("}) {
            CAPTURE(blanks, before);
            CHECK(sets("GC2" + before + "16" + blanks + "tiles)") == Sets{"chip.tiles=16"});
            CHECK(sets("GC2" + before + "1.5" + blanks + "GHz)") == Sets{"chip.clock_hz=1.5e9"});
            CHECK(sets("GC2" + before + "1500" + blanks + "MHz)") == Sets{"chip.clock_hz=1500e6"});
        }
    }
    CHECK(sets("GC2, no tiles told").empty());
}

TEST_CASE("several chips are a number of times other than one") {
    const auto times = [](const std::string& machine) {
        const auto mapped = measurement_of(
            exchange_row("broadcast one word", "7", "4", "latency", "1", "us", machine), kMachines);
        return std::holds_alternative<NotCovered>(mapped);
    };
    for (const std::string one :
         {"GC2", "GC2 x1", "GC2 x", "GC2 xy", "GC2 x1, 16 tiles", "GC2x4"}) {
        CAPTURE(one);
        CHECK(times(one) == (one == "GC2x4")); // a machine that nobody knows
    }
    for (const std::string several :
         {"GC2 x2", "GC2 x4", "GC2 x10", "GC2 x11", "GC2 x1 x4", "GC2 x16 (16 tiles)"}) {
        CAPTURE(several);
        CHECK(times(several));
    }
}
