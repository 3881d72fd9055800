// SPDX-License-Identifier: MIT
// Workload files: configs/workloads/<name>.json -> Workload.
#pragma once

#include "base/config/document.h"
#include "base/config/paths.h"
#include "base/config/shape.h"
#include "kernels/catalog/catalog.h"
#include "kernels/workload/workload.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::catalog {

/// A file of values or of a pattern that a workload names.
struct InputFile {
    std::string pointer; ///< of its name in the document
    std::filesystem::path path;
};

struct LoadedWorkload {
    workload::Workload workload; ///< file paths resolved
    nlohmann::json resolved;     ///< every parameter; file paths as they were written
    config::Origins origins;     ///< of the values that the file or --set gave
    std::filesystem::path file;
    std::vector<InputFile> inputs;
};

/// Columns of the dense operand beside a matrix that is given instead of a workload file.
inline constexpr int kMatrixColumns = 64;

/// What a workload file says. A matrix in its place (config::is_matrix_file) is the sparse operand, in FP16
/// with the values of its file, of a product with a dense one of kMatrixColumns columns.
/// @throws ConfigError, IoError
[[nodiscard]] config::Document read_workload(const std::filesystem::path& file);

/// Reads a workload by name (looked up in `paths`) or path, with overrides of the form
/// `workload.path=value`. File paths in it are looked up beside the workload file (those of --set
/// in the working directory), then in the data/ folders of `paths`. Throws ConfigError with all
/// mistakes; IoError if a file cannot be read or found. Of a pattern's file only its size is read,
/// and only where a pipeline's shapes depend on it.
[[nodiscard]] LoadedWorkload load_workload(const std::string& name_or_path,
                                           const config::ConfigPaths& paths,
                                           const std::vector<std::string>& set_overrides = {});

/// The same from a document that was read already; `file` is what it is called, and its folder is
/// where file paths are looked up first.
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

/// `path=value` options by whom they are for: `workload.` paths for the workload, all others for
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
