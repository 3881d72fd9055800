// SPDX-License-Identifier: MIT
// What a compute set counts: by hand for each class, and against the instructions that the lock-step
// model issued one by one.
#include "models/isa/assembler.h"
#include "models/isa/instruction_counts.h"
#include "tests/support/assembled_tile.h"
#include "tests/support/random_code.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <map>
#include <random>
#include <string>
#include <vector>

using namespace tessera;
using counts::Class;
using counts::Group;
using counts::MatrixStep;
using counts::MemoryUse;
using counts::VectorOperation;

namespace {

std::string launching(const std::string& workers, const std::string& supervisor = "") {
    return ".supervisor\n.globl start\nstart: setzi $m0, worker\n" + supervisor +
           "runall $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n.align "
           "8\nworker:\n" +
           workers + "\nexitz $mzero\n";
}

counts::Counts counts_of(const std::string& text, const spec::MachineSpec& machine = {}) {
    CAPTURE(text);
    const counts::Counts fast = test::AssembledTile(text, machine).run().counts;
    CHECK((fast == test::AssembledLockstepTile(text, machine).run().counts));
    return fast;
}

const std::int64_t kWorkers = spec::MachineSpec{}.tile.workers;

/// What each worker counts in `body`, and no more.
std::int64_t in_body(const std::string& body, Group group, std::size_t kind) {
    const auto count = [&](const std::string& code) {
        return counts_of(launching("setzi $m2, 0x80000\nsetzi $m3, 0x90000\n" + code))
            .at(group, kind);
    };
    const std::int64_t all = count(body) - count("");
    CHECK(all % kWorkers == 0);
    return all / kWorkers;
}

template <class Kind> std::int64_t in_body(const std::string& body, Group group, Kind kind) {
    return in_body(body, group, static_cast<std::size_t>(kind));
}

/// Counts the instructions and bundles that issued, by themselves.
counts::Counts recounted(const tile::LockstepLog& log, const std::vector<std::uint32_t>& words,
                         Address base, const spec::MachineSpec& machine) {
    counts::Counts all;
    for (const tile::IssueRecord& issue : log.issues) {
        const std::size_t at = (issue.address - base) / 4;
        std::vector<isa::Operation> halves{isa::decode(words.at(at))};
        if ((words[at] & isa::kBundleBit) != 0) {
            halves.push_back(isa::decode(words.at(at + 1)));
        }
        const bool main_counts = halves.size() == 1 || isa::is_nop(halves.back());
        const Class kind =
            isa::counts_of((main_counts ? halves.front() : halves.back()).opcode).kind;
        if (issue.context < 0) {
            ++all.at(Group::SupervisorInstructions, kind);
        } else {
            ++all.at(Group::WorkerBundles, kind);
            all.at(Group::WorkerIssues, kind) += issue.issues;
            const bool is_full =
                halves.size() == 2 && !isa::is_nop(halves.front()) && !isa::is_nop(halves.back());
            all.at(Group::WorkerFullBundles) += is_full ? 1 : 0;
        }
        for (const isa::Operation& half : halves) {
            const counts::Instruction& one = isa::counts_of(half.opcode);
            if (one.step) {
                ++all.at(Group::MatrixSteps, *one.step);
            }
            if (one.operation) {
                ++all.at(Group::VectorOperations, *one.operation);
            }
            all.at(Group::MemoryBytes, MemoryUse::Loaded) += one.loaded_bytes;
            all.at(Group::MemoryBytes, MemoryUse::Stored) += one.stored_bytes;
        }
    }
    for (const tile::StallRecord& stall : log.stalls) {
        if (stall.reason == tile::StallReason::UnalignedBundle) {
            all.at(Group::WorkerIssues, Class::Control) +=
                stall.cycles / machine.tile.round_cycles();
        }
    }
    return all;
}

} // namespace

TEST_CASE("each class counts its instructions, with their issues", "[unit][tile]") {
    struct Case {
        Class kind;
        std::string code;
        std::int64_t issues;
    };
    for (const auto& [kind, code, issues] : std::vector<Case>{
             {Class::Integer, "add $m4, $m2, $m3", 1},
             {Class::Control, "bri 1f\n1:", 1},
             {Class::System, "get $m4, $WSR", 1},
             {Class::System, "uget $a0, $FP_CTL", 1},
             {Class::Memory, "ld32 $a0, $m2, $mzero, 0", 1},
             {Class::Logic, "setzi $a0, 5", 1},
             {Class::Logic, "urand32 $a0", 1},
             {Class::Float, "f32add $a0, $a1, $a2", 1},
             {Class::Function, "f32sqrt $a0, $a1", 5},
             {Class::Convert, "f32tof16 $a0, $a1", 1},
             {Class::Matrix, "f16v4sisoamp $a0:1, $a2:3, $a4:5, TAMP_F16V4_E4_P0", 1}}) {
        CAPTURE(code);
        for (const auto& spec_kind :
             {Class::Integer, Class::Control, Class::System, Class::Memory, Class::Logic,
              Class::Float, Class::Function, Class::Convert, Class::Matrix}) {
            CHECK(in_body(code, Group::WorkerBundles, spec_kind) == (spec_kind == kind ? 1 : 0));
            CHECK(in_body(code, Group::WorkerIssues, spec_kind) ==
                  (spec_kind == kind ? issues : 0));
        }
    }
}

TEST_CASE("a bundle is of its aux half's class, beside fnop of its main half's", "[unit][tile]") {
    const std::string align = ".align 8\n";
    const std::string both =
        align + "{ ld64 $a0:1, $m2, $mzero, 0 ; f32v2add $a2:3, $a4:5, $a4:5 }";
    CHECK(in_body(both, Group::WorkerBundles, Class::Float) == 1);
    CHECK(in_body(both, Group::WorkerBundles, Class::Memory) == 0);
    CHECK(in_body(both, Group::MemoryBytes, MemoryUse::Loaded) == 8);
    CHECK(in_body(both, Group::VectorOperations, VectorOperation::F32v2) == 1);
    const std::string alone = align + "{ ld64 $a0:1, $m2, $mzero, 0 ; fnop }";
    CHECK(in_body(alone, Group::WorkerBundles, Class::Memory) == 1);
    CHECK(in_body(alone, Group::WorkerBundles, Class::Logic) == 0);
}

TEST_CASE("vector operations and matrix steps are told by type and width", "[unit][tile]") {
    const std::map<std::string, VectorOperation> operations{
        {"f16tof32 $a0, $a1", VectorOperation::F16},
        {"f16v2add $a0, $a1, $a2", VectorOperation::F16v2},
        {"f16v4add $a0:1, $a2:3, $a4:5", VectorOperation::F16v4},
        {"f16v8acc $a0:3", VectorOperation::F16v8},
        {"f32add $a0, $a1, $a2", VectorOperation::F32},
        {"f32v2add $a0:1, $a2:3, $a4:5", VectorOperation::F32v2},
        {"f32v4acc $a0:3", VectorOperation::F32v4}};
    for (const auto& [code, operation] : operations) {
        for (std::size_t kind = 0; kind < counts::kVectorOperations.size(); ++kind) {
            CAPTURE(code, counts::kVectorOperations[kind].key);
            CHECK(in_body(code, Group::VectorOperations, kind) ==
                  (kind == static_cast<std::size_t>(operation) ? 1 : 0));
        }
    }
    // every step of the table is told under the beginning of its mnemonic
    for (std::uint16_t code = 1; code < static_cast<std::uint16_t>(isa::Opcode::kCount); ++code) {
        const isa::OpcodeSpec& row = isa::spec_of(static_cast<isa::Opcode>(code));
        const counts::Instruction& counted = isa::counts_of(static_cast<isa::Opcode>(code));
        CAPTURE(row.mnemonic);
        CHECK(counted.step.has_value() == ((row.flags & isa::kStep) != 0));
        if (counted.step) {
            const std::string key =
                counts::kMatrixSteps[static_cast<std::size_t>(*counted.step)].key;
            CHECK((row.mnemonic == key + "amp" || row.mnemonic == key + "slic"));
        }
        if (counted.operation) {
            const std::string key =
                counts::kVectorOperations[static_cast<std::size_t>(*counted.operation)].key;
            CHECK(row.mnemonic.substr(0, key.size()) == key);
            CHECK((key.size() > 3 || row.mnemonic.substr(3, 1) != "v"));
        }
    }
}

TEST_CASE("loops and branches count each time round, what is jumped over does not",
          "[unit][tile]") {
    const auto floats = [](const std::string& code) {
        return in_body(code, Group::VectorOperations, VectorOperation::F32);
    };
    const std::string add = "f32add $a0, $a1, $a2";
    CHECK(floats(".align 8\nnop\nrpt 5, 1\n{ nop ; " + add + " }\n{ nop ; " + add + " }") == 5 * 2);
    CHECK(floats("setzi $m4, 0\n.align 8\nnop\nrpt $m4, 0\n{ nop ; " + add + " }") == 0);
    CHECK(floats("setzi $m4, 3\n.align 8\n1: { brnzdec $m4, 1b ; " + add + " }") == 3 + 1);
    CHECK(floats("bri 1f\n" + add + "\n1: " + add) == 1);
    CHECK(floats("setzi $m4, 1f\nbr $m4\n" + add + "\n1: " + add) == 1);
    CHECK(floats("call $m9, 2f\nbri 3f\n2: " + add + "\nbr $m9\n3:") == 1);
}

TEST_CASE("supervisors count by class, and the bytes of their loads, launches are told",
          "[unit][tile]") {
    const std::string weights = "setzi $m1, 0x80000\nput $CCCSLOAD, $m1\nld64putcs 0\n";
    const counts::Counts without = counts_of(launching(""));
    const counts::Counts with = counts_of(launching("", weights));
    const auto more = [&](Group group, auto kind) {
        return with.at(group, kind) - without.at(group, kind);
    };
    CHECK(more(Group::SupervisorInstructions, Class::Integer) == 1);
    CHECK(more(Group::SupervisorInstructions, Class::System) == 1);
    CHECK(more(Group::SupervisorInstructions, Class::Memory) == 1);
    CHECK(more(Group::MemoryBytes, MemoryUse::Loaded) == 8);
    CHECK(with.worker_bundles() == without.worker_bundles());
    CHECK(without.at(Group::SupervisorInstructions, Class::System) == 2); // runall, sync
    CHECK(without.at(Group::SupervisorInstructions, Class::Control) == 1);
    CHECK(without.launches() == 1);
}

TEST_CASE("a branch to an unaligned bundle holds its issues against control", "[unit][tile]") {
    for (const std::int64_t extra : {0, 1, 3}) {
        spec::MachineSpec machine;
        machine.tile.unaligned_bundle_issues = extra;
        const auto control = [&](const std::string& align) {
            return counts_of(launching("bri 1f\n" + align + "1: { nop ; fnop }"), machine)
                .at(Group::WorkerIssues, Class::Control);
        };
        CHECK(control("nop\n") == control(".align 8\n"));
        CHECK(control("nop\nnop\n") - control("nop\n") == kWorkers * extra);
    }
}

TEST_CASE("steps that share an issue are steps each, and one issue of the matrix unit",
          "[unit][tile]") {
    spec::MachineSpec machine;
    machine.amp.steps_per_issue = 2;
    const std::string step = "f16v4sisoamp $a0:1, $a2:3, $a4:5, TAMP_F16V4_E4_P0\n";
    const counts::Counts two = counts_of(launching(step + step), machine);
    CHECK(two.at(Group::MatrixSteps, MatrixStep::F16v4Siso) == 2 * kWorkers);
    CHECK(two.at(Group::WorkerBundles, Class::Matrix) == 2 * kWorkers);
    CHECK(two.at(Group::WorkerIssues, Class::Matrix) == kWorkers);
}

TEST_CASE("random programs count what the lock-step model issues one by one", "[unit][tile]") {
    unsigned ended = 0;
    for (unsigned seed = 0; seed < 3000; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const test::RandomProgram program(
            [&random] { return static_cast<std::uint32_t>(random()); });
        tile::LockstepLog log;
        const test::RandomOutcome lockstep = program.run_lockstep(&log);
        if (!lockstep.fault.empty()) {
            continue;
        }
        counts::Counts expected = recounted(
            log, program.words(), program.machine().memory.region0_begin(), program.machine());
        expected.at(Group::Launches) = lockstep.counts.launches();
        CHECK((lockstep.counts == expected));
        ++ended;
    }
    CHECK(ended > 150);
}
