// SPDX-License-Identifier: MIT
// Writes one scene for the tests of tools/check_trace.py: `trace_writer SCENE PATH [CLOCK]`.
// `three_events`, `run`, `two_chips` and `truncated_run` come from the exporter, in the format of PATH's ending.
// The rest are made packet by packet, because the exporter cannot be brought to write them: `raw`
// is sound, each of the others has one fault.
#include "traces/exporters/exporter.h"

#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using namespace tessera::traces;

void span(TraceSink& sink, Track track, Kind kind, Cycles begin, Cycles end, NameId name = kUnnamed,
          Arg arg = {}, Arg other = {}) {
    sink.span({track, kind, name, begin, end, {arg, other, Arg{}}});
}

ExporterOptions options_of(const std::string& clock, std::int64_t slice_cap = kDefaultSliceCap) {
    return {.metadata = {.workload = "scene",
                         .machine = "tiny",
                         .clock_hz = 1.85e9,
                         .version = "1.2.3",
                         .clock = parse_clock(clock)},
            .slice_cap = slice_cap};
}

void write_three_events(const std::string& path, const std::string& clock) {
    NameTable names;
    const auto matmul = names.intern("matmul");
    const auto vertex = names.intern("mac_f16");
    const auto work = names.intern("work");
    Exporter trace{path, parse_selection("all", "worker", 1), names, options_of(clock)};
    trace.counter({Counter::ActiveTiles, 0, 1});
    span(trace, machine_track(), Kind::Compute, 0, 40, matmul, {ArgKey::Role, work});
    span(trace, tile_track(0), Kind::Compute, 0, 40, matmul);
    span(trace, worker_track(0, 2), Kind::Compute, 4, 34, vertex, {ArgKey::Bundles, 5});
    trace.finish();
}

/// Two tiles, four phases; tile 1 waits for tile 0 twice, which comes last to the barrier.
void write_run(const std::string& path, const std::string& clock, std::int64_t slice_cap) {
    NameTable names;
    const auto matmul = names.intern("matmul");
    const auto gather = names.intern("gather rows");
    const auto vertex = names.intern("mac_f16");
    const auto work = names.intern("work");
    const auto bring = names.intern("bring");
    Exporter trace{path, parse_selection("all", "worker", 2), names, options_of(clock, slice_cap)};
    trace.counter({Counter::ActiveTiles, 0, 2});
    trace.counter({Counter::ActiveTiles, 25, 1});
    trace.counter({Counter::WordsMoved, 0, 0});
    span(trace, machine_track(), Kind::Compute, 0, 40, matmul, {ArgKey::Role, work});
    trace.span({slowest_track(),
                Kind::Compute,
                matmul,
                0,
                40,
                {Arg{ArgKey::Tile, 0}, Arg{ArgKey::Step, 0}},
                {1, false}});
    trace.span({machine_track(),
                Kind::Sync,
                kUnnamed,
                40,
                50,
                {Arg{ArgKey::Step, 1}, Arg{ArgKey::SlowestTile, 0}},
                {1, true}});
    span(trace, machine_track(), Kind::Exchange, 50, 70, gather, {ArgKey::Bytes, 256},
         {ArgKey::Role, bring});
    span(trace, slowest_track(), Kind::Exchange, 50, 70, gather, {ArgKey::Tile, 0});
    span(trace, machine_track(), Kind::Stream, 70, 75);
    span(trace, slowest_track(), Kind::Stream, 70, 75, kUnnamed, {ArgKey::Tile, 0});
    trace.counter({Counter::ActiveTiles, 40, 0});
    trace.counter({Counter::ExchangeBytes, 50, 256});
    trace.counter({Counter::ExchangeBytes, 70, 0});
    trace.counter({Counter::WordsMoved, 70, 64});
    for (TileId tile = 0; tile < 2; ++tile) {
        const Cycles computed = tile == 0 ? 40 : 25;
        const Cycles exchanged = tile == 0 ? 70 : 60;
        span(trace, supervisor_track(tile), Kind::Compute, 0, 4);
        span(trace, worker_track(tile, 2), Kind::Compute, 4, 20, vertex);
        trace.span(
            {tile_track(tile), Kind::Compute, matmul, 0, computed, {}, {tile == 0 ? 1 : 0, false}});
        span(trace, tile_track(tile), Kind::Idle, computed, 40);
        span(trace, tile_track(tile), Kind::Sync, 40, 50);
        span(trace, tile_track(tile), Kind::Exchange, 50, exchanged, gather);
        span(trace, tile_track(tile), Kind::Idle, exchanged, 70);
        span(trace, tile_track(tile), Kind::Stream, 70, 75);
    }
    trace.finish();
}

/// Two chips: what chip 0 sends comes to chip 1 while both wait.
void write_two_chips(const std::string& path, const std::string& clock) {
    NameTable names;
    const auto there = names.intern("there");
    ExporterOptions options = options_of(clock);
    options.metadata.chips = 2;
    Exporter trace{path, parse_selection("0", "tile", 1), names, options};
    for (const std::uint32_t chip : {0U, 1U}) {
        const Cycles end = chip == 0 ? 30 : 50;
        for (const Track track : {machine_track(), tile_track(0)}) {
            span(trace, track.of_chip(chip), Kind::Sync, 0, 20);
            span(trace, track.of_chip(chip), Kind::Link, 20, end, there);
        }
    }
    const auto carried = [&](Track track, Cycles begin, Cycles end, bool is_end) {
        trace.span({track,
                    Kind::Link,
                    there,
                    begin,
                    end,
                    {Arg{ArgKey::Bytes, 64}, Arg{ArgKey::Messages, 2}},
                    {1, is_end}});
    };
    carried(link_track(false, 1), 21, 30, false);
    carried(link_track(true, 0).of_chip(1), 40, 49, true);
    trace.counter({Counter::EdgeBytes, 0, 84, 0, 1});
    trace.counter({Counter::EdgeBytes, 50, 0, 0, 1});
    trace.finish();
}

/// Packets by hand.
class RawTrace {
public:
    explicit RawTrace(bool clears) : next_flags_(clears ? 1 : 2) {}

    void process() {
        describe(1, "", 0, [](protozero::pbf_writer& track) {
            protozero::pbf_writer process{track, 3};
            process.add_int32(1, 1);
            process.add_string(6, "raw (1 ns = 1 cycle)");
        });
    }
    void track(std::uint64_t uuid, const std::string& name, std::uint64_t parent) {
        describe(uuid, name, parent, [](protozero::pbf_writer&) {});
    }
    void intern(std::uint64_t iid, const std::string& text) {
        packet([&](protozero::pbf_writer& packet) {
            protozero::pbf_writer interned{packet, 12};
            for (const protozero::pbf_tag_type table : {1U, 2U, 3U}) {
                protozero::pbf_writer entry{interned, table};
                entry.add_uint64(1, iid);
                entry.add_string(2, text);
            }
        });
    }
    void begin(std::uint64_t uuid, std::uint64_t time, std::uint64_t iid = 1,
               std::int64_t cycles = -1) {
        event(uuid, time, 1, [&](protozero::pbf_writer& event) {
            event.add_uint64(3, 1);
            event.add_uint64(10, iid);
            if (cycles >= 0) {
                protozero::pbf_writer argument{event, 4};
                argument.add_uint64(1, 2);
                argument.add_int64(4, cycles);
            }
        });
    }
    void end(std::uint64_t uuid, std::uint64_t time) {
        event(uuid, time, 2, [](protozero::pbf_writer&) {});
    }
    /// An instant whose arguments are texts and numbers, by interned words.
    void note(std::uint64_t uuid, std::uint64_t time,
              const std::vector<std::pair<std::uint64_t, std::string>>& texts,
              const std::vector<std::pair<std::uint64_t, double>>& numbers) {
        event(uuid, time, 3, [&](protozero::pbf_writer& event) {
            event.add_string(23, "note");
            for (const auto& [iid, text] : texts) {
                protozero::pbf_writer argument{event, 4};
                argument.add_uint64(1, iid);
                argument.add_string(6, text);
            }
            for (const auto& [iid, number] : numbers) {
                protozero::pbf_writer argument{event, 4};
                argument.add_uint64(1, iid);
                argument.add_double(5, number);
            }
        });
    }
    void without_needs() { say_needs_ = false; }

    std::string bytes;

private:
    template <typename Fill> void packet(Fill fill) {
        protozero::pbf_writer trace{bytes};
        protozero::pbf_writer packet{trace, 1};
        packet.add_uint32(10, 1);
        if (say_needs_) {
            packet.add_uint32(13, next_flags_);
        }
        next_flags_ = 2;
        fill(packet);
    }
    template <typename Fill>
    void describe(std::uint64_t uuid, const std::string& name, std::uint64_t parent, Fill fill) {
        packet([&](protozero::pbf_writer& packet) {
            protozero::pbf_writer track{packet, 60};
            track.add_uint64(1, uuid);
            if (parent != 0) {
                track.add_string(2, name);
                track.add_uint64(5, parent);
            }
            fill(track);
        });
    }
    template <typename Fill>
    void event(std::uint64_t uuid, std::uint64_t time, std::int32_t type, Fill fill) {
        packet([&](protozero::pbf_writer& packet) {
            packet.add_uint64(8, time);
            protozero::pbf_writer event{packet, 11};
            event.add_enum(9, type);
            event.add_uint64(11, uuid);
            fill(event);
        });
    }

    std::uint32_t next_flags_;
    bool say_needs_ = true;
};

/// The machine computes in cycles [0, 40) and [40, 60), tile 0 in [0, 60).
std::string raw_scene(const std::string& fault) {
    constexpr std::uint64_t kMachine = 2;
    constexpr std::uint64_t kTile = 256;
    RawTrace trace{fault != "never_cleared"};
    trace.process();
    trace.track(kMachine, "machine", 1);
    trace.track(3, "tiles", 1);
    trace.track(kTile, "tile_0", fault == "missing_parent" ? 55 : 3);
    if (fault == "repeated_uuid") {
        trace.track(kTile, "tile_1", 3);
    }
    trace.intern(1, "compute");
    trace.intern(2, "cycles");
    constexpr std::uint64_t kRun = 5;
    trace.track(kRun, "run", 1);
    const std::vector<std::string> words{"workload",    "machine",   "tessera",
                                         "trace_clock", "time_unit", "clock_hz"};
    for (std::size_t i = 0; i < words.size(); ++i) {
        trace.intern(3 + i, words[i]);
    }
    trace.note(kRun, 0,
               {{3, "raw"}, {4, "tiny"}, {5, "1.2.3"}, {6, "cycles"}, {7, "1 ns = 1 cycle"}},
               {{8, 1e9}});
    if (fault != "no_cycles") {
        trace.note(kRun, 60, {}, {{2, 60}});
    }
    if (fault == "redefined_iid") {
        trace.intern(1, "exchange");
    }
    if (fault == "needs_not_said") {
        trace.without_needs();
    }
    trace.begin(kMachine, 0, fault == "undefined_iid" ? 99 : 1, fault == "wrong_cycles" ? 41 : 40);
    if (fault == "overlapping") {
        trace.begin(kMachine, 20);
        trace.end(kMachine, 40);
    } else {
        trace.end(kMachine, 40);
        trace.begin(kMachine, fault == "time_goes_back" ? 20 : fault == "gap" ? 50 : 40);
    }
    if (fault == "empty_slice") {
        trace.end(kMachine, 40);
        trace.begin(kMachine, 40);
    }
    if (fault != "unbalanced") {
        trace.end(kMachine, 60);
    }
    if (fault == "end_without_begin") {
        trace.end(kMachine, 60);
    }
    trace.begin(fault == "unknown_track" ? 77 : kTile, 0);
    trace.end(fault == "unknown_track" ? 77 : kTile, fault == "short_tile" ? 50 : 60);
    if (fault == "cut_off") {
        trace.bytes.resize(trace.bytes.size() - 3);
    }
    return trace.bytes;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) {
        std::fputs("usage: trace_writer SCENE PATH [CLOCK]\n", stderr);
        return 2;
    }
    const std::string scene = argv[1];
    const std::string path = argv[2];
    const std::string clock = argc == 4 ? argv[3] : "cycles";
    if (scene == "three_events") {
        write_three_events(path, clock);
    } else if (scene == "run") {
        write_run(path, clock, kDefaultSliceCap);
    } else if (scene == "two_chips") {
        write_two_chips(path, clock);
    } else if (scene == "truncated_run") {
        write_run(path, clock, 12);
    } else {
        std::ofstream{path, std::ios::binary} << raw_scene(scene);
    }
    return 0;
}
