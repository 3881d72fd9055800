// SPDX-License-Identifier: MIT
// Rows of products, convolutions and vertices: which runs stand for them, and what is read there.
#include "kernels/dynamic/published/planner.h"
#include "kernels/published/dense_planner.h"
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;
using nlohmann::json;

namespace {

using Columns = std::vector<std::pair<std::string, std::string>>;

constexpr double kClock = 1.85e9;

/// The columns, with other cells in those that `others` names.
ReferenceRow with(const Columns& columns, const std::map<std::string, std::string>& others) {
    Columns changed;
    for (const auto& [name, cell] : columns) {
        const auto other = others.find(name);
        changed.emplace_back(name, other == others.end() ? cell : other->second);
    }
    for (const auto& [name, cell] : others) {
        const bool known =
            std::any_of(columns.begin(), columns.end(),
                        [&name = name](const auto& one) { return one.first == name; });
        if (!known) {
            changed.emplace_back(name, cell);
        }
    }
    return row_of(changed);
}

ReferenceRow dense_row(const std::map<std::string, std::string>& others = {}) {
    return with({{"machine", "Bow IPU x1 (1472 tiles, 1.85 GHz)"},
                 {"workload", "dense GEMM m=k"},
                 {"metric", "flop_rate"},
                 {"unit", "TFLOP/s"},
                 {"m", "1024"},
                 {"k", "512"},
                 {"n", "256"},
                 {"dtype", "FP16"}},
                others);
}

ReferenceRow sparse_row_of(const std::map<std::string, std::string>& others = {}) {
    return with({{"machine", "Bow"},
                 {"workload", "static SpMM FP16"},
                 {"metric", "flop_rate_nonzero"},
                 {"unit", "TFLOP/s"},
                 {"m", "1024"},
                 {"k", "512"},
                 {"n", "64"},
                 {"block", "4"},
                 {"density_inv", "8"},
                 {"dtype", "FP16"}},
                others);
}

ReferenceRow dynamic_row_of(const std::map<std::string, std::string>& others = {}) {
    return with({{"machine", "Bow"},
                 {"workload", "dynamic SpMM FP16"},
                 {"metric", "flop_rate_nonzero"},
                 {"unit", "TFLOP/s"},
                 {"m", "4096"},
                 {"k", "4096"},
                 {"n", "best"},
                 {"block", "1"},
                 {"density_inv", "16"},
                 {"dtype", "FP16"}},
                others);
}

std::vector<int> columns_of(const Measurement& measurement) {
    std::vector<int> columns;
    for (const auto& run : measurement.runs) {
        columns.push_back(run.workload.at("n").get<int>());
    }
    return columns;
}

ReferenceRow vertex_row(const std::map<std::string, std::string>& others = {}) {
    return with({{"machine", "Bow"},
                 {"workload", "one ConvPartial1x1 per tile, [N,16]x[16,16], f16 in/out/accumulate"},
                 {"metric", "cycles"},
                 {"unit", "cycles"},
                 {"rows", "48"}},
                others);
}

ReferenceRow convolution_row(const std::map<std::string, std::string>& others = {}) {
    return with({{"machine", "GC2 (1216 tiles, 1.6 GHz)"},
                 {"workload", "forward convolution FP16"},
                 {"metric", "flop_rate"},
                 {"unit", "TFLOP/s"},
                 {"filter", "1"},
                 {"in_size", "57"},
                 {"in_ch", "64"},
                 {"out_ch", "256"},
                 {"stride", "2"},
                 {"groups", "1"},
                 {"batch", "3"},
                 {"dtype", "FP16"}},
                others);
}

json matmul(int m, int k, int n, const char* dtype, const char* partials, const char* plan) {
    return {{"schema_version", 1}, {"kind", "matmul"},     {"m", m},      {"k", k}, {"n", n},
            {"dtype", dtype},      {"partials", partials}, {"plan", plan}};
}

json run_of(double cycles) {
    return {{"cycles", cycles}, {"machine", {{"chip", {{"clock_hz", kClock}}}}}};
}

} // namespace

TEST_CASE("a dense row is a run of the published plan in timing mode, ours beside it") {
    const auto measurement = measured(dense_row());
    REQUIRE(measurement.runs.size() == 1);
    for (const ReferenceRow& row : {dense_row(), dense_row({{"n", "best"}}), sparse_row_of(),
                                    vertex_row(), convolution_row(), dynamic_row_of(),
                                    sparse_row_of({{"workload", "static SpMM FP16 vs dense FP16"},
                                                   {"metric", "speedup_vs_dense"},
                                                   {"unit", "x"}})}) {
        CHECK(measured(row).timed == "all");
    }
    const auto& run = measurement.runs[0];
    CHECK(run.machine == "bow");
    CHECK(run.mode == "timing");
    CHECK(run.workload == matmul(1024, 512, 256, "f16", "f16", "published"));
    REQUIRE(measurement.ours.size() == 1);
    CHECK(measurement.ours[0].workload == matmul(1024, 512, 256, "f16", "f16", "fastest"));
    CHECK(measurement.ratio_of_times);
    const double cycles = 14'374;
    CHECK(measurement.read({run_of(cycles)}) ==
          Approx(2.0 * 1024 * 512 * 256 * kClock / cycles / 1e12));
    const auto time = measured(dense_row({{"metric", "time"}, {"unit", "cycles"}}));
    CHECK_FALSE(time.ratio_of_times);
    CHECK(time.read({run_of(cycles)}) == cycles);
}

TEST_CASE("groups of products are told by element, block and columns") {
    const auto dense_group = [](const char* n, const char* dtype) {
        return measured(dense_row({{"n", n}, {"dtype", dtype}})).group;
    };
    CHECK(dense_group("256", "FP16") == "dense FP16: n <= 256");
    CHECK(dense_group("257", "FP16") == "dense FP16: n > 256");
    CHECK(dense_group("256", "FP32") == "dense FP32: n <= 256");
    CHECK(dense_group("257", "FP32") == "dense FP32: n > 256");
    const auto static_group = [](const char* n, const char* block) {
        return measured(sparse_row_of({{"n", n}, {"block", block}})).group;
    };
    CHECK(static_group("255", "1") == "static: element-wise, n < 256");
    CHECK(static_group("256", "1") == "static: element-wise, n >= 256");
    CHECK(static_group("16", "4") == "static: blocks, n <= 16");
    CHECK(static_group("17", "8") == "static: blocks, 16 < n < 64");
    CHECK(static_group("63", "8") == "static: blocks, 16 < n < 64");
    CHECK(static_group("64", "16") == "static: blocks, n >= 64");
}

TEST_CASE("partial results are of the elements' type unless the row says otherwise") {
    const auto workload = [](const char* dtype) {
        return measured(dense_row({{"dtype", dtype}})).runs[0].workload;
    };
    CHECK(workload("FP32")["partials"] == "f32");
    CHECK(workload("FP16.32")["dtype"] == "f16");
    CHECK(workload("FP16.32")["partials"] == "f32");
}

TEST_CASE("of a sparse row flops are those of its non-zeros") {
    const auto measurement = measured(sparse_row_of());
    const json& workload = measurement.runs.at(0).workload;
    CHECK(workload["kind"] == "spmm");
    CHECK(workload["mode"] == "static");
    CHECK(workload["block"] == 4);
    CHECK(workload["plan"] == "published");
    CHECK(workload["pattern"] == json{{"generator", "uniform"}, {"density", 1.0 / 8}, {"seed", 1}});
    CHECK(measurement.ours.at(0).workload["plan"] == "fastest");
    CHECK(measurement.read({run_of(1000)}) ==
          Approx(2.0 * 1024 * 512 * 64 / 8 * kClock / 1000 / 1e12));
    auto columns = Columns{{"machine", "Bow"},
                           {"workload", "static SpMM"},
                           {"metric", "flop_rate"},
                           {"unit", "TFLOP/s"},
                           {"m", "64"},
                           {"k", "64"},
                           {"n", "8"},
                           {"block", "1"},
                           {"density", "0.3"},
                           {"dtype", "FP16"}};
    CHECK(measured(row_of(columns)).runs[0].workload["pattern"]["density"] == 0.3);
}

TEST_CASE("a speed-up is cycles of the dense product over those of the sparse one") {
    const auto measurement = measured(sparse_row_of({{"workload", "static SpMM FP16 vs dense FP16"},
                                                     {"metric", "speedup_vs_dense"},
                                                     {"unit", "x"}}));
    CHECK(measurement.group == "static over dense: sign");
    REQUIRE(measurement.runs.size() == 2);
    CHECK(measurement.runs[0].called == "dense");
    CHECK(measurement.runs[1].called == "static");
    CHECK(measurement.read({run_of(300), run_of(200)}) == Approx(1.5));
    CHECK_FALSE(measurement.ratio_of_times);
    // the same runs as those of the dense and of the sparse row, so that they are made once
    CHECK(measurement.runs[0].key() ==
          measured(dense_row({{"machine", "Bow"}, {"n", "64"}})).runs[0].key());
    CHECK(measurement.runs[1].key() == measured(sparse_row_of()).runs[0].key());
    CHECK(measurement.ours[0].key() != measurement.runs[0].key());
    CHECK(reason(sparse_row_of({{"workload", "static SpMM FP16 vs dense FP16"},
                                {"metric", "outcome"},
                                {"value", "no_result"}}))
              .find("no micro-workload for") == 0);
}

TEST_CASE("a vertex row is that vertex on one tile with the row's field") {
    const auto measurement = measured(vertex_row());
    CHECK(measurement.group == "matrix-unit vertex");
    REQUIRE(measurement.runs.size() == 1);
    const auto& run = measurement.runs[0];
    CHECK(run.vertex == "conv_partial_1x1_half_half");
    CHECK(run.parameters == std::vector<std::string>{"M_field=48", "K=16", "N=16"});
    CHECK(run.workload.is_null());
    CHECK(measurement.ours.empty());
    CHECK(measurement.read({run_of(577)}) == 577);
    CHECK(run.key() != measured(vertex_row({{"rows", "64"}})).runs[0].key());
}

TEST_CASE("a convolution of one point is a product over the points of its output") {
    const auto measurement = measured(convolution_row());
    CHECK(measurement.group == "GC2: 1x1 convolutions");
    const int edge = 29; // every second of 57
    CHECK(measurement.runs[0].workload ==
          matmul(256, 64, 3 * edge * edge, "f16", "f32", "published"));
    CHECK(measurement.assumed == "FP32 partials");
    CHECK(measured(convolution_row({{"in_size", "56"}})).runs[0].workload["n"] == 3 * 28 * 28);
    CHECK(reason(convolution_row({{"filter", "3"}})) ==
          "a convolution with a filter of more than one point: no workload runs it");
    CHECK(reason(convolution_row({{"groups", "32"}})) ==
          "a convolution in groups of channels: no workload runs it");
    const auto mapped = measurement_of(convolution_row({{"filter", "3"}}), kMachines);
    CHECK(std::get<calibrate::NotCovered>(mapped).group == "GC2: 1x1 convolutions");
}

TEST_CASE("the best product of GC2 runs at the size that its row gives") {
    const auto measurement = measured(dense_row(
        {{"machine", "GC2"}, {"workload", "best square GEMM FP32 (poplin)"}, {"dtype", "FP32"}}));
    CHECK(measurement.group == "GC2: GEMM peaks");
    CHECK(measurement.runs[0].workload == matmul(1024, 512, 256, "f32", "f32", "published"));
}

TEST_CASE("what a row says was chosen is told with what we chose") {
    const auto row = row_of({{"workload", "stream triad"},
                             {"metric", "bandwidth"},
                             {"unit", "GB/s"},
                             {"assumed", "1.3 GHz"}});
    CHECK(measured(row).assumed == "5000000 elements, 1.3 GHz");
}

TEST_CASE("wrong cells of product rows are told before anything runs") {
    const auto says = [](const ReferenceRow& row, const char* what) {
        const std::string told = refusal(row);
        CAPTURE(told, what);
        CHECK(told.find(what) != std::string::npos);
    };
    says(dense_row({{"n", ""}}), "n: column 'n': expected a whole number");
    says(dense_row({{"m", "1.5"}}), "expected a whole number of at least 1");
    says(dense_row({{"m", "1e9"}, {"k", "1e9"}}), "got a product of m, k above 1000000000000000");
    says(dense_row({{"dtype", "BF16"}}), "got 'BF16', expected FP16, FP32 or FP16.32");
    says(dense_row({{"unit", "GB/s"}}), "got 'GB/s', expected one of GFLOP/s, TFLOP/s");
    says(dense_row({{"m", "big"}}), "got 'big', expected a number");
    says(sparse_row_of({{"block", ""}}), "column 'block': expected a whole number");
    says(sparse_row_of({{"density_inv", "0.5"}}), "got a density of 2, expected one above 0");
    says(sparse_row_of({{"density_inv", ""}}), "got a density of 0, expected one above 0");
    says(sparse_row_of({{"density_inv", "0"}}), "expected one above 0, at most 1");
    says(sparse_row_of({{"density_inv", "-4"}}), "expected one above 0, at most 1");
    says(sparse_row_of({{"density_inv", "1"}}), "accepted"); // all blocks
    says(sparse_row_of({{"workload", "static SpMM vs dense"}, {"metric", "speedup"}}),
         "got 'TFLOP/s', expected one of");
    says(vertex_row({{"rows", "few"}}), "got 'few', expected a number");
    says(vertex_row({{"unit", "TFLOP/s"}}), "expected one of cycles, ms, ns, s, us");
    says(convolution_row({{"stride", ""}}), "column 'stride': expected a whole number");
    says(convolution_row({{"in_size", "1e8"}}), "got a product of batch, in_size, in_size above");
}

TEST_CASE("a best rate is that of the run that is fastest, over the columns that were published") {
    const auto dense = measured(dense_row({{"n", "best"}}));
    CHECK(dense.group == "dense: best over n");
    CHECK(columns_of(dense) == std::vector<int>{4, 16, 64, 256, 1024, 4096, 16384});
    const auto eighth = measured(sparse_row_of({{"n", "best"}}));
    CHECK(eighth.group == "static: best over n");
    CHECK(columns_of(eighth) == std::vector<int>{4, 16, 64, 256, 1024});
    const auto sixteenth = measured(sparse_row_of({{"n", "best"}, {"density_inv", "16"}}));
    CHECK(columns_of(sixteenth) == std::vector<int>{4, 16, 64, 256, 1024, 4096});
    CHECK(eighth.ratio_of_times);
    std::vector<json> results;
    for (const int n : columns_of(eighth)) { // n = 64 at twice the rate of all others
        results.push_back(run_of(n == 64 ? 50.0 * n : 100.0 * n));
    }
    CHECK(eighth.read(results) == Approx(2.0 * 1024 * 512 / 8 * kClock / 50 / 1e12));
    CHECK(eighth.decides(results) == std::vector<std::size_t>{2});
    CHECK(std::all_of(eighth.runs.begin(), eighth.runs.end(),
                      [](const auto& run) { return run.may_not_fit; }));
    results[2] = nullptr; // what does not fit is no candidate
    results[4] = run_of(80.0 * 1024);
    CHECK(eighth.read(results) == Approx(2.0 * 1024 * 512 / 8 * kClock / 80 / 1e12));
    CHECK(eighth.decides(results) == std::vector<std::size_t>{4});
    results[1] = run_of(80.0 * 16); // of equal rates the first counts
    CHECK(eighth.decides(results) == std::vector<std::size_t>{1});
    const std::vector<json> none(results.size());
    CHECK_THROWS_WITH(eighth.read(none), "the product fits with no number of columns");
}

TEST_CASE("a run with a sparse pattern has another one with another seed, others draw none") {
    const auto sparse = measured(sparse_row_of()).runs[0];
    REQUIRE(sparse.draws());
    const auto other = sparse.with_seed(2);
    CHECK(other.workload["pattern"]["seed"] == 2);
    CHECK(other.key() != sparse.key());
    CHECK(other.with_seed(1).key() == sparse.key()); // the first seed is the row's own
    CHECK_FALSE(measured(dense_row()).runs[0].draws());
    CHECK_FALSE(measured(vertex_row()).runs[0].draws());
}

TEST_CASE("a dynamic best rate is over the columns whose plan fits at the first bound") {
    const auto measurement = measured(dynamic_row_of());
    CHECK(measurement.group == "dynamic: best over n");
    CHECK(measurement.ratio_of_times);
    CHECK(measurement.ours.empty());
    // of 4096 x 4096 elements with density 1/16 a plan for 1024 columns needs twice the bound
    CHECK(columns_of(measurement) == std::vector<int>{16, 64, 256});
    const json& workload = measurement.runs[1].workload;
    CHECK(workload ==
          json{{"schema_version", 1},
               {"kind", "spmm"},
               {"mode", "dynamic"},
               {"m", 4096},
               {"k", 4096},
               {"n", 64},
               {"block", 1},
               {"dtype", "f16"},
               {"partials", "f32"},
               {"plan", "published"},
               {"excess", 0.3},
               {"pattern", {{"generator", "uniform"}, {"density", 1.0 / 16}, {"seed", 1}}}});
    CHECK(measurement.runs[1].called == "n = 64");
    CHECK(measurement.runs[1].mode == "timing");
    // small matrices have plans for all powers of four that are tried
    const auto small = columns_of(measured(dynamic_row_of({{"m", "64"}, {"k", "64"}})));
    CHECK(small.front() == 16);
    CHECK(small.back() == 65536);
    CHECK(small.size() == 7);
    for (const auto& [dtype, type] :
         {std::pair{"FP16", ElementType::F16}, {"FP32", ElementType::F32}}) {
        for (const int block : {1, 4, 16}) {
            std::vector<int> fit;
            for (int n = 16; n <= 65536; n *= 4) {
                dynamic::Problem problem;
                problem.m = problem.k = 1024;
                problem.n = n;
                problem.block = block;
                problem.density = 1.0 / 4;
                problem.data = type;
                const auto plan =
                    dynamic::plan(problem, published::dense_machine(spec::MachineSpec{}));
                if (plan && plan->bound_factor == 1) {
                    fit.push_back(n);
                }
            }
            CAPTURE(dtype, block);
            CHECK(columns_of(measured(dynamic_row_of({{"m", "1024"},
                                                      {"k", "1024"},
                                                      {"block", std::to_string(block)},
                                                      {"density_inv", "4"},
                                                      {"dtype", dtype}}))) == fit);
        }
    }
    std::vector<json> results;
    for (const int n : columns_of(measurement)) { // n = 64 at twice the rate of all others
        results.push_back(run_of(n == 64 ? 50.0 * n : 100.0 * n));
    }
    CHECK(measurement.read(results) == Approx(2.0 * 4096 * 4096 / 16 * kClock / 50 / 1e12));
}

TEST_CASE("a dynamic speed-up is the best dynamic rate over the best of the others, on the same "
          "non-zeros") {
    struct Other {
        const char* name;
        const char* group;
        std::vector<int> columns;
        const char* kind;
    };
    for (const Other& other :
         {Other{"static", "dynamic over static", {16, 64, 256, 1024, 4096, 16384, 65536}, "spmm"},
          Other{"dense", "dynamic over dense", {4, 16, 64, 256, 1024, 4096, 16384}, "matmul"}}) {
        CAPTURE(other.name);
        const auto measurement = measured(
            dynamic_row_of({{"workload", std::string("dynamic SpMM FP16 vs ") + other.name},
                            {"metric", "speedup"},
                            {"unit", "x"}}));
        CHECK(measurement.group == other.group);
        CHECK(measurement.ratio_of_times);
        std::vector<int> columns{16, 64, 256};
        const std::size_t dynamic_runs = columns.size();
        columns.insert(columns.end(), other.columns.begin(), other.columns.end());
        REQUIRE(columns_of(measurement) == columns);
        const auto best_other = static_cast<std::size_t>(
            std::find(other.columns.begin(), other.columns.end(), 256) - other.columns.begin());
        std::vector<json> results;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const auto& run = measurement.runs[i];
            const bool is_dynamic = i < dynamic_runs;
            CHECK(run.called == std::string(is_dynamic ? "dynamic" : "other") +
                                    ", n = " + std::to_string(columns[i]));
            CHECK(run.workload["kind"] == (is_dynamic ? "spmm" : other.kind));
            CHECK(run.workload["partials"] == (is_dynamic ? "f32" : "f16"));
            CHECK(run.workload.value("mode", "none") == (is_dynamic             ? "dynamic"
                                                         : other.kind[0] == 's' ? "static"
                                                                                : "none"));
            // cycles a column: 300, at best 200; of the others 900, at best 500
            const double cycles =
                is_dynamic ? (columns[i] == 64 ? 200 : 300) : (columns[i] == 256 ? 500 : 900);
            results.push_back(run_of(cycles * columns[i]));
        }
        // a dense product does 16 times the work, of which a sixteenth is on the non-zeros
        CHECK(measurement.read(results) == Approx(500.0 / 200));
        CHECK(measurement.decides(results) ==
              std::vector<std::size_t>{1, dynamic_runs + best_other});
        // a number of columns that does not fit is no candidate on either side
        CHECK(measurement.runs.front().may_not_fit);
        CHECK(measurement.runs.back().may_not_fit);
        results[1] = nullptr;
        CHECK(measurement.read(results) == Approx(500.0 / 300));
        results[dynamic_runs + best_other] = nullptr;
        CHECK(measurement.read(results) == Approx(900.0 / 300));
        std::fill(results.begin() + static_cast<std::ptrdiff_t>(dynamic_runs), results.end(),
                  json{});
        CHECK_THROWS_WITH(measurement.read(results), "the product fits with no number of columns");
    }
}
