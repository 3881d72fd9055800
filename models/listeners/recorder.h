// SPDX-License-Identifier: MIT
// Where and when: of every step what each tile did in it, and the order in which steps ran. An
// account has sums; this has what a picture of a run needs besides.
//
//   a tile's segments --> columns of their steps, by tile --> packed between two uses
//                     `-> single executions, by tile, of those that meet a window of cycles
//
// Memory: at a barrier, columns that are not compressed are cut to kMostRawBytes. Compressed
// executions beyond kMostWindowBytes are counted and not kept.
#pragma once

#include "base/units.h"
#include "models/events/events.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tessera::listeners {

/// A number that a step has of each tile. "begin": cycles from the begin of the step's first execution
/// to that of the tile, kNoPart of a tile that never has one; of a tile that comes in later, from the
/// barrier before. "first" to "slowest": cycles of the tile in the first and last execution, the least
/// and most of any, and those of the execution that took longest, of executions between the same two
/// barriers those of the last. The rest are sums over all executions: of compute sets the issue slots
/// of all workers and of each ("issues", "issues_of_0" and so on) and "matrix_steps", of exchanges the
/// cycles in which lanes moved words ("received", "sent").
struct RecordedColumn {
    std::string name;
    std::vector<std::uint64_t> numbers;
};

inline constexpr std::uint64_t kNoPart = std::numeric_limits<std::uint32_t>::max();

/// One execution of a step; or `times` equal ones, of rounds that were told as one.
struct RecordedExecution {
    Cycles begin = 0;
    Cycles end = 0; ///< of its slowest tile
    std::uint32_t step = 0;
    std::uint32_t times = 1;
};

struct RecordedRelease {
    Cycles last_arrival = 0;
    Cycles cycle = 0;
    TileId critical = 0;
    std::uint32_t times = 1;
};

/// Cycles [from, to) of a run.
struct RecordedWindow {
    Cycles from = 0;
    Cycles to = 0;
};

/// One execution that meets the window, by tile.
struct WindowExecution {
    RecordedExecution execution;
    std::vector<std::uint32_t> begin; ///< from the execution's begin; kNoPart: the tile has no part
    std::vector<std::uint32_t> cycles; ///< of all its times
};

class Recorder final : public events::Listener {
public:
    static constexpr std::size_t kMostRawBytes = std::size_t{24} << 20U;
    /// Executions and releases beyond so many are counted and not kept.
    static constexpr std::size_t kMostEvents = std::size_t{1} << 19U;
    static constexpr std::size_t kMostWindowBytes = std::size_t{8} << 20U;

    Recorder(const program::Program& program, const spec::MachineSpec& machine,
             std::optional<RecordedWindow> window = std::nullopt);

    void segment(const events::Segment& segment) override;
    void released(const events::Release& release) override;

    struct Step {
        program::Step::Kind kind = program::Step::Kind::ComputeSet;
        std::uint32_t index = 0; ///< in the program's list of its kind
        std::int64_t executions = 0;
    };
    /// Compute sets, exchanges, stream copies, link exchanges, each in the program's order.
    [[nodiscard]] std::vector<Step> steps() const;
    /// Those that a step has, by tile: after one execution neither last nor least, most, slowest. None
    /// of a step that has not run.
    [[nodiscard]] std::vector<RecordedColumn> columns(std::size_t step) const;

    /// In the order of their barriers, between two barriers in that of the program.
    [[nodiscard]] const std::vector<RecordedExecution>& executions() const { return executions_; }
    [[nodiscard]] const std::vector<RecordedRelease>& releases() const { return releases_; }
    [[nodiscard]] std::int64_t executions_left_out() const { return executions_left_out_; }
    [[nodiscard]] std::int64_t releases_left_out() const { return releases_left_out_; }
    [[nodiscard]] const std::optional<RecordedWindow>& window() const { return window_; }
    /// Executions of the window stand in the order of executions().
    [[nodiscard]] std::size_t window_executions() const { return in_window_.size(); }
    [[nodiscard]] WindowExecution window_execution(std::size_t number) const;
    [[nodiscard]] std::int64_t window_left_out() const { return window_left_out_; }
    /// Bytes that it holds.
    [[nodiscard]] std::size_t bytes() const;

private:
    /// Columns of a step. Sums are of the step's kind: matrix steps and issues of each worker, or
    /// words received and sent.
    struct Raw {
        std::vector<std::uint32_t> begin, first, last, least, most, slowest;
        std::vector<std::vector<std::uint64_t>> sums;

        [[nodiscard]] std::size_t bytes() const;
    };
    struct Kept {
        Step step;
        bool is_repeated = false; ///< has all columns
        bool is_raw = false;
        Cycles slowest_cycles = -1; ///< of one execution
        std::uint64_t used = 0;     ///< when, in barriers
        Raw raw;
        std::vector<std::uint8_t> packed;
    };
    /// An execution of which not all tiles may have told yet.
    struct Open {
        std::int64_t number = 0; ///< of the step in order of execution
        std::uint32_t step = 0;
        bool is_first = false;
        Cycles begin = 0;
        Cycles end = 0;
        Cycles slowest_cycles = 0; ///< of one of its times
        std::int64_t times = 1;
        std::vector<std::uint32_t> tile_begin;  ///< from the release before; while the window lasts
        std::vector<std::uint32_t> tile_cycles; ///< in the same case

        [[nodiscard]] RecordedExecution execution() const {
            return {begin, end, step, static_cast<std::uint32_t>(times)};
        }
    };
    struct Packed {
        RecordedExecution execution;
        std::vector<std::uint8_t> bytes;
    };

    [[nodiscard]] std::optional<std::uint32_t> number_of(const events::Span& span) const;
    Open& open_of(const events::Span& span, std::uint32_t step);
    void take(TileId tile, const events::Span& span, std::uint32_t step);
    void close(const Open& open);
    void keep_in_window(const Open& open);
    [[nodiscard]] std::size_t sums_of(program::Step::Kind kind) const;
    void make_room();
    void unpack(std::uint32_t step);
    [[nodiscard]] Raw unpacked(const Kept& kept) const;
    void pack(Kept& kept) const;

    std::size_t tiles_;
    std::size_t workers_;
    std::optional<RecordedWindow> window_;
    std::array<std::uint32_t, 4> first_of_; ///< kind, as in steps(): number of its first step
    std::vector<Kept> steps_;
    std::vector<std::uint32_t> raw_; ///< of which steps columns are not packed
    std::size_t raw_bytes_ = 0;
    std::uint64_t barriers_ = 0;
    Cycles released_at_ = 0;
    std::vector<Open> open_; ///< since the last release, ascending by number
    std::size_t last_open_ = 0;
    std::vector<RecordedExecution> executions_;
    std::vector<RecordedRelease> releases_;
    std::int64_t executions_left_out_ = 0;
    std::int64_t releases_left_out_ = 0;
    std::vector<Packed> in_window_;
    std::size_t window_bytes_ = 0;
    std::int64_t window_left_out_ = 0;
};

} // namespace tessera::listeners
