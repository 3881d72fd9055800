// SPDX-License-Identifier: MIT
#include "sim/cost/energy.h"

namespace tessera::cost {
namespace {

using spec::EnergySpec;

enum Kind : std::size_t {
    kStatic,
    kClock,
    kInstructions,
    kMemory,
    kMatrix,
    kVector,
    kExchange,
    kLinks,
    kStreamingMemory,
    kHost,
    kBarriers,
    kBoard
};

/// A coefficient with the range that models/spec/energy_spec.h tells, as parts of its default: one
/// that somebody sets is as uncertain.
struct Coefficient {
    Kind kind;
    double EnergySpec::*value;
    double joules; ///< of one of its units
    double low;
    double high;
    std::int64_t Activity::*amount; ///< null: it takes time
    std::int64_t each = 1;
};

constexpr double kPico = 1e-12;
constexpr double kMicro = 1e-6;
constexpr std::int64_t kBits = 8;

constexpr std::array kCoefficients{
    Coefficient{kStatic, &EnergySpec::static_w, 1, 8.0 / 12, 20.0 / 12, nullptr},
    Coefficient{kClock, &EnergySpec::clock_w_per_ghz, 1, 22.0 / 27, 30.0 / 27, nullptr},
    Coefficient{kInstructions, &EnergySpec::instruction_pj, kPico, 2.0 / 3, 5.0 / 3,
                &Activity::instructions},
    Coefficient{kMemory, &EnergySpec::memory_pj_per_byte, kPico, 0.9 / 1.2, 1.5 / 1.2,
                &Activity::memory_bytes},
    Coefficient{kMatrix, &EnergySpec::matrix_f8_mac_pj, kPico, 0.5 / 0.83, 1.2 / 0.83,
                &Activity::matrix_f8_macs},
    Coefficient{kMatrix, &EnergySpec::matrix_f16_mac_pj, kPico, 1.4 / 1.66, 1.9 / 1.66,
                &Activity::matrix_f16_macs},
    Coefficient{kMatrix, &EnergySpec::matrix_f32_mac_pj, kPico, 3.0 / 4, 6.0 / 4,
                &Activity::matrix_f32_macs},
    Coefficient{kVector, &EnergySpec::vector_f8_pj, kPico, 0.2 / 0.42, 0.7 / 0.42,
                &Activity::vector_f8},
    Coefficient{kVector, &EnergySpec::vector_f16_pj, kPico, 0.5 / 0.83, 1.4 / 0.83,
                &Activity::vector_f16},
    Coefficient{kVector, &EnergySpec::vector_f32_pj, kPico, 1.0 / 2, 4.0 / 2,
                &Activity::vector_f32},
    Coefficient{kExchange, &EnergySpec::exchange_pj_per_byte, kPico, 2.0 / 4, 8.0 / 4,
                &Activity::exchange_bytes},
    Coefficient{kLinks, &EnergySpec::link_pj_per_bit, kPico, 5.0 / 6, 8.0 / 6,
                &Activity::link_bytes, kBits},
    Coefficient{kStreamingMemory, &EnergySpec::streaming_pj_per_bit, kPico, 15.0 / 20, 25.0 / 20,
                &Activity::streaming_bytes, kBits},
    Coefficient{kHost, &EnergySpec::host_pj_per_bit, kPico, 5.0 / 6, 8.0 / 6, &Activity::host_bytes,
                kBits},
    Coefficient{kBarriers, &EnergySpec::barrier_uj, kMicro, 0.02 / 0.1, 0.5 / 0.1,
                &Activity::barriers},
    Coefficient{kBoard, &EnergySpec::board_w, 1, 200.0 / 275, 380.0 / 275, nullptr}};

/// How many of a coefficient's units: of those that take time, chip seconds, the clock's times GHz.
double units_of(const Coefficient& one, const Activity& activity, double seconds,
                const spec::MachineSpec& machine) {
    if (one.amount != nullptr) {
        return static_cast<double>(activity.*one.amount) * static_cast<double>(one.each);
    }
    if (one.kind == kBoard) {
        return seconds;
    }
    const double chip_seconds = seconds * static_cast<double>(machine.system.chips);
    return one.kind == kClock ? chip_seconds * 1e-9 * machine.chip.clock_hz : chip_seconds;
}

} // namespace

Energy energy_of(const Activity& activity, double seconds, const spec::MachineSpec& machine) {
    Energy out;
    for (const Coefficient& one : kCoefficients) {
        const double joules =
            machine.energy.*one.value * one.joules * units_of(one, activity, seconds, machine);
        out.joules.by_kind[one.kind] += joules;
        out.low_j += one.low * joules;
        out.high_j += one.high * joules;
    }
    return out;
}

} // namespace tessera::cost
