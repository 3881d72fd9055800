// SPDX-License-Identifier: MIT
#include "traces/exporters/perfetto.h"

#include "base/error.h"
#include "traces/exporters/track_order.h"

#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <array>
#include <tuple>

namespace tessera::traces {
namespace {

// Field numbers of Perfetto's messages.
namespace trace_field {
constexpr protozero::pbf_tag_type kPacket = 1;
}
namespace packet_field {
constexpr protozero::pbf_tag_type kTimestamp = 8;
constexpr protozero::pbf_tag_type kSequenceId = 10;
constexpr protozero::pbf_tag_type kTrackEvent = 11;
constexpr protozero::pbf_tag_type kInternedData = 12;
constexpr protozero::pbf_tag_type kSequenceFlags = 13;
constexpr protozero::pbf_tag_type kTrackDescriptor = 60;
constexpr protozero::pbf_tag_type kFirstOnSequence = 87;
} // namespace packet_field
namespace track_field {
constexpr protozero::pbf_tag_type kUuid = 1;
constexpr protozero::pbf_tag_type kName = 2;
constexpr protozero::pbf_tag_type kProcess = 3;
constexpr protozero::pbf_tag_type kParentUuid = 5;
constexpr protozero::pbf_tag_type kCounter = 8;
constexpr protozero::pbf_tag_type kChildOrdering = 11;
constexpr protozero::pbf_tag_type kSiblingOrderRank = 12;
} // namespace track_field
namespace process_field {
constexpr protozero::pbf_tag_type kPid = 1;
constexpr protozero::pbf_tag_type kProcessName = 6;
} // namespace process_field
namespace counter_field {
constexpr protozero::pbf_tag_type kUnitName = 6;
}
namespace event_field {
constexpr protozero::pbf_tag_type kCategoryIids = 3;
constexpr protozero::pbf_tag_type kDebugAnnotations = 4;
constexpr protozero::pbf_tag_type kType = 9;
constexpr protozero::pbf_tag_type kNameIid = 10;
constexpr protozero::pbf_tag_type kTrackUuid = 11;
constexpr protozero::pbf_tag_type kName = 23;
constexpr protozero::pbf_tag_type kCounterValue = 30;
constexpr protozero::pbf_tag_type kFlowIds = 47;
constexpr protozero::pbf_tag_type kTerminatingFlowIds = 48;
} // namespace event_field
namespace interned_field {
constexpr protozero::pbf_tag_type kEventCategories = 1;
constexpr protozero::pbf_tag_type kEventNames = 2;
constexpr protozero::pbf_tag_type kDebugAnnotationNames = 3;
constexpr protozero::pbf_tag_type kIid = 1; // of an entry in any of the three
constexpr protozero::pbf_tag_type kName = 2;
} // namespace interned_field
namespace annotation_field {
constexpr protozero::pbf_tag_type kNameIid = 1;
constexpr protozero::pbf_tag_type kInt = 4;
constexpr protozero::pbf_tag_type kDouble = 5;
constexpr protozero::pbf_tag_type kString = 6;
} // namespace annotation_field

enum SequenceFlag : std::uint32_t { kIncrementalStateCleared = 1, kNeedsIncrementalState = 2 };
enum EventType : std::int32_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounterEvent = 4 };
constexpr std::int32_t kExplicitOrdering = 3;

constexpr std::uint32_t kSequence = 1;
constexpr std::int32_t kFirstProcessId = 1;

// Identifiers in the file: a name's own number lies behind the five words that unnamed spans show.
// Those of arguments are their numbers; metadata comes behind them.
constexpr std::uint64_t kFirstNameIid = 16;
constexpr std::uint64_t kFirstMetadataIid = 32;

std::uint64_t category_iid(Kind kind) {
    return static_cast<std::uint64_t>(kind) + 1;
}

std::uint64_t name_iid(const Span& span) {
    return span.name == kUnnamed ? category_iid(span.kind) : kFirstNameIid + span.name;
}

/// What a packet says for the first time in the file: at most a category, a name and all arguments
/// of a span.
class InternedData {
public:
    /// Notes `text` unless `seen` shows that an earlier packet defined `iid`.
    void add(std::vector<bool>& seen, protozero::pbf_tag_type field, std::uint64_t iid,
             std::string_view text) {
        if (iid < seen.size() && seen[iid]) {
            return;
        }
        seen.resize(std::max<std::size_t>(seen.size(), iid + 1));
        seen[iid] = true;
        entries_[used_++] = {field, iid, text};
    }

    void write(protozero::pbf_writer& packet) const {
        if (used_ == 0) {
            return;
        }
        protozero::pbf_writer interned{packet, packet_field::kInternedData};
        for (std::size_t i = 0; i < used_; ++i) {
            protozero::pbf_writer entry{interned, entries_[i].field};
            entry.add_uint64(interned_field::kIid, entries_[i].iid);
            entry.add_string(interned_field::kName, entries_[i].text.data(),
                             entries_[i].text.size());
        }
    }

private:
    struct Entry {
        protozero::pbf_tag_type field = 0;
        std::uint64_t iid = 0;
        std::string_view text;
    };
    /// Category, name, all arguments of a span, where it begins and its cycles.
    std::array<Entry, std::tuple_size_v<decltype(Span::args)> + 4> entries_;
    std::size_t used_ = 0;
};

/// One packet at the end of the buffer; what it holds is added before it goes out of scope.
class Packet {
public:
    explicit Packet(std::string& buffer, std::uint32_t flags = kNeedsIncrementalState)
        : trace_(buffer), packet_(trace_, trace_field::kPacket) {
        packet_.add_uint32(packet_field::kSequenceId, kSequence);
        packet_.add_uint32(packet_field::kSequenceFlags, flags);
    }
    /// An event at `time_ns`.
    Packet(std::string& buffer, std::int64_t time_ns) : Packet(buffer) {
        packet_.add_uint64(packet_field::kTimestamp, static_cast<std::uint64_t>(time_ns));
    }
    protozero::pbf_writer& operator*() { return packet_; }

private:
    protozero::pbf_writer trace_;
    protozero::pbf_writer packet_;
};

protozero::pbf_writer event_on(Packet& packet, EventType type, std::uint64_t track_uuid) {
    protozero::pbf_writer event{*packet, packet_field::kTrackEvent};
    event.add_enum(event_field::kType, type);
    event.add_uint64(event_field::kTrackUuid, track_uuid);
    return event;
}

void add_annotation(protozero::pbf_writer& event, std::uint64_t iid, std::int64_t value) {
    protozero::pbf_writer annotation{event, event_field::kDebugAnnotations};
    annotation.add_uint64(annotation_field::kNameIid, iid);
    annotation.add_int64(annotation_field::kInt, value);
}

void add_annotation(protozero::pbf_writer& event, std::uint64_t iid, std::string_view text) {
    protozero::pbf_writer annotation{event, event_field::kDebugAnnotations};
    annotation.add_uint64(annotation_field::kNameIid, iid);
    annotation.add_string(annotation_field::kString, text.data(), text.size());
}

void add_annotation(protozero::pbf_writer& event, std::uint64_t iid, double value) {
    protozero::pbf_writer annotation{event, event_field::kDebugAnnotations};
    annotation.add_uint64(annotation_field::kNameIid, iid);
    annotation.add_double(annotation_field::kDouble, value);
}

} // namespace

PerfettoFormat::PerfettoFormat(const FormatContext& context)
    : Format(context), tiles_declared_(metadata().chips) {
    for (std::uint32_t chip = 0; chip < metadata().chips; ++chip) {
        declare_process(chip);
    }
    declare_child(kRunNumber, kProcessNumber, "run", kRunRank);
    describe_run();
}

std::int64_t PerfettoFormat::time_ns(Cycles cycle) const {
    return metadata().clock == Clock::Cycles
               ? cycle
               : machine_time(cycle, metadata().clock_hz, Tick::Nanosecond);
}

void PerfettoFormat::span(const Span& span) {
    write_begin(span);
    Packet packet{bytes(), time_ns(span.end)};
    event_on(packet, kEnd, track_number(span.track));
}

void PerfettoFormat::sample(const CounterSample& sample) {
    Packet packet{bytes(), time_ns(sample.cycle)};
    auto event = event_on(packet, kCounterEvent, track_number(sample));
    event.add_int64(event_field::kCounterValue, sample.value);
}

void PerfettoFormat::declare_process(std::uint32_t chip) {
    const bool first = chip == 0;
    Packet packet{bytes(), first ? kIncrementalStateCleared : kNeedsIncrementalState};
    if (first) {
        (*packet).add_bool(packet_field::kFirstOnSequence, true);
    }
    protozero::pbf_writer track{*packet, packet_field::kTrackDescriptor};
    track.add_uint64(track_field::kUuid, number_of_chip(kProcessNumber, chip));
    track.add_enum(track_field::kChildOrdering, kExplicitOrdering);
    protozero::pbf_writer process{track, track_field::kProcess};
    process.add_int32(process_field::kPid, kFirstProcessId + static_cast<std::int32_t>(chip));
    process.add_string(process_field::kProcessName, name_in(metadata(), chip, title(metadata())));
}

void PerfettoFormat::declare_child(std::uint64_t uuid, std::uint64_t parent_uuid,
                                   std::string_view name, int place) {
    Packet packet{bytes()};
    protozero::pbf_writer track{*packet, packet_field::kTrackDescriptor};
    track.add_uint64(track_field::kUuid, uuid);
    track.add_string(track_field::kName, name.data(), name.size());
    track.add_uint64(track_field::kParentUuid, parent_uuid);
    track.add_enum(track_field::kChildOrdering, kExplicitOrdering);
    track.add_int32(track_field::kSiblingOrderRank, place);
}

void PerfettoFormat::declare(Track track) {
    const std::uint64_t process = number_of_chip(kProcessNumber, track.chip);
    const std::uint64_t tiles = number_of_chip(kTilesNumber, track.chip);
    if (track.level == Level::Tile && !tiles_declared_[track.chip]) {
        declare_child(tiles, process, "tiles", kTilesRank);
        tiles_declared_[track.chip] = true;
    }
    const std::uint64_t parent = track.level == Level::Machine ? process
                                 : track.level == Level::Tile  ? tiles
                                                               : track_number(tile_of(track));
    declare_child(track_number(track), parent, own_name(track), rank(track));
}

void PerfettoFormat::declare(const CounterSample& sample) {
    const auto number = static_cast<std::size_t>(sample.counter);
    Packet packet{bytes()};
    protozero::pbf_writer track{*packet, packet_field::kTrackDescriptor};
    track.add_uint64(track_field::kUuid, track_number(sample));
    track.add_string(track_field::kName, tessera::traces::name_of(sample));
    track.add_uint64(track_field::kParentUuid, number_of_chip(kProcessNumber, sample.chip));
    track.add_int32(track_field::kSiblingOrderRank, rank(sample));
    protozero::pbf_writer properties{track, track_field::kCounter};
    properties.add_string(counter_field::kUnitName, std::string{kCounterUnits[number]});
}

void PerfettoFormat::write_begin(const Span& span) {
    Packet packet{bytes(), time_ns(span.begin)};
    InternedData interned;
    interned.add(interned_categories_, interned_field::kEventCategories, category_iid(span.kind),
                 word(span.kind));
    interned.add(interned_names_, interned_field::kEventNames, name_iid(span), name_of(span));
    {
        auto event = event_on(packet, kBegin, track_number(span.track));
        event.add_uint64(event_field::kCategoryIids, category_iid(span.kind));
        event.add_uint64(event_field::kNameIid, name_iid(span));
        each_argument(span, [&](std::uint64_t iid, std::string_view name, auto value) {
            interned.add(interned_args_, interned_field::kDebugAnnotationNames, iid, name);
            add_annotation(event, iid, value);
        });
        if (span.flow.number != 0) {
            event.add_fixed64(span.flow.ends ? event_field::kTerminatingFlowIds
                                             : event_field::kFlowIds,
                              static_cast<std::uint64_t>(span.flow.number));
        }
    }
    interned.write(*packet);
}

template <typename Annotate>
void PerfettoFormat::write_note(std::uint64_t uuid, Cycles cycle, std::string_view name,
                                Annotate annotate) {
    Packet packet{bytes(), time_ns(cycle)};
    InternedData interned;
    {
        auto event = event_on(packet, kInstant, uuid);
        event.add_string(event_field::kName, name.data(), name.size());
        annotate([&](std::uint64_t number, std::string_view word, auto value) {
            const std::uint64_t iid = kFirstMetadataIid + number;
            interned.add(interned_args_, interned_field::kDebugAnnotationNames, iid, word);
            add_annotation(event, iid, value);
        });
    }
    interned.write(*packet);
}

void PerfettoFormat::describe_run() {
    write_note(kRunNumber, 0, "run", [&](auto annotate) {
        using namespace metadata_word;
        annotate(0, kWorkload, std::string_view{metadata().workload});
        annotate(1, kMachine, std::string_view{metadata().machine});
        annotate(2, kClockHz, metadata().clock_hz);
        annotate(3, kVersion, std::string_view{metadata().version});
        annotate(4, kClock, word(metadata().clock));
        annotate(5, kTimeUnit, time_unit(metadata().clock));
    });
}

void PerfettoFormat::truncated(Cycles cycle) {
    declare_child(kNotesNumber, kProcessNumber, "notes", kNotesRank);
    write_note(kNotesNumber, cycle, "truncated", [](auto /*annotate*/) {});
}

void PerfettoFormat::end(Cycles cycles) {
    write_note(kRunNumber, cycles, "end",
               [&](auto annotate) { annotate(6, metadata_word::kCycles, std::int64_t{cycles}); });
}

} // namespace tessera::traces
