// SPDX-License-Identifier: MIT
#include "kernels/catalog/load.h"

#include "base/config/read.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/catalog/resolve.h"
#include "kernels/catalog/train.h"
#include "kernels/modules/expand.h"
#include "kernels/modules/sizes.h"
#include "kernels/workload/mistake.h"
#include "kernels/workload/pattern.h"
#include "kernels/workload/pattern_file.h"
#include "kernels/workload/tensor_file.h"
#include "kernels/workload/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

namespace tessera::catalog {
namespace {

namespace fs = std::filesystem;
using namespace workload;
using config::Document;
using config::Shape;

/// Finds the files that a workload names.
class Files {
public:
    /// Those that were found are added to `found`.
    Files(const Document& document, const fs::path& workload, const config::ConfigPaths& paths,
          std::vector<InputFile>& found)
        : document_(document), workload_(workload), paths_(paths), found_(found) {}

    [[nodiscard]] std::string find(const std::string& pointer, const std::string& written) const {
        const fs::path file = find(pointer, written, [](const fs::path& place) {
            std::error_code ignored;
            return fs::is_regular_file(place, ignored);
        });
        found_.push_back({pointer, file});
        return file.string();
    }

    /// Finds the folder and all its files but hidden ones. @throws IoError, ConfigError if it has none
    void resolve(PatternFolder& folder, const std::string& pointer) const {
        const fs::path place = find(pointer, folder.path, [](const fs::path& tried) {
            std::error_code ignored;
            return fs::is_directory(tried, ignored);
        });
        std::error_code failed;
        for (fs::directory_iterator at(place, failed), end; !failed && at != end;
             at.increment(failed)) {
            if (!at->path().filename().string().starts_with('.')) {
                folder.files.push_back(at->path().string());
            }
        }
        if (failed) {
            throw IoError(document_
                              .at_value(pointer, fmt::format("cannot read folder {}: {}",
                                                             place.string(), failed.message()))
                              .text());
        }
        if (folder.files.empty()) {
            throw ConfigError(document_.at_value(
                pointer,
                fmt::format("got {}, which is empty, expected files of patterns", place.string())));
        }
        std::ranges::sort(folder.files);
        for (const std::string& file : folder.files) {
            found_.push_back({pointer, file});
        }
    }

    void resolve(ValuesSpec& values) const {
        if (values.kind == ValuesSpec::Kind::File) {
            if (is_tensor_of_file(values.path)) {
                const MatrixPlace place = matrix_place(values.path);
                values.path = find(values.key, place.file) + ":" + place.tensor;
            } else {
                values.path = find(values.key, values.path);
            }
        }
    }
    /// Whether a file that is there has such an operand. @throws ConfigError
    void check(const ValuesSpec& values, ElementType type,
               const std::vector<std::int64_t>& shape) const {
        if (values.kind != ValuesSpec::Kind::File) {
            return;
        }
        try {
            check_file(values, type, shape);
        } catch (const ConfigError& error) {
            const Diagnostic& wrong = error.diagnostics().front();
            throw wrong.pointer.empty()
                ? error
                : ConfigError(document_.at_value(wrong.pointer, wrong.message, wrong.hint));
        }
    }
    void check(const ValuesSpec& values, ElementType type, std::int64_t rows, std::int64_t columns,
               bool is_transposed, std::int64_t groups) const {
        std::vector<std::int64_t> shape{rows, columns};
        if (is_transposed) {
            std::swap(shape[0], shape[1]);
        }
        if (groups > 1) {
            shape.insert(shape.begin(), groups);
        }
        check(values, type, shape);
    }
    void resolve(std::optional<ValuesSpec>& values) const {
        if (values) {
            resolve(*values);
        }
    }
    void resolve(PatternSpec& pattern, const std::string& pointer = "/pattern") const {
        if (pattern.source == PatternSpec::Source::File) {
            pattern.path = find(pointer + "/file", pattern.path);
        }
    }
    void operator()(MatmulWorkload& matmul) const {
        resolve(matmul.values);
        resolve(matmul.values_a);
        resolve(matmul.values_b);
        resolve(matmul.values_bias);
        resolve(matmul.values_c);
        const ElementType result = result_type(matmul.dtype);
        check(matmul.of_a(), matmul.dtype, matmul.m, matmul.k, matmul.transpose_a, matmul.groups);
        check(matmul.of_b(), matmul.dtype, matmul.k, matmul.n, matmul.transpose_b, matmul.groups);
        if (matmul.bias) {
            check(matmul.of_bias(), result, 1, matmul.n, false, matmul.groups);
        }
        if (matmul.accumulate != Accumulate::None) {
            check(matmul.of_c(), result, matmul.m, matmul.n, false, matmul.groups);
        }
    }
    void operator()(SpmmWorkload& spmm) const {
        resolve(spmm.values);
        resolve(spmm.values_b);
        resolve(spmm.values_c);
        resolve(spmm.pattern);
        const bool sums = spmm.accumulate != Accumulate::None;
        if (spmm.of_b().kind != ValuesSpec::Kind::File &&
            (!sums || spmm.of_c().kind != ValuesSpec::Kind::File)) {
            return; // a pattern's file is not looked into for nothing
        }
        std::int64_t m = spmm.m;
        std::int64_t k = spmm.k;
        if (spmm.pattern.source == PatternSpec::Source::File) {
            const MatrixShape size = read_pattern_file_size(matrix_place(spmm.pattern));
            m = spmm.transpose_a ? size.columns : size.rows;
            k = spmm.transpose_a ? size.rows : size.columns;
        }
        check(spmm.of_b(), spmm.dtype, k, spmm.n, spmm.transpose_b, 1);
        if (sums) {
            check(spmm.of_c(), spmm.dtype, m, spmm.n, false, 1);
        }
    }
    void operator()(TopKWorkload& top_k) const {
        resolve(top_k.values);
        if (top_k.values.kind == ValuesSpec::Kind::Shuffled && top_k.dtype == ElementType::F16 &&
            top_k.n > kExactSum) {
            throw ConfigError(document_.at_value(
                "/values", fmt::format("got shuffled rows of {} elements in f16, expected at most "
                                       "{}: f16 does not have all larger numbers",
                                       top_k.n, kExactSum)));
        }
        check(top_k.values, top_k.dtype, top_k.shape());
    }
    void operator()(PipelineWorkload& /*found when its steps were checked*/) const {}
    template <class Micro> void operator()(Micro& /*names no files*/) const {}

private:
    /// The first place that `is_there` accepts, of those where a written path is looked for.
    template <class IsThere>
    [[nodiscard]] fs::path find(const std::string& pointer, const std::string& written,
                                const IsThere& is_there) const {
        const auto origin = document_.origins.find(pointer);
        const bool typed = origin != document_.origins.end() && origin->second.file == "--set";
        std::vector<fs::path> places{typed ? fs::path{} : workload_.parent_path()};
        for (const auto& root : paths_.roots) {
            places.push_back(root / "data");
        }
        std::string tried;
        for (const auto& place : places) {
            fs::path found = (place / written).lexically_normal();
            if (is_there(found)) {
                return found;
            }
            tried += (tried.empty() ? "" : ", ") + found.string();
        }
        throw IoError(
            document_.at_value(pointer, "cannot find '" + written + "'", "looked for " + tried)
                .text());
    }

    const Document& document_;
    const fs::path& workload_;
    const config::ConfigPaths& paths_;
    std::vector<InputFile>& found_;
};

/// A density that is no whole number of blocks of a group, roots for which whole numbers are wanted,
/// or a tensor of a file that has none.
std::optional<Diagnostic> mistake_of(const PatternSpec& pattern, const ValuesSpec& values,
                                     const std::string& pointer, const Document& document) {
    if (pattern.source == PatternSpec::Source::File &&
        pattern.file_values == PatternSpec::FileValues::Gcn &&
        values.kind == ValuesSpec::Kind::Integer) {
        return document.at_value(pointer + "/values",
                                 "got gcn together with values 'integer', expected whole numbers",
                                 "'ones' keeps the pattern");
    }
    if (pattern.source == PatternSpec::Source::File && !pattern.tensor.empty() &&
        !pattern.path.ends_with(".safetensors")) {
        return document.at_value(pointer + "/tensor",
                                 "got " + in_quotes(pattern.tensor) + " of " + pattern.path +
                                     ", expected a tensor of a .safetensors file");
    }
    if (pattern.source != PatternSpec::Source::NOfM || n_of_m(pattern.density, pattern.group)) {
        return std::nullopt;
    }
    return document.at_value(pointer + "/density", n_of_m_mistake(pattern.density, pattern.group));
}

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
            if constexpr (requires { kind.pattern.density; }) {
                if (auto mistake = mistake_of(kind.pattern, kind.values, "/pattern", document)) {
                    diagnostics.push_back(std::move(*mistake));
                }
            }
        },
        workload.kind);
    return diagnostics;
}

/// Checks the steps of a pipeline as far as its document could be read, and finds its files.
class PipelineCheck {
public:
    /// `told`: pointers of the document at which mistakes are known.
    PipelineCheck(PipelineWorkload& pipeline, const Document& document, const Files& files,
                  std::set<std::string> told)
        : pipeline_(pipeline), document_(document), files_(files), told_(std::move(told)) {}

    /// Adds to `mistakes`, those of the document so far. @throws IoError if there are none, but a
    /// file cannot be found or read
    void run(Families families, std::vector<Diagnostic>& mistakes) {
        std::set<std::string> of_vertex_files;
        for (const Diagnostic& mistake : mistakes) {
            told_.insert(pointer_of(mistake));
        }
        for (PipelineTensor& tensor : pipeline_.tensors) {
            find_files(tensor, mistakes);
            check_pattern(tensor, mistakes);
        }
        name_tensors(document_.root, "steps", pipeline_.steps);
        find_codelets("/steps", pipeline_.steps);
        std::ranges::move(names_wrong_, std::back_inserter(mistakes));
        Resolved resolved = resolve(pipeline_, families, {}, told_);
        if (pipeline_.train) {
            std::erase_if(resolved.mistakes, [&](const Diagnostic& found) {
                return is_unread(found.pointer); // by now
            });
        }
        if (pipeline_.sparsity) {
            prune(families, resolved, mistakes);
        }
        if (pipeline_.train && mistakes.empty() && resolved.mistakes.empty()) {
            train(families, resolved);
        }
        for (const Diagnostic& found : resolved.mistakes) {
            if (found.file.empty()) {
                mistakes.push_back(document_.at_value(found.pointer, found.message, found.hint));
            } else if (of_vertex_files.insert(found.text()).second) { // several steps may name one
                mistakes.push_back(found);
            }
        }
        if (mistakes.empty() && no_file_ != nullptr) {
            std::rethrow_exception(no_file_);
        }
    }

    [[nodiscard]] std::vector<SparseWeight> sparse_weights() const { return sparsified_.weights; }

private:
    /// Whether a mistake says that no step reads a tensor.
    [[nodiscard]] bool is_unread(const std::string& pointer) const {
        return std::any_of(pipeline_.tensors.begin(), pipeline_.tensors.end(),
                           [&](const PipelineTensor& tensor) {
                               return pointer == config::child_pointer("/tensors", tensor.name);
                           });
    }

    /// Makes weights sparse; `resolved` is of the pipeline with them then, or has mistakes.
    void prune(Families families, Resolved& resolved, const std::vector<Diagnostic>& mistakes) {
        const bool was_right = mistakes.empty() && resolved.mistakes.empty();
        sparsified_ = with_sparsity(pipeline_, document_);
        for (Diagnostic& mistake : sparsified_.mistakes) {
            if (was_right || mistake.pointer.starts_with("/sparsity")) {
                resolved.mistakes.push_back(std::move(mistake));
            }
        }
        if (!was_right || !resolved.mistakes.empty()) {
            return;
        }
        pipeline_ = sparsified_.workload;
        resolved = resolve(pipeline_, families, {}, told_);
        for (Diagnostic& mistake : resolved.mistakes) {
            mistake = sparsified_.in_file(std::move(mistake));
        }
        if (pipeline_.train) {
            std::erase_if(resolved.mistakes, [&](const Diagnostic& found) {
                return is_unread(found.pointer); // by now
            });
        }
    }

    /// Writes what is made for training into the steps; `resolved` has mistakes of that then.
    void train(Families families, Resolved& resolved) {
        Trained trained = with_training(pipeline_, resolved, families);
        resolved.mistakes = std::move(trained.mistakes);
        if (resolved.mistakes.empty()) {
            for (Diagnostic& mistake : resolve(trained.workload, families, {}, told_).mistakes) {
                resolved.mistakes.push_back(trained.in_file(std::move(mistake)));
            }
        }
        for (Diagnostic& mistake : resolved.mistakes) {
            mistake = sparsified_.in_file(std::move(mistake));
        }
        pipeline_ = std::move(trained.workload);
    }

    /// Mistakes of --set are called by their path.
    static std::string pointer_of(const Diagnostic& mistake) {
        const std::string prefix = kSetPrefix;
        if (mistake.pointer.rfind(prefix, 0) != 0) {
            return mistake.pointer;
        }
        std::string pointer = "/" + mistake.pointer.substr(prefix.size());
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        return pointer;
    }

    /// A mistake there or inside.
    [[nodiscard]] bool has_told_of(const std::string& pointer) const {
        const auto inside = told_.lower_bound(pointer + "/");
        return told_.contains(pointer) ||
               (inside != told_.end() && inside->rfind(pointer + "/", 0) == 0);
    }

    /// Only one that was read without a mistake.
    void check_pattern(const PipelineTensor& tensor, std::vector<Diagnostic>& mistakes) const {
        const std::string pointer = config::child_pointer("/tensors", tensor.name) + "/pattern";
        if (!tensor.pattern || has_told_of(pointer)) {
            return;
        }
        if (auto mistake = mistake_of(*tensor.pattern, tensor.values, pointer, document_)) {
            mistakes.push_back(std::move(*mistake));
        }
    }

    void find_files(PipelineTensor& tensor, std::vector<Diagnostic>& mistakes) {
        const std::string pointer = config::child_pointer("/tensors", tensor.name);
        try {
            files_.resolve(tensor.values);
            const bool has_whole =
                !tensor.is_sparse() ||
                (tensor.pattern && tensor.pattern->source != PatternSpec::Source::File);
            if (has_whole && tensor.like.empty() && !has_told_of(pointer)) {
                files_.check(tensor.values, tensor.type, tensor.shape);
            }
            if (tensor.pattern && tensor.pattern->source == PatternSpec::Source::File) {
                files_.resolve(*tensor.pattern, pointer + "/pattern");
                take_size(tensor, pointer, mistakes);
            }
            if (tensor.folder && !has_told_of(pointer + "/sequence")) {
                find_folder(tensor, pointer, mistakes);
            }
        } catch (const IoError&) {
            told_.insert(pointer);
            no_file_ = no_file_ == nullptr ? std::current_exception() : no_file_;
        } catch (const ConfigError& error) { // what is wrong in the file of the pattern
            told_.insert(pointer);
            mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }

    /// The first file is the pattern that the tensor begins with. All are of one size.
    void find_folder(PipelineTensor& tensor, const std::string& pointer,
                     std::vector<Diagnostic>& mistakes) {
        files_.resolve(*tensor.folder, pointer + "/sequence/folder");
        const std::vector<std::string>& files = tensor.folder->files;
        const MatrixShape first = take_size(tensor, pointer, mistakes);
        for (const std::string& file : files) {
            const MatrixShape size = read_pattern_file_size(matrix_place(file));
            if (size.rows != first.rows || size.columns != first.columns) {
                mistakes.push_back(
                    {file, 0, 0, "",
                     fmt::format("got a matrix of {} x {}, expected {} x {} as in {}", size.rows,
                                 size.columns, first.rows, first.columns, files.front()),
                     ""});
            }
        }
    }

    MatrixShape take_size(PipelineTensor& tensor, const std::string& pointer,
                          std::vector<Diagnostic>& mistakes) {
        const PatternSpec pattern = tensor.first_pattern();
        const MatrixShape size = read_pattern_file_size(matrix_place(pattern));
        const std::vector<std::int64_t> shape{size.rows, size.columns};
        if (tensor.shape.empty()) {
            tensor.shape = shape;
        } else if (tensor.shape != shape && told_.count(pointer + "/shape") == 0) {
            told_.insert(pointer + "/shape");
            mistakes.push_back(document_.at_value(
                pointer + "/shape",
                fmt::format("got {}, expected {} x {} as in {}", fmt::join(tensor.shape, " x "),
                            size.rows, size.columns, pattern.path),
                "leave it out to take the file's"));
        }
        return size;
    }

    /// Names and files of steps with codelets of the user's own.
    void find_codelets(const std::string& list, std::vector<PipelineStep>& steps) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            PipelineStep& step = steps[i];
            const std::string pointer = fmt::format("{}/{}", list, i);
            visit_lists(step, [&](const char* inner, std::vector<PipelineStep>& inside) {
                find_codelets(pointer + "/" + inner, inside);
            });
            if (!step.own) {
                continue;
            }
            check_inputs(*step.own, pointer);
            step.take_names();
            try {
                if (!has_told_of(pointer)) {
                    step.own->source_path = files_.find(pointer + "/codelet", step.own->source);
                    step.own->vertex_path = files_.find(pointer + "/vertex", step.own->vertex);
                }
            } catch (const IoError&) {
                told_.insert(pointer);
                no_file_ = no_file_ == nullptr ? std::current_exception() : no_file_;
            }
        }
    }
    void check_inputs(const OwnCodelet& own, const std::string& pointer) {
        for (const auto& [key, tensor] : own.inputs.items()) {
            if (!tensor.is_string()) {
                const std::string at = config::child_pointer(pointer + "/inputs", key);
                told_.insert(at);
                names_wrong_.push_back(document_.at_value(
                    at, "got " + config::got_text(tensor) + ", expected the name of a tensor"));
            }
        }
    }

    /// Of a step of no known family nothing was read: the tensors that it names are used all the
    /// same.
    void name_tensors(const nlohmann::json& around, const char* key,
                      std::vector<PipelineStep>& steps) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            PipelineStep& step = steps[i];
            const nlohmann::json& written = around.at(key).at(i);
            if (!step.is_leaf()) {
                visit_lists(step, [&](const char* inner, std::vector<PipelineStep>& inside) {
                    name_tensors(written, inner, inside);
                });
            } else if (step.kind == PipelineStep::Kind::Family && step.family.empty() &&
                       written.is_object()) {
                add_names(written, "output", step.outputs);
                add_names(written, "outputs", step.outputs);
                add_names(written, "inputs", step.inputs);
            }
        }
    }
    /// The texts of a key that has one or a list.
    static void add_names(const nlohmann::json& written, const char* key,
                          std::vector<std::string>& names) {
        const auto found = written.find(key);
        if (found == written.end()) {
            return;
        }
        for (const auto& name : found->is_array() ? *found : nlohmann::json::array({*found})) {
            if (name.is_string()) {
                names.push_back(name.get<std::string>());
            }
        }
    }

    PipelineWorkload& pipeline_;
    const Document& document_;
    const Files& files_;
    Sparsified sparsified_;               ///< where the pipeline has `sparsity`
    std::set<std::string> told_;          ///< JSON pointers
    std::vector<Diagnostic> names_wrong_; ///< of inputs of codelets
    std::exception_ptr no_file_;
};

/// The document of a workload of kind pipeline, with its tensors as they were `written`.
nlohmann::json expanded_of(Workload workload, const std::vector<PipelineTensor>& written,
                           const Shape& shape) {
    for (PipelineTensor& tensor : std::get<PipelineWorkload>(workload.kind).tensors) {
        const auto given = std::ranges::find(written, tensor.name, &PipelineTensor::name);
        if (given == written.end()) {
            continue;
        }
        if (given->is_sparse() == tensor.is_sparse()) {
            tensor = *given;
        } else {
            tensor.values = given->values; // `sparsity` has made it sparse
        }
    }
    return config::resolved(shape, &workload);
}

/// The flat pipeline of a model file. `shape`: of workloads.
modules::Expanded expanded(const Document& document, const fs::path& file,
                           const config::ConfigPaths& paths, const Shape& shape) {
    const auto pipeline = std::ranges::find(shape.alternatives, "pipeline",
                                            [](const auto& kind) { return kind.name; });
    TESSERA_ASSERT(pipeline != shape.alternatives.end());
    const Shape& keys = *pipeline->shape;
    return modules::expand(document, file, paths, *keys.find("tensors")->shape,
                           *keys.find("steps")->shape);
}

} // namespace

Document read_workload(const fs::path& file) {
    if (!config::is_matrix_file(file.native())) {
        return config::read_document(file);
    }
    check_pattern_file(matrix_place(file.string())); // is it one?
    Document document =
        config::parse_document(fmt::format(R"({{"schema_version": 1, "kind": "spmm", "n": {},
                         "pattern": {{"file": "", "values": "file"}}}})",
                                           kMatrixColumns),
                               file.string());
    document.root["pattern"]["file"] = file.filename().string();
    return document;
}

LoadedWorkload load_workload(const std::string& name_or_path, const config::ConfigPaths& paths,
                             const std::vector<std::string>& set_overrides) {
    const fs::path file = config::find_config(paths, "workloads", "workload", name_or_path);
    return load_workload(read_workload(file), file, paths, set_overrides);
}

LoadedWorkload load_workload(Document document, const fs::path& file,
                             const config::ConfigPaths& paths,
                             const std::vector<std::string>& set_overrides) {
    return load_workload(std::move(document), file, paths, set_overrides, workload_shape(),
                         families());
}

LoadedWorkload load_workload(Document document, const fs::path& file,
                             const config::ConfigPaths& paths,
                             const std::vector<std::string>& set_overrides, const Shape& shape,
                             Families families) {
    LoadedWorkload out;
    out.file = file;
    std::vector<Diagnostic> mistakes;
    std::vector<std::string> sets = set_overrides;
    modules::Expanded model;
    const bool is_model = modules::is_model(document.root);
    nlohmann::json sizes;
    if (is_model) {
        sets = modules::set_sizes(document, set_overrides, kSetPrefix, mistakes);
        model = expanded(document, file, paths, shape);
        mistakes.insert(mistakes.end(), model.mistakes.begin(), model.mistakes.end());
        document = std::move(model.document);
        sizes = document.root.value("sizes", nlohmann::json::object());
        document.root.erase("sizes");
        for (const auto& [pointer, path] : model.files) {
            out.inputs.push_back({pointer, path});
        }
    }
    auto flat = config::apply_sets(shape, document, sets, kSetPrefix);
    const auto found = config::read(shape, document, &out.workload);
    flat.insert(flat.end(), found.begin(), found.end());
    out.workload.name = out.file.stem().string();
    if (flat.empty() && mistakes.empty()) {
        out.resolved = config::resolved(shape, &out.workload);
        if (is_model) {
            out.resolved["sizes"] = sizes;
        }
    }
    const Files files{document, out.file, paths, out.inputs};
    if (auto* pipeline = std::get_if<PipelineWorkload>(&out.workload.kind);
        pipeline != nullptr && model.is_whole) {
        const std::vector<PipelineTensor> written = pipeline->tensors;
        const bool grows = pipeline->train.has_value() || pipeline->sparsity.has_value();
        PipelineCheck check(*pipeline, document, files, model.told);
        check.run(families, flat);
        out.sparse_weights = check.sparse_weights();
        if (grows && flat.empty() && mistakes.empty()) {
            out.expanded = expanded_of(out.workload, written, shape);
        }
    }
    if (out.expanded.is_null()) {
        out.expanded = out.resolved;
        if (is_model && out.expanded.is_object()) {
            out.expanded.erase("sizes"); // the steps are flat
        }
    }
    std::erase_if(flat, [&](const Diagnostic& mistake) {
        return model.told.contains(mistake.pointer); // has been told
    });
    flat = model.as_written(std::move(flat));
    mistakes.insert(mistakes.end(), flat.begin(), flat.end());
    config::throw_if_any(std::move(mistakes));
    config::throw_if_any(mistakes_of(out.workload, document));
    std::visit(files, out.workload.kind);
    out.origins = std::move(document.origins);
    return out;
}

bool is_workload_path(const std::string& path, const nlohmann::json& resolved) {
    const std::string of_sizes = std::string(kSetPrefix) + "sizes.";
    const auto sizes = resolved.is_object() ? resolved.find("sizes") : resolved.end();
    return config::is_set_path(workload_shape(), path, kSetPrefix, resolved) ||
           (path.starts_with(of_sizes) && sizes != resolved.end() &&
            sizes->contains(path.substr(of_sizes.size())));
}

SetOverrides split_overrides(const std::vector<std::string>& options) {
    SetOverrides out;
    for (const auto& option : options) {
        const bool of_workload = option.rfind(kSetPrefix, 0) == 0;
        (of_workload ? out.workload : out.machine).push_back(option);
    }
    return out;
}

} // namespace tessera::catalog
