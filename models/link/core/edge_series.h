// SPDX-License-Identifier: MIT
// What went over each edge by time, in intervals of one length. There are kMostIntervals at most: where
// traffic lasts longer, two neighbours become one, so that memory does not grow with the run.
#pragma once

#include "base/units.h"

#include <cstddef>
#include <span>
#include <vector>

namespace tessera::link {

class EdgeSeries {
public:
    static constexpr Cycles kFirstInterval = 64;
    static constexpr std::size_t kMostIntervals = 1024;

    struct Part {
        Bytes payload_bytes = 0;
        Bytes bytes = 0; ///< with overheads

        bool operator==(const Part&) const = default;
    };

    explicit EdgeSeries(std::size_t edges) : parts_(edges) {}

    /// A packet begins to leave over `edge` in `cycle`.
    void add(std::size_t edge, Cycles cycle, Bytes payload_bytes, Bytes bytes);

    [[nodiscard]] Cycles interval() const { return interval_; }
    /// By interval from cycle 0 on, up to the last in which a packet began.
    [[nodiscard]] std::span<const Part> of(std::size_t edge) const { return parts_.at(edge); }

private:
    void double_interval();

    Cycles interval_ = kFirstInterval;
    std::vector<std::vector<Part>> parts_; ///< by edge
};

} // namespace tessera::link
