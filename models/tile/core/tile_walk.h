// SPDX-License-Identifier: MIT
// A tile's way through the control program, without SystemC: from one stop to the next.
//
//   begin() --> stop: Barrier -> released()   --> next stop
//                     Call    -> called()     -->
//                     Wait    -> copy_ended() -->
//                     Links   -> link_over()  -->
//                     Failed  (no way on)
//
// Rounds of a repeat without a barrier are not walked one by one in timing mode: the way pauses in some of
// them, and is skipped to the last one if all tiles agree (ipu.cpp). Where nothing stops it pauses at the
// begin of a round; where copies do, behind the end of one of them, and a tile that does nothing in such a
// repeat skips by itself.
//
// Between two stops no other tile can see this one, so it is computed in one call and ahead of its
// time. What the way on depends on comes in as values.
// Timing: docs/models/ipu.md, docs/models/tile.md
#pragma once

#include "models/events/events.h"
#include "models/events/meeting.h"
#include "models/program/control_cursor.h"
#include "models/program/program.h"
#include "models/program/tile_memory.h"
#include "models/spec/machine_spec.h"
#include "models/tile/core/round_state.h"
#include "models/tile/core/tile_core.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tessera::tile {

/// Where a tile comes to on its way.
struct Stop {
    enum class Kind {
        Barrier, ///< for `meeting`
        Call,    ///< calls for a copy, and goes on
        Wait,    ///< until copy `call.copy` has ended `times` times
        Links,   ///< until its part of the link exchange of `meeting` is over
        Failed   ///< with `failure`
    };
    Kind kind = Kind::Barrier;
    Cycles cycle = 0; ///< when it gets there
    events::Meeting meeting = {};
    events::Call call = {};
    std::int64_t times = 0;
    std::exception_ptr failure = {}; ///< TileFault of a cycle since the start of the run, or other
};

/// Compute sets and exchanges after which somebody wants to look at a tile's memory.
struct Watch {
    std::vector<bool> compute_sets; ///< by index
    std::vector<bool> exchanges;
    std::function<void(TileId, program::Step::Kind, std::uint32_t, std::int64_t)> passed;
};

/// What all tiles of a chip know; outlives them.
struct WalkFacts {
    const spec::MachineSpec& machine;
    const program::Program& program; ///< has passed program::check_control()
    const program::TileMemory& memory;
    std::vector<std::vector<TileId>> tiles_of_copy = {}; ///< by stream copy, ascending
    std::vector<std::vector<TileId>> tiles_of_link = {}; ///< by link exchange, ascending
    Watch watch = {};
    TimingMode* timing = nullptr; ///< null: with all data
    /// Repeats of which rounds may be counted in timing mode, and in which nothing stops.
    std::set<const program::Step*> lone_repeats = {};
    /// The same where copies alone stop tiles, with the copy whose end begins a round: all tiles
    /// that do anything in a round wait for it.
    std::map<const program::Step*, std::uint32_t> copy_repeats = {};
    Cycles begins_at = 0; ///< when the chip begins
};

class TileWalk {
public:
    TileWalk(const WalkFacts& facts, TileId tile);

    /// Gives the tile a core over `memory` (TileCore's conditions) and writes the image.
    /// @throws ProgramError if a segment is outside memory.
    void load(const program::Image& image, CodeCache& code, std::span<std::byte> memory);
    /// In timing mode: TileCore::set_audited(). Behind load().
    void set_audited(bool audited) { core_->set_audited(audited); }
    /// What contexts() are to hold from now on.
    void want_contexts(bool wanted) { wants_contexts_ = wanted; }

    /// To the first stop. None of these throws: what goes wrong is a stop.
    void begin();
    /// Past a barrier that was released at `cycle`. Of the row's cycles and the word that was told,
    /// what the meeting was for counts.
    struct Heard {
        Cycles row_cycles = 0;
        events::Lanes lanes = {};
        std::uint32_t word = 0;
        Cycles word_cycles = 0;
    };
    void released(Cycles cycle, const Heard& heard);
    /// Past a call.
    void called();
    /// Past a wait for a copy that began at `begun`, when `last` of its tiles came, and ended at
    /// `ended`; both may be past.
    void copy_ended(Cycles begun, TileId last, Cycles ended);

    /// Past its part of a link exchange: its turn was over and its messages were in at `cycle`.
    void link_over(Cycles cycle);

    /// Whether the way may pause from now on.
    void let_pause(bool may) { may_pause_ = may; }
    /// Whether the way to the next stop is computed in part, up to a round of a lone repeat.
    [[nodiscard]] bool pauses() const { return paused_at_ != nullptr; }
    /// Then: whether the round before did as the one before that, and so will all others.
    [[nodiscard]] bool is_steady() const { return is_steady_; }
    /// On from there, at once to the last round if `skips`.
    void resume(bool skips);
    /// Where it pauses behind a copy: the repeat, and how many rounds of it come behind this one.
    struct Pause {
        const program::Step* repeat = nullptr;
        std::int64_t left = 0;
        friend bool operator==(const Pause&, const Pause&) = default;
    };
    [[nodiscard]] Pause pause() const;

    /// In timing mode, at the begin of a round: whether the tile is as it was a round ago.
    bool end_round(const program::Step& repeat);
    /// Instead of that, where the round is not to be compared with the next one.
    void forget_round(const program::Step& repeat) { round_states_.erase(&repeat); }
    /// Rounds of `repeat` with so many steps are behind the tile, which is as it was before them.
    void skip_rounds(const program::Step& repeat, std::int64_t rounds, std::int64_t steps);
    [[nodiscard]] std::vector<program::ControlCursor::Place> position() const {
        return control_.position();
    }
    [[nodiscard]] std::int64_t steps() const { return steps_; }
    /// program::ControlCursor::round().
    [[nodiscard]] std::int64_t round() const { return control_.round(); }
    /// The facts of timing mode, skipped rounds included.
    [[nodiscard]] KnownFacts known_facts() const;

    /// Whether the way on from the stop may be long enough to be worth a host thread.
    [[nodiscard]] bool computes_next() const { return control_.computes_next(); }

    [[nodiscard]] const Stop& stop() const { return stop_; }
    /// Since the last release, without a gap.
    [[nodiscard]] const std::vector<events::Span>& spans() const { return spans_; }
    [[nodiscard]] const std::vector<ContextSpan>& contexts() const { return contexts_; }
    [[nodiscard]] TileId tile() const { return tile_; }

private:
    using Step = program::Step;

    /// A repeat without barriers at the begin of a round.
    struct LoneRound {
        std::int64_t round = 0; ///< counted from 1
        std::size_t spans = 0;  ///< so far
        std::size_t contexts = 0;
        Cycles at = 0;
        Cycles control_cost = 0;
        std::int64_t steps = 0;
        KnownFacts facts;
        std::vector<std::int64_t> times_called;
    };

    template <class Body> void guarded(const Body& body);
    void go_on();
    void begin_round(const Step& repeat);
    bool pauses_at(const Step& repeat);
    bool pauses_behind(std::uint32_t copy);
    /// Whether the round before is known, and others come behind this one; is_steady_ is theirs.
    bool note_round(const Step& repeat);
    [[nodiscard]] bool is_idle_in(const Step& repeat) const;
    void skip_to_last(const Step& repeat);
    /// At the begin of a round.
    void store_round(const Step& repeat);
    /// Words of the repeat's rounds that the tile has.
    [[nodiscard]] std::span<const program::TileValue> own_rounds(const Step& repeat) const;
    /// Whether the way stops at `step`.
    bool run(const Step& step);
    void compute(std::uint32_t index);
    /// @throws TileFault of a cycle since the start of the run
    ComputeOutcome run_stub(std::uint32_t index);
    bool stream(const Step& step);
    void call_copy(const Step& step, std::int64_t row);
    void wait_for_copy(std::uint32_t copy);
    void meet(events::Meeting::Purpose purpose, const Step* step);
    [[nodiscard]] events::Work work_of(const ComputeOutcome& outcome) const;
    void add(events::Doing doing, std::uint32_t index, Cycles cycles,
             const events::Lanes& lanes = {});
    void spend_control();
    void passed(Step::Kind kind, std::uint32_t index);
    [[nodiscard]] bool takes_part(std::uint32_t copy) const;
    [[nodiscard]] std::uint32_t own_word(Address address) const;
    void check_free(const program::ComputeSet& set) const;

    const WalkFacts& facts_;
    TileId tile_;
    std::unique_ptr<TileCore> core_;
    program::ControlCursor control_;
    bool wants_contexts_ = false;
    Cycles at_ = 0;           ///< how far the way has been computed
    Cycles control_cost_ = 0; ///< of the control program, not yet spent
    std::int64_t steps_ = 0;
    const Step* asking_ = nullptr; ///< step whose value is being told
    Stop stop_;
    std::vector<events::Span> spans_;
    std::vector<ContextSpan> contexts_;
    std::vector<std::uint32_t> under_way_;   ///< copies called for and not waited for
    std::vector<std::int64_t> times_called_; ///< by copy
    bool may_pause_ = false;
    const Step* paused_at_ = nullptr;
    bool is_steady_ = false;
    std::map<const Step*, std::pair<LoneRound, LoneRound>> lone_rounds_; ///< the last two
    std::map<const Step*, RoundState> round_states_;
    KnownFacts skipped_; ///< what rounds did that were skipped
};

} // namespace tessera::tile
