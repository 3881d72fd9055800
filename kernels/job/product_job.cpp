// SPDX-License-Identifier: MIT
#include "kernels/job/product_job.h"

#include "base/error.h"
#include "base/float16.h"
#include "base/float8.h"
#include "base/host_memory.h"
#include "kernels/exchange/known_schedules.h"
#include "kernels/job/number_json.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/sparse/spmm.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/reference.h"
#include "kernels/workload/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace tessera::job {
namespace {

using nlohmann::json;
using workload::Operand;

template <class Element> std::span<const std::byte> bytes_of(const std::vector<Element>& values) {
    return std::as_bytes(std::span(values));
}

std::string sentence_of(const workload::CheckResult& result) {
    if (result.passed) {
        return result.exact_required
                   ? fmt::format("exact: all {} elements equal the reference", result.elements)
                   : fmt::format(
                         "within tolerance: worst error {:.3g}, {:.1f} % of what is allowed",
                         result.max_error, 100 * result.max_error_over_tolerance);
    }
    return fmt::format(
        "WRONG: {} of {} elements, {} of them not finite; worst at row {} column {}: "
        "got {}, expected {}",
        result.failed_elements, result.elements, result.non_finite_elements, result.worst_row,
        result.worst_column, result.worst_got, result.worst_expected);
}

CheckOutcome outcome_of(const workload::CheckResult& result, std::int64_t roundings) {
    CheckOutcome outcome;
    outcome.passed = result.passed;
    outcome.text = sentence_of(result);
    outcome.json = {{"passed", result.passed},
                    {"exact_required", result.exact_required},
                    {"elements", result.elements},
                    {"failed_elements", result.failed_elements},
                    {"non_finite_elements", result.non_finite_elements},
                    {"tolerance", result.tolerance},
                    {"roundings", roundings},
                    {"max_error", number_or_text(result.max_error)},
                    {"max_error_over_tolerance", number_or_text(result.max_error_over_tolerance)},
                    {"worst_row", result.worst_row},
                    {"worst_column", result.worst_column},
                    {"sentence", outcome.text}};
    return outcome;
}

json json_of(const family::Cuts& cuts, const plan::PredictedCycles& predicted) {
    return {{"parts_m", cuts.parts_m},
            {"parts_k", cuts.parts_k},
            {"parts_n", cuts.parts_n},
            {"chunks", cuts.chunks},
            {"paired", cuts.paired},
            {"predicted_cycles",
             {{"compute", predicted.compute},
              {"exchange", predicted.exchange},
              {"sync", predicted.sync},
              {"reduction", predicted.reduction},
              {"total", predicted.total()}}}};
}

Estimate estimate_of(const family::Family& family, bool uses_matrix_unit,
                     const family::Estimate& estimate) {
    json chosen = json_of(estimate.cuts, estimate.predicted);
    chosen["bytes_estimated"] = estimate.bytes;
    return {std::string(family.name), estimate.predicted, uses_matrix_unit, std::move(chosen)};
}

/// Element-wise sparse products in FP16 are.
bool rounds_products(const workload::SparseF16& a) {
    return a.block == 1;
}
template <class Matrix> bool rounds_products(const Matrix& /*a*/) {
    return false;
}

/// What dense and sparse products share.
template <class Workload, class MatrixA, class Element = std::uint16_t>
class ProductJob : public Job {
public:
    explicit ProductJob(const Workload& workload) : workload_(workload) {}

    std::vector<HostArray> operands() const override {
        std::vector<HostArray> arrays{{"a", operand_bytes(a_.values, codes_a_)},
                                      {"b", operand_bytes(b_.values, codes_b_)}};
        if (!bias_.values.empty()) {
            arrays.push_back({"bias", bytes_of(bias_.values)});
        }
        return arrays;
    }
    std::string answer() const override { return "c"; }
    Bytes useful_bytes() const override { return 0; }
    CheckOutcome check(const ReadTensor& read, int threads) override {
        const auto c = read("c");
        std::vector<Element> values(c.size() / sizeof(Element));
        std::memcpy(values.data(), c.data(), values.size() * sizeof(Element));
        const std::int64_t roundings = divided_.division.roundings;
        const workload::CheckOptions options{.partials = workload_.partials,
                                             .roundings = roundings,
                                             .half_products = rounds_products(a_),
                                             .exact_required = is_exact(),
                                             .after = {},
                                             .threads = threads};
        return outcome_of(checked(values, a_, b_, options), roundings);
    }
    json plan_json() const override {
        const auto& [division, lowered] = divided_;
        json plan = json_of(division, division.predicted);
        plan["tiles_busy"] = division.tiles_busy;
        plan["bytes_by_buffer"] = lowered.bytes_by_buffer;
        plan["bytes_used"] = lowered.bytes_used;
        if (groups() > 1) {
            plan["groups_at_once"] = division.groups_at_once;
        }
        return plan;
    }

protected:
    /// Both operands are small whole numbers, so that no sum is rounded.
    [[nodiscard]] virtual bool is_exact() const = 0;
    [[nodiscard]] virtual std::int64_t groups() const { return 1; }
    [[nodiscard]] virtual workload::CheckResult
    checked(const std::vector<Element>& values, const MatrixA& a, const workload::Dense<Element>& b,
            const workload::CheckOptions& options) const {
        return workload::check(std::span<const Element>(values), a, b, options);
    }
    template <class Make> void make_left(const Make& make) {
        if (!has_left_) {
            a_ = make();
            codes_a_ = coded(a_.values);
            has_left_ = true;
        }
    }
    template <class Make> void make_right(const Make& make) {
        if (!has_right_) {
            b_ = make();
            codes_b_ = coded(b_.values);
            has_right_ = true;
        }
    }
    template <class Make> void make_bias(const Make& make) {
        if (bias_.values.empty()) {
            bias_ = make();
        }
    }
    const Workload& workload() const { return workload_; }
    const workload::Dense<Element>& bias() const { return bias_; }
    const MatrixA& a() const { return a_; }
    void set_divided(family::Divided divided) { divided_ = std::move(divided); }
    plan::KnownSchedules& known_schedules() { return known_schedules_; }
    const program::Program& program() const { return divided_.lowered.program; }

private:
    /// FP8 operands as the machine has them; their values become what the codes say. Of others empty.
    std::vector<std::uint8_t> coded(std::vector<Element>& values) const {
        std::vector<std::uint8_t> codes;
        if constexpr (std::is_same_v<Element, std::uint16_t>) {
            const ElementType type = workload_.dtype;
            if (tessera::bytes_of(type) == 1) {
                codes.reserve(values.size());
                for (std::uint16_t& value : values) {
                    codes.push_back(f32_to_f8(f16_to_f32(value), type));
                    value = f32_to_f16(f8_to_f32(codes.back(), type));
                }
            }
        }
        return codes;
    }
    static std::span<const std::byte> operand_bytes(const std::vector<Element>& values,
                                                    const std::vector<std::uint8_t>& codes) {
        return codes.empty() ? bytes_of(values) : bytes_of(codes);
    }

    Workload workload_;
    MatrixA a_;
    std::vector<std::uint8_t> codes_a_; ///< of FP8
    std::vector<std::uint8_t> codes_b_;
    workload::Dense<Element> b_;
    workload::Dense<Element> bias_; ///< one row; empty without
    bool has_left_ = false;
    bool has_right_ = false;
    family::Divided divided_;
    plan::KnownSchedules known_schedules_; ///< of all plans that it has made
};

/// Elements of the operands and of the result, of `bytes` each, and as the reference has them.
void need_memory(std::size_t bytes, double a, double b, double c, const std::string& what) {
    constexpr double kReferenceBytes = 12; // binary64, and magnitudes in binary32
    need_host_memory(static_cast<double>(bytes) * (a + b + c) + kReferenceBytes * b, what);
}

/// A contraction for which whole numbers are made that are no larger than 4.
constexpr std::int64_t kExactF8 = workload::kExactSum / (4 * 4);

/// Matrix `number` of several of so many rows, one below the other.
template <class Element>
workload::Dense<Element> group_of(const workload::Dense<Element>& all, std::int64_t rows,
                                  std::int64_t number) {
    const auto first = all.values.begin() + number * rows * all.columns;
    return {rows, all.columns, {first, first + rows * all.columns}};
}

/// A file's operand may be given as its transpose; generated numbers are the same either way.
template <class Element>
workload::Dense<Element> make_dense_of(std::int64_t rows, std::int64_t columns, bool transpose,
                                       const workload::ValuesSpec& values, std::uint64_t seed,
                                       Operand operand, std::int64_t contraction_length,
                                       std::int64_t groups = 1) {
    const auto make = [&](std::int64_t height, std::int64_t width) {
        if constexpr (std::is_same_v<Element, float>) {
            return workload::make_groups_f32(groups, height, width, values, seed, operand,
                                             contraction_length);
        } else {
            return workload::make_groups(groups, height, width, values, seed, operand,
                                         contraction_length);
        }
    };
    if (!transpose || values.kind != workload::ValuesSpec::Kind::File) {
        return make(rows, columns);
    }
    const auto given = make(columns, rows);
    workload::Dense<Element> made{groups * rows, columns, {}};
    made.values.reserve(given.values.size());
    for (std::int64_t group = 0; group < groups; ++group) {
        const auto one = workload::transposed(group_of(given, columns, group));
        made.values.insert(made.values.end(), one.values.begin(), one.values.end());
    }
    return made;
}

double number_of(std::uint16_t half) {
    return f16_to_f32(half);
}
double number_of(float element) {
    return element;
}

const char* activation_text(workload::Activation activation) {
    switch (activation) {
    case workload::Activation::Relu:
        return ", relu";
    case workload::Activation::Gelu:
        return ", gelu";
    case workload::Activation::None:
        break;
    }
    return "";
}

template <class Element>
class MatmulJob final
    : public ProductJob<workload::MatmulWorkload, workload::Dense<Element>, Element> {
    using Base = ProductJob<workload::MatmulWorkload, workload::Dense<Element>, Element>;
    using Base::bias;
    using Base::known_schedules;
    using Base::make_bias;
    using Base::make_left;
    using Base::make_right;
    using Base::program;
    using Base::set_divided;
    using Base::workload;

public:
    using Base::Base;

    /// What does not fit the machine is told before the host has its operands.
    const program::Program& plan(const spec::MachineSpec& machine, Operands operands) override {
        const auto& given = workload();
        set_divided(matmul::choose(machine, given, known_schedules()));
        if (operands == Operands::None) {
            return program();
        }
        const auto m = static_cast<double>(given.groups) * static_cast<double>(given.m);
        const auto k = static_cast<double>(given.k);
        const auto n = static_cast<double>(given.n);
        need_memory(sizeof(Element), m * k, static_cast<double>(given.groups) * k * n, m * n,
                    sentence());
        make_operands();
        return program();
    }
    std::optional<Estimate> estimate(const spec::MachineSpec& machine) override {
        return estimate_of(matmul::family(), true, matmul::choose_by_estimate(machine, workload()));
    }
    void share(Operands operands) override {
        if (operands == Operands::Made) {
            make_operands();
        }
    }
    bool is_exact() const override {
        using Kind = workload::ValuesSpec::Kind;
        const auto& given = workload();
        return given.of_a().kind == Kind::Integer && given.of_b().kind == Kind::Integer &&
               (!given.bias || given.of_bias().kind == Kind::Integer) &&
               given.activation != workload::Activation::Gelu;
    }
    std::int64_t groups() const override { return workload().groups; }
    workload::CheckResult checked(const std::vector<Element>& values,
                                  const workload::Dense<Element>& a,
                                  const workload::Dense<Element>& b,
                                  const workload::CheckOptions& options) const override {
        const auto& given = workload();
        if (given.groups == 1) {
            workload::CheckOptions of_one = options;
            of_one.after = after_product(0);
            return workload::check(std::span<const Element>(values), a, b, of_one);
        }
        const auto elements = static_cast<std::size_t>(given.m * given.n);
        workload::CheckResult all;
        for (std::int64_t group = 0; group < given.groups; ++group) {
            workload::CheckOptions of_group = options;
            of_group.after = after_product(group);
            const std::span<const Element> result(values);
            const auto one = workload::check(
                result.subspan(static_cast<std::size_t>(group) * elements, elements),
                group_of(a, given.m, group), group_of(b, given.k, group), of_group);
            workload::join(all, one, group * given.m);
        }
        return all;
    }
    std::optional<ProductWork> product() const override {
        return ProductWork{2 * workload().groups * workload().m * workload().k * workload().n,
                           std::nullopt, workload().partials, workload().dtype};
    }
    std::string sentence() const override {
        const auto& given = workload();
        return fmt::format("matmul {}{} x {} x {}, {}{}{}",
                           given.groups == 1 ? "" : fmt::format("{} times ", given.groups), given.m,
                           given.k, given.n,
                           given.dtype != ElementType::F16
                               ? std::string(name_of(given.dtype))
                               : fmt::format("{} partials", name_of(given.partials)),
                           given.bias ? ", bias" : "", activation_text(given.activation));
    }

private:
    void make_operands() {
        const auto& given = workload();
        // whole numbers up to 4 are FP8 numbers in both formats
        const std::int64_t products =
            std::max(given.bias ? workload::contraction_with_bias(given.k) : given.k,
                     tessera::bytes_of(given.dtype) == 1 ? kExactF8 : std::int64_t{0});
        make_left([&] {
            return make_dense_of<Element>(given.m, given.k, given.transpose_a, given.of_a(),
                                          given.seed, Operand::A, products, given.groups);
        });
        make_right([&] {
            return make_dense_of<Element>(given.k, given.n, given.transpose_b, given.of_b(),
                                          given.seed, Operand::B, products, given.groups);
        });
        if (given.bias) {
            make_bias([&] {
                return make_dense_of<Element>(1, given.n, false, given.of_bias(), given.seed,
                                              Operand::Bias, products, given.groups);
            });
        }
    }
    [[nodiscard]] workload::AfterProduct after_product(std::int64_t group) const {
        std::vector<double> elements;
        for (std::int64_t i = 0; !bias().values.empty() && i < workload().n; ++i) {
            elements.push_back(
                number_of(bias().values[static_cast<std::size_t>(group * workload().n + i)]));
        }
        return matmul::after_product(workload(), std::move(elements));
    }
};

template <class Element>
class SpmmJob final
    : public ProductJob<workload::SpmmWorkload, workload::Sparse<Element>, Element> {
    using Base = ProductJob<workload::SpmmWorkload, workload::Sparse<Element>, Element>;
    using Base::a;
    using Base::known_schedules;
    using Base::make_left;
    using Base::make_right;
    using Base::program;
    using Base::set_divided;
    using Base::workload;

public:
    using Base::Base;

    const program::Program& plan(const spec::MachineSpec& machine, Operands operands) override {
        const bool made = operands == Operands::Made;
        const bool from_file = made && workload().of_b().kind == workload::ValuesSpec::Kind::File;
        make_pattern();
        if (from_file) { // its mistakes come before a long plan
            make_dense_operand();
        }
        set_divided(spmm::choose(machine, workload(), a(), known_schedules()));
        if (made && !from_file) {
            const auto n = static_cast<double>(workload().n);
            need_memory(sizeof(Element), static_cast<double>(a().values.size()),
                        static_cast<double>(a().columns) * n, static_cast<double>(a().rows) * n,
                        sentence());
            make_dense_operand();
        }
        return program();
    }
    std::optional<Estimate> estimate(const spec::MachineSpec& machine) override {
        make_pattern();
        return estimate_of(spmm::family(), a().block > 1,
                           spmm::choose_by_estimate(machine, workload(), a()));
    }
    void share(Operands operands) override {
        make_pattern();
        if (operands == Operands::Made) {
            make_dense_operand();
        }
    }
    bool is_exact() const override {
        using Kind = workload::ValuesSpec::Kind;
        return workload().values.kind == Kind::Integer && workload().of_b().kind == Kind::Integer;
    }
    std::optional<ProductWork> product() const override {
        const std::int64_t flops = 2 * a().stored_elements() * workload().n;
        return ProductWork{flops, 2 * a().rows * a().columns * workload().n, workload().partials,
                           workload().dtype, a().block == 1 ? flops : 0};
    }
    std::vector<std::string> notes() const override {
        const auto why = workload::why_empty(a(), workload().pattern);
        return why ? std::vector{"a has no non-zeros: " + *why} : std::vector<std::string>{};
    }
    std::string sentence() const override {
        const std::string types = workload().dtype == ElementType::F32
                                      ? "f32"
                                      : fmt::format("{} partials", name_of(workload().partials));
        return fmt::format("spmm {} x {} x {}, {} stored elements in {} x {} blocks, {}", a().rows,
                           a().columns, workload().n, a().stored_elements(), a().block, a().block,
                           types);
    }

private:
    void make_pattern() {
        make_left([&] {
            if constexpr (std::is_same_v<Element, float>) {
                return workload::make_sparse_f32(workload());
            } else {
                return workload::make_sparse(workload());
            }
        });
    }
    void make_dense_operand() {
        const auto& given = workload();
        make_right([&] {
            return make_dense_of<Element>(
                a().columns, given.n, given.transpose_b, given.of_b(), given.seed, Operand::B,
                std::max<std::int64_t>(1, workload::contraction_length(a())));
        });
    }
};

} // namespace

std::unique_ptr<Job> make_job(const workload::MatmulWorkload& workload) {
    if (workload.dtype == ElementType::F32) {
        return std::make_unique<MatmulJob<float>>(workload);
    }
    return std::make_unique<MatmulJob<std::uint16_t>>(workload);
}

std::unique_ptr<Job> make_job(const workload::SpmmWorkload& workload) {
    if (workload.dtype == ElementType::F32) {
        return std::make_unique<SpmmJob<float>>(workload);
    }
    return std::make_unique<SpmmJob<std::uint16_t>>(workload);
}

} // namespace tessera::job
