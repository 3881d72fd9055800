// SPDX-License-Identifier: MIT
// 3x3 blur with a halo exchange in each iteration: whole iterations, and their phases apart.
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

namespace tessera::sim::calibrate {
namespace {

using nlohmann::json;

const Timed kWholeBlur{.phases = {"all"}, .steps = {}};
/// Of the phase rows, whose size is not recorded: parts of 126 x 8 pixels, which have the words of
/// halo and the pixels that the rows' cycles say (docs/evidence.md#halo-copies).
constexpr std::int64_t kPartWidth = 126;
constexpr std::int64_t kPartHeight = 8;
constexpr std::int64_t kIterations = 2;

json blur(const ReferenceRow& row, std::int64_t width, std::int64_t height) {
    return workload_of("stencil", {{"width", width},
                                   {"height", height},
                                   {"dtype", row.text("dtype")},
                                   {"iterations", kIterations}});
}

/// Time of an iteration from that of all of the row's; the simulated ones are alike.
Mapped iterations(const ReferenceRow& row, const RowMachine& machine) {
    Measurement measurement =
        measure_time(row, machine, blur(row, needed(row, "nx"), needed(row, "ny")), kWholeBlur,
                     static_cast<double>(kIterations) / static_cast<double>(needed(row, "iters")));
    measurement.timed += fmt::format(", from {} iterations", kIterations);
    return measurement;
}

/// The parts on a grid of all tiles of the machine, as square as they go.
json parts(const ReferenceRow& row, std::int64_t tiles) {
    std::int64_t columns = 1;
    for (std::int64_t divisor = 2; divisor * divisor <= tiles; ++divisor) {
        columns = tiles % divisor == 0 ? divisor : columns;
    }
    json workload = blur(row, columns * kPartWidth, tiles / columns * kPartHeight);
    workload["grid_columns"] = columns;
    workload["grid_rows"] = tiles / columns;
    return workload;
}

auto phase(Timed timed) {
    return [timed](const ReferenceRow& row, const RowMachine& machine) -> Mapped {
        const auto width = row.count("nx");
        const auto height = row.count("ny");
        const bool given = width && height;
        Measurement measurement = measure_time(
            row, machine, given ? blur(row, *width, *height) : parts(row, machine.spec.chip.tiles),
            timed, static_cast<double>(kIterations));
        if (!given) {
            assume(measurement,
                   fmt::format("{} x {} pixels on each tile", kPartWidth, kPartHeight));
        }
        return measurement;
    };
}

/// The steps of an iteration: edges are copied, exchanged and copied, then the field is blurred.
constexpr StepsOf kHaloPre{.called = "halo pre",
                           .list = "compute_sets",
                           .role = program::Role::Rearrange,
                           .turn = 0,
                           .turns = 2};
constexpr StepsOf kHaloPost{.called = "halo post",
                            .list = "compute_sets",
                            .role = program::Role::Rearrange,
                            .turn = 1,
                            .turns = 2};
constexpr StepsOf kHaloExchange{
    .called = "halo exchange", .list = "exchanges", .role = program::Role::Bring};
constexpr StepsOf kBlur{.called = "blur", .list = "compute_sets", .role = program::Role::Work};

Timed steps(const StepsOf& of) {
    return {.phases = {}, .steps = {of}};
}

} // namespace

const std::vector<Rule>& stencil_rules() {
    static const std::vector<Rule> rules{
        {"stencil: sync",
         {{"workload", {"blur", "phase breakdown"}}, {"metric", {"sync:sync"}}},
         phase({.phases = {"sync"}, .steps = {}})},
        {"stencil: exchange",
         {{"workload", {"blur", "phase breakdown"}}, {"metric", {"halo:exchange"}}},
         phase(steps(kHaloExchange))},
        {"stencil: copies",
         {{"workload", {"blur", "phase breakdown"}}, {"metric", {"halo:pre"}}},
         phase(steps(kHaloPre))},
        {"stencil: copies",
         {{"workload", {"blur", "phase breakdown"}}, {"metric", {"halo:post"}}},
         phase(steps(kHaloPost))},
        {"stencil: compute",
         {{"workload", {"blur", "phase breakdown"}}, {"metric", {"compute:compute"}}},
         phase(steps(kBlur))},
        {"stencil: iterations",
         {{"workload", {"Gaussian blur", "iterations"}}, {"metric", {"time"}}},
         iterations},
    };
    return rules;
}

} // namespace tessera::sim::calibrate
