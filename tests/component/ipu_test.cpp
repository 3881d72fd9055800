// SPDX-License-Identifier: MIT
#include "models/ipu/ipu.h"
#include "models/listeners/account.h"
#include "models/listeners/progress.h"
#include "models/listeners/trace_producer.h"
#include "models/simulation/simulation.h"
#include "tests/component/hand_program.h"
#include "tests/support/recording_sink.h"
#include "traces/coverage.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <sys/resource.h>

using namespace tessera;
using test::HandProgram;

namespace {

program::Transfer words(TileId from, Address source, std::vector<program::Destination> to,
                        Bytes bytes) {
    program::Transfer transfer;
    transfer.source_tile = from;
    transfer.source_address = source;
    transfer.bytes = bytes;
    transfer.destinations = std::move(to);
    return transfer;
}

/// Tile 0 stores 7 and sends the word to tiles 2 and 3; tile 1 has nothing to do in the exchange.
HandProgram store_and_send() {
    HandProgram hand(test::four_tiles(), test::kStubs);
    const auto store = hand.compute_set("store", {{0, "store_7"}, {1, "loop_of_5"}});
    const auto send = hand.exchange("send", {words(0, 0x80000, {{2, 0x90000}, {3, 0x90000}}, 4)});
    const auto last = hand.compute_set("reduce", {{3, "all_workers"}});
    hand.then_compute(store).then_exchange(send).then_compute(last);
    auto& program = hand.program();
    for (const auto& [name, tile, address] :
         {std::tuple{"sent", 0U, 0x80000U}, std::tuple{"got2", 2U, 0x90000U},
          std::tuple{"got3", 3U, 0x90000U}}) {
        program::Tensor tensor;
        tensor.name = name;
        tensor.type = ElementType::F32;
        tensor.shape = {1};
        tensor.pieces.push_back({tile, address, 0, {}});
        program.tensors.push_back(tensor);
    }
    return hand;
}

std::uint32_t word_of(const simulation::Simulation& simulation, program::ArrayId tensor) {
    const auto bytes = simulation.read(tensor);
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
}

void check_accounts(const listeners::Account& account) {
    for (const auto& tile : account.tiles()) {
        CHECK(tile.sum() == account.cycles());
        CHECK(tile.idle >= 0);
    }
}

} // namespace

TEST_CASE("a compute step lasts the control cost and the slowest stub") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    const auto set = hand.compute_set("uneven", {{0, "loop_of_5"}, {2, "loop_of_50"}});
    hand.then_compute(set);
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto& account = simulation.account();
    const Cycles step = hand.machine().control.step_cycles;
    const Cycles slow = hand.stub_cycles("loop_of_50");
    const Cycles quick = hand.stub_cycles("loop_of_5");
    CHECK(slow > quick);
    CHECK(account.phases().compute == step + slow);
    CHECK(account.cycles() == step + slow);
    CHECK(simulation.systemc_cycles() == account.cycles());
    CHECK(account.tiles()[0].compute == step + quick);
    CHECK(account.tiles()[0].idle == slow - quick);
    CHECK(account.tiles()[1].idle == step + slow);
    CHECK(account.tiles()[2].idle == 0);
    const auto& record = account.compute_sets().at(0);
    CHECK(record.slowest_tile == 2);
    CHECK(record.active_tiles == 2);
    CHECK(record.executions == 1);
    CHECK(account.control_cycles() == 0);
    check_accounts(account);
}

TEST_CASE("a compute set in which no tile works costs nothing") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    hand.then_compute(hand.compute_set("nothing", {}));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    CHECK(simulation.account().cycles() == 0);
    check_accounts(simulation.account());
}

TEST_CASE("an exchange step is a sync then the prologue and each tile's own row") {
    HandProgram hand = store_and_send();
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    CHECK(word_of(simulation, program::tensor(0)) == 7);
    CHECK(word_of(simulation, program::tensor(1)) == 7);
    CHECK(word_of(simulation, program::tensor(2)) == 7);
    const auto& account = simulation.account();
    const auto& record = account.exchanges().at(0);
    CHECK(record.bytes == 8);
    CHECK(record.sent_bytes == 4);
    CHECK(record.bound_cycles == 1);
    CHECK(record.active_tiles == 3);
    CHECK(account.phases().sync == hand.machine().sync.internal_cycles);
    CHECK(account.phases().exchange == record.cycles);
    CHECK(record.slowest_cycles ==
          *std::max_element(record.tile_cycles.begin(), record.tile_cycles.end()));
    // tile 3, which computes afterwards, arrives last at the end
    CHECK(record.cycles == record.tile_cycles[3]);
    CHECK(record.cycles > hand.machine().exchange.prologue_cycles);
    CHECK(account.tiles()[1].exchange == 0);
    for (const auto& tile : account.tiles()) {
        CHECK(tile.sync == hand.machine().sync.internal_cycles);
    }
    check_accounts(account);
}

TEST_CASE("chips side by side have names, memories, accounts and traces of their own") {
    HandProgram loops(test::four_tiles(), test::kStubs);
    loops.then_compute(loops.compute_set("slow", {{1, "loop_of_50"}}));
    HandProgram sends = store_and_send();
    struct Traced {
        explicit Traced(HandProgram& hand) : trace(hand.program(), hand.machine(), sink, names) {}
        test::RecordingSink sink{{true, true, true, true}};
        traces::NameTable names;
        listeners::TraceProducer trace;
    };
    std::array<Traced, 3> traced{Traced(loops), Traced(sends), Traced(loops)};
    std::vector<simulation::Chip> chips;
    for (std::size_t chip = 0; chip < traced.size(); ++chip) {
        HandProgram& hand = chip == 1 ? sends : loops;
        ipu::RunOptions options;
        options.listeners = {&traced[chip].trace};
        chips.push_back({hand.machine(), hand.program(), options});
    }
    simulation::Simulation simulation(chips);
    simulation.run();
    const Cycles slow = loops.machine().control.step_cycles + loops.stub_cycles("loop_of_50");
    for (const std::size_t chip : {0U, 2U}) {
        CHECK(simulation.account(chip).cycles() == slow);
        CHECK(simulation.systemc_cycles(chip) == slow);
        CHECK(simulation.account(chip).exchanges().empty());
    }
    const auto& account = simulation.account(1);
    CHECK(account.cycles() != slow);
    CHECK(account.exchanges().at(0).bytes == 8);
    for (std::size_t chip = 0; chip < traced.size(); ++chip) {
        check_accounts(simulation.account(chip));
        Cycles end = 0;
        for (const auto& span : traced[chip].sink.spans) {
            end = std::max(end, span.end);
        }
        CHECK(end == simulation.account(chip).cycles());
        const std::string name = "ipu_" + std::to_string(chip);
        CHECK(sc_core::sc_find_object(name.c_str()) != nullptr);
        CHECK(sc_core::sc_find_object((name + ".tile_3").c_str()) != nullptr);
    }
    std::uint32_t word = 0;
    std::memcpy(&word, simulation.read(program::tensor(2), 1).data(), sizeof word);
    CHECK(word == 7);
}

TEST_CASE("a chip that faults is told by its name, the others run to their end") {
    HandProgram good = store_and_send();
    HandProgram bad(test::four_tiles(), test::kStubs);
    bad.then_compute(bad.compute_set("loud", {{2, "fault_early"}}));
    simulation::Simulation simulation(std::vector<simulation::Chip>{
        {good.machine(), good.program(), {}}, {bad.machine(), bad.program(), {}}});
    CHECK_THROWS_WITH(simulation.run(), Catch::Matchers::Contains("ipu_1.tile_2"));
    CHECK(simulation.systemc_cycles(0) == simulation.account(0).cycles());
}

TEST_CASE("a repeat runs its steps as often as it says") {
    HandProgram hand = store_and_send();
    hand.then_sync().repeated(3);
    std::vector<std::int64_t> steps;
    std::vector<Cycles> cycles;
    const auto tell = [&](std::int64_t done, std::int64_t total, Cycles cycle) {
        CHECK(total == 12);
        steps.push_back(done);
        cycles.push_back(cycle);
    };
    listeners::Progress progress(hand.program(), tell);
    ipu::RunOptions options;
    options.threads = 4;
    options.listeners = {&progress};
    simulation::Simulation simulation(hand.machine(), hand.program(), options);
    simulation.run();
    const auto& account = simulation.account();
    CHECK(account.exchanges().at(0).executions == 3);
    CHECK(account.compute_sets().at(0).executions == 3);
    CHECK(account.exchanges().at(0).bytes == 24);
    CHECK(account.phases().sync == 6 * hand.machine().sync.internal_cycles);
    // at each exchange, each sync and the end
    CHECK(steps == std::vector<std::int64_t>{2, 4, 6, 8, 10, 12, 12});
    CHECK(std::is_sorted(cycles.begin(), cycles.end()));
    CHECK(cycles.back() == account.cycles());
    CHECK(account.control_cycles() == 3 * hand.machine().control.repeat_cycles);
    check_accounts(account);
}

TEST_CASE("what steps count is a sum over their executions") {
    constexpr std::int64_t kRounds = 3;
    HandProgram hand = store_and_send();
    hand.repeated(kRounds);
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto& account = simulation.account();
    const auto& sent = account.exchanges().at(0);
    CHECK(sent.executions == kRounds);
    CHECK(sent.bytes == kRounds * 8);
    CHECK(sent.sent_bytes == kRounds * 4);
    CHECK(sent.bound_cycles == kRounds * 1);
    CHECK(sent.cycles % kRounds == 0);
    const auto& workers = account.compute_sets().at(1);
    const Cycles slots = hand.machine().tile.workers;
    // setzi, four brnzdec, exitz of each worker; setzi, runall, sync, br of the supervisor
    CHECK(workers.counts.worker_issues() == kRounds * slots * (1 + 4 + 1));
    CHECK(workers.counts.worker_bundles() == workers.counts.worker_issues());
    CHECK(workers.counts.supervisor_instructions() == kRounds * 4);
    CHECK(workers.bound_cycles == kRounds * (slots * 6 + 4));
    CHECK(workers.critical.bound_cycles == kRounds * (slots * 6 + 4));
    // workers of equal length: the busiest is the mean one
    CHECK(workers.counts.launches() == kRounds);
    const Cycles worker = kRounds * 6 * hand.machine().tile.round_cycles();
    CHECK(workers.critical.work.busiest_worker_cycles == worker);
    CHECK(workers.critical.work.mean_worker_cycles == worker);
    CHECK(*std::max_element(workers.busiest_worker.begin(), workers.busiest_worker.end()) ==
          worker);
    CHECK(workers.mean.busiest_worker == static_cast<double>(worker));
    CHECK(sent.critical.bound_cycles == kRounds * 1);
    // of the first set the busiest tile is tile 1: setzi, six brnzdec, br
    CHECK(account.compute_sets().at(0).bound_cycles == kRounds * 8);
    CHECK(account.compute_sets().at(0).counts.supervisor_instructions() == kRounds * (4 + 8));
}

TEST_CASE("what a launch of unlike workers counts follows from the issues of each") {
    constexpr std::int64_t kTurns = 19;
    const std::string text = fmt::format(R"(
.supervisor
.globl two
two:
    setzi $m0, tall
    run $m0, $mzero, 0
    setzi $m0, low
    run $m0, $mzero, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $lr
.worker
.align 8
tall:
    setzi $m0, {}
1:  brnzdec $m0, 1b
    exitz $mzero
.align 8
low:
    exitz $mzero
)",
                                         kTurns);
    constexpr std::int64_t kTall = 1 + (kTurns + 1) + 1;
    constexpr std::int64_t kWorkers = kTall + 1; // issues of both
    constexpr std::int64_t kSupervisor = 6;
    std::deque<HandProgram> hands;
    std::vector<simulation::Chip> chips;
    for (const std::int64_t workers : {2, 3, 4, 5, 6, 8}) {
        auto machine = test::four_tiles();
        machine.tile.workers = workers;
        HandProgram& hand = hands.emplace_back(machine, text);
        hand.then_compute(hand.compute_set("two", {{1, "two"}}));
        chips.push_back({hand.machine(), hand.program(), {}});
    }
    simulation::Simulation simulation(std::move(chips));
    simulation.run();
    for (std::size_t chip = 0; chip < hands.size(); ++chip) {
        const auto& tile = hands[chip].machine().tile;
        CAPTURE(tile.workers);
        const Cycles round = tile.round_cycles();
        const auto& record = simulation.account(chip).compute_sets().at(0);
        CHECK(record.counts.worker_issues() == kWorkers);
        CHECK(record.counts.supervisor_instructions() == kSupervisor);
        // of one worker at least an equal share of all issues, each a round behind the last
        const std::int64_t most = (kWorkers + tile.workers - 1) / tile.workers;
        CHECK(record.bound_cycles == std::max(kWorkers + kSupervisor, (most - 1) * round + 1));
        const auto& work = record.critical.work;
        CHECK(work.busiest_worker_cycles == kTall * round);
        CHECK(work.mean_worker_cycles == kWorkers * round / tile.workers);
        CHECK(std::accumulate(work.issues_of.begin(), work.issues_of.end(), std::int64_t{0}) ==
              kWorkers);
        CHECK(work.issues_of[0] == kTall);
        CHECK(work.uneven.launch == 1);
        CHECK(work.uneven.worker == 0);
        CHECK(work.uneven.busiest == kTall * round);
        CHECK(work.uneven.mean == kWorkers * round / tile.workers);
    }
}

TEST_CASE("spans of contexts begin behind the control program's own step") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    hand.then_sync();
    hand.then_compute(hand.compute_set("work", {{1, "loop_of_5"}, {2, "all_workers"}}));
    test::RecordingSink sink({false, true, true, false});
    traces::NameTable names;
    listeners::TraceProducer trace(hand.program(), hand.machine(), sink, names);
    ipu::RunOptions options;
    options.listeners = {&trace};
    simulation::Simulation simulation(hand.machine(), hand.program(), options);
    simulation.run();
    const auto& machine = hand.machine();
    const Cycles slot0 = machine.sync.internal_cycles + machine.control.step_cycles;
    using traces::Kind;
    const auto spans = hand.stub_spans("all_workers", 2);
    CHECK(spans.size() >= static_cast<std::size_t>(machine.tile.workers));
    for (const auto& span : spans) {
        const auto track = span.context < 0
                               ? traces::supervisor_track(2)
                               : traces::worker_track(2, static_cast<std::uint8_t>(span.context));
        CHECK(sink.of(track, Kind::Compute) ==
              test::Events{{slot0 + span.begin, slot0 + span.end}});
    }
    CHECK(sink.of(traces::worker_track(0, 0), Kind::Compute).empty());
}

TEST_CASE("of several faults the earliest is reported whatever thread found it") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    hand.then_compute(hand.compute_set("quiet", {{0, "at_once"}}));
    hand.then_compute(hand.compute_set(
        "loud", {{0, "fault_late"}, {1, "fault_late"}, {2, "fault_early"}, {3, "fault_early"}}));
    ipu::RunOptions options;
    options.threads = 4;
    simulation::Simulation simulation(hand.machine(), hand.program(), options);
    try {
        simulation.run();
        FAIL("expected a fault");
    } catch (const ProgramError& error) {
        const std::string text = error.what();
        CAPTURE(text);
        CHECK(text.rfind("ipu_0.tile_2.supervisor @ ", 0) == 0);
        CHECK(text.find("ld32") != std::string::npos);
        CHECK(text.find("hand.S:") != std::string::npos);
    }
}

TEST_CASE("spans of a trace cover the run and agree with the accounts") {
    HandProgram hand = store_and_send();
    hand.repeated(2);
    traces::Selection selection;
    selection.level = traces::Level::Worker;
    selection.tiles.assign(4, true);
    traces::CoverageSink sink(selection);
    traces::NameTable names;
    listeners::TraceProducer trace(hand.program(), hand.machine(), sink, names);
    ipu::RunOptions options;
    options.listeners = {&trace};
    simulation::Simulation simulation(hand.machine(), hand.program(), options);
    simulation.run();
    const auto& account = simulation.account();
    CHECK(sink.problems(account.cycles()).empty());
    for (TileId tile = 0; tile < 4; ++tile) {
        const auto totals = sink.totals(traces::tile_track(tile));
        const auto& kinds = account.tiles()[tile];
        CHECK(totals[0] == kinds.compute);
        CHECK(totals[1] == kinds.exchange);
        CHECK(totals[2] == kinds.sync);
        CHECK(totals[3] == kinds.stream);
        CHECK(totals[4] == kinds.idle);
    }
    const auto machine = sink.totals(traces::machine_track());
    CHECK(machine[0] == account.phases().compute);
    CHECK(machine[1] == account.phases().exchange);
    CHECK(machine[2] == account.phases().sync);
    CHECK(sink.totals(traces::worker_track(3, 0))[0] > 0);
    CHECK(sink.totals(traces::worker_track(0, 0))[0] == 0);
}

TEST_CASE("a stub on a tile without an image is refused") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    hand.then_compute(hand.compute_set("work", {{1, "at_once"}}));
    hand.program().image_of_tile[1] = program::Program::kNoImage;
    CHECK_THROWS_WITH(simulation::Simulation(hand.machine(), hand.program(), {}),
                      "compute set work: tile_1 has a stub but no image");
}

TEST_CASE("a stub on a tile behind the last image is refused") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    hand.then_compute(hand.compute_set("work", {{1, "at_once"}}));
    hand.program().image_of_tile.resize(1);
    CHECK_THROWS_WITH(simulation::Simulation(hand.machine(), hand.program(), {}),
                      "compute set work: tile_1 has a stub but no image");
}

TEST_CASE("images for more tiles than the chip has are refused") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    hand.program().name = "wide";
    hand.program().image_of_tile.resize(5, program::Program::kNoImage);
    CHECK_THROWS_WITH(simulation::Simulation(hand.machine(), hand.program(), {}),
                      "program wide: got images for 5 tiles, expected at most 4");
}

TEST_CASE("a chip alone has no messages for others") {
    test::HandProgram hand(test::four_tiles(), test::kStubs);
    hand.program().link_exchanges.emplace_back().name = "ring";
    CHECK_THROWS_WITH(simulation::Simulation(hand.machine(), hand.program(), {}),
                      "link exchange ring: this chip belongs to no system");
}

TEST_CASE("a control step that names nothing is refused") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    hand.then_exchange(0);
    CHECK_THROWS_AS(simulation::Simulation(hand.machine(), hand.program(), {}), ProgramError);
}

TEST_CASE("an exchange whose rows were changed stops the run when it is reached") {
    HandProgram hand = store_and_send();
    auto& segments = hand.program().images[2].segments;
    segments.back().data = test::bytes_of_words(std::vector<std::uint32_t>(
        static_cast<std::size_t>(segments.back().bytes / 4), 0xffffffffU));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    CHECK_THROWS_AS(simulation.run(), ProgramError);
    CHECK(word_of(simulation, program::tensor(0)) == 7);
    CHECK(word_of(simulation, program::tensor(1)) == 0);
}

TEST_CASE("a whole chip costs host memory only for the tiles that work") {
    spec::MachineSpec machine;
    HandProgram hand(machine, test::kStubs);
    auto& images = hand.program().image_of_tile;
    std::fill(images.begin() + 1, images.end(), program::Program::kNoImage);
    hand.then_compute(hand.compute_set("one", {{0, "loop_of_50"}}));
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    CHECK(simulation.account().tiles().size() == 1472);
    CHECK(simulation.account().compute_sets().at(0).active_tiles == 1);
    // All tiles together have 897 MiB.
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    CHECK(usage.ru_maxrss < 200 * 1024);
    check_accounts(simulation.account());
}

namespace {

/// What a listener of ours hears of a run.
struct Heard final : events::Listener {
    void segment(const events::Segment& segment) override {
        for (const auto& span : segment.spans) {
            spans.emplace_back(segment.tile, span);
        }
    }
    void released(const events::Release& release) override { releases.push_back(release.cycle); }

    /// Of `tile` in `step`: (begin, end).
    [[nodiscard]] std::pair<Cycles, Cycles> of(TileId tile, std::int64_t step) const {
        for (const auto& [who, span] : spans) {
            if (who == tile && span.step == step) {
                return {span.begin, span.end};
            }
        }
        return {-1, -1};
    }
    std::vector<std::pair<TileId, events::Span>> spans;
    std::vector<Cycles> releases;
};

} // namespace

TEST_CASE("a tile goes on to its next compute set while another still computes") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    hand.then_compute(hand.compute_set("first", {{0, "loop_of_5"}, {2, "loop_of_50"}}));
    hand.then_compute(hand.compute_set("second", {{0, "loop_of_50"}, {2, "loop_of_5"}}));
    Heard heard;
    simulation::Simulation simulation(hand.machine(), hand.program(), {.listeners = {&heard}});
    simulation.run();
    CHECK(heard.of(0, 2).first == heard.of(0, 1).second);
    CHECK(heard.of(0, 2).first < heard.of(2, 1).second);
    const Cycles both = 2 * hand.machine().control.step_cycles + hand.stub_cycles("loop_of_5") +
                        hand.stub_cycles("loop_of_50");
    CHECK(simulation.account().cycles() == both);
    CHECK(heard.releases == std::vector<Cycles>{both});
    check_accounts(simulation.account());
}

TEST_CASE("a tile whose row is short computes while others still receive") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    const auto send = hand.exchange(
        "send", {words(0, 0x80000, {{1, 0x90000}}, 4000), words(2, 0x80000, {{3, 0x90000}}, 4)});
    hand.then_exchange(send);
    hand.then_compute(hand.compute_set("work", {{3, "loop_of_50"}}));
    Heard heard;
    simulation::Simulation simulation(hand.machine(), hand.program(), {.listeners = {&heard}});
    simulation.run();
    CHECK(heard.of(3, 2).first == heard.of(3, 1).second);
    CHECK(heard.of(3, 2).second < heard.of(1, 1).second);
    const auto& account = simulation.account();
    // the sender of many words or their receiver is the last
    CHECK(account.cycles() ==
          hand.machine().sync.internal_cycles + account.exchanges()[0].slowest_cycles);
    CHECK(account.compute_sets()[0].cycles == 0);
    CHECK(account.compute_sets()[0].slowest_cycles > 0);
    check_accounts(account);
}

namespace {

/// Steps of all kinds, some of them on tiles that come at the same time.
HandProgram busy_program(TileId slow) {
    HandProgram hand(test::four_tiles(), test::kStubs);
    auto& program = hand.program();
    program.remote_buffers.push_back({"far", program::RemoteBuffer::Place::StreamingMemory, 8, 64});
    using Copy = program::StreamCopy;
    program.stream_copies.push_back(
        {"in", 0, Copy::Direction::Read, 1, {{2, 0xa0000, 32, 0}, {3, 0xa0000, 32, 32}}});
    program.stream_copies.push_back(
        {"out", 0, Copy::Direction::Write, 1, {{0, 0xa0000, 32, 0}, {1, 0xa0000, 32, 32}}});
    program.stream_copies.push_back({"in too", 0, Copy::Direction::Read, 1, {{1, 0xb0000, 64, 0}}});
    program.io_tiles = {2, 3};
    const auto step = [](program::Step::Kind kind, std::uint32_t index, std::int64_t row) {
        auto made = HandProgram::step(kind, index);
        made.row = row;
        return made;
    };
    hand.then(step(program::Step::Kind::StreamStart, 0, 3));
    hand.then_compute(hand.compute_set("store", {{0, "store_7"}, {1, "loop_of_5"}}));
    hand.then(step(program::Step::Kind::StreamCopy, 1, 1));
    hand.then(step(program::Step::Kind::StreamCopy, 2, 5));
    hand.then(step(program::Step::Kind::StreamWait, 0, 0));
    hand.then_exchange(hand.exchange("send", {words(0, 0x80000, {{2, 0x90000}, {3, 0x90000}}, 4)}));
    hand.then_compute(hand.compute_set(
        "work", {{slow, "loop_of_50"}, {3 - slow, "all_workers"}, {2, "loop_of_5"}}));
    hand.then_compute(hand.compute_set("more", {{2, "loop_of_5"}, {1, "loop_of_5"}}));
    hand.then_sync().repeated(3);
    return hand;
}

/// All that listeners are told, as text that is the same in whatever order one cycle's is told.
std::vector<std::string> story_of(const std::vector<std::pair<TileId, events::Span>>& spans) {
    std::vector<std::string> story;
    for (const auto& [tile, span] : spans) {
        story.push_back(std::to_string(span.end) + " " + std::to_string(span.begin) + " " +
                        std::to_string(tile) + " " + std::to_string(static_cast<int>(span.doing)) +
                        " " + std::to_string(span.index) + " " + std::to_string(span.awaited));
    }
    std::sort(story.begin(), story.end());
    return story;
}

struct Chip {
    Chip(const char* name, HandProgram& hand, std::optional<std::uint64_t> shuffle = {})
        : account(hand.program(), 4), chip(name, hand.machine(), hand.program(),
                                           {.listeners = {&account, &heard}, .shuffle = shuffle}) {}
    Heard heard;
    listeners::Account account;
    ipu::Ipu chip;
};

} // namespace

TEST_CASE("chips of one process, and of any order within a cycle, end as alone") {
    // SystemC elaborates once: eight chips in one process, each with a program of its own.
    std::deque<HandProgram> programs;
    std::deque<Chip> chips;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        programs.push_back(busy_program(0));
        chips.emplace_back(("ipu_" + std::to_string(seed)).c_str(), programs.back(),
                           seed == 0 ? std::nullopt : std::optional(seed));
    }
    programs.push_back(busy_program(1));
    chips.emplace_back("ipu_6", programs.back());
    HandProgram faulty(test::four_tiles(), test::kStubs);
    faulty.then_compute(faulty.compute_set("loud", {{3, "fault_late"}, {1, "fault_late"}}));
    Chip fault("ipu_7", faulty, 5);
    sc_core::sc_start();
    const auto story = story_of(chips[0].heard.spans);
    CHECK(story.size() > 60);
    for (std::size_t i = 0; i < 6; ++i) {
        CAPTURE(i);
        CHECK_NOTHROW(chips[i].chip.check_finished());
        CHECK(chips[i].chip.finished_at() == chips[0].chip.finished_at());
        CHECK(chips[i].account.cycles() == chips[0].chip.finished_at());
        CHECK(story_of(chips[i].heard.spans) == story);
        CHECK(chips[i].heard.releases == chips[0].heard.releases);
        check_accounts(chips[i].account);
    }
    CHECK_NOTHROW(chips[6].chip.check_finished());
    CHECK(story_of(chips[6].heard.spans) != story);
    CHECK(chips[6].account.cycles() == chips[6].chip.finished_at());
    CHECK_THROWS_WITH(fault.chip.check_finished(), Catch::StartsWith("ipu_7.tile_1.supervisor @ "));
}

TEST_CASE("workers of a program that wait for each other run slot by slot") {
    // worker 0 waits for the word of worker 5, and doubles it
    HandProgram hand(test::four_tiles(), R"(
        .supervisor
        .globl waits
        waits:  setzi $m0, worker
                runall $m0, $mzero, 0
                sync TEXCH_SYNCZONE_LOCAL
                br $lr
        .worker
        worker: get $m0, $WSR
                and $m0, $m0, 7
                setzi $m1, 0x80000
                brz $m0, 2f
                cmpeq $m2, $m0, 5
                brz $m2, 3f
                st32 $m0, $m1, $mzero, 0
                bri 3f
        2:      ld32 $m2, $m1, $mzero, 0
                brz $m2, 2b
                add $m2, $m2, $m2
                st32 $m2, $m1, $mzero, 1
        3:      exitz $mzero
    )");
    const auto set = hand.compute_set("waits", {{0, "waits"}, {2, "waits"}});
    hand.then_compute(set).then_compute(set);
    program::Tensor tensor;
    tensor.name = "doubled";
    tensor.type = ElementType::F32;
    tensor.shape = {1};
    tensor.pieces.push_back({2, 0x80004, 0, {}});
    hand.program().tensors.push_back(tensor);
    // the word waited for is known to timing mode, as it stands in metadata
    for (const TileId tile : {0U, 2U}) {
        hand.program().images.at(tile).segments.push_back(
            {0x80000, 8, program::SegmentKind::Metadata, "flags", test::bytes_of_words({0, 0})});
    }
    ipu::RunOptions timing;
    timing.timing = ipu::TimingOptions{1};
    std::vector<simulation::Chip> chips;
    for (const ipu::RunOptions& options : {ipu::RunOptions{}, timing}) {
        chips.push_back({hand.machine(), hand.program(), options});
    }
    simulation::Simulation simulation(std::move(chips));
    simulation.run();
    CHECK(word_of(simulation, program::tensor(hand.program().tensors.size() - 1)) == 10);
    check_accounts(simulation.account());
    check_accounts(simulation.account(1));
    CHECK(simulation.account(1).cycles() == simulation.account().cycles());
    CHECK(simulation.timing(1)->phases > 0);
}
