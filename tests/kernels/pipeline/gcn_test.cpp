// SPDX-License-Identifier: MIT
// The two layers of configs/workloads/gcn_2_layers.json against the same in binary64 from end to
// end.
#include "base/config/paths.h"
#include "base/float16.h"
#include "kernels/catalog/load.h"
#include "kernels/job/job.h"
#include "kernels/workload/values.h"
#include "tests/support/run_program.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>

namespace {

using namespace tessera;

struct Matrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<double> values;

    [[nodiscard]] double& at(std::int64_t row, std::int64_t column) {
        return values[static_cast<std::size_t>(row * columns + column)];
    }
};

Matrix matrix(std::int64_t rows, std::int64_t columns) {
    return {rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
}

std::vector<double> doubles(std::span<const std::byte> bytes) {
    std::vector<std::uint16_t> halves(bytes.size() / 2);
    std::memcpy(halves.data(), bytes.data(), bytes.size());
    std::vector<double> values(halves.size());
    std::transform(halves.begin(), halves.end(), values.begin(),
                   [](std::uint16_t half) { return double{f16_to_f32(half)}; });
    return values;
}

Matrix product(Matrix& a, Matrix& b) {
    Matrix c = matrix(a.rows, b.columns);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (std::int64_t k = 0; k < a.columns; ++k) {
            const double left = a.at(row, k);
            for (std::int64_t column = 0; column < b.columns; ++column) {
                c.at(row, column) += left * b.at(k, column);
            }
        }
    }
    return c;
}

Matrix product(const workload::SparseF16& a, Matrix& b) {
    Matrix c = matrix(a.rows, b.columns);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (auto at = static_cast<std::size_t>(a.row_start[static_cast<std::size_t>(row)]);
             at < static_cast<std::size_t>(a.row_start[static_cast<std::size_t>(row) + 1]); ++at) {
            for (std::int64_t column = 0; column < b.columns; ++column) {
                c.at(row, column) +=
                    double{f16_to_f32(a.values[at])} * b.at(a.block_column[at], column);
            }
        }
    }
    return c;
}

std::int64_t class_of(Matrix& scores, std::int64_t row) {
    const auto first = scores.values.begin() + row * scores.columns;
    return std::max_element(first, first + scores.columns) - first;
}

} // namespace

TEST_CASE("the classes of two layers agree with a reference of the whole pipeline",
          "[kernels][pipeline]") {
    const config::ConfigPaths paths{.roots = {test::source_path("configs")}};
    const auto loaded = catalog::load_workload("gcn_2_layers", paths);
    const auto& told = std::get<workload::PipelineWorkload>(loaded.workload.kind);
    const auto job = job::make_job(loaded.workload);
    const spec::MachineSpec machine;
    const auto& program = job->plan(machine);
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& operand : job->operands()) {
        writes[operand.array].assign(operand.bytes.begin(), operand.bytes.end());
    }
    workload::SpmmWorkload sparse;
    std::vector<Matrix> inputs;
    for (const auto& tensor : told.tensors) {
        if (tensor.is_sparse()) {
            sparse.n = 1;
            sparse.pattern = *tensor.pattern;
            continue;
        }
        Matrix input = matrix(tensor.shape[0], tensor.shape[1]);
        for (const auto& [array, bytes] : writes) { // all have different sizes
            if (bytes.size() == 2 * input.values.size()) {
                input.values = doubles(bytes);
            }
        }
        inputs.push_back(std::move(input));
    }
    const auto a = workload::make_sparse(sparse);
    REQUIRE(inputs.size() ==
            3); // in the order of their names: features, weights of layer 1, of layer 2
    Matrix gathered = product(a, inputs[0]);
    Matrix hidden = product(gathered, inputs[1]);
    std::transform(hidden.values.begin(), hidden.values.end(), hidden.values.begin(),
                   [](double value) { return std::max(value, 0.0); });
    gathered = product(a, hidden);
    Matrix expected = product(gathered, inputs[2]); // softmax keeps the order

    const auto outcome = test::run_program(machine, program, writes);
    Matrix got = matrix(expected.rows, expected.columns);
    got.values = doubles(outcome.arrays.at(job->results().front().array));
    REQUIRE(got.values.size() == expected.values.size());
    std::int64_t agreeing = 0;
    for (std::int64_t row = 0; row < got.rows; ++row) {
        agreeing += class_of(got, row) == class_of(expected, row) ? 1 : 0;
    }
    CAPTURE(agreeing, got.rows);
    CHECK(static_cast<double>(agreeing) >= 0.99 * static_cast<double>(got.rows));
}
