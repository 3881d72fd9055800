// SPDX-License-Identifier: MIT
// Host transfers, and rows of remote buffers.
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::calibrate {
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

constexpr std::int64_t kElementBytes = 2;
constexpr const char* kTransfersAlone = "the transfers alone: attention itself has its own rows";

/// K and V are read from remote buffers a chunk of positions at a time; only these transfers are
/// simulated, and they take nearly all of the time.
Mapped attention_transfers(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t positions = needed(row, "seq_len");
    const std::int64_t chunk = std::min(needed(row, "chunk"), positions);
    static_cast<void>(needed_product(row, {"chunk", "n_head", "head_dim", "batch"})); // its limit
    const std::int64_t chunk_bytes =
        whole_words(kElementBytes * chunk * needed_product(row, {"n_head", "head_dim", "batch"}));
    const std::int64_t chunks = 2 * ((positions + chunk - 1) / chunk);
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
    assume(measurement, kTransfersAlone);
    return measurement;
}

/// Rows of a remote buffer, in as many copies as their limit makes of them.
struct RowReads {
    Run run;           ///< one copy
    double copies = 0; ///< all rows over those of one
};

RowReads read_rows(const RowMachine& machine, std::int64_t rows, std::int64_t row_bytes) {
    const std::int64_t most =
        std::max<std::int64_t>(machine.spec.streaming.copy_limit_bytes / row_bytes, 1);
    const std::int64_t copies = (rows + most - 1) / most;
    const std::int64_t at_once = (rows + copies - 1) / copies;
    return {{machine.name, machine.sets,
             workload_of("remote_buffer", {{"direction", "read"},
                                           {"rows", at_once},
                                           {"chunk_rows", at_once},
                                           {"row_bytes", row_bytes}})},
            static_cast<double>(rows) / static_cast<double>(at_once)};
}

/// Sparse attention reads r components of all keys, a row of all positions each, and then k keys
/// and k values, a row each; only these transfers are simulated.
Mapped sparse_attention_transfers(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t component_bytes = kElementBytes * needed(row, "seq_len");
    const std::int64_t position_bytes = kElementBytes * needed(row, "head_dim");
    const RowReads components = read_rows(machine, needed_product(row, {"batch", "n_head", "r"}),
                                          whole_words(component_bytes));
    const RowReads positions = read_rows(machine, needed_product(row, {"batch", "n_head", "k"}),
                                         whole_words(position_bytes));
    Measurement measurement;
    assume_words(measurement, component_bytes);
    assume_words(measurement, position_bytes);
    measurement.timed = fmt::format("all: {:g} copies of components, twice {:g} of positions",
                                    components.copies, positions.copies);
    measurement.runs = {components.run, positions.run};
    assume(measurement, kTransfersAlone);
    measurement.read = [row, components, positions](const std::vector<json>& results) {
        const double cycles = components.copies * cycles_of(results[0], kWhole) +
                              2 * positions.copies * cycles_of(results[1], kWhole);
        return time_in_unit(row, cycles, clock_of(results[0]));
    };
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
        {"remote buffer: rows",
         {{"workload", {"sparq-attn"}}, {"metric", {"duration"}}},
         sparse_attention_transfers},
        {"remote buffer",
         {{"workload", {"attn-local"}}},
         refuse("attention itself has its own rows, and these move nothing")},
    };
    return rules;
}

} // namespace tessera::calibrate
