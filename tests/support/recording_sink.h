// SPDX-License-Identifier: MIT
// A trace sink that keeps what it is told.
#pragma once

#include "traces/event.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::test {

/// (begin, end) of spans, or (cycle, value) of samples.
using Events = std::vector<std::pair<Cycles, std::int64_t>>;

class RecordingSink final : public traces::TraceSink {
public:
    explicit RecordingSink(std::vector<bool> tiles)
        : TraceSink(traces::Level::Worker, std::move(tiles)) {}
    void span(const traces::Span& span) override { spans.push_back(span); }
    void counter(const traces::CounterSample& sample) override { samples.push_back(sample); }

    [[nodiscard]] Events of(traces::Track track, traces::Kind kind) const {
        Events found;
        for (const auto& span : spans) {
            if (span.track == track && span.kind == kind) {
                found.emplace_back(span.begin, span.end);
            }
        }
        return found;
    }
    [[nodiscard]] Events of(traces::Counter counter) const {
        Events found;
        for (const auto& sample : samples) {
            if (sample.counter == counter) {
                found.emplace_back(sample.cycle, sample.value);
            }
        }
        return found;
    }

    std::vector<traces::Span> spans;
    std::vector<traces::CounterSample> samples;
};

} // namespace tessera::test
