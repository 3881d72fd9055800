// SPDX-License-Identifier: MIT
#include "traces/coverage.h"

#include <fmt/format.h>

namespace tessera::traces {

CoverageSink::CoverageSink(const Selection& selection)
    : TraceSink(selection.level, selection.tiles), tiles_(selection.traced_tiles()) {}

void CoverageSink::span(const Span& span) {
    if (!wants(span.track)) {
        return;
    }
    auto& covered = covered_[path(span.track)];
    if (span.end < span.begin) {
        problems_.push_back(fmt::format("{}: a span from cycle {} ends before it, at cycle {}",
                                        path(span.track), span.begin, span.end));
        return;
    }
    if (span.begin < covered.until) {
        problems_.push_back(fmt::format("{}: a span begins at cycle {}, inside the one until {}",
                                        path(span.track), span.begin, covered.until));
    } else if (span.begin > covered.until && span.track.level != Level::Worker &&
               (span.track.level != Level::Machine || span.track == machine_track())) {
        problems_.push_back(fmt::format("{}: no span covers cycles {} to {}", path(span.track),
                                        covered.until, span.begin));
    }
    covered.until = span.end;
    covered.by_kind[static_cast<std::size_t>(span.kind)] += span.end - span.begin;
}

std::array<Cycles, kKindWords.size()> CoverageSink::totals(Track track) const {
    const auto found = covered_.find(path(track));
    return found == covered_.end() ? Covered{}.by_kind : found->second.by_kind;
}

std::vector<std::string> CoverageSink::problems(Cycles run_cycles) const {
    auto problems = problems_;
    std::vector<Track> whole = {machine_track()};
    for (const auto tile : tiles_) {
        whole.push_back(tile_track(tile));
    }
    for (const auto track : whole) {
        const auto found = covered_.find(path(track));
        const auto until = found == covered_.end() ? 0 : found->second.until;
        if (until != run_cycles) {
            problems.push_back(fmt::format("{}: spans end at cycle {}, the run at cycle {}",
                                           path(track), until, run_cycles));
        }
    }
    return problems;
}

} // namespace tessera::traces
