// SPDX-License-Identifier: MIT
#include "models/tile/core/standstill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tessera::tile {
namespace {

/// Whether both contexts would do the same from here.
bool same_state(const isa::Context& a, const isa::Context& b) {
    constexpr std::size_t kMain = 16;
    constexpr std::size_t kAux = 8;
    return std::equal(a.main, a.main + kMain, b.main) && std::equal(a.aux, a.aux + kAux, b.aux) &&
           a.repeat_count == b.repeat_count && a.fp_control == b.fp_control &&
           a.fp_status == b.fp_status && a.fp_format == b.fp_format && a.fp_scale == b.fp_scale &&
           a.tas == b.tas && a.random == b.random && a.debug == b.debug &&
           std::memcmp(&a.accumulators, &b.accumulators, sizeof a.accumulators) == 0;
}

} // namespace

void Standstill::start_phase() {
    version_ = 0;
    for (Rounds& rounds : rounds_) {
        rounds.is_kept = false;
        rounds.goes_round = false;
        rounds.branches = 0;
        rounds.until = 1;
        rounds.looks.clear();
    }
}

void Standstill::read(int context, const Look& look) {
    auto& looks = rounds_[index_of(context)].looks;
    if (looks.size() < kMostLooks && std::find(looks.begin(), looks.end(), look) == looks.end()) {
        looks.push_back(look);
    }
}

/// Brent's way: the kept state is replaced after 1, 2, 4, ... branches, so that a loop of any length
/// is found after a few of its rounds.
bool Standstill::branched_back(const isa::Context& context, Address target) {
    Rounds& rounds = rounds_[index_of(context.number)];
    if (rounds.is_kept && rounds.target == target && rounds.version == version_ &&
        same_state(rounds.state, context)) {
        rounds.goes_round = true;
        return true;
    }
    rounds.goes_round = false;
    if (++rounds.branches >= rounds.until || rounds.version != version_) {
        rounds.until = rounds.version != version_ ? 1 : 2 * rounds.until;
        rounds.branches = 0;
        rounds.is_kept = true;
        rounds.target = target;
        rounds.version = version_;
        rounds.state = context;
        rounds.looks.clear();
    }
    return false;
}

const Standstill::Look* Standstill::first_look(int context) const {
    const Look* first = nullptr;
    for (const Look& look : rounds_[index_of(context)].looks) {
        if (first == nullptr || (look.awaits && !first->awaits)) {
            first = &look;
        }
    }
    return first;
}

std::string Standstill::text(int context, bool only_awaited, const CodeCache& code) const {
    std::string text = context < 0 ? std::string("supervisor") : fmt::format("worker_{}", context);
    const char* separator = " for the word at ";
    for (const Look& look : rounds_[index_of(context)].looks) {
        if (look.awaits || !only_awaited) {
            const std::string line = code.source_line(look.pc);
            text += fmt::format("{}{:#x} ({})", separator, look.word,
                                line.empty() ? fmt::format("instruction at {:#x}", look.pc) : line);
            separator = ", ";
        }
    }
    return text;
}

} // namespace tessera::tile
