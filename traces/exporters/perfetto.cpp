// SPDX-License-Identifier: MIT
#include "traces/exporters/perfetto.h"

#include "base/error.h"

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

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
constexpr protozero::pbf_tag_type kString = 6;
} // namespace annotation_field

enum SequenceFlag : std::uint32_t { kIncrementalStateCleared = 1, kNeedsIncrementalState = 2 };
enum EventType : std::int32_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounterEvent = 4 };
constexpr std::int32_t kExplicitOrdering = 3;

constexpr std::uint32_t kSequence = 1;
constexpr std::int32_t kProcessId = 1;
constexpr std::size_t kFlushBytes = std::size_t{1} << 20;

// Track uuids. 0 belongs to Perfetto; tile tracks begin at 256.
constexpr std::uint64_t kProcessUuid = 1;
constexpr std::uint64_t kMachineUuid = 2;
constexpr std::uint64_t kTilesUuid = 3;
constexpr std::uint64_t kNotesUuid = 4;
constexpr std::uint64_t kFirstCounterUuid = 16;
constexpr std::uint64_t kFirstLinkUuid = 32;

constexpr int kFirstLinkRank = 8; // counters come first, by their number
constexpr int kMachineRank = 16;
constexpr int kTilesRank = 17;
constexpr int kNotesRank = 18;

// Identifiers in the file: a name's own number lies behind the five words that unnamed spans show.
constexpr std::uint64_t kFirstNameIid = 16;
constexpr std::uint64_t kCyclesArgIid = 16; // beside those of ArgKey, which are their numbers

std::uint64_t uuid_of(Track track) {
    if (track.level == Level::Machine) {
        return track == machine_track() ? kMachineUuid : kFirstLinkUuid + track.context;
    }
    const std::uint64_t tile = (std::uint64_t{track.tile} + 1) << 8;
    if (track.level == Level::Tile) {
        return tile;
    }
    return track.context == kSupervisorContext ? tile + 255 : tile + 1 + track.context;
}

std::uint64_t uuid_of(Counter counter) {
    return kFirstCounterUuid + static_cast<std::uint64_t>(counter);
}

std::uint64_t category_iid(Kind kind) {
    return static_cast<std::uint64_t>(kind) + 1;
}

std::uint64_t name_iid(const Span& span) {
    return span.name == kUnnamed ? category_iid(span.kind) : kFirstNameIid + span.name;
}

/// What a packet says for the first time in the file: at most a category, a name and four
/// arguments.
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
    /// Category, name, all arguments of a span and its cycles.
    std::array<Entry, std::tuple_size_v<decltype(Span::args)> + 3> entries_;
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
    Packet(std::string& buffer, Cycles cycle) : Packet(buffer) {
        packet_.add_uint64(packet_field::kTimestamp, static_cast<std::uint64_t>(cycle));
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

} // namespace

PerfettoExporter::PerfettoExporter(std::unique_ptr<OutputFile> output, const Selection& selection,
                                   const NameTable& names, PerfettoOptions options)
    : TraceSink(selection.level, selection.tiles), output_(std::move(output)), names_(names),
      options_(std::move(options)) {
    declare_process();
    declare_track(machine_track());
}

void PerfettoExporter::span(const Span& span) {
    TESSERA_ASSERT(!finished_);
    if (!wants(span.track)) {
        return;
    }
    TESSERA_ASSERT(span.begin >= 0 && span.end >= span.begin);
    if (span.begin == span.end) {
        ++summary_.skipped_empty_spans;
        return;
    }
    if (span.track.level != Level::Machine && summary_.slices >= options_.slice_cap) {
        truncate(span.begin);
        return;
    }
    const auto uuid = uuid_of(span.track);
    auto known = end_of_track_.find(uuid);
    if (known == end_of_track_.end()) {
        declare_track(span.track);
        known = end_of_track_.find(uuid);
    }
    // An overlap would load without a word and change durations, so it must not get into a file.
    TESSERA_ASSERT(span.begin >= known->second);
    known->second = span.end;
    write_begin(uuid, span);
    write_end(uuid, span.end);
    ++summary_.slices;
    flush_if(kFlushBytes);
}

void PerfettoExporter::counter(const CounterSample& sample) {
    TESSERA_ASSERT(!finished_ && sample.cycle >= 0);
    const auto uuid = uuid_of(sample.counter);
    if (end_of_track_.count(uuid) == 0) {
        declare_counter(sample.counter);
    }
    TESSERA_ASSERT(sample.cycle >= end_of_track_[uuid]);
    end_of_track_[uuid] = sample.cycle;
    {
        Packet packet{buffer_, sample.cycle};
        auto event = event_on(packet, kCounterEvent, uuid);
        event.add_int64(event_field::kCounterValue, sample.value);
    }
    flush_if(kFlushBytes);
}

TraceSummary PerfettoExporter::finish() {
    TESSERA_ASSERT(!finished_);
    finished_ = true;
    flush_if(0);
    output_->commit();
    std::sort(summary_.tiles.begin(), summary_.tiles.end());
    return summary_;
}

void PerfettoExporter::declare_process() {
    Packet packet{buffer_, kIncrementalStateCleared};
    (*packet).add_bool(packet_field::kFirstOnSequence, true);
    protozero::pbf_writer track{*packet, packet_field::kTrackDescriptor};
    track.add_uint64(track_field::kUuid, kProcessUuid);
    track.add_enum(track_field::kChildOrdering, kExplicitOrdering);
    protozero::pbf_writer process{track, track_field::kProcess};
    process.add_int32(process_field::kPid, kProcessId);
    process.add_string(process_field::kProcessName,
                       fmt::format("{} (1 ns = 1 cycle)", options_.machine_name));
}

void PerfettoExporter::declare_child(std::uint64_t uuid, std::uint64_t parent_uuid,
                                     std::string_view name, int rank) {
    end_of_track_.emplace(uuid, 0);
    Packet packet{buffer_};
    protozero::pbf_writer track{*packet, packet_field::kTrackDescriptor};
    track.add_uint64(track_field::kUuid, uuid);
    track.add_string(track_field::kName, name.data(), name.size());
    track.add_uint64(track_field::kParentUuid, parent_uuid);
    track.add_enum(track_field::kChildOrdering, kExplicitOrdering);
    track.add_int32(track_field::kSiblingOrderRank, rank);
}

void PerfettoExporter::declare_track(Track track) {
    if (track.level == Level::Machine) {
        declare_child(uuid_of(track), kProcessUuid, path(track),
                      track == machine_track() ? kMachineRank : kFirstLinkRank + track.context);
        return;
    }
    if (end_of_track_.count(kTilesUuid) == 0) {
        declare_child(kTilesUuid, kProcessUuid, "tiles", kTilesRank);
    }
    const auto tile_uuid = uuid_of(tile_track(track.tile));
    if (end_of_track_.count(tile_uuid) == 0) {
        declare_child(tile_uuid, kTilesUuid, path(tile_track(track.tile)),
                      static_cast<int>(track.tile));
        summary_.tiles.push_back(track.tile);
    }
    if (track.level == Level::Worker) {
        const auto name = path(track);
        declare_child(uuid_of(track), tile_uuid, name.substr(name.find('.') + 1), track.context);
    }
}

void PerfettoExporter::declare_counter(Counter counter) {
    const auto number = static_cast<std::size_t>(counter);
    const auto uuid = uuid_of(counter);
    Packet packet{buffer_};
    protozero::pbf_writer track{*packet, packet_field::kTrackDescriptor};
    track.add_uint64(track_field::kUuid, uuid);
    track.add_string(track_field::kName, std::string{kCounterWords[number]});
    track.add_uint64(track_field::kParentUuid, kProcessUuid);
    track.add_int32(track_field::kSiblingOrderRank, static_cast<std::int32_t>(number));
    protozero::pbf_writer properties{track, track_field::kCounter};
    properties.add_string(counter_field::kUnitName, std::string{kCounterUnits[number]});
}

void PerfettoExporter::write_begin(std::uint64_t uuid, const Span& span) {
    Packet packet{buffer_, span.begin};
    InternedData interned;
    interned.add(interned_categories_, interned_field::kEventCategories, category_iid(span.kind),
                 word(span.kind));
    interned.add(interned_names_, interned_field::kEventNames, name_iid(span),
                 span.name == kUnnamed ? word(span.kind) : names_.text(span.name));
    {
        auto event = event_on(packet, kBegin, uuid);
        event.add_uint64(event_field::kCategoryIids, category_iid(span.kind));
        event.add_uint64(event_field::kNameIid, name_iid(span));
        const auto annotate = [&](std::uint64_t iid, std::string_view name, auto value) {
            interned.add(interned_args_, interned_field::kDebugAnnotationNames, iid, name);
            add_annotation(event, iid, value);
        };
        for (const auto& arg : span.args) {
            const auto key = static_cast<std::size_t>(arg.key);
            if (arg.key == ArgKey::Role) {
                annotate(key, kArgWords[key], names_.text(static_cast<NameId>(arg.value)));
            } else if (arg.key != ArgKey::None) {
                annotate(key, kArgWords[key], arg.value);
            }
        }
        if (span.track.level == Level::Machine) {
            annotate(kCyclesArgIid, "cycles", span.end - span.begin);
        }
    }
    interned.write(*packet);
}

void PerfettoExporter::write_end(std::uint64_t uuid, Cycles cycle) {
    Packet packet{buffer_, cycle};
    event_on(packet, kEnd, uuid);
}

void PerfettoExporter::truncate(Cycles cycle) {
    stop_finer_levels();
    declare_child(kNotesUuid, kProcessUuid, "notes", kNotesRank);
    {
        Packet packet{buffer_, cycle};
        auto event = event_on(packet, kInstant, kNotesUuid);
        event.add_string(event_field::kName, "truncated");
    }
    summary_.truncated = true;
    summary_.message = fmt::format("the trace shows tiles only until cycle {}, where it reached {} "
                                   "slices; show fewer tiles with "
                                   "--trace-tiles or less of each with --trace-level",
                                   cycle, summary_.slices);
}

void PerfettoExporter::flush_if(std::size_t least_buffered_bytes) {
    if (buffer_.size() >= least_buffered_bytes) {
        output_->write(buffer_);
        buffer_.clear();
    }
}

} // namespace tessera::traces
