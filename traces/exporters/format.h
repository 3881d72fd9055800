// SPDX-License-Identifier: MIT
// What a format of traces has to write, and what all formats say about a run and its slices.
#pragma once

#include "traces/clock.h"
#include "traces/event.h"
#include "traces/exporters/buffer.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::traces {

/// What a trace says about its run as a whole, beside the cycles that it took.
struct Metadata {
    std::string workload = "workload";
    std::string machine = "machine";
    double clock_hz = 1e9;
    std::string version = "unknown"; ///< of tessera
    Clock clock = Clock::Cycles;     ///< what the trace's own time is
    std::uint32_t chips = 1;         ///< that have tracks; of several each track says which
};

/// The words of metadata, the same in all formats.
namespace metadata_word {
inline constexpr std::string_view kWorkload = "workload";
inline constexpr std::string_view kMachine = "machine";
inline constexpr std::string_view kClockHz = "clock_hz";
inline constexpr std::string_view kVersion = "tessera";
inline constexpr std::string_view kClock = "trace_clock";
inline constexpr std::string_view kTimeUnit = "time_unit";
inline constexpr std::string_view kCycles = "cycles";
} // namespace metadata_word

/// What viewers show as the name of the whole: `bow (1 ns = 1 cycle)`, `bow (1.85 GHz)`.
[[nodiscard]] std::string title(const Metadata& metadata);
/// `ipu_1`
[[nodiscard]] std::string chip_name(std::uint32_t chip);
/// A name within a chip; where there are several it says which: `ipu_1.tile_3`.
[[nodiscard]] std::string name_in(const Metadata& metadata, std::uint32_t chip,
                                  std::string_view name);
/// `1 ns = 1 cycle`, or that it is the machine's own time.
[[nodiscard]] std::string_view time_unit(Clock clock);

/// What a format needs all along; all of it outlives the format.
struct FormatContext {
    Buffer& out;
    const NameTable& names;
    const Metadata& metadata;
};

/// One way to write a trace.
///
/// Contract:
/// - The constructor may write a head. Then a track or counter is declared once, before its first
///   span or sample, a tile before its contexts; end() comes last.
/// - Spans have cycles, and those of a track come in order and do not overlap; samples of a counter
///   come in order. What is asked for has been chosen: no cap, no selection here.
class Format {
public:
    explicit Format(const FormatContext& context) : context_(context) {}
    virtual ~Format() = default;
    Format(const Format&) = delete;
    Format& operator=(const Format&) = delete;

    virtual void declare(Track track) = 0;
    /// The counter of this sample.
    virtual void declare(const CounterSample& sample) = 0;
    virtual void span(const Span& span) = 0;
    virtual void sample(const CounterSample& sample) = 0;
    /// Tiles are not shown from `cycle` on.
    virtual void truncated(Cycles cycle) = 0;
    /// The run took `cycles`.
    virtual void end(Cycles cycles) = 0;

protected:
    [[nodiscard]] std::string& bytes() const { return context_.out.bytes(); }
    [[nodiscard]] Buffer& out() const { return context_.out; }
    [[nodiscard]] const NameTable& names() const { return context_.names; }
    [[nodiscard]] const Metadata& metadata() const { return context_.metadata; }
    [[nodiscard]] std::string_view name_of(const Span& span) const {
        return span.name == kUnnamed ? word(span.kind) : names().text(span.name);
    }

    /// Calls `take(number, word, value)` for each argument of a slice: those of the span, the
    /// cycles of machine, links and critical tile, and, where the trace's time is not that of
    /// cycles, begin and cycles of all. A role is a text, all others are numbers.
    template <typename Take> void each_argument(const Span& span, Take take) const;

private:
    FormatContext context_;
};

/// Numbers of the two arguments that follow from a span's place, beside those of ArgKey.
inline constexpr std::uint64_t kCyclesArg = 16;
inline constexpr std::uint64_t kBeginCycleArg = 17;

template <typename Take> void Format::each_argument(const Span& span, Take take) const {
    for (const auto& arg : span.args) {
        const auto key = static_cast<std::size_t>(arg.key);
        if (arg.key == ArgKey::Role) {
            take(std::uint64_t{key}, kArgWords[key], names().text(static_cast<NameId>(arg.value)));
        } else if (arg.key != ArgKey::None) {
            take(std::uint64_t{key}, kArgWords[key], arg.value);
        }
    }
    const bool other_time = metadata().clock != Clock::Cycles;
    if (other_time) {
        take(kBeginCycleArg, std::string_view{"begin_cycle"}, span.begin);
    }
    if (other_time || span.track.level == Level::Machine) {
        take(kCyclesArg, std::string_view{"cycles"}, span.end - span.begin);
    }
}

} // namespace tessera::traces
