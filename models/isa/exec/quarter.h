// SPDX-License-Identifier: MIT
// FP8 numbers ("quarters"): one sign, four exponent and three fraction bits with bias 8 (F143), or
// five and two with bias 16 (F152). No infinities; the code of minus zero is NaN. Source: arXiv
// 2206.02915; which bits of FP_NFMT and FP_SCL mean what, and the corner cases:
// docs/deviations.md#fp8
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/rounding.h"

namespace tessera::isa::TESSERA_ENGINE::quarter {

struct Format {
    int fraction_bits;
    int bias;
    float max;
};

inline constexpr Format kF143{3, 8, 240.0F};
inline constexpr Format kF152{2, 16, 57344.0F};
inline constexpr std::uint8_t kNan = 0x80;

inline bool data_are_f143(const Context& c) {
    return (c.fp_format & 1U) != 0;
}
inline bool weights_are_f143(const Context& c) {
    return (c.fp_format & 2U) != 0;
}

/// 2 to the power of FP_SCL, a six-bit two's complement number.
inline float scale(const Context& c) {
    const std::int32_t exponent = static_cast<std::int32_t>(c.fp_scale << 26U) >> 26;
    return as_f32(static_cast<std::uint32_t>(exponent + 127) << 23U);
}

/// The value of a code; exact.
inline float widen(std::uint8_t code, const Format& format) {
    if (code == kNan) {
        return as_f32(kNanOperand);
    }
    const std::uint32_t sign = (code & 0x80U) << 24U;
    const int exponent = (code & 0x7fU) >> format.fraction_bits;
    const int fraction = code & ((1 << format.fraction_bits) - 1);
    const int significand = exponent == 0 ? fraction : fraction | (1 << format.fraction_bits);
    const int power = (exponent == 0 ? 1 : exponent) - format.bias - format.fraction_bits;
    const float magnitude =
        static_cast<float>(significand) * as_f32(static_cast<std::uint32_t>(power + 127) << 23U);
    return as_f32(as_bits(magnitude) | sign);
}

/// A value that is no NaN as a code: its 24-bit significand, plus 16 random bits just below the
/// last kept one where rounding is stochastic, cut off; otherwise to nearest even. A zero is plus
/// zero, as the other code is taken.
inline std::uint8_t narrow(Context& c, const MicroOperation& op, float value, const Format& format,
                           std::uint32_t random) {
    const std::uint32_t bits = as_bits(value);
    const int exponent = static_cast<int>((bits >> 23U) & 0xffU) - 127;
    const int least = 1 - format.bias; // exponent of the smallest normal number
    const int dropped =
        23 - format.fraction_bits + (exponent < least ? least - exponent : 0); // of 24 bits
    std::uint32_t code = 0;
    if (dropped <= 24 && exponent != -127) {
        const std::uint64_t significand = (bits & 0x7fffffU) | 0x800000U;
        const std::uint64_t one = std::uint64_t{1} << dropped;
        const std::uint64_t rest = significand & (one - 1U);
        std::uint64_t kept = significand >> dropped;
        if (stochastic(c)) {
            kept =
                (significand + (static_cast<std::uint64_t>(random & 0xffffU) << (dropped - 16))) >>
                dropped;
        } else if (rest > one / 2 || (rest == one / 2 && (kept & 1U) != 0)) {
            ++kept;
        }
        const int binades = exponent < least ? 0 : exponent - least;
        code = static_cast<std::uint32_t>(kept) +
               (static_cast<std::uint32_t>(binades) << static_cast<unsigned>(format.fraction_bits));
    }
    if (code > 0x7fU) {
        raise(c, op, kFpOverflow);
        if ((c.fp_control & kFpNanOnOverflow) != 0) {
            return kNan;
        }
        code = 0x7f;
    }
    return code == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(code | ((bits >> 24U) & 0x80U));
}

} // namespace tessera::isa::TESSERA_ENGINE::quarter
