// SPDX-License-Identifier: MIT
// A store of all points of a sweep with results that nothing has run, for what becomes of a million
// points: `bench_synthetic_store SWEEP.json STORE`.
#include "base/config/paths.h"
#include "sim/result/result.h"
#include "sim/sweep/planner.h"
#include "sim/sweep/source.h"
#include "sim/sweep/store.h"

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

using namespace tessera;

namespace {

/// Of the size of a real result, with the paths of one.
nlohmann::json result_of(const sweep::PlannedPoint& point) {
    double cycles = 1e6;
    for (const sweep::Change& change : point.changes) {
        cycles *= std::sqrt(change.value.get<double>());
    }
    const auto whole = static_cast<std::int64_t>(cycles);
    nlohmann::json result{{"cycles", whole},
                          {"seconds", cycles / 1.85e9},
                          {"tflops", 1e15 / cycles},
                          {"fraction_of_peak", 1e5 / cycles},
                          {"sentence", "matmul 4096 x 4096 x 4096, f16 partials"}};
    result["digests"]["tile_cycles"] = std::to_string(whole);
    for (const char* phase : {"compute", "exchange", "stream", "sync"}) {
        result["phases"][phase] = whole / 4;
        for (const char* what : {"max", "mean", "min"}) {
            result["tiles"][std::string(phase) + "_cycles"][what] = cycles / 4.25;
        }
    }
    for (const char* part :
         {"compute", "control", "exchange", "exchange_overhead", "rearrangement", "reduction",
          "stream", "sync", "unequal_workers", "uneven_splits", "unused_tiles"}) {
        result["explanation"][part] = {{"cycles", cycles / 10.1}, {"percent", 9.900990099}};
    }
    return result;
}

int run(const std::string& file, const std::string& folder) {
    const config::ConfigPaths paths = config::default_config_paths();
    const sweep::Source source = sweep::read_source({file, {}, {}, {}}, paths);
    sweep::PointKeys keys(result::kModelVersion);
    sweep::Planner planner(source.sweep, source.document, paths, keys);
    sweep::StoreWriter store(folder);
    for (std::int64_t number = 0; number < planner.size(); ++number) {
        const sweep::PlannedPoint point = planner.at(number);
        if (point.is_excluded || !point.mistakes.empty()) {
            continue;
        }
        nlohmann::json changes = nlohmann::json::object();
        for (const sweep::Change& change : point.changes) {
            changes[change.path] = change.value;
        }
        const nlohmann::json line{{"key", point.key.text()},
                                  {"status", sweep::kOkStatus},
                                  {"machine", point.machine},
                                  {"workload", point.workload},
                                  {"mode", source.sweep.mode},
                                  {"model", result::kModelVersion},
                                  {"changes", std::move(changes)},
                                  {"contents", point.contents},
                                  {"host", {{"wall_s", 0.25}, {"peak_rss_bytes", 90'000'000}}},
                                  {"result", result_of(point)}};
        store.append_line(line.dump());
    }
    store.sync();
    std::printf("%lld points\n", static_cast<long long>(planner.size()));
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: bench_synthetic_store SWEEP.json STORE\n", stderr);
        return 2;
    }
    try {
        return run(argv[1], argv[2]);
    } catch (const std::exception& error) {
        std::fputs(error.what(), stderr);
        return 1;
    }
}
