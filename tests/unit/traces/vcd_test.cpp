// SPDX-License-Identifier: MIT
#include "tests/support/scratch_folder.h"
#include "traces/exporters/exporter.h"

#include <catch2/catch.hpp>

#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::traces;

namespace {

/// What `tell` makes the file say.
template <typename Tell>
std::string written(NameTable& names, Tell tell, Metadata metadata = {.machine = "tiny"}) {
    const test::ScratchFolder folder;
    Exporter trace{folder.path("t.vcd"),
                   parse_selection("all", "worker", 300),
                   names,
                   {.metadata = std::move(metadata)}};
    tell(trace);
    static_cast<void>(trace.finish());
    return test::read_text(folder.path("t.vcd"));
}

/// From the first values on.
std::string changes_of(const std::string& text) {
    return text.substr(text.find("#0\n"));
}

Span compute(Track track, Cycles begin, Cycles end, NameId name = kUnnamed) {
    return {track, Kind::Compute, name, begin, end, {}};
}

} // namespace

TEST_CASE("values of all tracks stand in order of time", "[unit][traces]") {
    NameTable names;
    const std::string text = written(names, [&](Exporter& sink) {
        sink.span(compute(machine_track(), 0, 20, names.intern("a step")));
        sink.span(compute(worker_track(0, 1), 8, 12));
        sink.span(compute(worker_track(0, 0), 5, 8));
        sink.counter({Counter::ActiveTiles, 2, 5});
    });
    // machine ! ", tile_0 # $, worker_1 % &, worker_0 ' (, the counter )
    CHECK(changes_of(text) ==
          "#0\n$dumpvars\nscompute !\nsa_step \"\nsnone #\ns- $\nsnone %\ns- &\n"
          "snone '\ns- (\nbx )\n$end\n"
          "#2\nb101 )\n#5\nscompute '\nscompute (\n"
          "#8\nscompute %\nscompute &\nsnone '\ns- (\n"
          "#12\nsnone %\ns- &\n#20\nsnone !\ns- \"\n");
}

TEST_CASE("time does not go back at the end, whatever changes last", "[unit][traces]") {
    const auto end_of = [](Cycles of_machine, Cycles of_counter) {
        NameTable names;
        const std::string text = written(names, [&](Exporter& sink) {
            sink.span(compute(machine_track(), 0, of_machine));
            sink.counter({Counter::ActiveTiles, of_counter, 1});
        });
        return text.substr(text.rfind("$end\n#") + 5);
    };
    CHECK(end_of(20, 7) == "#7\nb1 #\n#20\nsnone !\ns- \"\n");
    CHECK(end_of(20, 20) == "#20\nsnone !\ns- \"\nb1 #\n");
    CHECK(end_of(20, 25) == "#20\nsnone !\ns- \"\n#25\nb1 #\n");
}

TEST_CASE("a slice that is like the one before it is written again", "[unit][traces]") {
    NameTable names;
    const std::string text = written(names, [&](Exporter& sink) {
        const NameId name = names.intern("mac");
        sink.span(compute(machine_track(), 0, 5, name));
        sink.span(compute(machine_track(), 5, 9, name));
    });
    CHECK(changes_of(text) == "#0\n$dumpvars\nscompute !\nsmac \"\n$end\n#5\nscompute !\nsmac \"\n"
                              "#9\nsnone !\ns- \"\n");
}

TEST_CASE("of several changes in a cycle the last is written, and once", "[unit][traces]") {
    NameTable names;
    const std::string text = written(names, [](Exporter& sink) {
        for (const std::int64_t value : {1, 3, 2}) {
            sink.counter({Counter::ActiveTiles, 4, value});
        }
        sink.counter({Counter::ActiveTiles, 5, 7});
        sink.span(compute(machine_track(), 0, 5));
        sink.span(compute(machine_track(), 5, 6)); // instead of nothing
    });
    CHECK(changes_of(text) == "#0\n$dumpvars\nscompute !\nscompute \"\nbx #\n$end\n"
                              "#4\nb10 #\n#5\nscompute !\nscompute \"\nb111 #\n"
                              "#6\nsnone !\ns- \"\n");
}

TEST_CASE("what changes in cycle 1 is unknown in cycle 0", "[unit][traces]") {
    NameTable names;
    const std::string text = written(names, [](Exporter& sink) {
        sink.span(compute(machine_track(), 1, 2));
        sink.counter({Counter::ActiveTiles, 1, 5});
    });
    CHECK(changes_of(text) == "#0\n$dumpvars\nsnone !\ns- \"\nbx #\n$end\n"
                              "#1\nscompute !\nscompute \"\nb101 #\n#2\nsnone !\ns- \"\n");
}

TEST_CASE("an argument is written where it changes and leaves with its slice", "[unit][traces]") {
    NameTable names;
    const std::string text = written(names, [&](Exporter& sink) {
        Span span = compute(machine_track(), 0, 5);
        span.args[0] = {ArgKey::Step, 3};
        sink.span(span);
        span.begin = 5;
        span.end = 9;
        span.args[1] = {ArgKey::Role, names.intern("work")};
        sink.span(span);
        sink.span(compute(machine_track(), 10, 11));
    });
    CHECK(changes_of(text) ==
          "#0\n$dumpvars\nscompute !\nscompute \"\nb11 #\ns- %\n$end\n"
          "#5\nscompute !\nscompute \"\nswork %\n#9\nsnone !\ns- \"\nbx #\ns- %\n"
          "#10\nscompute !\nscompute \"\n#11\nsnone !\ns- \"\n");
}

TEST_CASE("scopes are those of the machine, and each is entered once", "[unit][traces]") {
    NameTable names;
    const std::string text = written(names, [](Exporter& sink) {
        sink.span(compute(supervisor_track(10), 0, 5));
        sink.span(compute(tile_track(2), 0, 5));
        sink.span(compute(worker_track(10, 0), 0, 5));
        sink.span(compute(port_track(Port::Host, false), 0, 5));
        sink.span(compute(port_track(Port::Host, true), 0, 5));
        sink.span(compute(slowest_track(), 0, 5));
        sink.counter({Counter::WordsMoved, 0, 5});
        sink.span(compute(machine_track(), 0, 5));
    });
    std::istringstream lines(text);
    std::string shown;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string what;
        std::string form;
        std::string name;
        words >> what >> form >> name;
        if (what == "$scope") {
            shown += name + "(";
        } else if (what == "$upscope") {
            shown += ")";
        }
    }
    CHECK(shown == "machine(slowest())links(host(read()write()))"
                   "tiles(tile_2()tile_10(worker_0()supervisor()))");
    CHECK(text.find("words_moved") < text.find("kind"));
}

TEST_CASE("identifiers are printable and unique, also where there are many", "[unit][traces]") {
    NameTable names;
    const std::string text = written(names, [](Exporter& sink) {
        for (TileId tile = 0; tile < 300; ++tile) {
            for (std::uint8_t worker = 0; worker < 20; ++worker) {
                sink.span(compute(worker_track(tile, worker), 0, 5));
            }
        }
    });
    std::istringstream lines(text);
    std::set<std::string> identifiers;
    std::size_t variables = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("$var ", 0) == 0) {
            std::istringstream words(line);
            std::string word;
            words >> word >> word >> word >> word;
            CHECK(word.size() <= 3);
            identifiers.insert(word);
            ++variables;
        }
    }
    CHECK(variables == 2U * (1 + 300 * 21));
    CHECK(identifiers.size() == variables);
}

TEST_CASE("texts have no blanks, and none can end a section", "[unit][traces]") {
    NameTable names;
    const std::string text =
        written(names,
                [&](Exporter& sink) {
                    sink.span(compute(machine_track(), 0, 5, names.intern("a b\tc\nd")));
                    sink.span(compute(machine_track(), 5, 6, names.intern("")));
                },
                {.workload = "$end", .machine = "my machine"});
    CHECK(text.find("sa_b_c_d ") != std::string::npos);
    CHECK(text.find("s_ ") != std::string::npos);
    CHECK(text.find("  workload=$end\n  machine=my_machine\n") != std::string::npos);
}

TEST_CASE("a letter that is not printed or ends a word is an underscore", "[unit][traces]") {
    for (int code = 0; code < 0x100; ++code) {
        CAPTURE(code);
        const auto letter = static_cast<char>(code);
        const bool stays = code > ' ' && code != 0x7f;
        NameTable names;
        const std::string text = written(names, [&](Exporter& sink) {
            sink.span(
                compute(machine_track(), 0, 5, names.intern("a" + std::string(1, letter) + "b")));
        });
        CHECK(text.find("sa" + std::string(1, stays ? letter : '_') + "b \"\n") !=
              std::string::npos);
    }
}

TEST_CASE("a cut trace says so where it is cut", "[unit][traces]") {
    const test::ScratchFolder folder;
    const NameTable names;
    Exporter trace{
        folder.path("t.vcd"), parse_selection("all", "tile", 1), names, {.slice_cap = 2}};
    trace.span(compute(machine_track(), 0, 9));
    trace.span(compute(tile_track(0), 0, 4));
    trace.span(compute(tile_track(0), 4, 9));
    static_cast<void>(trace.finish());
    const std::string text = test::read_text(folder.path("t.vcd"));
    CHECK(text.find("  truncated=4\n") != std::string::npos);
    CHECK(changes_of(text).find("#4\nsnone #\ns- $\nstruncated %\n") != std::string::npos);
}

TEST_CASE("the machine's time is in picoseconds", "[unit][traces]") {
    NameTable names;
    const std::string text =
        written(names, [](Exporter& sink) { sink.span(compute(machine_track(), 0, 37)); },
                {.clock_hz = 1.85e9, .clock = Clock::Machine});
    CHECK(text.find("$timescale 1 ps $end\n") != std::string::npos);
    CHECK(text.find("\n#20000\n") != std::string::npos);
}
