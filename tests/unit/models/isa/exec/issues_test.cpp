// SPDX-License-Identifier: MIT
// Issues that aux-lane instructions take, against a table of the exceptions.
#include "models/isa/instruction.h"
#include "models/isa/jump_log.h"
#include "tests/unit/models/isa/exec/instruction.h"

#include <algorithm>
#include <map>
#include <string>

using namespace tessera;
using namespace tessera::test;

namespace {

/// Those that take more than one (docs/deviations.md, aux-latency).
const std::map<std::string, int, std::less<>> kIssues = {
    {"f32div", 3},   {"f32exp", 3},    {"f32exp2", 3}, {"f32ln", 6},     {"f32log2", 6},
    {"f32tanh", 5},  {"f32sigm", 5},   {"f32sqrt", 5}, {"f32oox", 3},    {"f32oorx", 4},
    {"f16v2exp", 2}, {"f16v2exp2", 2}, {"f16v2ln", 2}, {"f16v2log2", 2}, {"f16v2sigm", 2},
};

int issues_of(std::string_view mnemonic) {
    const auto found = kIssues.find(mnemonic);
    return found == kIssues.end() ? 1 : found->second;
}

/// The generation that has every instruction.
isa::Target every_generation() {
    isa::Target target;
    target.architecture = 21;
    return target;
}

/// Issues of a worker that runs the words from their start to its exit.
std::int64_t issues_of_run(const std::vector<std::uint32_t>& words, const isa::Engine& engine,
                           std::int64_t limit = 1000) {
    const isa::DecodedProgram program =
        isa::decode_program(words, isa::test::kBase, every_generation());
    const isa::DecodedProgram* const programs[] = {&program};
    isa::JumpLog jumps;
    jumps.load(programs);
    isa::Context context;
    context.programs = programs;
    context.jump_log = &jumps;
    isa::take_up(context, 0);
    context.number = 0;
    context.issue_limit = limit;
    context.target = isa::test::kBase;
    const isa::FpEnvironment rounding;
    engine.run_worker(context);
    return context.issues;
}

} // namespace

TEST_CASE("every aux instruction takes its issues alone and in a bundle", "[timing][isa]") {
    unsigned several = 0;
    for (std::size_t i = 1; i < static_cast<std::size_t>(isa::Opcode::kCount); ++i) {
        const isa::OpcodeSpec& row = isa::spec_of(static_cast<isa::Opcode>(i));
        if (row.lane != isa::Lane::Aux) {
            continue;
        }
        INFO(row.mnemonic);
        const int expected = issues_of(row.mnemonic);
        several += expected > 1 ? 1 : 0;
        CHECK(row.cycles == expected);
        const std::uint32_t nop = isa::test::words_of("nop").front();
        for (const std::vector<std::uint32_t>& words :
             {std::vector{row.code}, std::vector{nop | isa::kBundleBit, row.code}}) {
            const isa::DecodedProgram program =
                isa::decode_program(words, isa::test::kBase, every_generation());
            CHECK(program.positions.front().issues_before == 0);
            CHECK(program.positions.front().issues_upto == expected);
        }
    }
    CHECK(several == kIssues.size());
}

TEST_CASE("instructions of several issues hold their worker for them", "[timing][isa]") {
    for (const auto& [mnemonic, issues] : kIssues) {
        INFO(mnemonic);
        const std::string text = mnemonic + (mnemonic == "f32div" ? " $a4, $a0, $a1" : " $a4, $a0");
        for (const isa::Engine& engine : isa::engines()) {
            const auto run = [&](const std::string& code) {
                return issues_of_run(isa::test::words_of(code + "\nexitz $mzero"), engine);
            };
            CHECK(run(text) == issues + 1);
            CHECK(run(text + "\n" + text) == 2 * issues + 1);
            CHECK(run("{ nop ; " + text + " }") == issues + 1);
            CHECK(run(".align 8\n{ rpt 5, 1 ; fnop }\n{ nop ; " + text + " }\n{ nop ; fnop }") ==
                  1 + 5 * (issues + 1) + 1);
        }
    }
}

TEST_CASE("a loop may come to the limit of issues, and not behind it", "[timing][isa]") {
    // Five passes back count, of two issues each, and so do five passes of a repeat.
    const std::int64_t most = 10;
    for (const std::string code :
         {"setzi $m0, 5\n.align 8\nagain: add $m1, $m1, 1\nbrnzdec $m0, again\nexitz $mzero",
          ".align 8\n{ rpt 5, 1 ; fnop }\n{ nop ; fnop }\n{ nop ; fnop }\nexitz $mzero"}) {
        CAPTURE(code);
        const auto words = isa::test::words_of(code);
        for (const isa::Engine& engine : isa::engines()) {
            CHECK(issues_of_run(words, engine, most) == issues_of_run(words, engine));
            try {
                static_cast<void>(issues_of_run(words, engine, most - 1));
                FAIL("the worker ended");
            } catch (const isa::ExecutionFault& fault) {
                CHECK(fault.reason.find("phase_limit_cycles") != std::string::npos);
            }
        }
    }
}
