// SPDX-License-Identifier: MIT
// One aux-lane instruction, from its text, on registers that the test gives: for tests that execute
// it very often.
#pragma once

#include "models/isa/context.h"
#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace tessera::test {

class Instruction {
public:
    explicit Instruction(const std::string& text)
        : program_(isa::decode_program(isa::test::words_of(text), isa::test::kBase,
                                       isa::kDefaultTarget)) {}

    /// The host must be in the machine's rounding state.
    void operator()(const isa::Engine& engine, isa::Context& context) const {
        engine.execute(context, program_.operations.front());
    }

    [[nodiscard]] int issues() const {
        const isa::Position& position = program_.positions.front();
        return position.issues_upto - position.issues_before;
    }

private:
    isa::DecodedProgram program_;
};

/// The 64 bits of a register pair.
inline std::uint64_t pair_of(const isa::Context& context, std::size_t first) {
    return context.aux[first] | (static_cast<std::uint64_t>(context.aux[first + 1]) << 32U);
}

/// What an instruction left behind.
struct Outcome {
    std::array<std::uint32_t, 8> a{}; ///< $a0..$a7
    std::uint32_t flags = 0;          ///< FP_STS
    std::array<std::uint64_t, 2> random{};
    std::string fault;

    bool operator==(const Outcome&) const = default;
    [[nodiscard]] std::uint64_t pair(std::size_t first) const {
        return a[first] | (static_cast<std::uint64_t>(a[first + 1]) << 32U);
    }
};

struct Start {
    std::uint32_t control = 0; ///< FP_CTL
    std::array<std::uint64_t, 2> random = isa::seeded_random_state(1);
};

/// Executes the text on every engine with $a0.. as given, checks that all do the same, and returns
/// that.
inline Outcome outcome_of(const std::string& text, std::initializer_list<std::uint32_t> registers,
                          const Start& start = {}) {
    const Instruction instruction(text);
    const isa::FpEnvironment rounding;
    Outcome first;
    for (const isa::Engine& engine : isa::engines()) {
        isa::Context context;
        context.fp_control = start.control;
        context.random = start.random;
        std::copy(registers.begin(), registers.end(), context.aux);
        Outcome outcome;
        try {
            instruction(engine, context);
        } catch (const isa::ExecutionFault& fault) {
            outcome.fault = fault.reason;
        }
        std::copy_n(context.aux, outcome.a.size(), outcome.a.begin());
        outcome.flags = context.fp_status;
        outcome.random = context.random;
        if (&engine == &isa::engines().front()) {
            first = outcome;
        }
        CHECK(outcome == first);
    }
    return first;
}

/// Counts wrong results and remembers the first, as a check of each would take too long.
class Mismatches {
public:
    void expect(std::uint64_t got, std::uint64_t wanted, std::uint64_t x, std::uint64_t y = 0) {
        if (got != wanted && count_++ == 0) {
            first_ = "of " + hex(x) + " and " + hex(y) + ": got " + hex(got) + ", expected " +
                     hex(wanted);
        }
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] const std::string& first() const { return first_; }

private:
    static std::string hex(std::uint64_t value) {
        static constexpr char kDigits[] = "0123456789abcdef";
        std::string text;
        do {
            text.insert(text.begin(), kDigits[value & 15U]);
            value >>= 4U;
        } while (value != 0);
        return "0x" + text;
    }
    std::uint64_t count_ = 0;
    std::string first_;
};

} // namespace tessera::test

#define TESSERA_CHECK_NONE(mismatches)                                                             \
    do {                                                                                           \
        INFO((mismatches).first());                                                                \
        CHECK((mismatches).count() == 0);                                                          \
    } while (false)
