// SPDX-License-Identifier: MIT
#include "models/tile/core/tile_walk.h"

#include "base/error.h"
#include "models/events/slow_motion.h"
#include "models/program/word_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace tessera::tile {

using events::Doing;
using Purpose = events::Meeting::Purpose;
using Kind = program::Step::Kind;

TileWalk::TileWalk(const WalkFacts& facts, TileId tile)
    : facts_(facts), tile_(tile),
      control_(facts.program, facts.machine.control.while_limit_rounds) {}

void TileWalk::load(const program::Image& image, CodeCache& code, std::span<std::byte> memory) {
    core_ = std::make_unique<TileCore>(facts_.machine, tile_, memory.data());
    core_->keep_only(static_cast<Bytes>(memory.size()));
    if (facts_.timing != nullptr) {
        core_->set_timing(*facts_.timing);
    }
    core_->load(image, code);
}

template <class Body> void TileWalk::guarded(const Body& body) {
    try {
        body();
    } catch (...) {
        stop_ = {.kind = Stop::Kind::Failed, .cycle = at_, .failure = std::current_exception()};
    }
}

void TileWalk::begin() {
    guarded([&] {
        add(Doing::Delayed, 0, facts_.begins_at);
        go_on();
    });
}

void TileWalk::released(Cycles cycle, const Heard& heard) {
    TESSERA_ASSERT(stop_.kind == Stop::Kind::Barrier);
    guarded([&] {
        spans_.clear();
        contexts_.clear();
        at_ = cycle;
        if (stop_.meeting.purpose == Purpose::Exchange) {
            add(Doing::Exchange, stop_.meeting.exchange, heard.row_cycles, heard.lanes);
            passed(Kind::Exchange, stop_.meeting.exchange);
        } else if (stop_.meeting.purpose == Purpose::Link) {
            if (std::ranges::binary_search(facts_.tiles_of_link[stop_.meeting.exchange], tile_)) {
                stop_.kind = Stop::Kind::Links;
                stop_.cycle = at_;
                return;
            }
        } else if (stop_.meeting.purpose == Purpose::Value) {
            add(Doing::Told, 0, heard.word_cycles);
            const Step& step = *std::exchange(asking_, nullptr);
            if (step.kind == Kind::While || step.kind == Kind::If) {
                control_cost_ += facts_.machine.control.branch_cycles;
                control_.decide(heard.word != 0);
            } else if (takes_part(step.index)) {
                call_copy(step, heard.word);
                return;
            }
        }
        go_on();
    });
}

void TileWalk::called() {
    TESSERA_ASSERT(stop_.kind == Stop::Kind::Call);
    guarded([&] {
        const auto copy = stop_.call.copy;
        if (stop_.call.background) {
            control_cost_ += facts_.machine.control.step_cycles;
            go_on();
        } else {
            wait_for_copy(copy);
        }
    });
}

void TileWalk::copy_ended(Cycles begun, TileId last, Cycles ended) {
    TESSERA_ASSERT(stop_.kind == Stop::Kind::Wait);
    guarded([&] {
        if (begun > at_) {
            add(Doing::Awaited, stop_.call.copy, begun - at_);
            spans_.back().awaited = last;
        }
        add(Doing::Stream, stop_.call.copy, std::max<Cycles>(0, ended - at_));
        under_way_.erase(std::find(under_way_.begin(), under_way_.end(), stop_.call.copy));
        if (!pauses_behind(stop_.call.copy)) {
            go_on();
        }
    });
}

void TileWalk::link_over(Cycles cycle) {
    TESSERA_ASSERT(stop_.kind == Stop::Kind::Links);
    guarded([&] {
        add(Doing::Link, stop_.meeting.exchange,
            cycle + facts_.machine.exchange.row_return_cycles - at_);
        go_on();
    });
}

void TileWalk::go_on() {
    while (true) {
        const program::Visit visit = control_.next();
        switch (visit.kind) {
        case program::Visit::Kind::Round:
            if (pauses_at(*visit.step)) {
                paused_at_ = visit.step;
                return;
            }
            if (is_idle_in(*visit.step) && note_round(*visit.step) && is_steady_) {
                skip_to_last(*visit.step);
            }
            begin_round(*visit.step);
            continue;
        case program::Visit::Kind::Called:
            control_cost_ += facts_.machine.control.call_cycles;
            continue;
        case program::Visit::Kind::Chosen:
            control_cost_ += facts_.machine.control.branch_cycles;
            continue;
        case program::Visit::Kind::Decide:
            spend_control();
            meet(Purpose::Value, visit.step);
            return;
        case program::Visit::Kind::Run:
            spend_control();
            ++steps_;
            if (run(*visit.step)) {
                return;
            }
            continue;
        case program::Visit::Kind::End:
            spend_control();
            if (!under_way_.empty()) {
                throw ProgramError(fmt::format(
                    "stream copy {}: under way at the end of the program, cycle {}: nothing waits "
                    "for it",
                    facts_.program.stream_copies[under_way_.front()].name, at_));
            }
            meet(Purpose::End, nullptr);
            return;
        }
    }
}

void TileWalk::begin_round(const Step& repeat) {
    control_cost_ += facts_.machine.control.repeat_cycles;
    store_round(repeat);
}

bool TileWalk::pauses_at(const Step& repeat) {
    return may_pause_ && facts_.lone_repeats.contains(&repeat) && note_round(repeat);
}

bool TileWalk::pauses_behind(std::uint32_t copy) {
    if (!std::exchange(may_pause_, false)) {
        return false;
    }
    const Step* const repeat = control_.innermost_repeat();
    const auto counted = facts_.copy_repeats.find(repeat);
    if (counted == facts_.copy_repeats.end() || counted->second != copy || !note_round(*repeat)) {
        return false;
    }
    paused_at_ = repeat;
    return true;
}

TileWalk::Pause TileWalk::pause() const {
    return {paused_at_, static_cast<std::int64_t>(paused_at_->count) - control_.round() - 1};
}

bool TileWalk::is_idle_in(const Step& repeat) const {
    const auto counted = facts_.copy_repeats.find(&repeat);
    return counted != facts_.copy_repeats.end() && !takes_part(counted->second);
}

/// The first rounds, and of more of them pairs that are twice as far each: a tile may take some
/// rounds until what it leaves is the same.
bool TileWalk::note_round(const Step& repeat) {
    constexpr std::uint64_t kFirst = 8;
    const std::int64_t round = control_.round() + 1;
    const auto number = static_cast<std::uint64_t>(round);
    if (number > kFirst && !std::has_single_bit(number) && !std::has_single_bit(number + 1)) {
        return false;
    }
    auto& [before, now] = lone_rounds_[&repeat];
    before = std::exchange(now, {.round = round,
                                 .spans = spans_.size(),
                                 .contexts = contexts_.size(),
                                 .at = at_,
                                 .control_cost = control_cost_,
                                 .steps = steps_,
                                 .facts = known_facts(),
                                 .times_called = times_called_});
    const bool is_same = end_round(repeat);
    const bool follows = round > 1 && before.round == round - 1;
    is_steady_ = is_same && follows && before.control_cost == control_cost_;
    return follows && round < static_cast<std::int64_t>(repeat.count);
}

void TileWalk::resume(bool skips) {
    guarded([&] {
        const Step& repeat = *std::exchange(paused_at_, nullptr);
        if (skips) {
            skip_to_last(repeat);
        }
        if (!facts_.copy_repeats.contains(&repeat)) { // else it has begun
            begin_round(repeat);
        }
        go_on();
    });
}

void TileWalk::skip_to_last(const Step& repeat) {
    const auto& [before, now] = lone_rounds_[&repeat];
    const std::int64_t rounds = static_cast<std::int64_t>(repeat.count) - now.round;
    const std::int64_t steps = now.steps - before.steps;
    const events::SlowMotion motion{before.at, now.at, rounds, steps};
    for (std::size_t span = before.spans; span < now.spans; ++span) {
        spans_.push_back(motion.of(events::Span(spans_[span])));
    }
    for (std::size_t context = before.contexts; context < now.contexts; ++context) {
        contexts_.push_back(motion.of(ContextSpan(contexts_[context])));
    }
    at_ = motion.at(now.at);
    steps_ += rounds * steps;
    skipped_.phases += rounds * (now.facts.phases - before.facts.phases);
    skipped_.unknown_addresses +=
        rounds * (now.facts.unknown_addresses - before.facts.unknown_addresses);
    for (std::size_t copy = 0; copy < before.times_called.size(); ++copy) {
        times_called_[copy] += rounds * (now.times_called[copy] - before.times_called[copy]);
    }
    skip_rounds(repeat, rounds, 0);
}

std::span<const program::TileValue> TileWalk::own_rounds(const Step& repeat) const {
    const auto tile = &program::TileValue::tile;
    return {std::ranges::lower_bound(repeat.rounds, tile_, {}, tile),
            std::ranges::upper_bound(repeat.rounds, tile_, {}, tile)};
}

bool TileWalk::end_round(const Step& repeat) {
    const Address base = facts_.machine.memory.region0_begin();
    std::vector<std::uint32_t> own;
    for (const program::TileValue& word : own_rounds(repeat)) {
        own.push_back((word.address - base) / sizeof(std::uint32_t));
    }
    auto& known = facts_.timing->known;
    return round_states_[&repeat].end_round({.known = known.of_tile(tile_),
                                             .changes = known.changes(tile_),
                                             .memory = facts_.memory.at(tile_, base, 0),
                                             .facts = known_facts(),
                                             .own_rounds = std::move(own)});
}

void TileWalk::skip_rounds(const Step& repeat, std::int64_t rounds, std::int64_t steps) {
    control_.skip_rounds(repeat, rounds);
    steps_ += steps;
    for (const program::TileValue& word : own_rounds(repeat)) {
        std::uint32_t round = 0;
        std::byte* const bytes = facts_.memory.at(tile_, word.address, sizeof round);
        std::memcpy(&round, bytes, sizeof round);
        round += static_cast<std::uint32_t>(rounds);
        std::memcpy(bytes, &round, sizeof round);
        facts_.timing->known.write(tile_, word.address, sizeof round);
    }
}

KnownFacts TileWalk::known_facts() const {
    KnownFacts facts = core_ != nullptr ? core_->known_facts() : KnownFacts{};
    facts.phases += skipped_.phases;
    facts.unknown_addresses += skipped_.unknown_addresses;
    return facts;
}

void TileWalk::store_round(const Step& repeat) {
    const auto round = static_cast<std::uint32_t>(control_.round());
    for (const program::TileValue& word : own_rounds(repeat)) {
        control_cost_ += facts_.machine.control.step_cycles;
        std::memcpy(facts_.memory.at(tile_, word.address, sizeof round), &round, sizeof round);
        if (facts_.timing != nullptr) {
            facts_.timing->known.write(tile_, word.address, sizeof round);
        }
    }
}

bool TileWalk::run(const Step& step) {
    switch (step.kind) {
    case Kind::ComputeSet:
        compute(step.index);
        return false;
    case Kind::Exchange:
        meet(Purpose::Exchange, &step);
        return true;
    case Kind::Sync:
        meet(Purpose::Sync, &step);
        return true;
    case Kind::LinkExchange:
        meet(Purpose::Link, &step);
        return true;
    default:
        return stream(step);
    }
}

void TileWalk::compute(std::uint32_t index) {
    const auto& set = facts_.program.compute_sets[index];
    if (tile_ < set.tiles.size() && set.tiles[tile_].stub != 0) {
        check_free(set);
        const std::size_t first = contexts_.size();
        const Cycles slot0 = at_ + facts_.machine.control.step_cycles;
        const ComputeOutcome outcome = run_stub(index);
        for (std::size_t i = first; i < contexts_.size(); ++i) {
            contexts_[i].begin += slot0;
            contexts_[i].end += slot0;
        }
        add(Doing::ComputeSet, index, facts_.machine.control.step_cycles + outcome.cycles);
        spans_.back().work = work_of(outcome);
    }
    passed(Kind::ComputeSet, index);
}

events::Work TileWalk::work_of(const ComputeOutcome& outcome) const {
    const auto& tile = facts_.machine.tile;
    const Cycles round = tile.round_cycles();
    const std::int64_t worker_issues = outcome.counts.worker_issues();
    const std::int64_t most_of_worker = (worker_issues + tile.workers - 1) / tile.workers;
    const UnevenLaunch& uneven = outcome.uneven;
    return {.counts = outcome.counts,
            // One issue a cycle, whoever makes it, and of a worker one in a round.
            .bound_cycles = std::max(worker_issues + outcome.counts.supervisor_instructions(),
                                     (most_of_worker - 1) * round + 1),
            .busiest_worker_cycles = outcome.busiest_issues * round,
            .mean_worker_cycles = worker_issues * round / tile.workers,
            .issues_of = outcome.issues_of,
            .uneven = {uneven.launch, uneven.worker, uneven.issues * round,
                       uneven.all_issues * round / tile.workers}};
}

ComputeOutcome TileWalk::run_stub(std::uint32_t index) {
    try {
        const program::TileVertices& work = facts_.program.compute_sets[index].tiles[tile_];
        return core_->run(work.stub, wants_contexts_ ? &contexts_ : nullptr, work.vertices);
    } catch (const TileFault& found) {
        Fault fault = found.fault();
        const Cycles until = facts_.machine.control.step_cycles + fault.cycle;
        fault.cycle = at_ + until;
        add(Doing::ComputeSet, index, until);
        throw TileFault(fault);
    }
}

void TileWalk::check_free(const program::ComputeSet& set) const {
    if (under_way_.empty()) {
        return;
    }
    const auto& copy = facts_.program.stream_copies[under_way_.front()];
    const auto piece = std::find_if(copy.pieces.begin(), copy.pieces.end(),
                                    [&](const auto& one) { return one.tile == tile_; });
    throw ProgramError(
        fmt::format("compute set {}: tile_{} is to compute at cycle {} while stream copy {}, under "
                    "way, uses {:#x} there",
                    set.name, tile_, at_, copy.name, piece->address));
}

bool TileWalk::stream(const Step& step) {
    if (step.kind != Kind::StreamWait && step.value) {
        const auto& tiles = facts_.tiles_of_copy[step.index];
        // The only tile that asks for rows knows which ones.
        const bool knows = tiles.size() == 1 && tiles.front() == step.value->tile;
        if (!knows) {
            meet(Purpose::Value, &step);
            return true;
        }
        if (takes_part(step.index)) {
            call_copy(step, own_word(step.value->address));
            return true;
        }
        return false;
    }
    if (!takes_part(step.index)) {
        return false;
    }
    if (step.kind == Kind::StreamWait) {
        control_cost_ += facts_.machine.control.step_cycles;
        wait_for_copy(step.index);
    } else {
        call_copy(step, step.row + step.row_a_round * control_.round());
    }
    return true;
}

void TileWalk::call_copy(const Step& step, std::int64_t row) {
    const auto& copies = facts_.program.stream_copies;
    if (std::find(under_way_.begin(), under_way_.end(), step.index) != under_way_.end()) {
        throw ProgramError(fmt::format("stream copy {}: started at cycle {} while it is under way",
                                       copies[step.index].name, at_));
    }
    under_way_.push_back(step.index);
    times_called_.resize(copies.size());
    ++times_called_[step.index];
    stop_ = {.kind = Stop::Kind::Call,
             .cycle = at_,
             .call = {.copy = step.index,
                      .row = row,
                      .step = steps_,
                      .background = step.kind == Kind::StreamStart}};
}

void TileWalk::wait_for_copy(std::uint32_t copy) {
    if (std::find(under_way_.begin(), under_way_.end(), copy) == under_way_.end()) {
        throw ProgramError(fmt::format("stream copy {}: waited for at cycle {} but not under way",
                                       facts_.program.stream_copies[copy].name, at_));
    }
    stop_ = {.kind = Stop::Kind::Wait,
             .cycle = at_,
             .call = {.copy = copy, .row = 0, .step = steps_, .background = false},
             .times = times_called_[copy]};
}

void TileWalk::meet(Purpose purpose, const Step* step) {
    stop_ = {.kind = Stop::Kind::Barrier, .cycle = at_};
    stop_.meeting.purpose = purpose;
    stop_.meeting.step = steps_;
    if (purpose == Purpose::Exchange) {
        stop_.meeting.exchange = step->index;
    } else if (purpose == Purpose::Link) {
        stop_.meeting.exchange = step->index;
        stop_.meeting.zone = facts_.program.link_exchanges[step->index].zone;
    } else if (purpose == Purpose::Sync) {
        stop_.meeting.zone = step->zone;
    } else if (purpose == Purpose::Value) {
        stop_.meeting.value = *step->value;
        asking_ = step;
    }
}

void TileWalk::add(Doing doing, std::uint32_t index, Cycles cycles, const events::Lanes& lanes) {
    if (cycles > 0) {
        spans_.push_back({.doing = doing,
                          .index = index,
                          .step = steps_,
                          .begin = at_,
                          .end = at_ + cycles,
                          .lanes = lanes});
        at_ += cycles;
    }
}

void TileWalk::spend_control() {
    add(Doing::Control, 0, std::exchange(control_cost_, 0));
}

void TileWalk::passed(Kind kind, std::uint32_t index) {
    const auto& watched =
        kind == Kind::ComputeSet ? facts_.watch.compute_sets : facts_.watch.exchanges;
    if (!watched.empty() && watched[index]) {
        facts_.watch.passed(tile_, kind, index, steps_);
    }
}

bool TileWalk::takes_part(std::uint32_t copy) const {
    const auto& tiles = facts_.tiles_of_copy[copy];
    return std::binary_search(tiles.begin(), tiles.end(), tile_);
}

std::uint32_t TileWalk::own_word(Address address) const {
    if (facts_.timing != nullptr && !facts_.timing->known.is_known(tile_, address)) {
        throw NeedsData(fmt::format(
            "tile_{} @ {}: the row of a stream copy is {}, tensor data that timing mode does not "
            "have",
            tile_, at_, program::word_text(facts_.program, {tile_, address})));
    }
    std::uint32_t word = 0;
    std::memcpy(&word, facts_.memory.at(tile_, address, sizeof word), sizeof word);
    return word;
}

} // namespace tessera::tile
