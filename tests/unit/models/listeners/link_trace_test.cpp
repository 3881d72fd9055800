// SPDX-License-Identifier: MIT
#include "models/listeners/link_trace.h"
#include "tests/support/recording_sink.h"

#include <catch2/catch.hpp>

#include <memory>
#include <tuple>
#include <vector>

using namespace tessera;
using test::RecordingSink;

namespace {

/// Two chips that run one program with two link exchanges.
program::SystemProgram two_chips() {
    auto made = std::make_shared<program::Program>();
    made->link_exchanges.resize(2);
    made->link_exchanges[0].name = "there";
    made->link_exchanges[1].name = "back";
    program::SystemProgram system;
    system.programs.push_back(std::move(made));
    system.program_of_chip = {0, 0};
    return system;
}

} // namespace

TEST_CASE("what a chip sends and what comes there are spans that a flow joins") {
    RecordingSink sink({});
    traces::NameTable names;
    listeners::LinkTrace trace(two_chips(), sink, names);
    trace.carried({.from = 1,
                   .to = 0,
                   .exchange = 1,
                   .step = 5,
                   .step_there = 7,
                   .begin = 100,
                   .sent = 150,
                   .first_in = 300,
                   .last_in = 340,
                   .bytes = 64,
                   .messages = 3});
    REQUIRE(sink.spans.size() == 2);
    const traces::Span& sent = sink.spans[0];
    const traces::Span& come = sink.spans[1];
    CHECK(sent.track == traces::link_track(false, 0).of_chip(1));
    CHECK(come.track == traces::link_track(true, 1).of_chip(0));
    CHECK(std::pair(sent.begin, sent.end) == std::pair<Cycles, Cycles>(100, 150));
    CHECK(std::pair(come.begin, come.end) == std::pair<Cycles, Cycles>(299, 340));
    CHECK(sent.arg(traces::ArgKey::Step) == 5);
    CHECK(come.arg(traces::ArgKey::Step) == 7);
    for (const auto& span : sink.spans) {
        CHECK(span.kind == traces::Kind::Link);
        CHECK(names.text(span.name) == "back");
        CHECK(span.arg(traces::ArgKey::Bytes) == 64);
        CHECK(span.arg(traces::ArgKey::Messages) == 3);
        CHECK(span.flow.number == 2 * traces::kFlowsOfChip + 1); // behind those of both chips
    }
    CHECK_FALSE(sent.flow.ends);
    CHECK(come.flow.ends);
}

TEST_CASE("a counter of an edge has a value for each interval with traffic, and ends at 0") {
    RecordingSink sink({});
    traces::NameTable names;
    listeners::LinkTrace trace(two_chips(), sink, names);
    trace.edge(0, 1, 0, 64, 0, 500); // nothing has gone: no value
    trace.edge(0, 1, 64, 128, 74, 500);
    trace.edge(0, 1, 128, 192, 74, 500);
    trace.edge(0, 1, 192, 256, 0, 500);
    trace.edge(0, 1, 256, 320, 0, 500);
    trace.edge(0, 1, 448, 512, 14, 500); // the run ends within it
    trace.edge(1, 0, 0, 64, 28, 500);
    trace.end_edges();
    using Sample = std::tuple<std::uint32_t, std::uint32_t, Cycles, std::int64_t>;
    std::vector<Sample> seen;
    for (const auto& sample : sink.samples) {
        CHECK(sample.counter == traces::Counter::EdgeBytes);
        seen.emplace_back(sample.chip, sample.to, sample.cycle, sample.value);
    }
    CHECK(seen == std::vector<Sample>{{0, 1, 64, 74},
                                      {0, 1, 128, 74},
                                      {0, 1, 192, 0},
                                      {0, 1, 448, 14},
                                      {0, 1, 500, 0},
                                      {1, 0, 0, 28},
                                      {1, 0, 64, 0}});
}
