// SPDX-License-Identifier: MIT
// What is the same point: the key of all that a point's result hangs on.
#pragma once

#include "kernels/catalog/load.h"
#include "models/spec/load.h"

#include <filesystem>
#include <map>
#include <string>

namespace tessera::sweep {

/// Gives keys, and reads the files that workloads name once.
class PointKeys {
public:
    /// `model_version`: kModelVersion of sim/result.h.
    explicit PointKeys(int model_version) : model_version_(model_version) {}

    /// SHA-256, as 64 hexadecimal digits, of every parameter of machine and workload with the types
    /// that their descriptions give them, what the workload's files hold, the mode and the version of
    /// the model. Not of names, nor of what only the host feels: threads, audited tiles.
    /// @throws IoError if a file cannot be read
    [[nodiscard]] std::string of(const spec::LoadedMachine& machine,
                                 const catalog::LoadedWorkload& workload, const std::string& mode);

private:
    [[nodiscard]] const std::string& contents(const std::filesystem::path& file);

    int model_version_;
    std::map<std::filesystem::path, std::string> contents_; ///< SHA-256 of files
};

/// SHA-256 as 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

} // namespace tessera::sweep
