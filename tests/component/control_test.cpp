// SPDX-License-Identifier: MIT
// Control programs on a chip of four tiles: what they decide and what they cost.
#include "base/error.h"
#include "models/listeners/trace_producer.h"
#include "models/simulation/simulation.h"
#include "models/timing/control_timing.h"
#include "models/timing/port_timing.h"
#include "tests/component/hand_program.h"
#include "traces/coverage.h"

#include <catch2/catch.hpp>

using namespace tessera;
using test::HandProgram;
using Kind = program::Step::Kind;

namespace {

constexpr Address kCounter = 0x80000;
constexpr program::ArrayId kCounterTensor = program::tensor(0);
constexpr program::ArrayId kSumTensor = program::tensor(1);

/// count_down subtracts one from the word at kCounter, add_to_next adds it to the word behind.
const char* const kCounting = R"(
.supervisor
.globl count_down, add_to_next, spin
spin:
    setzi $m1, 0x80000
    ld32 $m0, $m1, $mzero, 0
1:  brnzdec $m0, 1b
    br $lr
count_down:
    setzi $m1, 0x80000
    ld32 $m0, $m1, $mzero, 0
    add $m0, $m0, -1
    st32 $m0, $m1, $mzero, 0
    br $lr
add_to_next:
    setzi $m1, 0x80000
    ld32 $m0, $m1, $mzero, 0
    ld32 $m2, $m1, $mzero, 1
    add $m0, $m0, $m2
    st32 $m0, $m1, $mzero, 1
    br $lr
)";

struct Counting {
    explicit Counting(TileId where = 1) : hand(test::four_tiles(), kCounting), tile(where) {
        down = hand.compute_set("down", {{where, "count_down"}});
        add = hand.compute_set("add", {{where, "add_to_next"}});
        for (const auto& [name, offset] : {std::pair{"counter", 0U}, std::pair{"sum", 4U}}) {
            program::Tensor tensor;
            tensor.name = name;
            tensor.type = ElementType::F32;
            tensor.shape = {1};
            tensor.pieces.push_back({where, kCounter + offset, 0, {}});
            hand.program().tensors.push_back(tensor);
        }
    }

    [[nodiscard]] program::Step on_counter(Kind kind, std::vector<program::Step> children) const {
        auto made = HandProgram::step(kind, 0, std::move(children));
        made.value = program::TileValue{tile, kCounter};
        return made;
    }
    [[nodiscard]] program::Step compute(std::uint32_t index) const {
        return HandProgram::step(Kind::ComputeSet, index);
    }
    /// Cycles of one look at the counter.
    [[nodiscard]] Cycles look() const {
        const auto& machine = hand.machine();
        return machine.sync.internal_cycles + timing::word_broadcast_cycles(machine, tile) +
               machine.control.branch_cycles;
    }
    [[nodiscard]] Cycles round() const {
        return 2 * hand.machine().control.step_cycles + hand.stub_cycles("count_down", tile) +
               hand.stub_cycles("add_to_next", tile);
    }

    HandProgram hand;
    TileId tile;
    std::uint32_t down = 0;
    std::uint32_t add = 0;
};

void write_word(simulation::Simulation& simulation, program::ArrayId tensor, std::uint32_t word) {
    simulation.write(tensor, std::as_bytes(std::span(&word, 1)));
}

std::uint32_t word_of(const simulation::Simulation& simulation, program::ArrayId tensor) {
    const auto bytes = simulation.read(tensor);
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
}

void check_accounts(const simulation::Simulation& simulation) {
    const auto& account = simulation.account();
    CHECK(simulation.systemc_cycles() == account.cycles());
    for (const auto& tile : account.tiles()) {
        CHECK(tile.sum() == account.cycles());
        CHECK(tile.idle >= 0);
    }
}

void check_while(std::uint32_t rounds) {
    Counting counting;
    counting.hand.then(counting.on_counter(
        Kind::While, {counting.compute(counting.add), counting.compute(counting.down)}));
    simulation::Simulation simulation(counting.hand.machine(), counting.hand.program(), {});
    write_word(simulation, kCounterTensor, rounds);
    simulation.run();
    CHECK(word_of(simulation, kCounterTensor) == 0);
    CHECK(word_of(simulation, kSumTensor) == rounds * (rounds + 1) / 2);
    CHECK(simulation.account().cycles() ==
          rounds * (counting.look() + counting.round()) + counting.look());
    check_accounts(simulation);
}

void check_if(std::uint32_t word) {
    Counting counting(3);
    counting.hand.then(counting.on_counter(
        Kind::If, {counting.compute(counting.down), counting.compute(counting.add)}));
    simulation::Simulation simulation(counting.hand.machine(), counting.hand.program(), {});
    write_word(simulation, kCounterTensor, word);
    write_word(simulation, kSumTensor, 40);
    simulation.run();
    CHECK(word_of(simulation, kCounterTensor) == (word == 0 ? 0 : word - 1));
    const auto& sets = simulation.account().compute_sets();
    CHECK(sets[counting.down].executions == (word == 0 ? 0 : 1));
    CHECK(sets[counting.add].executions == (word == 0 ? 1 : 0));
    check_accounts(simulation);
}

/// Steps last as long repeated, called and unrolled but for the control cost.
void check_form(const std::string& form) {
    constexpr std::uint32_t kRounds = 4;
    Counting counting;
    const std::vector<program::Step> body{counting.compute(counting.add),
                                          HandProgram::step(Kind::Sync),
                                          counting.compute(counting.down)};
    const auto& control = counting.hand.machine().control;
    Cycles control_cycles = 0;
    if (form == "repeated") {
        auto repeat = HandProgram::step(Kind::Repeat, 0, body);
        repeat.count = kRounds;
        counting.hand.then(repeat);
        control_cycles = kRounds * control.repeat_cycles;
    }
    if (form == "called") {
        counting.hand.program().functions.push_back(
            {"body", HandProgram::step(Kind::Sequence, 0, body)});
        control_cycles = kRounds * control.call_cycles;
    }
    for (std::uint32_t round = 0; round < kRounds && form != "repeated"; ++round) {
        counting.hand.then(form == "called" ? HandProgram::step(Kind::Call)
                                            : HandProgram::step(Kind::Sequence, 0, body));
    }
    simulation::Simulation simulation(counting.hand.machine(), counting.hand.program(), {});
    write_word(simulation, kCounterTensor, kRounds);
    simulation.run();
    CHECK(word_of(simulation, kSumTensor) == kRounds * (kRounds + 1) / 2);
    const auto& account = simulation.account();
    CHECK(account.control_cycles() == control_cycles);
    CHECK(account.cycles() - control_cycles ==
          kRounds * (counting.round() + counting.hand.machine().sync.internal_cycles));
    check_accounts(simulation);
}

} // namespace

TEST_CASE("a while runs until a compute set has counted its word down") {
    check_while(5);
}

TEST_CASE("a while looks before its first round") {
    check_while(0);
}

TEST_CASE("an if takes its first side where the word is not 0") {
    check_if(3);
}

TEST_CASE("an if takes its second side where the word is 0") {
    check_if(0);
}

TEST_CASE("unrolled steps have no control cost") {
    check_form("unrolled");
}

TEST_CASE("repeated steps cost their rounds besides") {
    check_form("repeated");
}

TEST_CASE("called steps cost their calls besides") {
    check_form("called");
}

TEST_CASE("a barrier lasts as its zone says") {
    HandProgram hand(test::four_tiles(), test::kStubs);
    for (const auto zone :
         {program::SyncZone::chip(), program::SyncZone::group(0), program::SyncZone::host()}) {
        auto sync = HandProgram::step(Kind::Sync);
        sync.zone = zone;
        hand.then(sync);
    }
    simulation::Simulation simulation(hand.machine(), hand.program(), {});
    simulation.run();
    const auto& machine = hand.machine();
    CHECK(simulation.account().phases().sync == machine.sync.internal_cycles +
                                                    machine.sync.external_cycles +
                                                    timing::host_port(machine).latency_cycles);
    check_accounts(simulation);
}

TEST_CASE("a while without an end stops the run") {
    Counting counting;
    auto machine = counting.hand.machine();
    machine.control.while_limit_rounds = 10;
    counting.hand.then(counting.on_counter(Kind::While, {counting.compute(counting.add)}));
    simulation::Simulation simulation(machine, counting.hand.program(), {});
    write_word(simulation, kCounterTensor, 1);
    CHECK_THROWS_WITH(simulation.run(), Catch::Matchers::Contains("goes on after 10 rounds"));
    CHECK(word_of(simulation, kSumTensor) == 10);
}

TEST_CASE("a word for a decision costs what a planned broadcast costs") {
    const TileId from = GENERATE(0U, 700U, 1471U);
    spec::MachineSpec machine;
    program::Transfer word;
    word.source_tile = from;
    word.source_address = kCounter;
    word.bytes = 4;
    for (TileId to = 0; to < static_cast<TileId>(machine.chip.tiles); ++to) {
        if (to != from) {
            word.destinations.push_back({to, 0x90000});
        }
    }
    const auto planned = exchange_plan::plan_exchange_with_stats(machine, "word", {word});
    const Cycles rows = machine.exchange.prologue_cycles + planned.stats.longest_row_events +
                        machine.exchange.row_return_cycles;
    const Cycles formula = timing::word_broadcast_cycles(machine, from);
    CAPTURE(rows, formula);
    CHECK(std::abs(rows - formula) <= 8);
}

TEST_CASE("decisions of a control program are in the trace") {
    Counting counting;
    counting.hand.then(counting.on_counter(
        Kind::While, {counting.compute(counting.add), counting.compute(counting.down)}));
    traces::Selection selection;
    selection.level = traces::Level::Tile;
    selection.tiles.assign(4, true);
    traces::CoverageSink sink(selection);
    traces::NameTable names;
    listeners::TraceProducer trace(counting.hand.program(), counting.hand.machine(), sink, names);
    ipu::RunOptions options;
    options.listeners = {&trace};
    simulation::Simulation simulation(counting.hand.machine(), counting.hand.program(), options);
    write_word(simulation, kCounterTensor, 2);
    simulation.run();
    const auto& account = simulation.account();
    CHECK(sink.problems(account.cycles()).empty());
    CHECK(sink.totals(traces::machine_track())[1] == account.phases().exchange);
    CHECK(sink.totals(traces::tile_track(0))[0] == account.tiles()[0].compute);
}

namespace {

/// Runs the loop of check_while in timing mode, with a counter that is part of the program.
void check_timing_while(program::SegmentKind kind) {
    constexpr std::uint32_t kRounds = 5;
    Counting counting;
    counting.hand.then(counting.on_counter(
        Kind::While, {counting.compute(counting.add), counting.compute(counting.down)}));
    counting.hand.program()
        .images.at(counting.tile)
        .segments.push_back({kCounter, 8, kind, "counter", test::bytes_of_words({kRounds, 0})});
    ipu::RunOptions options;
    options.timing = ipu::TimingOptions{4};
    simulation::Simulation simulation(counting.hand.machine(), counting.hand.program(),
                                      std::move(options));
    if (kind == program::SegmentKind::Tensor) {
        CHECK_THROWS_AS(simulation.run(), NeedsData);
        return;
    }
    simulation.run();
    CHECK(simulation.account().cycles() ==
          kRounds * (counting.look() + counting.round()) + counting.look());
    CHECK(word_of(simulation, kSumTensor) == kRounds * (kRounds + 1) / 2);
    const auto timing = simulation.timing();
    REQUIRE(timing);
    CHECK(timing->phases == 2 * kRounds);
    CHECK(timing->phases_run == 2 * kRounds); // each finds another counter
    CHECK(timing->audited_tiles == 4);
    check_accounts(simulation);
}

} // namespace

namespace {

/// Spins as often in each round as its number says, on tensor data that no mode has.
void check_rounds(bool timing) {
    constexpr std::uint32_t kRounds = 5;
    constexpr Cycles kTurn = 6; // of the supervisor, which waits for its own result
    Counting counting;
    const auto spin = counting.hand.compute_set("spin", {{counting.tile, "spin"}});
    auto loop = HandProgram::step(Kind::Repeat, 0,
                                  {counting.compute(spin), counting.compute(counting.add)});
    loop.count = kRounds;
    loop.rounds = {{0, kCounter}, {counting.tile, kCounter}};
    counting.hand.then(loop);
    const auto& control = counting.hand.machine().control;
    const Cycles round = control.repeat_cycles + 3 * control.step_cycles +
                         counting.hand.stub_cycles("spin", counting.tile) +
                         counting.hand.stub_cycles("add_to_next", counting.tile);
    counting.hand.program()
        .images.at(counting.tile)
        .segments.push_back(
            {kCounter, 4, program::SegmentKind::Tensor, "round", test::bytes_of_words({77})});
    ipu::RunOptions options;
    if (timing) {
        options.timing = ipu::TimingOptions{4};
    }
    simulation::Simulation simulation(counting.hand.machine(), counting.hand.program(),
                                      std::move(options));
    simulation.run();
    const std::uint32_t sum = kRounds * (kRounds - 1) / 2;
    CHECK(simulation.account().cycles() == kRounds * round + kTurn * sum);
    if (!timing) {
        CHECK(word_of(simulation, kSumTensor) == sum);
    }
    CHECK(word_of(simulation, kCounterTensor) == kRounds - 1);
    check_accounts(simulation);
}

} // namespace

TEST_CASE("timing mode counts the addresses that it does not know over tiles and rounds",
          "[component][system]") {
    constexpr std::uint32_t kRounds = 3;
    constexpr Address kWhere = 0x80000;
    test::HandProgram hand(test::four_tiles(), R"(
.supervisor
.globl load_where_it_says
load_where_it_says:
    setzi $m1, 0x80000
    ld32 $m0, $m1, $mzero, 0
    ld32 $m2, $m0, $mzero, 0
    br $lr
)");
    const std::map<TileId, std::string> all{
        {0, "load_where_it_says"}, {1, "load_where_it_says"}, {3, "load_where_it_says"}};
    hand.then_compute(hand.compute_set("load", all)).repeated(kRounds);
    for (const auto& [tile, symbol] : all) {
        hand.program().images.at(tile).segments.push_back(
            {kWhere, 4, program::SegmentKind::Tensor, "where", test::bytes_of_words({kWhere})});
    }
    ipu::RunOptions options;
    options.timing = ipu::TimingOptions{0};
    simulation::Simulation simulation(hand.machine(), hand.program(), std::move(options));
    simulation.run();
    const auto timing = simulation.timing();
    REQUIRE(timing);
    CHECK(timing->unknown_addresses == kRounds * std::ssize(all));
    CHECK(timing->phases == kRounds * std::ssize(all));
}

TEST_CASE("vertices read the round that a repeat stores", "[component][system]") {
    check_rounds(false);
}
TEST_CASE("timing mode knows the round that a repeat stores", "[component][system]") {
    check_rounds(true);
}
TEST_CASE("timing mode follows a counter that is no tensor", "[component][system]") {
    check_timing_while(program::SegmentKind::VertexState);
}
TEST_CASE("timing mode refuses a decision on tensor data", "[component][system]") {
    check_timing_while(program::SegmentKind::Tensor);
}
TEST_CASE("timing mode knows a word that was sent", "[component][system]") {
    constexpr std::uint32_t kTurns = 9;
    HandProgram hand(test::four_tiles(), kCounting);
    const auto spin = hand.compute_set("spin", {{2, "spin"}});
    const auto send = hand.exchange("send", {{1, kCounter, 8, false, {{2, kCounter}}}});
    hand.then_exchange(send).then_compute(spin);
    hand.program().images.at(1).segments.push_back({kCounter, 8, program::SegmentKind::VertexState,
                                                    "counter", test::bytes_of_words({kTurns, 0})});
    ipu::RunOptions options;
    options.timing = ipu::TimingOptions{4};
    simulation::Simulation simulation(hand.machine(), hand.program(), std::move(options));
    simulation.run();
    constexpr Cycles kTurn = 6; // of the supervisor, which waits for its own result
    CHECK(simulation.account().compute_sets()[spin].slowest_cycles ==
          hand.machine().control.step_cycles + hand.stub_cycles("spin", 2) + kTurn * kTurns);
}
TEST_CASE("timing mode refuses what was known before tensor data came", "[component][system]") {
    HandProgram hand(test::four_tiles(), kCounting);
    const auto spin = hand.compute_set("spin", {{2, "spin"}});
    const auto spoil = hand.exchange("spoil", {{3, kCounter, 8, false, {{2, kCounter}}}});
    hand.then_compute(spin).then_exchange(spoil).then_compute(spin);
    hand.program().images.at(2).segments.push_back(
        {kCounter, 8, program::SegmentKind::VertexState, "counter", test::bytes_of_words({3, 0})});
    ipu::RunOptions options;
    options.timing = ipu::TimingOptions{0};
    simulation::Simulation simulation(hand.machine(), hand.program(), std::move(options));
    CHECK_THROWS_WITH(simulation.run(), Catch::Matchers::Contains("tile_2.supervisor") &&
                                            Catch::Matchers::Contains("depends on tensor data"));
}

namespace {

/// A tensor of one word that the host writes, known or not, is sent to the tile that spins so often.
void check_given(bool known) {
    constexpr std::uint32_t kTurns = 9;
    constexpr Cycles kTurn = 6; // of the supervisor, which waits for its own result
    HandProgram hand(test::four_tiles(), kCounting);
    const auto spin = hand.compute_set("spin", {{2, "spin"}});
    hand.then_exchange(hand.exchange("send", {{1, kCounter, 8, false, {{2, kCounter}}}}));
    hand.then_compute(spin);
    program::Tensor given;
    given.name = "given";
    given.type = ElementType::U32;
    given.shape = {1};
    given.pieces.push_back({1, kCounter, 0, {}});
    given.known = known;
    hand.program().tensors.push_back(given);
    ipu::RunOptions options;
    options.timing = ipu::TimingOptions{4};
    simulation::Simulation simulation(hand.machine(), hand.program(), std::move(options));
    write_word(simulation, program::tensor(0), kTurns);
    if (!known) {
        CHECK_THROWS_AS(simulation.run(), NeedsData);
        return;
    }
    simulation.run();
    CHECK(simulation.account().compute_sets()[spin].slowest_cycles ==
          hand.machine().control.step_cycles + hand.stub_cycles("spin", 2) + kTurn * kTurns);
}

} // namespace

TEST_CASE("timing mode has what the host writes to a known tensor", "[component][system]") {
    check_given(true);
}
TEST_CASE("timing mode has nothing of another tensor", "[component][system]") {
    check_given(false);
}
