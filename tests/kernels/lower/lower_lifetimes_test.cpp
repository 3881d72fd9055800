// SPDX-License-Identifier: MIT
#include "kernels/workload/random.h"
#include "tests/kernels/graph/graph_sketch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using graph::Access;
using graph::pointer;
using graph::read;
using graph::Step;
using graph::write;
using program::Lifetime;
using test::Sketch;

constexpr std::uint32_t kEnd = Lifetime::kEnd;
constexpr TileId kTile = 0;
constexpr Bytes kBytes = 16;

/// Steps over buffers that tile 0 holds; step k of the control program is set k.
struct Steps : Sketch {
    graph::BufferId held(const std::string& name) { return buffer(name, kTile, kBytes); }
    Step made(std::initializer_list<graph::Field> fields) {
        return graph::run(set("step", kTile, fields));
    }
    /// Lifetimes with these steps as the control program.
    std::vector<Lifetime> with(std::vector<Step> steps) {
        graph.control = graph::sequence(std::move(steps));
        return lifetimes();
    }
};

} // namespace

TEST_CASE("memory is kept from its first use to its last over all tiles", "[kernels]") {
    Sketch sketch;
    const auto x = sketch.buffer("x", 0, kBytes);
    sketch.graph.hold(x, 1, kBytes);
    const auto other = sketch.buffer("other", 2, kBytes);
    sketch.step("0", 2, {write({other}, 1)});
    sketch.step("1", 0, {write({x}, 1)});
    sketch.step("2", 0, {read({x}, 1)});
    sketch.step("3", 1, {write({x}, 2)});
    sketch.step("4", 1, {read({x}, 2)});
    sketch.step("5", 2, {read({other}, 1)});
    CHECK(sketch.lifetimes().at(x.index) == Lifetime{1, 4});
    CHECK(sketch.lifetimes().at(other.index) == Lifetime{0, 5});
}

TEST_CASE("what the host gives is kept from the start, what it wants to the end", "[kernels]") {
    for (const bool given : {false, true}) {
        for (const bool wanted : {false, true}) {
            Steps steps;
            const auto x = steps.held("x");
            steps.tensor(x, kTile, given, wanted);
            const auto idle = steps.made({});
            const auto lifetime = steps.with({idle, steps.made({write({x}, kBytes)}), idle}).at(0);
            CHECK(lifetime == Lifetime{given ? 0U : 1U, wanted ? kEnd : 1U});
        }
    }
}

TEST_CASE("of several tensors of a buffer one that is given or wanted is enough", "[kernels]") {
    for (const bool first_is_plain : {false, true}) {
        CAPTURE(first_is_plain);
        Steps steps;
        const auto x = steps.held("x");
        steps.tensor(x, kTile, !first_is_plain, !first_is_plain);
        steps.tensor(x, kTile, first_is_plain, first_is_plain);
        const auto idle = steps.made({});
        CHECK(steps.with({idle, steps.made({write({x}, kBytes)}), idle}).at(0) ==
              Lifetime{0, kEnd});
    }
}

TEST_CASE("contents are kept from the start to their last use", "[kernels]") {
    Steps steps;
    const auto contents = steps.graph.add_buffer({.name = "contents"});
    steps.graph.hold(contents, kTile, test::shared_bytes(kBytes));
    const auto idle = steps.made({});
    const auto reads = steps.made({read({contents}, kBytes)});
    CHECK(steps.with({idle, reads, idle}).at(0) == Lifetime{0, 1});
    // the next iteration reads them again
    CHECK(steps.with({idle, graph::repeat(2, {reads, idle}), idle}).at(0) == Lifetime{0, 2});
}

TEST_CASE("zeroes and memory that no step uses are always kept", "[kernels]") {
    Steps steps;
    const auto zeroed = steps.graph.add_buffer({.name = "zeroed", .zeroed = true});
    steps.graph.hold(zeroed, kTile, kBytes);
    steps.held("unused");
    const auto constant = steps.graph.add_buffer({.name = "unused contents"});
    steps.graph.hold(constant, kTile, test::shared_bytes(kBytes));
    const auto idle = steps.made({});
    for (const Lifetime& lifetime :
         steps.with({idle, steps.made({read({zeroed}, kBytes)}), idle})) {
        CHECK(lifetime == Lifetime{});
    }
}

TEST_CASE("memory is kept over a loop where contents cross iterations or come from outside",
          "[kernels]") {
    struct Case {
        std::string what;
        std::vector<graph::Field> before; ///< step 0
        std::vector<graph::Field> first;  ///< step 2, in a loop of steps 1 to 4
        std::vector<graph::Field> second; ///< step 3
        std::vector<graph::Field> behind; ///< step 5
        Lifetime lifetime;
    };
    const graph::BufferId x{0};
    const auto all = write({x}, kBytes);
    const auto reads = read({x}, kBytes);
    const auto half = write({x}, kBytes / 2);
    const auto part = pointer({x}, kBytes, Access::WritePart);
    const auto update = pointer({x}, kBytes, Access::Update);
    const std::vector<Case> cases{
        {"written before it is read", {}, {all}, {reads}, {}, {2, 3}},
        {"written and never read", {}, {}, {all}, {}, {3, 3}},
        {"written half, and that half read", {}, {half}, {read({x}, kBytes / 2)}, {}, {2, 3}},
        {"used outside, before", {all}, {reads}, {}, {}, {0, 4}},
        {"used outside, behind", {}, {all}, {}, {reads}, {1, 5}},
        {"outside only", {all}, {}, {}, {reads}, {0, 5}},
        {"read, then written for the next iteration", {all}, {reads}, {all}, {}, {0, 4}},
        {"half of it new in each iteration", {all}, {half}, {reads}, {}, {0, 4}},
        {"summed up", {all}, {update}, {}, {}, {0, 4}},
        {"written in part", {}, {part}, {reads}, {}, {1, 4}},
        {"written, then in part", {}, {all}, {part}, {}, {2, 3}},
        {"written, then summed up", {}, {all}, {update}, {}, {2, 3}},
    };
    for (const Case& each : cases) {
        Steps steps;
        REQUIRE(steps.held("x") == x);
        const auto idle = steps.made({});
        const auto step = [&](const std::vector<graph::Field>& fields) {
            const auto made = steps.graph.add_compute_set({"step", program::Role::Work, "test"});
            steps.graph.add_vertex(made, kTile, "copy32", program::VertexKind::MultiWorker, fields);
            return graph::run(made);
        };
        const auto loop = graph::repeat(2, {idle, step(each.first), step(each.second), idle});
        CAPTURE(each.what);
        CHECK(steps.with({step(each.before), loop, step(each.behind)}).at(0) == each.lifetime);
    }
}

TEST_CASE("memory is kept over a loop unless both ways of a decision write it in each iteration",
          "[kernels]") {
    for (const bool one : {false, true}) {
        for (const bool other : {false, true}) {
            CAPTURE(one, other);
            Steps steps;
            const auto x = steps.held("x");
            const auto word = steps.held("word");
            steps.tensor(word, kTile, true, false);
            const auto idle = steps.made({});
            const auto fill = steps.made({write({x}, kBytes)});
            const auto reads = steps.made({read({x}, kBytes)});
            const auto choice = graph::when(graph::TilePlace(kTile, {word, 0}), {one ? fill : idle},
                                            {other ? fill : idle});
            steps.tensor(x, kTile, true, false);
            // the loop is steps 0 to 4, of which 3 reads
            const auto lifetime =
                steps.with({graph::repeat(2, {idle, choice, reads, idle}), idle}).at(0);
            CHECK(lifetime == Lifetime{0, one && other ? 3U : 4U});
        }
    }
}

TEST_CASE("given memory that an iteration reads is kept over the loop", "[kernels]") {
    Steps steps;
    const auto x = steps.held("x");
    steps.tensor(x, kTile, true, false);
    const auto idle = steps.made({});
    const auto reads = steps.made({read({x}, kBytes)});
    CHECK(steps.with({graph::repeat(2, {reads, idle}), idle}).at(0) == Lifetime{0, 1});
    CHECK(steps.with({reads, graph::repeat(2, {idle, idle})}).at(0) == Lifetime{0, 0});
}

TEST_CASE("of nested loops memory is kept over those that need it", "[kernels]") {
    Steps steps;
    const auto x = steps.held("x");
    const auto idle = steps.made({});
    const auto fill = steps.made({write({x}, kBytes)});
    const auto reads = steps.made({read({x}, kBytes)});
    const auto in_inner = [&](std::vector<Step> before, std::vector<Step> inside) {
        std::vector<Step> outer{idle};
        outer.insert(outer.end(), before.begin(), before.end());
        outer.push_back(graph::repeat(2, std::move(inside)));
        outer.push_back(idle);
        return steps.with({idle, graph::repeat(2, std::move(outer)), idle}).at(0);
    };
    // steps: 0, outer loop from 1 on, inner from 2, or from 3 behind a step before it
    CHECK(in_inner({}, {idle, fill, reads, idle}) == Lifetime{3, 4});
    CHECK(in_inner({fill}, {idle, reads, idle}) == Lifetime{2, 5});
    steps.tensor(x, kTile, true, false);
    CHECK(in_inner({}, {idle, reads, idle}) == Lifetime{0, 5});
}

TEST_CASE("loops side by side do not keep each other's memory", "[kernels]") {
    Steps steps;
    const auto x = steps.held("x");
    const auto idle = steps.made({});
    const auto fill = steps.made({write({x}, kBytes)});
    const auto reads = steps.made({read({x}, kBytes)});
    const auto used = graph::repeat(2, {idle, fill, reads, idle});
    const auto unused = graph::repeat(2, {idle, idle});
    CHECK(steps.with({used, unused}).at(0) == Lifetime{1, 2});
    CHECK(steps.with({unused, used}).at(0) == Lifetime{3, 4});
    // written in one loop and read in the next: kept over both
    CHECK(steps.with({graph::repeat(2, {idle, fill}), graph::repeat(2, {reads, idle})}).at(0) ==
          Lifetime{0, 3});
}

TEST_CASE("steps that do nothing are not counted", "[kernels]") {
    Steps steps;
    const auto x = steps.held("x");
    const auto empty = graph::run(steps.graph.add_compute_set({"nothing", {}, "test"}));
    const auto silent = graph::run(steps.graph.add_exchange({"silence", {}, "test"}));
    const auto fill = steps.made({write({x}, kBytes)});
    Step sync;
    sync.kind = Step::Kind::Sync;
    const auto lifetimes =
        steps.with({empty, sync, silent, graph::repeat(2, {empty, silent}), fill, empty});
    CHECK(lifetimes.at(0) == Lifetime{1, 1});
    CHECK(lower::step_names(steps.graph) == std::vector<std::string>{"sync", "step"});
}

TEST_CASE("a copy in the background keeps its rows until it is waited for", "[kernels]") {
    using Direction = program::StreamCopy::Direction;
    for (const Direction direction : {Direction::Read, Direction::Write}) {
        Steps steps;
        const auto row = steps.held("row");
        const auto copy = steps.graph.add_stream_copy({.name = "copy",
                                                       .owner = "test",
                                                       .direction = direction,
                                                       .pieces = {{kTile, {row}, kBytes, 0}}});
        const auto start = graph::stream(Step::Kind::StreamStart, copy, 0);
        const auto wait = graph::stream(Step::Kind::StreamWait, copy, 0);
        const auto idle = steps.made({});
        const auto uses = direction == Direction::Read ? steps.made({read({row}, kBytes)})
                                                       : steps.made({write({row}, kBytes)});
        if (direction == Direction::Read) {
            CHECK(steps.with({idle, start, idle, idle, wait, idle}).at(0) == Lifetime{1, 4});
            CHECK(steps.with({idle, start, idle, wait, idle, uses, idle}).at(0) == Lifetime{1, 5});
            // started for the next iteration
            const auto ahead = graph::repeat(2, {idle, wait, uses, start, idle});
            CHECK(steps.with({start, ahead, wait}).at(0) == Lifetime{0, 6});
            // what has not begun brings nothing
            steps.graph.control = graph::sequence({wait, uses});
            test::check_names(steps.fault(), "copy", kTile, "row");
        } else {
            CHECK(steps.with({idle, uses, idle, start, idle, wait, idle}).at(0) == Lifetime{1, 5});
            CHECK_FALSE([&] {
                steps.graph.control = graph::sequence({start, wait, uses});
                return steps.fault();
            }()
                            .empty());
        }
    }
}

TEST_CASE("a word is kept until the last decision that reads it", "[kernels]") {
    Steps steps;
    const auto x = steps.held("x");
    const graph::TilePlace word(kTile, {x, 4});
    const auto idle = steps.made({});
    const auto fill = steps.made({write({x}, kBytes)});
    SECTION("an if reads it before its steps") {
        for (const bool other : {false, true}) {
            const auto choice =
                other ? graph::when(word, {idle, idle}, {idle}) : graph::when(word, {idle, idle});
            CHECK(steps.with({idle, fill, idle, choice, idle}).at(0) == Lifetime{1, 2});
        }
    }
    SECTION("a while reads it before each round and behind the last") {
        CHECK(steps.with({idle, fill, idle, graph::as_long_as(word, {idle, idle}), idle}).at(0) ==
              Lifetime{1, 4});
        CHECK(steps.with({fill, graph::as_long_as(word, {idle, fill, idle}), idle}).at(0) ==
              Lifetime{0, 3});
    }
    SECTION("the rounds of a loop around it read it again") {
        const auto choice = graph::when(word, {idle});
        // the decision stands before the loop's first step, and before its second
        CHECK(steps.with({fill, graph::repeat(2, {choice, idle}), idle}).at(0) == Lifetime{0, 2});
        CHECK(steps.with({fill, graph::repeat(2, {idle, choice, idle}), idle}).at(0) ==
              Lifetime{0, 3});
        // in each round it is written before it is read
        CHECK(steps.with({idle, graph::repeat(2, {idle, fill, choice, idle}), idle}).at(0) ==
              Lifetime{2, 2});
        // loops without a step have no rounds that need memory
        CHECK(steps.with({fill, graph::repeat(2, {graph::as_long_as(word, {})}), idle}).at(0) ==
              Lifetime{0, 0});
    }
    SECTION("a stream copy reads its row when it begins") {
        const auto to = steps.held("row");
        const auto copy = steps.graph.add_stream_copy(
            {.name = "copy", .owner = "test", .pieces = {{kTile, {to}, kBytes, 0}}});
        const auto load = graph::stream(Step::Kind::StreamCopy, copy, word);
        const auto start = graph::stream(Step::Kind::StreamStart, copy, word);
        const auto wait = graph::stream(Step::Kind::StreamWait, copy, 0);
        CHECK(steps.with({fill, idle, load, idle}).at(0) == Lifetime{0, 2});
        CHECK(steps.with({fill, idle, start, idle, wait}).at(0) == Lifetime{0, 2});
        CHECK(steps.with({fill, idle, start, idle, wait}).at(1) == Lifetime{2, 4});
    }
}

TEST_CASE("the round of a repeat is stored before its first step and kept to its last reader",
          "[kernels]") {
    Steps steps;
    const auto round = steps.graph.add_round("loop");
    steps.graph.hold(round, kTile, 4);
    const auto idle = steps.made({});
    const auto asks = steps.made({graph::round_of(round)});
    const auto loop = [&](std::vector<Step> inside) {
        return graph::repeat(3, std::move(inside), round);
    };
    CHECK(steps.with({idle, loop({idle, asks, idle}), idle}).at(round.index) == Lifetime{1, 2});
    CHECK(steps.with({idle, loop({idle, graph::repeat(2, {asks, idle}), idle}), idle})
              .at(round.index) == Lifetime{1, 3});
    // two loops may have one buffer
    CHECK(steps.with({loop({asks}), idle, loop({asks})}).at(round.index) == Lifetime{0, 2});
    steps.graph.control = graph::sequence({asks, loop({asks})});
    test::check_names(steps.fault(), "step", kTile, "round of loop");
    // the last round's is there behind the loop, but not behind one that may not run
    steps.graph.control = graph::sequence({loop({idle}), asks});
    CHECK(steps.fault().empty());
    steps.graph.control.children[0].count = 0;
    CHECK_FALSE(steps.fault().empty());
    Sketch none;
    const auto nowhere = none.graph.add_round("loop");
    none.graph.hold(nowhere, kTile, 2);
    none.then(graph::repeat(3, {}, nowhere));
    test::check_names(none.fault(), "repeat", kTile, "round of loop");
}

namespace {

/// A random control program over one buffer, and random runs of it.
class RandomSteps {
public:
    explicit RandomSteps(std::uint64_t seed) : random_(seed, 0) {
        steps_.held("x");
        given_ = below(2) == 0;
        steps_.tensor({0}, kTile, given_, false);
        steps_.graph.control = block(3);
    }

    [[nodiscard]] std::string fault() const { return steps_.fault(); }
    [[nodiscard]] Lifetime lifetime() const { return steps_.lifetimes().at(0); }

    /// Runs it once. False where a byte is read that nothing wrote; `needed` gets the steps at
    /// which some contents are needed.
    bool run(std::vector<std::uint32_t>& needed) {
        trace_.clear();
        execute(steps_.graph.control);
        bool defined = true;
        for (Bytes byte = 0; byte < kBytes; ++byte) {
            std::optional<std::size_t> since; // where the contents come from
            if (given_) {
                since = 0;
            }
            for (std::size_t at = 0; at < trace_.size(); ++at) {
                const graph::Field& field = trace_[at].field;
                if (byte < field.place.offset || byte >= field.place.offset + field.bytes) {
                    continue;
                }
                const bool reads = field.access == Access::Read || field.access == Access::Update;
                defined = defined && (!reads || since);
                if (since && field.access != Access::Write) {
                    for (std::size_t done = *since; done <= at; ++done) {
                        if (trace_[done].leaf) {
                            needed.push_back(*trace_[done].leaf);
                        }
                    }
                }
                since = field.access == Access::Read ? since : at;
            }
        }
        return defined;
    }

private:
    std::uint64_t below(std::uint64_t bound) { return random_.below(bound, drawn_++); }

    Step block(int depth) {
        std::vector<Step> steps;
        for (std::uint64_t left = 1 + below(3); left > 0; --left) {
            switch (depth == 0 ? 0 : below(6)) {
            case 1:
                steps.push_back(graph::repeat(2, {block(depth - 1)}));
                break;
            case 2: {
                auto one = block(depth - 1);
                steps.push_back(test::either({std::move(one)}, {block(depth - 1)}, some_word()));
                break;
            }
            case 3:
                steps.push_back(test::as_long_as({block(depth - 1)}, some_word()));
                break;
            default:
                steps.push_back(leaf());
            }
        }
        return graph::sequence(std::move(steps));
    }
    Step leaf() {
        constexpr std::array<Access, 6> kAccess{Access::Write, Access::Write,     Access::Write,
                                                Access::Read,  Access::WritePart, Access::Update};
        const auto begin = below(3) == 0 ? below(kBytes) : 0;
        const auto bytes = below(3) == 0 ? 1 + below(kBytes - begin) : kBytes - begin;
        return steps_.made({pointer({{0}, static_cast<Bytes>(begin)}, static_cast<Bytes>(bytes),
                                    kAccess.at(below(kAccess.size())))});
    }
    /// That a decision reads; nothing: it reads no memory that is looked at here.
    std::optional<graph::TilePlace> some_word() {
        if (below(2) == 0) {
            return std::nullopt;
        }
        return graph::TilePlace{kTile, {{0}, static_cast<Bytes>(4 * below(kBytes / 4))}};
    }
    [[nodiscard]] const graph::Field& field_of(std::uint32_t step) const {
        const auto& vertex = steps_.graph.compute_sets.at(step).vertices.front();
        return steps_.graph.fields_of(vertex.fields).front();
    }

    void execute(const Step& step) {
        if (step.kind == Step::Kind::ComputeSet) {
            trace_.push_back({step.index, field_of(step.index)});
        } else if (step.kind == Step::Kind::If) {
            look(step);
            execute(step.children.at(below(2)));
        } else {
            const std::uint64_t rounds = step.kind == Step::Kind::While ? below(3) : step.count;
            for (std::uint64_t round = 0; round < rounds; ++round) {
                look(step);
                for (const Step& child : step.children) {
                    execute(child);
                }
            }
            look(step);
        }
    }
    void look(const Step& step) {
        if (step.word) {
            trace_.push_back({std::nullopt, read(step.word->place(), 4)});
        }
    }

    /// A leaf, or a look of the control program.
    struct Done {
        std::optional<std::uint32_t> leaf;
        graph::Field field;
    };

    workload::CounterRandom random_;
    std::uint64_t drawn_ = 0;
    Steps steps_;
    bool given_ = false;
    std::vector<Done> trace_; ///< in the order in which they run
};

} // namespace

TEST_CASE("over random control programs no run needs bytes outside their lifetime", "[kernels]") {
    constexpr std::uint64_t kGraphs = 1500;
    constexpr int kRuns = 6;
    int legal = 0;
    int shorter = 0;
    for (std::uint64_t seed = 0; seed < kGraphs; ++seed) {
        RandomSteps random(seed);
        if (!random.fault().empty()) {
            continue;
        }
        ++legal;
        const Lifetime lifetime = random.lifetime();
        shorter += lifetime != Lifetime{} ? 1 : 0;
        for (int run = 0; run < kRuns; ++run) {
            std::vector<std::uint32_t> needed;
            CAPTURE(seed, lifetime.first, lifetime.last);
            REQUIRE(random.run(needed));
            REQUIRE(std::all_of(needed.begin(), needed.end(),
                                [&](std::uint32_t step) { return lifetime.contains(step); }));
        }
    }
    CHECK(legal > 300);
    CHECK(shorter > 300);
}
