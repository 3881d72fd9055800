// SPDX-License-Identifier: MIT
#include "kernels/job/given_tensors.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/float16.h"
#include "base/float8.h"
#include "kernels/workload/element_value.h"
#include "kernels/workload/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace tessera::job {
namespace {

using workload::Operand;
using workload::PipelineStep;
using workload::PipelineTensor;
using workload::ValuesSpec;

/// A contraction for which whole numbers are made that are no larger than 4: up to that they are FP8
/// numbers in both formats.
constexpr std::int64_t kExactF8 = workload::kExactSum / (4 * 4);

void note_reads(const std::vector<PipelineStep>& steps, std::vector<std::string>& read) {
    for (const PipelineStep& step : steps) {
        for (const std::string& input : step.inputs) {
            if (std::find(read.begin(), read.end(), input) == read.end()) {
                read.push_back(input);
            }
        }
        visit_lists(step, [&](const char*, const auto& inside) { note_reads(inside, read); });
    }
}

/// Seeds of the tensors, which draw from streams of their own, in the order in which the steps read
/// them first: what a tensor is called changes no value.
std::vector<std::uint64_t> seeds_of(const workload::PipelineWorkload& workload) {
    constexpr std::uint64_t kApart = 1ULL << 32U;
    std::vector<std::string> read;
    note_reads(workload.steps, read);
    std::erase_if(read, [&](const std::string& name) {
        return std::none_of(workload.tensors.begin(), workload.tensors.end(),
                            [&](const PipelineTensor& tensor) { return tensor.name == name; });
    });
    std::vector<std::uint64_t> seeds;
    for (const PipelineTensor& tensor : workload.tensors) {
        const auto stream = std::find(read.begin(), read.end(), tensor.name) - read.begin() + 1;
        seeds.push_back(workload.seed + kApart * static_cast<std::uint64_t>(stream));
    }
    return seeds;
}

/// The pipeline of a product that stands alone.
template <class Kind> Source source_of_step(const char* family, const Kind& kind) {
    Source source;
    source.is_kind = true;
    PipelineStep& step = source.pipeline.steps.emplace_back();
    step.family = family;
    step.outputs = {"c"};
    step.options["partials"] = std::string(name_of(kind.partials));
    step.options["plan"] =
        std::string(kind.plan == workload::PlanKind::Published ? "published" : "fastest");
    step.options["accumulate"] = kind.accumulate != workload::Accumulate::None;
    return source;
}

void give(Source& source, PipelineTensor tensor, Draw draw) {
    source.pipeline.steps.front().inputs.push_back(tensor.name);
    source.pipeline.tensors.push_back(std::move(tensor));
    draw.is_exact = true;
    source.draws.push_back(std::move(draw));
}

/// Of i32 or u32.
std::vector<std::byte> whole_numbers_of(const family::TensorType& type, const Draw& draw) {
    if (draw.values.kind == ValuesSpec::Kind::File) {
        return workload::read_npy_bytes(draw.values, type.type, type.shape);
    }
    std::vector<std::byte> bytes;
    bytes.reserve(static_cast<std::size_t>(type.elements() * bytes_of(type.type)));
    if (draw.below > 0) {
        constexpr std::uint64_t kStream = 4; // those of operands are lower
        const workload::CounterRandom random(draw.seed, kStream);
        for (std::int64_t i = 0; i < type.elements(); ++i) {
            const auto number =
                random.below(static_cast<std::uint64_t>(draw.below), static_cast<std::uint64_t>(i));
            workload::append_element(type.type, static_cast<double>(number), bytes);
        }
        return bytes;
    }
    constexpr std::int64_t kSmall = 32; // of that contraction they are at most 8
    ValuesSpec whole = draw.values;
    whole.kind = ValuesSpec::Kind::Integer;
    const bool is_signed = facts_of(type.type).kind == ElementFacts::Kind::Signed;
    for (const float number :
         workload::make_dense_f32(1, type.elements(), whole, draw.seed, Operand::B, kSmall)
             .values) {
        workload::append_element(type.type, is_signed ? number : std::fabs(number), bytes);
    }
    return bytes;
}

/// In each row the whole numbers from 0 on, in an order of its own.
std::vector<std::byte> shuffled_rows(const family::TensorType& type, const Draw& draw) {
    constexpr std::uint64_t kStream = 6;
    const workload::CounterRandom random(draw.seed, kStream);
    const auto columns = static_cast<std::size_t>(type.shape.back());
    std::vector<std::size_t> row(columns);
    std::vector<std::byte> bytes;
    std::uint64_t drawn = 0;
    for (std::int64_t done = 0; done < type.elements(); done += type.shape.back()) {
        std::iota(row.begin(), row.end(), std::size_t{0});
        for (std::size_t left = columns; left > 1; --left) {
            std::swap(row[left - 1], row[random.below(left, drawn++)]);
        }
        for (const std::size_t number : row) {
            workload::append_element(type.type, static_cast<double>(number), bytes);
        }
    }
    return bytes;
}

/// A file may have the transposes of the matrices; generated numbers are the same either way.
template <class Element>
std::vector<Element> elements_of(const family::TensorType& type, const Draw& draw,
                                 std::int64_t contraction) {
    auto [all_rows, columns, leading] = workload::matrices_of(type.shape);
    if (draw.operand == Operand::Bias && type.shape.size() > 1) {
        leading = {all_rows}; // a row for each product
    }
    const std::int64_t groups = workload::matrices_in(leading);
    const std::int64_t rows = all_rows / groups;
    const bool turns = draw.is_transposed && draw.values.kind == ValuesSpec::Kind::File;
    auto given =
        workload::make_groups<Element>(leading, turns ? columns : rows, turns ? rows : columns,
                                       draw.values, draw.seed, draw.operand, contraction);
    if (!turns) {
        return std::move(given.values);
    }
    std::vector<Element> made;
    made.reserve(given.values.size());
    for (std::int64_t group = 0; group < groups; ++group) {
        const auto one = workload::transposed(workload::matrix_of(given, columns, group));
        made.insert(made.end(), one.values.begin(), one.values.end());
    }
    return made;
}

} // namespace

Source source_of(const workload::PipelineWorkload& workload) {
    Source source{workload, {}, false};
    const auto seeds = seeds_of(workload);
    for (std::size_t i = 0; i < workload.tensors.size(); ++i) {
        const PipelineTensor& tensor = workload.tensors[i];
        Draw& draw = source.draws.emplace_back();
        draw.values = tensor.values;
        draw.below = tensor.below;
        draw.seed = seeds[i];
        if (tensor.is_sparse()) {
            workload::SpmmWorkload spmm;
            if (!tensor.shape.empty()) {
                spmm.m = tensor.shape[0];
                spmm.k = tensor.shape[1];
            }
            spmm.n = 1;
            spmm.block = tensor.block;
            spmm.dtype = tensor.type;
            spmm.partials = workload::result_type(tensor.type);
            spmm.seed = seeds[i];
            spmm.values = tensor.values;
            spmm.pattern = tensor.first_pattern();
            const bool is_part = spmm.pattern.source == workload::PatternSpec::Source::Largest ||
                                 tensor.values.kind == ValuesSpec::Kind::File;
            if (is_part && spmm.pattern.source != workload::PatternSpec::Source::File) {
                spmm.whole_a = tensor.values;
            }
            draw.sparse = std::move(spmm);
            continue;
        }
        std::int64_t elements = 1;
        for (const std::int64_t size : tensor.shape) {
            elements *= size;
        }
        if (tensor.place != workload::Place::Tiles && !tensor.shape.empty()) {
            elements /= tensor.shape.front(); // steps read a row
        }
        const std::int64_t columns = tensor.shape.empty() ? 1 : tensor.shape.back();
        draw.contraction = std::max(
            {elements / columns, columns, bytes_of(tensor.type) == 1 ? kExactF8 : std::int64_t{0}});
    }
    return source;
}

Source source_of(const workload::MatmulWorkload& workload) {
    Source source = source_of_step("matmul", workload);
    auto& options = source.pipeline.steps.front().options;
    options["activation"] =
        std::string(workload::kActivations[static_cast<std::size_t>(workload.activation)]);
    options["unmirrored"] = workload.unmirrored;
    const bool accumulates = workload.accumulate != workload::Accumulate::None;
    std::int64_t contraction = workload.k;
    for (const bool is_more : {workload.bias, accumulates}) {
        contraction = is_more ? workload::contraction_with_one_more(contraction) : contraction;
    }
    contraction = std::max(contraction, bytes_of(workload.dtype) == 1 ? kExactF8 : std::int64_t{0});
    const auto give_dense = [&](const char* name, ElementType type, std::vector<std::int64_t> shape,
                                const ValuesSpec& values, Operand operand, bool is_transposed) {
        if (workload.groups > 1) {
            shape.insert(shape.begin(), workload.groups);
        }
        give(source, {.name = name, .shape = std::move(shape), .type = type},
             {.values = values,
              .seed = workload.seed,
              .operand = operand,
              .contraction = contraction,
              .is_transposed = is_transposed});
    };
    give_dense("a", workload.dtype, {workload.m, workload.k}, workload.of_a(), Operand::A,
               workload.transpose_a);
    give_dense("b", workload.dtype, {workload.k, workload.n}, workload.of_b(), Operand::B,
               workload.transpose_b);
    if (workload.bias) {
        give_dense("bias", workload::result_type(workload.dtype), {workload.n}, workload.of_bias(),
                   Operand::Bias, false);
    }
    if (accumulates) {
        give_dense("c", workload::result_type(workload.dtype), {workload.m, workload.n},
                   workload.of_c(), Operand::C, false);
    }
    return source;
}

Source source_of(const workload::SpmmWorkload& workload) {
    Source source = source_of_step("spmm", workload);
    give(source,
         {.name = "a",
          .type = workload.dtype,
          .values = workload.values,
          .pattern = workload.pattern,
          .block = workload.block,
          .is_dynamic = workload.is_dynamic,
          .capacity = workload.capacity,
          .excess = workload.excess},
         {.values = workload.values, .sparse = workload});
    const auto give_dense = [&](const char* name, const ValuesSpec& values, Operand operand,
                                bool is_transposed) {
        give(source, {.name = name, .shape = {0, workload.n}, .type = workload.dtype},
             {.values = values,
              .seed = workload.seed,
              .operand = operand,
              .is_transposed = is_transposed,
              .of_sparse = 0});
    };
    give_dense("b", workload.of_b(), Operand::B, workload.transpose_b);
    if (workload.accumulate != workload::Accumulate::None) {
        give_dense("c", workload.of_c(), Operand::C, false);
    }
    return source;
}

Source source_of(const workload::TopKWorkload& workload) {
    workload::PipelineWorkload pipeline;
    pipeline.seed = workload.seed;
    pipeline.tensors.push_back({.name = "x",
                                .shape = workload.shape(),
                                .type = workload.dtype,
                                .values = workload.values});
    PipelineStep& step = pipeline.steps.emplace_back();
    step.name = "top_k";
    step.family = "top_k";
    step.inputs = {"x"};
    step.outputs = {"values", "indices"};
    step.options = {{"k", static_cast<double>(workload.k)},
                    {"buckets", static_cast<double>(workload.buckets)},
                    {"kept", static_cast<double>(workload.kept)}};
    return source_of(pipeline);
}

GivenMatrix given_matrix(const Draw& draw) {
    const auto parts = [](auto matrix) {
        GivenMatrix given;
        given.values = bytes_of_all(matrix.values);
        given.pattern = std::make_shared<const workload::SparsePattern>(
            std::move(static_cast<workload::SparsePattern&>(matrix)));
        return given;
    };
    return draw.sparse->dtype == ElementType::F32 ? parts(workload::make_sparse_f32(*draw.sparse))
                                                  : parts(workload::make_sparse(*draw.sparse));
}

family::Value given_values(const family::TensorType& type, const Draw& draw,
                           std::int64_t contraction) {
    family::Value value;
    value.type = type;
    value.whole_numbers = draw.values.kind == ValuesSpec::Kind::Integer &&
                          (draw.is_exact || contraction <= workload::kExactSum);
    if (draw.values.kind == ValuesSpec::Kind::Constant) {
        std::vector<std::byte> one;
        workload::append_element(type.type, draw.values.constant, one);
        for (std::int64_t i = 0; i < type.elements(); ++i) {
            value.bytes.insert(value.bytes.end(), one.begin(), one.end());
        }
        return value;
    }
    if (draw.values.kind == ValuesSpec::Kind::Shuffled) {
        value.bytes = shuffled_rows(type, draw);
        return value;
    }
    if (!is_float(type.type)) {
        value.bytes = whole_numbers_of(type, draw);
        return value;
    }
    if (type.type == ElementType::F32) {
        value.bytes = bytes_of_all(elements_of<float>(type, draw, contraction));
        return value;
    }
    const auto halves = elements_of<std::uint16_t>(type, draw, contraction);
    if (bytes_of(type.type) > 1) {
        value.bytes = bytes_of_all(halves);
        return value;
    }
    value.bytes.reserve(halves.size());
    for (const std::uint16_t half : halves) {
        value.bytes.push_back(std::byte{f32_to_f8(f16_to_f32(half), type.type)});
    }
    return value;
}

} // namespace tessera::job
