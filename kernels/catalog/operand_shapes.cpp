// SPDX-License-Identifier: MIT
#include "kernels/catalog/operand_shapes.h"

#include "base/config/describe.h"
#include "kernels/workload/shared_keys.h"

#include <utility>

namespace tessera::catalog {

using config::Alternative;
using config::Describe;
using config::Shape;
using workload::PatternSpec;
using workload::ValuesSpec;

ValuesSpec values_of(const std::string& text, std::string key) {
    ValuesSpec values;
    values.key = std::move(key);
    if (text == "integer") {
        values.kind = ValuesSpec::Kind::Integer;
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
    case ValuesSpec::Kind::File:
        break;
    }
    return values.path;
}

std::shared_ptr<const Shape> pattern_shape() {
    using Source = PatternSpec::Source;
    using FileValues = PatternSpec::FileValues;
    Describe<PatternSpec> file;
    file.field("file", &PatternSpec::path)
        .suffix(".mtx")
        .required()
        .says("Matrix Market file, beside the workload file or in configs/data/")
        .from("docs/workloads.md");
    file.field("values", &PatternSpec::file_values,
               {{"gcn", FileValues::Gcn}, {"ones", FileValues::Ones}, {"file", FileValues::File}})
        .says("values of the entries: scaled by both degrees (gcn), all one, or as in the file")
        .from("docs/workloads.md");

    Describe<PatternSpec> generated;
    generated
        .field("generator", &PatternSpec::source,
               {{"uniform", Source::Uniform}, {"banded", Source::Banded}})
        .required()
        .says("where the kept blocks are: anywhere, or around the diagonal")
        .from("docs/workloads.md");
    generated.field("density", &PatternSpec::density)
        .range(1e-6, 1.0)
        .required()
        .says("kept blocks over all blocks")
        .from("docs/workloads.md");
    workload::describe_seed<PatternSpec>(generated, "docs/workloads.md", "of the pattern");

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
                          form(false, "generator", generated.shape())};
    return std::make_shared<const Shape>(std::move(shape));
}

} // namespace tessera::catalog
