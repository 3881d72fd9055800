// SPDX-License-Identifier: MIT
// What a run did, in numbers: one type from the instruction to the result. A count is a kind within
// a group; the tables below give both the keys under which results show them.
//
//   opcodes.def says what an instruction counts -> a tile sums it over a compute set
//     -> events::Work -> listeners::StepRecord and Account -> result.json, `counts`
//
// Law: counts follow from which instructions ran and which words moved, never from how the host found
// that out. They are equal with data and without, and for every engine.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>

namespace tessera::counts {

/// What an instruction is mainly about. A bundle is of its aux half's class, unless that is fnop.
enum class Class : std::uint8_t {
    Integer,
    Control,
    System,
    Memory,
    Logic,
    Float,
    Function,
    Convert,
    Matrix
};

/// Steps of the matrix unit, by what they multiply, what partials they take and what they leave.
enum class MatrixStep : std::uint8_t {
    F16v4Hihov4,
    F16v4Siso,
    F16v4Hiho,
    F16v4Siho,
    F32Siso,
    F32Sisov2,
    F8v8Hihov4
};

/// Operations of the vector units, by element type and width.
enum class VectorOperation : std::uint8_t {
    F8v2,
    F8v4,
    F16,
    F16v2,
    F16v4,
    F16v8,
    F32,
    F32v2,
    F32v4
};

enum class MemoryUse : std::uint8_t { Loaded, Stored };
enum class Word : std::uint8_t { Sent, Received };
enum class Stream : std::uint8_t { MemoryRead, MemoryWrite, HostRead, HostWrite };

/// The only kind of a group with one kind.
enum class Only : std::uint8_t { All };

/// Those of instructions come first (kInstructionCounts).
enum class Group : std::uint8_t {
    WorkerIssues,
    WorkerBundles,
    WorkerFullBundles,
    MatrixSteps,
    VectorOperations,
    MemoryBytes,
    SupervisorInstructions,
    Launches,
    Words,
    StreamBytes,
    Barriers
};

struct KindSpec {
    const char* key; ///< in results
    const char* sentence;
};

/// Which steps have the group's counts; a run has all.
enum class StepKind : std::uint8_t { ComputeSet, Exchange, StreamCopy };

struct GroupSpec {
    const char* key; ///< in results
    const char* sentence;
    StepKind of;
    std::span<const KindSpec> kinds;
};

inline constexpr std::array kClasses{
    KindSpec{"integer", "arithmetic, logic and moves of the main lane"},
    KindSpec{"control", "branches, calls, repeats and exits"},
    KindSpec{"system", "control registers, launches and syncs of workers, traps"},
    KindSpec{"memory", "loads and stores, of weights too"},
    KindSpec{"logic", "constants, logic, permutes and random bits of the aux lane, fnop alone too"},
    KindSpec{"float", "arithmetic and comparisons of floating-point numbers, accumulators"},
    KindSpec{"function", "division, roots, exponentials and the like"},
    KindSpec{"convert", "conversions between types of numbers"},
    KindSpec{"matrix", "steps of the matrix unit"}};

inline constexpr std::array kMatrixSteps{
    KindSpec{"f16v4hihov4", "FP16 in, FP16 partials, both sets of accumulators"},
    KindSpec{"f16v4siso", "FP16 in, FP32 partials"},
    KindSpec{"f16v4hiho", "FP16 in, FP16 partials, one set of accumulators"},
    KindSpec{"f16v4siho", "FP16 in, FP32 partials in, FP16 results"},
    KindSpec{"f32siso", "FP32 in, FP32 partials, one set of accumulators"},
    KindSpec{"f32sisov2", "FP32 in, FP32 partials, both sets of accumulators"},
    KindSpec{"f8v8hihov4", "FP8 in, FP16 partials, both sets of accumulators"}};

inline constexpr std::array kVectorOperations{
    KindSpec{"f8v2", "two FP8 numbers"},    KindSpec{"f8v4", "four FP8 numbers"},
    KindSpec{"f16", "one FP16 number"},     KindSpec{"f16v2", "two FP16 numbers"},
    KindSpec{"f16v4", "four FP16 numbers"}, KindSpec{"f16v8", "eight FP16 numbers"},
    KindSpec{"f32", "one FP32 number"},     KindSpec{"f32v2", "two FP32 numbers"},
    KindSpec{"f32v4", "four FP32 numbers"}};

inline constexpr std::array kMemoryUses{KindSpec{"loaded", "by instructions"},
                                        KindSpec{"stored", "by instructions"}};
inline constexpr std::array kWords{
    KindSpec{"sent", "a multicast counts once each time that it is sent"},
    KindSpec{"received", "each receiver counts"}};
inline constexpr std::array kStreams{KindSpec{"streaming_read", "from streaming memory into tiles"},
                                     KindSpec{"streaming_write", "from tiles to streaming memory"},
                                     KindSpec{"host_read", "from the host into tiles"},
                                     KindSpec{"host_write", "from tiles to the host"}};
inline constexpr std::array kOnly{KindSpec{"", ""}};

inline constexpr std::array kGroups{
    GroupSpec{"worker_issues", "issue slots of workers, by class of their instruction or bundle",
              StepKind::ComputeSet, kClasses},
    GroupSpec{"worker_bundles", "instructions and bundles executed by workers, by class",
              StepKind::ComputeSet, kClasses},
    GroupSpec{"worker_full_bundles", "of these the bundles of two instructions, fnop not counted",
              StepKind::ComputeSet, kOnly},
    GroupSpec{"matrix_steps", "steps of the matrix units, by type", StepKind::ComputeSet,
              kMatrixSteps},
    GroupSpec{"vector_operations", "instructions of the vector units, by element type and width",
              StepKind::ComputeSet, kVectorOperations},
    GroupSpec{"memory_bytes", "bytes of tile memory that instructions load and store",
              StepKind::ComputeSet, kMemoryUses},
    GroupSpec{"supervisor_instructions", "instructions executed by supervisors, by class",
              StepKind::ComputeSet, kClasses},
    GroupSpec{"launches", "of workers, up to a sync each", StepKind::ComputeSet, kOnly},
    GroupSpec{"words", "of 4 bytes, of exchanges", StepKind::Exchange, kWords},
    GroupSpec{"stream_bytes", "delivered by stream copies, by port and direction",
              StepKind::StreamCopy, kStreams},
    GroupSpec{"barriers", "of all tiles", StepKind::Exchange, kOnly}};

[[nodiscard]] constexpr const GroupSpec& spec_of(Group group) {
    return kGroups[static_cast<std::size_t>(group)];
}

/// Number of the group's first count.
[[nodiscard]] constexpr std::size_t first_of(Group group) {
    std::size_t first = 0;
    for (std::size_t before = 0; before < static_cast<std::size_t>(group); ++before) {
        first += kGroups[before].kinds.size();
    }
    return first;
}

template <class Kind> [[nodiscard]] constexpr std::size_t number_of(Group group, Kind kind) {
    return first_of(group) + static_cast<std::size_t>(kind);
}

inline constexpr std::size_t kCounts = first_of(Group::Barriers) + kOnly.size();
/// Those that follow from which instructions a context executes.
inline constexpr std::size_t kInstructionCounts = first_of(Group::SupervisorInstructions);

/// What instructions count, by number.
template <class Number> using InstructionCounts = std::array<Number, kInstructionCounts>;

class Counts {
public:
    template <class Kind> [[nodiscard]] std::int64_t& at(Group group, Kind kind) {
        return values_[number_of(group, kind)];
    }
    template <class Kind> [[nodiscard]] std::int64_t at(Group group, Kind kind) const {
        return values_[number_of(group, kind)];
    }
    [[nodiscard]] std::int64_t& at(Group group) { return at(group, Only::All); }
    /// By kind, in the order of the group's table.
    [[nodiscard]] std::span<const std::int64_t> of(Group group) const {
        return std::span(values_).subspan(first_of(group), spec_of(group).kinds.size());
    }
    /// Over all kinds of the group.
    [[nodiscard]] std::int64_t sum(Group group) const {
        const auto kinds = of(group);
        return std::accumulate(kinds.begin(), kinds.end(), std::int64_t{0});
    }
    [[nodiscard]] std::int64_t worker_issues() const { return sum(Group::WorkerIssues); }
    [[nodiscard]] std::int64_t worker_bundles() const { return sum(Group::WorkerBundles); }
    [[nodiscard]] std::int64_t supervisor_instructions() const {
        return sum(Group::SupervisorInstructions);
    }
    [[nodiscard]] std::int64_t matrix_steps() const { return sum(Group::MatrixSteps); }
    [[nodiscard]] std::int64_t launches() const { return sum(Group::Launches); }

    void add(const Counts& other) {
        for (std::size_t i = 0; i < kCounts; ++i) {
            values_[i] += other.values_[i];
        }
    }
    void add(const InstructionCounts<std::int64_t>& instructions) {
        for (std::size_t i = 0; i < kInstructionCounts; ++i) {
            values_[i] += instructions[i];
        }
    }
    /// Leaves `part` of `whole`, rounded down.
    void take_part(std::int64_t part, std::int64_t whole) {
        for (std::int64_t& value : values_) {
            value = value * part / whole;
        }
    }

    friend bool operator==(const Counts&, const Counts&) = default;

private:
    std::array<std::int64_t, kCounts> values_{};
};

/// What one execution of an instruction counts: a column of models/isa/opcodes.def. Its class may
/// give way to that of the other half of a bundle.
struct Instruction {
    Class kind = Class::Control;
    std::optional<MatrixStep> step = std::nullopt;
    std::optional<VectorOperation> operation = std::nullopt;
    std::uint8_t loaded_bytes = 0;
    std::uint8_t stored_bytes = 0;
};

[[nodiscard]] constexpr Instruction plain(Class kind) {
    return {.kind = kind};
}
[[nodiscard]] constexpr Instruction loads(std::uint8_t bytes) {
    return {.kind = Class::Memory, .loaded_bytes = bytes};
}
[[nodiscard]] constexpr Instruction stores(std::uint8_t bytes) {
    return {.kind = Class::Memory, .stored_bytes = bytes};
}
[[nodiscard]] constexpr Instruction moves(std::uint8_t loaded_bytes, std::uint8_t stored_bytes) {
    return {.kind = Class::Memory, .loaded_bytes = loaded_bytes, .stored_bytes = stored_bytes};
}
[[nodiscard]] constexpr Instruction vector(Class kind, VectorOperation operation) {
    return {.kind = kind, .operation = operation};
}
[[nodiscard]] constexpr Instruction matrix(MatrixStep step) {
    return {.kind = Class::Matrix, .step = step};
}

} // namespace tessera::counts
