// SPDX-License-Identifier: MIT
// Dense and static sparse products by the published plans, which measured hardware ran, with our
// own plans beside them; one matrix-unit vertex; convolutions that are products. All in timing mode.
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::sim::calibrate {
namespace {

using nlohmann::json;

const Timed kWholeRun{.phases = {"all"}, .steps = {}};
constexpr std::int64_t kNarrow = 256; ///< columns up to which a dense product is judged apart
constexpr std::uint64_t kPatternSeed = 1;

Run run_of(const RowMachine& machine, json workload, const char* plan) {
    workload["plan"] = plan;
    return {machine.name, machine.sets, std::move(workload), "timing"};
}

double sync_of(const json& result) {
    return cycles_of(result, {.phases = {"sync"}, .steps = {}});
}

/// The rate of a product of `flops` by the published plan, and by ours.
Measurement measure_product(const ReferenceRow& row, const RowMachine& machine,
                            const json& workload, double flops) {
    const double unit = unit_in(row, "flop/s");
    const auto rate = [unit, flops](const json& result, double cycles) {
        return flops * clock_of(result) / cycles / unit;
    };
    Measurement measurement;
    measurement.timed = kWholeRun.text();
    measurement.runs = {run_of(machine, workload, "published")};
    measurement.read = [rate](const std::vector<json>& results) {
        return rate(results[0], cycles_of(results[0], kWholeRun));
    };
    measurement.read_without_sync = [rate](const std::vector<json>& results) {
        return rate(results[0], cycles_of(results[0], kWholeRun) - sync_of(results[0]));
    };
    measurement.ours = Ours{{run_of(machine, workload, "fastest")}, measurement.read};
    const double clock = machine.spec.chip.clock_hz;
    measurement.cycles_of_figure = [unit, flops, clock](double figure) {
        return flops * clock / (figure * unit);
    };
    return measurement;
}

/// 2 m k n
double flops_of(const ReferenceRow& row) {
    return 2 * static_cast<double>(needed_product(row, {"m", "k", "n"}));
}

const char* type_of(const ReferenceRow& row) {
    if (row.text("dtype") == "FP32") {
        return "f32";
    }
    if (row.text("dtype") != "FP16") {
        throw row.error("dtype", fmt::format("got '{}', expected FP16 or FP32", row.text("dtype")));
    }
    return "f16";
}

json dense_workload(const ReferenceRow& row) {
    // published_plans.md: FP16 curves were measured with partial results of their own type
    const char* type = type_of(row);
    return workload_of("matmul", {{"m", needed(row, "m")},
                                  {"k", needed(row, "k")},
                                  {"n", needed(row, "n")},
                                  {"dtype", type},
                                  {"partials", type}});
}

json static_workload(const ReferenceRow& row) {
    const auto inverse = static_cast<double>(needed(row, "density_inv"));
    return workload_of(
        "spmm", {{"mode", "static"},
                 {"m", needed(row, "m")},
                 {"k", needed(row, "k")},
                 {"n", needed(row, "n")},
                 {"block", needed(row, "block")},
                 {"dtype", type_of(row)},
                 {"partials", type_of(row)},
                 {"pattern",
                  {{"generator", "uniform"}, {"density", 1 / inverse}, {"seed", kPatternSeed}}}});
}

Mapped dense(const ReferenceRow& row, const RowMachine& machine) {
    Measurement measurement = measure_product(row, machine, dense_workload(row), flops_of(row));
    measurement.group = fmt::format("dense {}: n {} {}", row.text("dtype"),
                                    needed(row, "n") <= kNarrow ? "<=" : ">", kNarrow);
    return measurement;
}

Mapped static_sparse(const ReferenceRow& row, const RowMachine& machine) {
    Measurement measurement =
        measure_product(row, machine, static_workload(row),
                        flops_of(row) / static_cast<double>(needed(row, "density_inv")));
    const std::int64_t n = needed(row, "n");
    if (needed(row, "block") == 1) {
        measurement.group =
            n < kNarrow ? "static, element-wise: n < 256" : "static, element-wise: n >= 256";
    } else {
        constexpr std::int64_t kFew = 16;
        constexpr std::int64_t kMany = 64;
        if (n > kFew && n < kMany) {
            return NotCovered{"blocks with 17 to 63 columns, which no group has"};
        }
        measurement.group = n <= kFew ? "static, blocks: n <= 16" : "static, blocks: n >= 64";
    }
    assume(measurement, fmt::format("pattern of seed {}", kPatternSeed));
    return measurement;
}

/// Time of the dense product over that of the sparse one.
Mapped speedup(const ReferenceRow& row, const RowMachine& machine) {
    static_cast<void>(unit_in(row, "1"));
    Measurement measurement;
    measurement.timed = "all, dense over sparse";
    const auto runs = [&](const char* plan) {
        return std::vector<Run>{run_of(machine, dense_workload(row), plan),
                                run_of(machine, static_workload(row), plan)};
    };
    measurement.runs = runs("published");
    measurement.read = [](const std::vector<json>& results) {
        return cycles_of(results[0], kWholeRun) / cycles_of(results[1], kWholeRun);
    };
    measurement.read_without_sync = [](const std::vector<json>& results) {
        return (cycles_of(results[0], kWholeRun) - sync_of(results[0])) /
               (cycles_of(results[1], kWholeRun) - sync_of(results[1]));
    };
    measurement.ours = Ours{runs("fastest"), measurement.read};
    return measurement;
}

/// One tile that has all of a product of 16 x 16 weights runs one vertex: the step's cycles.
Mapped matrix_unit(const ReferenceRow& row, const RowMachine& machine) {
    constexpr std::int64_t kChannels = 16;
    constexpr StepsOf kMultiply{
        .called = "multiply", .list = "compute_sets", .role = program::Role::Work};
    RowMachine tile = machine;
    std::erase_if(tile.sets,
                  [](const std::string& set) { return set.rfind("chip.tiles=", 0) == 0; });
    tile.sets.insert(tile.sets.end(), {"chip.tiles=1", "exchange.pair_double=false"});
    Measurement measurement = measure_time(
        row, tile,
        workload_of("matmul", {{"m", kChannels}, {"k", kChannels}, {"n", needed(row, "rows")}}),
        {.phases = {}, .steps = {kMultiply}});
    measurement.runs[0].workload["plan"] = "published";
    measurement.runs[0].mode = "timing";
    if (row.text("unit") == "cycles") {
        measurement.cycles_of_figure = [](double figure) { return figure; };
    }
    return measurement;
}

/// Field points are columns, output channels rows, input channels what is summed over.
Mapped convolution(const ReferenceRow& row, const RowMachine& machine) {
    if (needed(row, "filter") != 1 || needed(row, "groups") != 1 || needed(row, "stride") != 1) {
        return NotCovered{"a convolution that is no product: filters above 1 x 1, strides, groups"};
    }
    const std::int64_t n = needed_product(row, {"batch", "in_size", "in_size"});
    const json workload = workload_of("matmul", {{"m", needed(row, "out_ch")},
                                                 {"k", needed(row, "in_ch")},
                                                 {"n", n},
                                                 {"dtype", type_of(row)},
                                                 {"partials", "f32"}});
    Measurement measurement =
        measure_product(row, machine, workload,
                        2 * static_cast<double>(needed_product(
                                row, {"out_ch", "in_ch", "batch", "in_size", "in_size"})));
    assume(measurement, "FP32 partials");
    return measurement;
}

} // namespace

const std::vector<Rule>& product_rules() {
    static const std::vector<Rule> rules{
        {"matrix-unit vertex",
         {{"workload", {"ConvPartial1x1 per tile"}}, {"metric", {"cycles"}}},
         matrix_unit},
        {"static over dense", {{"workload", {"static SpMM"}}, {"metric", {"speedup"}}}, speedup},
        {"static", {{"workload", {"static SpMM"}}, {"metric", {"flop"}}}, static_sparse},
        {"dense", {{"workload", {"dense GEMM"}}, {"metric", {"flop"}}}, dense},
        {"GC2: 1x1 convolutions",
         {{"workload", {"forward convolution"}}, {"metric", {"flop"}}},
         convolution},
    };
    return rules;
}

} // namespace tessera::sim::calibrate
