// SPDX-License-Identifier: MIT
// Data flow against execution: a place that changes when another one does must say that it depends
// on it. Of every row of the instruction table, with random operands and values.
#include "models/isa/data_flow.h"
#include "models/isa/instruction_counts.h"
#include "models/isa/operation_mapper.h"
#include "models/isa/stepped_engine.h"

#include <catch2/catch.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::isa;

namespace {

constexpr Address kMemory = 0x80000; ///< start of region 1
constexpr std::uint32_t kMemoryBytes = 0x20000;

Target newest() {
    Target target;
    target.architecture = 21;
    return target;
}

/// The two units of a place.
float* pair_at(Accumulators& accumulators, unsigned where) {
    const unsigned bank = (where - place::kAccumulators) / place::kPairs;
    float* const units = bank % 2 == 0 ? accumulators.even : accumulators.odd;
    return units + 8U * (bank / 2U) + 2U * (where % place::kPairs);
}

/// All places as words: accumulators of a place one after the other.
std::vector<std::uint32_t> words_at(const Context& context, unsigned where) {
    if (where < place::kAux) {
        return where < 12 ? std::vector<std::uint32_t>{context.main[where]}
                          : std::vector<std::uint32_t>{};
    }
    if (where < place::kAccumulators) {
        return {context.aux[where - place::kAux]};
    }
    std::vector<std::uint32_t> words(2);
    Accumulators accumulators = context.accumulators;
    std::memcpy(words.data(), pair_at(accumulators, where), 8);
    return words;
}

std::uint32_t random_word(std::mt19937& random) {
    const auto halves = static_cast<std::uint32_t>(random());
    return random() % 8 == 0 ? halves : halves & 0x3fff3fffU; // mostly numbers as halves too
}

void randomise(Context& context, unsigned where, std::mt19937& random) {
    if (where < place::kAux) {
        context.main[where] = random_word(random);
    } else if (where < place::kAccumulators) {
        context.aux[where - place::kAux] = random_word(random);
    } else {
        float* const pair = pair_at(context.accumulators, where);
        for (unsigned i = 0; i < 2; ++i) {
            pair[i] = std::bit_cast<float>(random_word(random) & 0x4fffffffU);
        }
    }
}

bool is_place(unsigned where) {
    return where < 12 || where >= place::kAux;
}

Operation random_operation(Opcode opcode, std::mt19937& random) {
    Operation operation;
    operation.opcode = opcode;
    for (const OperandSpec& operand : spec_of(spec_of(opcode).form).list()) {
        auto value = static_cast<std::int32_t>(random() & ((1U << operand.bits) - 1U));
        switch (operand.kind) {
        case OperandKind::MainPairDst:
        case OperandKind::AuxPairDst:
        case OperandKind::AuxPairSrc:
        case OperandKind::AuxPairSrcB:
            value &= 14;
            break;
        case OperandKind::AuxQuadSrc:
        case OperandKind::AuxQuadDst:
            value &= 12;
            break;
        default:
            break;
        }
        if (opcode == Opcode::f32int && operand.slot == Slot::Imm) {
            value %= 5; // rounding modes
        }
        set_operand(operation, operand.slot, value);
    }
    if ((spec_of(opcode).flags & kBroadcast) != 0) {
        operation.broadcast = static_cast<Broadcast>(random() % 4);
    }
    return operation;
}

/// A context with memory, executed by the engine that notes accesses.
struct Bench {
    Bench() : bytes(kMemoryBytes), target(newest()) {
        memory.bytes = bytes.data();
        memory.base = kMemory;
        memory.span_bytes = kMemoryBytes;
        context.memory = &memory;
        context.weights = &weights;
        context.machine = &target;
        context.log = &log;
        log.conflicts_fault = false;
    }
    bool run(const Operation& operation) {
        const FpEnvironment rounding;
        const Mapped mapped = map_operation(operation, target);
        if (!mapped.valid) {
            return false;
        }
        log.accesses.clear();
        try {
            for (unsigned i = 0; i < mapped.copies.used; ++i) {
                observed_engine().engine.execute(context, mapped.copies.list[i]);
            }
            observed_engine().engine.execute(context, mapped.operation);
        } catch (const ExecutionFault& fault) {
            INFO(fault.reason);
            CHECK(fault.not_modelled);
            return false;
        }
        return true;
    }

    std::vector<std::byte> bytes;
    Target target;
    MemoryView memory;
    WeightStore weights;
    AccessLog log;
    Context context;
};

/// What a place of `flow` depends on: on itself where it is no result.
place::Mask sources_of(const DataFlow& flow, unsigned where) {
    for (const DataFlow::Result& result : flow.results) {
        if (result.to == where) {
            return result.from;
        }
    }
    return place::Mask{1} << where;
}

constexpr std::uint16_t kOthers = kLoad | kStore | kControl | kSystem | kSupervisor;

} // namespace

TEST_CASE("what changes with a place depends on it", "[unit][tile]") {
    std::mt19937 random(5);
    Bench bench;
    int executed = 0;
    for (std::uint16_t code = 1; code < static_cast<std::uint16_t>(Opcode::kCount); ++code) {
        const auto opcode = static_cast<Opcode>(code);
        if ((spec_of(opcode).flags & kOthers) != 0) {
            continue;
        }
        CAPTURE(spec_of(opcode).mnemonic);
        std::string wrong;
        for (int trial = 0; trial < 30; ++trial) {
            const Operation operation = random_operation(opcode, random);
            const DataFlow flow = data_flow(operation);
            Context start = bench.context;
            start.fp_status = 0;
            start.fp_format = static_cast<std::uint32_t>(random() % 4);
            start.tas =
                random_word(random); // the factors, without which no sum depends on anything
            start.fp_control = random() % 4 == 0 ? 1U << 19U : 0; // rounding at random, no traps
            for (unsigned where = 0; where < place::kCount; ++where) {
                if (is_place(where)) {
                    randomise(start, where, random);
                }
            }
            for (auto& weight : bench.weights.registers) {
                weight = random_word(random) | std::uint64_t{random_word(random)} << 32U;
            }
            bench.weights.changed();
            bench.context = start;
            if (!bench.run(operation)) {
                continue;
            }
            ++executed;
            const Context before = bench.context;
            for (unsigned changed = 0; changed < place::kCount; ++changed) {
                if (!is_place(changed)) {
                    continue;
                }
                bench.context = start;
                randomise(bench.context, changed, random);
                bench.run(operation);
                for (unsigned where = 0; where < place::kCount; ++where) {
                    const bool depends = ((sources_of(flow, where) >> changed) & 1U) != 0;
                    if (!depends && words_at(bench.context, where) != words_at(before, where)) {
                        wrong = std::to_string(where) + " depends on " + std::to_string(changed);
                    }
                }
                if (bench.context.random != before.random) {
                    wrong = "the random state depends on " + std::to_string(changed);
                }
                if (bench.context.fp_status != before.fp_status &&
                    ((flow.computed >> changed) & 1U) == 0) {
                    wrong = "flags depend on " + std::to_string(changed);
                }
            }
        }
        CHECK(wrong == "");
    }
    CHECK(executed > 3000);
}

namespace {

/// Operands that access memory where they should: addresses in $m1, $m2 and $m4:5, small numbers in
/// $m3.
Operation access_operation(Opcode opcode, Context& context) {
    const Form form = spec_of(opcode).form;
    const bool is_list = form == Form::LddP || form == Form::LddA || form == Form::LdListQ;
    context.main[1] = kMemory;
    context.main[2] = is_list ? kMemory + 0x10000 : form == Form::LdMini ? 0x00080000U : 0x10U;
    context.main[3] = is_list ? 0x18 : 1;
    const std::uint32_t third = kMemory + 0x10000;
    context.main[4] = kMemory | third << 21U;
    context.main[5] = (kMemory + 0x8000U) | ((third >> 11U) & 0x3ffU) << 21U;
    Operation operation;
    operation.opcode = opcode;
    for (const OperandSpec& operand : spec_of(form).list()) {
        if (operand.kind == OperandKind::MainPairStep) {
            set_operand(operation, operand.slot, 4);
        } else if (operand.kind == OperandKind::MainDst) {
            set_operand(operation, operand.slot, 6);
        } else if (operand.slot == Slot::Imm) {
            operation.imm = 1;
        } else if (operand.kind == OperandKind::AuxPairSrc || operand.kind == OperandKind::AuxSrc) {
            set_operand(operation, operand.slot, 6);
        } else if (operand.kind == OperandKind::AuxQuadDst || operand.kind == OperandKind::AuxDst ||
                   operand.kind == OperandKind::AuxPairDst) {
            set_operand(operation, operand.slot, operand.slot == Slot::D ? 0 : 4);
        } else {
            set_operand(operation, operand.slot,
                        operand.slot == Slot::A   ? 1
                        : operand.slot == Slot::B ? 2
                        : operand.slot == Slot::C ? 3
                                                  : 7); // what a store takes
        }
    }
    return operation;
}

std::vector<unsigned> changes(const Context& a, const Context& b) {
    std::vector<unsigned> places;
    for (unsigned where = 0; where < place::kCount; ++where) {
        if (words_at(a, where) != words_at(b, where)) {
            places.push_back(where);
        }
    }
    return places;
}

} // namespace

TEST_CASE("an instruction loads and stores the bytes that its row of the table counts",
          "[unit][tile]") {
    Bench bench;
    int accessing = 0;
    for (std::uint16_t code = 1; code < static_cast<std::uint16_t>(Opcode::kCount); ++code) {
        const auto opcode = static_cast<Opcode>(code);
        const OpcodeSpec& row = spec_of(opcode);
        const counts::Instruction& counted = counts_of(opcode);
        CAPTURE(row.mnemonic);
        if ((row.flags & (kLoad | kStore)) == 0) {
            CHECK(counted.loaded_bytes + counted.stored_bytes == 0);
            continue;
        }
        CHECK(counted.kind == counts::Class::Memory);
        if ((row.flags & kSupervisor) != 0) {
            continue; // loads of weights, which the tile carries out
        }
        REQUIRE(bench.run(access_operation(opcode, bench.context)));
        std::int64_t loaded = 0;
        std::int64_t stored = 0;
        for (const MemoryAccess& access : bench.log.accesses) {
            (access.writes ? stored : loaded) += access.access_bytes;
        }
        CHECK(counted.loaded_bytes == loaded);
        CHECK(counted.stored_bytes == stored);
        ++accessing;
    }
    CHECK(accessing > 60);
}

TEST_CASE("a loaded word changes the register that it goes to and no other", "[unit][tile]") {
    int loads = 0;
    for (std::uint16_t code = 1; code < static_cast<std::uint16_t>(Opcode::kCount); ++code) {
        const auto opcode = static_cast<Opcode>(code);
        const std::uint16_t flags = spec_of(opcode).flags;
        if ((flags & kLoad) == 0 || (flags & kSupervisor) != 0) {
            continue;
        }
        CAPTURE(spec_of(opcode).mnemonic);
        Bench bench;
        const Operation operation = access_operation(opcode, bench.context);
        const DataFlow flow = data_flow(operation);
        const Context start = bench.context;
        REQUIRE(bench.run(operation));
        const Context before = bench.context;
        const auto accesses = bench.log.accesses;
        std::size_t next = 0;
        for (const MemoryAccess& access : accesses) {
            const unsigned words = access.access_bytes < 4 ? 1 : access.access_bytes / 4U;
            for (unsigned i = 0; !access.writes && i < words; ++i, ++next) {
                Bench other;
                std::copy(std::begin(start.main), std::end(start.main), other.context.main);
                const Address at = access.address / 4 * 4 + 4 * i;
                std::fill_n(other.bytes.begin() + (at - kMemory), 4, std::byte{0x5a});
                REQUIRE(other.run(operation));
                REQUIRE(next < flow.loaded.size());
                CHECK(changes(before, other.context) == std::vector<unsigned>{flow.loaded[next]});
            }
        }
        CHECK(next == flow.loaded.size());
        ++loads;
    }
    CHECK(loads > 40);
}

TEST_CASE("what leaves the registers is used", "[unit][tile]") {
    int checked = 0;
    for (std::uint16_t code = 1; code < static_cast<std::uint16_t>(Opcode::kCount); ++code) {
        const auto opcode = static_cast<Opcode>(code);
        if ((spec_of(opcode).flags & kOthers) == 0) {
            continue;
        }
        CAPTURE(spec_of(opcode).mnemonic);
        Operation operation;
        operation.opcode = opcode;
        place::Mask wanted = 0;
        std::int32_t next = 1;
        for (const OperandSpec& operand : spec_of(spec_of(opcode).form).list()) {
            switch (operand.kind) {
            case OperandKind::MainSrc:
            case OperandKind::MainDelta:
            case OperandKind::MainBoth:
            case OperandKind::MainStep:
            case OperandKind::MainInc:
            case OperandKind::MainAt:
            case OperandKind::MainShift:
                set_operand(operation, operand.slot, next);
                wanted |= 1U << next++;
                break;
            case OperandKind::MainPairStep:
                set_operand(operation, operand.slot, 10);
                wanted |= 3U << 10U;
                break;
            case OperandKind::AuxSrc:
                set_operand(operation, operand.slot, 5);
                wanted |= 1U << (place::kAux + 5U);
                break;
            case OperandKind::AuxPairSrc:
                set_operand(operation, operand.slot, 6);
                wanted |= 3U << (place::kAux + 6U);
                break;
            default:
                break;
            }
        }
        CHECK(data_flow(operation).used == wanted);
        ++checked;
    }
    CHECK(checked > 90);
    CHECK(reads_sticky_flags({Opcode::uget, Broadcast::None, 0, 0, 0, 0, 0}));
    CHECK_FALSE(reads_sticky_flags({Opcode::uget, Broadcast::None, 0, 0, 0, 0, 1}));
    CHECK_FALSE(reads_sticky_flags({Opcode::uput, Broadcast::None, 0, 0, 0, 0, 0}));
}

TEST_CASE("pipelined instructions give what entered before, not what enters", "[unit][tile]") {
    const auto result = [](Opcode opcode, std::int32_t constant) {
        Operation operation;
        operation.opcode = opcode;
        operation.d = 0;
        operation.a = 2;
        operation.b = 4;
        operation.imm = constant;
        return sources_of(data_flow(operation), place::kAux);
    };
    constexpr place::Mask kInputs = 0xffU << place::kAux;
    for (const Opcode opcode :
         {Opcode::f32v2axpy, Opcode::f16v4mix, Opcode::f32v2gina, Opcode::f16v4hihov4amp,
          Opcode::f16v4sisoamp, Opcode::f16v4hihov4slic, Opcode::f16v4istacc}) {
        CHECK((result(opcode, 0x31) & kInputs) == 0);
        CHECK(result(opcode, 0x31) != 0);
    }
    // a whole exchange of the banks leaves nothing of the old sums in them
    const auto pair = [](place::Bank bank, unsigned number) {
        return place::Mask{1} << place::accumulators(bank, number);
    };
    CHECK(result(Opcode::f16v4hihov4amp, 0x30) == pair(place::Even, 0));
    CHECK(result(Opcode::f16v4hihov4amp, 0x31) == pair(place::Odd, 0));
    // pairs by register
    CHECK(result(Opcode::f32v2add, 0) == ((1U << 2U | 1U << 4U) << place::kAux));
    CHECK(result(Opcode::sort4x32lo, 0) == ((3U << 2U | 3U << 4U) << place::kAux));
}
