// SPDX-License-Identifier: MIT
// amp.steps_per_issue: what successive steps of the matrix unit and of SLIC take. The rule is
// written down here once more, over the instructions that a worker executed, and held against both
// models of a tile and against loops done by rows.
#include "models/isa/instruction.h"
#include "models/spec/matrix_unit.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr Address kData = 0x80000;
constexpr std::size_t kDataWords = 0x6000;
constexpr double kSteps[] = {0.5, 1, 2, 4};

const std::string kStep = "f16v4hihov4amp $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P0";
const std::string kSlicStep = "f16v4hihov4slic $azeros, $a0:1, $azeros, TSLIC_F16V4_1x4_W0";

spec::MachineSpec machine_with(double steps_per_issue) {
    spec::MachineSpec machine;
    machine.memory.base = 0x78000; // little memory
    machine.memory.region0_bytes = 0x8000;
    machine.memory.region1_bytes = 0x18000;
    machine.amp.steps_per_issue = steps_per_issue;
    return machine;
}

std::string program_of(const std::string& worker) {
    return ".supervisor\n.globl start\nstart: setzi $m0, worker\nrun $m0, $mzero, 0\n"
           "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n.align 8\nworker:\n" +
           worker + "\nexitz $mzero\n";
}

struct Outcome {
    std::string fault;
    tile::ComputeOutcome phase;
    std::vector<std::uint32_t> registers;
    std::vector<std::uint32_t> memory;
};

template <class Tile> Outcome outcome_of(test::BasicAssembledTile<Tile>& tile) {
    std::vector<std::uint32_t> data(kDataWords);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data[i] = 0x3c003c00U + static_cast<std::uint32_t>(i % 64);
    }
    tile.write(kData, data);
    Outcome outcome;
    try {
        outcome.phase = tile.run();
    } catch (const tile::TileFault& fault) {
        outcome.fault = fault.what();
        return outcome;
    }
    const isa::Context& worker = tile.core().context(0);
    outcome.registers.assign(worker.main, worker.main + 12);
    outcome.registers.insert(outcome.registers.end(), worker.aux, worker.aux + 8);
    outcome.memory = tile.template read<std::uint32_t>(kData, kDataWords);
    return outcome;
}

void check_equal(const Outcome& one, const Outcome& other) {
    CHECK(one.fault == other.fault);
    CHECK(one.phase.cycles == other.phase.cycles);
    CHECK(one.phase.counts.worker_issues() == other.phase.counts.worker_issues());
    CHECK(one.phase.counts.worker_bundles() == other.phase.counts.worker_bundles());
    CHECK(one.registers == other.registers);
    CHECK((one.memory == other.memory)); // not printed
}

/// Runs the program by rows, by bundles and clock by clock, which must agree.
Outcome run(const std::string& text, double steps_per_issue) {
    const spec::MachineSpec machine = machine_with(steps_per_issue);
    test::AssembledTile by_rows(text, machine);
    test::AssembledTile by_bundles(text, machine);
    by_bundles.core().set_rows_at_once(false);
    test::AssembledLockstepTile lockstep(text, machine);
    Outcome outcome = outcome_of(by_rows);
    check_equal(outcome, outcome_of(by_bundles));
    check_equal(outcome, outcome_of(lockstep));
    return outcome;
}

/// What a worker executed, one after the other, at one step an issue.
struct Executed {
    bool is_step = false;
    std::int64_t issues = 1;  ///< of itself
    std::int64_t penalty = 0; ///< issues lost between it and the next
};

std::vector<Executed> executed_by(const std::string& text) {
    test::AssembledLockstepTile tile(text, machine_with(1));
    tile::LockstepLog log;
    tile.core().set_observer(&log);
    static_cast<void>(outcome_of(tile));
    std::set<Address> steps;
    const program::Codelet& codelet = tile.codelets().front();
    for (std::size_t i = 0; i < codelet.words.size(); ++i) {
        const isa::Operation operation = isa::decode(codelet.words[i]);
        const std::string_view mnemonic = isa::spec_of(operation.opcode).mnemonic;
        if (mnemonic.ends_with("amp") || mnemonic.ends_with("slic")) {
            const bool second = i > 0 && (codelet.words[i - 1] & isa::kBundleBit) != 0;
            steps.insert(codelet.address + static_cast<Address>(4 * (second ? i - 1 : i)));
        }
    }
    std::vector<Executed> list;
    std::size_t stall = 0;
    const Cycles round = tile.spec().tile.round_cycles();
    for (const tile::IssueRecord& issue : log.issues) {
        if (issue.context == 0) {
            while (stall < log.stalls.size() && log.stalls[stall].begin <= issue.cycle) {
                const tile::StallRecord& lost = log.stalls[stall++];
                if (lost.reason == tile::StallReason::UnalignedBundle) {
                    list.back().penalty += lost.cycles / round;
                }
            }
            list.push_back({steps.contains(issue.address), issue.issues, 0});
        }
    }
    return list;
}

/// The rule: of successive steps with nothing between them so many as may share an issue do, from
/// the first on.
std::int64_t expected_issues(const std::vector<Executed>& list, double steps_per_issue) {
    std::int64_t issues = 0;
    int in_a_row = 0;
    for (const Executed& one : list) {
        if (one.is_step && steps_per_issue > 1) {
            issues += in_a_row % static_cast<int>(steps_per_issue) == 0 ? 1 : 0;
            ++in_a_row;
        } else {
            issues += one.is_step && steps_per_issue < 1 ? 2 : one.issues;
        }
        if (!one.is_step || one.penalty > 0) {
            in_a_row = 0;
        }
        issues += one.penalty;
    }
    return issues;
}

std::string times(int count, const std::string& line) {
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += line + "\n";
    }
    return text;
}

/// A body that can be done by rows, `passes` times; pointers go on from where they stand.
std::string streaming_loop(unsigned first_phase, unsigned passes, bool partials) {
    std::string text = fmt::format(".align 8\n{{ rpt {}, 3 ; fnop }}\n", passes);
    for (unsigned bundle = 0; bundle < 4; ++bundle) {
        const std::string result = bundle % 2 == 0 ? "$a4:5" : "$a6:7";
        text += fmt::format(
            "{{ {}, {}, $m4:5+=, $m3, 0 ; f16v4hihov4amp {}, $a0:1, {}, TAMP_F16V4_E4_P{} "
            "}}\n",
            partials ? "ld2xst64pace $a0:3" : "ldst64pace $a0:1", result, result,
            partials ? "$a2:3" : "$azeros", (first_phase + bundle) % 4);
    }
    return text;
}

/// A piece of worker code; `label` is a number of its own.
std::string piece(std::mt19937& random, int label) {
    const auto below = [&random](unsigned limit) {
        return static_cast<unsigned>(random() % limit);
    };
    const std::string step = below(4) == 0 ? kSlicStep : kStep;
    const std::string bundle = fmt::format("{{ nop ; {} }}", step);
    const std::string plain = "{ nop ; fnop }";
    switch (below(9)) {
    case 0:
        return times(1 + static_cast<int>(below(6)), below(2) == 0 ? bundle : step);
    case 1:
        return times(1 + static_cast<int>(below(2)), "nop");
    case 2: { // a repeat of one to five bundles, some of them steps
        const unsigned bundles = 1 + below(5);
        std::string text = fmt::format(".align 8\n{{ rpt {}, {} ; {} }}\n", below(6), bundles - 1,
                                       below(2) == 0 ? "fnop" : step);
        for (unsigned i = 0; i < bundles; ++i) {
            text += (below(4) == 0 ? plain : bundle) + "\n";
        }
        return text;
    }
    case 3: // a branch in the bundle of a step, to itself, aligned or not
        return fmt::format("setzi $m1, {}\n.align 8\n{}{}: {{ brnzdec $m1, {}b ; {} }}\n", below(6),
                           below(2) == 0 ? "nop\n" : "", label, label, step);
    case 4: // a step, then a branch to a step
        return fmt::format("{}\n{{ bri {}f ; {} }}\nnop\n{}: {}\n", bundle, label, step, label,
                           bundle);
    case 5:
        return fmt::format("{}\n{{ call $m10, leaf ; {} }}\n{}\n", bundle, step, bundle);
    case 6:
        return "get $m8, $COUNT_L\nst32step $m8, $mzero, $m7+=, 1\n";
    case 7:
        return "f32exp $a4, $a4\n";
    default:
        return times(static_cast<int>(below(3)), bundle) +
               streaming_loop(below(4), below(9), below(2) == 0);
    }
}

const std::string kPointers = R"(
    setzi $m0, 0x84000
    setzi $m1, 0x90000
    setzi $m2, 0x90000 - 88
    setzi $m3, 1
    tapack $m4:5, $m0, $m1, $m2
    setzi $m7, 0x80000
)";
const std::string kLeaf =
    "\nexitz $mzero\n.align 8\nleaf: { nop ; " + kStep + " }\n{ br $m10 ; " + kStep + " }\n";

} // namespace

TEST_CASE("steps in a row share issues as the rule says, in code of any shape", "[unit][tile]") {
    std::int64_t steps = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::string worker = kPointers;
        for (int i = 0; i < 12; ++i) {
            worker += piece(random, i + 1);
        }
        const std::string text = program_of(worker + kLeaf);
        const std::vector<Executed> list = executed_by(text);
        for (const Executed& one : list) {
            steps += one.is_step ? 1 : 0;
        }
        for (const double steps_per_issue : kSteps) {
            CAPTURE(steps_per_issue, text);
            const Outcome outcome = run(text, steps_per_issue);
            REQUIRE(outcome.fault.empty());
            CHECK(outcome.phase.counts.worker_issues() == expected_issues(list, steps_per_issue));
            CHECK(outcome.phase.counts.worker_bundles() == static_cast<std::int64_t>(list.size()));
        }
    }
    CHECK(steps > 60 * 40); // or the property would hold of little
}

TEST_CASE("a run of steps rounds up to whole issues and 0.5 takes two each", "[unit][tile]") {
    const spec::MachineSpec machine;
    const Cycles frame = run(program_of(""), 1).phase.cycles;
    for (int count = 0; count <= 9; ++count) {
        for (const double steps_per_issue : kSteps) {
            CAPTURE(count, steps_per_issue);
            const spec::AmpSpec amp = machine_with(steps_per_issue).amp;
            const auto issues = static_cast<Cycles>(std::ceil(count / steps_per_issue));
            CHECK(amp.issues_of(count) == issues);
            const std::string straight = times(count, "{ nop ; " + kStep + " }");
            const std::string looping = fmt::format("rpt {}, 0\n{{ nop ; {} }}\n", count, kStep);
            const Cycles round = machine.tile.round_cycles();
            CHECK(run(program_of(straight), steps_per_issue).phase.cycles ==
                  frame + round * issues);
            CHECK(run(program_of("nop\n" + looping), steps_per_issue).phase.cycles ==
                  frame + round * (2 + issues));
        }
    }
}

TEST_CASE("every matrix-unit and SLIC instruction is a step and no other instruction is",
          "[unit][tile]") {
    for (std::uint16_t code = 1; code < static_cast<std::uint16_t>(isa::Opcode::kCount); ++code) {
        const isa::OpcodeSpec& spec = isa::spec_of(static_cast<isa::Opcode>(code));
        CAPTURE(spec.mnemonic);
        const bool multiplies = spec.mnemonic.ends_with("amp") || spec.mnemonic.ends_with("slic");
        CHECK(((spec.flags & isa::kStep) != 0) ==
              (multiplies && !spec.mnemonic.ends_with("clamp")));
        if ((spec.flags & isa::kStep) != 0) {
            CHECK(spec.cycles == 1); // so that a step never outlasts its issue
        }
    }
}

TEST_CASE("a fault among steps that share an issue is of that issue's cycle", "[unit][tile]") {
    for (int before = 0; before <= 5; ++before) {
        for (const double steps_per_issue : kSteps) {
            CAPTURE(before, steps_per_issue);
            const std::string text =
                program_of(times(before, "{ nop ; " + kStep + " }") + "{ ld32 $a2, $mzero, 0 ; " +
                           kStep + " }\n" + kStep);
            const std::string fault = run(text, steps_per_issue).fault;
            const Cycles round = spec::MachineSpec{}.tile.round_cycles();
            const Cycles first = 2 * round; // run waits for setzi, the worker for its launch
            const auto issue = static_cast<Cycles>(before / steps_per_issue);
            CHECK(fault.starts_with(fmt::format("tile_0.worker_0 @ {}:", first + round * issue)));
        }
    }
}

TEST_CASE("a step in supervisor code faults when it issues, whatever steps take", "[unit][tile]") {
    const std::string text =
        ".supervisor\n.globl start\nstart: nop\n.worker\n" + kStep + "\n.supervisor\nbr $lr\n";
    const std::string fault = run(text, 1).fault;
    CHECK_THAT(fault, Catch::Contains("a worker instruction in supervisor code"));
    for (const double steps_per_issue : kSteps) {
        CHECK(run(text, steps_per_issue).fault == fault);
    }
}

TEST_CASE("weight loads take what they take, however fast steps are", "[unit][tile]") {
    const std::string text = ".supervisor\n.globl start\nstart: setzi $m0, 0x80000\n"
                             "put $CCCSLOAD, $m0\n" +
                             times(8, "ld128putcs 0") + "br $lr\n";
    for (const double steps_per_issue : kSteps) {
        CHECK(run(text, steps_per_issue).phase.cycles == run(text, 1).phase.cycles);
    }
}

TEST_CASE("what the matrix unit does at most follows from the generation and the steps an issue",
          "[unit][tile]") {
    struct Row {
        spec::Generation generation;
        std::int64_t sets;
    };
    for (const Row& row : {Row{spec::Generation::Ipu1, 1}, Row{spec::Generation::Ipu2, 2},
                           Row{spec::Generation::Ipu21, 2}}) {
        for (const double steps_per_issue : kSteps) {
            spec::MachineSpec machine = machine_with(steps_per_issue);
            machine.chip.generation = row.generation;
            CHECK(isa::target_of(machine).accumulator_sets() == row.sets);
            const spec::MatrixUnit unit = spec::matrix_unit(machine);
            const auto scaled = [&](std::int64_t of_a_step) {
                return static_cast<std::int64_t>(static_cast<double>(of_a_step) * steps_per_issue);
            };
            CHECK(unit.sets == row.sets);
            CHECK(unit.macs_f16_f16 == scaled(32 * row.sets));
            CHECK(unit.macs_f16_f32 == scaled(32));
            CHECK(unit.macs_f32_f32 == scaled(8 * row.sets));
            CHECK(unit.memory_bytes == scaled(24));
        }
    }
}
