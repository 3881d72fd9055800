// SPDX-License-Identifier: MIT
#include "traces/exporters/exporter.h"

#include "base/error.h"
#include "traces/exporters/formats.h"
#include "traces/exporters/track_order.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::traces {

Exporter::Exporter(std::unique_ptr<OutputFile> output, const Selection& selection,
                   const NameTable& names, ExporterOptions options)
    : TraceSink(selection.level, selection.tiles), output_(std::move(output)),
      options_(std::move(options)), buffer_(*output_) {
    const FormatSpec& spec = format_of(output_->path());
    summary_.format = spec.word;
    summary_.clock = options_.metadata.clock;
    format_ = spec.make({buffer_, names, options_.metadata});
    for (std::uint32_t chip = 0; chip < options_.metadata.chips; ++chip) {
        static_cast<void>(end_of(machine_track().of_chip(chip)));
    }
}

void Exporter::span(const Span& span) {
    TESSERA_ASSERT(!finished_ && span.track.chip < options_.metadata.chips);
    if (!wants(span.track)) {
        return;
    }
    TESSERA_ASSERT(span.begin >= 0 && span.end >= span.begin);
    if (span.begin == span.end) {
        ++summary_.skipped_empty_spans;
        return;
    }
    if (span.track.level != Level::Machine && summary_.slices >= options_.slice_cap) {
        truncate(span.begin);
        return;
    }
    Cycles& end = end_of(span.track);
    // An overlap would load without a word and change durations, so it must not get into a file.
    TESSERA_ASSERT(span.begin >= end);
    end = span.end;
    format_->span(span);
    ++summary_.slices;
    buffer_.write_if_full();
}

void Exporter::counter(const CounterSample& sample) {
    TESSERA_ASSERT(!finished_ && sample.cycle >= 0);
    const auto [last, is_new] = end_of_track_.try_emplace(track_number(sample), 0);
    if (is_new) {
        format_->declare(sample);
    }
    TESSERA_ASSERT(sample.cycle >= last->second);
    last->second = sample.cycle;
    format_->sample(sample);
    buffer_.write_if_full();
}

TraceSummary Exporter::finish() {
    TESSERA_ASSERT(!finished_);
    finished_ = true;
    Cycles cycles = 0;
    for (std::uint32_t chip = 0; chip < options_.metadata.chips; ++chip) {
        cycles = std::max(cycles, end_of(machine_track().of_chip(chip)));
    }
    format_->end(cycles);
    buffer_.write();
    output_->commit();
    std::sort(summary_.tiles.begin(), summary_.tiles.end());
    summary_.tiles.erase(std::unique(summary_.tiles.begin(), summary_.tiles.end()),
                         summary_.tiles.end());
    return summary_;
}

/// Where the last slice of `track` ends; declares what is new.
Cycles& Exporter::end_of(Track track) {
    const auto [end, is_new] = end_of_track_.try_emplace(track_number(track), 0);
    if (!is_new) {
        return end->second;
    }
    if (track.level == Level::Worker) {
        static_cast<void>(end_of(tile_of(track)));
    } else if (track.level == Level::Tile) {
        summary_.tiles.push_back(track.tile);
    }
    format_->declare(track);
    return end_of_track_[track_number(track)];
}

void Exporter::truncate(Cycles cycle) {
    stop_finer_levels();
    format_->truncated(cycle);
    summary_.truncated = true;
    summary_.message = fmt::format("the trace shows tiles only until cycle {}, where it reached {} "
                                   "slices; show fewer tiles with "
                                   "--trace-tiles or less of each with --trace-level",
                                   cycle, summary_.slices);
}

} // namespace tessera::traces
