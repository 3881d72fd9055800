// SPDX-License-Identifier: MIT
#include "kernels/lower/code_zone.h"
#include "kernels/lower/lower.h"
#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/lowest_fit.h"
#include "tests/kernels/graph/graph_sketch.h"
#include "tests/support/run_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using graph::read;
using graph::word;
using graph::write;
using program::Step;
using test::Sketch;

constexpr std::int64_t kTiles = 4;
constexpr Bytes kBytes = 64;

spec::MachineSpec small_machine() {
    spec::MachineSpec machine;
    machine.chip.tiles = kTiles;
    return machine;
}

/// One whose memory elements hide little of what code and rows take.
spec::MachineSpec fine_machine() {
    spec::MachineSpec machine = small_machine();
    machine.memory.element_bytes = 64;
    return machine;
}

std::vector<const program::Segment*> segments_of(const program::Program& program, TileId tile,
                                                 const std::string& name) {
    std::vector<const program::Segment*> found;
    for (const auto& segment : program.images.at(program.image_of_tile.at(tile)).segments) {
        if (segment.name == name) {
            found.push_back(&segment);
        }
    }
    return found;
}

Address address_of(const program::Program& program, TileId tile, const std::string& name) {
    return segments_of(program, tile, name).at(0)->address;
}

std::vector<const program::Segment*> state_of(const program::Program& program, TileId tile) {
    std::vector<const program::Segment*> found;
    for (const auto& segment : program.images.at(program.image_of_tile.at(tile)).segments) {
        if (segment.kind == program::SegmentKind::VertexState) {
            found.push_back(&segment);
        }
    }
    return found;
}

/// A word of vertex state.
std::uint32_t state_word(const program::Program& program, TileId tile, Address address) {
    const auto all = state_of(program, tile);
    const auto segment = std::find_if(all.begin(), all.end(), [&](const auto* one) {
        return one->address <= address && address + 4 <= one->address + one->bytes;
    });
    REQUIRE(segment != all.end());
    std::uint32_t read_word = 0;
    std::memcpy(&read_word, (*segment)->data->data() + (address - (*segment)->address),
                sizeof read_word);
    return read_word;
}

std::vector<std::byte> counting(Bytes bytes) {
    std::vector<std::byte> values(static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<std::byte>(1 + i * 7 % 250);
    }
    return values;
}

/// Bytes of a buffer as the host sees them.
void add_bytes_tensor(graph::Graph& graph, const std::string& name, graph::BufferId buffer,
                      TileId tile, Bytes bytes) {
    auto tensor = graph::array_tensor(name, ElementType::F16, bytes / 2);
    tensor.given = name == "in";
    tensor.wanted = name != "in";
    tensor.pieces.push_back(graph::run_of(tile, {buffer}, 0, bytes / 2, ElementType::F16));
    graph.add_tensor(std::move(tensor));
}

/// Words of copy32.
std::vector<graph::Field> copy_fields(const spec::MachineSpec& machine, graph::BufferId from,
                                      graph::BufferId to, Bytes bytes) {
    const std::int64_t words = bytes / 4;
    return {read({from}, bytes), write({to}, bytes), word(words / machine.tile.workers),
            word(words % machine.tile.workers)};
}

/// From "from" on tile 0 to "to" on tile 1, in messages of so many bytes.
Sketch messages_of(Bytes bytes, Bytes message) {
    Sketch sketch;
    const auto from = sketch.buffer("from", 0, bytes);
    const auto to = sketch.buffer("to", 1, bytes);
    add_bytes_tensor(sketch.graph, "in", from, 0, bytes);
    add_bytes_tensor(sketch.graph, "out", to, 1, bytes);
    const auto bring = sketch.graph.add_exchange({"bring", program::Role::Bring, "test"});
    for (Bytes at = 0; at < bytes; at += message) {
        sketch.graph.add_message(bring, 0, {from, at}, message, {1, {to, at}});
    }
    sketch.then(graph::run(bring));
    return sketch;
}

} // namespace

TEST_CASE("vertex state stands where vertices point, words, pointers and tables", "[kernels]") {
    Sketch sketch;
    sketch.graph.codelets = {"copy"};
    const auto x = sketch.buffer("x", 1, kBytes);
    const auto y = sketch.buffer("y", 1, kBytes);
    const auto inner = sketch.graph.add_table(1, std::vector{word(71), write({y, 12}, 4)});
    const auto outer = sketch.graph.add_table(1, std::vector{graph::table(inner), word(72)});
    const auto first = sketch.step("first", 1, {write({x, 8}, 4), word(-1)});
    const auto second = sketch.set(
        "second", 1,
        {graph::use({x, 8}, 4, graph::Access::Read), graph::table(outer), graph::table(inner)});
    sketch.vertex(second, 1, {word(73)});
    sketch.then(graph::run(second));
    const auto program = lower::lower(small_machine(), sketch.graph).program;
    const auto vertices_of = [&](graph::ComputeSetId set) {
        return program.compute_sets.at(set.index).tiles.at(1).vertices;
    };
    const auto at = [&](Address address) { return state_word(program, 1, address); };

    const Address words = vertices_of(first).at(0).state_address;
    CHECK(at(words) == address_of(program, 1, "x") + 8);
    CHECK(at(words + 4) == 0xffffffff);
    const Address tables = vertices_of(second).at(0).state_address;
    const Address of_outer = at(tables); // the use has no word
    const Address of_inner = at(tables + 4);
    CHECK(at(of_outer) == of_inner);
    CHECK(at(of_outer + 4) == 72);
    CHECK(at(of_inner) == 71);
    CHECK(at(of_inner + 4) == address_of(program, 1, "y") + 12);
    CHECK(at(vertices_of(second).at(1).state_address) == 73);
    // every word once, those of tables too
    const auto state = state_of(program, 1);
    REQUIRE(state.size() == 2); // one goes behind the first step
    CHECK(state.at(0)->bytes + state.at(1)->bytes == 4 * (2 + 2 + 2 + 2 + 1));
    CHECK(state.at(0)->lifetime.last + state.at(1)->lifetime.last == 1);
}

TEST_CASE("a vertex may scatter where its fields write, if its codelet says so", "[kernels]") {
    for (const bool scatters : {false, true}) {
        CAPTURE(scatters);
        Sketch sketch;
        sketch.graph.need_codelet("own", std::string(scatters ? ".scatters own\n" : "") +
                                             ".worker\n.globl own\nown: exitz $mzero\n");
        const auto x = sketch.buffer("x", 1, kBytes);
        sketch.graph.buffers.at(x.index).zeroed = true; // what is read was written
        const auto y = sketch.buffer("y", 1, kBytes);
        const auto inner = sketch.graph.add_table(1, std::vector{write({y, 12}, 4)});
        for (const Bytes at : {8, 8, 16}) {
            const auto set = sketch.graph.add_compute_set({"set", program::Role::Work, "test"});
            sketch.graph.add_vertex(set, 1, "own", program::VertexKind::Worker,
                                    {graph::use({x, at}, 6, graph::Access::WritePart),
                                     read({x, 40}, 4), word(1), graph::table(inner)});
            sketch.then(graph::run(set));
        }
        const auto program = lower::lower(small_machine(), sketch.graph).program;
        std::vector<program::Vertex> vertices;
        for (const auto& set : program.compute_sets) {
            vertices.push_back(set.tiles.at(1).vertices.at(0));
        }
        if (!scatters) {
            CHECK(program.scattered.empty());
            CHECK(vertices.at(0).scatters == program::Vertex::kNowhere);
            continue;
        }
        REQUIRE(program.scattered.size() == 2); // one for two vertices that write the same
        CHECK(vertices.at(0).scatters == vertices.at(1).scatters);
        std::vector<program::ByteRange> expected{{address_of(program, 1, "x") + 8, 8},
                                                 {address_of(program, 1, "y") + 12, 4}};
        std::sort(expected.begin(), expected.end());
        CHECK((program.scattered.at(vertices.at(0).scatters) == expected));
        CHECK((program.scattered.at(vertices.at(2).scatters) != expected));
    }
}

TEST_CASE("what a known tensor has from the start is known", "[kernels]") {
    for (const bool known : {false, true}) {
        CAPTURE(known);
        Sketch sketch;
        const auto x = sketch.graph.add_buffer({.name = "x"});
        const auto y = sketch.buffer("y", 1, kBytes);
        const auto bytes = counting(kBytes);
        sketch.graph.hold(x, 0, std::make_shared<const std::vector<std::byte>>(bytes));
        auto tensor = graph::array_tensor("x", ElementType::U32, kBytes / 4);
        tensor.known = known;
        tensor.pieces.push_back(graph::run_of(0, {x}, 0, kBytes / 4, ElementType::U32));
        sketch.graph.add_tensor(std::move(tensor));
        const auto bring = sketch.graph.add_exchange({"bring", program::Role::Bring, "test"});
        sketch.graph.add_message(bring, 0, {x}, kBytes, {1, {y}});
        sketch.then(graph::run(bring));
        const auto program = lower::lower(small_machine(), sketch.graph).program;
        CHECK(segments_of(program, 0, "x").at(0)->known == known);
        CHECK(program.tensors.at(0).known == known);
        CHECK(!segments_of(program, 1, "y").at(0)->known);
    }
}

TEST_CASE("a vertex may have no state", "[kernels]") {
    for (const auto kind : {program::VertexKind::Worker, program::VertexKind::MultiWorker,
                            program::VertexKind::Supervisor}) {
        Sketch sketch;
        sketch.graph.codelets = {"copy"};
        const auto work = sketch.graph.add_compute_set({"work", program::Role::Work, "test"});
        sketch.graph.add_vertex(work, 1, "copy32", kind, {});
        sketch.then(graph::run(work));
        const spec::MachineSpec machine = small_machine();
        const auto program = lower::lower(machine, sketch.graph).program;
        const auto& vertex = program.compute_sets.at(0).tiles.at(1).vertices.at(0);
        CHECK(vertex.state_address >= machine.memory.region0_begin());
        CHECK(segments_of(program, 1, "vertex state").empty());
    }
}

TEST_CASE("copies and an exchange bring the right bytes", "[kernels]") {
    const spec::MachineSpec machine = small_machine();
    Sketch sketch;
    sketch.graph.codelets = {"copy"};
    const auto x = sketch.buffer("x", 0, kBytes);
    const auto y = sketch.buffer("y", 0, kBytes);
    sketch.graph.hold(y, 2, kBytes);
    sketch.graph.hold(y, 3, kBytes);
    const auto z = sketch.buffer("z", 3, kBytes);
    add_bytes_tensor(sketch.graph, "in", x, 0, kBytes);
    add_bytes_tensor(sketch.graph, "out of 2", y, 2, kBytes);
    add_bytes_tensor(sketch.graph, "out of 3", z, 3, kBytes);
    const auto copy = [&](const std::string& name, TileId tile, graph::BufferId from,
                          graph::BufferId to) {
        const auto set = sketch.graph.add_compute_set({name, program::Role::Rearrange, "test"});
        sketch.graph.add_vertex(set, tile, "copy32", program::VertexKind::MultiWorker,
                                copy_fields(machine, from, to, kBytes));
        return graph::run(set);
    };
    const auto bring = sketch.graph.add_exchange({"bring", program::Role::Bring, "test"});
    sketch.graph.add_message(bring, 0, {y}, kBytes,
                             std::vector<graph::Receiver>{{2, {y}}, {3, {y}}});
    sketch.graph.control =
        graph::repeat(2, {copy("there", 0, x, y), graph::run(bring), copy("on", 3, y, z)});

    const auto lowered = lower::lower(machine, sketch.graph);
    CHECK(test::faults_of(machine, lowered.program).empty());
    CHECK(lowered.exchanges.size() == 1);
    const auto values = counting(kBytes);
    const auto outcome = test::run_program(
        machine, lowered.program, std::map<std::string, std::vector<std::byte>>{{"in", values}});
    CHECK((outcome.tensors.at("out of 2") == values));
    CHECK((outcome.tensors.at("out of 3") == values));
}

TEST_CASE("a graph of copies leaves all memory to data but the element of its control program",
          "[kernels]") {
    spec::MachineSpec machine = small_machine();
    for (const Bytes control : {Bytes{0}, machine.control.exchange_bytes}) {
        machine.control.exchange_bytes = control;
        const Bytes element = control == 0 ? 0 : machine.memory.element_bytes;
        const Bytes all = machine.memory.bytes() - element;
        for (const Bytes bytes : {all, all + 4}) {
            Sketch sketch;
            const auto x = sketch.buffer("x", 2, bytes);
            sketch.graph.remote_buffers.push_back(
                {.name = "remote", .rows = 1, .row_bytes = bytes});
            const auto load = sketch.graph.add_stream_copy(
                {.name = "load", .owner = "loader", .pieces = {{2, {x}, bytes, 0}}});
            sketch.then(graph::stream(Step::Kind::StreamCopy, load, 0));
            if (bytes > all) {
                CHECK_THROWS_AS(lower::lower(machine, sketch.graph), DoesNotFit);
                continue;
            }
            const auto lowered = lower::lower(machine, sketch.graph);
            CHECK(lowered.bytes_by_buffer.at("code") ==
                  (control == 0 ? 0 : control + machine.tile.fetch_window_bytes));
            const auto& copy = lowered.program.stream_copies.at(0);
            CHECK(copy.pieces.at(0).address ==
                  machine.memory.region0_begin() + static_cast<Address>(element));
            CHECK(copy.owner == "loader");
            CHECK(copy.role == program::Role::Stream);
            CHECK(segments_of(lowered.program, 2, "control program").size() ==
                  (control == 0 ? 0U : 1U));
            // an exchange that runs takes some for its rows, in an element that code may have
            const auto to = sketch.buffer("to", 1, 4);
            sketch.message("bring", {2, {x}}, 4, {1, {to}});
            if (control == 0) {
                CHECK_THROWS_AS(lower::lower(machine, sketch.graph), DoesNotFit);
            } else {
                CHECK_NOTHROW(lower::lower(machine, sketch.graph));
            }
        }
    }
}

TEST_CASE("the control program's code stands on every tile that takes part", "[kernels]") {
    spec::MachineSpec machine = small_machine();
    machine.control.step_bytes = 40;
    machine.control.repeat_bytes = 300;
    machine.control.exchange_bytes = 7000;
    Sketch sketch = messages_of(kBytes, kBytes);
    sketch.graph.codelets = {"copy"};
    const auto work = graph::run(sketch.set("work", 3, {}));
    auto bring = std::move(sketch.graph.control.children);
    bring.push_back(work);
    bring.push_back(work);
    sketch.graph.control = graph::repeat(5, std::move(bring));
    const auto program = lower::lower(machine, sketch.graph).program;
    for (const TileId tile : {0, 1, 3}) {
        const auto& code = *segments_of(program, tile, "control program").at(0);
        CHECK(code.bytes == 300 + 7000 + 2 * 40);
        CHECK(code.kind == program::SegmentKind::Code);
        CHECK(code.lifetime == program::Lifetime{});
        CHECK(code.address == address_of(program, 0, "control program"));
    }
    CHECK(program.image_of_tile.at(2) == program::Program::kNoImage);
}

TEST_CASE("rows that are longer than first guessed move data on", "[kernels]") {
    constexpr Bytes kGuess = 24; // of a message
    const spec::MachineSpec machine = fine_machine();
    const Bytes code = lower::lay_out_code(machine, 0, {}, machine.control.exchange_bytes).bytes;
    const Sketch sketch = messages_of(250'000, 250'000);
    exchange_plan::KnownSchedules known;
    const auto lowered = lower::lower(machine, sketch.graph, known);
    CHECK(known.found() == 1); // placed twice, scheduled once
    const Bytes rows = lowered.exchanges.at(0).longest_row_bytes;
    const Bytes guessed = plan::round_up(code + kGuess, machine.memory.element_bytes);
    REQUIRE(code + rows > guessed);
    CHECK(lowered.bytes_by_buffer.at("code") == code);
    CHECK(lowered.bytes_by_buffer.at("exchange rows") >= rows + machine.tile.fetch_window_bytes);
    CHECK(test::faults_of(machine, lowered.program).empty());
    const auto values = counting(250'000);
    const auto outcome = test::run_program(
        machine, lowered.program, std::map<std::string, std::vector<std::byte>>{{"in", values}});
    CHECK((outcome.tensors.at("out") == values));
}

TEST_CASE("an exchange of the same messages as one before it is not planned again", "[kernels]") {
    Sketch sketch = messages_of(kBytes, kBytes);
    const auto first = sketch.graph.exchanges.at(0);
    graph::Graph& graph = sketch.graph;
    const auto again = graph.add_exchange({"again", program::Role::Reduce, "someone"});
    for (const graph::Message& message : first.messages) {
        std::vector<graph::Receiver> to;
        for (const auto& one : std::span(first.to).subspan(message.first_to, message.receivers)) {
            to.push_back({one.tile, one.place()});
        }
        graph.add_message(again, message.from.tile, message.from.place(), message.bytes, to,
                          message.paired);
    }
    graph.control = graph::sequence({std::move(graph.control), graph::run(again)});
    exchange_plan::KnownSchedules known;
    const auto lowered = lower::lower(small_machine(), graph, known);
    CHECK(known.found() == 0);
    const auto& exchanges = lowered.program.exchanges;
    REQUIRE(exchanges.size() == 2);
    CHECK(exchanges.at(1).name == "again");
    CHECK(exchanges.at(1).role == program::Role::Reduce);
    CHECK(exchanges.at(1).owner == "someone");
    REQUIRE(exchanges.at(1).rows.size() == exchanges.at(0).rows.size());
    for (std::size_t row = 0; row < exchanges.at(0).rows.size(); ++row) {
        CHECK(exchanges.at(1).rows[row].words == exchanges.at(0).rows[row].words);
        CHECK(exchanges.at(1).rows[row].address == exchanges.at(0).rows[row].address);
    }
    CHECK(lowered.exchanges.at(1).longest_row_events == lowered.exchanges.at(0).longest_row_events);
    CHECK(test::faults_of(small_machine(), lowered.program).empty());
}

TEST_CASE("data may take all that rows leave, where they are shorter than first guessed",
          "[kernels]") {
    constexpr std::int64_t kMessages = 64;
    constexpr Bytes kGuess = 24; // of a message
    const spec::MachineSpec machine = fine_machine();
    const Bytes code = lower::lay_out_code(machine, 0, {}, machine.control.exchange_bytes).bytes;
    Sketch sketch = messages_of(4 * kMessages, 4);
    const Bytes rows = lower::lower(machine, sketch.graph).exchanges.at(0).longest_row_bytes;
    const Bytes block = plan::round_up(rows, 8) + machine.tile.fetch_window_bytes;
    const Bytes zone = plan::round_up(code + block, machine.memory.element_bytes);
    REQUIRE(zone < code + kGuess * kMessages);
    for (const Bytes over : {0, 4}) {
        Sketch full = sketch;
        full.buffer("rest", 0, machine.memory.bytes() - zone - 4 * kMessages + over);
        full.graph.buffers.back().alignment = 4;
        if (over == 0) {
            const auto lowered = lower::lower(machine, full.graph);
            CHECK(lowered.bytes_used == machine.memory.bytes() - (zone - code - block));
            CHECK(test::faults_of(machine, lowered.program).empty());
        } else {
            CHECK_THROWS_AS(lower::lower(machine, full.graph), DoesNotFit);
        }
    }
}

TEST_CASE("a program whose tiles hold different things runs, where one plan would not fit",
          "[kernels]") {
    const spec::MachineSpec machine = small_machine();
    const Bytes large = machine.memory.bytes() - 3 * machine.memory.element_bytes;
    Sketch sketch;
    sketch.graph.codelets = {"copy"};
    const auto one = sketch.buffer("one", 0, large);
    const auto both = sketch.buffer("both", 0, kBytes);
    sketch.graph.hold(both, 2, kBytes);
    const auto other = sketch.buffer("other", 2, large - 4096);
    const auto pointers = sketch.graph.add_buffer({.name = "pointers"});
    const auto relocations = std::make_shared<const std::vector<graph::Relocation>>(
        std::vector<graph::Relocation>{{.at = 4, .buffer = both.index, .offset = 8}});
    const auto contents = test::shared_bytes(8);
    for (const TileId tile : {0, 2}) {
        sketch.graph.hold(pointers, tile, contents, relocations);
    }
    add_bytes_tensor(sketch.graph, "in", one, 0, kBytes);
    add_bytes_tensor(sketch.graph, "out", other, 2, kBytes);
    add_bytes_tensor(sketch.graph, "again", one, 0, kBytes);
    const auto fields = [&](graph::BufferId from, graph::BufferId to) {
        return copy_fields(machine, from, to, kBytes);
    };
    const auto first = sketch.graph.add_compute_set({"first", program::Role::Work, "test"});
    sketch.graph.add_vertex(first, 0, "copy32", program::VertexKind::MultiWorker,
                            fields(one, both));
    sketch.then(graph::run(first));
    sketch.message("bring", {0, {both}}, kBytes, {2, {both}});
    const auto last = sketch.graph.add_compute_set({"last", program::Role::Work, "test"});
    sketch.graph.add_vertex(last, 2, "copy32", program::VertexKind::MultiWorker,
                            fields(both, other));
    sketch.then(graph::run(last));
    const auto program = lower::lower(machine, sketch.graph).program;
    CHECK(test::faults_of(machine, program).empty());
    CHECK(address_of(program, 0, "both") != address_of(program, 2, "both"));
    for (const TileId tile : {0, 2}) {
        const auto& held = *segments_of(program, tile, "pointers").at(0);
        Address word_there = 0;
        std::memcpy(&word_there, held.data->data() + 4, sizeof word_there);
        CHECK(word_there == address_of(program, tile, "both") + 8);
    }
    const auto values = counting(kBytes);
    const auto outcome = test::run_program(
        machine, program, std::map<std::string, std::vector<std::byte>>{{"in", values}});
    CHECK((outcome.tensors.at("out") == values));
}

TEST_CASE("rows and vertex state are memory again behind the last step that needs them",
          "[kernels]") {
    constexpr Bytes kMessages = 1000;
    constexpr std::int64_t kVertices = 150;
    const spec::MachineSpec machine = fine_machine();
    // What there is beside code, other data and the last exchange's row, rounded to elements.
    const Bytes spare = 8 * machine.memory.element_bytes;
    for (const bool of_state : {false, true}) {
        for (const bool repeated : {false, true}) {
            CAPTURE(of_state, repeated);
            Sketch sketch;
            if (!of_state) { // backwards, so that none continues another
                const auto from = sketch.buffer("from", 0, 4 * kMessages);
                const auto to = sketch.buffer("to", 1, 4 * kMessages);
                add_bytes_tensor(sketch.graph, "in", from, 0, 4 * kMessages);
                add_bytes_tensor(sketch.graph, "turned", to, 1, 4 * kMessages);
                const auto turn =
                    sketch.graph.add_exchange({"turn", program::Role::Rearrange, "test"});
                for (Bytes i = 0; i < kMessages; ++i) {
                    sketch.graph.add_message(turn, 0, {from, 4 * i}, 4,
                                             {1, {to, 4 * (kMessages - 1 - i)}});
                }
                sketch.then(graph::run(turn));
            }
            sketch.graph.codelets = {"copy"};
            const auto x = sketch.buffer("x", 1, kBytes);
            const auto y = sketch.buffer("y", 1, 4 * kVertices);
            add_bytes_tensor(sketch.graph, "in", x, 1, kBytes);
            const auto work = sketch.graph.add_compute_set({"work", program::Role::Work, "test"});
            for (std::int64_t i = 0; of_state && i < kVertices; ++i) {
                sketch.graph.add_vertex(
                    work, 1, "copy32", program::VertexKind::MultiWorker,
                    std::vector{read({x}, 4), write({y, 4 * i}, 4), word(0), word(1)});
            }
            sketch.then(graph::run(work));
            const auto lowered = lower::lower(machine, sketch.graph);
            const Bytes goes =
                of_state ? 16 * kVertices : lowered.exchanges.at(0).longest_row_bytes;
            REQUIRE(goes > 2 * spare);

            const Bytes bytes = machine.memory.bytes() - lowered.bytes_used + goes - spare;
            const auto given = sketch.buffer("given", 2, bytes);
            const auto late = sketch.buffer("late", 1, bytes);
            add_bytes_tensor(sketch.graph, "in", given, 2, bytes);
            add_bytes_tensor(sketch.graph, "out", late, 1, bytes);
            sketch.message("last", {2, {given}}, bytes, {1, {late}});
            if (repeated) {
                sketch.graph.control = graph::repeat(2, std::move(sketch.graph.control.children));
                CHECK_THROWS_AS(lower::lower(machine, sketch.graph), DoesNotFit);
                continue;
            }
            const auto program = lower::lower(machine, sketch.graph).program;
            CHECK(test::faults_of(machine, program).empty());
            const auto& segments = program.images.at(program.image_of_tile.at(1)).segments;
            CHECK(std::any_of(segments.begin(), segments.end(), [](const auto& segment) {
                return segment.kind != program::SegmentKind::Tensor && segment.lifetime.last == 0;
            }));
        }
    }
}

TEST_CASE("names, roles and owners of steps arrive in the program", "[kernels]") {
    Sketch sketch;
    sketch.graph.codelets = {"copy"};
    const auto x = sketch.graph.add_buffer({.name = "x", .zeroed = true});
    sketch.graph.hold(x, 0, kBytes);
    const auto y = sketch.buffer("y", 1, kBytes);
    sketch.graph.add_compute_set({"nothing", program::Role::Work, "nobody"});
    const auto silent = sketch.graph.add_exchange({"silence", program::Role::Bring, "nobody"});
    const auto never = sketch.set("never run", 1, {});
    const auto sum = sketch.graph.add_compute_set({"sum", program::Role::Reduce, "sums"});
    sketch.vertex(sum, 1, {});
    const auto bring = sketch.graph.add_exchange({"bring", program::Role::Rearrange, "brings"});
    sketch.graph.add_message(bring, 0, {x}, kBytes, {1, {y}});
    sketch.graph.io_tiles = {3};
    sketch.graph.control =
        graph::repeat(3, {graph::run(silent), graph::run(sum), graph::run(bring), graph::run(sum)});

    const auto program = lower::lower(small_machine(), sketch.graph).program;
    CHECK(program.name == "sketch");
    CHECK(program.io_tiles == std::vector<TileId>{3});
    REQUIRE(program.compute_sets.size() == 1);
    CHECK(program.compute_sets[0].name == "sum");
    CHECK(program.compute_sets[0].role == program::Role::Reduce);
    CHECK(program.compute_sets[0].owner == "sums");
    REQUIRE(program.exchanges.size() == 1);
    CHECK(program.exchanges[0].name == "bring");
    CHECK(program.exchanges[0].role == program::Role::Rearrange);
    CHECK(program.exchanges[0].owner == "brings");
    CHECK(program.vertex_names == std::vector<std::string>{"copy32"});
    CHECK(program.control.kind == Step::Kind::Repeat);
    CHECK(program.control.count == 3);
    std::vector<std::pair<Step::Kind, std::uint32_t>> steps;
    for (const Step& child : program.control.children) {
        steps.emplace_back(child.kind, child.index);
    }
    CHECK(
        (steps == std::vector<std::pair<Step::Kind, std::uint32_t>>{{Step::Kind::ComputeSet, 0},
                                                                    {Step::Kind::Exchange, 0},
                                                                    {Step::Kind::ComputeSet, 0}}));
    CHECK(never.index != sum.index);
}

TEST_CASE("words that decide are where their buffers are", "[kernels]") {
    Sketch sketch;
    sketch.graph.codelets = {"copy"};
    const auto before = sketch.buffer("before", 1, kBytes);
    const auto flags = sketch.buffer("flags", 1, kBytes);
    sketch.tensor(before, 1, true, true);
    sketch.tensor(flags, 1, true, true);
    const auto row = sketch.buffer("row", 2, kBytes);
    sketch.graph.remote_buffers.push_back({.name = "remote", .rows = 1, .row_bytes = kBytes});
    const auto load = sketch.graph.add_stream_copy(
        {.name = "load", .owner = "loader", .pieces = {{2, {row}, kBytes, 0}}});
    const auto word_at = [&](Bytes offset) { return graph::TilePlace(1, {flags, offset}); };
    const auto work = graph::run(sketch.set("work", 2, {}));
    sketch.graph.control = graph::sequence(
        {graph::as_long_as(word_at(0), {graph::when(word_at(8), {work}, {work, work})}),
         graph::stream(Step::Kind::StreamCopy, load, word_at(12)),
         graph::stream(Step::Kind::StreamCopy, load, 3)});
    const auto program = lower::lower(small_machine(), sketch.graph).program;
    const Address begin = address_of(program, 1, "flags");
    const auto check_at = [&](const Step& step, Step::Kind kind, Bytes offset) {
        CHECK(step.kind == kind);
        REQUIRE(step.value);
        CHECK(step.value->tile == 1);
        CHECK(step.value->address == begin + static_cast<Address>(offset));
    };
    const auto& steps = program.control.children;
    REQUIRE(steps.size() == 3);
    check_at(steps[0], Step::Kind::While, 0);
    check_at(steps[0].children.at(0), Step::Kind::If, 8);
    CHECK(steps[0].children[0].children.size() == 2);
    check_at(steps[1], Step::Kind::StreamCopy, 12);
    CHECK_FALSE(steps[2].value);
    CHECK(steps[2].row == 3);
}

TEST_CASE("a repeat stores its round on the tiles whose vertices ask for it", "[kernels]") {
    constexpr std::uint32_t kRounds = 5;
    Sketch sketch;
    sketch.graph.codelets = {"sum"};
    const auto sum = sketch.buffer("sum", 3, 4);
    const auto outer = sketch.graph.add_round("outer");
    sketch.graph.hold(outer, 3, 4);
    sketch.graph.hold(outer, 1, 4);
    const auto inner = sketch.graph.add_round("inner");
    sketch.graph.hold(inner, 3, 4);
    sketch.tensor(sum, 3, false, true);
    const auto set = sketch.graph.add_compute_set({"sum up", program::Role::Work, "test"});
    // the sum of one float, which is the round's bits
    sketch.graph.add_vertex(set, 3, "sum_f32", program::VertexKind::Worker,
                            {graph::round_of(inner), write({sum}, 4), word(1), word(0)});
    auto loop = graph::repeat(kRounds, {graph::run(set)}, inner);
    loop.rounds.push_back(outer);
    sketch.then(loop);
    const auto program = lower::lower(small_machine(), sketch.graph).program;
    const Step& bound = program.control.children.at(0);
    REQUIRE(bound.rounds.size() == 3);
    const std::array where{std::pair(TileId{1}, "round of outer"),
                           std::pair(TileId{3}, "round of inner"),
                           std::pair(TileId{3}, "round of outer")};
    for (std::size_t i = 0; i < where.size(); ++i) {
        const auto& [tile, name] = where.at(i);
        const auto segments = segments_of(program, tile, name);
        REQUIRE(segments.size() == 1);
        CHECK(segments[0]->kind == program::SegmentKind::Metadata);
        CHECK(bound.rounds[i].tile == tile);
        CHECK(bound.rounds[i].address == segments[0]->address);
    }
}

TEST_CASE("leaving out a step that does nothing keeps the meaning of the others", "[kernels]") {
    Sketch sketch;
    sketch.graph.codelets = {"copy"};
    const auto nothing =
        graph::run(sketch.graph.add_compute_set({"nothing", program::Role::Work, "test"}));
    const auto work = graph::run(sketch.set("work", 1, {}));
    graph::Step choice;
    choice.kind = Step::Kind::If;
    choice.children = {nothing, work};
    sketch.graph.control = choice;
    const auto of_if = lower::lower(small_machine(), sketch.graph).program;
    REQUIRE(of_if.control.children.size() == 2);
    CHECK(of_if.control.children[0].kind == Step::Kind::Sequence);
    CHECK(of_if.control.children[0].children.empty());
    CHECK(of_if.control.children[1].kind == Step::Kind::ComputeSet);

    sketch.graph.control = nothing;
    const auto of_nothing = lower::lower(small_machine(), sketch.graph).program;
    CHECK(of_nothing.control.kind == Step::Kind::Sequence);
    CHECK(of_nothing.control.children.empty());
}

TEST_CASE("contents are there from the start, with zeroes behind them", "[kernels]") {
    const spec::MachineSpec machine = small_machine();
    Sketch sketch;
    const auto x = sketch.graph.add_buffer({.name = "x", .read_beyond = 16});
    const auto contents = std::make_shared<const std::vector<std::byte>>(counting(kBytes));
    sketch.graph.hold(x, 0, contents);
    sketch.graph.hold(x, 0, 2 * kBytes);
    sketch.graph.hold(x, 1, kBytes);
    const auto state = sketch.graph.add_buffer(
        {.name = "tables of the kernel's own", .kind = program::SegmentKind::VertexState});
    sketch.graph.hold(state, 0, contents);
    add_bytes_tensor(sketch.graph, "out", x, 0, 2 * kBytes);
    add_bytes_tensor(sketch.graph, "state", state, 0, kBytes);

    const auto program = lower::lower(machine, sketch.graph).program;
    CHECK(test::faults_of(machine, program).empty());
    const auto parts = segments_of(program, 0, "x");
    REQUIRE(parts.size() == 2);
    CHECK(parts[0]->data == contents); // not a copy
    CHECK(parts[1]->address == parts[0]->address + static_cast<Address>(kBytes));
    CHECK(parts[1]->bytes == kBytes + 16);
    const auto outcome =
        test::run_program(machine, program, std::map<std::string, std::vector<std::byte>>{});
    auto expected = *contents;
    CHECK((outcome.tensors.at("state") == expected));
    expected.resize(2 * kBytes);
    CHECK((outcome.tensors.at("out") == expected));
}

TEST_CASE("addresses in contents are filled in", "[kernels]") {
    constexpr std::uint32_t kUntouched = 0x07070707;
    Sketch sketch;
    sketch.graph.codelets = {"copy"};
    const auto lists = sketch.graph.add_buffer({.name = "lists"});
    const auto x = sketch.buffer("x", 0, kBytes);
    sketch.graph.hold(x, 1, kBytes);
    const auto contents = test::shared_bytes(12);
    const auto relocations =
        std::make_shared<const std::vector<graph::Relocation>>(std::vector<graph::Relocation>{
            {.at = 0, .buffer = x.index, .offset = 20},
            {.at = 8, .is_symbol = true, .symbol = sketch.graph.symbol_number("copy64")}});
    sketch.graph.hold(lists, 0, contents, relocations);
    sketch.graph.hold(lists, 1, contents, relocations);
    const auto program = lower::lower(small_machine(), sketch.graph).program;
    const auto& filled = segments_of(program, 0, "lists").at(0)->data;
    std::array<std::uint32_t, 3> words{};
    std::memcpy(words.data(), filled->data(), sizeof words);
    CHECK(words[0] == address_of(program, 0, "x") + 20);
    CHECK(words[1] == kUntouched);
    CHECK(words[2] == program.codelets.at(0).symbols.at("copy64"));
    CHECK(segments_of(program, 1, "lists").at(0)->data == filled); // shared
}

TEST_CASE("each exchange counts with its row and its barrier, and that of a reduction as one too",
          "[kernels]") {
    using program::Role;
    const spec::MachineSpec machine = small_machine();
    const std::vector<std::pair<Role, Cycles>> exchanges{
        {Role::Bring, 100}, {Role::Reduce, 31}, {Role::Rearrange, 7}, {Role::Reduce, 8}};
    lower::Lowered lowered;
    plan::PredictedCycles expected;
    for (const auto& [role, events] : exchanges) {
        lowered.program.exchanges.emplace_back().role = role;
        lowered.exchanges.emplace_back().longest_row_events = events;
        program::Step& step = lowered.program.control.children.emplace_back();
        step.kind = program::Step::Kind::Exchange;
        step.index = static_cast<std::uint32_t>(lowered.exchanges.size() - 1);
        const Cycles row = plan::row_overhead(machine.exchange) + events;
        const Cycles barrier = machine.sync.internal_cycles;
        expected.exchange += row;
        expected.sync += barrier;
        expected.reduction += role == Role::Reduce ? row + barrier : 0;
    }
    for (const auto kind : {program::Step::Kind::If, program::Step::Kind::While}) {
        // nobody knows whether these run
        lowered.program.exchanges.emplace_back().role = Role::Bring;
        lowered.exchanges.emplace_back().longest_row_events = 1000;
        program::Step& decision = lowered.program.control.children.emplace_back();
        decision.kind = kind;
        program::Step& step = decision.children.emplace_back();
        step.kind = program::Step::Kind::Exchange;
        step.index = static_cast<std::uint32_t>(lowered.exchanges.size() - 1);
    }
    const auto predicted = lower::predicted_exchanges(machine, lowered);
    CHECK(predicted.exchange == expected.exchange);
    CHECK(predicted.sync == expected.sync);
    CHECK(predicted.reduction == expected.reduction);
    CHECK(predicted.compute == 0);
}
