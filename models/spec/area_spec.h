// SPDX-License-Identifier: MIT
// Area of the parts of a chip, to weigh designs against each other. No run depends on these values.
#pragma once

namespace tessera::spec {

struct AreaSpec {
    double memory_mm2_per_mib = 0.40;
    double worker_mm2 = 0.02;
    double matrix_mm2_per_mac = 0.0008;
    double exchange_mm2_per_lane_byte = 0.0125;
    double rest_mm2 = 100;

    bool operator==(const AreaSpec&) const = default;

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/evidence.md#area";
        d.field("memory_mm2_per_mib", &AreaSpec::memory_mm2_per_mib)
            .unit("mm2/MiB")
            .range(0, 100)
            .says("of tile memory")
            .from(kSource);
        d.field("worker_mm2", &AreaSpec::worker_mm2)
            .unit("mm2")
            .range(0, 100)
            .says("of a worker, with its share of the supervisor and of decoding")
            .from(kSource);
        d.field("matrix_mm2_per_mac", &AreaSpec::matrix_mm2_per_mac)
            .unit("mm2")
            .range(0, 100)
            .says("of an FP16 multiply-accumulate a cycle of the matrix unit")
            .from(kSource);
        d.field("exchange_mm2_per_lane_byte", &AreaSpec::exchange_mm2_per_lane_byte)
            .unit("mm2/B")
            .range(0, 100)
            .says("of a tile's exchange port, by the bytes that its lane moves a cycle")
            .from(kSource);
        d.field("rest_mm2", &AreaSpec::rest_mm2)
            .unit("mm2")
            .range(0, 100000)
            .says("of a chip: links, exchange blocks, clocks")
            .from(kSource);
    }
};

} // namespace tessera::spec
