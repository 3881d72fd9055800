// SPDX-License-Identifier: MIT
// Writes a run as a Perfetto trace: the protobuf format of ui.perfetto.dev and trace_processor.
// Time: 1 ns in the viewer is 1 tile cycle; absolute timestamps. Every span is one BEGIN and one
// END on a flat track. Not written: flows, real time. A span of no cycles is skipped, because
// viewers draw it as an instant and END before BEGIN at one timestamp would be ambiguous. What it
// looks like in the viewer (docs/formats/perfetto.md has the rest):
//
//   bow (1 ns = 1 cycle)
//     active_tiles, exchange_bytes      counters
//     machine    |matmul    |exchange |sync |matmul ...   a slice a phase, named by its step
//     tiles
//       tile_0   |matmul |idle |exchange|sync ...         the same for one tile, which is idle
//                                                         while it waits for slower ones
//         worker_0 .. worker_5, supervisor                a slice a vertex
// Source of the format: the Perfetto project's public trace protos; the fields used are listed with
// their numbers in tests/support/perfetto_subset.proto.
#pragma once

#include "traces/event.h"
#include "traces/output_file.h"
#include "traces/selection.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera::traces {

/// A viewer in a browser needs some 270 bytes a slice: two million are about half a gigabyte.
inline constexpr std::int64_t kDefaultSliceCap = 2'000'000;

struct PerfettoOptions {
    std::string machine_name = "machine";
    std::int64_t slice_cap = kDefaultSliceCap;
};

/// What was written. `message` is empty unless `truncated`.
struct TraceSummary {
    std::int64_t slices = 0;
    std::int64_t skipped_empty_spans = 0;
    std::vector<TileId> tiles; ///< tiles that have tracks, ascending
    bool truncated = false;
    std::string message; ///< for the user: where it was cut and how to narrow the trace
};

/// The Perfetto exporter.
///
/// Contract:
/// - The names given to span() come from `names`, which outlives the exporter.
/// - When `slice_cap` slices are there, spans of tiles and workers are no longer wanted. The
/// machine's
///   track goes on to the end, so its totals stay right.
/// - IoError in the constructor if the file cannot be written, later if the disk fills up. Without
///   finish() no file is left behind.
class PerfettoExporter final : public TraceSink {
public:
    PerfettoExporter(std::unique_ptr<OutputFile> output, const Selection& selection,
                     const NameTable& names, PerfettoOptions options = {});
    PerfettoExporter(const std::string& path, const Selection& selection, const NameTable& names,
                     PerfettoOptions options = {})
        : PerfettoExporter(std::make_unique<OutputFile>(path), selection, names,
                           std::move(options)) {}

    void span(const Span& span) override;
    void counter(const CounterSample& sample) override;

    /// Completes the file and puts it in place. Nothing may follow.
    TraceSummary finish();

private:
    void declare_process();
    void declare_child(std::uint64_t uuid, std::uint64_t parent_uuid, std::string_view name,
                       int rank);
    void declare_track(Track track);
    void declare_counter(Counter counter);
    void write_begin(std::uint64_t uuid, const Span& span);
    void write_end(std::uint64_t uuid, Cycles cycle);
    void truncate(Cycles cycle);
    void flush_if(std::size_t least_buffered_bytes);

    std::unique_ptr<OutputFile> output_;
    const NameTable& names_;
    PerfettoOptions options_;
    std::string buffer_;
    TraceSummary summary_;
    bool finished_ = false;
    std::unordered_map<std::uint64_t, Cycles> end_of_track_; // by uuid, for each declared track
    std::vector<bool> interned_categories_;                  // by identifier in the file
    std::vector<bool> interned_names_;
    std::vector<bool> interned_args_;
};

} // namespace tessera::traces
