// SPDX-License-Identifier: MIT
// Energy by kind of event. No run depends on these values: they weigh what a run has counted.
#pragma once

namespace tessera::spec {

struct EnergySpec {
    double static_w = 12;
    double clock_w_per_ghz = 27;
    double memory_pj_per_byte = 1.2;
    double instruction_pj = 3;
    double matrix_f8_mac_pj = 0.83;
    double matrix_f16_mac_pj = 1.66;
    double matrix_f32_mac_pj = 4;
    double vector_f8_pj = 0.42;
    double vector_f16_pj = 0.83;
    double vector_f32_pj = 2;
    double exchange_pj_per_byte = 4;
    double link_pj_per_bit = 6;
    double streaming_pj_per_bit = 20;
    double host_pj_per_bit = 6;
    double barrier_uj = 0.1;
    double board_w = 0;

    bool operator==(const EnergySpec&) const = default;

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/evidence.md#energy";
        d.field("static_w", &EnergySpec::static_w)
            .unit("W")
            .range(0, 1000)
            .says("of a chip without a clock; believed to lie in 8 to 20")
            .from(kSource);
        d.field("clock_w_per_ghz", &EnergySpec::clock_w_per_ghz)
            .unit("W/GHz")
            .range(0, 1000)
            .says("of a chip whose tiles do nothing, by its clock; believed to lie in 22 to 30")
            .from(kSource);
        d.field("memory_pj_per_byte", &EnergySpec::memory_pj_per_byte)
            .unit("pJ/B")
            .range(0, 1000)
            .says("of tile memory loaded or stored; believed to lie in 0.9 to 1.5")
            .from(kSource);
        d.field("instruction_pj", &EnergySpec::instruction_pj)
            .unit("pJ")
            .range(0, 1000)
            .says("fetch and issue of an instruction, of which a full bundle is two; believed to "
                  "lie in 2 to 5")
            .from(kSource);
        d.field("matrix_f8_mac_pj", &EnergySpec::matrix_f8_mac_pj)
            .unit("pJ")
            .range(0, 1000)
            .says(
                "multiply-accumulate of FP8 numbers in the matrix unit; believed to lie in 0.5 to "
                "1.2")
            .from(kSource);
        d.field("matrix_f16_mac_pj", &EnergySpec::matrix_f16_mac_pj)
            .unit("pJ")
            .range(0, 1000)
            .says("multiply-accumulate of FP16 numbers in the matrix unit, for both types of "
                  "partials; believed to lie in 1.4 to 1.9")
            .from(kSource);
        d.field("matrix_f32_mac_pj", &EnergySpec::matrix_f32_mac_pj)
            .unit("pJ")
            .range(0, 1000)
            .says("multiply-accumulate of FP32 numbers in the matrix unit; believed to lie in 3 to "
                  "6")
            .from(kSource);
        d.field("vector_f8_pj", &EnergySpec::vector_f8_pj)
            .unit("pJ")
            .range(0, 1000)
            .says("of an FP8 number in a vector instruction; believed to lie in 0.2 to 0.7")
            .from(kSource);
        d.field("vector_f16_pj", &EnergySpec::vector_f16_pj)
            .unit("pJ")
            .range(0, 1000)
            .says("of an FP16 number in a vector instruction; believed to lie in 0.5 to 1.4")
            .from(kSource);
        d.field("vector_f32_pj", &EnergySpec::vector_f32_pj)
            .unit("pJ")
            .range(0, 1000)
            .says("of an FP32 number in a vector instruction; believed to lie in 1 to 4")
            .from(kSource);
        d.field("exchange_pj_per_byte", &EnergySpec::exchange_pj_per_byte)
            .unit("pJ/B")
            .range(0, 1000)
            .says("of an exchange, received; believed to lie in 2 to 8")
            .from(kSource);
        d.field("link_pj_per_bit", &EnergySpec::link_pj_per_bit)
            .unit("pJ/bit")
            .range(0, 1000)
            .says(
                "of a message between chips, on each edge of its route; believed to lie in 5 to 8")
            .from(kSource);
        d.field("streaming_pj_per_bit", &EnergySpec::streaming_pj_per_bit)
            .unit("pJ/bit")
            .range(0, 1000)
            .says("of streaming memory, moved; believed to lie in 15 to 25")
            .from(kSource);
        d.field("host_pj_per_bit", &EnergySpec::host_pj_per_bit)
            .unit("pJ/bit")
            .range(0, 1000)
            .says("to the host or from it; believed to lie in 5 to 8")
            .from(kSource);
        d.field("barrier_uj", &EnergySpec::barrier_uj)
            .unit("uJ")
            .range(0, 1000)
            .says("barrier of a chip; believed to lie in 0.02 to 0.5")
            .from(kSource);
        d.field("board_w", &EnergySpec::board_w)
            .unit("W")
            .range(0, 100000)
            .says("of all that stands around the chips of a machine; believed to lie in 0.73 to "
                  "1.38 of its value")
            .from(kSource);
    }
};

} // namespace tessera::spec
