// SPDX-License-Identifier: MIT
// What a trace says of a run.
#include "models/listeners/trace_producer.h"
#include "tests/support/counted.h"
#include "tests/support/recording_sink.h"
#include "tests/unit/models/listeners/told.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>

using namespace tessera;
using counts::Group;
using events::Doing;
using test::Events;
using test::RecordingSink;
using traces::Kind;

namespace {

/// Three tiles, all traced, and steps and a codelet with names.
struct Scene {
    Scene()
        : sink({true, true, true}), producer(program(), machine(), sink, names),
          run(3, {&producer}) {}

    static spec::MachineSpec machine() {
        spec::MachineSpec made;
        made.chip.tiles = 3;
        return made;
    }
    static program::Program program() {
        program::Program made;
        made.compute_sets.push_back(
            {"work", {{0x4c100, {}}, {}, {0x4c100, {}}}, program::Role::Reduce});
        made.exchanges.push_back({"bring", {}, {}});
        made.stream_copies.push_back({"fetch", 0, program::StreamCopy::Direction::Read, 1, {}});
        program::Codelet codelet;
        codelet.address = 0x4c200;
        codelet.words.resize(16);
        codelet.symbols = {{"loop", 0x4c200}, {"last", 0x4c220}};
        made.codelets.push_back(codelet);
        return made;
    }
    [[nodiscard]] Events of(traces::Track track, Kind kind) const { return sink.of(track, kind); }
    [[nodiscard]] Events of(traces::Counter counter) const { return sink.of(counter); }

    traces::NameTable names;
    RecordingSink sink;
    listeners::TraceProducer producer;
    test::Told run;
};

/// Wants nothing, and counts what it is told all the same.
class NoSink final : public traces::TraceSink {
public:
    void span(const traces::Span& /*span*/) override { ++told; }
    void counter(const traces::CounterSample& /*sample*/) override { ++told; }
    int told = 0;
};

} // namespace

TEST_CASE("a sink that wants nothing is told nothing, one of the machine its own track") {
    NoSink nothing;
    RecordingSink machine({});
    traces::NameTable names;
    listeners::TraceProducer to_nothing(Scene::program(), Scene::machine(), nothing, names);
    listeners::TraceProducer to_machine(Scene::program(), Scene::machine(), machine, names);
    test::Told run(3, {&to_nothing, &to_machine});
    for (const Doing doing : {Doing::ComputeSet, Doing::Exchange, Doing::Stream}) {
        run.does(0, doing, 10);
        run.does(2, doing, 20);
        run.released(5);
    }
    events::Flight flight;
    flight.service_end = 10;
    run.ended(flight);
    CHECK(nothing.told == 0);
    CHECK(machine.spans.size() > 3);
    for (const traces::Span& span : machine.spans) {
        CHECK(span.track.level == traces::Level::Machine);
    }
}

TEST_CASE("active tiles rise and fall with each tile's own work") {
    Scene scene;
    scene.run.does(2, Doing::ComputeSet, 30);
    scene.run.does(0, Doing::ComputeSet, 20);
    scene.run.step = 2;
    scene.run.does(0, Doing::ComputeSet, 15);
    scene.run.released(5);
    CHECK(scene.of(traces::Counter::ActiveTiles) == Events{{0, 2}, {20, 2}, {30, 1}, {35, 0}});
}

TEST_CASE("the bytes of an exchange are counted until its slowest row has ended") {
    Scene scene;
    scene.producer.moved({.exchange = 0, .begin = 150, .end = 180, .bytes = 640});
    CHECK(scene.of(traces::Counter::ExchangeBytes) == Events{{150, 640}, {180, 0}});
}

TEST_CASE("a tile works, then streams while its copy lasts, then waits, then syncs") {
    for (const Cycles until : {0, 19, 20, 25, 30, 31, 500}) {
        Scene scene;
        const std::array<TileId, 2> tiles{1, 2};
        scene.run.begun({.background = true, .begin = 0, .end = until, .tiles = tiles});
        scene.run.does(1, Doing::ComputeSet, 20);
        scene.run.does(0, Doing::ComputeSet, 30);
        scene.run.released(7);
        for (const TileId tile : {0U, 1U, 2U}) {
            CAPTURE(until, tile);
            const auto track = traces::tile_track(tile);
            const Cycles worked = tile == 0 ? 30 : tile == 1 ? 20 : 0;
            const Cycles streams = tile == 0 ? worked : std::clamp<Cycles>(until, worked, 30);
            const auto span = [](Cycles begin, Cycles end) {
                return begin < end ? Events{{begin, end}} : Events{};
            };
            CHECK(scene.of(track, Kind::Compute) == span(0, worked));
            CHECK(scene.of(track, Kind::Stream) == span(worked, streams));
            CHECK(scene.of(track, Kind::Idle) == span(streams, 30));
            CHECK(scene.of(track, Kind::Sync) == span(30, 37));
        }
        CHECK(scene.of(traces::machine_track(), Kind::Compute) == Events{{0, 30}});
        CHECK(scene.of(traces::machine_track(), Kind::Sync) == Events{{30, 37}});
    }
}

TEST_CASE(
    "the machine's spans are the critical tile's, with step, role and slowest tile or bytes") {
    Scene scene;
    scene.producer.moved({.exchange = 0, .begin = 0, .end = 9, .bytes = 12, .bound_cycles = 4});
    scene.run.does(0, Doing::Exchange, 9);
    scene.run.step = 2;
    scene.run.does(0, Doing::ComputeSet, 30, 0,
                   {.counts = test::counted({{Group::WorkerIssues, 12},
                                             {Group::WorkerBundles, 7},
                                             {Group::SupervisorInstructions, 3},
                                             {Group::MatrixSteps, 21}}),
                    .bound_cycles = 15,
                    .uneven = {}});
    scene.run.does(
        1, Doing::ComputeSet, 38, 0,
        {.counts = test::counted({{Group::WorkerIssues, 30}, {Group::WorkerBundles, 30}}),
         .bound_cycles = 19,
         .uneven = {}});
    scene.run.does(2, Doing::ComputeSet, 38); // slower too, but without a row
    scene.run.released(1);
    std::vector<traces::Span> machine;
    for (const auto& span : scene.sink.spans) {
        if (span.track == traces::machine_track()) {
            machine.push_back(span);
        }
    }
    REQUIRE(machine.size() == 3);
    using traces::ArgKey;
    const auto arg = [&](std::size_t span, ArgKey key) -> std::int64_t {
        for (const auto& one : machine[span].args) {
            if (one.key == key) {
                return one.value;
            }
        }
        return -1;
    };
    const auto role = [&](std::size_t span) {
        return scene.names.text(static_cast<traces::NameId>(arg(span, ArgKey::Role)));
    };
    CHECK(scene.names.text(machine[0].name) == "bring");
    CHECK(arg(0, ArgKey::Step) == 1);
    CHECK(arg(0, ArgKey::Bytes) == 12);
    CHECK(arg(0, ArgKey::Bound) == 4);
    CHECK(arg(0, ArgKey::OfBound) == 225);
    CHECK(arg(0, ArgKey::SlowestTile) == 0);
    CHECK(role(0) == "bring");
    CHECK(machine[1].begin == 9);
    CHECK(machine[1].end == 39);
    CHECK(arg(1, ArgKey::Step) == 2);
    CHECK(arg(1, ArgKey::SlowestTile) == 1);
    CHECK(arg(1, ArgKey::SlowestCycles) == 38);
    CHECK(arg(1, ArgKey::Bound) == 19);
    CHECK(arg(1, ArgKey::OfBound) == 200);
    CHECK(arg(1, ArgKey::Bundles) == 37);
    CHECK(arg(1, ArgKey::SlotsUsed) == 100 * 45 / (30 + 38 + 38));
    CHECK(arg(1, ArgKey::MatrixUnit) == 100 * 21 / (30 + 38 + 38));
    CHECK(role(1) == "reduce");
    CHECK(machine[2].kind == Kind::Sync);
    CHECK(arg(2, ArgKey::SlowestTile) == 0); // who came last
    CHECK(arg(2, ArgKey::Role) == -1);
    // and which tile it was has a track of its own
    CHECK(scene.of(traces::slowest_track(), Kind::Compute) == Events{{9, 39}});
    CHECK(scene.of(traces::slowest_track(), Kind::Exchange) == Events{{0, 9}});
    for (const auto& span : scene.sink.spans) {
        if (span.track == traces::slowest_track()) {
            CHECK(span.args[0].key == ArgKey::Tile);
            CHECK(span.args[0].value == 0);
        }
    }
}

TEST_CASE("spans of contexts are named by what they enter") {
    Scene scene;
    const std::array<events::ContextSpan, 5> contexts{{{-1, 0x4c100, 1000, 1090},
                                                       {0, 0x4c200, 1012, 1040},
                                                       {1, 0x4c218, 1013, 1040}, // a label of it
                                                       {2, 0x4c23c, 1014, 1040},
                                                       {5, 0x4c240, 1017, 1041}}};
    scene.producer.segment(
        {.tile = 2, .begin = 1000, .end = 1000, .spans = {}, .contexts = contexts});
    REQUIRE(scene.sink.spans.size() == 5);
    CHECK(scene.of(traces::supervisor_track(2), Kind::Compute) == Events{{1000, 1090}});
    CHECK(scene.of(traces::worker_track(2, 0), Kind::Compute) == Events{{1012, 1040}});
    CHECK(scene.of(traces::worker_track(2, 5), Kind::Compute) == Events{{1017, 1041}});
    CHECK(scene.names.text(scene.sink.spans[0].name) == "work");
    CHECK(scene.names.text(scene.sink.spans[1].name) == "loop");
    CHECK(scene.names.text(scene.sink.spans[2].name) == "loop");
    CHECK(scene.names.text(scene.sink.spans[3].name) == "last");
    CHECK(scene.names.text(scene.sink.spans[4].name).empty()); // behind the codelet's end
}

TEST_CASE("a codelet that begins where another ends has its own name, in whatever order they are") {
    constexpr Address kFirst = 0x4c200;
    constexpr Address kSecond = 0x4c240;
    program::Program made;
    for (const bool in_order : {true, false}) {
        program::Codelet first;
        first.address = kFirst;
        first.words.resize((kSecond - kFirst) / sizeof(std::uint32_t));
        first.symbols = {{"first", kFirst}};
        program::Codelet second = first;
        second.address = kSecond;
        second.symbols = {{"second", kSecond}, {"alias", kSecond}};
        made.codelets = in_order ? std::vector{first, second} : std::vector{second, first};
        traces::NameTable names;
        RecordingSink sink({true});
        spec::MachineSpec machine;
        machine.chip.tiles = 1;
        listeners::TraceProducer producer(made, machine, sink, names);
        const std::array<events::ContextSpan, 4> contexts{{{0, kFirst - 4, 0, 1},
                                                           {0, kSecond - 4, 1, 2},
                                                           {0, kSecond, 2, 3},
                                                           {0, kSecond + 64, 3, 4}}};
        producer.segment({.tile = 0, .begin = 0, .end = 0, .spans = {}, .contexts = contexts});
        REQUIRE(sink.spans.size() == contexts.size());
        std::vector<std::string> said;
        for (const traces::Span& span : sink.spans) {
            said.emplace_back(names.text(span.name));
        }
        CHECK(said == std::vector<std::string>{"", "first", "second", ""});
    }
}

TEST_CASE("a flow leads from what the last tile did to the barrier") {
    Scene scene;
    for (int barrier = 1; barrier <= 2; ++barrier) {
        const TileId last = barrier == 1 ? 2 : 1;
        scene.run.does(last, Doing::ComputeSet, 10);
        scene.run.does(last, Doing::Exchange, 7);
        scene.run.does(0, Doing::ComputeSet, 16);
        scene.run.released(5);
        std::vector<traces::Track> from;
        Cycles to = -1;
        for (const traces::Span& span : scene.sink.spans) {
            if (span.flow.number != barrier) {
                continue;
            }
            CHECK(span.flow.ends == (span.track == traces::machine_track()));
            if (span.flow.ends) {
                CHECK(span.kind == Kind::Sync);
                to = span.begin;
            } else {
                CHECK(span.kind == Kind::Exchange); // the last that it did
                CHECK(span.end == barrier * 17 + (barrier - 1) * 5);
                from.push_back(span.track);
            }
        }
        CHECK(to == barrier * 17 + (barrier - 1) * 5);
        CHECK(from == std::vector{traces::slowest_track(), traces::tile_track(last)});
    }
    scene.run.does(0, Doing::ComputeSet, 16);
    scene.run.released(0); // no slice to lead to
    CHECK(std::none_of(scene.sink.spans.begin(), scene.sink.spans.end(),
                       [](const auto& span) { return span.flow.number > 2; }));
}

TEST_CASE("words are counted where they arrive, in order of time") {
    Scene scene;
    const auto copied = [&](Cycles end, Bytes bytes) {
        scene.producer.copy_ended({.end = end, .bytes = bytes, .tiles = {}});
    };
    scene.producer.moved({.exchange = 0, .begin = 0, .end = 40, .bytes = 64});
    copied(25, 400);
    copied(40, 4);
    copied(60, 40);
    scene.run.does(0, Doing::Exchange, 50);
    scene.run.released(0);
    CHECK(scene.of(traces::Counter::WordsMoved) == Events{{25, 100}, {40, 101}, {40, 117}});
    scene.run.does(0, Doing::ComputeSet, 10);
    scene.run.released(0);
    CHECK(scene.of(traces::Counter::WordsMoved).back() == std::pair<Cycles, std::int64_t>{60, 127});
}

TEST_CASE("memory is what is kept on the fullest tile in the step that is critical") {
    using program::Step;
    program::Program made = Scene::program();
    made.control.children.resize(2);
    made.control.children[0].kind = Step::Kind::ComputeSet;
    made.control.children[1].kind = Step::Kind::Exchange;
    made.images.resize(2);
    const auto segment = [](Bytes bytes, std::uint32_t first, std::uint32_t last) {
        program::Segment of;
        of.bytes = bytes;
        of.lifetime = {first, last};
        return of;
    };
    made.images[0].segments = {segment(100, 0, 1), segment(50, 0, 0)};
    made.images[1].segments = {segment(120, 0, 1), segment(10, 1, 1)};
    RecordingSink sink({false, false, false});
    traces::NameTable names;
    listeners::TraceProducer producer(made, Scene::machine(), sink, names);
    test::Told run(3, {&producer});
    for (int turn = 0; turn < 2; ++turn) {
        run.does(0, Doing::ComputeSet, 10);
        run.does(0, Doing::ComputeSet, 10); // no change
        run.does(0, Doing::Exchange, 10);
        run.released(0);
    }
    CHECK(sink.of(traces::Counter::MemoryBytes) ==
          Events{{0, 150}, {20, 130}, {30, 150}, {50, 130}});
}

TEST_CASE("the memory of a step that stands twice is that of where it stands first") {
    using program::Step;
    program::Program made = Scene::program();
    made.control.children.resize(3);
    made.control.children[0].kind = Step::Kind::ComputeSet;
    made.control.children[1].kind = Step::Kind::Exchange;
    made.control.children[2].kind = Step::Kind::ComputeSet; // the same
    constexpr std::array<Bytes, 3> kBytes{40, 80, 160};
    made.images.resize(1);
    for (std::uint32_t at = 0; at < kBytes.size(); ++at) {
        program::Segment of;
        of.bytes = kBytes[at];
        of.lifetime = {at, at};
        made.images[0].segments.push_back(of);
    }
    RecordingSink sink({false, false, false});
    traces::NameTable names;
    listeners::TraceProducer producer(made, Scene::machine(), sink, names);
    test::Told run(3, {&producer});
    run.does(0, Doing::ComputeSet, 10);
    run.does(0, Doing::Exchange, 10);
    run.does(0, Doing::ComputeSet, 10);
    run.released(0);
    CHECK(sink.of(traces::Counter::MemoryBytes) ==
          Events{{0, kBytes[0]}, {10, kBytes[1]}, {20, kBytes[0]}});
}

TEST_CASE("a copy's span lies on its link's own track") {
    for (const bool memory : {true, false}) {
        for (const bool read : {true, false}) {
            Scene scene;
            const auto track = traces::port_track(
                memory ? traces::Port::StreamingMemory : traces::Port::Host, read);
            scene.producer.copy_ended(
                {.step = 7,
                 .port = memory ? events::kStreamingMemoryPort : events::kHostPort,
                 .read = read,
                 .service_begin = 5,
                 .service_end = 9,
                 .end = 20,
                 .bytes = 64,
                 .tiles = {}});
            CHECK(scene.of(track, Kind::Stream) == Events{{5, 9}});
            REQUIRE(scene.sink.spans.size() == 1);
            CHECK(scene.sink.spans[0].args[0].value == 7);
            CHECK(scene.sink.spans[0].args[1].value == 64);
            CHECK(scene.names.text(scene.sink.spans[0].name) == "fetch");
        }
    }
}
