// SPDX-License-Identifier: MIT
// Runs a vertex file of configs/vertices as `tessera vertex` does.
#pragma once

#include "base/config/paths.h"
#include "models/spec/load.h"
#include "sim/vertex/check.h"
#include "sim/vertex/run.h"
#include "tests/support/source_path.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

struct PublishedPoint {
    std::string parameters; ///< "M_field=6 K=16 "
    vertex::Bench bench;
    vertex::PointResult result;
    std::vector<vertex::ArrayCheck> checks;
};

/// Every point of the file; `sets` are `name=value` of parameters.
inline std::vector<PublishedPoint> run_published(const std::string& name,
                                                 const std::vector<std::string>& sets = {}) {
    std::vector<std::string> overrides;
    overrides.reserve(sets.size());
    for (const auto& set : sets) {
        overrides.push_back("parameters." + set);
    }
    const auto loaded = vertex::load_vertex(
        tessera::test::source_path("configs/vertices/") + name + ".json", overrides);
    const auto machine =
        spec::load_machine(loaded.spec.machine, config::default_config_paths(), {}).spec;
    std::vector<PublishedPoint> points;
    for (const auto& point : vertex::points_of(loaded)) {
        PublishedPoint done;
        for (const auto& [parameter, value] : point.shown) {
            done.parameters += parameter + "=" + std::to_string(static_cast<long>(value)) + " ";
        }
        done.bench = vertex::lay_out(loaded, machine, point, {});
        done.result = vertex::run_bench(machine, done.bench, {});
        done.checks = vertex::check_arrays(done.bench, done.result, loaded.spec.tolerance);
        points.push_back(std::move(done));
    }
    return points;
}

/// Tile cycles of the single point that `sets` leave.
inline Cycles published_cycles(const std::string& name, const std::vector<std::string>& sets) {
    const auto points = run_published(name, sets);
    return points.size() == 1 ? points.front().result.tile_cycles : -1;
}

} // namespace tessera::test
