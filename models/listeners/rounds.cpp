// SPDX-License-Identifier: MIT
#include "models/listeners/rounds.h"

#include <algorithm>

namespace tessera::listeners {

using events::Doing;

void Rounds::copy_begun(const events::Flight& flight) {
    if (flight.copy != copy_) {
        return;
    }
    if (!rounds_.empty()) {
        rounds_.back().cycles = flight.begin - rounds_.back().begin;
    }
    rounds_.push_back({flight.begin, 0, {}});
}

/// What is told of may have been done before the copy began, behind the barrier before.
void Rounds::released(const events::Release& release) {
    for (const events::PathSpan& part : release.path) {
        const std::string* owner = owner_of(part.span);
        if (owner == nullptr || owner->empty()) {
            continue;
        }
        Cycles end = part.span.end;
        for (auto round = rounds_.rbegin(); round != rounds_.rend() && end > part.span.begin;
             ++round) {
            const Cycles begin = std::max(part.span.begin, round->begin);
            if (end > begin) {
                add(*round, *owner, end - begin);
                end = begin;
            }
        }
    }
    if (release.ends_program && !rounds_.empty()) {
        rounds_.back().cycles = release.cycle - rounds_.back().begin;
    }
}

void Rounds::add(Round& round, const std::string& owner, Cycles cycles) {
    auto kernel = std::ranges::find_if(round.kernels,
                                       [&](const auto& known) { return known.first == owner; });
    if (kernel == round.kernels.end()) {
        kernel = round.kernels.insert(kernel, {owner, 0});
    }
    kernel->second += cycles;
}

const std::string* Rounds::owner_of(const events::Span& span) const {
    switch (span.doing) {
    case Doing::ComputeSet:
        return &program_.compute_sets.at(span.index).owner;
    case Doing::Exchange:
        return &program_.exchanges.at(span.index).owner;
    case Doing::Stream:
        return &program_.stream_copies.at(span.index).owner;
    case Doing::Link:
        return &program_.link_exchanges.at(span.index).owner;
    case Doing::Delayed:
    case Doing::Control:
    case Doing::Told:
    case Doing::Awaited:
        break;
    }
    return nullptr;
}

} // namespace tessera::listeners
