// SPDX-License-Identifier: MIT
// Workloads of several chips: each kind writes the graph that all chips run, who is at the ends of its
// channels, and what the host gives each chip and finds there.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/workload/workload.h"
#include "models/program/array_id.h"
#include "models/program/system_program.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tessera::chips {

/// The row-major array of a tensor on one chip.
struct ChipBytes {
    std::size_t chip = 0;
    program::ArrayId array;
    std::vector<std::byte> bytes;
};

struct ChipValues {
    std::vector<ChipBytes> given;    ///< what the host writes before the run
    std::vector<ChipBytes> expected; ///< what the run must leave, in every bit
};

struct Emitted {
    std::vector<graph::Graph> graphs; ///< of each class of chips; their name says what runs
    std::vector<std::size_t> graph_of_chip;
    std::vector<std::vector<program::Peer>> peers = {};
    std::vector<std::vector<std::uint32_t>> zones = {};
    std::vector<program::Ranks> ranks = {};
    std::function<ChipValues()> values; ///< to be made when the graphs are known to fit
    Bytes useful_bytes = 0;             ///< moved for the user, by all chips
    std::map<std::string, std::int64_t> choices = {}; ///< what was chosen, for the result's `plan`
};

/// Of a machine of several chips. All of them: @throws DoesNotFit; ConfigError for chips and tiles that the
/// machine has not
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::CollectiveWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::LinkPatternWorkload& workload);

} // namespace tessera::chips
