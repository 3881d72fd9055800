// SPDX-License-Identifier: MIT
// Aux lane: smaller and larger of two, clamping, comparisons and classes. They see bit patterns
// only, round nothing and treat infinities as ordered numbers. Source:
// docs/evidence.md#instruction-set (floating point)
#pragma once

#include "models/isa/exec/vector.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace compare {

/// Bit patterns of FP16, in the low half of a word.
struct Half {
    static constexpr unsigned kBits = 16;
    static constexpr std::uint32_t kOnes = 0xffffU;
    static constexpr std::uint32_t kMagnitude = 0x7fffU;
    static constexpr std::uint32_t kInfinity = 0x7c00U;
    static constexpr std::uint32_t kQuiet = 0x200U;
    static constexpr std::uint32_t kNormal = 0x400U; ///< the smallest one
    static constexpr std::uint32_t kNan = kNanF16;
    static constexpr std::uint32_t operand(std::uint32_t x) { return x; }
};

struct Single {
    static constexpr unsigned kBits = 32;
    static constexpr std::uint32_t kOnes = 0xffffffffU;
    static constexpr std::uint32_t kMagnitude = 0x7fffffffU;
    static constexpr std::uint32_t kInfinity = 0x7f800000U;
    static constexpr std::uint32_t kQuiet = 0x400000U;
    static constexpr std::uint32_t kNormal = 0x800000U;
    static constexpr std::uint32_t kNan = kNanF32;
    static std::uint32_t operand(std::uint32_t x) { return vector::flushed_bits(x); }
};

template <typename N> TESSERA_INLINE bool is_nan(std::uint32_t x) {
    return (x & N::kMagnitude) > N::kInfinity;
}

template <typename N> TESSERA_INLINE bool is_signalling(std::uint32_t x) {
    return is_nan<N>(x) && (x & N::kQuiet) == 0;
}

template <typename N> TESSERA_INLINE bool is_negative(std::uint32_t x) {
    return (x & ~N::kMagnitude) != 0;
}

/// Integers in the order of the numbers. The zeros are equal.
template <typename N> TESSERA_INLINE std::int32_t value_order(std::uint32_t x) {
    const auto magnitude = static_cast<std::int32_t>(x & N::kMagnitude);
    return is_negative<N>(x) ? -magnitude : magnitude;
}

/// The same with -0 below +0.
template <typename N> TESSERA_INLINE std::int32_t total_order(std::uint32_t x) {
    const auto magnitude = static_cast<std::int32_t>(x & N::kMagnitude);
    return is_negative<N>(x) ? ~magnitude : magnitude;
}

/// One quiet NaN loses against a number; two, or a signalling one, give NaN.
template <typename N>
[[gnu::noinline]] std::uint32_t select_nan(Context& c, const MicroOperation& op, std::uint32_t x,
                                           std::uint32_t y) {
    if (is_signalling<N>(x) || is_signalling<N>(y)) {
        raise(c, op, kFpInvalid);
        return N::kNan;
    }
    if (is_nan<N>(x)) {
        return is_nan<N>(y) ? N::kNan : y;
    }
    return x;
}

template <bool kMax> struct Select {
    template <typename N>
    TESSERA_INLINE static std::uint32_t apply(Context& c, const MicroOperation& op, std::uint32_t x,
                                              std::uint32_t y) {
        x = N::operand(x);
        y = N::operand(y);
        if (is_nan<N>(x) || is_nan<N>(y)) [[unlikely]] {
            return select_nan<N>(c, op, x, y);
        }
        return (total_order<N>(x) > total_order<N>(y)) == kMax ? x : y;
    }
};
using Max = Select<true>;
using Min = Select<false>;

struct AbsMax {
    template <typename N>
    TESSERA_INLINE static std::uint32_t apply(Context& c, const MicroOperation& op, std::uint32_t x,
                                              std::uint32_t y) {
        return Max::apply<N>(c, op, x & N::kMagnitude, y & N::kMagnitude);
    }
};

template <typename N>
TESSERA_INLINE std::uint32_t clamped(Context& c, const MicroOperation& op, std::uint32_t x,
                                     std::uint32_t lo, std::uint32_t hi) {
    x = N::operand(x);
    lo = N::operand(lo);
    hi = N::operand(hi);
    if (is_nan<N>(x) || is_nan<N>(lo) || is_nan<N>(hi)) [[unlikely]] {
        if (is_signalling<N>(x) || is_signalling<N>(lo) || is_signalling<N>(hi)) {
            raise(c, op, kFpInvalid);
        }
        return N::kNan;
    }
    if (value_order<N>(x) > value_order<N>(hi)) {
        return hi;
    }
    return total_order<N>(x) > total_order<N>(lo) ? x : lo;
}

enum class Relation { Eq, Ne, Lt, Le, Gt, Ge };

/// All ones where the relation holds. A NaN is only unequal, and invalid to ask about.
template <Relation kRelation> struct Compare {
    static constexpr bool holds(std::int32_t x, std::int32_t y) {
        switch (kRelation) {
        case Relation::Eq:
            return x == y;
        case Relation::Ne:
            return x != y;
        case Relation::Lt:
            return x < y;
        case Relation::Le:
            return x <= y;
        case Relation::Gt:
            return x > y;
        case Relation::Ge:
            return x >= y;
        }
        return false;
    }

    template <typename N>
    TESSERA_INLINE static std::uint32_t apply(Context& c, const MicroOperation& op, std::uint32_t x,
                                              std::uint32_t y) {
        x = N::operand(x);
        y = N::operand(y);
        if (is_nan<N>(x) || is_nan<N>(y)) [[unlikely]] {
            raise(c, op, kFpInvalid);
            return kRelation == Relation::Ne ? N::kOnes : 0;
        }
        return holds(value_order<N>(x), value_order<N>(y)) ? N::kOnes : 0;
    }
};

/// Codes of the class instructions: 2 and 5 are known, the others chosen (docs/deviations.md,
/// class-codes).
template <typename N> TESSERA_INLINE std::uint32_t class_of(std::uint32_t x) {
    enum : std::uint32_t {
        kSignallingNan = 1,
        kQuietNan = 2,
        kMinusInfinity = 3,
        kMinusNormal = 4,
        kMinusZero = 5,
        kPlusZero = 6,
        kPlusNormal = 7,
        kPlusInfinity = 8,
        kMinusSubnormal = 9,
        kPlusSubnormal = 10,
    };
    x = N::operand(x);
    const std::uint32_t magnitude = x & N::kMagnitude;
    const bool negative = is_negative<N>(x);
    if (magnitude > N::kInfinity) {
        return is_signalling<N>(x) ? kSignallingNan : kQuietNan;
    }
    if (magnitude == N::kInfinity) {
        return negative ? kMinusInfinity : kPlusInfinity;
    }
    if (magnitude == 0) {
        return negative ? kMinusZero : kPlusZero;
    }
    if (magnitude < N::kNormal) {
        return negative ? kMinusSubnormal : kPlusSubnormal;
    }
    return negative ? kMinusNormal : kPlusNormal;
}

// Operand shapes: the format and whether registers are pairs.
template <typename N, bool kIsPair> struct Shape {
    using Number = N;
    static constexpr bool kPair = kIsPair;
    static constexpr unsigned kElements = (kIsPair ? 64 : 32) / N::kBits;
};
using F32 = Shape<Single, false>;
using F32v2 = Shape<Single, true>;
using F16v2 = Shape<Half, false>;
using F16v4 = Shape<Half, true>;

template <typename N>
TESSERA_INLINE std::uint32_t element(std::uint64_t vector_bits, unsigned index) {
    return static_cast<std::uint32_t>(vector_bits >> (N::kBits * index)) & N::kOnes;
}

template <typename S>
TESSERA_INLINE std::uint64_t first(const Context& c, const MicroOperation& op) {
    return S::kPair ? vector::first_pair(c, op) : vector::first_word(c, op);
}

template <typename S> TESSERA_INLINE void store(Context& c, unsigned to, std::uint64_t value) {
    if constexpr (S::kPair) {
        store_pair(c.aux + to, value);
    } else {
        c.aux[to] = static_cast<std::uint32_t>(value);
    }
}

template <typename S, typename Operator>
TESSERA_INLINE void two(Context& c, const MicroOperation& op) {
    using N = typename S::Number;
    const std::uint64_t x = first<S>(c, op);
    const std::uint64_t y = S::kPair ? load_pair(c.aux + op.b) : c.aux[op.b];
    std::uint64_t result = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < S::kElements; ++i) {
        const std::uint64_t word =
            Operator::template apply<N>(c, op, element<N>(x, i), element<N>(y, i));
        result |= word << (N::kBits * i);
    }
    store<S>(c, op.d, result);
}

/// The limits {lo, hi} are two FP32 registers or the halves of one register.
template <typename S> TESSERA_INLINE void clamp(Context& c, const MicroOperation& op) {
    using N = typename S::Number;
    const std::uint64_t x = first<S>(c, op);
    const std::uint64_t limits = N::kBits == 32 ? load_pair(c.aux + op.b) : c.aux[op.b];
    std::uint64_t result = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < S::kElements; ++i) {
        const std::uint64_t word =
            clamped<N>(c, op, element<N>(x, i), element<N>(limits, 0), element<N>(limits, 1));
        result |= word << (N::kBits * i);
    }
    store<S>(c, op.d, result);
}

/// One byte an element.
template <typename S> TESSERA_INLINE void classes(Context& c, const MicroOperation& op) {
    using N = typename S::Number;
    const std::uint64_t x = S::kPair ? load_pair(c.aux + op.a) : c.aux[op.a];
    std::uint32_t result = 0;
    for (unsigned i = 0; i < S::kElements; ++i) {
        result |= class_of<N>(element<N>(x, i)) << (8U * i);
    }
    c.aux[op.d] = result;
}

/// The larger half of a word.
TESSERA_INLINE std::uint32_t larger_half(Context& c, const MicroOperation& op, std::uint32_t word) {
    return Max::apply<Half>(c, op, word & 0xffffU, word >> 16U);
}

} // namespace compare

TESSERA_AUX(f32min, (compare::two<compare::F32, compare::Min>(c, op)))
TESSERA_AUX(f32v2min, (compare::two<compare::F32v2, compare::Min>(c, op)))
TESSERA_AUX(f16v2min, (compare::two<compare::F16v2, compare::Min>(c, op)))
TESSERA_AUX(f16v4min, (compare::two<compare::F16v4, compare::Min>(c, op)))
TESSERA_AUX(f32max, (compare::two<compare::F32, compare::Max>(c, op)))
TESSERA_AUX(f32v2max, (compare::two<compare::F32v2, compare::Max>(c, op)))
TESSERA_AUX(f16v2max, (compare::two<compare::F16v2, compare::Max>(c, op)))
TESSERA_AUX(f16v4max, (compare::two<compare::F16v4, compare::Max>(c, op)))
TESSERA_AUX(f32absmax, (compare::two<compare::F32, compare::AbsMax>(c, op)))
TESSERA_AUX(f32v2absmax, (compare::two<compare::F32v2, compare::AbsMax>(c, op)))
TESSERA_AUX(f16v2absmax, (compare::two<compare::F16v2, compare::AbsMax>(c, op)))
TESSERA_AUX(f16v4absmax, (compare::two<compare::F16v4, compare::AbsMax>(c, op)))
TESSERA_AUX(f32cmpeq, (compare::two<compare::F32, compare::Compare<compare::Relation::Eq>>(c, op)))
TESSERA_AUX(f32v2cmpeq,
            (compare::two<compare::F32v2, compare::Compare<compare::Relation::Eq>>(c, op)))
TESSERA_AUX(f16v2cmpeq,
            (compare::two<compare::F16v2, compare::Compare<compare::Relation::Eq>>(c, op)))
TESSERA_AUX(f16v4cmpeq,
            (compare::two<compare::F16v4, compare::Compare<compare::Relation::Eq>>(c, op)))
TESSERA_AUX(f32cmpne, (compare::two<compare::F32, compare::Compare<compare::Relation::Ne>>(c, op)))
TESSERA_AUX(f32v2cmpne,
            (compare::two<compare::F32v2, compare::Compare<compare::Relation::Ne>>(c, op)))
TESSERA_AUX(f16v2cmpne,
            (compare::two<compare::F16v2, compare::Compare<compare::Relation::Ne>>(c, op)))
TESSERA_AUX(f16v4cmpne,
            (compare::two<compare::F16v4, compare::Compare<compare::Relation::Ne>>(c, op)))
TESSERA_AUX(f32cmplt, (compare::two<compare::F32, compare::Compare<compare::Relation::Lt>>(c, op)))
TESSERA_AUX(f32v2cmplt,
            (compare::two<compare::F32v2, compare::Compare<compare::Relation::Lt>>(c, op)))
TESSERA_AUX(f16v2cmplt,
            (compare::two<compare::F16v2, compare::Compare<compare::Relation::Lt>>(c, op)))
TESSERA_AUX(f16v4cmplt,
            (compare::two<compare::F16v4, compare::Compare<compare::Relation::Lt>>(c, op)))
TESSERA_AUX(f32cmple, (compare::two<compare::F32, compare::Compare<compare::Relation::Le>>(c, op)))
TESSERA_AUX(f32v2cmple,
            (compare::two<compare::F32v2, compare::Compare<compare::Relation::Le>>(c, op)))
TESSERA_AUX(f16v2cmple,
            (compare::two<compare::F16v2, compare::Compare<compare::Relation::Le>>(c, op)))
TESSERA_AUX(f16v4cmple,
            (compare::two<compare::F16v4, compare::Compare<compare::Relation::Le>>(c, op)))
TESSERA_AUX(f32cmpgt, (compare::two<compare::F32, compare::Compare<compare::Relation::Gt>>(c, op)))
TESSERA_AUX(f32v2cmpgt,
            (compare::two<compare::F32v2, compare::Compare<compare::Relation::Gt>>(c, op)))
TESSERA_AUX(f16v2cmpgt,
            (compare::two<compare::F16v2, compare::Compare<compare::Relation::Gt>>(c, op)))
TESSERA_AUX(f16v4cmpgt,
            (compare::two<compare::F16v4, compare::Compare<compare::Relation::Gt>>(c, op)))
TESSERA_AUX(f32cmpge, (compare::two<compare::F32, compare::Compare<compare::Relation::Ge>>(c, op)))
TESSERA_AUX(f32v2cmpge,
            (compare::two<compare::F32v2, compare::Compare<compare::Relation::Ge>>(c, op)))
TESSERA_AUX(f16v2cmpge,
            (compare::two<compare::F16v2, compare::Compare<compare::Relation::Ge>>(c, op)))
TESSERA_AUX(f16v4cmpge,
            (compare::two<compare::F16v4, compare::Compare<compare::Relation::Ge>>(c, op)))
TESSERA_AUX(f32clamp, compare::clamp<compare::F32>(c, op))
TESSERA_AUX(f32v2clamp, compare::clamp<compare::F32v2>(c, op))
TESSERA_AUX(f16v2clamp, compare::clamp<compare::F16v2>(c, op))
TESSERA_AUX(f16v4clamp, compare::clamp<compare::F16v4>(c, op))
TESSERA_AUX(f32class, compare::classes<compare::F32>(c, op))
TESSERA_AUX(f32v2class, compare::classes<compare::F32v2>(c, op))
TESSERA_AUX(f16v2class, compare::classes<compare::F16v2>(c, op))
TESSERA_AUX(f16v4class, compare::classes<compare::F16v4>(c, op))

TESSERA_AUX(f16v2maxc, c.aux[op.d] = compare::larger_half(c, op, c.aux[op.a]) * 0x10001U)

TESSERA_INLINE void f16v4maxc(Context& c, const MicroOperation& op) {
    const std::uint32_t lo = compare::larger_half(c, op, c.aux[op.a]);
    c.aux[op.d] = lo | (compare::larger_half(c, op, c.aux[op.a + 1U]) << 16U);
}

} // namespace tessera::isa::TESSERA_ENGINE
