// SPDX-License-Identifier: MIT
#include "models/link/core/edge_series.h"

namespace tessera::link {

void EdgeSeries::add(std::size_t edge, Cycles cycle, Bytes payload_bytes, Bytes bytes) {
    while (static_cast<std::size_t>(cycle / interval_) >= kMostIntervals) {
        double_interval();
    }
    const auto place = static_cast<std::size_t>(cycle / interval_);
    std::vector<Part>& parts = parts_[edge];
    if (parts.size() <= place) {
        parts.resize(place + 1);
    }
    parts[place].payload_bytes += payload_bytes;
    parts[place].bytes += bytes;
}

void EdgeSeries::double_interval() {
    interval_ *= 2;
    for (std::vector<Part>& parts : parts_) {
        for (std::size_t place = 0; place < parts.size(); ++place) {
            const Part part = parts[place];
            parts[place] = {};
            parts[place / 2].payload_bytes += part.payload_bytes;
            parts[place / 2].bytes += part.bytes;
        }
        parts.resize((parts.size() + 1) / 2);
    }
}

} // namespace tessera::link
