// SPDX-License-Identifier: MIT
#include "sim/cost/activity.h"

namespace tessera::cost {
namespace {

using counts::Group;

/// One of the numbers of an activity, and how much of it a count of a kind is.
struct Share {
    std::int64_t Activity::*value;
    std::int64_t each;
};

/// Multiply-accumulates of a step: eight units a set, of which each takes eight FP8, four FP16 or one
/// FP32 number. Source: docs/evidence.md#matrix-unit
constexpr std::array<Share, counts::kMatrixSteps.size()> kMatrixSteps{{
    {&Activity::matrix_f16_macs, 64}, // f16v4hihov4
    {&Activity::matrix_f16_macs, 32}, // f16v4siso
    {&Activity::matrix_f16_macs, 32}, // f16v4hiho
    {&Activity::matrix_f16_macs, 32}, // f16v4siho
    {&Activity::matrix_f32_macs, 8},  // f32siso
    {&Activity::matrix_f32_macs, 16}, // f32sisov2
    {&Activity::matrix_f8_macs, 128}, // f8v8hihov4
}};

constexpr std::array<Share, counts::kVectorOperations.size()> kVectorOperations{{
    {&Activity::vector_f8, 2},  // f8v2
    {&Activity::vector_f8, 4},  // f8v4
    {&Activity::vector_f16, 1}, // f16
    {&Activity::vector_f16, 2}, // f16v2
    {&Activity::vector_f16, 4}, // f16v4
    {&Activity::vector_f16, 8}, // f16v8
    {&Activity::vector_f32, 1}, // f32
    {&Activity::vector_f32, 2}, // f32v2
    {&Activity::vector_f32, 4}, // f32v4
}};

template <std::size_t Kinds>
void add_shares(Activity& out, const counts::Counts& counts, Group group,
                const std::array<Share, Kinds>& shares) {
    const auto kinds = counts.of(group);
    for (std::size_t kind = 0; kind < Kinds; ++kind) {
        out.*shares[kind].value += kinds[kind] * shares[kind].each;
    }
}

} // namespace

void Activity::add(const Activity& other) {
    for (const Amount& amount : kAmounts) {
        this->*amount.value += other.*amount.value;
    }
}

Activity activity_of(const counts::Counts& counts) {
    using counts::Stream;
    constexpr Bytes kWordBytes = 4;
    Activity out;
    out.instructions = counts.worker_bundles() + counts.sum(Group::WorkerFullBundles) +
                       counts.supervisor_instructions();
    out.memory_bytes = counts.sum(Group::MemoryBytes);
    add_shares(out, counts, Group::MatrixSteps, kMatrixSteps);
    add_shares(out, counts, Group::VectorOperations, kVectorOperations);
    out.exchange_bytes = kWordBytes * counts.at(Group::Words, counts::Word::Received);
    out.streaming_bytes = counts.at(Group::StreamBytes, Stream::MemoryRead) +
                          counts.at(Group::StreamBytes, Stream::MemoryWrite);
    out.host_bytes = counts.at(Group::StreamBytes, Stream::HostRead) +
                     counts.at(Group::StreamBytes, Stream::HostWrite);
    out.barriers = counts.sum(Group::Barriers);
    return out;
}

} // namespace tessera::cost
