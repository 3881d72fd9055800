// SPDX-License-Identifier: MIT
// Aux lane, third generation: FP8 inputs of the matrix unit and conversions between FP8 and FP16.
// Results of all of them are scaled by 2 to the power of FP_SCL. Source and choices:
// docs/deviations.md#fp8
#pragma once

#include "models/isa/exec/amp.h"
#include "models/isa/exec/quarter.h"
#include "models/isa/exec/slic.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace quarter {

inline const Format& data_format(const Context& c) {
    return data_are_f143(c) ? kF143 : kF152;
}

/// Eight products a unit: the dot product in lane order as for FP16, then scaled.
struct Products {
    F32x8 x[8];
    F32x8 factor;
    const float* weights;

    Products(Context& c, const MicroOperation& op, amp::Flag flag, unsigned)
        : factor(F32x8::broadcast(scale(c))),
          weights(TESSERA_ENGINE::weights::quarters(c, flag.phase & 3U)) {
        const std::uint64_t codes = load_pair(c.aux + op.a);
        const Format& format = data_format(c);
        for (unsigned k = 0; k < 8; ++k) {
            x[k] = F32x8::broadcast(widen(static_cast<std::uint8_t>(codes >> (8U * k)), format));
        }
    }
    [[nodiscard]] F32x8 added_to(F32x8 sums, unsigned set) const {
        return sums + dot_product(x, weights + 8U * set, 16) * factor;
    }
};

/// Up to four codes as FP16.
inline std::uint64_t to_halves(Context& c, const MicroOperation& op, std::uint32_t codes,
                               unsigned elements) {
    const Format& format = data_format(c);
    const float factor = scale(c);
    float values[4] = {};
    for (unsigned k = 0; k < elements; ++k) {
        values[k] = widen(static_cast<std::uint8_t>(codes >> (8U * k)), format) * factor;
    }
    return results_f16x4(c, op, values);
}

} // namespace quarter

inline void f8v8hihov4amp(Context& c, const MicroOperation& op) {
    const auto out = amp::step<quarter::Products, 2>(c, op, amp::partials_of_both(c, op));
    store_pair(c.aux + op.d, results_f16x4(c, op, out.first, out.second));
}

inline void f8v8hihov4slic(Context& c, const MicroOperation& op) {
    const auto out = slic::step<quarter::Products, 2>(c, op, amp::partials_of_both(c, op));
    store_pair(c.aux + op.d, results_f16x4(c, op, out.first, out.second));
}

/// The codes are the two lower bytes of the register.
inline void f8v2tof16(Context& c, const MicroOperation& op) {
    c.aux[op.d] = static_cast<std::uint32_t>(quarter::to_halves(c, op, c.aux[op.a], 2));
}

inline void f8v4tof16(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d, quarter::to_halves(c, op, c.aux[op.a], 4));
}

/// Element i of the eight rounds with 16 random bits of its own: those of R0, then those of R1.
inline void f16v8tof8(Context& c, const MicroOperation& op) {
    const quarter::Format& format = quarter::data_format(c);
    const float factor = quarter::scale(c);
    random_numbers::Draw random{};
    if (stochastic(c)) {
        random = random_numbers::draw(c);
    }
    std::uint64_t result = 0;
    for (unsigned i = 0; i < 8; ++i) {
        const auto half = static_cast<std::uint16_t>(c.aux[op.a + i / 2U] >> (16U * (i % 2U)));
        const float value = operand_f16(c, op, half) * factor;
        const std::uint64_t words = i < 4 ? random.r0 : random.r1;
        const std::uint8_t code =
            value != value ? quarter::kNan
                           : quarter::narrow(c, op, value, format,
                                             static_cast<std::uint32_t>(words >> (16U * (i % 4U))));
        result |= static_cast<std::uint64_t>(code) << (8U * i);
    }
    store_pair(c.aux + op.d, result);
}

} // namespace tessera::isa::TESSERA_ENGINE
