// SPDX-License-Identifier: MIT
// A result read back: from a file that anybody may have changed.
#pragma once

#include "sim/process/output.h"

#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tessera::result {

/// The lists of steps of a result, and what one of each is called.
inline constexpr std::array<std::pair<const char*, const char*>, 4> kStepLists{
    {{"compute_sets", "compute_set"},
     {"exchanges", "exchange"},
     {"streams", "stream"},
     {"link_exchanges", "link_exchange"}}};

/// What a folder of `--out` calls it.
inline constexpr const char* kResultFile = "result.json";
/// And the recording beside it (docs/formats/recording.md).
inline constexpr const char* kRecordingFile = "recording.bin.gz";
/// Pages look for this file beside it, where --memory wrote it there.
inline constexpr const char* kMemoryFile = "memory.json";

/// Whether it has what every result of a run or an estimate has: cycles, and a machine and a workload
/// with names.
[[nodiscard]] bool is_result(const nlohmann::json& document);

/// Whether there is a file, or a link to one.
[[nodiscard]] bool is_file(const std::filesystem::path& path);

/// The JSON of a file. @throws ConfigError where it is none; IoError
[[nodiscard]] nlohmann::json read_json(const std::filesystem::path& file, const std::string& what);

/// @throws ConfigError where the file has other JSON than a result; IoError
[[nodiscard]] nlohmann::json read_result(const std::filesystem::path& file);

/// The number at a JSON pointer; 0 where there is none.
[[nodiscard]] double number_at(const nlohmann::json& document, const std::string& pointer);
/// The text at a JSON pointer, without characters that terminals obey; empty where there is none.
[[nodiscard]] std::string text_at(const nlohmann::json& document, const std::string& pointer);
/// The list of a key; empty where there is none. The document outlives it.
[[nodiscard]] const nlohmann::json& list_at(const nlohmann::json& document, const std::string& key);

/// Refuses an output that would take the place of what a command reads: one of `inputs` (a file, a
/// folder of `--out`, a store, or STORE:KEY), a file that such a folder is read for, anything in a
/// store. @throws UsageError
void keep_inputs(const std::string& command, const std::vector<process::NamedOutput>& outputs,
                 const std::vector<std::string>& inputs);

/// `text` with a '?' for each character that terminals obey.
[[nodiscard]] std::string printable(std::string text);

} // namespace tessera::result
