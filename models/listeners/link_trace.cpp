// SPDX-License-Identifier: MIT
#include "models/listeners/link_trace.h"

#include <algorithm>

namespace tessera::listeners {

LinkTrace::LinkTrace(const program::SystemProgram& system, traces::TraceSink& sink,
                     traces::NameTable& names)
    : sink_(sink), flows_(traces::kFlowsOfChip * static_cast<std::int64_t>(system.chips())) {
    for (std::size_t chip = 0; chip < system.chips(); ++chip) {
        auto& of_chip = names_.emplace_back();
        for (const program::LinkExchange& exchange : system.of_chip(chip).link_exchanges) {
            of_chip.push_back(names.intern(exchange.name));
        }
    }
}

void LinkTrace::carried(const events::Carried& carried) {
    const auto from = static_cast<std::uint32_t>(carried.from);
    const auto to = static_cast<std::uint32_t>(carried.to);
    traces::Span span{
        .track = traces::link_track(false, to).of_chip(from),
        .kind = traces::Kind::Link,
        .name = names_[from].at(carried.exchange),
        .begin = carried.begin,
        .end = carried.sent,
        .args = {{{traces::ArgKey::Step, carried.step},
                  {traces::ArgKey::Bytes, carried.bytes},
                  {traces::ArgKey::Messages, carried.messages}}},
        .flow = {++flows_, false},
    };
    sink_.span(span);
    // a message is in when the cycle before is over
    span.track = traces::link_track(true, from).of_chip(to);
    span.begin = carried.first_in - 1;
    span.end = carried.last_in;
    span.args[0].value = carried.step_there;
    span.flow.ends = true;
    sink_.span(span);
}

void LinkTrace::edge(std::int64_t from, std::int64_t to, Cycles begin, Cycles end, Bytes bytes,
                     Cycles run_end) {
    if (sample_.chip != from || sample_.to != to || edge_end_ < 0) {
        end_edges();
        sample_.chip = static_cast<std::uint32_t>(from);
        sample_.to = static_cast<std::uint32_t>(to);
        sample_.value = 0;
    }
    if (bytes != 0 || sample_.value != 0) {
        edge_sample(begin, bytes);
    }
    edge_end_ = std::min(end, run_end);
}

void LinkTrace::end_edges() {
    if (edge_end_ >= 0 && sample_.value != 0) {
        edge_sample(edge_end_, 0);
    }
    edge_end_ = -1;
}

void LinkTrace::edge_sample(Cycles cycle, Bytes bytes) {
    sample_.cycle = cycle;
    sample_.value = bytes;
    sink_.counter(sample_);
}

} // namespace tessera::listeners
