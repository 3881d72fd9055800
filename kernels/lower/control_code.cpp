// SPDX-License-Identifier: MIT
#include "kernels/lower/control_code.h"

#include <algorithm>
#include <span>

namespace tessera::lower {
namespace {

/// Without its children.
Bytes own_bytes(const spec::ControlSpec& control, const program::Step& step) {
    using Kind = program::Step::Kind;
    switch (step.kind) {
    case Kind::Sequence:
        return 0;
    case Kind::Repeat:
        return control.repeat_bytes;
    case Kind::While:
    case Kind::If:
        return control.branch_bytes;
    case Kind::Call:
    case Kind::ComputeSet:
        return control.step_bytes;
    case Kind::Exchange:
    case Kind::StreamCopy:
    case Kind::StreamStart:
        return control.exchange_bytes;
    case Kind::Sync:
    case Kind::StreamWait:
        return control.sync_bytes;
    }
    return 0;
}

/// But for rows; a step that reads its row or a decision is like no other.
bool are_alike(const program::Step& one, const program::Step& other) {
    return one.kind == other.kind && one.index == other.index && one.count == other.count &&
           one.zone == other.zone && !one.value && !other.value &&
           std::equal(one.children.begin(), one.children.end(), other.children.begin(),
                      other.children.end(), are_alike);
}

/// How often the first `period` steps come behind each other.
std::size_t rounds_of(std::span<const program::Step> steps, std::size_t period) {
    std::size_t end = period;
    while (end < steps.size() && are_alike(steps[end], steps[end - period])) {
        ++end;
    }
    return end / period;
}

Bytes sequence_bytes(const spec::ControlSpec& control, std::span<const program::Step> steps) {
    constexpr std::size_t kLongestBody = 16; // steps
    Bytes bytes = 0;
    while (!steps.empty()) {
        Bytes body = control_bytes(control, steps.front());
        std::size_t covered = 1;
        Bytes taken = body;
        Bytes most_saved = 0;
        for (std::size_t period = 1; period <= std::min(kLongestBody, steps.size() / 2); ++period) {
            body += period == 1 ? 0 : control_bytes(control, steps[period - 1]);
            const std::size_t rounds = rounds_of(steps, period);
            const Bytes saved = static_cast<Bytes>(rounds - 1) * body - control.repeat_bytes;
            if (rounds > 1 && saved > most_saved) {
                most_saved = saved;
                covered = rounds * period;
                taken = control.repeat_bytes + body;
            }
        }
        bytes += taken;
        steps = steps.subspan(covered);
    }
    return bytes;
}

} // namespace

Bytes control_bytes(const spec::ControlSpec& control, const program::Step& step) {
    return own_bytes(control, step) + sequence_bytes(control, step.children);
}

} // namespace tessera::lower
