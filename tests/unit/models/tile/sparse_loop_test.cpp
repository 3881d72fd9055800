// SPDX-License-Identifier: MIT
// Doing the repeat body of element-sparse products pass by pass must leave exactly what bundle after
// bundle leaves, on every engine: memory, registers, accumulators, flags, cycles, or the same fault.
#include "base/float16.h"
#include "models/isa/context.h"
#include "models/isa/engine.h"
#include "models/isa/matrix_loop_matcher.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace tessera;

namespace {

constexpr Address kX = 0x80000;
constexpr Address kDeltas = 0x90000;
constexpr Address kValues = 0xa0000;
constexpr Address kRegisters = 0xb0000; // what the worker saves when it is done
constexpr unsigned kLines = 64;         // of 16 bytes

struct Loop {
    int passes = 8;
    bool in_place = true; ///< products stand where the halves were
    int fp_control = 0;   ///< FP_CTL of the worker
    Address x = kX;       ///< base of the halves
    Address deltas = kDeltas;
    int first_delta = 16;
    int bundles_before = 0; ///< in the body, before the three of a pass
};

std::string program(const Loop& loop) {
    const std::string high = loop.in_place ? "$a2:3" : "$a4:5";
    const std::string low = loop.in_place ? "$a0:1" : "$a4:5";
    std::string before;
    for (int bundle = 0; bundle < loop.bundles_before; ++bundle) {
        before += "{ add $m7, $m7, 1 ; fnop }\n";
    }
    std::string text = fmt::format(
        R"(
        .supervisor
        .globl start
        start:
            setzi $m0, {control}
            put $FP_ICTL, $m0
            setzi $m1, worker
            run $m1, $mzero, 0
            sync TEXCH_SYNCZONE_LOCAL
            br $lr
        .worker
        .align 8
        worker:
            setzi $a6, 8
            uput $FP_CLR, $a6
            setzi $m2, {x}
            setzi $m3, {deltas}
            setzi $m4, {values}
            setzi $m5, {first_delta}
            ldb16step $a6, $mzero, $m4+=, 1
            or64 $a0:1, $azeros, $azeros
            or64 $a2:3, $azeros, $azeros
            .align 8
            {{ rpt {passes}, {last_bundle} ; fnop }}
            {before}
            {{ ld64 {high}, $m2, $m5, 1 ; f16v8acc $a0:3 }}
            {{ ldd16a64 {low}, $m3++, $m2, $m5@ ; f16v4mul $a2:3, $a6:BL, {high} }}
            {{ ldb16step $a6, $mzero, $m4+=, 1 ; f16v4mul $a0:1, $a6:BL, {low} }}
            setzi $m6, {registers}
            uget $a7, $FP_STS
            st32step $a7, $mzero, $m6+=, 1
            st32step $a6, $mzero, $m6+=, 1
            st64step $a0:1, $mzero, $m6+=, 1
            st64step $a2:3, $mzero, $m6+=, 1
            st64step $a4:5, $mzero, $m6+=, 1
            st32step $m3, $mzero, $m6+=, 1
            st32step $m4, $mzero, $m6+=, 1
            st32step $m5, $mzero, $m6+=, 1
            st32step $m7, $mzero, $m6+=, 1
    )",
        fmt::arg("control", loop.fp_control), fmt::arg("x", loop.x),
        fmt::arg("deltas", loop.deltas), fmt::arg("values", kValues),
        fmt::arg("first_delta", loop.first_delta), fmt::arg("passes", loop.passes),
        fmt::arg("last_bundle", 2 + loop.bundles_before), fmt::arg("before", before),
        fmt::arg("high", high), fmt::arg("low", low), fmt::arg("registers", kRegisters));
    for (int pair = 0; pair < 4; ++pair) {
        text += "f32v2gina $a0:1, $azeros, 0\nst64step $a0:1, $mzero, $m6+=, 1\n";
    }
    return text + "exitz $mzero\n";
}

/// Data that a run starts from; a share of the halves is any pattern.
struct Data {
    std::vector<std::uint16_t> x;
    std::vector<std::uint16_t> deltas;
    std::vector<std::uint16_t> values;
};

Data odd_data(unsigned seed, int special_percent, int odd_percent) {
    std::mt19937 random(seed);
    const auto percent = [&] { return static_cast<int>(random() % 100); };
    const auto half = [&]() -> std::uint16_t {
        if (percent() < special_percent) {
            return static_cast<std::uint16_t>(random());
        }
        return f32_to_f16(static_cast<float>(static_cast<int>(random() % 65) - 32) / 8.0F);
    };
    Data data;
    for (unsigned i = 0; i < kLines * 8; ++i) {
        data.x.push_back(half());
    }
    for (unsigned i = 0; i < 256; ++i) {
        const auto odd = percent() < odd_percent ? 1 + random() % 7 : 0;
        data.deltas.push_back(static_cast<std::uint16_t>(16 * (random() % (kLines - 1)) + odd));
        data.values.push_back(half());
    }
    return data;
}

/// All that a run leaves, or its fault.
std::string run(const Loop& loop, const Data& data, const isa::Engine& engine, bool at_once) {
    test::AssembledTile tile(program(loop));
    tile.write(kX, data.x);
    tile.write(kDeltas, data.deltas);
    tile.write(kValues, data.values);
    tile.core().set_engine(engine);
    tile.core().set_rows_at_once(at_once);
    try {
        const auto outcome = tile.run();
        std::string left =
            fmt::format("{} cycles, {} bundles:", outcome.cycles, outcome.counts.worker_bundles());
        for (const auto word : tile.read<std::uint32_t>(kRegisters, 24)) {
            left += fmt::format(" {:08x}", word);
        }
        return left;
    } catch (const tile::TileFault& fault) {
        return fault.what();
    }
}

void check_equal(const Loop& loop, const Data& data) {
    const std::string expected = run(loop, data, isa::engines().front(), false);
    for (const isa::Engine& engine : isa::engines()) {
        for (const bool at_once : {false, true}) {
            INFO(engine.name << (at_once ? ", at once" : ", bundle by bundle") << ", "
                             << loop.passes << " passes");
            CHECK(run(loop, data, engine, at_once) == expected);
        }
    }
}

} // namespace

TEST_CASE("passes at once leave what bundle after bundle leaves", "[unit][tile]") {
    unsigned seed = 1;
    for (const bool in_place : {true, false}) {
        for (const int passes : {0, 1, 2, 3, 8, 63}) {
            for (const int special_percent : {0, 2, 30}) {
                check_equal({.passes = passes, .in_place = in_place},
                            odd_data(seed++, special_percent, 0));
            }
        }
    }
}

TEST_CASE("a longer body that ends as passes at once is interpreted", "[unit][tile]") {
    unsigned seed = 50;
    for (const int bundles_before : {1, 3}) {
        for (const bool in_place : {true, false}) {
            check_equal({.in_place = in_place, .bundles_before = bundles_before},
                        odd_data(seed++, 0, 0));
        }
    }
}

TEST_CASE("passes at once keep to FP_CTL", "[unit][tile]") {
    unsigned seed = 100;
    for (const int control : {0x1, 0x4, 0x40, 0x80, 0x100, 0x180}) {
        for (const int special_percent : {0, 5}) {
            check_equal({.passes = 40, .fp_control = control},
                        odd_data(seed++, special_percent, 0));
        }
    }
}

TEST_CASE("a pass whose access is illegal faults where it stands", "[unit][tile]") {
    for (const bool in_place : {true, false}) {
        for (unsigned seed = 200; seed < 210; ++seed) {
            check_equal({.passes = 50, .in_place = in_place}, odd_data(seed, 0, 4));
        }
    }
    const Data data = odd_data(300, 0, 0);
    check_equal({.first_delta = 8}, data);
    check_equal({.first_delta = 4}, data);
    check_equal({.first_delta = 0x7ffff}, data);                 // beyond 16 bits and the memory
    check_equal({.x = 0x4c000}, data);                           // beside the code being fetched
    check_equal({.deltas = kX + 0x200, .first_delta = 0}, data); // one element for both accesses
    check_equal({.x = 0xe7f00, .first_delta = 0xf0}, data);      // across the end of memory
}

namespace {

isa::Operation operation(isa::Opcode opcode, unsigned d, unsigned a, unsigned b, unsigned c,
                         int imm) {
    isa::Operation made;
    made.opcode = opcode;
    made.d = static_cast<std::uint8_t>(d);
    made.a = static_cast<std::uint8_t>(a);
    made.b = static_cast<std::uint8_t>(b);
    made.c = static_cast<std::uint8_t>(c);
    made.imm = imm;
    return made;
}

struct Registers {
    unsigned x = 2;
    unsigned delta = 5;
    unsigned deltas = 3;
    unsigned values = 4;
    unsigned value = 6;
    unsigned low = 4; ///< first of a pair
    unsigned high = 4;
    unsigned products = 0; ///< first of four
};

/// The three bundles of the loop.
std::array<isa::Operation, 6> body(const Registers& r) {
    using isa::Opcode;
    std::array<isa::Operation, 6> halves{
        operation(Opcode::ld64_i, r.high, r.x, r.delta, 0, 1),
        operation(Opcode::f16v8acc, 0, r.products, 0, 0, 0),
        operation(Opcode::ldd16a64, r.low, r.deltas, r.x, r.delta, 0),
        operation(Opcode::f16v4mul, r.products + 2, r.value, r.high, 0, 0),
        operation(Opcode::ldb16step_i, r.value, 15, r.values, 0, 1),
        operation(Opcode::f16v4mul, r.products, r.value, r.low, 0, 0)};
    halves[3].broadcast = isa::Broadcast::Lower;
    halves[5].broadcast = isa::Broadcast::Lower;
    return halves;
}

} // namespace

TEST_CASE("only the loop of element-sparse products is taken for it", "[unit][tile]") {
    using isa::Opcode;
    using isa::Operation;
    const std::array<Operation, 6> halves = body({});
    isa::SparseLoop loop;
    REQUIRE(isa::match_sparse_loop(halves, loop));
    CHECK(loop.x == 2);
    CHECK(loop.delta == 5);
    CHECK(loop.deltas == 3);
    CHECK(loop.values == 4);
    CHECK(loop.value == 6);
    CHECK(loop.low == 4);
    CHECK(loop.high == 4);
    CHECK(loop.products == 0);
    for (std::size_t half = 0; half < halves.size(); ++half) {
        const auto changed = [&](auto change) {
            auto other = halves;
            change(other[half]);
            isa::SparseLoop ignored;
            return isa::match_sparse_loop(other, ignored);
        };
        INFO("half " << half);
        const Opcode opcode = halves[half].opcode;
        CHECK_FALSE(changed([](Operation& one) { one.opcode = Opcode::add_z; }));
        if (opcode != Opcode::f16v8acc) {
            CHECK_FALSE(changed([](Operation& one) { ++one.a; }));
            CHECK_FALSE(changed([](Operation& one) { ++one.b; }));
            CHECK_FALSE(changed([](Operation& one) { ++one.d; }));
        }
        if (opcode == Opcode::f16v4mul) {
            CHECK_FALSE(changed([](Operation& one) { one.broadcast = isa::Broadcast::Upper; }));
        }
        if (opcode == Opcode::ldd16a64) {
            CHECK_FALSE(changed([](Operation& one) { ++one.c; }));
        }
        if (opcode == Opcode::ld64_i || opcode == Opcode::ldb16step_i) {
            CHECK_FALSE(changed([](Operation& one) { ++one.imm; }));
        }
    }
}

TEST_CASE("passes at once have their values in the first eight registers, apart from each other",
          "[unit][tile]") {
    isa::SparseLoop loop;
    for (const unsigned products : {0U, 4U, 8U}) {
        for (unsigned low = 0; low < 14; low += 2) {
            for (unsigned high = 0; high < 14; high += 2) {
                for (unsigned value = 0; value < 14; ++value) {
                    CAPTURE(products, low, high, value);
                    const bool in_place = low == products && high == products + 2;
                    const bool halves_apart = low / 4 != products / 4 && high / 4 != products / 4;
                    const bool value_apart =
                        value / 4 != products / 4 && value / 2 != low / 2 && value / 2 != high / 2;
                    const bool first_eight = products < 8 && low < 8 && high < 8 && value < 8;
                    const Registers r{
                        .value = value, .low = low, .high = high, .products = products};
                    REQUIRE(isa::match_sparse_loop(body(r), loop) ==
                            ((in_place || halves_apart) && value_apart && first_eight));
                }
            }
        }
    }
}

TEST_CASE("passes at once step addresses apart from each other, in registers that can be written",
          "[unit][tile]") {
    isa::SparseLoop loop;
    for (unsigned x = 0; x < 16; ++x) {
        for (unsigned delta = 0; delta < 16; ++delta) {
            for (unsigned deltas = 0; deltas < 16; ++deltas) {
                for (unsigned values = 0; values < 16; ++values) {
                    CAPTURE(x, delta, deltas, values);
                    const bool apart = std::set{x, delta, deltas, values}.size() == 4;
                    const bool written = delta < isa::kMainReadOnly &&
                                         deltas < isa::kMainReadOnly && values < isa::kMainReadOnly;
                    const Registers r{.x = x, .delta = delta, .deltas = deltas, .values = values};
                    REQUIRE(isa::match_sparse_loop(body(r), loop) == (apart && written));
                }
            }
        }
    }
}
