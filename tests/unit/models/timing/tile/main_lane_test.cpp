// SPDX-License-Identifier: MIT
// Every main-lane instruction takes its issues in a worker, and one cycle in a supervisor, whose
// results are there a pipeline later.
#include "models/isa/instruction.h"
#include "tests/support/tile_program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

using namespace tessera;

namespace {

/// An instance of each row that a worker executes and goes on behind: $m2 and $m8 are addresses,
/// $m4:5 packed ones.
const std::vector<std::string> kInstances = {
    "and $m6, $m7, $m9",
    "or $m6, $m7, $m9",
    "xor $m6, $m7, $m9",
    "xnor $m6, $m7, $m9",
    "andc $m6, $m7, $m9",
    "add $m6, $m7, $m9",
    "sub $m6, $m7, $m9",
    "mul $m6, $m7, $m9",
    "cmpeq $m6, $m7, $m9",
    "cmpne $m6, $m7, $m9",
    "shl $m6, $m7, $m9",
    "shr $m6, $m7, $m9",
    "shrs $m6, $m7, $m9",
    "cmpslt $m6, $m7, $m9",
    "cmpult $m6, $m7, $m9",
    "min $m6, $m7, $m9",
    "max $m6, $m7, $m9",
    "movnz $m6, $m7, $m9",
    "roll16 $m6, $m7, $m9",
    "sort4x16lo $m6, $m7, $m9",
    "sort4x16hi $m6, $m7, $m9",
    "shuf8x8lo $m6, $m7, $m9",
    "shuf8x8hi $m6, $m7, $m9",
    "sort8x8lo $m6, $m7, $m9",
    "sort8x8hi $m6, $m7, $m9",
    "roll8r $m6, $m7, $m9",
    "roll8l $m6, $m7, $m9",
    "abs $m6, $m7",
    "clz $m6, $m7",
    "cms $m6, $m7",
    "popc $m6, $m7",
    "bitrev8 $m6, $m7",
    "swap8 $m6, $m7",
    "sort8 $m6, $m7",
    "setzi $m6, 1",
    "atom $m6, $a0",
    "tapack $m10:11, $m2, $m8, $m2",
    "brz $m2, 1f\n1:",
    "brnz $m2, 1f\n1:",
    "brneg $m2, 1f\n1:",
    "brpos $m2, 1f\n1:",
    "brnzdec $m2, 1f\n1:",
    "bri 1f\n1:",
    "br $m3\n1:",
    "call $m6, 1f\n1:",
    "rpt $mzero, 0\n.align 8\n{ nop ; fnop }",
    "get $m6, $WSR",
    "put $DBG_DATA, $m6",
    "ld32 $m6, $m2, 0",
    "ld64 $a0:1, $m2, 0",
    "ld128 $a0:3, $m2, 0",
    "ldz8 $m6, $m2, 0",
    "lds8 $m6, $m2, 0",
    "ldz16 $m6, $m2, 0",
    "lds16 $m6, $m2, 0",
    "ldb16 $a0, $m2, 0",
    "ld32step $m6, $m2, $m7+=, 1",
    "ld64step $a0:1, $m2, $m7+=, 1",
    "ld128step $a0:3, $m2, $m7+=, 1",
    "ldz8step $m6, $m2, $m7+=, 1",
    "lds8step $m6, $m2, $m7+=, 1",
    "ldz16step $m6, $m2, $m7+=, 1",
    "lds16step $m6, $m2, $m7+=, 1",
    "ldb16step $a0, $m2, $m7+=, 1",
    "ldd16a64 $a0:1, $m8++, $m2, $m7@",
    "ldd16a32 $a0, $m8++, $m2, $m7@",
    "ldd16b16 $a0, $m8++, $m2, $m7@",
    "ldd16v2a32 $a0, $m8++, $m2, $m7@",
    "ld64a32 $a0:3, $m8++, $m2, $m7",
    "ldb16b16 $a0:1, $m2, $m10++, $m6>>",
    "st32 $m6, $m2, 0",
    "st64 $a0:1, $m2, 0",
    "st32step $m6, $m2, $m7+=, 1",
    "st64step $a0:1, $m2, $m7+=, 1",
    "stm32 $m6, $m2, $m7",
    "stm32step $m6, $m2+=, $m7",
    "ld2x64pace $a0:1, $a2:3, $m4:5+=, $m7, 0",
    "ldst64pace $a0:1, $a2:3, $m4:5+=, $m7, 0",
    "ld2xst64pace $a0:3, $a4:5, $m4:5+=, $m7, 0",
    "st64pace $a0:1, $m4:5+=, $m7, 0",
    "ld64a32pace $a0:1, $a2, $m4:5+=, $m7, 0",
    "ld64b16pace $a0:1, $a2, $m4:5+=, $m7, 0",
};

std::string mnemonic_of(const std::string& instruction) {
    return instruction.substr(0, instruction.find(' '));
}

std::int64_t issues_of(const std::string& instruction) {
    test::AssembledTile tile(
        test::worker_program("setzi $m2, 0x80000\nsetzi $m8, 0x88000\nsetzi $m9, 0x90008\n"
                             "tapack $m4:5, $m2, $m8, $m9\nsetzi $m3, 1f\nldconst $m10, 0x80000\n"
                             ".align 8\nnop\n" +
                             instruction));
    return tile.run().counts.worker_issues();
}

} // namespace

TEST_CASE("every main-lane instruction takes its issues in a worker", "[timing][tile]") {
    std::set<std::string> seen;
    const std::int64_t without = issues_of("1:");
    for (const std::string& instruction : kInstances) {
        CAPTURE(instruction);
        const isa::Opcode row = isa::opcodes_named(mnemonic_of(instruction)).front();
        const std::string body =
            instruction.find("1:") == std::string::npos ? instruction + "\n1:" : instruction;
        CHECK(issues_of(body) == without + isa::spec_of(row).cycles);
        seen.insert(mnemonic_of(instruction));
    }
    for (std::size_t i = 1; i < static_cast<std::size_t>(isa::Opcode::kCount); ++i) {
        const isa::OpcodeSpec& row = isa::spec_of(static_cast<isa::Opcode>(i));
        const bool goes_on = (row.flags & (isa::kSolo | isa::kSupervisor)) == 0;
        if (row.lane == isa::Lane::Main && goes_on) {
            CAPTURE(row.mnemonic);
            CHECK(seen.count(std::string(row.mnemonic)) == 1);
        }
    }
}

TEST_CASE("results of a supervisor are there a pipeline later", "[timing][tile]") {
    const spec::MachineSpec machine;
    const Cycles pipeline = machine.tile.pipeline_cycles;
    const auto cycles = [](const std::string& body) {
        return test::AssembledTile(".supervisor\n.globl start\nstart:\n" + body + "\nbr $lr\n")
            .run()
            .cycles;
    };
    for (const std::string producer :
         {"ld32 $m6, $m2, 0", "ldz8 $m6, $m2, 0", "get $m6, $SCOUNT_L", "mul $m6, $m2, $m2",
          "call $m6, 1f\n1:", "ld32step $m1, $m2, $m6+=, 1", "clz $m6, $m2"}) {
        CAPTURE(producer);
        const bool is_call = producer.substr(0, 4) == "call";
        const std::string start = "setzi $m2, 0x80000\nsetzi $m6, 0\n" + producer + "\n";
        // setzi at 0 and 1; the producer waits for the later of what it reads
        const bool reads_6 = producer.find("$m6+=") != std::string::npos;
        const bool reads = producer.find("$m2") != std::string::npos;
        const Cycles issue = reads_6 ? 1 + pipeline : reads ? pipeline : 2;
        for (Cycles between = 0; between <= pipeline; ++between) {
            std::string body = start;
            for (Cycles i = 0; i < between; ++i) {
                body += "nop\n";
            }
            // blocked until `pipeline` cycles behind the producer, free from then on
            const Cycles next = is_call ? issue + pipeline : issue + 1;
            const Cycles used = std::max(next + between, issue + pipeline);
            CHECK(cycles(body + "add $m7, $m6, 1") == used + 1 + pipeline);
        }
    }
}

TEST_CASE("weight loads wait for what sets their address or clears", "[timing][tile]") {
    const spec::MachineSpec machine;
    const Cycles pipeline = machine.tile.pipeline_cycles;
    for (const std::string name : {"$CCCSLOAD", "$CR"}) {
        CAPTURE(name);
        const std::string text = ".supervisor\n.globl start\nstart: setzi $m0, 0x80000\n"
                                 "put $CCCSLOAD, $m0\nput " +
                                 name + ", $m0\nld64putcs 0\nld64putcs 1\nbr $lr\n";
        // puts at `pipeline` and one later, loads a pipeline after the last, return
        CHECK(test::AssembledTile(text).run().cycles == pipeline + 1 + pipeline + 2 + pipeline);
    }
}
