// SPDX-License-Identifier: MIT
// Corner cases of the rules: odd broadcast registers, signalling NaN, code that is entered in
// unusual places, and where code and stores may be.
#include "base/error.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr Address kIn = 0x80000;
constexpr Address kOut = 0x90000;

std::string worker_program(const std::string& body) {
    return ".supervisor\n.globl start\nstart: setzi $m0, worker\nrun $m0, $mzero, 0\n"
           "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n.align 8\nworker:\n"
           "setzi $m2, 0x80000\nsetzi $m3, 0x90000\n" +
           body + "\nexitz $mzero\n";
}

std::vector<std::uint32_t> run(const std::string& body, const std::vector<std::uint32_t>& input,
                               std::size_t words) {
    test::AssembledTile tile(worker_program(body));
    tile.write(kIn, input);
    tile.run();
    return tile.read<std::uint32_t>(kOut, words);
}

std::string fault_of(const std::string& text, const spec::MachineSpec& machine = {}) {
    test::AssembledTile tile(text, machine);
    try {
        tile.run();
    } catch (const tile::TileFault& fault) {
        return fault.what();
    }
    return "no fault";
}

} // namespace

TEST_CASE("a broadcast takes any single register", "[unit][isa]") {
    // $a1 = halves 2 and 3; times 1, 2, 1, 2
    const std::vector<std::uint32_t> in = {0x40003c00, 0x42004000, 0x40003c00, 0x40003c00};
    const std::string loads = "ld64 $a0:1, $m2, 0\nld64 $a2:3, $m2, 1\n";
    CHECK(run(loads + "f16v4mul $a4:5, $a1:BL, $a2:3\nst64 $a4:5, $m3, $mzero, 0", in, 2) ==
          std::vector<std::uint32_t>{0x44004000, 0x44004000});
    CHECK(run(loads + "f16v4mul $a4:5, $a1:BU, $a2:3\nst64 $a4:5, $m3, $mzero, 0", in, 2) ==
          std::vector<std::uint32_t>{0x46004200, 0x46004200});
    CHECK(run("ld64 $a0:1, $m2, 0\nld64 $a2:3, $m2, 1\nf32v2mul $a4:5, $a1:B, $a2:3\n"
              "st64 $a4:5, $m3, $mzero, 0",
              {0, 0x40000000, 0x3f800000, 0x40400000},
              2) == std::vector<std::uint32_t>{0x40000000, 0x40c00000});
}

TEST_CASE("min and max of a signalling NaN are the NaN", "[unit][isa]") {
    for (const std::string op : {"min", "max"}) {
        const auto f32 = run("ld64 $a0:1, $m2, 0\nf32" + op + " $a2, $a0, $a1\nf32" + op +
                                 " $a3, $a1, $a0\nst64 $a2:3, $m3, $mzero, 0",
                             {0x7f800001, 0x3f800000}, 2);
        CHECK(f32 == std::vector<std::uint32_t>{0x7fd9c000, 0x7fd9c000});
        // a signalling and a quiet NaN beside ordinary halves
        const auto f16 = run("ld64 $a0:1, $m2, 0\nf16v2" + op + " $a2, $a0, $a1\nf16v2" + op +
                                 " $a3, $a1, $a0\nst64 $a2:3, $m3, $mzero, 0",
                             {0x7e007c01, 0x3c003c00}, 2);
        CHECK(f16 == std::vector<std::uint32_t>{0x3c007ece, 0x3c007ece});
    }
}

TEST_CASE("an rpt may be the second half of a bundle that is entered in its middle",
          "[unit][tile]") {
    // The word before the rpt is data that looks like the first half of a bundle.
    const std::string body = "bri 1f\n.align 8\n.word 0x99f00000\n1: rpt 5, 0\n"
                             "{ add $m4, $m4, 1 ; fnop }\nst32 $m4, $m3, $mzero, 0";
    CHECK(run("setzi $m4, 0\n" + body, {}, 1)[0] == 5);
}

TEST_CASE("supervisor code may stand behind data that look like half a bundle", "[unit][tile]") {
    const std::string text = ".supervisor\n.globl start\n.word 0x99f00000\nstart: setzi $m0, 7\n"
                             "setzi $m1, 0x90000\nst32 $m0, $m1, $mzero, 0\nbr $lr\n";
    test::AssembledTile tile(text);
    CHECK(tile.run().counts.supervisor_instructions() == 4);
    CHECK(tile.read<std::uint32_t>(kOut, 1)[0] == 7);
}

TEST_CASE("half a bundle at the end of the code is no instruction", "[unit][tile]") {
    CHECK_THAT(fault_of(".supervisor\n.globl start\nstart: .word 0x99f00000\n"),
               Catch::Contains("not an instruction"));
}

TEST_CASE("the two destinations of ld2x64pace differ", "[unit][isa]") {
    // the word of ld2x64pace $azeros, $azeros, $m4:5+=, $mzero, 0
    CHECK_THAT(fault_of(worker_program("bri 1f\n.align 4\n1: .word 0x1cee4f00\n")),
               Catch::Contains("not an instruction"));
}

TEST_CASE("a store that only touches the first code word is a store into code", "[unit][tile]") {
    spec::MachineSpec machine;
    machine.tile.fetch_conflict = spec::FetchConflict::Ignore;
    const isa::AssemblyOptions options = isa::options_for(isa::kDefaultTarget);
    const Address at = machine.memory.region0_begin();
    const auto codelet = isa::assemble(
        "test",
        {{"test.S",
          ".supervisor\n.globl start\n.word 0\nstart: setzi $m0, worker\nrun $m0, $mzero, 0\n"
          "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\nworker: setzi $m2, 0x4c000\n"
          "st64 $azeros, $m2, $mzero, 0\nexitz $mzero\n"}},
        at, options);
    const std::vector<program::Codelet> codelets{codelet};
    std::vector<std::uint64_t> memory(static_cast<std::size_t>(machine.memory.bytes()) / 8);
    tile::CodeCache cache(codelets);
    tile::TileCore core(machine, 0, reinterpret_cast<std::byte*>(memory.data()));
    // all but the first word, so that the code begins at 4 modulo 8
    auto bytes = std::make_shared<std::vector<std::byte>>(codelet.words.size() * 4 - 4);
    std::memcpy(bytes->data(), codelet.words.data() + 1, bytes->size());
    program::Image image;
    image.segments.push_back(
        {at + 4, static_cast<Bytes>(bytes->size()), program::SegmentKind::Code, "test", bytes});
    core.load(image, cache);
    try {
        core.run(at + 4);
        FAIL("no fault");
    } catch (const tile::TileFault& fault) {
        CHECK_THAT(fault.what(), Catch::Contains("a store into code"));
    }
    image.segments[0].address = machine.memory.region1_begin();
    CHECK_THROWS_AS(core.load(image, cache), ProgramError);
}

TEST_CASE("of several faulting workers the first in time is reported", "[unit][tile]") {
    // worker 0 faults four issues later than the others
    const std::string text =
        ".supervisor\n.globl start\nstart: setzi $m0, worker\nrunall $m0, $mzero, 0\n"
        "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n.align 8\nworker: get $m0, $WSR\n"
        "brnz $m0, 1f\nnop\nnop\nnop\nnop\n1: ld32 $m3, $mzero, 0\nexitz $mzero\n";
    CHECK_THAT(fault_of(text), Catch::Contains("tile_0.worker_1 @ "));
}
