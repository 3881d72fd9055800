// SPDX-License-Identifier: MIT
// Keys that kinds of workloads share, each described once. `Kind` is the struct that is described.
#pragma once

#include "base/element_type.h"

#include <cstdint>

namespace tessera::workload {

constexpr std::int64_t kMostRepeats = 1'000'000;
/// The most executions of one step in all loops around it.
constexpr std::int64_t kMostRounds = 10'000'000;
constexpr std::int64_t kLargestSeed = 1LL << 53; ///< what every JSON reader keeps exactly
/// More tiles than any machine may have; planners compare with those of the machine at hand.
constexpr std::int64_t kMostTiles = 1'000'000;

template <class Description>
void describe_kind(Description& d, const char* kind, const char* source,
                   const char* says = "what is done") {
    d.fixed("schema_version", 1).required().says("version of this file's format").from(source);
    d.note("description").says("one sentence for lists of workloads").from(source);
    d.fixed("kind", kind).required().says(says).from(source);
}

template <class Kind, class Description>
void describe_tiles(Description& d, const char* source,
                    const char* says = "tiles that take part, 0 for all") {
    d.field("tiles", &Kind::tiles).unit("tiles").range(0, kMostTiles).says(says).from(source);
}

template <class Kind, class Description>
void describe_dtype(Description& d, const char* source, const char* says = "type of the elements") {
    d.field("dtype", &Kind::dtype, element_type_texts({ElementType::F16, ElementType::F32}))
        .says(says)
        .from(source);
}

template <class Kind, class Description>
void describe_repeats(Description& d, const char* source, const char* says = "how often") {
    d.field("repeats", &Kind::repeats).unit("times").range(1, kMostRepeats).says(says).from(source);
}

template <class Kind, class Description>
void describe_seed(Description& d, const char* source, const char* says) {
    d.field("seed", &Kind::seed).range(0, kLargestSeed).says(says).from(source);
}

} // namespace tessera::workload
