// SPDX-License-Identifier: MIT
// Dense and static sparse products, and the vertex of the matrix unit that dense ones consist of.
#include "kernels/dynamic/published/planner.h"
#include "kernels/published/dense_planner.h"
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

const Timed kWholeProduct{.phases = {"all"}, .steps = {}};
constexpr const char* kPublished = "published";
constexpr const char* kFastest = "fastest";
constexpr std::int64_t kPatternSeed = 1;
/// Numbers of columns that the figures of best rates are over, at least: those whose own rates were
/// published.
constexpr std::array<std::int64_t, 7> kDenseColumns{4, 16, 64, 256, 1024, 4096, 16384};
constexpr std::array<std::int64_t, 5> kSparseColumns{4, 16, 64, 256, 1024};
/// Figures at a density of 1/16 go further: its best rates are above those at 1024 columns, where those
/// of other densities are not (docs/evidence.md#product-rows).
constexpr double kDensityOfMoreColumns = 1.0 / 16;
constexpr std::int64_t kMoreColumns = 4096;
constexpr double kPublishedExcess = 0.3; ///< of dynamic products: the library's default

ProductSize size_of(const ReferenceRow& row) {
    static_cast<void>(needed_product(row, {"m", "k"})); // its limit
    return {.m = needed(row, "m"), .k = needed(row, "k"), .n = needed(row, "n")};
}

/// Column `density`, or 1 / column `density_inv`.
double density_of(const ReferenceRow& row) {
    const char* const column = row.text("density").empty() ? "density_inv" : "density";
    const auto given = row.number(column);
    const double density =
        column == std::string("density") || !given ? given.value_or(0) : 1 / *given;
    if (!(density > 0 && density <= 1)) {
        throw row.error(
            column, fmt::format("got a density of {:g}, expected one above 0, at most 1", density));
    }
    return density;
}

Run sparse_run(const RowMachine& machine, const ProductSize& size, const ProductTypes& types,
               std::int64_t block, const char* plan) {
    json keys{
        {"mode", "static"},
        {"m", size.m},
        {"k", size.k},
        {"n", size.n},
        {"block", block},
        {"dtype", types.dtype},
        {"partials", types.partials},
        {"plan", plan},
        {"pattern", {{"generator", "uniform"}, {"density", size.density}, {"seed", kPatternSeed}}}};
    return {.machine = machine.name,
            .machine_sets = machine.sets,
            .workload = workload_of("spmm", std::move(keys)),
            .mode = "timing"};
}

/// What is sparse in a row.
struct SparseRow {
    ProductSize size;
    ProductTypes types;
    std::int64_t block = 1;
};

SparseRow sparse_row(const ReferenceRow& row) {
    SparseRow sparse{
        .size = size_of(row), .types = product_types(row), .block = needed(row, "block")};
    sparse.size.density = density_of(row);
    return sparse;
}

std::string dense_group(const ProductSize& size, const ProductTypes& types) {
    constexpr std::int64_t kSmall = 256;
    return fmt::format("dense {}: n {} {}", types.dtype == "f16" ? "FP16" : "FP32",
                       size.n <= kSmall ? "<=" : ">", kSmall);
}

std::string sparse_group(const SparseRow& sparse) {
    const std::int64_t n = sparse.size.n;
    if (sparse.block == 1) {
        return fmt::format("static: element-wise, n {} 256", n < 256 ? "<" : ">=");
    }
    return n <= 16  ? "static: blocks, n <= 16"
           : n < 64 ? "static: blocks, 16 < n < 64"
                    : "static: blocks, n >= 64";
}

Mapped dense(const ReferenceRow& row, const RowMachine& machine) {
    const ProductSize size = size_of(row);
    const ProductTypes types = product_types(row);
    Measurement measurement = measure_product(
        row, size, [&](const char* plan) { return dense_run(machine, size, types, plan); });
    measurement.group = dense_group(size, types);
    return measurement;
}

Mapped dense_peak(const ReferenceRow& row, const RowMachine& machine) {
    Mapped mapped = dense(row, machine);
    std::get<Measurement>(mapped).group.clear();
    return mapped;
}

Mapped sparse(const ReferenceRow& row, const RowMachine& machine) {
    const SparseRow of = sparse_row(row);
    Measurement measurement = measure_product(row, of.size, [&](const char* plan) {
        return sparse_run(machine, of.size, of.types, of.block, plan);
    });
    measurement.group = sparse_group(of);
    return measurement;
}

/// Cycles of the dense product over those of the sparse one.
Mapped sparse_over_dense(const ReferenceRow& row, const RowMachine& machine) {
    const SparseRow of = sparse_row(row);
    const double unit = unit_in(row, "1");
    const auto runs = [&](const char* plan) {
        std::vector<Run> both{dense_run(machine, of.size, of.types, plan),
                              sparse_run(machine, of.size, of.types, of.block, plan)};
        both[0].called = "dense";
        both[1].called = "static";
        return both;
    };
    Measurement measurement;
    measurement.timed = kWholeProduct.text();
    measurement.runs = runs(kPublished);
    measurement.ours = runs(kFastest);
    measurement.read = [unit](const std::vector<json>& results) {
        return cycles_of(results[0], kWholeProduct) / cycles_of(results[1], kWholeProduct) / unit;
    };
    return measurement;
}

/// Runs of one product with several numbers of columns, from the `first` of a measurement's on.
struct Candidates {
    std::size_t first = 0;
    std::vector<double> flops;
};

struct Best {
    double rate = 0; ///< in flop/s
    std::size_t run = 0;
};

/// The fastest of those that fit. @throws IoError where none does
Best best_of(const Candidates& candidates, const std::vector<json>& results) {
    Best best;
    for (std::size_t i = 0; i < candidates.flops.size(); ++i) {
        const json& result = results[candidates.first + i];
        if (result.is_null()) {
            continue;
        }
        const double rate =
            candidates.flops[i] * clock_of(result) / cycles_of(result, kWholeProduct);
        if (rate > best.rate) {
            best = {rate, candidates.first + i};
        }
    }
    if (best.rate == 0) {
        throw IoError("the product fits with no number of columns");
    }
    return best;
}

/// The best rate of runs with these numbers of columns; `run` makes one.
Measurement best_over(const ReferenceRow& row, const std::vector<std::int64_t>& columns,
                      ProductSize size, const std::function<Run(const ProductSize&)>& run) {
    Measurement measurement;
    Candidates candidates;
    for (const std::int64_t n : columns) {
        size.n = n;
        Run one = run(size);
        one.called = fmt::format("n = {}", n);
        one.may_not_fit = true;
        measurement.runs.push_back(std::move(one));
        candidates.flops.push_back(size.flops());
    }
    measurement.timed = kWholeProduct.text();
    measurement.ratio_of_times = true;
    measurement.read = [unit = unit_in(row, "flop/s"),
                        candidates](const std::vector<json>& results) {
        return best_of(candidates, results).rate / unit;
    };
    measurement.decides = [candidates = std::move(candidates)](const std::vector<json>& results) {
        return std::vector{best_of(candidates, results).run};
    };
    return measurement;
}

ProductSize size_without_columns(const ReferenceRow& row) {
    static_cast<void>(needed_product(row, {"m", "k"}));
    return {.m = needed(row, "m"), .k = needed(row, "k")};
}

Mapped dense_best(const ReferenceRow& row, const RowMachine& machine) {
    const ProductTypes types = product_types(row);
    const std::vector<std::int64_t> columns(kDenseColumns.begin(), kDenseColumns.end());
    return best_over(row, columns, size_without_columns(row), [&](const ProductSize& size) {
        return dense_run(machine, size, types, kPublished);
    });
}

std::vector<std::int64_t> sparse_columns(double density) {
    std::vector<std::int64_t> columns(kSparseColumns.begin(), kSparseColumns.end());
    if (density == kDensityOfMoreColumns) {
        columns.push_back(kMoreColumns);
    }
    return columns;
}

Mapped sparse_best(const ReferenceRow& row, const RowMachine& machine) {
    const ProductTypes types = product_types(row);
    const std::int64_t block = needed(row, "block");
    ProductSize size = size_without_columns(row);
    size.density = density_of(row);
    return best_over(row, sparse_columns(size.density), size, [&](const ProductSize& with_columns) {
        return sparse_run(machine, with_columns, types, block, kPublished);
    });
}

/// A product whose pattern comes at run time; partial results are FP32, as the library's are.
struct DynamicRow {
    ProductSize size; ///< without columns
    std::string dtype;
    std::int64_t block = 1;
};

DynamicRow dynamic_row(const ReferenceRow& row) {
    DynamicRow dynamic{size_without_columns(row), product_types(row).dtype, needed(row, "block")};
    dynamic.size.density = density_of(row);
    return dynamic;
}

/// Returns powers of four, which all rates of sparse products that were published by n have
/// (docs/evidence.md#product-rows). Small matrices were measured with more columns than large ones.
std::vector<std::int64_t> all_columns() {
    constexpr std::int64_t kFewest = 16;
    constexpr std::int64_t kMost = 65'536;
    constexpr std::int64_t kFactor = 4;
    std::vector<std::int64_t> columns;
    for (std::int64_t n = kFewest; n <= kMost; n *= kFactor) {
        columns.push_back(n);
    }
    return columns;
}

/// Returns those of all_columns() whose plan fits at the first bound of temporary memory.
std::vector<std::int64_t> dynamic_columns(const DynamicRow& of, const RowMachine& machine) {
    std::vector<std::int64_t> columns;
    for (const std::int64_t n : all_columns()) {
        const dynamic::Problem problem{
            .m = of.size.m,
            .k = of.size.k,
            .n = n,
            .block = of.block,
            .density = of.size.density,
            .data = of.dtype == "f32" ? ElementType::F32 : ElementType::F16,
            .partials = ElementType::F32,
            .excess = kPublishedExcess,
            .passes = {.input_gradient = true, .values_gradient = false}};
        const auto plan = dynamic::plan(problem, published::dense_machine(machine.spec));
        if (plan && plan->bound_factor == 1) {
            columns.push_back(n);
        }
    }
    return columns;
}

Run dynamic_run(const RowMachine& machine, const ProductSize& size, const DynamicRow& of) {
    Run run = sparse_run(machine, size, {of.dtype, "f32"}, of.block, kPublished);
    run.workload["mode"] = "dynamic";
    run.workload["excess"] = kPublishedExcess;
    return run;
}

Measurement dynamic_best(const ReferenceRow& row, const RowMachine& machine) {
    const DynamicRow of = dynamic_row(row);
    return best_over(row, dynamic_columns(of, machine), of.size,
                     [&](const ProductSize& size) { return dynamic_run(machine, size, of); });
}

/// The best rate of dynamic products over that of others, which `other` makes with so many columns.
Measurement dynamic_over(const ReferenceRow& row, const RowMachine& machine,
                         const std::vector<std::int64_t>& columns, double other_density,
                         const std::function<Run(const ProductSize&)>& other) {
    const DynamicRow of = dynamic_row(row);
    Measurement measurement;
    const auto add = [&](Candidates& candidates, const ProductSize& size, Run run,
                         const char* called) {
        run.called = fmt::format("{}, n = {}", called, size.n);
        run.may_not_fit = true;
        measurement.runs.push_back(std::move(run));
        candidates.flops.push_back(size.flops());
    };
    ProductSize size = of.size;
    Candidates dynamic;
    for (const std::int64_t n : dynamic_columns(of, machine)) {
        size.n = n;
        add(dynamic, size, dynamic_run(machine, size, of), "dynamic");
    }
    Candidates others{.first = measurement.runs.size(), .flops = {}};
    for (const std::int64_t n : columns) {
        size.n = n;
        ProductSize other_size = size;
        other_size.density = other_density;
        add(others, other_size, other(size), "other");
    }
    measurement.timed = kWholeProduct.text();
    measurement.ratio_of_times = true;
    // rates on the same non-zeros: those of a dense product do as much for them as its density says
    measurement.read = [unit = unit_in(row, "1"), dynamic, others,
                        density =
                            of.size.density / other_density](const std::vector<json>& results) {
        return best_of(dynamic, results).rate / (best_of(others, results).rate * density) / unit;
    };
    measurement.decides = [dynamic, others](const std::vector<json>& results) {
        return std::vector{best_of(dynamic, results).run, best_of(others, results).run};
    };
    return measurement;
}

Mapped dynamic_over_static(const ReferenceRow& row, const RowMachine& machine) {
    const DynamicRow of = dynamic_row(row);
    return dynamic_over(row, machine, all_columns(), of.size.density, [&](const ProductSize& size) {
        return sparse_run(machine, size, {of.dtype, of.dtype}, of.block, kPublished);
    });
}

Mapped dynamic_over_dense(const ReferenceRow& row, const RowMachine& machine) {
    const DynamicRow of = dynamic_row(row);
    return dynamic_over(row, machine, {kDenseColumns.begin(), kDenseColumns.end()}, 1,
                        [&](const ProductSize& size) {
                            return dense_run(machine, size, {of.dtype, of.dtype}, kPublished);
                        });
}

/// [N,16] x [16,16] on one tile: N is the length of the field.
Mapped matrix_unit_vertex(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t field = needed(row, "rows");
    Measurement measurement = measure_time(row, machine, nullptr, kWholeProduct);
    measurement.runs = {{.machine = machine.name,
                         .machine_sets = machine.sets,
                         .workload = nullptr,
                         .mode = {},
                         .vertex = "conv_partial_1x1_half_half",
                         .parameters = {fmt::format("M_field={}", field), "K=16", "N=16"}}};
    return measurement;
}

} // namespace

double ProductSize::flops() const {
    return 2 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n) * density;
}

ProductTypes product_types(const ReferenceRow& row) {
    const std::string named = row.text("dtype");
    if (named == "FP16") {
        return {"f16", "f16"};
    }
    if (named == "FP32") {
        return {"f32", "f32"};
    }
    if (named == "FP16.32") {
        return {"f16", "f32"};
    }
    throw row.error("dtype", fmt::format("got '{}', expected FP16, FP32 or FP16.32", named));
}

Run dense_run(const RowMachine& machine, const ProductSize& size, const ProductTypes& types,
              const char* plan) {
    json keys{{"m", size.m},
              {"k", size.k},
              {"n", size.n},
              {"dtype", types.dtype},
              {"partials", types.partials},
              {"plan", plan}};
    return {.machine = machine.name,
            .machine_sets = machine.sets,
            .workload = workload_of("matmul", std::move(keys)),
            .mode = "timing"};
}

Measurement measure_product(const ReferenceRow& row, const ProductSize& size,
                            const std::function<Run(const char* plan)>& run) {
    const bool of_time = is_time(row);
    Measurement measurement;
    measurement.timed = kWholeProduct.text();
    measurement.runs = {run(kPublished)};
    measurement.ours = {run(kFastest)};
    measurement.ratio_of_times = !of_time;
    if (of_time) {
        static_cast<void>(time_in_unit(row, 1, 1)); // a wrong unit is told before the run
        measurement.read = [row](const std::vector<json>& results) {
            return time_in_unit(row, cycles_of(results[0], kWholeProduct), clock_of(results[0]));
        };
        return measurement;
    }
    const double unit = unit_in(row, "flop/s");
    measurement.read = [unit, flops = size.flops()](const std::vector<json>& results) {
        return flops * clock_of(results[0]) / cycles_of(results[0], kWholeProduct) / unit;
    };
    return measurement;
}

const std::vector<Rule>& product_rules() {
    static const std::vector<Rule> rules{
        {"matrix-unit vertex",
         {{"workload", {"ConvPartial1x1", "[N,16]x[16,16]", "f16 in/out/accumulate"}},
          {"metric", {"cycles"}}},
         matrix_unit_vertex},
        {"static over dense: sign",
         {{"workload", {"static SpMM", "vs dense"}}, {"metric", {"speedup"}}},
         sparse_over_dense},
        {"dynamic over static",
         {{"workload", {"dynamic SpMM", "vs static"}}, {"metric", {"speedup"}}},
         dynamic_over_static},
        {"dynamic over dense",
         {{"workload", {"dynamic SpMM", "vs dense"}}, {"metric", {"speedup"}}},
         dynamic_over_dense},
        {"dynamic: best over n",
         {{"workload", {"dynamic SpMM"}}, {"n", {"best"}}, {"metric", {"flop_rate"}}},
         dynamic_best},
        {"static: best over n",
         {{"workload", {"static SpMM"}}, {"n", {"best"}}, {"metric", {"flop_rate"}}},
         sparse_best},
        {"dense: best over n",
         {{"workload", {"dense GEMM"}}, {"n", {"best"}}, {"metric", {"flop_rate"}}},
         dense_best},
        {"static: blocks, n >= 64",
         {{"workload", {"static SpMM"}}, {"metric", {"flop_rate"}}},
         sparse},
        {"static: blocks, n >= 64", {{"workload", {"static SpMM"}}, {"metric", {"time"}}}, sparse},
        {"dense FP16: n > 256", {{"workload", {"dense GEMM"}}, {"metric", {"flop_rate"}}}, dense},
        {"dense FP16: n > 256", {{"workload", {"dense GEMM"}}, {"metric", {"time"}}}, dense},
        {"GC2: GEMM peaks",
         {{"workload", {"best square GEMM"}}, {"machine", {"gc2"}}, {"metric", {"flop_rate"}}},
         dense_peak},
    };
    return rules;
}

} // namespace tessera::calibrate
