// SPDX-License-Identifier: MIT
// Timing mode counts rounds of a repeat that leave all tiles as they were. Accounts, counts and traces
// are those of a run that goes through every round: two chips side by side, one of which does.
#include "models/ipu/core/round_record.h"
#include "models/listeners/trace_producer.h"
#include "models/simulation/simulation.h"
#include "tests/component/hand_program.h"
#include "traces/coverage.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using test::HandProgram;
using Kind = program::Step::Kind;

namespace {

constexpr Address kRound = 0x80000;
constexpr Address kTable = 0x81000;
constexpr Address kCircle = 0x83000;
constexpr Address kRow = 0x90000;
constexpr std::int64_t kRowBytes = 512;
constexpr Address kShare = 0x92000;
constexpr std::int64_t kShareBytes = 16;
constexpr std::uint32_t kRounds = 1'000'000;
constexpr std::int64_t kKnownRows = 40;

/// `by_round` loads 8 bytes of the table at the round's place; `spin_round` waits as often as the
/// round says; `count` adds one to a known word; `circle` waits as often as a word says, which goes down
/// to 1 and back to the word behind it; `spin_row` waits as often as the row's first word says.
const char* const kStubs = R"(
.supervisor
.globl short, long, by_round, spin_round, count, circle, spin_row
short:
    setzi $m0, 5
1:  brnzdec $m0, 1b
    br $lr
long:
    setzi $m0, 50
1:  brnzdec $m0, 1b
    br $lr
by_round:
    setzi $m0, reader
    runall $m0, $mzero, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $lr
spin_round:
    setzi $m1, 0x80000
    ld32 $m0, $m1, $mzero, 0
1:  brnzdec $m0, 1b
    br $lr
circle:
    setzi $m1, 0x83000
    ld32 $m0, $m1, $mzero, 0
    mov $m2, $m0
1:  brnzdec $m2, 1b
    add $m0, $m0, -1
    brnz $m0, 2f
    ld32 $m0, $m1, $mzero, 1
2:  st32 $m0, $m1, $mzero, 0
    br $lr
spin_row:
    setzi $m1, 0x90000
    ld32 $m0, $m1, $mzero, 0
1:  brnzdec $m0, 1b
    br $lr
count:
    setzi $m1, 0x80000
    ld32 $m0, $m1, $mzero, 1
    add $m0, $m0, 1
    st32 $m0, $m1, $mzero, 1
    br $lr
.worker
reader:
    setzi $m0, 0x80000
    ld32 $m1, $m0, $mzero, 0
    shl $m1, $m1, 3
    setzi $m2, 0x81000
    ld64 $a0:1, $m2, $m1, 0
    st64 $a0:1, $m2, $mzero, 0
    exitz $mzero
)";

program::Step computes(std::uint32_t set) {
    return HandProgram::step(Kind::ComputeSet, set);
}
program::Step exchanges(std::uint32_t exchange) {
    return HandProgram::step(Kind::Exchange, exchange);
}
program::Step repeats(std::uint32_t rounds, std::vector<program::Step> steps) {
    auto made = HandProgram::step(Kind::Repeat, 0, std::move(steps));
    made.count = rounds;
    return made;
}

struct Scene {
    Scene() : hand(test::four_tiles(), kStubs) {
        both = hand.compute_set("both", {{0, "short"}, {2, "long"}});
        other = hand.compute_set("other", {{1, "long"}, {2, "short"}, {3, "short"}});
        send = hand.exchange("send", {{1, 0xa0000, 64, false, {{2, 0xa1000}, {3, 0xa1000}}}});
        by_round = hand.compute_set("by round", {{1, "by_round"}, {2, "by_round"}});
        spin = hand.compute_set("spin", {{1, "spin_round"}});
        count = hand.compute_set("count", {{3, "count"}});
        for (const TileId tile : {1U, 2U, 3U}) {
            hand.program().images.at(tile).segments.push_back(
                {kRound, 8, program::SegmentKind::Metadata, "round", test::bytes_of_words({0, 0})});
        }
        auto& program = hand.program();
        program.remote_buffers.push_back(
            {"rows", program::RemoteBuffer::Place::StreamingMemory, 5000, kRowBytes});
        program.stream_copies.push_back(
            {"load", 0, program::StreamCopy::Direction::Read, 1, {{3, kRow, kRowBytes, 0}}});
        // a row for each of 1, 2, 3, and what 2 and 3 send back
        using Place = program::RemoteBuffer::Place;
        program.remote_buffers.push_back({"shared rows", Place::Host, kRounds, 3 * kShareBytes});
        program.remote_buffers.push_back(
            {"results", Place::StreamingMemory, kRounds, 2 * kShareBytes});
        load_shares = static_cast<std::uint32_t>(program.stream_copies.size());
        program.stream_copies.push_back({"load shares",
                                         1,
                                         program::StreamCopy::Direction::Read,
                                         1,
                                         {{1, kShare, kShareBytes, 0},
                                          {2, kShare, kShareBytes, kShareBytes},
                                          {3, kShare, kShareBytes, 2 * kShareBytes}}});
        store_shares = load_shares + 1;
        program.stream_copies.push_back(
            {"store shares",
             2,
             program::StreamCopy::Direction::Write,
             1,
             {{2, kShare, kShareBytes, 0}, {3, kShare, kShareBytes, kShareBytes}}});
        known_rows = static_cast<std::uint32_t>(program.remote_buffers.size());
        program.remote_buffers.push_back(
            {"known rows", Place::StreamingMemory, kKnownRows, kRowBytes, true});
        load_known = static_cast<std::uint32_t>(program.stream_copies.size());
        program.stream_copies.push_back({"load known",
                                         known_rows,
                                         program::StreamCopy::Direction::Read,
                                         1,
                                         {{3, kRow, kRowBytes, 0}}});
        circle = hand.compute_set("circle", {{3, "circle"}});
        spin_row = hand.compute_set("spin row", {{3, "spin_row"}});
        turn_in_circles(1);
    }
    /// From now on the rounds of `circle` are alike every `period` rounds.
    void turn_in_circles(std::uint32_t period) {
        auto& segments = hand.program().images.at(3).segments;
        std::erase_if(segments, [](const auto& segment) { return segment.address == kCircle; });
        segments.push_back({kCircle, 8, program::SegmentKind::Metadata, "circle",
                            test::bytes_of_words({period, period})});
    }
    /// Rows of one word, which is another from the middle on.
    [[nodiscard]] static std::vector<std::uint32_t> words_of_rows() {
        std::vector<std::uint32_t> words(kKnownRows * kRowBytes / 4, 3);
        std::fill(words.begin() + static_cast<std::ptrdiff_t>(words.size() / 2), words.end(), 9);
        return words;
    }
    [[nodiscard]] static program::Step by_round_of(std::uint32_t copy, std::int64_t rows) {
        auto made = HandProgram::step(Kind::StreamCopy, copy);
        made.row_a_round = rows;
        return made;
    }
    [[nodiscard]] program::Step loads_by_round() const { return by_round_of(0, 3); }
    [[nodiscard]] static program::Step tells_rounds(program::Step repeat) {
        repeat.rounds = {{1, kRound}, {2, kRound}};
        return repeat;
    }

    HandProgram hand;
    std::uint32_t both = 0;
    std::uint32_t other = 0;
    std::uint32_t send = 0;
    std::uint32_t by_round = 0;
    std::uint32_t spin = 0;
    std::uint32_t count = 0;
    std::uint32_t load_shares = 0;
    std::uint32_t store_shares = 0;
    std::uint32_t known_rows = 0;
    std::uint32_t load_known = 0;
    std::uint32_t circle = 0;
    std::uint32_t spin_row = 0;
};

ipu::RunOptions timing_options(bool counts_rounds) {
    ipu::RunOptions options;
    options.timing = ipu::TimingOptions{1};
    options.timing->counts_rounds = counts_rounds;
    return options;
}

void check_alike(const listeners::StepRecord& counted, const listeners::StepRecord& run) {
    CAPTURE(run.name);
    CHECK(counted.executions == run.executions);
    CHECK(counted.cycles == run.cycles);
    CHECK(counted.slowest_cycles == run.slowest_cycles);
    CHECK(counted.bound_cycles == run.bound_cycles);
    CHECK(counted.bytes == run.bytes);
    CHECK(counted.sent_bytes == run.sent_bytes);
    CHECK(counted.active_tiles == run.active_tiles);
    CHECK(counted.slowest_tile == run.slowest_tile);
    CHECK(counted.tile_cycles == run.tile_cycles);
    CHECK((counted.counts == run.counts));
    CHECK(counted.busiest_worker == run.busiest_worker);
    CHECK(counted.mean_worker == run.mean_worker);
    CHECK(counted.mean.cycles == run.mean.cycles);
    CHECK(counted.mean.launches == run.mean.launches);
    CHECK(counted.transfer_cycles == run.transfer_cycles);
    // of a span that another tile waited through in part, each round's own share is rounded down
    CHECK(std::abs(counted.critical.bound_cycles - run.critical.bound_cycles) <= run.executions);
    REQUIRE(counted.path.size() == run.path.size());
    for (std::size_t i = 0; i < run.path.size(); ++i) {
        CHECK(counted.path[i].tile == run.path[i].tile);
        CHECK(counted.path[i].cycles == run.path[i].cycles);
        CHECK(counted.path[i].parts == run.path[i].parts);
    }
}

/// Slices of a trace, each as often as it says that it stands for rounds.
class CountingSink final : public traces::TraceSink {
public:
    explicit CountingSink(const traces::Selection& selection)
        : TraceSink(selection.level, selection.tiles), coverage(selection) {}

    void span(const traces::Span& span) override {
        coverage.span(span);
        const auto times = span.arg(traces::ArgKey::Times);
        CHECK(times.value_or(2) > 1);
        marked += times ? 1 : 0;
        slices[{traces::path(span.track), span.kind, span.name}] += times.value_or(1);
    }
    void counter(const traces::CounterSample& sample) override { coverage.counter(sample); }

    traces::CoverageSink coverage;
    std::map<std::tuple<std::string, traces::Kind, traces::NameId>, std::int64_t> slices;
    std::int64_t marked = 0; ///< slices that stand for rounds
};

/// Listens to a chip as a trace does.
struct Traced {
    explicit Traced(const HandProgram& hand_program, const program::Program& program)
        : sink(everything()), producer(program, hand_program.machine(), sink, names) {}
    Traced(const Traced&) = delete;
    Traced& operator=(const Traced&) = delete;

    static traces::Selection everything() {
        traces::Selection selection;
        selection.level = traces::Level::Worker;
        selection.tiles.assign(4, true);
        return selection;
    }

    CountingSink sink;
    traces::NameTable names;
    listeners::TraceProducer producer;
};

/// Runs each program twice, side by side: through every round, and counting them. Returns how many
/// slices of traces stand for rounds.
std::int64_t check_counted(std::deque<Scene>& scenes) {
    std::int64_t marked = 0;
    std::deque<Traced> traced;
    std::vector<simulation::Chip> chips;
    for (Scene& scene : scenes) {
        for (const bool counts : {false, true}) {
            auto& listener = traced.emplace_back(scene.hand, scene.hand.program());
            chips.push_back({scene.hand.machine(), scene.hand.program(), timing_options(counts)});
            chips.back().options.listeners = {&listener.producer};
        }
    }
    simulation::Simulation simulation(std::move(chips));
    const auto rows = Scene::words_of_rows();
    for (std::size_t chip = 0; chip < traced.size(); ++chip) {
        simulation.write(program::remote_buffer(scenes[chip / 2].known_rows),
                         std::as_bytes(std::span(rows)), chip);
    }
    simulation.run();
    for (std::size_t chip = 0; chip < traced.size(); chip += 2) {
        CAPTURE(chip / 2);
        const auto& run = simulation.account(chip);
        const auto& counted = simulation.account(chip + 1);
        REQUIRE(counted.cycles() == run.cycles());
        CHECK(simulation.systemc_cycles(chip + 1) == run.cycles());
        CHECK(counted.control_cycles() == run.control_cycles());
        CHECK((counted.counts() == run.counts()));
        const auto sinks = std::pair(&traced[chip].sink.coverage, &traced[chip + 1].sink.coverage);
        CHECK(traced[chip].sink.marked == 0);
        CHECK(traced[chip + 1].sink.slices == traced[chip].sink.slices);
        marked += traced[chip + 1].sink.marked;
        for (std::size_t tile = 0; tile < run.tiles().size(); ++tile) {
            CAPTURE(tile);
            CHECK(counted.tiles()[tile].compute == run.tiles()[tile].compute);
            CHECK(counted.tiles()[tile].exchange == run.tiles()[tile].exchange);
            CHECK(counted.tiles()[tile].sync == run.tiles()[tile].sync);
            CHECK(counted.tiles()[tile].stream == run.tiles()[tile].stream);
            CHECK(counted.tiles()[tile].idle == run.tiles()[tile].idle);
            const auto track = traces::tile_track(static_cast<TileId>(tile));
            CHECK(sinks.second->totals(track) == sinks.first->totals(track));
        }
        CHECK(sinks.second->problems(run.cycles()).empty());
        CHECK(sinks.second->totals(traces::machine_track()) ==
              sinks.first->totals(traces::machine_track()));
        for (std::size_t i = 0; i < run.compute_sets().size(); ++i) {
            check_alike(counted.compute_sets()[i], run.compute_sets()[i]);
        }
        for (std::size_t i = 0; i < run.exchanges().size(); ++i) {
            check_alike(counted.exchanges()[i], run.exchanges()[i]);
        }
        for (std::size_t i = 0; i < run.streams().size(); ++i) {
            check_alike(counted.streams()[i], run.streams()[i]);
        }
        CHECK(simulation.timing(chip + 1)->phases == simulation.timing(chip)->phases);
        CHECK(simulation.timing(chip + 1)->unknown_addresses ==
              simulation.timing(chip)->unknown_addresses);
    }
    return marked;
}

/// The same of the program whose steps `add` says.
template <class Add> std::int64_t check_steps(const Add& add) {
    std::deque<Scene> scenes(1);
    add(scenes.front());
    return check_counted(scenes);
}

/// Steps of any kind, repeats in them; some end what others begin.
class RandomSteps {
public:
    RandomSteps(const Scene& scene, std::uint32_t seed) : scene_(scene), random_(seed) {}

    std::vector<program::Step> some(int depth) {
        std::vector<program::Step> steps;
        for (std::uint32_t i = below(4) + 1; i > 0; --i) {
            add(steps, depth);
        }
        return steps;
    }

private:
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(random_() % bound);
    }
    void add(std::vector<program::Step>& steps, int depth) {
        switch (below(depth > 0 ? 14 : 7)) {
        case 0:
            steps.push_back(computes(scene_.both));
            return;
        case 1:
            steps.push_back(computes(scene_.other));
            return;
        case 2:
            steps.push_back(exchanges(scene_.send));
            return;
        case 3:
            steps.push_back(HandProgram::step(Kind::Sync));
            return;
        case 4:
            steps.push_back(computes(below(4) == 0 ? scene_.count : scene_.by_round));
            return;
        case 5:
            steps.push_back(below(2) == 0 ? scene_.loads_by_round()
                                          : HandProgram::step(Kind::StreamCopy, 0));
            return;
        case 12:
        case 13: { // no barrier, where others have none
            auto loads = repeats(below(30) + 1, {computes(scene_.other), loads_shares()});
            for (std::uint32_t i = below(3); i > 0; --i) {
                loads.children.push_back(below(2) == 0
                                             ? computes(scene_.by_round)
                                             : Scene::by_round_of(scene_.store_shares, below(2)));
            }
            if (below(3) == 0) {
                add(loads.children, 0);
            }
            steps.push_back(below(2) == 0 ? Scene::tells_rounds(std::move(loads))
                                          : std::move(loads));
            return;
        }
        case 6:
            steps.push_back(HandProgram::step(Kind::StreamStart, 0));
            steps.push_back(computes(scene_.both));
            steps.push_back(HandProgram::step(Kind::StreamWait, 0));
            return;
        case 7: { // a copy for the next round
            auto ahead = repeats(below(14) + 1,
                                 {HandProgram::step(Kind::StreamWait, 0),
                                  HandProgram::step(Kind::StreamStart, 0), computes(scene_.both)});
            steps.push_back(HandProgram::step(Kind::StreamStart, 0));
            steps.push_back(std::move(ahead));
            steps.push_back(HandProgram::step(Kind::StreamWait, 0));
            return;
        }
        default:
            steps.push_back(repeats(below(14) + 1, some(depth - 1)));
            if (below(3) == 0) {
                steps.back() = Scene::tells_rounds(std::move(steps.back()));
                if (below(3) == 0) {
                    steps.back().children.push_back(computes(scene_.spin));
                }
            }
        }
    }

    [[nodiscard]] program::Step loads_shares() {
        return Scene::by_round_of(scene_.load_shares, below(3));
    }

    const Scene& scene_;
    std::mt19937 random_;
};

/// A program that is one loop.
void check_million(bool has_barrier, bool by_round, bool has_copies = false) {
    constexpr double kSeconds = 5;
    Scene scene;
    std::vector<program::Step> steps{computes(scene.other)};
    if (has_copies) { // for which all tiles wait that compute
        steps.push_back(Scene::by_round_of(scene.load_shares, 1));
        steps.push_back(Scene::by_round_of(scene.store_shares, 1));
    } else {
        steps.push_back(computes(scene.both));
    }
    if (has_barrier) {
        steps.push_back(exchanges(scene.send));
    }
    if (by_round) {
        steps.push_back(computes(scene.by_round));
    }
    scene.hand.then(Scene::tells_rounds(repeats(kRounds, std::move(steps))));
    simulation::Simulation simulation(scene.hand.machine(), scene.hand.program(),
                                      timing_options(true));
    const auto start = std::chrono::steady_clock::now();
    simulation.run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    CHECK(seconds.count() < kSeconds);
    const auto& account = simulation.account();
    CHECK((has_copies || account.cycles() % kRounds == 0)); // tiles come apart in the first round
    CHECK(account.compute_sets()[scene.other].executions == kRounds);
    CHECK(account.streams()[scene.load_shares].executions == (has_copies ? kRounds : 0));
    CHECK(account.exchanges()[scene.send].executions == (has_barrier ? kRounds : 0));
}

} // namespace

TEST_CASE("rounds between barriers are counted", "[component][system]") {
    CHECK(check_steps([](Scene& scene) {
              scene.hand.then(
                  repeats(1000, {computes(scene.both), exchanges(scene.send), computes(scene.other),
                                 HandProgram::step(Kind::Sync)}));
              scene.hand.then(computes(scene.other));
          }) > 0);
}

TEST_CASE("rounds without a barrier are counted", "[component][system]") {
    CHECK(check_steps([](Scene& scene) {
              scene.hand.then(computes(scene.both));
              scene.hand.then(repeats(1000, {computes(scene.both), computes(scene.other)}));
              scene.hand.then_exchange(scene.send);
          }) > 0);
}

TEST_CASE("rounds without a barrier are counted where all tiles that work wait for a copy",
          "[component][system]") {
    const auto steps = [](const Scene& scene) {
        return std::vector{computes(scene.other), Scene::by_round_of(scene.load_shares, 2),
                           computes(scene.by_round), Scene::by_round_of(scene.store_shares, 1)};
    };
    CHECK(check_steps([&](Scene& scene) {
              scene.hand.then(Scene::tells_rounds(repeats(300, steps(scene))));
              scene.hand.then_exchange(scene.send);
              scene.hand.then(repeats(5, {repeats(100, steps(scene)), exchanges(scene.send)}));
              scene.hand.then(repeats(5, {repeats(100, steps(scene)), computes(scene.both)}));
          }) > 0);
}

TEST_CASE("rounds without a barrier are run where a tile works that waits for no copy",
          "[component][system]") {
    CHECK(check_steps([](Scene& scene) {
              auto of_other_tile = scene.hand.compute_set("of tile 0", {{0, "long"}});
              scene.hand.then(repeats(
                  100, {Scene::by_round_of(scene.load_shares, 1), computes(of_other_tile)}));
          }) == 0);
}

TEST_CASE("repeats in repeats are counted, inner and outer ones", "[component][system]") {
    check_steps([](Scene& scene) {
        scene.hand.then(
            repeats(30, {repeats(20, {computes(scene.both), repeats(9, {computes(scene.other)})}),
                         exchanges(scene.send),
                         repeats(12, {computes(scene.other), HandProgram::step(Kind::Sync)})}));
    });
}

TEST_CASE("rounds are counted where a vertex reads a row by the round, and a copy streams one",
          "[component][system]") {
    check_steps([](Scene& scene) {
        scene.hand.then(Scene::tells_rounds(repeats(
            500, {computes(scene.by_round), scene.loads_by_round(), exchanges(scene.send)})));
        scene.hand.then(Scene::tells_rounds(repeats(100, {computes(scene.by_round)})));
    });
}

TEST_CASE("rounds that do something else each time are run", "[component][system]") {
    CHECK(check_steps([](Scene& scene) {
              scene.hand.then(
                  Scene::tells_rounds(repeats(40, {computes(scene.spin), exchanges(scene.send)})));
              scene.hand.then(Scene::tells_rounds(repeats(40, {computes(scene.spin)})));
              scene.hand.then(repeats(40, {computes(scene.count), computes(scene.both)}));
              scene.hand.then(repeats(40, {computes(scene.count), exchanges(scene.send)}));
          }) == 0);
}

TEST_CASE("rounds that are alike every few rounds take what they do", "[component][system]") {
    constexpr std::uint32_t kPeriods = 16;
    std::deque<Scene> scenes;
    for (std::uint32_t period = 1; period <= kPeriods; ++period) {
        for (const bool has_barrier : {false, true}) {
            Scene& scene = scenes.emplace_back();
            scene.turn_in_circles(period);
            std::vector<program::Step> steps{computes(scene.circle)};
            if (has_barrier) {
                steps.push_back(exchanges(scene.send));
            }
            scene.hand.then(repeats(70, std::move(steps)));
        }
    }
    CHECK(check_counted(scenes) > 0); // of period 1
}

TEST_CASE("rounds that load another known row each are run", "[component][system]") {
    CHECK(check_steps([](Scene& scene) {
              scene.hand.then(
                  repeats(kKnownRows, {Scene::by_round_of(scene.load_known, 1),
                                       computes(scene.spin_row), exchanges(scene.send)}));
          }) == 0);
}

TEST_CASE("rounds of any program are counted as they are run", "[component][system]") {
    constexpr std::uint32_t kPrograms = 40;
    constexpr int kDepth = 3;
    std::deque<Scene> scenes;
    for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
        Scene& scene = scenes.emplace_back();
        scene.hand.program().io_tiles = {3};
        for (auto& step : RandomSteps(scene, seed).some(kDepth)) {
            scene.hand.then(std::move(step));
        }
    }
    CHECK(check_counted(scenes) > 0);
}

TEST_CASE("a million rounds without a barrier take as long as a few", "[component][system]") {
    check_million(false, false);
}
TEST_CASE("a million rounds with a barrier take as long as a few", "[component][system]") {
    check_million(true, false);
}
TEST_CASE("a million rounds with copies of a row each take as long as a few",
          "[component][system]") {
    check_million(false, true, true);
}
TEST_CASE("a million rounds with copies of a row each and a barrier take as long as a few",
          "[component][system]") {
    check_million(true, true, true);
}
TEST_CASE("a million rounds that vertices ask for take as long as a few", "[component][system]") {
    check_million(false, true);
}
TEST_CASE("a million rounds that vertices ask for between barriers take as long as a few",
          "[component][system]") {
    check_million(true, true);
}

namespace {

/// Steps that releases say are done, and spans of segments.
class Releases final : public events::Listener {
public:
    void released(const events::Release& release) override {
        steps_done.push_back(release.steps_done);
    }
    void segment(const events::Segment& segment) override {
        spans.insert(spans.end(), segment.spans.begin(), segment.spans.end());
    }

    std::vector<std::int64_t> steps_done;
    std::vector<events::Span> spans;
};

} // namespace

TEST_CASE("the last release of a record is behind the steps of all its rounds", "[component]") {
    constexpr std::int64_t kSteps = 3;
    constexpr std::int64_t kTold = 5;
    constexpr Cycles kCycles = 40;
    for (const bool ends : {true, false}) { // by a release
        ipu::RoundRecord record;
        const auto release = [&record](std::int64_t steps_done) {
            events::Release made;
            made.steps_done = steps_done;
            record.released(made);
        };
        release(10);
        release(12);
        const events::Span span{.step = 12, .begin = 100, .end = 104};
        const events::Segment segment{
            .tile = 0, .begin = 100, .end = 104, .spans = {&span, 1}, .contexts = {}};
        record.segment(segment);
        if (ends) {
            release(12);
        }
        Releases told;
        record.tell({90, 90 + kCycles, kTold, kSteps}, [&told](const auto& event) { event(told); });
        std::vector<std::int64_t> expected{10 + kSteps, 12 + kSteps};
        if (ends) {
            expected.push_back(12 + kTold * kSteps);
        }
        CHECK(told.steps_done == expected);
        REQUIRE(told.spans.size() == 1);
        CHECK(told.spans[0].step == 12 + kSteps);
        CHECK(told.spans[0].begin == 90 + kCycles + (100 - 90) * kTold);
        CHECK(told.spans[0].end == 90 + kCycles + (104 - 90) * kTold);
        CHECK(told.spans[0].times == kTold);
    }
}
