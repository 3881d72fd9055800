// SPDX-License-Identifier: MIT
// What differs between the machine's generations: instructions, accumulators, repeat counts and the
// memory map.
#include "models/isa/decoded_program.h"
#include "models/isa/machine_target.h"
#include "tests/support/gc2.h"
#include "tests/support/tile_program.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace tessera;
using Words = std::vector<std::uint32_t>;

namespace {

std::string gc2_worker(const std::string& body, const std::string& before = "") {
    return ".supervisor\n.globl start\nstart:\n" + before +
           "setzi $m0, worker\nrun $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n"
           ".align 8\nworker:\nsetzi $m2, 0x60000\nsetzi $m3, 0x70000\n" +
           body + "\nexitz $mzero\n";
}

} // namespace

TEST_CASE("a target says what its generation has", "[unit][isa]") {
    const isa::Target first = isa::target_of(test::gc2_with(1216));
    CHECK(first.architecture == 1);
    CHECK(first.memory_base == 0x40000);
    CHECK(first.region0_bytes == 0x20000);
    CHECK(first.accumulator_sets() == 1);
    CHECK_FALSE(first.has_fp8());
    spec::MachineSpec machine;
    CHECK(isa::target_of(machine).accumulator_sets() == 2);
    machine.chip.generation = spec::Generation::Ipu21;
    CHECK(isa::target_of(machine).has_fp8());
}

TEST_CASE("a program with sixteen accumulators runs on GC2", "[unit][tile]") {
    // one row through one set of the matrix unit: warm-up with partials, the row, the drain
    std::string body = "setzi $m4, 0x60000\nsetzi $m5, 0x68000\nsetzi $m6, 0x70000\n";
    for (int group = 0; group < 3; ++group) {
        for (int phase = 0; phase < 4; ++phase) {
            body += group == 1 ? "ld64step $a0:1, $mzero, $m4+=, 1\n" : "";
            body += group == 0 ? "ld64step $a2:3, $mzero, $m5+=, 1\n" : "";
            body += fmt::format("f16v4sisoamp $a4:5, {}, {}, TAMP_F16V4_E4_P{}\n",
                                group == 1 ? "$a0:1" : "$azeros", group == 0 ? "$a2:3" : "$azeros",
                                phase);
            body += group == 2 ? "st64step $a4:5, $mzero, $m6+=, 1\n" : "";
        }
    }
    std::string weights = "setzi $m0, 0x64000\nput $CCCSLOAD, $m0\n";
    for (int i = 0; i < 32; i += 2) {
        weights += fmt::format("ld128putcs {}\n", i);
    }
    test::AssembledTile tile(gc2_worker(body, weights), test::gc2_with(1216));
    tile.write(0x60000, std::vector<std::uint16_t>(16, 0x3c00)); // sixteen inputs of 1
    std::vector<float> partials;
    std::vector<std::uint16_t> halves;
    constexpr std::uint16_t kSmall[] = {0x3c00, 0x4000, 0x4200, 0x4400,
                                        0x4500, 0x4600, 0x4700, 0x4800};
    for (int output = 0; output < 8; ++output) { // weights of output c are c + 1
        partials.push_back(100.0F * static_cast<float>(output));
        halves.insert(halves.end(), 16, kSmall[output]);
    }
    tile.write(0x68000, partials);
    tile.write(0x64000, halves);
    tile.run();
    const auto results = tile.read<float>(0x70000, 8);
    for (int output = 0; output < 8; ++output) {
        CHECK(results[static_cast<std::size_t>(output)] ==
              100.0F * static_cast<float>(output) + 16.0F * static_cast<float>(output + 1));
    }
}

TEST_CASE("GC2 has no instruction of two sets and no second half of the weights", "[unit][tile]") {
    const std::string two_sets = "f16v4hihov4amp $a0:1, $azeros, $azeros, TAMP_F16V4_E4_P0";
    CHECK_THROWS_WITH(test::fault_text_of(gc2_worker(two_sets), test::gc2_with(1216)),
                      Catch::Contains("got architecture 1, expected 2 or 21"));
    // the assembler refuses it; the machine too
    const auto words_of = [](const std::string& text) {
        std::string data;
        for (const std::uint32_t word : isa::assemble("test", {{"test.S", text}}, 0x4c000,
                                                      isa::options_for(isa::kDefaultTarget))
                                            .words) {
            data += fmt::format(".word {:#x}\n", word);
        }
        return data;
    };
    CHECK_THAT(test::fault_text_of(gc2_worker(words_of(two_sets)), test::gc2_with(1216)),
               Catch::Contains("it needs two sets of accumulators, ipu1 has one"));
    CHECK_THAT(test::fault_text_of(gc2_worker(words_of("{ nop ; " + two_sets + " }")),
                                   test::gc2_with(1216)),
               Catch::Contains("two sets"));
    CHECK(test::fault_text_of(test::worker_program(two_sets)) == "no fault");
    const std::string load = "setzi $m0, 0x60000\nput $CCCSLOAD, $m0\n";
    CHECK_THAT(
        test::fault_text_of(gc2_worker("nop", load + "ld64putcs 32\n"), test::gc2_with(1216)),
        Catch::Contains("weight register 32 does not exist: the machine has 32"));
    CHECK(test::fault_text_of(gc2_worker("nop", load + "ld64putcs 31\n"), test::gc2_with(1216)) ==
          "no fault");
}

TEST_CASE("GC2's memory starts and ends elsewhere", "[unit][tile]") {
    CHECK_THAT(test::fault_text_of(gc2_worker("setzi $m4, 0x80000\nld32 $m5, $m4, 0"),
                                   test::gc2_with(1216)),
               Catch::Contains("outside tile memory 0x40000..0x7ffff"));
    CHECK_THAT(test::fault_text_of(gc2_worker("setzi $m4, 0x5fff0\nld128 $a0:3, $m4, 0"),
                                   test::gc2_with(1216)),
               Catch::Contains("interleaved region"));
    CHECK(test::fault_text_of(gc2_worker("setzi $m4, 0x60000\nld128 $a0:3, $m4, 0"),
                              test::gc2_with(1216)) == "no fault");
}

TEST_CASE("a repeat takes as many bits of its count as the generation has", "[unit][tile]") {
    const std::string body = "ldconst $m4, 0x51003\n.align 8\nnop\nrpt $m4, 0\n"
                             "{ add $m5, $m5, 1 ; fnop }\nst32 $m5, $m3, $mzero, 0";
    test::AssembledTile first(gc2_worker(body), test::gc2_with(1216));
    first.run();
    CHECK(first.read<std::uint32_t>(0x70000, 1) == Words{0x003});
    CHECK(test::output_of(test::worker_program(body), {}, 1) == Words{0x1003});
}

TEST_CASE("a code cache keeps generations and lengths apart", "[unit][tile]") {
    const std::vector<program::Codelet> codelets;
    tile::CodeCache cache(codelets);
    program::Segment segment;
    segment.address = 0x4c000;
    segment.bytes = 8;
    segment.kind = program::SegmentKind::Code;
    segment.data = std::make_shared<std::vector<std::byte>>(16);
    const isa::Target second;
    isa::Target first;
    first.architecture = 1;
    const auto* known = cache.decoded(segment, second);
    CHECK(cache.decoded(segment, second) == known);
    CHECK(cache.decoded(segment, first) != known);
    isa::Target faster;
    faster.steps_sharing = 2;
    CHECK(cache.decoded(segment, faster) != known);
    isa::Target slower;
    slower.step_issues = 2;
    CHECK(cache.decoded(segment, slower) != known);
    segment.bytes = 16;
    CHECK(cache.decoded(segment, second)->bytes() == 16);
}
