// SPDX-License-Identifier: MIT
// What is the same point: the key of all that a point's result hangs on.
#pragma once

#include "kernels/catalog/load.h"
#include "models/spec/load.h"

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::sweep {

/// SHA-256 of all that a point's result hangs on.
struct PointKey {
    std::array<std::uint8_t, 32> bytes{};

    /// 64 hexadecimal digits.
    [[nodiscard]] std::string text() const;
    /// Nothing where `text` is no key.
    [[nodiscard]] static std::optional<PointKey> from(std::string_view text);

    friend auto operator<=>(const PointKey&, const PointKey&) = default;

    /// For unordered containers: every part of it is as good as random.
    struct Hash {
        std::size_t operator()(const PointKey& key) const {
            std::size_t part = 0;
            std::memcpy(&part, key.bytes.data(), sizeof part);
            return part;
        }
    };
};

/// SHA-256 of `bytes`.
[[nodiscard]] PointKey sha256(std::string_view bytes);

/// Gives keys, and reads the files that workloads name once.
class PointKeys {
public:
    /// `model_version`: kModelVersion of sim/result/result.h.
    explicit PointKeys(int model_version) : model_version_(model_version) {}

    /// The text of a machine in keys: every parameter with the type that its description gives it,
    /// but neither its name nor its description, nor what weighs energy and area, as no run depends
    /// on that. A machine of one chip has no parameters of systems
    /// in its keys, so that its keys are those of before there were systems.
    [[nodiscard]] static std::string part_of(const spec::LoadedMachine& machine);
    /// The same of a workload, with what the files that it names hold instead of their names.
    /// @throws IoError if one cannot be read
    [[nodiscard]] std::string part_of(const catalog::LoadedWorkload& workload);

    /// The same as it was in keys of lines without contents: with the names of the files too.
    [[nodiscard]] std::string older_part_of(const catalog::LoadedWorkload& workload);

    /// A short digest of what a file holds. @throws IoError if it cannot be read
    [[nodiscard]] std::string content_of(const std::filesystem::path& file);
    /// The same of a machine's files and of a workload with what it names, as they are before any
    /// setting. Unlike a key it does not depend on what this program adds to them.
    [[nodiscard]] static std::string content_of(const spec::MachineFiles& machine);
    [[nodiscard]] std::string content_of(const config::Document& workload,
                                         const std::vector<catalog::InputFile>& inputs);

    /// Of both parts, the mode and the version of the model. Not of what only the host feels:
    /// threads, audited tiles.
    [[nodiscard]] PointKey of(const std::string& machine_part, const std::string& workload_part,
                              const std::string& mode) const;

private:
    [[nodiscard]] const std::string& sha256_of(const std::filesystem::path& file);

    int model_version_;
    std::map<std::filesystem::path, std::string> contents_; ///< SHA-256 of files
};

} // namespace tessera::sweep
