// SPDX-License-Identifier: MIT
#include "sim/memory_report.h"

#include "sim/schema_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace tessera::sim {
namespace {

using nlohmann::json;

/// "0-3,7": ascending tiles.
std::string tiles_text(const std::vector<TileId>& tiles) {
    std::string text;
    for (std::size_t at = 0; at < tiles.size();) {
        std::size_t end = at + 1;
        while (end < tiles.size() && tiles[end] == tiles[end - 1] + 1) {
            ++end;
        }
        text += fmt::format("{}{}", text.empty() ? "" : ",", tiles[at]);
        text += end - at > 1 ? fmt::format("-{}", tiles[end - 1]) : "";
        at = end;
    }
    return text;
}

json step_json(const MemoryUse& use, std::size_t step, const program::Program& program,
               std::int64_t tiles) {
    BytesByKind most{};
    BytesByKind sum{};
    Bytes worst_bytes = 0;
    TileId worst = 0;
    for (TileId tile = 0; tile < program.image_of_tile.size(); ++tile) {
        if (program.image_of_tile[tile] == program::Program::kNoImage) {
            continue;
        }
        const BytesByKind& kept = use.images[program.image_of_tile[tile]].of_step[step];
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
    return {{"name", use.steps[step]},
            {"max_bytes", worst_bytes},
            {"worst_tile", worst},
            {"mean_bytes", share(sum_of(sum))},
            {"max_bytes_by_kind", by_kind_json(most)},
            {"mean_bytes_by_kind", std::move(mean)}};
}

json image_json(const ImageUse& use, Bytes tile_bytes) {
    BytesByKind other = use.of_step[use.peak_step];
    for (std::size_t kind = 0; kind < other.size(); ++kind) {
        other[kind] -= use.always[kind];
    }
    return {{"always_bytes", sum_of(use.always)},
            {"always_bytes_by_kind", by_kind_json(use.always)},
            {"peak_step", use.peak_step},
            {"peak_bytes", use.peak_bytes()},
            {"peak_not_always_bytes_by_kind", by_kind_json(other)},
            {"free_bytes", tile_bytes - use.peak_bytes()}};
}

json tiles_json(const MemoryUse& use, const program::Program& program, Bytes tile_bytes) {
    std::vector<json> rows;
    std::vector<std::vector<TileId>> tiles_of_row;
    std::map<std::string, std::size_t> row_of_text;
    for (TileId tile = 0; tile < program.image_of_tile.size(); ++tile) {
        if (program.image_of_tile[tile] == program::Program::kNoImage) {
            continue;
        }
        json row = image_json(use.images[program.image_of_tile[tile]], tile_bytes);
        const auto [entry, added] = row_of_text.emplace(row.dump(), rows.size());
        if (added) {
            rows.push_back(std::move(row));
            tiles_of_row.emplace_back();
        }
        tiles_of_row[entry->second].push_back(tile);
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
        rows[row]["tiles"] = tiles_text(tiles_of_row[row]);
    }
    return rows;
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
                        {"tiles", tiles_text(tiles)}});
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
    json steps = json::array();
    for (std::size_t step = 0; step < use.steps.size(); ++step) {
        steps.push_back(step_json(use, step, program, machine.chip.tiles));
    }
    return {{"schema_version", kMemorySchemaVersion},
            {"machine", machine.name},
            {"workload", workload},
            {"tile_bytes", machine.memory.bytes()},
            {"steps", std::move(steps)},
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
        object("one step",
               {{"name", text("of the compute set or exchange")},
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
    json schema = object(
        "tile memory of one program, step by step",
        {{"schema_version", {{"const", kMemorySchemaVersion}}},
         {"machine", text("its name")},
         {"workload", text("its name")},
         {"tile_bytes", whole("memory of a tile")},
         {"steps", list("leaves of the control program in tree order, numbered from 0", step)},
         {"tiles", list("tiles that hold something, grouped", tile)},
         {"buffers", list("by address", buffer)}});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Tessera memory report";
    return schema;
}

} // namespace tessera::sim
