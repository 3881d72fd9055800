// SPDX-License-Identifier: MIT
#include "models/isa/matrix_loop_matcher.h"

#include <algorithm>

namespace tessera::isa {
namespace {

class MatrixLoopMatcher {
public:
    static bool match(const std::array<Operation, 8>& halves, MatrixLoop& loop) {
        MatrixLoopMatcher matcher{halves, loop};
        return matcher.bundles() && matcher.lags();
    }

private:
    MatrixLoopMatcher(const std::array<Operation, 8>& halves, MatrixLoop& loop)
        : halves_(halves), loop_(loop) {}

    [[nodiscard]] const Operation& main(unsigned bundle) const { return halves_[2 * (bundle % 4)]; }
    [[nodiscard]] const Operation& aux(unsigned bundle) const {
        return halves_[2 * (bundle % 4) + 1];
    }

    [[nodiscard]] unsigned loaded_registers() const { return loop_.reads_partials ? 4 : 2; }

    bool bundles() {
        const Opcode step = aux(0).opcode;
        const Opcode access = main(0).opcode;
        if ((step != Opcode::f16v4hihov4amp && step != Opcode::f16v4sisoamp) ||
            (access != Opcode::ld2xst64pace && access != Opcode::ldst64pace)) {
            return false;
        }
        loop_.half_partials = step == Opcode::f16v4hihov4amp;
        loop_.reads_partials = access == Opcode::ld2xst64pace;
        loop_.addresses = main(0).a;
        loop_.stride = main(0).b;
        loop_.first_phase = static_cast<std::uint8_t>(aux(0).imm & 3);
        if (loop_.stride / 2 == loop_.addresses / 2 || loop_.addresses >= kMainReadOnly) {
            // the strides would change from bundle to bundle, or the addresses stand still
            return false;
        }
        constexpr std::int32_t kFourEngines = 0x30;
        constexpr unsigned kZeroPair = 14;
        for (unsigned t = 0; t < 4; ++t) {
            const unsigned phase = (loop_.first_phase + t) % 4;
            const bool partial_register =
                loop_.reads_partials ? aux(t).b < 8 : aux(t).b == kZeroPair;
            if (main(t).opcode != access || main(t).a != loop_.addresses ||
                main(t).b != loop_.stride || aux(t).opcode != step ||
                aux(t).imm != kFourEngines + static_cast<std::int32_t>(phase) || main(t).c >= 8 ||
                aux(t).a >= 8 || !partial_register) {
                return false;
            }
            const auto selectors = static_cast<unsigned>(main(t).imm);
            loop_.selectors[phase] = static_cast<std::uint8_t>(
                loop_.reads_partials ? selectors : (selectors & 3U) | ((selectors >> 2U) << 4U));
            loop_.loaded[phase] = main(t).d;
            loop_.stored[phase] = main(t).c;
            loop_.result[phase] = aux(t).d;
        }
        return true;
    }

    static bool overlap(unsigned x, unsigned x_width, unsigned y, unsigned y_width) {
        return x < y + y_width && y < x + x_width;
    }

    /// How many bundles before bundle `t` the pair `pair` was last written, and that it is the
    /// expected write.
    template <typename Expected>
    [[nodiscard]] std::uint32_t lag(unsigned t, unsigned pair, Expected expected) const {
        for (unsigned back = 1; back <= 4; ++back) {
            const unsigned s = t + 4 - back;
            const bool by_load = overlap(pair, 2, main(s).d, loaded_registers());
            const bool by_step = overlap(pair, 2, aux(s).d, 2);
            if (by_load || by_step) {
                return expected(s) ? back : 0;
            }
        }
        return 0;
    }

    /// What is read was written by the body, so that it writes no other registers than it reads.
    bool lags() {
        for (unsigned t = 0; t < 4; ++t) {
            const std::uint32_t input =
                lag(t, aux(t).a, [&](unsigned s) { return main(s).d == aux(t).a; });
            const std::uint32_t partial =
                !loop_.reads_partials
                    ? 1
                    : lag(t, aux(t).b, [&](unsigned s) { return main(s).d + 2U == aux(t).b; });
            const std::uint32_t result =
                lag(t, main(t).c, [&](unsigned s) { return aux(s).d == main(t).c; });
            if (t == 0) {
                loop_.input_lag = input;
                loop_.partial_lag = partial;
                loop_.result_lag = result;
            }
            if (input == 0 || partial == 0 || result == 0 || input != loop_.input_lag ||
                partial != loop_.partial_lag || result != loop_.result_lag) {
                return false;
            }
        }
        return true;
    }

    const std::array<Operation, 8>& halves_;
    MatrixLoop& loop_;
};

} // namespace

bool match_matrix_loop(const std::array<Operation, 8>& halves, MatrixLoop& loop) {
    return MatrixLoopMatcher::match(halves, loop);
}

bool match_sparse_loop(const std::array<Operation, 6>& halves, SparseLoop& loop) {
    const auto& [high, sum, low, high_product, next, low_product] = halves;
    constexpr unsigned kZero = 15;
    const bool opcodes =
        high.opcode == Opcode::ld64_i && sum.opcode == Opcode::f16v8acc &&
        low.opcode == Opcode::ldd16a64 && high_product.opcode == Opcode::f16v4mul &&
        next.opcode == Opcode::ldb16step_i && low_product.opcode == Opcode::f16v4mul;
    if (!opcodes) {
        return false;
    }
    loop = {.x = high.a,
            .delta = high.b,
            .deltas = low.a,
            .values = next.b,
            .value = next.d,
            .low = low.d,
            .high = high.d,
            .products = sum.a};
    const bool flow = high.imm == 1 && low.b == loop.x && low.c == loop.delta && next.a == kZero &&
                      next.imm == 1 && high_product.d == loop.products + 2 &&
                      high_product.a == loop.value && high_product.b == loop.high &&
                      low_product.d == loop.products && low_product.a == loop.value &&
                      low_product.b == loop.low && high_product.broadcast == Broadcast::Lower &&
                      low_product.broadcast == Broadcast::Lower;
    const auto in = [](unsigned number, unsigned first, unsigned width) {
        return number - first < width;
    };
    const bool in_place = loop.low == loop.products && loop.high == loop.products + 2;
    const bool apart_aux =
        loop.products % 4 == 0 && !in(loop.value, loop.products, 4) &&
        !in(loop.value, loop.low, 2) && !in(loop.value, loop.high, 2) &&
        (in_place || (!in(loop.low, loop.products, 4) && !in(loop.high, loop.products, 4)));
    const bool apart_main = loop.x != loop.delta && loop.x != loop.deltas &&
                            loop.x != loop.values && loop.delta != loop.deltas &&
                            loop.delta != loop.values && loop.deltas != loop.values;
    const auto most = std::max({loop.delta, loop.deltas, loop.values});
    return flow && apart_aux && apart_main && most < kMainReadOnly && loop.products < 8 &&
           loop.low < 8 && loop.high < 8 && loop.value < 8;
}

} // namespace tessera::isa
