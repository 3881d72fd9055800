// SPDX-License-Identifier: MIT
// The values of a result, found from what a run left; result.cpp says which key each has.
#pragma once

#include "base/units.h"
#include "models/listeners/account.h"
#include "models/program/memory_use.h"
#include "sim/result/result.h"
#include "sim/result/result_head.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::result {

using program::BytesByKind;

/// A kernel's or a pipeline step's cycles; a row for those that are nobody's.
struct KernelShare {
    std::string name;
    Cycles cycles = 0;
    double percent = 0;
    Cycles compute = 0;
    Cycles exchange = 0;
    Cycles sync = 0;
    Cycles stream = 0;
    Cycles link = 0;
    Cycles rearrange = 0;
};

/// With what the critical path says of it.
struct StepFacts : listeners::StepRecord {
    std::string sentence;
};

struct StreamRecord : StepFacts {
    std::string peer;
    const char* direction = "";
};

/// A chip of a system.
struct ChipRecord {
    std::int64_t chip = 0;
    Cycles cycles = 0;
    listeners::CyclesByKind phases;
};

struct MemoryPeak {
    Bytes tile_bytes = 0;
    double mean_bytes = 0; ///< of the tiles' peaks
    Bytes bytes = 0;
    std::string step;
    TileId tile = 0;
    BytesByKind by_kind{};
    BytesByKind most_by_kind{}; ///< over tiles and steps, each kind by itself
};

struct Share {
    double cycles = 0;
    double percent = 0;
};
using Explanation = std::map<std::string, Share>; ///< by key; parts of no cycles may be missing

[[nodiscard]] double mean(const std::vector<Cycles>& cycles);
[[nodiscard]] std::optional<Bytes> useful_bytes(const RunFacts& facts);
[[nodiscard]] std::vector<StepFacts> compute_set_records(const RunFacts& facts);
[[nodiscard]] std::vector<StepFacts> exchange_records(const RunFacts& facts);
[[nodiscard]] std::vector<StreamRecord> stream_records(const RunFacts& facts);
/// In the order in which they first appear. They sum to the run.
[[nodiscard]] std::vector<KernelShare> kernel_shares(const RunFacts& facts);
/// The parts sum to the run.
[[nodiscard]] Explanation explanation(const listeners::Account& account);
[[nodiscard]] MemoryPeak memory_peak(const RunFacts& facts);
[[nodiscard]] std::int64_t worker_bundles(const RunFacts& facts);
[[nodiscard]] std::int64_t peak_rss_bytes();

/// Whether a tile takes part in a step of some kind, or in any.
[[nodiscard]] bool computes(const listeners::Account& account, std::size_t tile);
[[nodiscard]] bool exchanges(const listeners::Account& account, std::size_t tile);
[[nodiscard]] bool streams(const listeners::Account& account, std::size_t tile);
[[nodiscard]] bool links(const listeners::Account& account, std::size_t tile);
[[nodiscard]] bool takes_part(const listeners::Account& account, std::size_t tile);

} // namespace tessera::result
