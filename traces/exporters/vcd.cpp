// SPDX-License-Identifier: MIT
#include "traces/exporters/vcd.h"

#include "base/error.h"
#include "traces/exporters/track_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace tessera::traces {
namespace {

constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t kNoChange = std::numeric_limits<std::size_t>::max();
constexpr std::int64_t kNameFactor = 8; // above the five kinds
constexpr std::string_view kNoKind = "none";
constexpr std::string_view kNoName = "-";

/// A text without the blanks that would end it.
std::string one_word(std::string_view text) {
    std::string word{text};
    std::replace_if(
        word.begin(), word.end(),
        [](char letter) {
            const auto code = static_cast<unsigned char>(letter);
            return code <= ' ' || code == 0x7f;
        },
        '_');
    return word.empty() ? "_" : word;
}

/// Printable letters, short ones first.
std::string letters(std::uint64_t number) {
    constexpr unsigned kFirst = '!';
    constexpr unsigned kLetters = '~' - '!' + 1;
    std::string text;
    do {
        text += static_cast<char>(kFirst + number % kLetters);
        number /= kLetters;
    } while (number != 0);
    return text;
}

std::vector<std::string> scopes_of(Track track) {
    if (track.level != Level::Machine) {
        std::vector<std::string> scopes{"tiles", path(tile_of(track))};
        if (track.level == Level::Worker) {
            scopes.push_back(own_name(track));
        }
        return scopes;
    }
    if (track.of_chip(0) == machine_track()) {
        return {"machine"};
    }
    if (track.of_chip(0) == slowest_track()) {
        return {"machine", own_name(track)};
    }
    const std::string name = own_name(track);
    const auto dot = name.find('.');
    if (is_link(track)) {
        return {name.substr(0, dot), name.substr(dot + 1)};
    }
    return {"links", name.substr(0, dot), name.substr(dot + 1)};
}

/// The machine with its counters, what lies below it, links, tiles; 16 signals each.
std::uint64_t place_of(Track track) {
    const Track in_chip = track.of_chip(0);
    const std::uint64_t place = in_chip == machine_track()   ? kMachineNumber + kFirstCounterNumber
                                : in_chip == slowest_track() ? kFirstLinkNumber
                                                             : number_in_chip(track) + 1;
    return number_of_chip(place, track.chip) * 16;
}

} // namespace

std::uint32_t VcdFormat::add_signal(Values values, std::uint64_t place, std::uint32_t chip,
                                    std::vector<std::string> scopes, std::string_view name) {
    if (metadata().chips > 1) {
        scopes.insert(scopes.begin(), chip_name(chip));
    }
    signals_.push_back({values, place, std::move(scopes), std::string{name}});
    last_change_.push_back(kNoChange);
    return static_cast<std::uint32_t>(signals_.size() - 1);
}

void VcdFormat::declare(Track track) {
    TrackState& state = tracks_[track_number(track)];
    state.track = track;
    state.slices =
        add_signal(Values::Slices, place_of(track), track.chip, scopes_of(track), "kind");
}

void VcdFormat::declare(const CounterSample& sample) {
    std::vector<std::string> scopes{"machine"};
    std::string name = tessera::traces::name_of(sample);
    std::uint64_t place =
        number_of_chip(0, sample.chip) * 16 + static_cast<std::uint64_t>(sample.counter);
    if (sample.counter == Counter::EdgeBytes) {
        const auto dot = name.find('.');
        scopes = {name.substr(0, dot)};
        name = name.substr(dot + 1);
        place = track_number(sample) * 16;
    }
    counters_[track_number(sample)] =
        add_signal(Values::Numbers, place, sample.chip, std::move(scopes), name);
}

/// The last of several changes in a cycle counts.
void VcdFormat::change(std::uint32_t signal, Cycles cycle, std::int64_t value) {
    std::size_t& last = last_change_[signal];
    if (last != kNoChange && changes_[last].cycle == cycle) {
        changes_[last].value = value;
        return;
    }
    last = changes_.size();
    changes_.push_back({cycle, value, signal});
}

void VcdFormat::span(const Span& span) {
    TrackState& state = tracks_.at(track_number(span.track));
    if (span.begin > state.end) {
        show_nothing(state);
    }
    change(state.slices, span.begin,
           static_cast<std::int64_t>(span.kind) + kNameFactor * std::int64_t{span.name});
    if (span.track.level == Level::Machine) {
        set_arguments(state, span);
    }
    state.end = span.end;
    state.shows_slice = true;
}

/// Writes those that are new or have another value.
void VcdFormat::set_arguments(TrackState& state, const Span& span) {
    std::array<std::int64_t, kArgWords.size()> values{};
    values.fill(kNothing);
    for (const Arg& arg : span.args) {
        values[static_cast<std::size_t>(arg.key)] = arg.value;
    }
    for (std::size_t key = 1; key < values.size(); ++key) { // 0 is no argument
        auto& signal = state.arguments[key];
        if (!signal && values[key] != kNothing) {
            signal = add_signal(
                static_cast<ArgKey>(key) == ArgKey::Role ? Values::Names : Values::Numbers,
                place_of(span.track) + key, span.track.chip, scopes_of(span.track), kArgWords[key]);
        }
        if (!signal) {
            continue;
        }
        const std::size_t last = last_change_[*signal];
        if ((last == kNoChange ? kNothing : changes_[last].value) != values[key]) {
            change(*signal, span.begin, values[key]);
        }
    }
}

/// From the end of the last slice on.
void VcdFormat::show_nothing(TrackState& state) {
    if (!std::exchange(state.shows_slice, false)) {
        return;
    }
    change(state.slices, state.end, kNothing);
    for (const auto& signal : state.arguments) {
        if (signal && changes_[last_change_[*signal]].value != kNothing) {
            change(*signal, state.end, kNothing);
        }
    }
}

void VcdFormat::sample(const CounterSample& sample) {
    change(counters_.at(track_number(sample)), sample.cycle, sample.value);
}

void VcdFormat::truncated(Cycles cycle) {
    truncated_ = cycle;
    const auto signal = add_signal(Values::Marks, kNotesNumber * 4, 0, {"machine"}, "notes");
    change(signal, cycle, 1);
}

void VcdFormat::end(Cycles cycles) {
    for (auto& [number, state] : tracks_) {
        show_nothing(state);
    }
    write_head(cycles);
    write_scopes();
    write_changes(cycles);
}

void VcdFormat::write_head(Cycles cycles) {
    using namespace metadata_word;
    auto to = std::back_inserter(bytes());
    fmt::format_to(to, "$version tessera {} $end\n$comment\n", one_word(metadata().version));
    // an equals sign within the word: `$end` alone would end the comment
    const auto say = [&](std::string_view word, const auto& value) {
        fmt::format_to(to, "  {}={}\n", word, value);
    };
    say(kWorkload, one_word(metadata().workload));
    say(kMachine, one_word(metadata().machine));
    say(kClockHz, metadata().clock_hz);
    say(kVersion, one_word(metadata().version));
    say(kClock, word(metadata().clock));
    say(kTimeUnit, one_word(time_unit(metadata().clock)));
    say(kCycles, cycles);
    if (truncated_) {
        say("truncated", *truncated_);
    }
    fmt::format_to(to, "$end\n$timescale 1 {} $end\n",
                   metadata().clock == Clock::Cycles ? "ns" : "ps");
}

void VcdFormat::write_scopes() {
    std::vector<std::uint32_t> order(signals_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return signals_[a].place < signals_[b].place;
    });
    auto to = std::back_inserter(bytes());
    std::vector<std::string> open;
    const auto enter = [&](const std::vector<std::string>& scopes) {
        const auto same = static_cast<std::size_t>(
            std::mismatch(open.begin(), open.end(), scopes.begin(), scopes.end()).first -
            open.begin());
        for (; open.size() > same; open.pop_back()) {
            bytes() += "$upscope $end\n";
        }
        for (; open.size() < scopes.size(); open.push_back(scopes[open.size()])) {
            fmt::format_to(to, "$scope module {} $end\n", scopes[open.size()]);
        }
    };
    for (const std::uint32_t number : order) {
        const Signal& signal = signals_[number];
        enter(signal.scopes);
        const bool is_number = signal.values == Values::Numbers;
        fmt::format_to(to, "$var {} {} {} $end\n", is_number ? "integer 64" : "string 1",
                       identifier(number), signal.name);
        if (signal.values == Values::Slices) {
            fmt::format_to(to, "$var string 1 {} name $end\n", identifier(number, true));
        }
        out().write_if_full();
    }
    enter({});
    bytes() += "$enddefinitions $end\n";
}

void VcdFormat::write_changes(Cycles cycles) {
    std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
        return a.cycle != b.cycle ? a.cycle < b.cycle : a.signal < b.signal;
    });
    std::vector<std::int64_t> first(signals_.size(), kNothing);
    auto at = changes_.begin();
    for (; at != changes_.end() && at->cycle == 0; ++at) {
        first[at->signal] = at->value;
    }
    bytes() += "#0\n$dumpvars\n";
    for (std::uint32_t signal = 0; signal < first.size(); ++signal) {
        write_value(signal, first[signal]);
    }
    bytes() += "$end\n";
    Cycles now = 0;
    const auto go_to = [&](Cycles cycle) {
        if (cycle != now) {
            fmt::format_to(std::back_inserter(bytes()), "#{}\n", time(cycle));
            now = cycle;
        }
    };
    for (; at != changes_.end(); ++at) {
        go_to(at->cycle);
        write_value(at->signal, at->value);
        out().write_if_full();
    }
    go_to(std::max(now, cycles));
}

void VcdFormat::write_value(std::uint32_t signal, std::int64_t value) {
    auto to = std::back_inserter(bytes());
    const auto text = [&](std::string_view shown, bool second = false) {
        fmt::format_to(to, "s{} {}\n", shown, identifier(signal, second));
    };
    switch (signals_[signal].values) {
    case Values::Slices:
        if (value == kNothing) {
            text(kNoKind);
            text(kNoName, true);
        } else {
            const std::string_view kind = word(static_cast<Kind>(value % kNameFactor));
            const auto name = static_cast<NameId>(value / kNameFactor);
            text(kind);
            text(name == kUnnamed ? std::string{kind} : one_word(names().text(name)), true);
        }
        break;
    case Values::Names:
        text(value == kNothing ? std::string{kNoName}
                               : one_word(names().text(static_cast<NameId>(value))));
        break;
    case Values::Marks:
        text(value == kNothing ? kNoName : std::string_view{"truncated"});
        break;
    case Values::Numbers:
        if (value == kNothing) {
            fmt::format_to(to, "bx {}\n", identifier(signal));
        } else {
            fmt::format_to(to, "b{:b} {}\n", static_cast<std::uint64_t>(value), identifier(signal));
        }
        break;
    }
}

std::int64_t VcdFormat::time(Cycles cycle) const {
    return metadata().clock == Clock::Cycles
               ? cycle
               : machine_time(cycle, metadata().clock_hz, Tick::Picosecond);
}

/// `second`: of the name beside the kind.
std::string VcdFormat::identifier(std::uint32_t signal, bool second) const {
    return letters(2 * std::uint64_t{signal} + (second ? 1 : 0));
}

} // namespace tessera::traces
