// SPDX-License-Identifier: MIT
// 3x3 blur with a halo exchange in each iteration: whole iterations, and their phases apart.
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

const Timed kWholeBlur{.phases = {"all"}, .steps = {}};
constexpr std::int64_t kBlurs = 2;
/// Of a row's repeats: there and back (docs/evidence.md#stencil-parts).
constexpr std::int64_t kBlursOfRepeat = 2;

/// The image of the phase rows, which do not record it, and the grid that the words of their halos
/// say: parts of at most 116 x 18 pixels on all tiles of GC2 (docs/evidence.md#stencil-parts).
constexpr std::int64_t kWidth = 2200;
constexpr std::int64_t kHeight = 1122;
constexpr std::int64_t kColumns = 19;
constexpr std::int64_t kRows = 64;

struct Image {
    std::int64_t width = kWidth;
    std::int64_t height = kHeight;
};

/// True where the image is cut as that of the phase rows: on a chip with as many tiles.
bool has_grid(const Image& image, const RowMachine& machine) {
    return machine.spec.chip.tiles == kColumns * kRows && image.width >= kColumns &&
           image.height >= kRows;
}

/// Elsewhere images have the workload's own grid.
json blur(const ReferenceRow& row, const RowMachine& machine, const Image& image) {
    json workload = workload_of("stencil", {{"width", image.width},
                                            {"height", image.height},
                                            {"dtype", row.text("dtype")},
                                            {"iterations", kBlurs}});
    if (has_grid(image, machine)) {
        workload["grid_columns"] = kColumns;
        workload["grid_rows"] = kRows;
    }
    return workload;
}

/// Time of all of the row's repeats from that of two blurs, which are one of them.
Mapped iterations(const ReferenceRow& row, const RowMachine& machine) {
    const double repeats = static_cast<double>(needed(row, "iters"));
    const Image image{needed(row, "nx"), needed(row, "ny")};
    Measurement measurement =
        measure_time(row, machine, blur(row, machine, image), kWholeBlur,
                     static_cast<double>(kBlurs) / (static_cast<double>(kBlursOfRepeat) * repeats));
    measurement.timed += fmt::format(", from {} blurs, a repeat", kBlurs);
    if (has_grid(image, machine)) {
        assume(measurement, fmt::format("{} x {} parts", kColumns, kRows));
    }
    return measurement;
}

auto phase(Timed timed) {
    return [timed](const ReferenceRow& row, const RowMachine& machine) -> Mapped {
        const auto width = row.count("nx");
        const auto height = row.count("ny");
        const bool given = width && height;
        const Image image = given ? Image{*width, *height} : Image{};
        Measurement measurement = measure_time(row, machine, blur(row, machine, image), timed,
                                               static_cast<double>(kBlurs));
        if (!given) {
            assume(measurement, fmt::format("{} x {} pixels", kWidth, kHeight));
        }
        if (has_grid(image, machine)) {
            assume(measurement, fmt::format("{} x {} parts", kColumns, kRows));
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

} // namespace tessera::calibrate
