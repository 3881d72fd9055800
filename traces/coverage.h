// SPDX-License-Identifier: MIT
// A sink that checks a producer: the spans of a tile, and of the machine, cover the run with no
// gap.
#pragma once

#include "traces/event.h"
#include "traces/selection.h"

#include <array>
#include <map>
#include <string>
#include <vector>

namespace tessera::traces {

/// Adds up cycles by kind for the machine and each selected tile, and notes what breaks the
/// contract of TraceSink: a gap, an overlap, a span that ends before it begins.
class CoverageSink final : public TraceSink {
public:
    explicit CoverageSink(const Selection& selection);

    void span(const Span& span) override;
    void counter(const CounterSample&) override {}

    /// Cycles by kind, in the order of kKindWords; zeros where nothing was seen.
    [[nodiscard]] std::array<Cycles, kKindWords.size()> totals(Track track) const;

    /// One sentence for each fault, given that the run lasted `run_cycles`; empty if all is well.
    [[nodiscard]] std::vector<std::string> problems(Cycles run_cycles) const;

private:
    struct Covered {
        Cycles until = 0;
        std::array<Cycles, kKindWords.size()> by_kind = {};
    };

    std::vector<TileId> tiles_;
    std::map<std::string, Covered> covered_; // by path; tracks of workers and links may have gaps
    std::vector<std::string> problems_;
};

} // namespace tessera::traces
