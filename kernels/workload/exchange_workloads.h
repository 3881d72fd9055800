// SPDX-License-Identifier: MIT
// Micro-workloads that move words between tiles, or inside one.
#pragma once

#include "kernels/workload/mistake.h"
#include "kernels/workload/shared_keys.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::workload {

/// Who sends to whom. Rooted patterns have one tile in the middle; the others treat all alike.
enum class ExchangePattern {
    PointToPoint, ///< `source` to `destination`
    Pairs,        ///< tile i and tile i + tiles / 2 to each other
    Broadcast,    ///< `source` the same bytes to `tiles` tiles
    Gather,       ///< `tiles` tiles to `destination`
    Scatter,      ///< `source` a message of its own to each of `tiles` tiles
    AllToAll,     ///< every tile a message of its own to every other
    Random,       ///< each of `tiles` tiles to a tile of the chip, drawn without repetition
    Transpose,    ///< tile (row, column) of a grid to tile (column, row)
    Shift         ///< tile i to tile i + 1, the last to the first
};

/// How bytes are copied inside a tile.
enum class CopyLoop {
    Workers,   ///< all workers, a load and a store for each word
    OneWorker, ///< a compiled loop: a load, a store and a branch for 8 bytes
    Paced      ///< all workers, 8 bytes an issue
};

/// The bytes that a loop cannot copy.
[[nodiscard]] inline std::vector<Mistake> copy_mistakes(CopyLoop loop, std::int64_t bytes) {
    const std::int64_t word = loop == CopyLoop::Workers ? 4 : 8;
    if (bytes % word == 0) {
        return {};
    }
    return {{"bytes", "got " + std::to_string(bytes) + " B, expected a multiple of " +
                          std::to_string(word) + " B" +
                          (word == 8 ? " (a word of the loop that copies)" : "")}};
}

template <class Description, class Field>
void describe_copies(Description& d, Field field, const char* source) {
    d.field("copies", field,
            {{"workers", CopyLoop::Workers},
             {"one_worker", CopyLoop::OneWorker},
             {"paced", CopyLoop::Paced}})
        .says("how a tile copies: workers, one_worker or paced; bytes is a multiple of 8 for the "
              "last two")
        .from(source);
}

/// Messages of equal size between tiles, all at once.
struct ExchangePatternWorkload {
    ExchangePattern pattern = ExchangePattern::PointToPoint;
    std::int64_t tiles = 0; ///< 0: all
    std::int64_t bytes = 0; ///< of a message
    std::int64_t source = 0;
    std::int64_t destination = 1;
    bool include_self = false;
    CopyLoop copies = CopyLoop::Workers;
    std::uint64_t seed = 1;
    std::int64_t repeats = 1;

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        std::vector<Mistake> found;
        if (bytes % 4 != 0) {
            found.push_back({"bytes", "got " + std::to_string(bytes) +
                                          " B, expected a multiple of 4 B (the exchange's word)"});
        } else if (include_self) {
            found = copy_mistakes(copies, bytes);
        }
        if (pattern == ExchangePattern::PointToPoint && source == destination) {
            found.push_back({"destination", "got tile " + std::to_string(destination) +
                                                ", which is the source, expected another tile "
                                                "(kind self_copy copies inside a tile)"});
        }
        if (pattern == ExchangePattern::Pairs && tiles % 2 != 0) {
            found.push_back({"tiles", "got " + std::to_string(tiles) +
                                          " tiles, expected an even number of tiles"});
        }
        return found;
    }

    template <class Description> static void describe(Description& d) {
        using W = ExchangePatternWorkload;
        using P = ExchangePattern;
        constexpr const char* kSource = "docs/workloads.md#exchange_pattern";
        describe_kind(d, "exchange_pattern", kSource);
        d.field("pattern", &W::pattern,
                {{"point_to_point", P::PointToPoint},
                 {"pairs", P::Pairs},
                 {"broadcast", P::Broadcast},
                 {"gather", P::Gather},
                 {"scatter", P::Scatter},
                 {"all_to_all", P::AllToAll},
                 {"random", P::Random},
                 {"transpose", P::Transpose},
                 {"shift", P::Shift}})
            .required()
            .says("who sends to whom")
            .from(kSource);
        d.field("bytes", &W::bytes)
            .unit("B")
            .range(4, 1 << 20)
            .required()
            .says("bytes of a message, a multiple of 4")
            .from(kSource);
        describe_tiles<W>(d, kSource,
                          "tiles that take part, 0 for all; beside the root, where there is one");
        d.field("source", &W::source)
            .unit("tile")
            .range(0, 1'000'000)
            .says("the tile that sends (point_to_point, broadcast, scatter)")
            .from(kSource);
        d.field("destination", &W::destination)
            .unit("tile")
            .range(0, 1'000'000)
            .says("the tile that receives (point_to_point, gather)")
            .from(kSource);
        d.field("include_self", &W::include_self)
            .says("also what a tile has for itself, copied by its workers; the root is then one "
                  "of the tiles")
            .from(kSource);
        describe_copies(d, &W::copies, kSource);
        describe_seed<W>(d, kSource, "of the random pattern and of the data");
        describe_repeats<W>(d, kSource, "how often all messages are sent");
    }
};

/// Workers copy inside their tile, on several tiles at once.
struct SelfCopyWorkload {
    std::int64_t tiles = 0; ///< 0: all
    std::int64_t bytes = 0; ///< on each tile
    CopyLoop copies = CopyLoop::Workers;
    std::uint64_t seed = 1;
    std::int64_t repeats = 1;

    [[nodiscard]] std::vector<Mistake> mistakes() const { return copy_mistakes(copies, bytes); }

    template <class Description> static void describe(Description& d) {
        using W = SelfCopyWorkload;
        constexpr const char* kSource = "docs/workloads.md#self_copy";
        describe_kind(d, "self_copy", kSource);
        d.field("bytes", &W::bytes)
            .unit("B")
            .range(4, 1 << 20)
            .required()
            .says("bytes that each tile copies, a multiple of 4")
            .from(kSource);
        describe_tiles<W>(d, kSource, "tiles that copy, 0 for all");
        describe_copies(d, &W::copies, kSource);
        describe_seed<W>(d, kSource, "of the data");
        describe_repeats<W>(d, kSource);
    }
};

/// A matrix on each of some tiles, from one layout into another.
struct RearrangeWorkload {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    ElementType dtype = ElementType::F32; ///< before
    bool cast = false;                    ///< into the other type
    bool transpose = false;               ///< lines are rows before, and columns after
    std::int64_t from_gap = 0;            ///< elements between lines, before
    std::int64_t to_gap = 0;              ///< and after
    std::int64_t tiles = 0;               ///< 0: all
    std::int64_t repeats = 1;

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        std::vector<Mistake> found;
        const bool any_f16 = cast || dtype == ElementType::F16;
        const bool f16_after = (dtype == ElementType::F16) != cast;
        const std::int64_t written = transpose ? rows : columns;
        const auto check_line = [&](const char* key, std::int64_t elements) {
            if (elements % 2 != 0) {
                found.push_back({key, "got FP16 lines of " + std::to_string(elements) +
                                          " elements, expected an even number"});
            }
        };
        if (cast || (f16_after && !transpose)) {
            check_line("columns", columns);
        }
        if (f16_after && transpose) {
            check_line("rows", rows);
        }
        if (!found.empty()) {
            return found;
        }
        const auto check = [&](const char* key, std::int64_t line, std::int64_t gap) {
            if (any_f16 && (line + gap) % 2 != 0) {
                found.push_back({key, "got " + std::to_string(gap) + " elements behind lines of " +
                                          std::to_string(line) +
                                          ", expected an even sum where FP16 takes part"});
            }
        };
        check("from_gap", columns, from_gap);
        check("to_gap", written, to_gap);
        return found;
    }

    template <class Description> static void describe(Description& d) {
        using W = RearrangeWorkload;
        constexpr const char* kSource = "docs/workloads.md#rearrange";
        describe_kind(d, "rearrange", kSource);
        d.field("rows", &W::rows)
            .unit("rows")
            .range(1, 1'000'000)
            .required()
            .says("of the matrix on each tile")
            .from(kSource);
        d.field("columns", &W::columns)
            .unit("columns")
            .range(1, 1'000'000)
            .required()
            .says("of the matrix on each tile")
            .from(kSource);
        describe_dtype<W>(d, kSource, "type of the elements before the change");
        d.field("cast", &W::cast).says("into the other type").from(kSource);
        d.field("transpose", &W::transpose)
            .says("columns become the lines that stand together")
            .from(kSource);
        d.field("from_gap", &W::from_gap)
            .unit("elements")
            .range(0, 1'000'000)
            .says("between one line and the next, before")
            .from(kSource);
        d.field("to_gap", &W::to_gap)
            .unit("elements")
            .range(0, 1'000'000)
            .says("between one line and the next, after")
            .from(kSource);
        describe_tiles<W>(d, kSource);
        describe_repeats<W>(d, kSource);
    }
};

} // namespace tessera::workload
