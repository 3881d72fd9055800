// SPDX-License-Identifier: MIT
// What a run did that takes energy, as few numbers: sums of counts, each of which one coefficient of
// the machine's `energy` weighs.
#pragma once

#include "base/units.h"
#include "models/counts/counts.h"

#include <array>
#include <cstdint>

namespace tessera::cost {

struct Activity {
    std::int64_t instructions = 0;
    Bytes memory_bytes = 0;
    std::int64_t matrix_f8_macs = 0;
    std::int64_t matrix_f16_macs = 0;
    std::int64_t matrix_f32_macs = 0;
    std::int64_t vector_f8 = 0;
    std::int64_t vector_f16 = 0;
    std::int64_t vector_f32 = 0;
    Bytes exchange_bytes = 0;
    Bytes link_bytes = 0;
    Bytes streaming_bytes = 0;
    Bytes host_bytes = 0;
    std::int64_t barriers = 0;

    void add(const Activity& other);
    friend bool operator==(const Activity&, const Activity&) = default;
};

/// A number of an activity, as results show it.
struct Amount {
    const char* key;
    const char* sentence;
    std::int64_t Activity::*value;
};

inline constexpr std::array kAmounts{
    Amount{"instructions", "of workers and supervisors; a full bundle is two",
           &Activity::instructions},
    Amount{"memory_bytes", "of tile memory that instructions load and store",
           &Activity::memory_bytes},
    Amount{"matrix_f8_macs", "multiply-accumulates of FP8 numbers in matrix units",
           &Activity::matrix_f8_macs},
    Amount{"matrix_f16_macs", "of FP16 numbers", &Activity::matrix_f16_macs},
    Amount{"matrix_f32_macs", "of FP32 numbers", &Activity::matrix_f32_macs},
    Amount{"vector_f8", "FP8 numbers that vector instructions make", &Activity::vector_f8},
    Amount{"vector_f16", "FP16 numbers", &Activity::vector_f16},
    Amount{"vector_f32", "FP32 numbers", &Activity::vector_f32},
    Amount{"exchange_bytes", "received by tiles in exchanges", &Activity::exchange_bytes},
    Amount{"link_bytes", "over links between chips, on each edge of a route, with what packets add",
           &Activity::link_bytes},
    Amount{"streaming_bytes", "to and from streaming memory", &Activity::streaming_bytes},
    Amount{"host_bytes", "to and from the host", &Activity::host_bytes},
    Amount{"barriers", "of chips", &Activity::barriers}};

/// The activity that counts tell; links are in no counts.
[[nodiscard]] Activity activity_of(const counts::Counts& counts);

} // namespace tessera::cost
