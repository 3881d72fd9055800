// SPDX-License-Identifier: MIT
// From a model file to a flat pipeline. A model file is the document of a pipeline with sizes, modules or
// files that it includes:
//
//     const Expanded flat = modules::expand(document, file, paths, *tensor_shape, *step_shape);
//     config::read(workload_shape, flat.document, &workload);
//
// Each use of a module becomes its steps and tensors, under names of their own: a tensor "weight" of a
// use "qkv" in the fourth use of "encoder" is "encoder.3.qkv.weight". Where a number is expected an
// expression of sizes may stand. Values of the flat document know where they stand in the files.
#pragma once

#include "base/config/document.h"
#include "base/config/paths.h"
#include "base/config/shape.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::modules {

/// Whether the document says anything that expand() has to do.
[[nodiscard]] bool is_model(const nlohmann::json& document);

/// A model has at most so many steps, tensors and uses of modules, each.
inline constexpr std::size_t kMostSteps = 100'000;

struct Expanded {
    config::Document document;        ///< a flat pipeline, with its values of `sizes`
    std::vector<Diagnostic> mistakes; ///< as they stand in the files
    std::set<std::string> told; ///< where the flat document has something else because of them
    bool is_whole = true;       ///< false: steps or tensors are missing because of them
    std::vector<std::pair<std::string, std::filesystem::path>> files; ///< included, by pointer

    /// Mistakes of the flat document as they stand in the files: the same one of several uses of a
    /// module is told once, with the first use.
    [[nodiscard]] std::vector<Diagnostic> as_written(std::vector<Diagnostic> found) const;

    /// By pointer of the flat document: what stands there.
    struct Source {
        std::string pointer; ///< in its file
        std::string use;     ///< "encoder.3.qkv"; empty: none
    };
    std::map<std::string, Source> sources;
};

/// `file`: of the document. `tensor` and `step`: shapes of what a flat pipeline has.
[[nodiscard]] Expanded expand(const config::Document& document, const std::filesystem::path& file,
                              const config::ConfigPaths& paths, const config::Shape& tensor,
                              const config::Shape& step);

/// Makes one file of a model and the modules that it includes.
[[nodiscard]] nlohmann::json with_included(const config::Document& document,
                                           const std::filesystem::path& file,
                                           const config::ConfigPaths& paths);

/// The JSON Schema of a workload, for model files too: of each pipeline in it.
void add_to_schema(nlohmann::json& schema);

} // namespace tessera::modules
