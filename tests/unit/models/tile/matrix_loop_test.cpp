// SPDX-License-Identifier: MIT
// Doing a matrix-unit repeat body by rows must leave exactly what bundle after bundle leaves:
// memory, registers, accumulators and cycles.
#include "base/float16.h"
#include "models/isa/context.h"
#include "models/isa/matrix_loop_matcher.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <random>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr Address kInputs = 0x80000;
constexpr Address kPartials = 0x90000;
constexpr Address kWeights = 0xa0000;
constexpr Address kRegisters = 0xb0000; // what the worker saves when it is done

/// A worker that feeds `passes` rows through the loop and stores its registers and accumulators.
/// The store runs `result_distance` words behind the partial load.
std::string streaming_program(bool half, int passes, int result_distance,
                              const std::string& strides, int first_phase = 0, bool partials = true,
                              Address inputs = kInputs, int bundles_before = 0) {
    std::string body;
    for (int bundle = 0; bundle < bundles_before; ++bundle) {
        body += "{ add $m7, $m7, 1 ; fnop }\n";
    }
    for (int bundle = 0; bundle < 4; ++bundle) {
        const std::string result = bundle % 2 == 0 ? "$a4:5" : "$a6:7";
        body += fmt::format("{{ {}, {}, $m4:5+=, $m3, 0 ; {} {}, $a0:1, {}, TAMP_F16V4_E4_P{} }}\n",
                            partials ? "ld2xst64pace $a0:3" : "ldst64pace $a0:1", result,
                            half ? "f16v4hihov4amp" : "f16v4sisoamp", result,
                            partials ? "$a2:3" : "$azeros", (first_phase + bundle) % 4);
    }
    std::string text = fmt::format(R"(
        .supervisor
        .globl start
        start:
            setzi $m0, {weights}
            put $CCCSLOAD, $m0
    )",
                                   fmt::arg("weights", kWeights));
    for (int i = 0; i < 64; ++i) {
        text += fmt::format("ld64putcs {}\n", i);
    }
    text += fmt::format(
        R"(
            setzi $m1, worker
            setzi $m2, {registers}
            run $m1, $mzero, 0
            sync TEXCH_SYNCZONE_LOCAL
            br $lr
        .worker
        .align 8
        worker:
            setzi $m0, {inputs}
            setzi $m1, {partials}
            setzi $m2, {results}
            {strides}
            tapack $m4:5, $m0, $m1, $m2
            or64 $a0:1, $azeros, $azeros
            or64 $a2:3, $azeros, $azeros
            or64 $a4:5, $azeros, $azeros
            or64 $a6:7, $azeros, $azeros
            setzi $a0, 8
            uput $FP_CLR, $a0
            .align 8
            {{ rpt {passes}, {last_bundle} ; fnop }}
            {body}
            setzi $m6, {registers}
            st32step $m7, $mzero, $m6+=, 1
            uget $a0, $FP_STS
            st32step $a0, $mzero, $m6+=, 1
            st64step $a0:1, $mzero, $m6+=, 1
            st64step $a2:3, $mzero, $m6+=, 1
            st64step $a4:5, $mzero, $m6+=, 1
            st64step $a6:7, $mzero, $m6+=, 1
            st32step $m4, $mzero, $m6+=, 1
            st32step $m5, $mzero, $m6+=, 1
    )",
        fmt::arg("registers", kRegisters), fmt::arg("inputs", inputs),
        fmt::arg("partials", kPartials), fmt::arg("results", int(kPartials) - 8 * result_distance),
        fmt::arg("strides", strides), fmt::arg("passes", passes),
        fmt::arg("last_bundle", 3 + bundles_before), fmt::arg("body", body));
    for (int bank = 0; bank < 4; ++bank) {
        for (int pair = 0; pair < 4; ++pair) {
            text += fmt::format("f32v2gina $a0:1, $azeros, {}\nst64step $a0:1, $mzero, $m6+=, 1\n",
                                bank);
        }
    }
    return text + "exitz $mzero\n";
}

std::vector<std::uint16_t> random_halves(std::mt19937& random, std::size_t count,
                                         int special_percent) {
    std::vector<std::uint16_t> values(count);
    for (auto& value : values) {
        const auto draw = random();
        if (static_cast<int>(draw % 100) < special_percent) {
            value =
                static_cast<std::uint16_t>(draw >> 16U); // any pattern: infinities, NaN, subnormals
        } else {
            value = f32_to_f16(static_cast<float>(static_cast<int>(draw >> 8U) % 33 - 16) / 16.0F);
        }
    }
    return values;
}

struct Result {
    std::vector<std::uint32_t> memory;
    std::vector<std::uint32_t> registers;
    Cycles cycles;
    std::int64_t bundles;
    bool operator==(const Result&) const = default;
};

/// The fault, or the cycles where there is none.
template <class Tile> std::string end_of(test::BasicAssembledTile<Tile>& tile) {
    try {
        return std::to_string(tile.run().cycles);
    } catch (const tile::TileFault& fault) {
        return fault.what();
    }
}

Result run(const std::string& text, bool rows_at_once, unsigned seed, int special_percent) {
    test::AssembledTile tile(text);
    std::mt19937 random(seed);
    tile.write(kInputs, random_halves(random, 0x8000, special_percent));
    tile.write(kPartials, random_halves(random, 0x8000, special_percent));
    tile.write(kWeights, random_halves(random, 256, special_percent));
    tile.core().set_rows_at_once(rows_at_once);
    const auto outcome = tile.run();
    return {tile.read<std::uint32_t>(kInputs - 0x100, 0x8000),
            tile.read<std::uint32_t>(kRegisters, 64), outcome.cycles,
            outcome.counts.worker_bundles()};
}

} // namespace

TEST_CASE("rows at once leave what bundle after bundle leaves", "[unit][tile]") {
    for (const bool half : {true, false}) {
        for (const int passes : {0, 1, 2, 3, 4, 5, 8, 9, 64, 113}) {
            for (const int special_percent : {0, 3}) {
                for (int variant = 0; variant < 8; ++variant) {
                    const int first_phase = variant % 4;
                    const bool partials = variant < 4;
                    CAPTURE(half, passes, special_percent, first_phase, partials);
                    const std::string text =
                        streaming_program(half, passes, 11, "setzi $m3, 1", first_phase, partials);
                    CHECK(run(text, true, 7U + static_cast<unsigned>(passes), special_percent) ==
                          run(text, false, 7U + static_cast<unsigned>(passes), special_percent));
                }
            }
        }
    }
}

TEST_CASE("a matrix loop over conflicting addresses faults either way", "[unit][tile]") {
    const std::string text =
        streaming_program(true, 20, 10, "setzi $m3, 1"); // an even distance: same element
    for (const bool rows_at_once : {true, false}) {
        CHECK_THROWS_WITH(run(text, rows_at_once, 1, 0), Catch::Contains("in one memory element"));
    }
}

TEST_CASE("a matrix loop whose results run into its later inputs is interpreted", "[unit][tile]") {
    // Results are written ahead of the partials: what is loaded later was stored earlier.
    const std::string text = streaming_program(true, 50, -21, "setzi $m3, 1");
    CHECK(run(text, true, 3, 0) == run(text, false, 3, 0));
}

TEST_CASE("results may stand any distance behind their partials, or before them", "[unit][tile]") {
    // A result that the next bundle stores leaves sooner than one that waits in turn with another.
    for (const bool waits : {true, false}) {
        for (const bool half : {true, false}) {
            for (const int passes : {3, 8}) {
                for (int distance = -9; distance <= 13; distance += 2) { // an even one conflicts
                    CAPTURE(waits, half, passes, distance);
                    std::string text = streaming_program(half, passes, distance, "setzi $m3, 1");
                    for (auto at = text.find("$a6:7"); !waits && at != std::string::npos;
                         at = text.find("$a6:7")) {
                        text.replace(at, 5, "$a4:5");
                    }
                    CHECK(run(text, true, 11, 0) == run(text, false, 11, 0));
                }
            }
        }
    }
}

TEST_CASE("a matrix loop that leaves memory faults in the same cycle by rows and clock by clock",
          "[unit][tile]") {
    const spec::MachineSpec machine;
    const Address end =
        machine.memory.region0_begin() + static_cast<Address>(machine.memory.bytes());
    constexpr int kPasses = 6;
    int faults = 0;
    for (int first_phase = 0; first_phase < 4; ++first_phase) {
        for (int words = 4 * kPasses - 5; words <= 4 * kPasses + 1; ++words) {
            CAPTURE(first_phase, words);
            const std::string text =
                streaming_program(true, kPasses, 11, "setzi $m3, 1", first_phase, false,
                                  end - 8U * static_cast<Address>(words));
            test::AssembledTile by_rows(text);
            test::AssembledLockstepTile lockstep(text);
            const std::string expected = end_of(lockstep);
            CHECK(end_of(by_rows) == expected);
            faults += expected.starts_with("tile") ? 1 : 0;
        }
    }
    CHECK(faults == 4 * 5); // too few words by one to five
}

TEST_CASE("a longer body that ends as one for rows is interpreted", "[unit][tile]") {
    for (const int bundles_before : {1, 4}) {
        for (const bool partials : {true, false}) {
            const std::string text = streaming_program(true, 9, 11, "setzi $m3, 1", 0, partials,
                                                       kInputs, bundles_before);
            const Result by_rows = run(text, true, 5, 0);
            CHECK(by_rows == run(text, false, 5, 0));
            CHECK(by_rows.registers.front() == static_cast<std::uint32_t>(9 * bundles_before));
        }
    }
}

TEST_CASE("streams anywhere round the borders of elements and memory end alike by rows and clock "
          "by clock",
          "[unit][tile]") {
    // memory of four small elements a region, so that streams of a few rows meet their borders,
    // each other and the code
    spec::MachineSpec machine;
    machine.memory.base = 0x7e000;
    machine.memory.region0_bytes = 0x2000;
    machine.memory.region1_bytes = 0x2000;
    machine.memory.element_bytes = 1024;
    const Address begin = machine.memory.region0_begin();
    int ended = 0;
    int faults = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&random](unsigned limit) {
            return static_cast<unsigned>(random() % limit);
        };
        // near a border: a whole number of elements and some words to either side
        const auto somewhere = [&](unsigned first_element) {
            const unsigned element = first_element + below(16 - first_element);
            return begin + 1024 * element + 8 * below(24) - 8 * below(12);
        };
        const unsigned passes = 2 + below(10);
        const bool partials = below(2) == 0;
        const Address x = somewhere(1);
        const Address p = somewhere(8);
        // mostly the distance at which streams do not meet, and often near it
        const Address r = below(3) == 0 ? somewhere(8) : p - 8 * (10 + below(3));
        std::string body;
        for (unsigned bundle = 0; bundle < 4; ++bundle) {
            const std::string result = bundle % 2 == 0 ? "$a4:5" : "$a6:7";
            body += fmt::format(
                "{{ {}, {}, $m4:5+=, $m3, 0 ; f16v4hihov4amp {}, $a0:1, {}, TAMP_F16V4_E4_P{} }}\n",
                partials ? "ld2xst64pace $a0:3" : "ldst64pace $a0:1", result, result,
                partials ? "$a2:3" : "$azeros", bundle);
        }
        const std::string text = fmt::format(
            ".supervisor\n.globl start\nstart: setzi $m1, worker\nrun $m1, $mzero, 0\n"
            "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\nworker: setzi $m0, {}\nsetzi $m1, {}\n"
            "setzi $m2, {}\nsetzi $m3, 0\ntapack $m4:5, $m0, $m1, $m2\n.align 1024\n"
            "1: {{ rpt {}, 3 ; fnop }}\n{}exitz $mzero\n",
            x, p, r, passes, body);
        // the body is entered by a branch to behind the padding
        const std::string entered =
            std::string(text).replace(text.find(".align 1024"), 11, "bri 1f\n.align 1024");
        CAPTURE(seed, x - begin, p - begin, r - begin, passes, partials);
        test::AssembledTile by_rows(entered, machine);
        test::AssembledTile by_bundles(entered, machine);
        test::AssembledLockstepTile lockstep(entered, machine);
        by_bundles.core().set_rows_at_once(false);
        const std::string end = end_of(by_rows);
        CHECK(end == end_of(by_bundles));
        CHECK(end == end_of(lockstep));
        if (!end.starts_with("tile")) {
            CHECK(by_rows.read<std::uint32_t>(begin, 0x1000) ==
                  lockstep.read<std::uint32_t>(begin, 0x1000));
        }
        (end.starts_with("tile") ? faults : ended) += 1;
    }
    CHECK(ended > 40);
    CHECK(faults > 40);
}

TEST_CASE("a body is a loop by rows where its strides and its addresses do not share a register",
          "[unit][tile]") {
    for (const bool partials : {true, false}) {
        for (unsigned addresses = 0; addresses < 16; addresses += 2) {
            for (unsigned stride = 0; stride < 16; ++stride) {
                std::array<isa::Operation, 8> halves{};
                for (unsigned bundle = 0; bundle < 4; ++bundle) {
                    const auto result = static_cast<std::uint8_t>(4 + 2 * (bundle % 2));
                    isa::Operation& access = halves[2 * bundle];
                    access.opcode = partials ? isa::Opcode::ld2xst64pace : isa::Opcode::ldst64pace;
                    access.a = static_cast<std::uint8_t>(addresses);
                    access.b = static_cast<std::uint8_t>(stride);
                    access.c = result;
                    isa::Operation& step = halves[2 * bundle + 1];
                    step.opcode = isa::Opcode::f16v4hihov4amp;
                    step.d = result;
                    step.b = partials ? 2 : 14;
                    step.imm = static_cast<std::int32_t>(0x30 + bundle);
                }
                CAPTURE(partials, addresses, stride);
                isa::MatrixLoop loop;
                const bool is_changed = stride == addresses || stride == addresses + 1;
                const bool stands_still = addresses >= isa::kMainReadOnly;
                REQUIRE(isa::match_matrix_loop(halves, loop) == (!is_changed && !stands_still));
            }
        }
    }
}

namespace {

/// The body of a loop by rows that loads to `loaded` and has its results in two pairs by turns.
std::array<isa::Operation, 8> a_body(bool partials, unsigned loaded = 0, unsigned even_result = 4,
                                     unsigned odd_result = 6, unsigned first_phase = 0) {
    std::array<isa::Operation, 8> halves{};
    for (unsigned bundle = 0; bundle < 4; ++bundle) {
        const auto result = static_cast<std::uint8_t>(bundle % 2 == 0 ? even_result : odd_result);
        isa::Operation& access = halves[2 * bundle];
        access.opcode = partials ? isa::Opcode::ld2xst64pace : isa::Opcode::ldst64pace;
        access.a = 4;
        access.b = 3;
        access.c = result;
        access.d = static_cast<std::uint8_t>(loaded);
        isa::Operation& step = halves[2 * bundle + 1];
        step.opcode = isa::Opcode::f16v4hihov4amp;
        step.d = result;
        step.a = static_cast<std::uint8_t>(loaded);
        step.b = static_cast<std::uint8_t>(partials ? loaded + 2 : 14);
        step.imm = static_cast<std::int32_t>(0x30 + (first_phase + bundle) % 4);
    }
    return halves;
}

} // namespace

TEST_CASE("a loop by rows has what it loads and its results in the first eight registers",
          "[unit][tile]") {
    for (const bool partials : {true, false}) {
        const unsigned width = partials ? 4 : 2;
        for (unsigned loaded = 0; loaded + width <= 14; loaded += 2) {
            for (unsigned even = 0; even < 14; even += 2) {
                for (unsigned odd = 0; odd < 14; odd += 2) {
                    const auto is_loaded = [&](unsigned pair) {
                        return pair >= loaded && pair < loaded + width;
                    };
                    if (is_loaded(even) || is_loaded(odd)) {
                        continue; // no bundle writes a register twice
                    }
                    CAPTURE(partials, loaded, even, odd);
                    isa::MatrixLoop loop;
                    REQUIRE(isa::match_matrix_loop(a_body(partials, loaded, even, odd), loop) ==
                            (loaded + width <= 8 && even < 8 && odd < 8));
                }
            }
        }
    }
}

TEST_CASE("a loop that stores what it does not compute is none by rows", "[unit][tile]") {
    for (const bool partials : {true, false}) {
        auto body = a_body(partials, 0, 4, 6);
        for (std::size_t half = 0; half < body.size(); half += 2) {
            body[half + 1].d = 14; // nobody's
        }
        isa::MatrixLoop loop;
        CHECK_FALSE(isa::match_matrix_loop(body, loop));
        body = a_body(partials, 0, 4, 6);
        REQUIRE(isa::match_matrix_loop(body, loop));
        for (std::size_t half = 0; half < body.size(); half += 2) {
            body[half].d = 8; // what the steps multiply is loaded by none
        }
        CHECK_FALSE(isa::match_matrix_loop(body, loop));
    }
}

TEST_CASE("every instruction of a loop by rows reads and writes what the others do",
          "[unit][tile]") {
    for (const bool partials : {true, false}) {
        for (unsigned first_phase = 0; first_phase < 4; ++first_phase) {
            const auto body = a_body(partials, 0, 4, 6, first_phase);
            isa::MatrixLoop loop;
            REQUIRE(isa::match_matrix_loop(body, loop));
            CHECK(loop.first_phase == first_phase);
            CHECK(loop.half_partials);
            CHECK(loop.reads_partials == partials);
            for (std::size_t half = 0; half < body.size(); ++half) {
                CAPTURE(partials, first_phase, half);
                const auto other = [&](auto change) {
                    auto changed = body;
                    change(changed[half]);
                    return isa::match_matrix_loop(changed, loop);
                };
                using isa::Operation;
                CHECK_FALSE(other([](Operation& of) { of.opcode = isa::Opcode::f16v4sisoamp; }));
                CHECK_FALSE(other([](Operation& of) { of.opcode = isa::Opcode::ld64_i; }));
                CHECK_FALSE(other([&](Operation& of) {
                    of.opcode = partials ? isa::Opcode::ldst64pace : isa::Opcode::ld2xst64pace;
                }));
                for (std::uint8_t by = 2; by < 8; by += 2) {
                    CHECK_FALSE(other([&](Operation& of) { of.d ^= by; }));
                    CHECK_FALSE(other([&](Operation& of) { of.a ^= by; }));
                    CHECK_FALSE(other([&](Operation& of) { of.b ^= by; }));
                }
                if (half % 2 == 0) {
                    CHECK_FALSE(other([](Operation& of) { of.c ^= 2; }));
                    CHECK_FALSE(other([](Operation& of) { of.c = 12; }));
                } else {
                    CHECK_FALSE(other([](Operation& of) { of.imm ^= 1; }));
                    CHECK_FALSE(other([](Operation& of) { of.imm ^= 0x10; }));
                }
            }
        }
    }
}
