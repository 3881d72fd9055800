// SPDX-License-Identifier: MIT
// What the lock-step model reports: conflicts, and every clock of every context as an issue or a
// stall with its reason.
#include "models/isa/instruction.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr std::string_view kSync = "sync TEXCH_SYNCZONE_LOCAL\n";

std::string text_of(const std::string& supervisor, const std::string& workers) {
    return ".supervisor\n.globl start\nstart:\n" + supervisor + "br $lr\n.worker\n.align 8\n" +
           workers;
}

const std::string kRead = "ld32 $m3, $m2, $mzero, 0";

struct Observed {
    explicit Observed(const std::string& text, const spec::MachineSpec& machine = {})
        : tile(text, machine) {
        tile.core().set_observer(&log);
        phase = tile.run();
    }

    /// Cycles that a context waited for a reason.
    [[nodiscard]] Cycles stalled(int context, tile::StallReason reason) const {
        Cycles cycles = 0;
        for (const tile::StallRecord& stall : log.stalls) {
            cycles += stall.context == context && stall.reason == reason ? stall.cycles : 0;
        }
        return cycles;
    }

    test::AssembledLockstepTile tile;
    tile::LockstepLog log;
    tile::ComputeOutcome phase;
};

using tile::StallReason;

} // namespace

TEST_CASE("conflicts fault or are recorded", "[unit][tile]") {
    const std::string body = "setzi $m0, 0x80000\nsetzi $m1, 0x80010\n"
                             "tapack $m4:5, $m0, $m1, $mzero\n"
                             "ld2x64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0\n"
                             "setzi $m2, 0x4e000\nld32 $m3, $m2, $mzero, 0\n";
    // the supervisor's own code is fetched from there as well
    const std::string text =
        text_of("setzi $m0, worker\nrun $m0, $mzero, 0\n" + std::string(kSync) +
                    "setzi $m2, 0x4e000\n" + kRead + "\nput $CCCSLOAD, $m2\nld64putcs 0\n",
                "worker: " + body + "exitz $mzero\n");
    test::AssembledLockstepTile faulting(text);
    CHECK_THROWS_WITH(faulting.run(), Catch::Contains("in one memory element"));
    CHECK(faulting.core().conflicts_found() == 0);

    const spec::MachineSpec machine;
    test::AssembledLockstepTile tile(text, machine,
                                     tile::LockstepOptions{tile::OnConflict::Record});
    tile.run();
    const auto conflicts = tile.core().conflicts();
    REQUIRE(conflicts.size() == 4);
    CHECK(tile.core().conflicts_found() == 4);
    CHECK(conflicts[0].kind == isa::ConflictKind::Element);
    CHECK(conflicts[0].address == 0x80000);
    CHECK(conflicts[0].context == 0);
    CHECK(conflicts[0].pc == tile.symbol("worker") + 12);
    for (std::size_t i = 1; i < 4; ++i) {
        CHECK(conflicts[i].kind == isa::ConflictKind::Fetch);
        CHECK(conflicts[i].address == 0x4e000);
        CHECK(conflicts[i].context == (i == 1 ? 0 : -1));
    }
    test::AssembledLockstepTile few(
        text, machine,
        tile::LockstepOptions{.on_conflict = tile::OnConflict::Record, .listed_conflicts = 1});
    few.run();
    CHECK(few.core().conflicts().size() == 1);
    CHECK(few.core().conflicts_found() == 4);
}

TEST_CASE("supervisor stalls have their reasons", "[unit][tile]") {
    for (const Cycles pipeline : {6, 9}) {
        spec::MachineSpec machine;
        machine.tile.pipeline_cycles = pipeline;
        const Observed chain(text_of("setzi $m0, 1\nadd $m1, $m0, 1\nadd $m1, $m1, 1\n", ""),
                             machine);
        CHECK(chain.stalled(-1, StallReason::Dependency) == 2 * (pipeline - 1));
        CHECK(chain.stalled(-1, StallReason::Branch) == pipeline - 1); // the return

        const Observed loop(text_of("setzi $m0, 3\n1: brnzdec $m0, 1b\n", ""), machine);
        CHECK(loop.stalled(-1, StallReason::Branch) == (3 + 1) * (pipeline - 1));

        const Observed weights(text_of("setzi $m0, 0x80000\nput $CCCSLOAD, $m0\nnop\n"
                                       "ld64putcs 0\nld64putcs 1\n",
                                       ""),
                               machine);
        CHECK(weights.stalled(-1, StallReason::WeightAddress) == pipeline - 2);
    }
}

TEST_CASE("a supervisor waits for a slot and for the sync", "[unit][tile]") {
    const spec::MachineSpec machine;
    const Cycles slots = machine.tile.workers;
    const Cycles pipeline = machine.tile.pipeline_cycles;
    constexpr Cycles kIssues = 5;
    const std::string worker = "worker: nop\nnop\nnop\nnop\nexitz $mzero\n";
    // runall issues at `pipeline`; worker n exits at its fifth issue, its slot is free `pipeline`
    // later
    const Observed all(
        text_of("setzi $m0, worker\nrunall $m0, $mzero, 0\n" + std::string(kSync), worker));
    const Cycles first_slot = 2 * pipeline; // slot 0
    CHECK(first_slot % slots == 0);
    const Cycles first_free = first_slot + slots * (kIssues - 1) + pipeline;
    const Cycles last_free = first_free + slots - 1;
    CHECK(all.stalled(-1, StallReason::Slot) == first_free - (pipeline + 1));
    CHECK(all.stalled(-1, StallReason::Sync) == last_free - (first_free + 1));
    CHECK(all.stalled(-1, StallReason::Branch) == pipeline - 1);
    for (int n = 0; n < static_cast<int>(slots); ++n) {
        CHECK(all.stalled(n, StallReason::Launch) == pipeline + n);
    }
}

TEST_CASE("a branch to an unaligned bundle is a stall of its worker", "[unit][tile]") {
    for (const Cycles penalty : {0, 1, 3}) {
        spec::MachineSpec machine;
        machine.tile.unaligned_bundle_issues = penalty;
        const Observed run(text_of("setzi $m0, worker\nrun $m0, $mzero, 0\n" + std::string(kSync),
                                   "worker: setzi $m0, 3\n.align 8\nnop\n"
                                   "1: { brnzdec $m0, 1b ; fnop }\nexitz $mzero\n"),
                           machine);
        CHECK(run.stalled(0, StallReason::UnalignedBundle) == 3 * penalty * machine.tile.workers);
    }
}

TEST_CASE("steps that share an issue are records of one clock, the first of which takes the turn",
          "[unit][tile]") {
    std::string worker = "worker: nop\n";
    for (int i = 0; i < 5; ++i) {
        worker += "f16v4hihov4amp $azeros, $a0:1, $azeros, TAMP_F16V4_E4_P0\n";
    }
    for (const double steps_per_issue : {0.5, 1.0, 2.0, 4.0}) {
        spec::MachineSpec machine;
        machine.amp.steps_per_issue = steps_per_issue;
        const Observed run(text_of("setzi $m0, worker\nrun $m0, $mzero, 0\n" + std::string(kSync),
                                   worker + "exitz $mzero\n"),
                           machine);
        std::vector<std::pair<Cycles, std::int32_t>> issues; // turns behind the first, issues
        for (const tile::IssueRecord& issue : run.log.issues) {
            if (issue.context == 0) {
                issues.emplace_back(issue.cycle / machine.tile.round_cycles() - 2, issue.issues);
            }
        }
        using Issues = std::vector<std::pair<Cycles, std::int32_t>>;
        const std::map<double, Issues> expected = {
            {0.5, {{0, 1}, {1, 2}, {3, 2}, {5, 2}, {7, 2}, {9, 2}, {11, 1}}},
            {1.0, {{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}}},
            {2.0, {{0, 1}, {1, 1}, {1, 0}, {2, 1}, {2, 0}, {3, 1}, {4, 1}}},
            {4.0, {{0, 1}, {1, 1}, {1, 0}, {1, 0}, {1, 0}, {2, 1}, {3, 1}}}};
        CHECK(issues == expected.at(steps_per_issue));
    }
}

TEST_CASE("an instruction of several issues stalls its worker for the rest", "[unit][tile]") {
    for (std::uint16_t code = 1; code < static_cast<std::uint16_t>(isa::Opcode::kCount); ++code) {
        const isa::OpcodeSpec& spec = isa::spec_of(static_cast<isa::Opcode>(code));
        if (spec.cycles == 1) {
            continue;
        }
        CAPTURE(spec.mnemonic);
        const Observed run(
            text_of("setzi $m0, worker\nrun $m0, $mzero, 0\n" + std::string(kSync),
                    fmt::format("worker: nop\n.word {:#x}\nexitz $mzero\n", spec.code)));
        const Cycles slots = run.tile.spec().tile.workers;
        CHECK(run.stalled(0, StallReason::MultiCycle) == (spec.cycles - 1) * slots);
        CHECK(run.phase.counts.worker_issues() == 2 + spec.cycles);
    }
}

TEST_CASE("issues and stalls cover every context without a gap", "[unit][tile]") {
    const std::string workers = "worker: get $m0, $WSR\nand $m0, $m0, 7\n.align 8\nnop\n"
                                "1: { brnzdec $m0, 1b ; fnop }\nrpt 3, 0\n{ nop ; fnop }\n"
                                "exitz $mzero\n";
    const std::string text =
        text_of("setzi $m0, worker\nrun $m0, $mzero, 0\nrun $m0, $mzero, 0\nsetzi $m2, 20\n"
                "1: brnzdec $m2, 1b\n" +
                    std::string(kSync) + "runall $m0, $mzero, 0\n" + std::string(kSync) + "nop\n",
                workers);
    for (const std::int64_t count : {2, 5, 6, 8}) {
        spec::MachineSpec machine;
        machine.tile.workers = count;
        const Observed run(text, machine);
        const Cycles slots = machine.tile.round_cycles();
        // begin to end, of each context
        std::map<int, std::map<Cycles, Cycles>> pieces;
        for (const tile::IssueRecord& issue : run.log.issues) {
            const Cycles turn = issue.context < 0 ? 1 : slots;
            CHECK(pieces[issue.context].emplace(issue.cycle, issue.cycle + turn).second);
        }
        for (const tile::StallRecord& stall : run.log.stalls) {
            CHECK(pieces[stall.context].emplace(stall.begin, stall.begin + stall.cycles).second);
        }
        CHECK(pieces.size() == static_cast<std::size_t>(count) + 1);
        for (const auto& [context, of_context] : pieces) {
            int gaps = 0;
            Cycles end = of_context.begin()->first;
            for (const auto& [begin, piece_end] : of_context) {
                CHECK(begin >= end);
                gaps += begin > end ? 1 : 0;
                end = piece_end;
            }
            // a worker that is launched twice rests between
            CHECK(gaps == (context == 0 || context == 1 ? 1 : 0));
            if (context < 0) {
                CHECK(of_context.begin()->first == 0);
                CHECK(end == run.phase.cycles);
            }
        }
        std::int64_t issues = 0;
        for (const tile::IssueRecord& issue : run.log.issues) {
            issues += issue.context < 0 ? 0 : 1;
        }
        CHECK(issues == run.phase.counts.worker_bundles());
        CHECK(static_cast<std::int64_t>(run.log.issues.size()) - issues ==
              run.phase.counts.supervisor_instructions());
    }
}
