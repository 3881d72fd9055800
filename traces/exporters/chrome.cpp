// SPDX-License-Identifier: MIT
#include "traces/exporters/chrome.h"

#include "base/utf8.h"
#include "traces/exporters/track_order.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tessera::traces {
namespace {

constexpr int kMachinePid = 1;
constexpr int kFirstTilePid = 2;
constexpr int kPidsOfChip = 1 << 16;

int machine_pid(std::uint32_t chip) {
    return kMachinePid + kPidsOfChip * static_cast<int>(chip);
}
int pid_of(Track track) {
    const int tile_pid = kFirstTilePid + static_cast<int>(track.tile);
    return track.level == Level::Machine ? machine_pid(track.chip)
                                         : kPidsOfChip * static_cast<int>(track.chip) + tile_pid;
}

/// As a JSON string.
std::string quoted(std::string_view text) {
    return nlohmann::json(utf8_of(text)).dump();
}

std::string value_text(std::int64_t value) {
    return fmt::format("{}", value);
}
std::string value_text(std::string_view value) {
    return quoted(value);
}

} // namespace

ChromeFormat::ChromeFormat(const FormatContext& context) : Format(context) {
    const auto text = [](std::string_view word, std::string_view value) {
        return fmt::format("\"{}\":{}", word, quoted(value));
    };
    using namespace metadata_word;
    bytes() += fmt::format(
        "{{\"displayTimeUnit\":\"ns\",\"otherData\":{{{},{},\"{}\":{},{},{},{}}},\"traceEvents\":[",
        text(kWorkload, metadata().workload), text(kMachine, metadata().machine), kClockHz,
        nlohmann::json(metadata().clock_hz).dump(), text(kVersion, metadata().version),
        text(kClock, word(metadata().clock)), text(kTimeUnit, time_unit(metadata().clock)));
    for (std::uint32_t chip = 0; chip < metadata().chips; ++chip) {
        const int pid = machine_pid(chip);
        name_process(pid, name_in(metadata(), chip, title(metadata())), pid - kMachinePid);
    }
}

/// What lies between two cycles; the difference of times, not the time of the difference.
std::string ChromeFormat::microseconds(Cycles from, Cycles to) const {
    if (metadata().clock == Clock::Cycles) {
        const Cycles cycles = to - from;
        return fmt::format("{}.{:03}", cycles / 1000, cycles % 1000);
    }
    constexpr std::int64_t kPicoseconds = 1'000'000;
    const auto at = [&](Cycles cycle) {
        return machine_time(cycle, metadata().clock_hz, Tick::Picosecond);
    };
    const std::int64_t time = at(to) - at(from);
    return fmt::format("{}.{:06}", time / kPicoseconds, time % kPicoseconds);
}

const std::string& ChromeFormat::quoted_name(const Span& span) {
    // Unnamed spans show their kind: those words come before the names.
    const std::size_t place = span.name == kUnnamed ? static_cast<std::size_t>(span.kind)
                                                    : kKindWords.size() + std::size_t{span.name};
    if (quoted_names_.size() <= place) {
        quoted_names_.resize(place + 1);
    }
    if (quoted_names_[place].empty()) {
        quoted_names_[place] = quoted(name_of(span));
    }
    return quoted_names_[place];
}

void ChromeFormat::begin_event() {
    bytes() += std::exchange(first_event_, false) ? "\n" : ",\n";
}

void ChromeFormat::name_process(int pid, std::string_view name, int sort_index) {
    begin_event();
    fmt::format_to(std::back_inserter(bytes()),
                   R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", pid,
                   quoted(name));
    begin_event();
    fmt::format_to(
        std::back_inserter(bytes()),
        R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})", pid,
        sort_index);
}

void ChromeFormat::name_thread(int pid, std::uint64_t tid, std::string_view name, int sort_index) {
    begin_event();
    fmt::format_to(std::back_inserter(bytes()),
                   R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                   pid, tid, quoted(name));
    begin_event();
    fmt::format_to(
        std::back_inserter(bytes()),
        R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
        pid, tid, sort_index);
}

void ChromeFormat::declare(Track track) {
    const int pid = pid_of(track);
    if (track.level == Level::Tile) {
        name_process(pid, name_in(metadata(), track.chip, own_name(track)), pid);
    }
    // The tile stands above its contexts, which go by their numbers from 1 on.
    const int place = track.level == Level::Worker ? rank(track) + 1
                      : track.level == Level::Tile ? 0
                                                   : rank(track);
    name_thread(pid, number_in_chip(track), own_name(track), place);
}

void ChromeFormat::declare(const CounterSample& /*sample*/) {
    // a viewer makes the track of a counter at its first sample
}

void ChromeFormat::span(const Span& span) {
    begin_event();
    auto to = std::back_inserter(bytes());
    fmt::format_to(to, R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{},"dur":{})",
                   quoted_name(span), word(span.kind), pid_of(span.track),
                   number_in_chip(span.track), microseconds(span.begin),
                   microseconds(span.begin, span.end));
    bool has_arguments = false;
    each_argument(span, [&](std::uint64_t /*number*/, std::string_view name, auto value) {
        fmt::format_to(to, "{}\"{}\":{}", has_arguments ? "," : R"(,"args":{)", name,
                       value_text(value));
        has_arguments = true;
    });
    bytes() += has_arguments ? "}}" : "}";
    if (span.flow.number != 0) {
        add_to_flow(span);
    }
}

/// Viewers want a flow's points in order of time, and a tile's slice may come after the machine's
/// at which the flow ends: so it is written when another one ends.
void ChromeFormat::add_to_flow(const Span& span) {
    if (span.flow.ends) {
        write_ended_flows();
    }
    Flow& flow = flows_[span.flow.number];
    flow.points.push_back({span.begin, span.track});
    flow.ended |= span.flow.ends;
}

void ChromeFormat::write_ended_flows() {
    for (auto flow = flows_.begin(); flow != flows_.end();) {
        if (flow->second.ended) {
            write_flow(flow->first, std::move(flow->second.points));
            flow = flows_.erase(flow);
        } else {
            ++flow;
        }
    }
}

void ChromeFormat::write_flow(std::int64_t number, std::vector<FlowPoint> points) {
    std::stable_sort(points.begin(), points.end(),
                     [](const FlowPoint& a, const FlowPoint& b) { return a.cycle < b.cycle; });
    for (std::size_t i = 0; i < points.size(); ++i) {
        const bool last = i + 1 == points.size();
        begin_event();
        fmt::format_to(
            std::back_inserter(bytes()),
            R"({{"ph":"{}",{}"name":"{}","cat":"flow","id":{},"pid":{},"tid":{},"ts":{}}})",
            last     ? 'f'
            : i == 0 ? 's'
                     : 't',
            i == 0 && !last ? "" : R"("bp":"e",)",
            is_link(points[i].track) ? "messages" : "last to arrive", number,
            pid_of(points[i].track), number_in_chip(points[i].track),
            microseconds(points[i].cycle));
    }
}

void ChromeFormat::sample(const CounterSample& sample) {
    const auto number = static_cast<std::size_t>(sample.counter);
    begin_event();
    fmt::format_to(std::back_inserter(bytes()),
                   R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{"{}":{}}}}})",
                   tessera::traces::name_of(sample), machine_pid(sample.chip),
                   microseconds(sample.cycle), kCounterUnits[number], sample.value);
}

void ChromeFormat::truncated(Cycles cycle) {
    name_thread(kMachinePid, kNotesNumber, "notes", kNotesRank);
    begin_event();
    fmt::format_to(std::back_inserter(bytes()),
                   R"({{"ph":"i","name":"truncated","s":"t","pid":{},"tid":{},"ts":{}}})",
                   kMachinePid, kNotesNumber, microseconds(cycle));
}

void ChromeFormat::end(Cycles cycles) {
    write_ended_flows();
    fmt::format_to(std::back_inserter(bytes()), "\n],\"{}\":{}}}\n", metadata_word::kCycles,
                   cycles);
}

} // namespace tessera::traces
