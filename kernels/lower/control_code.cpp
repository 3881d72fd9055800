// SPDX-License-Identifier: MIT
#include "kernels/lower/control_code.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace tessera::lower {
namespace {

/// Without its children.
Bytes own_bytes(const spec::ControlSpec& control, const program::Step& step) {
    using Kind = program::Step::Kind;
    switch (step.kind) {
    case Kind::Sequence:
        return step.only ? control.branch_bytes : 0;
    case Kind::Repeat:
        return control.repeat_bytes + (step.rounds.empty() ? 0 : control.step_bytes);
    case Kind::While:
    case Kind::If:
        return control.branch_bytes;
    case Kind::Call:
    case Kind::ComputeSet:
        return control.step_bytes;
    case Kind::Exchange:
    case Kind::LinkExchange:
    case Kind::StreamCopy:
    case Kind::StreamStart:
        return control.exchange_bytes;
    case Kind::Sync:
    case Kind::StreamWait:
        return control.sync_bytes;
    }
    return 0;
}

/// But for rows; a step that reads its row or a decision, or stores its round, is like no other.
bool are_alike(const program::Step& one, const program::Step& other) {
    return one.kind == other.kind && one.index == other.index && one.count == other.count &&
           one.zone == other.zone && one.row_a_round == other.row_a_round &&
           one.only == other.only && !one.value && !other.value && one.rounds.empty() &&
           other.rounds.empty() &&
           std::equal(one.children.begin(), one.children.end(), other.children.begin(),
                      other.children.end(), are_alike);
}

/// How often the first `period` steps come behind each other.
std::size_t rounds_of(std::span<const program::Step> steps, std::size_t period) {
    const auto next = steps.subspan(period);
    const auto same = std::mismatch(next.begin(), next.end(), steps.begin(), are_alike).first;
    return 1 + static_cast<std::size_t>(same - next.begin()) / period;
}

/// The first steps of a sequence: some that come again, or one.
struct Stretch {
    std::size_t steps = 1;
    Bytes bytes = 0;
    Bytes saved = 0; ///< by a loop
};

/// `bytes`: of each step. Of stretches that save as much the longest, so that no step is looked at
/// often.
Stretch first_stretch(const spec::ControlSpec& control, std::span<const program::Step> steps,
                      std::span<const Bytes> bytes) {
    constexpr std::size_t kLongestBody = 16; // steps
    Stretch best{1, bytes.front(), 0};
    Bytes body = 0;
    for (std::size_t period = 1; period <= std::min(kLongestBody, steps.size() / 2); ++period) {
        body += bytes[period - 1];
        const std::size_t rounds = rounds_of(steps, period);
        const Bytes all = static_cast<Bytes>(rounds) * body;
        const Bytes saved = std::max<Bytes>(all - body - control.repeat_bytes, 0);
        if (rounds > 1 && std::pair(saved, rounds * period) > std::pair(best.saved, best.steps)) {
            best = {rounds * period, all - saved, saved};
        }
    }
    return best;
}

Bytes sequence_bytes(const spec::ControlSpec& control, std::span<const program::Step> steps) {
    std::vector<Bytes> all;
    all.reserve(steps.size());
    for (const program::Step& step : steps) {
        all.push_back(control_bytes(control, step));
    }
    Bytes total = 0;
    for (std::span<const Bytes> bytes = all; !bytes.empty();) {
        const Stretch first = first_stretch(control, steps.last(bytes.size()), bytes);
        total += first.bytes;
        bytes = bytes.subspan(first.steps);
    }
    return total;
}

} // namespace

Bytes control_bytes(const spec::ControlSpec& control, const program::Step& step) {
    return own_bytes(control, step) + sequence_bytes(control, step.children);
}

} // namespace tessera::lower
