// SPDX-License-Identifier: MIT
// Workloads of several chips that show one thing that happens between them.
#pragma once

#include "base/element_type.h"
#include "kernels/workload/mistake.h"
#include "kernels/workload/shared_keys.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::workload {

/// What a collective leaves on each chip.
enum class CollectiveKind {
    AllReduce,     ///< the sum of all chips' arrays
    ReduceScatter, ///< of the sum, the chip's own fragment
    AllGather      ///< every chip's own fragment
};

/// A collective of all chips of a system over an array that each has: `elements` of `dtype`.
struct CollectiveWorkload {
    CollectiveKind collective = CollectiveKind::AllReduce;
    std::int64_t elements = 0;
    ElementType dtype = ElementType::F16; ///< F16, F32 or I32
    std::int64_t tiles = 0;               ///< of each chip; 0: all
    std::uint64_t seed = 1;
    std::int64_t repeats = 1;

    template <class Description> static void describe(Description& d) {
        using Self = CollectiveWorkload;
        constexpr const char* kSource = "docs/workloads.md";
        describe_kind(d, "collective", kSource, "what the chips of a system do together");
        d.field("collective", &Self::collective,
                {{"all_reduce", CollectiveKind::AllReduce},
                 {"reduce_scatter", CollectiveKind::ReduceScatter},
                 {"all_gather", CollectiveKind::AllGather}})
            .says(
                "what each chip has in the end: the sum of all arrays, its fragment of the sum, or "
                "the own fragments of all")
            .from(kSource);
        d.field("elements", &Self::elements)
            .unit("elements")
            .range(1, std::int64_t{1} << 32)
            .required()
            .says("of the array that each chip has")
            .from(kSource);
        d.field("dtype", &Self::dtype,
                element_type_texts({ElementType::F16, ElementType::F32, ElementType::I32}))
            .says("type of the elements, on the links too")
            .from(kSource);
        d.field("tiles", &Self::tiles)
            .unit("tiles")
            .range(0, 1 << 20)
            .says("of each chip, evenly spread, that hold the array; 0: all")
            .from(kSource);
        describe_seed<Self>(d, kSource, "of the generated values");
        describe_repeats<Self>(d, kSource);
    }
    [[nodiscard]] std::vector<Mistake> mistakes() const { return {}; }
};

/// Who sends to whom over the links.
enum class LinkPatternKind {
    PointToPoint, ///< tile `tile` of chip `source` to that of chip `destination`
    Bulk,         ///< all tiles of chip `source` to those of `destination`
    BulkBoth,     ///< and back at the same time
    Random        ///< each tile of each chip to a tile of another one, drawn without repetition
};

/// Messages of equal size between chips, all at once.
struct LinkPatternWorkload {
    LinkPatternKind pattern = LinkPatternKind::PointToPoint;
    std::int64_t bytes = 0; ///< of a message
    std::int64_t source = 0;
    std::int64_t destination = 1;
    std::int64_t tile = 0;
    std::int64_t tiles = 0; ///< bulk, random: of a chip, evenly spread; 0: all
    std::uint64_t seed = 1;
    std::int64_t repeats = 1;

    template <class Description> static void describe(Description& d) {
        using Self = LinkPatternWorkload;
        constexpr const char* kSource = "docs/workloads.md";
        describe_kind(d, "link_pattern", kSource);
        d.field("pattern", &Self::pattern,
                {{"point_to_point", LinkPatternKind::PointToPoint},
                 {"bulk", LinkPatternKind::Bulk},
                 {"bulk_both", LinkPatternKind::BulkBoth},
                 {"random", LinkPatternKind::Random}})
            .says("who sends to whom: a tile to a tile, all tiles of a chip to those of another, "
                  "both "
                  "ways at once, or each tile to a tile of another chip")
            .from(kSource);
        d.field("bytes", &Self::bytes)
            .unit("B")
            .range(4, 1 << 19)
            .required()
            .says("of a message; a multiple of 4")
            .from(kSource);
        d.field("source", &Self::source)
            .range(0, 1023)
            .says("chip that sends; not of random")
            .from(kSource);
        d.field("destination", &Self::destination)
            .range(0, 1023)
            .says("chip that receives; not of random")
            .from(kSource);
        d.field("tile", &Self::tile)
            .range(0, 1 << 20)
            .says("of both chips, point_to_point")
            .from(kSource);
        d.field("tiles", &Self::tiles)
            .unit("tiles")
            .range(0, 1 << 20)
            .says("of each chip, evenly spread, that send and receive; 0: all; not point_to_point")
            .from(kSource);
        describe_seed<Self>(d, kSource, "of the generated words, and of what is drawn");
        describe_repeats<Self>(d, kSource);
    }
    [[nodiscard]] std::vector<Mistake> mistakes() const {
        std::vector<Mistake> found;
        if (bytes % 4 != 0) {
            found.push_back({"bytes", "got " + std::to_string(bytes) +
                                          " B, expected a multiple of 4 B (the exchange's word)"});
        }
        if (pattern != LinkPatternKind::Random && source == destination) {
            found.push_back({"destination", "got chip " + std::to_string(destination) +
                                                ", which is the source, expected another chip"});
        }
        return found;
    }
};

} // namespace tessera::workload
