// SPDX-License-Identifier: MIT
#include "base/config/report.h"
#include "models/isa/assembler.h"
#include "sim/run/unused_parameters.h"
#include "tests/unit/base/config/scratch.h"

#include <catch2/catch.hpp>

using namespace tessera;
using program::Program;
using program::Step;
using Kind = Step::Kind;
using Parts = std::set<std::string>;

namespace {

Step step(Kind kind, std::uint32_t index = 0, std::vector<Step> children = {}) {
    Step made;
    made.kind = kind;
    made.index = index;
    made.children = std::move(children);
    return made;
}

/// Two compute sets, the second without work, two buffers, a copy each way of each.
Program scene(std::vector<Step> steps) {
    using Place = program::RemoteBuffer::Place;
    using Direction = program::StreamCopy::Direction;
    Program program;
    program.compute_sets.resize(2);
    program.compute_sets[0].tiles = {{0, {}}, {0x4c000, {}}};
    program.compute_sets[1].tiles = {{0, {}}};
    program.exchanges.resize(1);
    program.remote_buffers = {{"far", Place::StreamingMemory, 1, 4}, {"near", Place::Host, 1, 4}};
    for (const std::uint32_t buffer : {0U, 1U}) {
        for (const auto direction : {Direction::Read, Direction::Write}) {
            program.stream_copies.push_back({"copy", buffer, direction, 1, {}});
        }
    }
    program.functions.push_back({"function", step(Kind::Exchange)});
    program.control = step(Kind::Sequence, 0, std::move(steps));
    return program;
}

Parts parts(std::vector<Step> steps) {
    return run::parts_of(scene(std::move(steps)));
}

Step valued(Step made) {
    made.value = program::TileValue{0, 0x80000};
    return made;
}

Step barrier(program::SyncZone zone) {
    Step made = step(Kind::Sync);
    made.zone = zone;
    return made;
}

program::Codelet code(const std::string& instruction) {
    return isa::assemble("code", {{"a.S", ".worker\nx: nop\n" + instruction + "\nexitz $mzero\n"}},
                         0x4c000, {});
}

} // namespace

TEST_CASE("each step of a control program has its parts") {
    using program::SyncZone;
    CHECK(parts({}).empty());
    CHECK(parts({step(Kind::ComputeSet, 0)}) == Parts{"compute sets", "tile code"});
    CHECK(parts({step(Kind::ComputeSet, 1)}) == Parts{"compute sets"});
    CHECK(parts({step(Kind::Exchange)}) == Parts{"exchanges"});
    CHECK(parts({step(Kind::Call)}) == Parts{"calls", "exchanges"});
    CHECK(parts({step(Kind::Repeat, 0, {step(Kind::Exchange)})}) == Parts{"exchanges", "repeats"});
    CHECK(parts({valued(step(Kind::While))}) == Parts{"decisions", "whiles"});
    CHECK(parts({valued(step(Kind::If, 0, {step(Kind::Exchange)}))}) ==
          Parts{"decisions", "exchanges"});
    CHECK(parts({barrier(SyncZone::chip())}) == Parts{"barriers"});
    CHECK(parts({barrier(SyncZone::group(0))}) == Parts{"barriers between chips"});
    CHECK(parts({barrier(SyncZone::host())}) == Parts{"barriers with the host"});
    CHECK(parts({step(Kind::StreamCopy, 0)}) == Parts{"reads of streaming memory"});
    CHECK(parts({step(Kind::StreamCopy, 1)}) == Parts{"writes to streaming memory"});
    CHECK(parts({step(Kind::StreamCopy, 2)}) == Parts{"reads from the host"});
    CHECK(parts({valued(step(Kind::StreamCopy, 3))}) == Parts{"decisions", "writes to the host"});
    CHECK(parts({step(Kind::StreamStart, 0), step(Kind::StreamWait, 0)}) ==
          Parts{"background copies", "reads of streaming memory"});
    CHECK(parts({step(Kind::LinkExchange)}) == Parts{"barriers between chips", "link exchanges"});
    // A function may use what the steps around its call do not.
    Program program = scene({step(Kind::Call)});
    program.functions[0].body = step(Kind::Repeat, 0, {step(Kind::ComputeSet, 0)});
    CHECK(run::parts_of(program) == Parts{"calls", "compute sets", "repeats", "tile code"});
}

TEST_CASE("matrix instructions count where a tile runs code") {
    const std::string amp = "f16v4sisoamp $a0:1, $a2:3, $a4:5, 0";
    CHECK(run::parts_of(code("f32add $a0, $a1, $a2")) == Parts{"tile code"});
    CHECK(run::parts_of(code(amp)) == Parts{"matrix instructions", "tile code"});
    Program program = scene({step(Kind::ComputeSet, 0)});
    program.codelets = {code("nop"), code("{ nop ; " + amp + " }")};
    CHECK(run::parts_of(program).count("matrix instructions") == 1);
    program.control = step(Kind::ComputeSet, 1);
    CHECK(run::parts_of(program).count("matrix instructions") == 0);
}

TEST_CASE("closed forms take compute sets into account, and exchanges where there are any") {
    job::Estimate estimate;
    CHECK(run::parts_of(estimate) == Parts{"compute sets", "tile code"});
    estimate.uses_matrix_unit = true;
    CHECK(run::parts_of(estimate) == Parts{"compute sets", "matrix instructions", "tile code"});
    estimate.predicted.exchange = 1;
    CHECK(run::parts_of(estimate) ==
          Parts{"barriers", "compute sets", "exchanges", "matrix instructions", "tile code"});
    for (const std::string& part : run::parts_of(estimate)) {
        CHECK(run::known_parts().count(part) == 1);
    }
}

TEST_CASE("what --set gave and nothing uses is told with what it lacks") {
    const auto unused = [](const test::Lines& sets, const Parts& has) {
        return run::unused_parameters(spec::load_machine("gc2", test::source_paths(), sets), has);
    };
    using nlohmann::json;
    CHECK(unused({"sync.external_cycles=1", "tile.workers=5", "chip.tiles=10"}, {"tile code"}) ==
          json{{"sync.external_cycles", "the run has no barriers between chips"}});
    CHECK(unused({"host.latency_us=1"}, {"barriers"}) ==
          json{{"host.latency_us", "the run has no reads from the host, writes to the host or "
                                   "barriers with the host"}});
    CHECK(unused({"host.latency_us=1"}, {"barriers with the host"}) == json::object());
    CHECK(unused({R"(sync={"external_cycles": 7})"}, {"barriers"}) ==
          json{{"sync.external_cycles", "the run has no barriers between chips"}});
    CHECK(unused({}, {}) == json::object()); // gc2's file has host.latency_us
}
