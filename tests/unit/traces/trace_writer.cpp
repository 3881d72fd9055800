// SPDX-License-Identifier: MIT
// Writes one scene for the tests of tools/check_trace.py: `trace_writer SCENE PATH`.
// `three_events`, `run` and `truncated_run` come from the exporter. The rest are made packet by
// packet, because the exporter cannot be brought to write them: `raw` is sound, each of the others
// has one fault.
#include "traces/exporters/exporter.h"

#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace {

using namespace tessera;
using namespace tessera::traces;

void span(TraceSink& sink, Track track, Kind kind, Cycles begin, Cycles end, NameId name = kUnnamed,
          Arg arg = {}, Arg other = {}) {
    sink.span({track, kind, name, begin, end, {arg, other, Arg{}}});
}

void write_three_events(const std::string& path) {
    NameTable names;
    const auto matmul = names.intern("matmul");
    const auto vertex = names.intern("mac_f16");
    const auto work = names.intern("work");
    Exporter trace{
        path, parse_selection("all", "worker", 1), names, {.metadata = {.machine = "tiny"}}};
    trace.counter({Counter::ActiveTiles, 0, 1});
    span(trace, machine_track(), Kind::Compute, 0, 40, matmul, {ArgKey::Role, work});
    span(trace, tile_track(0), Kind::Compute, 0, 40, matmul);
    span(trace, worker_track(0, 2), Kind::Compute, 4, 34, vertex, {ArgKey::Bundles, 5});
    trace.finish();
}

/// Two tiles, four phases; tile 1 waits for tile 0 twice.
void write_run(const std::string& path, std::int64_t slice_cap) {
    NameTable names;
    const auto matmul = names.intern("matmul");
    const auto gather = names.intern("gather");
    const auto vertex = names.intern("mac_f16");
    const auto work = names.intern("work");
    const auto bring = names.intern("bring");
    Exporter trace{path,
                   parse_selection("all", "worker", 2),
                   names,
                   {.metadata = {.machine = "tiny"}, .slice_cap = slice_cap}};
    trace.counter({Counter::ActiveTiles, 0, 2});
    trace.counter({Counter::ActiveTiles, 25, 1});
    span(trace, machine_track(), Kind::Compute, 0, 40, matmul, {ArgKey::Role, work});
    span(trace, machine_track(), Kind::Sync, 40, 50);
    span(trace, machine_track(), Kind::Exchange, 50, 70, gather, {ArgKey::Bytes, 256},
         {ArgKey::Role, bring});
    span(trace, machine_track(), Kind::Stream, 70, 75);
    trace.counter({Counter::ActiveTiles, 40, 0});
    trace.counter({Counter::ExchangeBytes, 50, 256});
    trace.counter({Counter::ExchangeBytes, 70, 0});
    for (TileId tile = 0; tile < 2; ++tile) {
        const Cycles computed = tile == 0 ? 40 : 25;
        const Cycles exchanged = tile == 0 ? 70 : 60;
        span(trace, supervisor_track(tile), Kind::Compute, 0, 4);
        span(trace, worker_track(tile, 2), Kind::Compute, 4, 20, vertex);
        span(trace, tile_track(tile), Kind::Compute, 0, computed, matmul);
        span(trace, tile_track(tile), Kind::Idle, computed, 40);
        span(trace, tile_track(tile), Kind::Sync, 40, 50);
        span(trace, tile_track(tile), Kind::Exchange, 50, exchanged, gather);
        span(trace, tile_track(tile), Kind::Idle, exchanged, 70);
        span(trace, tile_track(tile), Kind::Stream, 70, 75);
    }
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
    if (argc != 3) {
        std::fputs("usage: trace_writer SCENE PATH\n", stderr);
        return 2;
    }
    const std::string scene = argv[1];
    const std::string path = argv[2];
    if (scene == "three_events") {
        write_three_events(path);
    } else if (scene == "run") {
        write_run(path, kDefaultSliceCap);
    } else if (scene == "truncated_run") {
        write_run(path, 9);
    } else {
        std::ofstream{path, std::ios::binary} << raw_scene(scene);
    }
    return 0;
}
