// SPDX-License-Identifier: MIT
#include "traces/selection.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

namespace tessera::traces {
namespace {

constexpr const char* kTilesOption = "--trace-tiles";
constexpr const char* kLevelOption = "--trace-level";
constexpr const char* kTilesHint = "give tiles as in '0-15,700', or 'all'";

using Diagnostics = std::vector<Diagnostic>;

Diagnostic mistake(const char* option, std::string message, std::string hint) {
    return {option, 0, 0, "", std::move(message), std::move(hint)};
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || stop != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

void select_item(std::string_view item, std::vector<bool>& tiles, Diagnostics& mistakes) {
    const auto dash = item.find('-');
    const auto first_text = item.substr(0, dash);
    const auto last_text = dash == std::string_view::npos ? first_text : item.substr(dash + 1);
    const auto first = whole_number(first_text);
    const auto last = whole_number(last_text);
    if (!first || !last) {
        mistakes.push_back(mistake(kTilesOption,
                                   fmt::format("got '{}', expected a tile number or a range", item),
                                   kTilesHint));
        return;
    }
    if (*first > *last) {
        mistakes.push_back(mistake(
            kTilesOption,
            fmt::format("got '{}', expected a range from the lower tile to the higher", item),
            fmt::format("did you mean '{}-{}'?", *last, *first)));
        return;
    }
    if (*last >= tiles.size()) {
        const auto wrong = *first >= tiles.size() ? *first : *last;
        mistakes.push_back(mistake(
            kTilesOption,
            fmt::format("got tile {} in '{}', expected 0..{} tiles", wrong, item, tiles.size() - 1),
            ""));
        return;
    }
    for (auto tile = *first; tile <= *last; ++tile) {
        tiles[tile] = true;
    }
}

/// kDefaultTracedTiles tiles, the first and the last among them.
void select_spread(std::vector<bool>& tiles) {
    const auto wanted = std::min<std::size_t>(kDefaultTracedTiles, tiles.size());
    const auto steps = std::max<std::size_t>(wanted, 2) - 1;
    for (std::size_t i = 0; i < wanted; ++i) {
        tiles[i * (tiles.size() - 1) / steps] = true;
    }
}

void select_tiles(std::string_view text, std::vector<bool>& tiles, Diagnostics& mistakes) {
    if (text.empty()) {
        select_spread(tiles);
        return;
    }
    if (text == "all") {
        tiles.assign(tiles.size(), true);
        return;
    }
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto comma = std::min(text.find(',', begin), text.size());
        select_item(text.substr(begin, comma - begin), tiles, mistakes);
        begin = comma + 1;
    }
}

Level level_of(std::string_view text, Diagnostics& mistakes) {
    if (text.empty()) {
        return Level::Worker;
    }
    const auto found = std::find(kLevelWords.begin(), kLevelWords.end(), text);
    if (found == kLevelWords.end()) {
        mistakes.push_back(mistake(
            kLevelOption, fmt::format("got '{}', expected machine, tile or worker", text), ""));
        return Level::Tile;
    }
    return static_cast<Level>(found - kLevelWords.begin());
}

} // namespace

std::vector<TileId> Selection::traced_tiles() const {
    std::vector<TileId> numbers;
    for (std::size_t tile = 0; tile < tiles.size() && level != Level::Machine; ++tile) {
        if (tiles[tile]) {
            numbers.push_back(static_cast<TileId>(tile));
        }
    }
    return numbers;
}

Selection parse_selection(std::string_view tiles_text, std::string_view level_text,
                          TileId machine_tiles) {
    TESSERA_ASSERT(machine_tiles > 0);
    Diagnostics mistakes;
    Selection selection;
    selection.level = level_of(level_text, mistakes);
    selection.tiles.assign(machine_tiles, false);
    select_tiles(tiles_text, selection.tiles, mistakes);
    selection.with_critical = tiles_text.empty() && selection.level != Level::Machine;
    if (!mistakes.empty()) {
        throw ConfigError(std::move(mistakes));
    }
    return selection;
}

std::int64_t estimated_slices(const Selection& selection, const RunShape& shape) {
    std::int64_t slices_per_tile = 2 * shape.phases;
    if (selection.level == Level::Worker) {
        slices_per_tile += 2 * shape.vertices_per_tile;
    }
    return shape.phases +
           static_cast<std::int64_t>(selection.traced_tiles().size()) * slices_per_tile;
}

} // namespace tessera::traces
