// SPDX-License-Identifier: MIT
// What `tessera run --memory F` writes: each step's, each tile's and each buffer's memory, from the
// program alone (docs/formats/memory.md).
//
//     "steps": [{"steps": "1", "name": "multiply", "max_bytes": 7164, "worst_tile": 1, ...}],
//     "tiles": [{"tiles": "0,2", "always_bytes": 1548, "peak_bytes": 7132, "peak_step": 1,
//                "free_bytes": ...}],
//     "buffers": [{"name": "x", "kind": "tensor", "bytes": 1536, "address": 327680,
//                  "first_step": 0, "last_step": 1, "tiles": "0-3"}]
#pragma once

#include "models/program/memory_use.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <nlohmann/json.hpp>

#include <string>

namespace tessera::result {

using program::BytesByKind;

inline constexpr int kMemorySchemaVersion = 2;

[[nodiscard]] nlohmann::json make_memory_report(const spec::MachineSpec& machine,
                                                const std::string& workload,
                                                const program::Program& program);

/// JSON Schema (draft 7) of a memory report.
[[nodiscard]] nlohmann::json memory_report_schema();

/// {"code": ..., "stack": ..., ...}
[[nodiscard]] nlohmann::json by_kind_json(const BytesByKind& by_kind);
/// The schema of the same.
[[nodiscard]] nlohmann::json by_kind_schema(const char* sentence);

} // namespace tessera::result
