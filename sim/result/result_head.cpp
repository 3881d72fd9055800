// SPDX-License-Identifier: MIT
#include "sim/result/result_head.h"

#include "kernels/codelets/spmm_elementwise_cost.h"
#include "models/spec/matrix_unit.h"
#include "sim/result/cost_tables.h"
#include "sim/result/result.h"
#include "sim/result/what_if.h"

#include <functional>

namespace tessera::result {
namespace {

using enum Unit;
using nlohmann::json;

/// The most that the kernels of a product could do, if they did nothing but multiply.
struct Ceiling {
    const char* units = "matrix";
    double tflops = 0;
    double fraction = 0; ///< of it that was reached
};

/// Of a product, and what the matrix units could have done.
struct Speed {
    std::int64_t flops = 0;
    double tflops = 0;
    double peak_tflops = 0;
    std::int64_t macs_per_cycle = 0;
    Bytes memory_bytes_per_cycle = 0;
    Ceiling ceiling;
};

/// Element-wise products take the vector units, where each worker has an issue a round at most.
Ceiling ceiling_of(const job::ProductWork& work, const spec::MachineSpec& machine,
                   double peak_tflops, double tflops) {
    if (work.vector_flops == 0) {
        return {"matrix", peak_tflops, ratio(tflops, peak_tflops)};
    }
    const auto& tile = machine.tile;
    const double issues_per_cycle =
        static_cast<double>(tile.workers) / static_cast<double>(tile.round_cycles());
    const double vector_tflops = 2e-12 * codelets::elementwise_macs_per_issue(work.operands) *
                                 issues_per_cycle * static_cast<double>(machine.chip.tiles) *
                                 machine.chip.clock_hz;
    const auto flops = static_cast<double>(work.flops);
    const auto of_vector = static_cast<double>(work.vector_flops);
    const double least = of_vector / vector_tflops + ratio(flops - of_vector, peak_tflops);
    return {work.vector_flops == work.flops ? "vector" : "matrix and vector", flops / least,
            ratio(tflops * least, flops)};
}

std::optional<Speed> product_speed(const HeadFacts& facts) {
    const auto work = facts.job.product();
    if (!work) {
        return std::nullopt;
    }
    const auto& chip = facts.machine.chip;
    const spec::MatrixUnit unit = spec::matrix_unit(facts.machine);
    const std::int64_t macs = bytes_of(work->operands) == 1        ? unit.macs_f8_f16
                              : work->operands == ElementType::F32 ? unit.macs_f32_f32
                              : work->partials == ElementType::F32 ? unit.macs_f16_f32
                                                                   : unit.macs_f16_f16;
    const double tflops = ratio(1e-12 * static_cast<double>(work->flops), seconds(facts));
    const double peak = 2e-12 * static_cast<double>(macs * chip.tiles) * chip.clock_hz;
    return Speed{work->flops,
                 tflops,
                 peak,
                 macs,
                 unit.memory_bytes,
                 ceiling_of(*work, facts.machine, peak, tflops)};
}

json schema_of_object(const char* sentence) {
    return {{"type", "object"}, {"description", sentence}};
}

Table<Speed> matrix_unit_table() {
    return {{"macs_per_cycle", Count, "multiply-accumulates a tile cycle", &Speed::macs_per_cycle},
            {"memory_bytes_per_cycle", Byte, "that the memory port then moves a tile cycle, paced",
             &Speed::memory_bytes_per_cycle}};
}

std::vector<std::string> notes(const HeadFacts& facts) {
    std::vector<std::string> all = facts.job.notes();
    if (facts.program != nullptr) {
        const auto told = what_ifs(*facts.program);
        all.insert(all.end(), told.begin(), told.end());
    }
    return all;
}

Table<Ceiling> ceiling_table() {
    return {{"units",
             {{"enum", {"matrix", "vector", "matrix and vector"}},
              {"description", "that multiply: element-wise sparse products take the vector units"}},
             &Ceiling::units},
            {"tflops", Rate, "of these units, doing nothing but multiplications and sums",
             &Ceiling::tflops},
            {"fraction", Fraction, "tflops of the product over that", &Ceiling::fraction}};
}

} // namespace

double seconds(const HeadFacts& facts) {
    return static_cast<double>(facts.cycles) / facts.machine.chip.clock_hz;
}

Table<HeadFacts> head_table() {
    using Facts = HeadFacts;
    // of what multiplies
    const auto product = [](auto of) {
        return [of](const Facts& facts) {
            const auto speed = product_speed(facts);
            return speed ? std::optional(std::invoke(of, *speed)) : std::nullopt;
        };
    };
    return {{"schema_version",
             {{"const", kResultSchemaVersion}},
             [](const Facts&) { return kResultSchemaVersion; }},
            {"status",
             {{"const", "ok"}, {"description", "there is a result; check says if it is right"}},
             [](const Facts&) { return "ok"; }},
            {"sentence", Word, "the workload in words",
             [](const Facts& facts) { return facts.job.sentence(); }},
            {"notes",
             {{"type", "array"},
              {"items", {{"type", "string"}}},
              {"description",
               "what to know of the run before its figures are used, such as a product without "
               "non-zeros, or what the machine's instructions cannot say; mostly empty"}},
             notes},
            {"empty_matrices", Count,
             "sparse matrices without non-zeros; where there is one, the figures are of no product",
             [](const Facts& facts) { return facts.job.empty_matrices(); }},
            {"machine", schema_of_object("as resolved; see machine.schema.json"),
             [](const Facts& facts) { return facts.machine_resolved; }},
            {"unused_parameters", schema::unused_parameters_schema(),
             [](const Facts& facts) { return facts.unused_parameters; }},
            {"workload", schema_of_object("as resolved, with its name; see workload.schema.json"),
             [](const Facts& facts) {
                 json workload = facts.workload_resolved;
                 workload["name"] = facts.workload_name;
                 return workload;
             }},
            {"seconds", Second, "cycles over the clock", seconds},
            {"flops", Flop, "2 m k n, or 2 nnz n where A is sparse", product(&Speed::flops)},
            {"flops_dense_equivalent", Flop, "2 m k n of a sparse product",
             [](const Facts& facts) {
                 const auto work = facts.job.product();
                 return work ? work->flops_dense_equivalent : std::nullopt;
             }},
            {"tflops", Rate, "flops over seconds", product(&Speed::tflops)},
            {"peak_tflops", Rate, "of the matrix units for these input and partial types",
             product(&Speed::peak_tflops)},
            {"fraction_of_peak", Fraction, "tflops over peak_tflops",
             product([](const Speed& speed) { return ratio(speed.tflops, speed.peak_tflops); })},
            {"ceiling", "what the product's own kernels could do at most", ceiling_table(),
             product(&Speed::ceiling)},
            {"matrix_unit", "the most that a tile's matrix unit does for these types",
             matrix_unit_table(), product_speed},
            area_entry()};
}

} // namespace tessera::result
