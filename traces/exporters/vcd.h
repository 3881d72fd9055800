// SPDX-License-Identifier: MIT
// Writes a run as value changes (VCD, IEEE 1364), which GTKWave, Surfer and other waveform viewers
// open. Each track is a scope with the texts `kind` and `name` of the slice that is running, and
// the numbers that it carries:
//
//   $timescale 1 ns $end
//   $scope module machine $end
//   $var integer 64 ! active_tiles $end
//   $var string 1 " kind $end
//   $var string 1 # name $end
//   $var integer 64 $ step $end
//   ...
//   #12
//   scompute "
//   smatmul #
//   b1 $
//
// Time: 1 ns is a cycle, or 1 ps of the machine's own time. A slice writes its kind also where the
// one before had the same, so that none is lost; `none` stands between slices.
// Memory: values have to stand in order of time over all tracks, and a slice is known only when it
// has ended (docs/decisions/waveforms.md). So changes are held until the end, 24 bytes each, one or
// two a slice: at most 96 MB for two million slices, beside those of the machine's own tracks.
// Not written: flows.
#pragma once

#include "traces/exporters/format.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tessera::traces {

class VcdFormat final : public Format {
public:
    using Format::Format;

    void declare(Track track) override;
    void declare(const CounterSample& sample) override;
    void span(const Span& span) override;
    void sample(const CounterSample& sample) override;
    void truncated(Cycles cycle) override;
    void end(Cycles cycles) override;

private:
    /// What a signal's values are.
    enum class Values : std::uint8_t {
        Slices,  ///< two texts, kind and name: of kind + 8 * name
        Names,   ///< a text: a NameId
        Numbers, ///< a number
        Marks    ///< a text: 0 nothing, 1 that the trace was cut here
    };
    struct Signal {
        Values values = Values::Numbers;
        std::uint64_t place = 0; ///< orders the scopes, and the signals in one
        std::vector<std::string> scopes;
        std::string name;
    };
    /// A value from `cycle` on.
    struct Change {
        Cycles cycle = 0;
        std::int64_t value = 0;
        std::uint32_t signal = 0;
    };
    struct TrackState {
        Track track;
        std::uint32_t slices = 0; ///< the signal
        Cycles end = 0;           ///< of the last slice
        bool shows_slice = false;
        std::array<std::optional<std::uint32_t>, kArgWords.size()> arguments; ///< signals
    };

    std::uint32_t add_signal(Values values, std::uint64_t place, std::uint32_t chip,
                             std::vector<std::string> scopes, std::string_view name);
    void change(std::uint32_t signal, Cycles cycle, std::int64_t value);
    void set_arguments(TrackState& state, const Span& span);
    void show_nothing(TrackState& state);
    void write_head(Cycles cycles);
    void write_scopes();
    void write_value(std::uint32_t signal, std::int64_t value);
    void write_changes(Cycles cycles);
    [[nodiscard]] std::int64_t time(Cycles cycle) const;
    [[nodiscard]] std::string identifier(std::uint32_t signal, bool second = false) const;

    std::vector<Signal> signals_;
    std::vector<Change> changes_;
    std::vector<std::size_t> last_change_; ///< by signal; kNoChange
    std::unordered_map<std::uint64_t, TrackState> tracks_;
    std::unordered_map<std::uint64_t, std::uint32_t> counters_; ///< signals, by number
    std::optional<Cycles> truncated_;
};

} // namespace tessera::traces
