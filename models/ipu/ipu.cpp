// SPDX-License-Identifier: MIT
#include "models/ipu/ipu.h"

#include "base/activity.h"
#include "base/error.h"
#include "base/host_memory.h"
#include "models/exchange/core/fabric.h"
#include "models/ipu/core/counted_repeats.h"
#include "models/isa/stretch_recipes.h"
#include "models/ports/clock.h"
#include "models/program/control_check.h"
#include "models/program/word_text.h"
#include "models/tile/core/section_classes.h"
#include "models/tile/core/tile_classes.h"
#include "models/tile/core/worker_classes.h"

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <utility>

namespace tessera::ipu {

using ports::Clock;
using Purpose = events::Meeting::Purpose;

/// Host threads that run tiles; the calling thread is one of them.
struct Ipu::HostThreads {
    explicit HostThreads(int threads)
        : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
          arena(threads) {}

    void for_each(std::size_t items, const std::function<void(std::size_t)>& body) {
        arena.execute([&] {
            tbb::parallel_for(std::size_t{0}, items, [&](std::size_t item) { body(item); });
        });
    }

    tbb::global_control limit; // without it TBB keeps to the number of cores, and says so on stderr
    tbb::task_arena arena;
};

namespace {

/// In timing mode, of what is kept of phases that have been run.
constexpr std::size_t kMostKeptBytes = std::size_t{256} << 20;

/// Whether tensor data, as patterns that come at run time, may decide about control.
bool knows_data(const program::Program& program) {
    const auto is_known = [](const auto& one) { return one.known; };
    return std::ranges::any_of(program.tensors, is_known) ||
           std::ranges::any_of(program.remote_buffers, is_known);
}

/// A whole chip's memory is a gigabyte of addresses, of which most programs name a third.
ChipMemory memory_of(const spec::MachineSpec& spec, const program::Program& program) {
    return are_addresses_limited() ? ChipMemory(spec, named_bytes(spec, program))
                                   : ChipMemory(spec);
}

} // namespace

struct Ipu::Timing {
    Timing(const spec::MachineSpec& spec, const program::Program& program)
        : known(static_cast<TileId>(spec.chip.tiles), spec.memory.region0_begin(),
                spec.memory.bytes()),
          mode{known,
               classes,
               &program.scattered,
               true,
               &recipes,
               knows_data(program) ? nullptr : &workers,
               knows_data(program) ? &sections : nullptr},
          tiles(static_cast<TileId>(spec.chip.tiles)) {
        note_rounds(program.control);
        for (const program::Function& function : program.functions) {
            note_rounds(function.body);
        }
    }
    void note_rounds(const program::Step& step) {
        for (const program::TileValue& word : step.rounds) {
            if (word.tile < tiles) {
                known.add_round(word.tile, word.address);
            }
        }
        for (const program::Step& child : step.children) {
            note_rounds(child);
        }
    }

    program::KnownWords known;
    tile::TileClasses classes;
    isa::StretchRecipes recipes;
    tile::WorkerClasses workers;
    tile::SectionClasses sections;
    tile::TimingMode mode;
    TileId tiles;
    std::int64_t audited_tiles = 0;
};

Ipu::Ipu(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
         const program::Program& program, RunOptions options)
    : sc_module(name), outer_barrier("outer_barrier"), links("links"), spec_(spec),
      program_(program), options_(std::move(options)),
      host_threads_(std::make_unique<HostThreads>(options_.threads)),
      for_each_([this](std::size_t items, const std::function<void(std::size_t)>& body) {
          host_threads_->for_each(items, body);
      }),
      memory_(memory_of(spec, program)),
      fabric_("exchange_fabric", spec, program.exchanges, memory_, for_each_),
      sync_unit_("sync_unit", spec, static_cast<TileId>(spec.chip.tiles), options_.chip),
      stream_ports_("stream_ports", spec, program, memory_), alarm_("alarm"),
      code_(program.codelets),
      timing_(options_.timing ? std::make_unique<Timing>(spec, program) : nullptr),
      facts_(facts()) {
    check_program();
    if (timing_ != nullptr) {
        counts_rounds_ = options_.timing->counts_rounds;
        if (counts_rounds_) {
            timing_->known.note_changes();
            auto [lone, by_copy, uneven] = find_counted_repeats(program, facts_.tiles_of_copy);
            facts_.lone_repeats = std::move(lone);
            facts_.copy_repeats = std::move(by_copy);
            uneven_repeats_ = std::move(uneven);
        }
        fabric_.set_known(timing_->known);
        stream_ports_.set_known(timing_->known);
    }
    sync_unit_.at_release.bind(*this);
    sync_unit_.witness.bind(*this);
    sync_unit_.outer.bind(outer_barrier);
    stream_ports_.at_copy.bind(*this);
    stream_ports_.set_host(options_.ask_host);
    stream_ports_.witness.bind(*this);
    make_tiles();
}

/// SystemC looks for a port that goes from the youngest one on: the other way round costs its
/// square.
Ipu::~Ipu() {
    while (!tiles_.empty()) {
        tiles_.pop_back();
    }
}

void Ipu::check_finished() const {
    if (failure_ != nullptr) {
        std::rethrow_exception(failure_);
    }
    TESSERA_ASSERT(finished_at_);
}

void Ipu::check_program() const {
    const auto tiles = static_cast<std::size_t>(spec_.chip.tiles);
    if (program_.image_of_tile.size() > tiles) {
        throw ProgramError(fmt::format("program {}: got images for {} tiles, expected at most {}",
                                       program_.name, program_.image_of_tile.size(), tiles));
    }
    for (const auto& set : program_.compute_sets) {
        for (std::size_t tile = 0; tile < set.tiles.size(); ++tile) {
            const bool holds_code = tile < program_.image_of_tile.size() &&
                                    program_.image_of_tile[tile] != program::Program::kNoImage;
            if (set.tiles[tile].stub != 0 && !holds_code) {
                throw ProgramError(
                    fmt::format("compute set {}: tile_{} has a stub but no image", set.name, tile));
            }
        }
    }
    program::check_control(program_);
    if (options_.links.size() != program_.link_exchanges.size()) {
        throw ProgramError(fmt::format("link exchange {}: this chip belongs to no system",
                                       program_.link_exchanges.front().name));
    }
}

tile::WalkFacts Ipu::facts() {
    tile::WalkFacts made{spec_, program_, memory_};
    made.timing = timing_ != nullptr ? &timing_->mode : nullptr;
    for (std::uint32_t copy = 0; copy < program_.stream_copies.size(); ++copy) {
        made.tiles_of_copy.push_back(stream_ports_.tiles_of(copy));
    }
    for (const program::BoundExchange& exchange : options_.links) {
        made.tiles_of_link.push_back(exchange.tiles);
    }
    const auto& delays = spec_.system.chip_delay;
    if (spec_.system.chips > 1 && static_cast<std::size_t>(options_.chip) < delays.size()) {
        made.begins_at = delays[static_cast<std::size_t>(options_.chip)];
    }
    const auto watched = [&](program::Step::Kind kind, std::size_t steps) {
        std::vector<bool> wanted(steps);
        for (std::uint32_t index = 0; index < steps; ++index) {
            wanted[index] = std::any_of(options_.listeners.begin(), options_.listeners.end(),
                                        [&](const auto* one) { return one->watches(kind, index); });
        }
        return wanted;
    };
    made.watch.compute_sets =
        watched(program::Step::Kind::ComputeSet, program_.compute_sets.size());
    made.watch.exchanges = watched(program::Step::Kind::Exchange, program_.exchanges.size());
    made.watch.passed = [this](TileId tile, program::Step::Kind kind, std::uint32_t index,
                               std::int64_t step) {
        for (auto* listener : options_.listeners) {
            listener->passed(tile, kind, index, step);
        }
    };
    return made;
}

void Ipu::make_tiles() {
    if (timing_ != nullptr) {
        timing_->mode.keeps_contexts = false;
    }
    for (TileId tile = 0; tile < static_cast<TileId>(spec_.chip.tiles); ++tile) {
        auto& module = tiles_.emplace_back(("tile_" + std::to_string(tile)).c_str(), facts_, tile);
        module.barrier.bind(sync_unit_);
        module.fabric.bind(fabric_);
        module.streams.bind(stream_ports_);
        module.alarm.bind(alarm_);
        module.witness.bind(*this);
        alarm_.tiles.bind(module);
        stream_ports_.tiles.bind(module);
        const bool wants_contexts =
            std::any_of(options_.listeners.begin(), options_.listeners.end(),
                        [&](const auto* one) { return one->wants_contexts(tile); });
        module.want_contexts(wants_contexts);
        if (timing_ != nullptr) {
            timing_->mode.keeps_contexts = timing_->mode.keeps_contexts || wants_contexts;
        }
        if (tile < program_.image_of_tile.size() &&
            program_.image_of_tile[tile] != program::Program::kNoImage) {
            module.load(
                program_.images.at(program_.image_of_tile[tile]), code_,
                {memory_.of_tile(tile), static_cast<std::size_t>(memory_.bytes_of_tile(tile))});
        }
    }
    choose_audited();
    std::vector<TileId> order(tiles_.size());
    std::iota(order.begin(), order.end(), TileId{0});
    if (options_.shuffle) {
        alarm_.shuffle(*options_.shuffle);
        std::shuffle(order.begin(), order.end(), std::mt19937_64(*options_.shuffle));
    }
    for (const TileId tile : order) {
        sync_unit_.tiles.bind(tiles_[tile]);
    }
}

program::KnownWords* Ipu::known_words() {
    return timing_ != nullptr ? &timing_->known : nullptr;
}

std::optional<TimingFacts> Ipu::timing() const {
    if (timing_ == nullptr) {
        return std::nullopt;
    }
    const tile::KnownFacts facts = known_facts();
    return TimingFacts{facts.phases, timing_->classes.classes(), timing_->audited_tiles,
                       facts.unknown_addresses};
}

/// Of all tiles.
tile::KnownFacts Ipu::known_facts() const {
    tile::KnownFacts sum{.phases = skipped_phases_,
                         .unknown_addresses = skipped_unknown_addresses_};
    for (const tile::Tile& one : tiles_) {
        const tile::KnownFacts facts = one.walk().known_facts();
        sum.phases += facts.phases;
        sum.unknown_addresses += facts.unknown_addresses;
    }
    return sum;
}

/// Which tiles follows from the program, so that a run can be repeated.
void Ipu::choose_audited() {
    if (!options_.timing) {
        return;
    }
    std::vector<TileId> with_code;
    std::uint64_t hash = 0xcbf29ce484222325U; // FNV-1a, of what is cheap to look at
    const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3U; };
    for (const char letter : program_.name) {
        mix(static_cast<unsigned char>(letter));
    }
    for (TileId tile = 0; tile < program_.image_of_tile.size(); ++tile) {
        mix(program_.image_of_tile[tile]);
        if (program_.image_of_tile[tile] != program::Program::kNoImage) {
            with_code.push_back(tile);
        }
    }
    std::shuffle(with_code.begin(), with_code.end(), std::mt19937_64(hash));
    const auto audited =
        std::min(with_code.size(), static_cast<std::size_t>(options_.timing->audited_tiles));
    timing_->audited_tiles = static_cast<std::int64_t>(audited);
    for (std::size_t i = 0; i < audited; ++i) {
        tiles_[with_code[i]].set_audited(true);
    }
}

void Ipu::start_of_simulation() {
    fabric_.prepare();
    compute_ahead();
}

void Ipu::compute_ahead() {
    if (!tiles_.front().walk().computes_next()) {
        return; // little to do, which each tile does by itself
    }
    // A few tiles at a time: where they do little, sharing them out costs more.
    constexpr std::size_t kAtOnce = 8;
    const Activity computing("tile", static_cast<std::int64_t>(tiles_.size()));
    const auto for_some = [&](std::size_t begin, std::size_t end, const auto& body) {
        for_each_((end - begin + kAtOnce - 1) / kAtOnce, [&](std::size_t some) {
            const std::size_t first = begin + some * kAtOnce;
            for (std::size_t tile = first; tile < std::min(end, first + kAtOnce); ++tile) {
                body(tiles_[tile]);
            }
        });
    };
    const auto for_all = [&](const auto& body) { for_some(0, tiles_.size(), body); };
    const auto pauses = [](const tile::Tile& one) { return one.walk().pauses(); };
    // The first tiles decide for the others, whichever thread comes to them first.
    const bool judges = timing_ != nullptr && timing_->mode.sections != nullptr;
    for (std::size_t begin = 0, end = 0; begin < tiles_.size(); begin = end) {
        constexpr std::size_t kFirst = 32;
        end = judges ? std::min(tiles_.size(), std::max(kFirst, 2 * begin)) : tiles_.size();
        for_some(begin, end, [&](tile::Tile& one) {
            one.compute_ahead(true);
            computing.step();
        });
        if (judges) {
            timing_->classes.judge();
        }
    }
    while (std::any_of(tiles_.begin(), tiles_.end(), pauses)) {
        // of all tiles or of none: executions of a step are the same ones for all
        const bool skips = std::all_of(tiles_.begin(), tiles_.end(), [&](const tile::Tile& one) {
            const bool failed = one.walk().stop().kind == tile::Stop::Kind::Failed;
            return pauses(one) ? one.walk().is_steady() : failed;
        });
        for_all([&](tile::Tile& one) {
            if (pauses(one)) {
                one.resume(skips);
            }
        });
    }
}

void Ipu::tell(const std::function<void(events::Listener&)>& event) {
    for (auto* listener : options_.listeners) {
        event(*listener);
    }
    for (auto& [repeat, mark] : repeats_) {
        if (mark.record != nullptr) {
            event(*mark.record);
        }
    }
}

void Ipu::segment(const events::Segment& segment) {
    tell([&](events::Listener& listener) { listener.segment(segment); });
}

void Ipu::failed(std::int64_t tile, std::exception_ptr failure) {
    const Cycles now = Clock::now();
    if (failure_ == nullptr || std::tie(now, tile) < std::tie(failed_at_, failed_tile_)) {
        failure_ = std::move(failure);
        failed_at_ = now;
        failed_tile_ = tile;
    }
}

Cycles Ipu::at_release(const events::Meeting& meeting, TileId last, Cycles last_arrival) {
    if (failure_ != nullptr) {
        std::rethrow_exception(failure_); // nobody goes on
    }
    if (!std::exchange(comes_again_, false)) {
        path_.clear();
        follow(last, released_at_, last_arrival);
        released_at_ = Clock::now();
        const bool ends = meeting.purpose == Purpose::End;
        const events::Release release{.last_arrival = last_arrival,
                                      .cycle = released_at_,
                                      .critical = last,
                                      .ends_program = ends,
                                      .steps_done = meeting.step,
                                      .path = path_};
        tell([&](events::Listener& listener) { listener.released(release); });
        stream_ports_.released();
        if (ends) {
            finished_at_ = released_at_;
            return 0;
        }
        if (const Cycles skipped = counts_rounds_ ? count_rounds() : 0; skipped > 0) {
            released_at_ += skipped;
            comes_again_ = true;
            return skipped;
        }
    }
    open(meeting);
    if (timing_ != nullptr) {
        timing_->classes.between_steps(kMostKeptBytes);
        timing_->workers.between_steps(kMostKeptBytes);
        timing_->sections.between_steps(kMostKeptBytes / 4, for_each_);
    }
    compute_ahead();
    return 0;
}

Cycles Ipu::count_rounds() {
    constexpr std::uint32_t kFewest = 4;
    const auto position = tiles_.front().walk().position();
    for (std::size_t level = 0; level < position.size(); ++level) {
        const program::Step& repeat = *position[level].owner;
        if (repeat.kind != program::Step::Kind::Repeat || repeat.count < kFewest ||
            uneven_repeats_.contains(&repeat)) {
            continue;
        }
        RepeatMark& mark = repeats_[&repeat];
        const auto begun = [&](const auto& at) {
            std::vector<std::pair<const program::Step*, std::int64_t>> rounds;
            for (std::size_t i = 0; i <= level && i < at.size(); ++i) {
                rounds.emplace_back(at[i].owner, at[i].rounds);
            }
            return rounds;
        };
        if (mark.level == level && begun(mark.position) == begun(position)) {
            continue; // a later release of the round
        }
        // words that come in a round may be others in the next one
        const bool any_came = mark.known_copies != stream_ports_.known_copies();
        std::vector<char> same(tiles_.size());
        for_each_(tiles_.size(), [&](std::size_t tile) {
            if (any_came) {
                tiles_[tile].forget_round(repeat);
            } else {
                same[tile] = tiles_[tile].end_round(repeat) ? 1 : 0;
            }
        });
        auto next_round = mark.position;
        if (mark.level == level && level < next_round.size()) {
            ++next_round[level].rounds;
        }
        const bool is_steady =
            next_round == position && !stream_ports_.any_under_way() && !any_came &&
            outer_barrier.size() == 0 &&
            std::all_of(same.begin(), same.end(), [](char one) { return one != 0; });
        const std::int64_t rounds = std::int64_t{repeat.count} - position[level].rounds;
        if (is_steady && mark.record != nullptr && rounds > 0) {
            return skip_rounds(repeat, mark, rounds);
        }
        mark = {.position = position,
                .level = level,
                .cycle = released_at_,
                .steps = tiles_.front().walk().steps(),
                .known_copies = stream_ports_.known_copies(),
                .facts = known_facts(),
                .record = is_steady && rounds > 1 ? std::make_unique<RoundRecord>() : nullptr};
    }
    // What a long round tells is not kept.
    constexpr std::size_t kMostSpans = 200'000;
    for (auto& [repeat, mark] : repeats_) {
        if (mark.record != nullptr && mark.record->size() > kMostSpans) {
            mark.record.reset();
        }
    }
    return 0;
}

Cycles Ipu::skip_rounds(const program::Step& repeat, RepeatMark& mark, std::int64_t rounds) {
    const Cycles cycles = released_at_ - mark.cycle;
    const std::int64_t steps = tiles_.front().walk().steps() - mark.steps;
    const tile::KnownFacts facts = known_facts();
    skipped_phases_ += rounds * (facts.phases - mark.facts.phases);
    skipped_unknown_addresses_ += rounds * (facts.unknown_addresses - mark.facts.unknown_addresses);
    const auto record = std::move(mark.record);
    repeats_.erase(&repeat);
    record->tell({released_at_ - cycles, released_at_, rounds, steps},
                 [this](const auto& event) { tell(event); });
    for_each_(tiles_.size(),
              [&](std::size_t tile) { tiles_[tile].skip_rounds(repeat, rounds, rounds * steps); });
    return rounds * cycles;
}

void Ipu::open(const events::Meeting& meeting) {
    if (meeting.purpose == Purpose::Value) {
        const memory::TileRange word{meeting.value.tile, meeting.value.address, 4};
        stream_ports_.check_ranges("a control step", {&word, 1});
        check_known(meeting.value);
        fabric_.tell(meeting.value);
    } else if (meeting.purpose == Purpose::Link) {
        const tile::TileWalk& walk = tiles_.front().walk();
        std::vector<memory::TileRange> ranges;
        for (const program::LinkUse& use :
             links->open(options_.chip, meeting.exchange, walk.steps(), walk.round())) {
            ranges.push_back({use.tile, use.address, use.bytes});
        }
        stream_ports_.check_ranges(
            "link exchange " + program_.link_exchanges[meeting.exchange].name, ranges);
    } else if (meeting.purpose == Purpose::Exchange) {
        check_undisturbed(meeting.exchange);
        const Bytes bytes = fabric_.open(meeting.exchange);
        const auto& outcome = fabric_.outcome(meeting.exchange);
        // the step's number is the tiles' own: rounds may have been skipped since they arrived
        const events::Moved moved{.exchange = meeting.exchange,
                                  .step = tiles_.front().walk().steps(),
                                  .begin = released_at_,
                                  .end = released_at_ + outcome.phase_cycles(),
                                  .bytes = bytes,
                                  .sent_bytes = 4 * outcome.words_sent,
                                  .bound_cycles = outcome.bound_cycles};
        tell([&](events::Listener& listener) { listener.moved(moved); });
    }
}

void Ipu::check_known(const program::TileValue& value) const {
    if (timing_ != nullptr && !timing_->known.is_known(value.tile, value.address)) {
        throw NeedsData(fmt::format(
            "the control program goes on with {}, tensor data that timing mode does not have",
            program::word_text(program_, value)));
    }
}

void Ipu::check_undisturbed(std::uint32_t exchange) const {
    if (!stream_ports_.any_under_way()) {
        return;
    }
    std::vector<memory::TileRange> ranges;
    for (const auto& run : fabric_.outcome(exchange).copies) {
        ranges.push_back({run.source_tile, run.source_address, run.bytes});
        ranges.push_back({run.destination_tile, run.destination_address, run.bytes});
    }
    stream_ports_.check_ranges("exchange " + program_.exchanges[exchange].name, ranges);
}

void Ipu::follow(TileId tile, Cycles begin, Cycles end) {
    for (const events::Span& span : tiles_[tile].walk().spans()) {
        events::Span part = span;
        part.begin = std::max(span.begin, begin);
        part.end = std::min(span.end, end);
        if (part.begin >= part.end) {
            continue;
        }
        if (part.cycles() < span.cycles()) {
            part.take_part(part.cycles(), span.cycles());
        }
        if (span.doing == events::Doing::Awaited) {
            follow(span.awaited, part.begin, part.end);
        } else {
            path_.push_back({tile, part});
        }
    }
}

void Ipu::links_over(std::span<const TileId> tiles) {
    if (failure_ != nullptr) {
        return; // its tiles do not wait for messages
    }
    for_each_(tiles.size(), [&](std::size_t item) { tiles_[tiles[item]].link_over(); });
    for (const TileId tile : tiles) {
        tiles_[tile].wake();
    }
}

void Ipu::linked(const events::Linked& linked) {
    tell([&](events::Listener& listener) { listener.linked(linked); });
}

void Ipu::copy_begun(const events::Flight& flight) {
    tell([&](events::Listener& listener) { listener.copy_begun(flight); });
    if (copy_mark_) {
        copy_mark_->round.copy_begun(flight);
    }
}

void Ipu::copy_ended(const events::Flight& flight) {
    tell([&](events::Listener& listener) { listener.copy_ended(flight); });
    if (copy_mark_) {
        copy_mark_->round.copy_ended(flight);
    }
    std::vector<TileId> waiting;
    for (const TileId tile : flight.tiles) {
        if (tiles_[tile].waits_for(flight.copy)) {
            waiting.push_back(tile);
        }
    }
    const bool may_count = is_alone(flight, waiting);
    for_each_(waiting.size(),
              [&](std::size_t item) { tiles_[waiting[item]].compute_ahead(may_count); });
    if (may_count) {
        count_copy_rounds(waiting);
    }
}

bool Ipu::is_alone(const events::Flight& flight, const std::vector<TileId>& waiting) const {
    const auto counted = [&](const auto& repeat) { return repeat.second == flight.copy; };
    if (waiting.size() != flight.tiles.size() || stream_ports_.under_way() != 1 ||
        std::ranges::none_of(facts_.copy_repeats, counted)) {
        return false;
    }
    for (TileId tile = 0; tile < tiles_.size(); ++tile) {
        if (tiles_[tile].walk().stop().kind != tile::Stop::Kind::Barrier &&
            !std::ranges::binary_search(waiting, tile)) {
            return false;
        }
    }
    return true;
}

void Ipu::count_copy_rounds(const std::vector<TileId>& waiting) {
    const auto all = [&](const auto& holds) {
        return std::ranges::all_of(waiting,
                                   [&](TileId tile) { return holds(tiles_[tile].walk()); });
    };
    const tile::TileWalk& first = tiles_[waiting.front()].walk();
    if (all([](const auto& walk) { return !walk.pauses(); })) {
        copy_mark_.reset();
        return;
    }
    const bool agree = all([&](const auto& walk) {
        return walk.pauses() && first.pauses() && walk.pause() == first.pause();
    });
    const auto pause = agree ? first.pause() : tile::TileWalk::Pause{};
    const bool follows = copy_mark_ && copy_mark_->pause.repeat == pause.repeat &&
                         copy_mark_->pause.left == pause.left + 1;
    const bool skips = agree && follows &&
                       copy_mark_->known_copies == stream_ports_.known_copies() &&
                       all([](const auto& walk) { return walk.is_steady(); });
    if (skips) {
        const events::SlowMotion motion{copy_mark_->cycle, Clock::now(), pause.left,
                                        first.steps() - copy_mark_->steps};
        copy_mark_->round.tell(motion, [this](const auto& event) { tell(event); });
        stream_ports_.skip_rounds(copy_mark_->round.ended(), pause.left);
    }
    copy_mark_ = {.pause = pause,
                  .cycle = Clock::now(),
                  .steps = first.steps(),
                  .known_copies = stream_ports_.known_copies(),
                  .round = {}};
    for_each_(waiting.size(), [&](std::size_t item) {
        tile::Tile& one = tiles_[waiting[item]];
        if (one.walk().pauses()) {
            one.resume(skips);
        }
    });
}

} // namespace tessera::ipu
