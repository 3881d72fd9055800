// SPDX-License-Identifier: MIT
#include "kernels/catalog/operand_shapes.h"

#include "base/config/describe.h"
#include "kernels/workload/pattern_file.h"
#include "kernels/workload/shared_keys.h"
#include "kernels/workload/tensor_file.h"

#include <utility>

namespace tessera::catalog {

using config::Alternative;
using config::Describe;
using config::Shape;
using workload::Duplicates;
using workload::PatternSpec;
using workload::ValuesSpec;

ValuesSpec values_of(const std::string& text, std::string key) {
    ValuesSpec values;
    values.key = std::move(key);
    if (text == "integer") {
        values.kind = ValuesSpec::Kind::Integer;
    } else if (text == "shuffled") {
        values.kind = ValuesSpec::Kind::Shuffled;
    } else if (text != "uniform") {
        values.kind = ValuesSpec::Kind::File;
        values.path = text;
    }
    return values;
}

std::string values_text(const ValuesSpec& values) {
    switch (values.kind) {
    case ValuesSpec::Kind::Uniform:
        return "uniform";
    case ValuesSpec::Kind::Integer:
        return "integer";
    case ValuesSpec::Kind::Constant:
        return "constant";
    case ValuesSpec::Kind::Shuffled:
        return "shuffled";
    case ValuesSpec::Kind::File:
        break;
    }
    return workload::is_tensor_of_file(values.path) ? workload::matrix_place(values.path).file
                                                    : values.path;
}

namespace {

using Source = PatternSpec::Source;

Describe<PatternSpec> generator(const char* name, Source source, const char* says) {
    Describe<PatternSpec> d;
    d.field("generator", &PatternSpec::source, {{name, source}})
        .required()
        .says(says)
        .from("docs/workloads.md");
    d.field("density", &PatternSpec::density)
        .range(1e-6, 1.0)
        .required()
        .says("kept blocks over all blocks")
        .from("docs/workloads.md");
    workload::describe_seed<PatternSpec>(d, "docs/workloads.md", "of the pattern");
    return d;
}

Alternative generator_form(const char* name, Source source, const Describe<PatternSpec>& d) {
    return {name, d.shape(),
            [source](void* owner) -> void* {
                static_cast<PatternSpec*>(owner)->source = source;
                return owner;
            },
            [source](const void* owner) -> const void* {
                return static_cast<const PatternSpec*>(owner)->source == source ? owner : nullptr;
            }};
}

/// A file, or a generator.
std::shared_ptr<const Shape> pattern_shape_of(std::shared_ptr<const Shape> generators);

} // namespace

std::shared_ptr<const Shape> generator_shape() {
    const auto uniform = generator("uniform", Source::Uniform, "the kept blocks are anywhere");
    const auto banded =
        generator("banded", Source::Banded, "the kept blocks are around the diagonal");
    auto power_law =
        generator("power_law", Source::PowerLaw, "a few rows have most of the kept blocks");
    power_law.field("exponent", &PatternSpec::exponent)
        .range(workload::kLeastExponent, workload::kLargestExponent)
        .says("blocks of the row of rank r are as r to its negative power")
        .from("docs/workloads.md");
    auto n_of_m =
        generator("n_of_m", Source::NOfM, "as many blocks of each group of neighbours in a row");
    n_of_m.field("group", &PatternSpec::group)
        .unit("blocks")
        .range(1, workload::kLargestGroup)
        .says("neighbouring blocks of a row; density times this many of them are kept")
        .from("docs/workloads.md");
    Shape shape;
    shape.selector = "generator";
    shape.alternatives = {generator_form("uniform", Source::Uniform, uniform),
                          generator_form("banded", Source::Banded, banded),
                          generator_form("power_law", Source::PowerLaw, power_law),
                          generator_form("n_of_m", Source::NOfM, n_of_m)};
    return std::make_shared<const Shape>(std::move(shape));
}

std::shared_ptr<const Shape> pattern_shape() {
    return pattern_shape_of(generator_shape());
}

std::shared_ptr<const Shape> tensor_pattern_shape() {
    Shape generators = *generator_shape();
    generators.alternatives.push_back(generator_form(
        "largest", Source::Largest,
        generator("largest", Source::Largest,
                  "the kept blocks are those of the tensor's values with the largest sums of "
                  "magnitudes")));
    return pattern_shape_of(std::make_shared<const Shape>(std::move(generators)));
}

namespace {

std::shared_ptr<const Shape> pattern_shape_of(std::shared_ptr<const Shape> generators) {
    using FileValues = PatternSpec::FileValues;
    Describe<PatternSpec> file;
    file.field("file", &PatternSpec::path)
        .suffix(".mtx")
        .suffix(".smtx")
        .suffix(".npy")
        .suffix(".npz")
        .suffix(".safetensors")
        .suffix(".mtx.gz")
        .suffix(".smtx.gz")
        .suffix(".npy.gz")
        .required()
        .says("Matrix Market file, .smtx mask or dense .npy matrix, or one packed by gzip, SciPy's "
              ".npz or a .safetensors file, beside the workload file or in configs/data/")
        .from("docs/workloads.md");
    file.field("tensor", &PatternSpec::tensor)
        .empty_if_absent("the only one")
        .says("the tensor of a .safetensors file, which has two sizes")
        .from("docs/workloads.md");
    file.field("values", &PatternSpec::file_values,
               {{"gcn", FileValues::Gcn}, {"ones", FileValues::Ones}, {"file", FileValues::File}})
        .says("values of the entries: scaled by both degrees (gcn), all one, or as in the file")
        .from("docs/workloads.md");
    file.field("duplicates", &PatternSpec::duplicates,
               {{"error", Duplicates::Error}, {"sum", Duplicates::Sum}})
        .says("entries of one place in the file: a mistake, or one entry with the sum")
        .from("docs/workloads.md");

    const auto form = [](bool of_file, const char* name, std::shared_ptr<const Shape> shape) {
        return Alternative{name, std::move(shape),
                           [of_file](void* owner) -> void* {
                               static_cast<PatternSpec*>(owner)->source =
                                   of_file ? Source::File : Source::Uniform;
                               return owner;
                           },
                           [of_file](const void* owner) -> const void* {
                               const bool is_file =
                                   static_cast<const PatternSpec*>(owner)->source == Source::File;
                               return is_file == of_file ? owner : nullptr;
                           }};
    };
    Shape shape;
    shape.alternatives = {form(true, "file", file.shape()),
                          form(false, "generator", std::move(generators))};
    return std::make_shared<const Shape>(std::move(shape));
}

} // namespace

} // namespace tessera::catalog
