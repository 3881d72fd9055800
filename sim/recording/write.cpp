// SPDX-License-Identifier: MIT
#include "sim/recording/write.h"

#include "base/config/json_text.h"
#include "base/error.h"
#include "base/units.h"
#include "sim/recording/format.h"
#include "traces/deflater.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tessera::recording {
namespace {

using listeners::Account;
using listeners::CyclesByKind;
using listeners::RecordedExecution;
using listeners::RecordedRelease;
using listeners::Recorder;
using listeners::StepRecord;
using nlohmann::json;

using Numbers = std::vector<std::uint64_t>;

/// The arrays of a file, first measured, then written: they never stand in memory all at once.
class Arrays {
public:
    using Put = std::function<void(std::string_view bytes)>;

    /// `put`: empty to measure.
    explicit Arrays(Put put) : put_(std::move(put)) {}

    /// Where the numbers are, as the header tells it: a number where all are equal.
    json add(const Numbers& numbers) {
        const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
        if (numbers.empty() || *least == *most) {
            return numbers.empty() ? 0 : *least;
        }
        return *most <= std::numeric_limits<std::uint32_t>::max() ? add_as<std::uint32_t>(numbers)
                                                                  : add_as<double>(numbers);
    }

    template <class Number, class From> json add_as(const From& numbers) {
        json place{{"type", std::is_same_v<Number, double> ? kF64 : kU32}, {"offset", bytes_}};
        bytes_ += sizeof(Number) * numbers.size();
        if (put_) {
            std::string bytes(sizeof(Number) * numbers.size(), '\0');
            char* to = bytes.data();
            for (const auto number : numbers) {
                const auto value = static_cast<Number>(number);
                std::memcpy(to, &value, sizeof value); // hosts are little-endian, as the format is
                to += sizeof value;
            }
            put_(bytes);
        }
        return place;
    }

private:
    Put put_;
    std::size_t bytes_ = 0;
};

template <class Event, class Get>
auto numbers_of(const std::vector<Event>& events, const Get& get) {
    std::vector<std::decay_t<decltype(get(events.front()))>> numbers;
    numbers.reserve(events.size());
    for (const Event& event : events) {
        numbers.push_back(get(event));
    }
    return numbers;
}

const char* word_of(program::Step::Kind kind) {
    switch (kind) {
    case program::Step::Kind::ComputeSet:
        return "compute_set";
    case program::Step::Kind::Exchange:
        return "exchange";
    case program::Step::Kind::StreamCopy:
        return "stream";
    default:
        return "link_exchange";
    }
}

std::size_t tiles_of_block(std::size_t tiles) {
    return (tiles + kMostBlocks - 1) / kMostBlocks;
}

constexpr std::int64_t kWordBytes = 4;

/// Adds who sends to whom, by blocks of tiles, to what is told of an exchange's step.
void add_pairs(const program::Exchange& exchange, std::int64_t executions, std::size_t tiles,
               json& step, Arrays& arrays) {
    const std::size_t block = tiles_of_block(tiles);
    std::vector<std::int64_t> words(kMostBlocks * kMostBlocks, 0);
    for (const program::Transfer& transfer : exchange.transfers) {
        const std::size_t row = transfer.source_tile / block * kMostBlocks;
        for (const program::Destination& destination : transfer.destinations) {
            words[row + destination.tile / block] +=
                static_cast<std::int64_t>(transfer.bytes) / kWordBytes;
        }
    }
    std::vector<std::uint32_t> from;
    std::vector<std::uint32_t> to;
    std::vector<double> moved;
    for (std::size_t pair = 0; pair < words.size(); ++pair) {
        if (words[pair] != 0) {
            from.push_back(static_cast<std::uint32_t>(pair / kMostBlocks));
            to.push_back(static_cast<std::uint32_t>(pair % kMostBlocks));
            moved.push_back(static_cast<double>(words[pair] * executions));
        }
    }
    if (!from.empty()) {
        step["pairs"] = {{"count", from.size()},
                         {"from", arrays.add_as<std::uint32_t>(from)},
                         {"to", arrays.add_as<std::uint32_t>(to)},
                         {"words", arrays.add_as<double>(moved)}};
    }
}

/// Describes the steps in the order of Recorder::steps(), and puts their columns into `arrays`.
json steps_json(const ChipFacts& facts, Arrays& arrays) {
    json steps = json::array();
    std::vector<const StepRecord*> records;
    for (const auto* list : {&facts.account.compute_sets(), &facts.account.exchanges(),
                             &facts.account.streams(), &facts.account.links()}) {
        for (const StepRecord& record : *list) {
            records.push_back(&record);
        }
    }
    const std::vector<Recorder::Step> kept = facts.recorder.steps();
    for (std::size_t number = 0; number < kept.size(); ++number) {
        const StepRecord& record = *records.at(number);
        json columns = json::object();
        for (const auto& [column, numbers] : facts.recorder.columns(number)) {
            columns[column] = arrays.add(numbers);
        }
        columns["cycles"] =
            arrays.add(Numbers(record.tile_cycles.begin(), record.tile_cycles.end()));
        steps.push_back({{"kind", word_of(kept[number].kind)},
                         {"index", kept[number].index},
                         {"name", record.name},
                         {"executions", record.executions},
                         {"columns", std::move(columns)}});
        if (kept[number].kind == program::Step::Kind::Exchange && record.executions > 0) {
            add_pairs(facts.program.exchanges[kept[number].index], record.executions,
                      facts.account.tiles().size(), steps.back(), arrays);
        }
    }
    return steps;
}

/// Describes the executions of the window, and puts what tiles did in them into `arrays`.
json window_json(const Recorder& recorder, Arrays& arrays) {
    std::vector<RecordedExecution> executions;
    std::vector<std::uint32_t> tile_begin;
    std::vector<std::uint32_t> tile_cycles;
    for (std::size_t number = 0; number < recorder.window_executions(); ++number) {
        const listeners::WindowExecution one = recorder.window_execution(number);
        executions.push_back(one.execution);
        tile_begin.insert(tile_begin.end(), one.begin.begin(), one.begin.end());
        tile_cycles.insert(tile_cycles.end(), one.cycles.begin(), one.cycles.end());
    }
    return {{"from", recorder.window()->from},
            {"to", recorder.window()->to},
            {"count", executions.size()},
            {"left_out", recorder.window_left_out()},
            {"step", arrays.add_as<std::uint32_t>(numbers_of(
                         executions, [](const RecordedExecution& one) { return one.step; }))},
            {"begin", arrays.add_as<double>(numbers_of(
                          executions, [](const RecordedExecution& one) { return one.begin; }))},
            {"times", arrays.add_as<std::uint32_t>(numbers_of(
                          executions, [](const RecordedExecution& one) { return one.times; }))},
            {"tile_begin", arrays.add_as<std::uint32_t>(tile_begin)},
            {"tile_cycles", arrays.add_as<std::uint32_t>(tile_cycles)}};
}

json chip_json(const ChipFacts& facts, Arrays& arrays) {
    const auto& executions = facts.recorder.executions();
    const auto& releases = facts.recorder.releases();
    json told{{"cycles", facts.account.cycles()}, {"steps", steps_json(facts, arrays)}};
    if (facts.recorder.window()) {
        told["window"] = window_json(facts.recorder, arrays);
    }
    const auto begins =
        numbers_of(executions, [](const RecordedExecution& one) { return one.begin; });
    const auto ends = numbers_of(executions, [](const RecordedExecution& one) { return one.end; });
    told["executions"] = {
        {"count", executions.size()},
        {"left_out", facts.recorder.executions_left_out()},
        {"step", arrays.add_as<std::uint32_t>(numbers_of(
                     executions, [](const RecordedExecution& one) { return one.step; }))},
        {"begin", arrays.add_as<double>(begins)},
        {"end", arrays.add_as<double>(ends)},
        {"times", arrays.add_as<std::uint32_t>(numbers_of(
                      executions, [](const RecordedExecution& one) { return one.times; }))}};
    told["releases"] = {
        {"count", releases.size()},
        {"left_out", facts.recorder.releases_left_out()},
        {"last_arrival",
         arrays.add_as<double>(
             numbers_of(releases, [](const RecordedRelease& one) { return one.last_arrival; }))},
        {"cycle", arrays.add_as<double>(
                      numbers_of(releases, [](const RecordedRelease& one) { return one.cycle; }))},
        {"critical", arrays.add_as<std::uint32_t>(numbers_of(
                         releases, [](const RecordedRelease& one) { return one.critical; }))},
        {"times", arrays.add_as<std::uint32_t>(
                      numbers_of(releases, [](const RecordedRelease& one) { return one.times; }))}};
    constexpr std::array<std::pair<const char*, Cycles CyclesByKind::*>, 6> kKinds{
        {{"compute", &CyclesByKind::compute},
         {"exchange", &CyclesByKind::exchange},
         {"sync", &CyclesByKind::sync},
         {"stream", &CyclesByKind::stream},
         {"link", &CyclesByKind::link},
         {"idle", &CyclesByKind::idle}}};
    for (const auto& [word, kind] : kKinds) {
        const auto numbers =
            numbers_of(facts.account.tiles(), [kind = kind](const CyclesByKind& one) {
                return static_cast<std::uint64_t>(one.*kind);
            });
        told["tiles_by_kind"][word] = arrays.add(numbers);
    }
    return told;
}

json header_of(const Facts& facts, Arrays& arrays) {
    const Account& account = facts.chips.at(facts.last).account;
    const std::size_t tiles = account.tiles().size();
    json header{{"schema_version", kSchemaVersion},
                {"machine", facts.machine},
                {"workload", facts.workload},
                {"mode", facts.mode},
                {"clock_hz", facts.clock_hz},
                {"tiles", tiles},
                {"block_tiles", tiles_of_block(tiles)},
                {"cycles", account.cycles()},
                {"last", facts.last},
                {"chips", json::array()}};
    for (std::size_t chip = 0; chip < facts.chips.size(); ++chip) {
        json told = chip_json(facts.chips[chip], arrays);
        told["chip"] = chip;
        header["chips"].push_back(std::move(told));
    }
    return header;
}

} // namespace

void write(const Facts& facts, const std::function<void(std::string_view bytes)>& put) {
    Arrays measured({});
    const std::string header = config::text_of_json(header_of(facts, measured));
    const auto length = static_cast<std::uint32_t>(header.size());
    std::string begin(kMagic);
    begin.append(reinterpret_cast<const char*>(&length), sizeof length);
    put(begin + header);
    Arrays written(put);
    static_cast<void>(header_of(facts, written));
}

void write(const Facts& facts, traces::OutputFile& file) {
    write(facts, [&](std::string_view bytes) { file.write(bytes); });
    file.commit();
}

std::string compressed(const Facts& facts) {
    traces::Deflater packed(traces::Deflater::Envelope::Gzip);
    write(facts, [&](std::string_view bytes) { packed.put(bytes); });
    return packed.finish();
}

} // namespace tessera::recording
