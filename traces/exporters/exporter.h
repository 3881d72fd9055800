// SPDX-License-Identifier: MIT
// Writes a run as a trace, in the format that the file's ending asks for:
//
//   t.pftrace, t.pftrace.gz, anything else   Perfetto, docs/formats/perfetto.md
//   t.json, t.json.gz                        Chrome's trace events, docs/formats/chrome.md
//   t.vcd, t.vcd.gz                          value changes, docs/formats/vcd.md
//
// What holds in every format is here: which spans are written, where a large trace is cut, that a
// track is flat. A span of no cycles is skipped: viewers would draw it as an instant, and it says
// nothing.
#pragma once

#include "traces/event.h"
#include "traces/exporters/buffer.h"
#include "traces/exporters/format.h"
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

struct ExporterOptions {
    Metadata metadata = {};
    std::int64_t slice_cap = kDefaultSliceCap;
};

/// What was written. `message` is empty unless `truncated`.
struct TraceSummary {
    std::string format; ///< a word of formats()
    Clock clock = Clock::Cycles;
    std::int64_t slices = 0;
    std::int64_t skipped_empty_spans = 0;
    std::vector<TileId> tiles; ///< tiles that have tracks, on whatever chip, ascending
    bool truncated = false;
    std::string message; ///< for the user: where it was cut and how to narrow the trace
};

/// A trace of any format.
///
/// Contract:
/// - The names given to span() come from `names`, which outlives the exporter.
/// - When `slice_cap` slices are there, spans of tiles and workers are no longer wanted. The
///   machine's tracks go on to the end, so their totals stay right.
/// - IoError in the constructor if the file cannot be written, later if the disk fills up. Without
///   finish() no file is left behind.
class Exporter final : public TraceSink {
public:
    Exporter(std::unique_ptr<OutputFile> output, const Selection& selection, const NameTable& names,
             ExporterOptions options = {});
    Exporter(const std::string& path, const Selection& selection, const NameTable& names,
             ExporterOptions options = {})
        : Exporter(std::make_unique<OutputFile>(path), selection, names, std::move(options)) {}

    void span(const Span& span) override;
    void counter(const CounterSample& sample) override;

    /// Completes the file and puts it in place. Nothing may follow.
    TraceSummary finish();

private:
    [[nodiscard]] Cycles& end_of(Track track);
    void truncate(Cycles cycle);

    std::unique_ptr<OutputFile> output_;
    ExporterOptions options_;
    Buffer buffer_;
    std::unique_ptr<Format> format_;
    TraceSummary summary_;
    bool finished_ = false;
    std::unordered_map<std::uint64_t, Cycles> end_of_track_; ///< by number, of declared ones
};

} // namespace tessera::traces
