// SPDX-License-Identifier: MIT
// One context with a weight store, on which single instructions are executed, and the machine's
// number rules once more, written for checking: slowly, and with none of the code under test.
#pragma once

#include "base/float16.h"
#include "models/isa/context.h"
#include "models/isa/engine.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tessera::test {

inline constexpr std::uint32_t kInvalid = 1;
inline constexpr std::uint32_t kOverflow = 4;
inline constexpr std::uint32_t kStochastic = 1U << 19U;
inline constexpr std::uint32_t kNanOnOverflow = 1U << 20U;
inline constexpr std::uint16_t kNanHalf = 0x7ece;
inline constexpr std::uint32_t kNanSingle = 0x7fd9c000;

/// Registers that instructions of these tests use: results in $a0:1, inputs in $a2:3 (or $a4:7),
/// partials in $a4:5.
class WorkerUnderTest {
public:
    explicit WorkerUnderTest(const isa::Engine& engine) : engine_(engine) {
        context.weights = &weights;
    }
    WorkerUnderTest(const WorkerUnderTest&) = delete;
    WorkerUnderTest& operator=(const WorkerUnderTest&) = delete;

    void execute(const std::string& mnemonic, unsigned d, unsigned a, unsigned b, int constant) {
        isa::MicroOperation op;
        op.code = static_cast<std::uint16_t>(isa::opcodes_named(mnemonic).front());
        op.d = static_cast<std::uint8_t>(d);
        op.a = static_cast<std::uint8_t>(a);
        op.b = static_cast<std::uint8_t>(b);
        op.imm = constant;
        const isa::FpEnvironment environment;
        engine_.execute(context, op);
    }

    /// AACC[i].
    float& accumulator(unsigned i) {
        return i % 2 == 0 ? context.accumulators.even[i / 2] : context.accumulators.odd[i / 2];
    }
    void set_weight(unsigned index, std::uint64_t value) {
        weights.registers[index] = value;
        weights.changed();
    }

    isa::Context context;
    isa::WeightStore weights;

private:
    const isa::Engine& engine_;
};

inline float flush(float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

inline std::uint16_t half_at(const std::uint32_t* registers, unsigned k) {
    return static_cast<std::uint16_t>(registers[k / 2] >> (16U * (k % 2)));
}

/// A half as an operand; notes INV for an infinite or signalling one.
inline float half_operand(std::uint16_t half, std::uint32_t& flags) {
    const float value = f16_to_f32(half);
    if (std::isinf(value) || (std::isnan(value) && (half & 0x200U) == 0)) {
        flags |= kInvalid;
    }
    return std::isinf(value) ? std::nanf("") : value;
}

inline float single_operand(std::uint32_t bits, std::uint32_t& flags) {
    const auto value = std::bit_cast<float>(bits);
    if (std::isnan(value) && (bits & 0x400000U) == 0) {
        flags |= kInvalid;
    }
    return flush(value);
}

inline std::uint16_t half_result(float value, std::uint32_t& flags) {
    if (std::isnan(value) || std::isinf(value)) {
        flags |= std::isinf(value) ? kInvalid : 0;
        return kNanHalf;
    }
    if (std::fabs(value) >= 65520.0F) {
        flags |= kOverflow;
        return value < 0 ? 0xfbff : 0x7bff;
    }
    return f32_to_f16(value);
}

inline std::uint32_t single_result(float value, std::uint32_t& flags) {
    flags |= std::isinf(value) ? kOverflow : 0;
    return std::isnan(value) ? kNanSingle : std::bit_cast<std::uint32_t>(flush(value));
}

/// The product of two FP32 values and their sum, each rounded once.
inline float product(float x, float y) {
    return flush(static_cast<float>(static_cast<double>(x) * static_cast<double>(y)));
}
inline float sum(float x, float y) {
    return flush(static_cast<float>(static_cast<double>(x) + static_cast<double>(y)));
}

inline bool same(float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) ||
           (std::isnan(x) && std::isnan(y));
}

/// Bit patterns that are often interesting: any, small whole numbers, infinities and NaN,
/// subnormals, large.
inline std::uint16_t random_half(std::mt19937& random) {
    const auto draw = static_cast<std::uint32_t>(random());
    static constexpr std::array<std::uint16_t, 10> kEdges = {
        0, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0x0001, 0x83ff, 0x7bff, 0xfbff};
    switch (draw % 64) {
    case 0:
        return kEdges[(draw >> 8U) % kEdges.size()];
    case 1:
        return static_cast<std::uint16_t>(draw >> 16U);
    default:
        return f32_to_f16(static_cast<float>(static_cast<int>((draw >> 8U) % 4097) - 2048) / 64.0F);
    }
}

inline std::uint32_t random_single(std::mt19937& random) {
    const auto draw = static_cast<std::uint32_t>(random());
    static constexpr std::array<std::uint32_t, 10> kEdges = {
        0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
        0x7f800001, 0x00000001, 0x807fffff, 0x7f7fffff, 0xff7fffff};
    switch (draw % 64) {
    case 0:
        return kEdges[(draw >> 8U) % kEdges.size()];
    case 1:
        return static_cast<std::uint32_t>(random());
    default:
        return (draw & 0x807fffffU) | ((120U + (draw >> 24U) % 16U) << 23U);
    }
}

inline std::uint32_t random_halves(std::mt19937& random) {
    const std::uint32_t low = random_half(random);
    return low | (static_cast<std::uint32_t>(random_half(random)) << 16U);
}

} // namespace tessera::test
