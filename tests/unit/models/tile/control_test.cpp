// SPDX-License-Identifier: MIT
// The walk of control programs and what is refused before one begins.
#include "base/error.h"
#include "models/program/control_check.h"
#include "models/program/control_cursor.h"
#include "models/timing/control_timing.h"

#include <catch2/catch.hpp>

#include <string>

using namespace tessera;
using Catch::Matchers::Contains;
using program::Program;
using program::Step;
using Kind = Step::Kind;

namespace {

Step step(Kind kind, std::uint32_t index = 0, std::vector<Step> children = {}) {
    Step made;
    made.kind = kind;
    made.index = index;
    made.children = std::move(children);
    return made;
}

Step repeat(std::uint32_t count, std::vector<Step> children) {
    Step made = step(Kind::Repeat, 0, std::move(children));
    made.count = count;
    return made;
}

Step on_value(Kind kind, std::vector<Step> children) {
    Step made = step(kind, 0, std::move(children));
    made.value = program::TileValue{0, 0x80000};
    return made;
}

Program controlled_by(Step root) {
    Program program;
    program.name = std::string("p"); // g++ 12 warns of an overlap otherwise
    program.compute_sets.resize(10);
    program.exchanges.resize(10);
    program.control = std::move(root);
    return program;
}

/// Indices of the steps that are run, "r" and "c" for rounds and calls, "?" for decisions, which
/// `answers` gives.
std::string walked(const Program& program, const std::string& answers = "") {
    std::string seen;
    program::ControlCursor cursor(program, 5);
    auto answer = answers.begin();
    while (true) {
        const program::Visit visit = cursor.next();
        switch (visit.kind) {
        case program::Visit::Kind::End:
            CHECK(cursor.next().kind == program::Visit::Kind::End);
            CHECK(answer == answers.end());
            return seen;
        case program::Visit::Kind::Run:
            seen.push_back(static_cast<char>('0' + visit.step->index));
            break;
        case program::Visit::Kind::Round:
            seen.push_back('r');
            break;
        case program::Visit::Kind::Called:
            seen.push_back('c');
            break;
        case program::Visit::Kind::Chosen:
            seen.push_back('o');
            break;
        case program::Visit::Kind::Decide:
            seen.push_back('?');
            REQUIRE(answer != answers.end());
            cursor.decide(*answer++ == 'y');
            break;
        }
    }
}

} // namespace

TEST_CASE("the control program is walked in order with its repeats") {
    const Step body =
        step(Kind::Sequence, 0,
             {step(Kind::ComputeSet, 1), repeat(2, {step(Kind::Exchange, 2)}), step(Kind::Sync)});
    const auto program =
        controlled_by(step(Kind::Sequence, 0, {repeat(2, {body}), step(Kind::ComputeSet, 4)}));
    CHECK(walked(program) == "r1r2r20r1r2r204");
    CHECK(program::expected_steps(program) == 9);
}

TEST_CASE("a control program may be one step or nothing at all") {
    CHECK(walked(controlled_by(step(Kind::ComputeSet, 5))) == "5");
    CHECK(walked(controlled_by(step(Kind::Sequence))).empty());
    CHECK(walked(controlled_by(repeat(0, {step(Kind::ComputeSet, 5)}))).empty());
    CHECK(walked(controlled_by(repeat(1000000000, {step(Kind::Sequence)}))).empty());
}

TEST_CASE("a while looks before each round and an if has two sides") {
    const auto loop = controlled_by(on_value(Kind::While, {step(Kind::ComputeSet, 1)}));
    CHECK(walked(loop, "n") == "?");
    CHECK(walked(loop, "yyn") == "?1?1?");
    CHECK(program::expected_steps(loop) == 1);
    const auto both =
        controlled_by(on_value(Kind::If, {step(Kind::ComputeSet, 1), step(Kind::ComputeSet, 2)}));
    CHECK(walked(both, "y") == "?1");
    CHECK(walked(both, "n") == "?2");
    const auto one = controlled_by(repeat(2, {on_value(Kind::If, {step(Kind::ComputeSet, 1)})}));
    CHECK(walked(one, "ny") == "r?r?1");
}

TEST_CASE("a sequence may be for some rounds of the innermost repeat around it") {
    const auto only = [](std::int64_t first, std::int64_t every, std::int64_t end,
                         std::uint32_t index) {
        Step made = step(Kind::Sequence, 0, {step(Kind::ComputeSet, index)});
        made.only = program::SomeRounds{first, every, end};
        return made;
    };
    CHECK(walked(controlled_by(repeat(5, {only(0, 2, 5, 1), only(1, 2, 5, 2)}))) ==
          "ro1oroo2ro1oroo2ro1o");
    CHECK(walked(controlled_by(repeat(4, {only(0, 1, 3, 1)}))) == "ro1ro1ro1ro");
    const std::string inner = "roro1";
    CHECK(walked(controlled_by(repeat(2, {repeat(2, {only(1, 1, 2, 1)})}))) ==
          "r" + inner + "r" + inner);
}

TEST_CASE("a step is in a round of the innermost repeat around it") {
    auto program = controlled_by(
        step(Kind::Sequence, 0,
             {step(Kind::Sync, 1),
              repeat(3, {step(Kind::Sync, 2), repeat(2, {step(Kind::Sync, 3)}),
                         on_value(Kind::While, {step(Kind::Sync, 4)}), step(Kind::Call, 0),
                         step(Kind::Sequence, 0, {step(Kind::Sync, 5)})}),
              step(Kind::Sync, 6)}));
    program.functions.push_back({"f", step(Kind::Sync, 7)});
    program::ControlCursor cursor(program, 5);
    std::string seen; // index and round of each step, "r" and the round at the begin of a round
    for (std::int64_t looks = 0;;) {
        const program::Visit visit = cursor.next();
        if (visit.kind == program::Visit::Kind::End) {
            break;
        }
        if (visit.kind == program::Visit::Kind::Decide) {
            CHECK(cursor.round() == looks / 2);
            cursor.decide(looks++ % 2 == 0); // one round of each while
        } else if (visit.kind != program::Visit::Kind::Called) {
            const bool is_run = visit.kind == program::Visit::Kind::Run;
            seen += (is_run ? std::to_string(visit.step->index) : "r") +
                    std::to_string(cursor.round()) + " ";
        }
    }
    std::string expected = "10 ";
    for (const std::string round : {"0 ", "1 ", "2 "}) {
        expected += "r" + round + "2" + round + "r0 30 r1 31 4" + round + "7" + round + "5" + round;
    }
    CHECK(seen == expected + "60 ");
}

TEST_CASE("a while that goes on for too long is a fault") {
    const auto loop = controlled_by(on_value(Kind::While, {step(Kind::ComputeSet, 1)}));
    CHECK(walked(loop, "yyyyyn") == "?1?1?1?1?1?");
    CHECK_THROWS_WITH(walked(loop, "yyyyyy"), "program p: a while on tile_0, 0x80000 goes on after "
                                              "5 rounds (control.while_limit_rounds)");
}

TEST_CASE("calls share the steps of a function") {
    auto program = controlled_by(
        step(Kind::Sequence, 0, {step(Kind::Call, 0), step(Kind::Sync), step(Kind::Call, 0)}));
    program.functions.push_back({"f", step(Kind::Sequence, 0, {step(Kind::Call, 1)})});
    program.functions.push_back({"g", step(Kind::ComputeSet, 7)});
    CHECK_NOTHROW(program::check_control(program));
    CHECK(walked(program) == "cc70cc7");
    CHECK(program::expected_steps(program) == 3);
}

TEST_CASE("a word for a decision is sent in the first event in which every mux can hear it") {
    for (const std::int64_t tiles : {2, 4, 64, 512, 1472}) {
        spec::MachineSpec machine;
        machine.chip.tiles = tiles;
        const timing::ExchangeTiming exchange(machine);
        for (const TileId from : {TileId{0}, TileId{1}, static_cast<TileId>(tiles - 1)}) {
            Cycles longest = 0;
            Cycles earliest_mux = 1'000'000; // of a word that is sent in event 0
            for (TileId to = 0; to < static_cast<TileId>(tiles); ++to) {
                if (to != from) {
                    longest = std::max(longest, exchange.latency(from, to));
                    earliest_mux = std::min(earliest_mux, exchange.mux_offset(from, to));
                }
            }
            const Cycles sent = timing::word_broadcast_cycles(machine, from) - longest -
                                machine.exchange.prologue_cycles -
                                machine.exchange.row_tail_cycles -
                                machine.exchange.row_return_cycles;
            CAPTURE(tiles, from);
            CHECK(sent >= 1);
            CHECK(sent + earliest_mux >= 1);
            CHECK((sent == 1 || sent - 1 + earliest_mux == 0));
        }
    }
}

TEST_CASE("of the two ways of an if the longer one is expected") {
    const Step one = step(Kind::Sync);
    const Step three = step(Kind::Sequence, 0, {one, one, one});
    for (const bool longer_first : {true, false}) {
        const Step decides =
            on_value(Kind::If, longer_first ? std::vector{three, one} : std::vector{one, three});
        CHECK(program::expected_steps(controlled_by(decides)) == 3);
        CHECK(program::expected_steps(controlled_by(repeat(4, {decides, one}))) == 4 * (3 + 1));
    }
}

TEST_CASE("control programs that are wrong are refused") {
    const auto refused = [](Program program) {
        try {
            program::check_control(program);
        } catch (const ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refused(controlled_by(step(Kind::ComputeSet, 10))) ==
          "program p: a control step names compute set 10, expected a number below 10");
    CHECK(refused(controlled_by(step(Kind::Call, 0))) ==
          "program p: a control step names function 0, expected a number below 0");
    CHECK(refused(controlled_by(step(Kind::StreamWait, 0))) ==
          "program p: a control step names stream copy 0, expected a number below 0");
    CHECK(refused(controlled_by(step(Kind::While))) == "program p: a while has no value");
    CHECK(refused(controlled_by(on_value(Kind::Sync, {}))) ==
          "program p: a control step has a value, expected one only for while, if and stream "
          "copies");
    CHECK(refused(controlled_by(step(Kind::If, 0, {step(Kind::Sync)}))) ==
          "program p: an if has no value");
    const std::string some_rounds = "program p: a control step is for some rounds, expected a "
                                    "sequence, and every first or later round";
    for (const Kind kind : {Kind::Sequence, Kind::Sync}) {
        for (const std::int64_t every : {0, 1, 2}) {
            auto some = step(kind);
            some.only.emplace().every = every;
            CAPTURE(static_cast<int>(kind), every);
            CHECK((refused(controlled_by(repeat(2, {some}))) == some_rounds) ==
                  (kind != Kind::Sequence || every == 0));
        }
    }
    auto odd = on_value(Kind::While, {});
    odd.value->address = 0x80002;
    CHECK(refused(controlled_by(odd)) ==
          "program p: a control step looks at tile_0, 0x80002, expected a multiple of 4");
    auto loop = repeat(2, {});
    loop.rounds = {{0, 0x80000}, {0, 0x80004}, {3, 0x80000}};
    CHECK(refused(controlled_by(loop)).empty());
    loop.rounds[1].address = 0x80002;
    CHECK(refused(controlled_by(loop)) ==
          "program p: a repeat writes its round to tile_0, 0x80002, expected a multiple of 4");
    loop.rounds = {{1, 0x80000}, {0, 0x80000}};
    CHECK(refused(controlled_by(loop)) ==
          "program p: a repeat writes its round to tile_0 behind tile_1, expected ascending tiles");
    loop.kind = Kind::Sequence;
    CHECK(refused(controlled_by(loop)) ==
          "program p: a control step has words for its rounds, expected them only for repeats");
    const std::string no_rows = "program p: a control step has rows for each round, expected them "
                                "only for stream copies without a value";
    for (const Kind kind : {Kind::StreamCopy, Kind::StreamStart, Kind::StreamWait, Kind::Sync}) {
        auto by_round = controlled_by(step(kind));
        by_round.stream_copies.resize(1);
        by_round.control.row_a_round = 1;
        const bool copies = kind == Kind::StreamCopy || kind == Kind::StreamStart;
        CHECK(refused(by_round) == (copies ? "" : no_rows));
        by_round.control.value = program::TileValue{0, 0x80000};
        CHECK(refused(by_round).empty() == false);
    }
    CHECK(refused(controlled_by(on_value(Kind::If, {}))) ==
          "program p: an if has 0 steps, expected 1 or 2");
    CHECK(refused(controlled_by(step(Kind::Sync, 0, {step(Kind::Sync)}))) ==
          "program p: a control step that does something itself has 1 steps below it, expected "
          "none");
    auto recursive = controlled_by(step(Kind::Call, 0));
    recursive.functions.push_back({"f", step(Kind::Call, 1)});
    recursive.functions.push_back({"g", step(Kind::Sequence, 0, {step(Kind::Call, 0)})});
    CHECK(refused(recursive) == "program p: a function calls itself: f calls g calls f");
    Step deep = step(Kind::Sync);
    for (int level = 0; level < program::kDeepestStep - 1; ++level) {
        deep = step(Kind::Sequence, 0, {deep});
    }
    CHECK(refused(controlled_by(deep)).empty());
    CHECK(refused(controlled_by(step(Kind::Sequence, 0, {deep}))) ==
          "program p: got steps more than 64 levels deep");
}
