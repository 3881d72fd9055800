// SPDX-License-Identifier: MIT
// Workload files: configs/workloads/<name>.json -> Workload.
#pragma once

#include "base/config/document.h"
#include "base/config/paths.h"
#include "base/config/shape.h"
#include "kernels/catalog/catalog.h"
#include "kernels/catalog/sparse_weights.h"
#include "kernels/workload/workload.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::catalog {

/// A file of values or of a pattern that a workload names, or that is in a folder that it names.
struct InputFile {
    std::string pointer; ///< of the name in the document
    std::filesystem::path path;
};

struct LoadedWorkload {
    workload::Workload workload; ///< file paths resolved
    nlohmann::json resolved;     ///< every parameter; file paths as they were written
    nlohmann::json expanded;     ///< the same of what `workload` is, with the steps that were made
    config::Origins origins;     ///< of the values that the file or --set gave
    std::filesystem::path file;
    std::vector<InputFile> inputs;
    std::vector<SparseWeight> sparse_weights; ///< that a pipeline's `sparsity` has made
};

/// Columns of the dense operand where a matrix file is given instead of a workload file.
inline constexpr int kMatrixColumns = 64;

/// Reads a workload file. A matrix file (config::is_matrix_file) in its place means a product of the
/// matrix, in FP16 with the file's values, and a dense one of kMatrixColumns columns.
/// @throws ConfigError, IoError
[[nodiscard]] config::Document read_workload(const std::filesystem::path& file);

/// Reads a workload by name (looked up in `paths`) or path, with overrides of the form
/// `workload.path=value`. File paths in it are looked up beside the workload file (those of --set
/// in the working directory), then in the data/ folders of `paths`. Throws ConfigError with all
/// mistakes; IoError if a file cannot be read or found. A pattern file is read only if shapes of
/// a pipeline depend on it, and then only its size.
[[nodiscard]] LoadedWorkload load_workload(const std::string& name_or_path,
                                           const config::ConfigPaths& paths,
                                           const std::vector<std::string>& set_overrides = {});

/// The same for a document that was read before. `file` is its name; file paths are looked up in
/// the folder of `file` first.
[[nodiscard]] LoadedWorkload load_workload(config::Document document,
                                           const std::filesystem::path& file,
                                           const config::ConfigPaths& paths,
                                           const std::vector<std::string>& set_overrides = {});

/// The same with families of the caller's own; `shape` is workload_shape_of(families).
[[nodiscard]] LoadedWorkload load_workload(config::Document document,
                                           const std::filesystem::path& file,
                                           const config::ConfigPaths& paths,
                                           const std::vector<std::string>& set_overrides,
                                           const config::Shape& shape, Families families);

inline constexpr const char* kSetPrefix = "workload.";

/// Whether a workload has the parameter `path`, which begins with kSetPrefix. `resolved`: of the
/// workload; null: of any, without what is in lists and under names.
[[nodiscard]] bool is_workload_path(const std::string& path, const nlohmann::json& resolved = {});

/// `path=value` options, divided: paths that begin with `workload.` set the workload, all others
/// the machine.
struct SetOverrides {
    std::vector<std::string> machine;
    std::vector<std::string> workload;
};
[[nodiscard]] SetOverrides split_overrides(const std::vector<std::string>& options);

/// The description of a workload file, for listings; paths in them start with "workload.".
[[nodiscard]] const config::Shape& workload_shape();
/// The same for families of the caller's own.
[[nodiscard]] config::Shape workload_shape_of(Families families);

/// What configs/schemas/workload.schema.json holds.
[[nodiscard]] nlohmann::json workload_schema();

} // namespace tessera::catalog
