// SPDX-License-Identifier: MIT
// From a run in lock-step to the two pipeline traces.
#include "models/tile/core/pipeline_trace.h"
#include "tests/support/assembled_tile.h"
#include "tests/support/konata_check.h"
#include "traces/exporters/exporter.h"
#include "traces/exporters/konata.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <unistd.h>

using namespace tessera;

namespace {

const std::string kText =
    ".supervisor\n.globl start\nstart: setzi $m0, worker\nrunall $m0, $mzero, 0\n"
    "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n.align 8\nworker: setzi $m0, 2\n"
    ".align 8\nnop\n1: { brnzdec $m0, 1b ; fnop }\nexitz $mzero\n";

struct Traced {
    Traced() : tile(kText) {
        tile.core().set_observer(&log);
        cycles = tile.run().cycles;
        instructions = tile::pipeline_instructions(log, tile.spec());
    }

    test::AssembledLockstepTile tile;
    tile::LockstepLog log;
    Cycles cycles = 0;
    std::vector<traces::PipelineInstruction> instructions;
};

std::string bytes_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::string temporary(const std::string& suffix) {
    return (std::filesystem::temp_directory_path() /
            ("tessera_pipeline_" + std::to_string(getpid()) + suffix))
        .string();
}

} // namespace

TEST_CASE("instructions wait from behind their predecessor to their issue", "[unit][tile]") {
    const Traced run;
    const Cycles pipeline = run.tile.spec().tile.pipeline_cycles;
    const Cycles slots = run.tile.spec().tile.workers;
    // setzi, runall behind its operand, then the workers
    REQUIRE(run.instructions.size() > 4);
    CHECK(run.instructions[0].waits_from == 0);
    CHECK(run.instructions[0].done == pipeline);
    CHECK(run.instructions[1].waits_from == 1);
    CHECK(run.instructions[1].issue == pipeline);
    CHECK(run.instructions[2].context == 0);
    CHECK(run.instructions[2].waits_from == pipeline); // launched
    CHECK(run.instructions[2].issue == 2 * pipeline);
    CHECK(run.instructions[2].occupied_until == 2 * pipeline + slots);
    // of each context every instruction starts to wait where the one before left off
    std::map<int, Cycles> end;
    for (const traces::PipelineInstruction& one : run.instructions) {
        if (end.contains(one.context)) {
            CHECK(one.waits_from == end[one.context]);
        }
        end[one.context] = one.occupied_until;
    }
}

TEST_CASE("an instruction of several issues occupies its context and is done later",
          "[unit][tile]") {
    const spec::MachineSpec machine;
    const Cycles slots = machine.tile.workers;
    tile::LockstepLog log;
    log.issues = {{2, 20, 0x4c000, 3}, {2, 20 + 3 * slots, 0x4c004, 1}};
    log.stalls = {{2, 8, 12, tile::StallReason::Launch, 0x4c000},
                  {2, 20 + slots, 2 * slots, tile::StallReason::MultiCycle, 0x4c000}};
    const auto instructions = tile::pipeline_instructions(log, machine);
    REQUIRE(instructions.size() == 2);
    CHECK(instructions[0].waits_from == 8);
    CHECK(instructions[0].occupied_until == 20 + 3 * slots);
    CHECK(instructions[0].done == 20 + 2 * slots + machine.tile.pipeline_cycles);
    CHECK(instructions[1].waits_from == instructions[1].issue);
}

TEST_CASE("instructions are described by their text and line", "[unit][tile]") {
    Traced run;
    const auto text = tile::describe_instruction(run.tile.codelets(), run.tile.symbol("worker"));
    CHECK(text.text == "setzi $m0, 2");
    CHECK(text.source_line == "test.S:9");
    const auto bundle =
        tile::describe_instruction(run.tile.codelets(), run.tile.symbol("worker") + 12);
    CHECK(traces::mnemonics_of(bundle.text) == "brnzdec ; fnop");
    CHECK(tile::describe_instruction(run.tile.codelets(), 0).text.empty());
}

TEST_CASE("a run in lock-step is a sound Konata file", "[unit][tile]") {
    const Traced run;
    const std::string path = temporary(".log");
    traces::OutputFile output{path};
    traces::write_konata(output, run.instructions, 6, [&run](Address address) {
        return tile::describe_instruction(run.tile.codelets(), address);
    });
    const auto summary = test::KonataReader::read(bytes_of(path));
    std::filesystem::remove(path);
    CHECK(summary.error.empty());
    CHECK(summary.instructions == static_cast<std::int64_t>(run.log.issues.size()));
    CHECK(summary.threads.size() == 7);
    CHECK(summary.stage_cycles.at("Is") == summary.instructions);
    CHECK(summary.last_cycle == run.cycles); // the return takes a pipeline's length
    Cycles waited = 0;
    for (const tile::StallRecord& stall : run.log.stalls) {
        waited += stall.cycles;
    }
    // all stalls but the last, which no instruction follows
    const Cycles last = run.tile.spec().tile.pipeline_cycles - 1;
    CHECK(summary.stage_cycles.at("Wt") == waited - last);
}

TEST_CASE("a run in lock-step is a Perfetto trace with a slice an instruction", "[unit][tile]") {
    const Traced run;
    const std::string path = temporary(".pftrace");
    traces::NameTable names;
    traces::Exporter exporter(path, {traces::Level::Worker, {true}}, names);
    traces::send_pipeline(exporter, names, 0, run.cycles, run.instructions,
                          [&run](Address address) {
                              return tile::describe_instruction(run.tile.codelets(), address);
                          });
    const traces::TraceSummary summary = exporter.finish();
    CHECK_THAT(bytes_of(path), Catch::Contains("brnzdec ; fnop"));
    std::filesystem::remove(path);
    CHECK(summary.slices == static_cast<std::int64_t>(run.log.issues.size()) + 2);
    CHECK_FALSE(summary.truncated);
}
