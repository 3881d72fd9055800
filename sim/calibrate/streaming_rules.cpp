// SPDX-License-Identifier: MIT
// Host transfers, and rows of remote buffers.
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::sim::calibrate {
namespace {

using nlohmann::json;

const Timed kWhole{.phases = {"all"}, .steps = {}};

Mapped host_to_tiles(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t tiles = needed_tiles(row, machine);
    const std::int64_t bytes = needed(row, "msg_bytes");
    const json workload = workload_of(
        "host_transfer", {{"direction", "read"}, {"tiles", tiles}, {"bytes", whole_words(bytes)}});
    Measurement measurement =
        is_time(row) ? measure_time(row, machine, workload, kWhole)
                     : measure_rate(row, machine, workload, kWhole,
                                    static_cast<double>(tiles) * static_cast<double>(bytes));
    assume_words(measurement, bytes);
    return measurement;
}

/// K and V are read from remote buffers a chunk of positions at a time; only these transfers are
/// simulated, and they take nearly all of the time.
Mapped attention_transfers(const ReferenceRow& row, const RowMachine& machine) {
    constexpr std::int64_t kElementBytes = 2;
    const std::int64_t chunk_bytes =
        whole_words(kElementBytes * needed_product(row, {"chunk", "n_head", "head_dim", "batch"}));
    const std::int64_t chunks =
        2 * ((needed(row, "seq_len") + needed(row, "chunk") - 1) / needed(row, "chunk"));
    // Every chunk takes as long as the others: a few stand for all.
    const std::int64_t simulated = std::min<std::int64_t>(chunks, 4);
    Measurement measurement =
        measure_time(row, machine,
                     workload_of("remote_buffer", {{"direction", "read"},
                                                   {"rows", 1},
                                                   {"row_bytes", chunk_bytes},
                                                   {"repeats", simulated}}),
                     kWhole, static_cast<double>(simulated) / static_cast<double>(chunks));
    measurement.timed += fmt::format(", from {} of {} chunks", simulated, chunks);
    assume(measurement, "the transfers alone: attention itself does not run yet");
    return measurement;
}

auto refuse(const char* reason) {
    return [reason](const ReferenceRow& /*row*/, const RowMachine& /*machine*/) -> Mapped {
        return NotCovered{reason};
    };
}

} // namespace

const std::vector<Rule>& streaming_rules() {
    static const std::vector<Rule> rules{
        {"host", {{"topology", {"host"}}, {"workload", {"host to tiles"}}}, host_to_tiles},
        {"remote buffer",
         {{"workload", {"attn-remote"}}, {"metric", {"duration"}}},
         attention_transfers},
        {"remote buffer",
         {{"workload", {"sparq-attn"}}},
         refuse(
             "sparse attention does not run yet, and its rows are short reads among computation")},
        {"remote buffer",
         {{"workload", {"attn-local"}}},
         refuse("attention does not run yet, and these rows move nothing")},
    };
    return rules;
}

} // namespace tessera::sim::calibrate
