// SPDX-License-Identifier: MIT
// One tile's contexts and pipeline.
#pragma once

#include "base/units.h"

#include <algorithm>
#include <cstdint>

namespace tessera::spec {

/// What a region-0 data access inside the instruction fetch window does.
enum class FetchConflict { Error, Ignore };

struct TileSpec {
    std::int64_t workers = 6;
    Cycles pipeline_cycles = 6;
    Cycles unaligned_bundle_issues = 1;
    Bytes fetch_window_bytes = 64;
    Bytes worker_fetch_window_bytes = 16;
    FetchConflict fetch_conflict = FetchConflict::Error;
    Cycles phase_limit_cycles = 40'000'000'000;

    /// Issue slots of a round, one a cycle. A worker holds one; as the pipeline has so many stages,
    /// it cannot have its next turn sooner however few workers there are.
    [[nodiscard]] Cycles round_cycles() const { return std::max(workers, pipeline_cycles); }

    template <class Description> static void describe(Description& d) {
        d.field("workers", &TileSpec::workers)
            .unit("workers")
            .range(1, 8)
            .says("worker contexts; each holds a slot of the round, which has as many as there are "
                  "workers and at least tile.pipeline_cycles")
            .from("docs/evidence.md#tile")
            .used_by({"tile code"});
        d.field("pipeline_cycles", &TileSpec::pipeline_cycles)
            .unit("cycles")
            .range(1, 64)
            .says("pipeline depth, which launch, branch, dependency and exit cost; a round has at "
                  "least as many slots")
            .from("docs/evidence.md#tile")
            .used_by({"tile code"});
        d.field("unaligned_bundle_issues", &TileSpec::unaligned_bundle_issues)
            .unit("issues")
            .range(0, 16)
            .says("extra worker issues of a branch taken to a bundle at an address of 4 modulo 8")
            .from("docs/evidence.md#tile")
            .used_by({"tile code"});
        d.field("fetch_window_bytes", &TileSpec::fetch_window_bytes)
            .unit("B")
            .range(4, 1024)
            .says("how far a supervisor and an exchange row are fetched ahead; data must not "
                  "stand in a region-0 element of these bytes")
            .from("docs/evidence.md#memory-conflicts")
            .used_by({"tile code", "exchanges"});
        d.field("worker_fetch_window_bytes", &TileSpec::worker_fetch_window_bytes)
            .unit("B")
            .range(4, 1024)
            .says("how far a worker is fetched ahead")
            .from("docs/evidence.md#memory-conflicts")
            .used_by({"tile code"});
        d.field("fetch_conflict", &TileSpec::fetch_conflict,
                {{"error", FetchConflict::Error}, {"ignore", FetchConflict::Ignore}})
            .says("a data access in the region-0 element that instructions are fetched from")
            .from("docs/evidence.md#memory-conflicts")
            .used_by({"tile code"});
        d.field("phase_limit_cycles", &TileSpec::phase_limit_cycles)
            .unit("cycles")
            .range(1'000'000, 1'000'000'000'000'000) // phases that end take tens of thousands
            .says(
                "a compute phase that lasts longer is taken for an endless loop and stops the run")
            .from("docs/evidence.md#tile")
            .used_by({"tile code"});
    }
};

} // namespace tessera::spec
