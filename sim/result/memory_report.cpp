// SPDX-License-Identifier: MIT
#include "sim/result/memory_report.h"

#include "sim/result/schema_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace tessera::result {
namespace {

using nlohmann::json;
using program::ImageUse;
using program::kSegmentKinds;
using program::MemoryUse;
using program::sum_of;

/// "0-3,7": ascending tiles or steps.
std::string ranges_text(const std::vector<std::uint32_t>& numbers) {
    std::string text;
    for (std::size_t at = 0; at < numbers.size();) {
        std::size_t end = at + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) {
            ++end;
        }
        text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[at]);
        text += end - at > 1 ? fmt::format("-{}", numbers[end - 1]) : "";
        at = end;
    }
    return text;
}

/// Rows that are given for one number after the other, equal ones once with all their numbers.
class Rows {
public:
    void add(const json& row, std::uint32_t number) {
        const auto [entry, added] = row_of_text_.emplace(row.dump(), rows_.size());
        if (added) {
            rows_.push_back(row);
            numbers_.emplace_back();
        }
        numbers_[entry->second].push_back(number);
    }

    /// The numbers stand at `key`.
    [[nodiscard]] json take(const char* key) {
        for (std::size_t row = 0; row < rows_.size(); ++row) {
            rows_[row][key] = ranges_text(numbers_[row]);
        }
        return std::move(rows_);
    }

private:
    std::vector<json> rows_;
    std::vector<std::vector<std::uint32_t>> numbers_;
    std::map<std::string, std::size_t> row_of_text_;
};

json span_json(const MemoryUse& use, std::size_t span, const program::Program& program,
               std::int64_t tiles) {
    BytesByKind most{};
    BytesByKind sum{};
    Bytes worst_bytes = 0;
    TileId worst = 0;
    for (TileId tile = 0; tile < program.image_of_tile.size(); ++tile) {
        if (program.image_of_tile[tile] == program::Program::kNoImage) {
            continue;
        }
        const BytesByKind& kept = use.images[program.image_of_tile[tile]].of_span[span];
        for (std::size_t kind = 0; kind < kept.size(); ++kind) {
            most[kind] = std::max(most[kind], kept[kind]);
            sum[kind] += kept[kind];
        }
        if (sum_of(kept) > worst_bytes) {
            worst_bytes = sum_of(kept);
            worst = tile;
        }
    }
    json mean = json::object();
    const auto share = [&](Bytes bytes) {
        return static_cast<double>(bytes) / static_cast<double>(tiles);
    };
    for (std::size_t kind = 0; kind < sum.size(); ++kind) {
        mean[kSegmentKinds[kind]] = share(sum[kind]);
    }
    return {{"max_bytes", worst_bytes},
            {"worst_tile", worst},
            {"mean_bytes", share(sum_of(sum))},
            {"max_bytes_by_kind", by_kind_json(most)},
            {"mean_bytes_by_kind", std::move(mean)}};
}

json steps_json(const MemoryUse& use, const program::Program& program, std::int64_t tiles) {
    Rows rows;
    for (std::size_t span = 0; span < use.spans.size(); ++span) {
        json row = span_json(use, span, program, tiles);
        const std::size_t end =
            span + 1 < use.spans.size() ? use.spans[span + 1] : use.steps.size();
        for (std::uint32_t step = use.spans[span]; step < end; ++step) {
            row["name"] = use.steps[step];
            rows.add(row, step);
        }
    }
    return rows.take("steps");
}

json image_json(const MemoryUse& all, const ImageUse& use, Bytes tile_bytes) {
    BytesByKind other = use.peak();
    for (std::size_t kind = 0; kind < other.size(); ++kind) {
        other[kind] -= use.always[kind];
    }
    return {{"always_bytes", sum_of(use.always)},
            {"always_bytes_by_kind", by_kind_json(use.always)},
            {"peak_step", all.peak_step(use)},
            {"peak_bytes", use.peak_bytes()},
            {"peak_not_always_bytes_by_kind", by_kind_json(other)},
            {"free_bytes", tile_bytes - use.peak_bytes()}};
}

json tiles_json(const MemoryUse& use, const program::Program& program, Bytes tile_bytes) {
    Rows rows;
    for (TileId tile = 0; tile < program.image_of_tile.size(); ++tile) {
        if (program.image_of_tile[tile] == program::Program::kNoImage) {
            continue;
        }
        rows.add(image_json(use, use.images[program.image_of_tile[tile]], tile_bytes), tile);
    }
    return rows.take("tiles");
}

json buffers_json(const program::Program& program, std::uint32_t last_step) {
    using Key = std::tuple<Address, std::uint32_t, std::uint32_t, std::string, Bytes, std::size_t>;
    std::map<Key, std::vector<TileId>> tiles_of;
    for (TileId tile = 0; tile < program.image_of_tile.size(); ++tile) {
        if (program.image_of_tile[tile] == program::Program::kNoImage) {
            continue;
        }
        for (const auto& segment : program.images[program.image_of_tile[tile]].segments) {
            tiles_of[{segment.address, segment.lifetime.first,
                      std::min(segment.lifetime.last, last_step), segment.name, segment.bytes,
                      static_cast<std::size_t>(segment.kind)}]
                .push_back(tile);
        }
    }
    json rows = json::array();
    for (const auto& [key, tiles] : tiles_of) {
        const auto& [address, first, last, name, bytes, kind] = key;
        rows.push_back({{"name", name},
                        {"kind", kSegmentKinds.at(kind)},
                        {"bytes", bytes},
                        {"address", address},
                        {"first_step", first},
                        {"last_step", last},
                        {"tiles", ranges_text(tiles)}});
    }
    return rows;
}

} // namespace

json by_kind_json(const BytesByKind& by_kind) {
    json out = json::object();
    for (std::size_t kind = 0; kind < by_kind.size(); ++kind) {
        out[kSegmentKinds[kind]] = by_kind[kind];
    }
    return out;
}

json make_memory_report(const spec::MachineSpec& machine, const std::string& workload,
                        const program::Program& program) {
    const MemoryUse use = memory_use(program);
    return {{"schema_version", kMemorySchemaVersion},
            {"machine", machine.name},
            {"workload", workload},
            {"tile_bytes", machine.memory.bytes()},
            {"steps", steps_json(use, program, machine.chip.tiles)},
            {"tiles", tiles_json(use, program, machine.memory.bytes())},
            {"buffers", buffers_json(program, static_cast<std::uint32_t>(use.steps.size() - 1))}};
}

json by_kind_schema(const char* sentence) {
    json kinds = json::object();
    for (const char* kind : kSegmentKinds) {
        kinds[kind] = schema::whole("bytes");
    }
    return schema::object(sentence, std::move(kinds));
}

json memory_report_schema() {
    using namespace schema;
    json means = json::object();
    for (const char* kind : kSegmentKinds) {
        means[kind] = number("bytes");
    }
    const json step =
        object("steps whose names and numbers are equal",
               {{"steps", text("as in 0-3,7: leaves of the control program in tree order, from 0")},
                {"name", text("of the compute set, exchange or stream copy")},
                {"max_bytes", whole("kept on the tile that keeps most")},
                {"worst_tile", whole("that tile")},
                {"mean_bytes", number("over all tiles of the machine")},
                {"max_bytes_by_kind", by_kind_schema("most over the tiles, each kind by itself")},
                {"mean_bytes_by_kind", object("over all tiles of the machine", means)}});
    const json tile = object(
        "tiles whose numbers are equal",
        {{"tiles", text("as in 0-3,7")},
         {"always_bytes", whole("kept in all steps")},
         {"always_bytes_by_kind", by_kind_schema("kept in all steps")},
         {"peak_step", whole("number of the first step in which most is kept")},
         {"peak_bytes", whole("kept in that step")},
         {"peak_not_always_bytes_by_kind", by_kind_schema("kept in that step and not in all")},
         {"free_bytes", whole("of tile memory in that step")}});
    const json buffer =
        object("one buffer, stub, row or list",
               {{"name", text("as the planner calls it")},
                {"kind", {{"enum", kSegmentKinds}, {"description", "what it holds"}}},
                {"bytes", whole("size")},
                {"address", whole("first byte")},
                {"first_step", whole("number of the first step in which it is kept")},
                {"last_step", whole("number of the last one")},
                {"tiles", text("that have it, as in 0-3,7")}});
    json schema = object("tile memory of one program, step by step",
                         {{"schema_version", {{"const", kMemorySchemaVersion}}},
                          {"machine", text("its name")},
                          {"workload", text("its name")},
                          {"tile_bytes", whole("memory of a tile")},
                          {"steps", list("all steps, grouped", step)},
                          {"tiles", list("tiles that hold something, grouped", tile)},
                          {"buffers", list("by address", buffer)}});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Tessera memory report";
    return schema;
}

} // namespace tessera::result
