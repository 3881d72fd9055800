// SPDX-License-Identifier: MIT
#include "kernels/graph/graph.h"
#include "kernels/lower/code_zone.h"
#include "kernels/lower/control_code.h"
#include "kernels/lower/stub.h"
#include "kernels/plan/lowest_fit.h"
#include "kernels/workload/random.h"
#include "models/isa/instruction.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using program::Step;

Step leaf(Step::Kind kind, std::uint32_t index) {
    Step step;
    step.kind = kind;
    step.index = index;
    return step;
}

Step over(Step::Kind kind, std::uint32_t count, std::vector<Step> children) {
    Step step;
    step.kind = kind;
    step.count = count;
    step.children = std::move(children);
    return step;
}

Step sequence(std::vector<Step> steps) {
    return over(Step::Kind::Sequence, 1, std::move(steps));
}

bool same(const Step& one, const Step& other) {
    return one.kind == other.kind && one.index == other.index && one.count == other.count &&
           one.zone == other.zone && !one.value.has_value() && !other.value.has_value() &&
           one.children.size() == other.children.size() &&
           std::equal(one.children.begin(), one.children.end(), other.children.begin(), same);
}

Bytes bytes_of(const spec::ControlSpec& control, const std::vector<Step>& steps);

Bytes bytes_of(const spec::ControlSpec& control, const Step& step) {
    const Bytes own = step.kind == Step::Kind::Repeat       ? control.repeat_bytes
                      : step.kind == Step::Kind::ComputeSet ? control.step_bytes
                      : step.kind == Step::Kind::Sync       ? control.sync_bytes
                      : step.kind == Step::Kind::Exchange   ? control.exchange_bytes
                                                            : 0;
    return own + bytes_of(control, step.children);
}

/// From the first step on, always the loop that saves most; of several the longest.
Bytes bytes_of(const spec::ControlSpec& control, const std::vector<Step>& steps) {
    constexpr std::size_t kLongestBody = 16;
    Bytes total = 0;
    for (std::size_t at = 0; at < steps.size();) {
        std::pair<Bytes, std::size_t> best{0, 1}; // saved, steps
        Bytes taken = bytes_of(control, steps[at]);
        for (std::size_t body = 1; body <= kLongestBody; ++body) {
            for (std::size_t rounds = 2; at + rounds * body <= steps.size(); ++rounds) {
                Bytes once = 0;
                bool alike = true;
                for (std::size_t i = 0; i < rounds * body; ++i) {
                    alike = alike && same(steps[at + i], steps[at + i % body]);
                    once += i < body ? bytes_of(control, steps[at + i]) : 0;
                }
                alike = alike && same(steps[at], steps[at]);
                const auto all = static_cast<Bytes>(rounds) * once;
                const std::pair saved{std::max<Bytes>(all - once - control.repeat_bytes, 0),
                                      rounds * body};
                if (alike && saved > best) {
                    best = saved;
                    taken = all - saved.first;
                }
            }
        }
        total += taken;
        at += best.second;
    }
    return total;
}

} // namespace

TEST_CASE("a control program is made of the loops that save most", "[kernels][control]") {
    spec::ControlSpec control;
    control.step_bytes = 3;
    control.exchange_bytes = 7;
    control.sync_bytes = 4;
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        const workload::CounterRandom random(seed, 8);
        std::uint64_t drawn = 0;
        const auto below = [&](std::uint32_t bound) {
            return static_cast<std::uint32_t>(random.below(bound, drawn++));
        };
        control.repeat_bytes = below(16);
        const std::uint32_t kinds = 1 + below(3);
        const auto some = [&] {
            const std::uint32_t kind = below(kinds);
            return kind == 0   ? leaf(Step::Kind::ComputeSet, below(2))
                   : kind == 1 ? leaf(Step::Kind::Exchange, 0)
                               : leaf(Step::Kind::Sync, 0);
        };
        std::vector<Step> steps;
        while (steps.size() < 14) {
            if (below(6) != 0 || steps.empty()) {
                steps.push_back(some());
            } else if (below(3) == 0) {
                std::vector<Step> body{some()};
                body.push_back(some());
                steps.push_back(over(Step::Kind::Repeat, 2 + below(2), std::move(body)));
            } else { // again what there was
                const std::size_t many = std::min<std::size_t>(steps.size(), 1 + below(4));
                const std::vector<Step> last(steps.end() - static_cast<std::ptrdiff_t>(many),
                                             steps.end());
                steps.insert(steps.end(), last.begin(), last.end());
            }
            if (below(12) == 0) {
                steps.back().value.emplace();
            }
            if (below(12) == 0) {
                steps.back().zone = program::SyncZone::group(0);
            }
        }
        CAPTURE(seed);
        REQUIRE(lower::control_bytes(control, sequence(steps)) == bytes_of(control, steps));
    }
}

TEST_CASE("a repeat that stores its round has a step more", "[kernels][control]") {
    const spec::ControlSpec control;
    Step loop = over(Step::Kind::Repeat, 4, {leaf(Step::Kind::ComputeSet, 0)});
    const Bytes plain = lower::control_bytes(control, loop);
    loop.rounds = {{0, 0}, {1, 0}};
    CHECK(lower::control_bytes(control, loop) == plain + control.step_bytes);
    // nor do stream copies with different rows a round make a loop
    const auto copies = [&](std::int64_t row_a_round) {
        std::vector<Step> steps(6, leaf(Step::Kind::StreamCopy, 0));
        steps[1].row_a_round = steps[3].row_a_round = steps[5].row_a_round = row_a_round;
        return lower::control_bytes(control, sequence(steps));
    };
    CHECK(copies(0) < copies(1));
}

TEST_CASE("a loop of control has up to 16 steps", "[kernels][control]") {
    spec::ControlSpec control;
    control.step_bytes = 10;
    control.repeat_bytes = 1;
    for (std::uint32_t body = 14; body <= 18; ++body) {
        std::vector<Step> steps;
        for (std::uint32_t i = 0; i < 2 * body; ++i) {
            steps.push_back(leaf(Step::Kind::ComputeSet, i % body));
        }
        CHECK(lower::control_bytes(control, sequence(steps)) ==
              (body <= 16 ? 10 * body + 1 : 10 * 2 * body));
    }
}

TEST_CASE("stubs are as long as was told before they were made", "[kernels][control]") {
    using program::VertexKind;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const workload::CounterRandom random(seed, 9);
        std::uint64_t drawn = 0;
        const auto below = [&](std::uint32_t bound) {
            return static_cast<std::uint32_t>(random.below(bound, drawn++));
        };
        constexpr std::uint32_t kTiles = 4;
        graph::Graph graph("stubs");
        lower::Steps steps;
        std::vector<program::ComputeSet> sets;
        for (std::uint32_t set = 0; set < 3; ++set) {
            const auto id = graph.add_compute_set({"set", program::Role::Work, "test"});
            if (below(4) == 0) {
                continue; // not run
            }
            steps.sets.push_back(set);
            auto& made = sets.emplace_back();
            made.tiles.resize(kTiles);
            for (std::uint32_t left = 1 + below(5); left > 0; --left) {
                const TileId tile = below(kTiles);
                const auto kind =
                    std::array{VertexKind::Supervisor, VertexKind::MultiWorker, VertexKind::Worker}
                        .at(below(3));
                graph.add_vertex(id, tile, "entry", kind, {});
                made.tiles[tile].vertices.push_back({0x4c100, kind, 0x50000 + 16 * below(2), 0});
            }
        }
        CAPTURE(seed);
        const auto stubs = lower::make_stubs(sets, 0x4c000);
        REQUIRE(lower::stub_bytes(graph, steps) == stubs.bytes);
        for (std::size_t set = 0; set < sets.size(); ++set) {
            Bytes longest = 0;
            for (std::size_t tile = 0; tile < kTiles; ++tile) {
                const auto& code = stubs.code[set][tile];
                REQUIRE((code == nullptr) == sets[set].tiles[tile].vertices.empty());
                if (code != nullptr) {
                    longest = std::max(longest, static_cast<Bytes>(code->size()));
                    // equal ones are one
                    for (std::size_t other = 0; other < tile; ++other) {
                        const auto& before = stubs.code[set][other];
                        REQUIRE((before != nullptr && *before == *code) == (before == code));
                    }
                }
            }
            REQUIRE(stubs.bytes[set] == longest);
        }
    }
}

TEST_CASE("a stub that calls returns to its caller, or to a mark", "[kernels][control]") {
    using program::VertexKind;
    const auto branch = [](std::uint8_t reg) {
        isa::Operation op;
        op.opcode = isa::Opcode::br;
        op.a = reg;
        return isa::encode(op);
    };
    constexpr std::uint8_t kReturn = 9;
    constexpr std::uint8_t kLink = 10;
    constexpr std::uint8_t kZero = 15;
    isa::Operation keep;
    keep.opcode = isa::Opcode::or_u;
    keep.d = kReturn;
    keep.a = kLink;
    isa::Operation mark;
    mark.opcode = isa::Opcode::setzi_m;
    mark.d = kReturn;
    mark.imm = 77;
    const program::Vertex called{0x4c100, VertexKind::Supervisor, 0x50000, 0};
    const program::Vertex worker{0x4c200, VertexKind::Worker, 0x50010, 0};
    for (const auto& vertices : {std::vector{called}, std::vector{worker, called}}) {
        const auto plain = lower::make_stub(vertices, 0x4c000);
        const auto marked = lower::make_stub(vertices, 0x4c000, 77);
        REQUIRE(plain.size() == marked.size());
        CHECK(plain.front() == isa::encode(keep));
        CHECK(plain.back() == branch(kReturn));
        CHECK(marked.front() == isa::encode(mark));
        CHECK(marked.back() == branch(kZero));
        CHECK(std::equal(plain.begin() + 1, plain.end() - 1, marked.begin() + 1));
    }
    CHECK(lower::make_stub({worker}, 0x4c000, 77) == lower::make_stub({worker}, 0x4c000));
    CHECK(lower::make_stub({worker}, 0x4c000).back() == branch(kLink));
}

TEST_CASE("a set without vertices has no stub", "[kernels][control]") {
    std::vector<program::ComputeSet> sets(1);
    sets[0].tiles.resize(2);
    const auto stubs = lower::make_stubs(sets, 0x4c000);
    CHECK(stubs.bytes == std::vector<Bytes>{0});
    CHECK(stubs.code.at(0).at(1) == nullptr);
    graph::Graph graph("stubs");
    graph.add_compute_set({"set", program::Role::Work, "test"});
    lower::Steps steps;
    steps.sets = {0};
    CHECK(lower::stub_bytes(graph, steps) == stubs.bytes);
}

TEST_CASE("the longer of the two windows is fetched behind code, in whole double words",
          "[kernels][control]") {
    for (const Bytes window : {8, 16, 20, 24}) {
        for (const Bytes of_workers : {8, 12, 16, 28}) {
            spec::MachineSpec machine;
            machine.tile.fetch_window_bytes = window;
            machine.tile.worker_fetch_window_bytes = of_workers;
            const Bytes expected = plan::round_up(std::max(window, of_workers), 8);
            CHECK(lower::fetched_behind(machine) == expected);
            for (const Bytes codelets : {0, 8}) {
                for (const Bytes control : {0, 12}) {
                    for (const std::size_t stubs : {0U, 1U}) {
                        const Bytes begin = static_cast<Bytes>(machine.memory.code_begin() -
                                                               machine.memory.region0_begin());
                        const Bytes all = codelets + (stubs > 0 ? 8 : 0) + (control > 0 ? 16 : 0);
                        const auto zone = lower::lay_out_code(
                            machine, codelets, std::vector<Bytes>(stubs, 4), control);
                        CHECK(zone.bytes == (all == 0 ? 0 : begin + all + expected));
                    }
                }
            }
        }
    }
}
