// SPDX-License-Identifier: MIT
// Code ready to execute: each instruction of a code segment as one to three micro-operations in a
// flat list, with the issue count up to each of them, so that straight-line code needs no
// bookkeeping at all, and with the targets of its branches.
#pragma once

#include "models/counts/counts.h"
#include "models/isa/affine_body.h"
#include "models/isa/context.h"
#include "models/isa/counted_loop.h"
#include "models/isa/shadow.h"

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace tessera::isa {

/// Steps that are no instructions of their own.
enum class Internal : std::uint16_t {
    CommitSingle = static_cast<std::uint16_t>(Opcode::kCount), ///< aux[d] = stage
    CommitPair,
    CommitQuad,
    BodyEnd,   ///< behind the last bundle of an rpt body
    Invalid,   ///< a word that is no instruction; imm = which InvalidReason
    BadRepeat, ///< an rpt whose body breaks a rule; imm = which
    Continue, ///< goes on at the operation with index imm, in no time: code that was entered in the
              ///< middle of a bundle, or stands behind data, meets the rest of the list
    EndOfCode,
    /// main[d] = main[a]: a stepped operand on $m12..$m15, whose new value is discarded
    CopySingle,
    CopyPair,
    /// In front of an instruction or bundle with a step of the matrix unit, where several share an
    /// issue.
    Step,
    /// In front of the code of a MatrixPass: imm - 1 is which, or imm is 0 and it is none.
    Pass,
    /// In front of a WaitLoop: from here on the order of contexts matters.
    Wait,
    kCount
};

/// Why a word is no instruction.
enum class InvalidReason : std::uint8_t {
    NoInstruction, ///< no row of the table has the word
    Registers,     ///< a pair or quad at a wrong register, or :BL of whole words
    SameResult,    ///< two results in one register
    ResultSteps,   ///< the result goes to the register that steps
    NeedsTwoSets,  ///< of accumulators, which the generation has not
    NeedsFp8,      ///< which the generation has not
    CutShort,      ///< half a bundle, or half an instruction of two words, at the end of the code
    SecondHalf,    ///< bit 31 is set in a bundle's second half
    Lanes,         ///< a bundle that is not a main and an aux instruction, or holds a solo one
    SameBundleResult, ///< the halves of a bundle write one register
    Unaligned         ///< an instruction of two words at 4 modulo 8
};

/// What a fault says of it.
[[nodiscard]] const char* text_of(InvalidReason reason);

/// Issues and instructions before the instruction of a micro-operation, and up to its end, counted
/// along the list. Context::issues is what to add to them, so only jumps change it.
struct Position {
    std::int32_t issues_before = 0;
    std::int32_t issues_upto = 0;
    std::int32_t count_before = 0;
    std::int32_t count_upto = 0;
};

/// A way from the end of one instruction to the begin of another that is not the next. What was
/// executed follows from how often each was gone (jump_log.h).
struct Jump {
    std::int32_t from = 0; ///< instructions up to the end of the one that is left; 0: none
    std::int32_t to = 0;   ///< instructions before the one that is entered; 0: none
    std::int32_t issues =
        0; ///< what Context::issues changes by: the position left less that entered
    std::int32_t unaligned = 0; ///< 1 if it enters a bundle at an address of 4 modulo 8
    Address link = 0;           ///< behind a branch or its bundle
};

/// Which of the jumps of an operation, counted from DecodedProgram::jump_index.
inline constexpr std::size_t kLeave = 0; ///< to where the target says, or to the end of the worker
inline constexpr std::size_t kTaken = 1; ///< of a branch to a constant address in its own code
inline constexpr std::size_t kSkip = 0;  ///< of an rpt: over its body
inline constexpr std::size_t kPass = 1;  ///< of an rpt: from the end of its body to the begin

/// An rpt body of four bundles `{ ld2xst64pace ; matrix-unit step }`, or with ldst64pace and no
/// partials, in four successive phases, with the registers through which its rows flow; see
/// exec/matrix_loop.h. Arrays are by phase.
struct MatrixLoop {
    bool half_partials = true;    ///< f16v4hihov4amp, else f16v4sisoamp
    bool reads_partials = true;   ///< ld2xst64pace, else the partials are zero
    std::uint8_t first_phase = 0; ///< of the body's first bundle
    std::uint8_t addresses = 0;   ///< main pair with the three addresses
    std::uint8_t stride = 0;      ///< main register with the strides
    std::array<std::uint8_t, 4>
        selectors{}; ///< stride selectors: bits 1:0 input, 3:2 partial, 5:4 result
    std::array<std::uint8_t, 4> loaded{}; ///< aux quad (or pair) that a bundle loads
    std::array<std::uint8_t, 4> stored{}; ///< aux pair that a bundle stores
    std::array<std::uint8_t, 4> result{}; ///< aux pair that a bundle's step writes
    std::uint32_t input_lag = 0;          ///< bundles from loading an input to multiplying it
    std::uint32_t partial_lag = 0;        ///< bundles from loading a partial to feeding it
    std::uint32_t result_lag = 0;         ///< bundles from a result to its store
};

/// Straight code round a MatrixLoop that streams rows from the first input to the last result, so
/// that no more need be told of it than which rows it does; see exec/matrix_pass.h. Words are 8
/// bytes; the streams 0, 1, 2 are inputs, partials and results.
struct MatrixPass {
    /// An input word that is loaded by itself, at a main register plus `offset_bytes`.
    struct Direct {
        std::uint8_t base = 0;
        std::uint32_t offset_bytes = 0;
        std::uint32_t input = 0; ///< which word of the inputs that is
        bool operator==(const Direct&) const = default;
    };
    /// Words of two streams that one instruction outside the loop touches, counted from the
    /// addresses at the start; behind the loop four a pass are to be added.
    struct Meeting {
        std::uint8_t stream_a = 0;
        std::uint8_t stream_b = 0;
        bool behind = false;
        std::int32_t word_a = 0;
        std::int32_t word_b = 0;
        bool operator==(const Meeting&) const = default;
    };
    /// What an aux pair holds at the end: a word of the last row, or what it held before.
    struct Left {
        enum class Kind : std::uint8_t { Unchanged, Input, Partial, Result };
        Kind kind = Kind::Unchanged;
        std::uint8_t word = 0; ///< of the last row, 0 to 3
        bool operator==(const Left&) const = default;
    };

    bool half_partials = true;           ///< as in MatrixLoop
    bool reads_partials = true;          ///< else every row starts from zero, or the first as below
    bool row_in_front = false;           ///< a step row without inputs that lets partials in
    std::uint8_t addresses = 0;          ///< main pair with the three addresses
    std::uint32_t more_rows = 0;         ///< rows beside one a pass of the loop
    std::int32_t inputs_ahead = 0;       ///< words of input before the address at the start
    std::array<std::int32_t, 3> moved{}; ///< words that an address moves, beside four a pass
    std::array<std::int32_t, 3> at_loop{}; ///< words that it has moved where the loop begins
    std::vector<Direct> directs;
    std::vector<Meeting> meetings;
    std::array<Left, 4> left{}; ///< of $a0:1, $a2:3, $a4:5, $a6:7
    std::int32_t rpt = -1;      ///< index of an operation
    std::int32_t end = -1;      ///< index of the operation to go on at

    bool operator==(const MatrixPass&) const = default;
};

/// An rpt body of three bundles that multiply eight halves, found through a delta list, by one value
/// of another list and add the products of the pass before; see exec/sparse_loop.h.
struct SparseLoop {
    std::uint8_t x = 0;        ///< main register with the base of the halves
    std::uint8_t delta = 0;    ///< with the distance of the next ones
    std::uint8_t deltas = 0;   ///< with the address of further distances
    std::uint8_t values = 0;   ///< with the address of further values
    std::uint8_t value = 0;    ///< aux register
    std::uint8_t low = 0;      ///< aux pair that takes halves 0 to 3
    std::uint8_t high = 0;     ///< and 4 to 7; may be the same
    std::uint8_t products = 0; ///< aux quad; may be both pairs
};

/// How many registers of the weight store the operation loads.
[[nodiscard]] constexpr unsigned weight_registers(const MicroOperation& op) {
    switch (static_cast<Opcode>(op.code)) {
    case Opcode::ld64putcs:
        return 1;
    case Opcode::ld128putcs:
        return 2;
    default:
        return 0;
    }
}

struct DecodedProgram {
    static constexpr std::int32_t kOutside = std::numeric_limits<std::int32_t>::min();

    Address base = 0;
    /// The imm2 of a load of weights is how many of its like stand behind it, each for the registers
    /// that follow.
    std::vector<MicroOperation> operations;
    std::vector<Address> address_of; ///< of each operation
    std::vector<Position> positions; ///< of each operation
    std::vector<MainRegisters>
        main_registers;                  ///< of each operation, for the supervisor's dependencies
    std::vector<std::int32_t> first_of;  ///< for each word: index of its first operation
    std::vector<std::uint8_t> is_bundle; ///< for each word
    /// Of branches, exits, repeats and Continue. The imm2 of a branch to a constant address is how
    /// many operations on the target is, or kOutside.
    std::vector<Jump> jumps;
    std::vector<std::int32_t> jump_index; ///< of each operation: its first one in `jumps`
    /// What the first n instructions of the list count, each executed once, by n.
    std::vector<counts::InstructionCounts<std::int32_t>> sums;
    std::vector<MatrixLoop> matrix_loops;   ///< BodyEnd operations refer to them: imm - 1, or imm 0
    std::vector<MatrixPass> matrix_passes;  ///< Pass operations refer to them: imm - 1
    std::vector<SparseLoop> sparse_loops;   ///< BodyEnd operations refer to them: d - 1, or d 0
    std::vector<ShadowRule> shadow_rules;   ///< of each operation
    std::vector<AffineBody> affine_bodies;  ///< BodyEnd operations refer to them: imm2 - 1, or 0
    std::vector<CountedLoop> counted_loops; ///< brnzdec operations refer to them: c - 1, or c 0
    std::vector<Address> awaiting_loads;    ///< instructions that read what a WaitLoop waits for

    [[nodiscard]] std::uint32_t bytes() const {
        return static_cast<std::uint32_t>(first_of.size() * 4);
    }
    [[nodiscard]] bool holds(Address address) const {
        return address - base < bytes() && address % 4 == 0;
    }
    [[nodiscard]] std::int32_t index_of(Address address) const {
        return first_of[(address - base) / 4];
    }
    [[nodiscard]] bool unaligned_bundle(Address address) const {
        return address % 8 != 0 && is_bundle[(address - base) / 4] != 0;
    }
    [[nodiscard]] const Position& position_of(const MicroOperation& operation) const {
        return positions[static_cast<std::size_t>(&operation - operations.data())];
    }
    [[nodiscard]] std::size_t jump_of(const MicroOperation& operation) const {
        return static_cast<std::size_t>(
            jump_index[static_cast<std::size_t>(&operation - operations.data())]);
    }
    [[nodiscard]] Address address_of_operation(const MicroOperation& operation) const {
        return address_of[static_cast<std::size_t>(&operation - operations.data())];
    }
};

/// Whether branches of this form go to an address that the instruction says.
constexpr bool has_constant_target(Form form) {
    return form == Form::MsAddr19 || form == Form::MbAddr19 || form == Form::Addr19 ||
           form == Form::MdAddr20;
}

constexpr bool is_repeat(Opcode opcode) {
    return opcode == Opcode::rpt_r || opcode == Opcode::rpt_i;
}

/// Of a branch of such a form: whether it goes to an earlier place of its own code, so that a stretch
/// (engine.h) ends where it is taken.
constexpr bool goes_back(const MicroOperation& branch) {
    return branch.imm2 < 0 && branch.imm2 != DecodedProgram::kOutside;
}

/// Decodes the words of a code segment that starts at `base` for a machine: instructions that its
/// generation lacks are Invalid.
[[nodiscard]] DecodedProgram decode_program(std::span<const std::uint32_t> words, Address base,
                                            const Target& target);

} // namespace tessera::isa
