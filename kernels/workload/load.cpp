// SPDX-License-Identifier: MIT
#include "kernels/workload/load.h"

#include "base/config/describe.h"
#include "base/config/read.h"
#include "kernels/workload/shared_keys.h"

#include <system_error>

namespace tessera::workload {
namespace {

namespace fs = std::filesystem;
using config::Alternative;
using config::Describe;
using config::Document;
using config::Shape;

constexpr const char* kSource = "docs/workloads.md";
constexpr std::int64_t kLongestDimension = 1'000'000;

ValuesSpec values_of(const std::string& text, const char* key) {
    ValuesSpec values;
    values.key = key;
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

/// The keys that all kinds have.
template <class Kind> void describe_common(Describe<Kind>& d, const char* kind) {
    describe_kind(d, kind, kSource, "what is computed");
    d.field("n", &Kind::n)
        .unit("columns")
        .range(1, kLongestDimension)
        .required()
        .says("columns of the right operand and of the result")
        .from(kSource);
    d.field("dtype", &Kind::dtype, element_type_texts({ElementType::F16}))
        .says("type of the operands and of the result")
        .from(kSource);
    d.field("partials", &Kind::partials, element_type_texts({ElementType::F16, ElementType::F32}))
        .says("type in which products are summed")
        .from(kSource);
    describe_seed<Kind>(d, kSource, "of the generated values");
    d.text(
         "values",
         [](Kind& kind_, const std::string& text) { kind_.values = values_of(text, "/values"); },
         [](const Kind& kind_) { return values_text(kind_.values); })
        .one_of({"uniform", "integer"})
        .suffix(".npy")
        .says("operand values: multiples of 1/16 in [-1, 1], small whole numbers, or a file")
        .from(kSource);
}

/// `values` of one operand.
template <class Kind>
void describe_values_of(Describe<Kind>& d, const char* key, const char* pointer,
                        std::optional<ValuesSpec> Kind::*member, const char* says) {
    d.text(
         key,
         [member, pointer](Kind& kind, const std::string& text) {
             kind.*member = values_of(text, pointer);
         },
         [member](const Kind& kind) {
             return kind.*member ? values_text(*(kind.*member)) : std::string{};
         })
        .one_of({"uniform", "integer"})
        .suffix(".npy")
        .empty_if_absent("as values")
        .says(says)
        .from(kSource);
}

std::shared_ptr<const Shape> matmul_shape() {
    Describe<MatmulWorkload> d;
    describe_common(d, "matmul");
    describe_values_of(d, "values_a", "/values_a", &MatmulWorkload::values_a,
                       "values of the left operand");
    describe_values_of(d, "values_b", "/values_b", &MatmulWorkload::values_b,
                       "values of the right operand");
    d.field("m", &MatmulWorkload::m)
        .unit("rows")
        .range(1, kLongestDimension)
        .required()
        .says("rows of the left operand and of the result")
        .from(kSource);
    d.field("k", &MatmulWorkload::k)
        .unit("elements")
        .range(1, kLongestDimension)
        .required()
        .says("columns of the left operand, rows of the right one")
        .from(kSource);
    return d.shape();
}

/// {"file": ..., "values": ...} or {"generator": ..., "density": ..., "seed": ...}.
std::shared_ptr<const Shape> pattern_shape() {
    using Source = PatternSpec::Source;
    using FileValues = PatternSpec::FileValues;
    Describe<PatternSpec> file;
    file.field("file", &PatternSpec::path)
        .suffix(".mtx")
        .required()
        .says("Matrix Market file, beside the workload file or in configs/data/")
        .from(kSource);
    file.field("values", &PatternSpec::file_values,
               {{"gcn", FileValues::Gcn}, {"ones", FileValues::Ones}, {"file", FileValues::File}})
        .says("values of the entries: scaled by both degrees (gcn), all one, or as in the file")
        .from(kSource);

    Describe<PatternSpec> generated;
    generated
        .field("generator", &PatternSpec::source,
               {{"uniform", Source::Uniform}, {"banded", Source::Banded}})
        .required()
        .says("where the kept blocks are: anywhere, or around the diagonal")
        .from(kSource);
    generated.field("density", &PatternSpec::density)
        .range(1e-6, 1.0)
        .required()
        .says("kept blocks over all blocks")
        .from(kSource);
    describe_seed<PatternSpec>(generated, kSource, "of the pattern");

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

std::shared_ptr<const Shape> spmm_shape() {
    Describe<SpmmWorkload> d;
    describe_common(d, "spmm");
    describe_values_of(d, "values_b", "/values_b", &SpmmWorkload::values_b,
                       "values of the dense operand");
    d.fixed("mode", "static")
        .required()
        .says("static: the pattern is known when planning")
        .from(kSource);
    d.field("m", &SpmmWorkload::m)
        .unit("rows")
        .range(1, kLongestDimension)
        .zero_if_absent("as the pattern file says")
        .says("rows of the sparse operand and of the result")
        .from(kSource);
    d.field("k", &SpmmWorkload::k)
        .unit("elements")
        .range(1, kLongestDimension)
        .zero_if_absent("as the pattern file says")
        .says("columns of the sparse operand, rows of the dense one")
        .from(kSource);
    d.field("block", &SpmmWorkload::block)
        .unit("elements")
        .one_of({1, 16})
        .says("side of the square blocks that are kept or left out")
        .from(kSource);
    d.object("pattern", &SpmmWorkload::pattern, pattern_shape())
        .required()
        .says("where the sparse operand is not zero");
    d.require_if("pattern", "generator", {"m", "k"});
    return d.shape();
}

template <class Kind>
Alternative alternative(const char* name, std::shared_ptr<const Shape> shape) {
    return {
        name, std::move(shape),
        [](void* owner) -> void* { return &static_cast<Workload*>(owner)->kind.emplace<Kind>(); },
        [](const void* owner) -> const void* {
            return std::get_if<Kind>(&static_cast<const Workload*>(owner)->kind);
        }};
}

/// Finds the files that a workload names.
class Files {
public:
    Files(const Document& document, const fs::path& workload, const config::ConfigPaths& paths)
        : document_(document), workload_(workload), paths_(paths) {}

    [[nodiscard]] std::string find(const std::string& pointer, const std::string& written) const {
        const auto origin = document_.origins.find(pointer);
        const bool typed = origin != document_.origins.end() && origin->second.file == "--set";
        std::vector<fs::path> places{typed ? fs::path{} : workload_.parent_path()};
        for (const auto& root : paths_.roots) {
            places.push_back(root / "data");
        }
        std::string tried;
        for (const auto& place : places) {
            const fs::path file = (place / written).lexically_normal();
            std::error_code ignored;
            if (fs::is_regular_file(file, ignored)) {
                return file.string();
            }
            tried += (tried.empty() ? "" : ", ") + file.string();
        }
        throw IoError(
            document_.at_value(pointer, "cannot find '" + written + "'", "looked for " + tried)
                .text());
    }

    void resolve(ValuesSpec& values) const {
        if (values.kind == ValuesSpec::Kind::File) {
            values.path = find(values.key, values.path);
        }
    }
    void resolve(std::optional<ValuesSpec>& values) const {
        if (values) {
            resolve(*values);
        }
    }
    void resolve(PatternSpec& pattern) const {
        if (pattern.source == PatternSpec::Source::File) {
            pattern.path = find("/pattern/file", pattern.path);
        }
    }
    void operator()(MatmulWorkload& matmul) const {
        resolve(matmul.values);
        resolve(matmul.values_a);
        resolve(matmul.values_b);
    }
    void operator()(SpmmWorkload& spmm) const {
        resolve(spmm.values);
        resolve(spmm.values_b);
        resolve(spmm.pattern);
    }
    template <class Micro> void operator()(Micro& /*names no files*/) const {}

private:
    const Document& document_;
    const fs::path& workload_;
    const config::ConfigPaths& paths_;
};

/// What a kind says of values that are each in range but do not go together.
std::vector<Diagnostic> mistakes_of(const Workload& workload, const Document& document) {
    std::vector<Diagnostic> diagnostics;
    std::visit(
        [&](const auto& kind) {
            if constexpr (requires { kind.mistakes(); }) {
                for (const Mistake& mistake : kind.mistakes()) {
                    diagnostics.push_back(document.at_value("/" + mistake.key, mistake.message));
                }
            }
        },
        workload.kind);
    return diagnostics;
}

} // namespace

const Shape& workload_shape() {
    static const Shape shape = [] {
        Shape out;
        out.selector = "kind";
        out.alternatives = {
            alternative<MatmulWorkload>("matmul", matmul_shape()),
            alternative<SpmmWorkload>("spmm", spmm_shape()),
            alternative<SyncWorkload>("sync", config::shape_of<SyncWorkload>()),
            alternative<ExchangePatternWorkload>("exchange_pattern",
                                                 config::shape_of<ExchangePatternWorkload>()),
            alternative<SelfCopyWorkload>("self_copy", config::shape_of<SelfCopyWorkload>()),
            alternative<RearrangeWorkload>("rearrange", config::shape_of<RearrangeWorkload>()),
            alternative<MemoryStreamWorkload>("memory_stream",
                                              config::shape_of<MemoryStreamWorkload>()),
            alternative<StencilWorkload>("stencil", config::shape_of<StencilWorkload>()),
            alternative<ReductionWorkload>("reduction", config::shape_of<ReductionWorkload>()),
            alternative<RemoteBufferWorkload>("remote_buffer",
                                              config::shape_of<RemoteBufferWorkload>()),
            alternative<HostTransferWorkload>("host_transfer",
                                              config::shape_of<HostTransferWorkload>()),
            alternative<StreamedTriadWorkload>("streamed_triad",
                                               config::shape_of<StreamedTriadWorkload>())};
        return out;
    }();
    return shape;
}

nlohmann::json workload_schema() {
    return config::json_schema(workload_shape(), "Tessera workload");
}

LoadedWorkload load_workload(const std::string& name_or_path, const config::ConfigPaths& paths,
                             const std::vector<std::string>& set_overrides) {
    const fs::path file = config::find_config(paths, "workloads", "workload", name_or_path);
    return load_workload(config::read_document(file), file, paths, set_overrides);
}

LoadedWorkload load_workload(Document document, const fs::path& file,
                             const config::ConfigPaths& paths,
                             const std::vector<std::string>& set_overrides) {
    LoadedWorkload out;
    out.file = file;
    auto mistakes = config::apply_sets(workload_shape(), document, set_overrides, kSetPrefix);
    const auto found = config::read(workload_shape(), document, &out.workload);
    mistakes.insert(mistakes.end(), found.begin(), found.end());
    config::throw_if_any(std::move(mistakes));
    config::throw_if_any(mistakes_of(out.workload, document));

    out.workload.name = out.file.stem().string();
    out.resolved = config::resolved(workload_shape(), &out.workload);
    std::visit(Files{document, out.file, paths}, out.workload.kind);
    out.origins = std::move(document.origins);
    return out;
}

SetOverrides split_overrides(const std::vector<std::string>& options) {
    SetOverrides out;
    for (const auto& option : options) {
        const bool of_workload = option.rfind(kSetPrefix, 0) == 0;
        (of_workload ? out.workload : out.machine).push_back(option);
    }
    return out;
}

} // namespace tessera::workload
