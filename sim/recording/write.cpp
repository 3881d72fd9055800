// SPDX-License-Identifier: MIT
#include "sim/recording/write.h"

#include "base/config/json_text.h"
#include "sim/recording/format.h"

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

/// Describes the steps in the order of Recorder::steps(), and puts their columns into `arrays`.
json steps_json(const Facts& facts, Arrays& arrays) {
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
            columns[std::string(listeners::kRecordedColumns.at(static_cast<std::size_t>(column)))] =
                arrays.add(numbers);
        }
        columns["cycles"] =
            arrays.add(Numbers(record.tile_cycles.begin(), record.tile_cycles.end()));
        steps.push_back({{"kind", word_of(kept[number].kind)},
                         {"index", kept[number].index},
                         {"name", record.name},
                         {"executions", record.executions},
                         {"columns", std::move(columns)}});
    }
    return steps;
}

json header_of(const Facts& facts, Arrays& arrays) {
    using listeners::RecordedExecution;
    using listeners::RecordedRelease;
    const auto& executions = facts.recorder.executions();
    const auto& releases = facts.recorder.releases();
    json header{{"schema_version", kSchemaVersion}, {"machine", facts.machine},
                {"workload", facts.workload},       {"mode", facts.mode},
                {"clock_hz", facts.clock_hz},       {"tiles", facts.account.tiles().size()},
                {"cycles", facts.account.cycles()}};
    header["steps"] = steps_json(facts, arrays);
    const auto begins =
        numbers_of(executions, [](const RecordedExecution& one) { return one.begin; });
    const auto ends = numbers_of(executions, [](const RecordedExecution& one) { return one.end; });
    header["executions"] = {
        {"count", executions.size()},
        {"left_out", facts.recorder.executions_left_out()},
        {"step", arrays.add_as<std::uint32_t>(numbers_of(
                     executions, [](const RecordedExecution& one) { return one.step; }))},
        {"begin", arrays.add_as<double>(begins)},
        {"end", arrays.add_as<double>(ends)},
        {"times", arrays.add_as<std::uint32_t>(numbers_of(
                      executions, [](const RecordedExecution& one) { return one.times; }))}};
    header["releases"] = {
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
        header["tiles_by_kind"][word] = arrays.add(numbers);
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

} // namespace tessera::recording
