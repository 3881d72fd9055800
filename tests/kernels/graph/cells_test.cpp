// SPDX-License-Identifier: MIT
#include "kernels/graph/cells.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <map>

using namespace tessera;
using graph::WeightGrid;

namespace {

/// Where each element of the host stands, in bytes.
using Places = std::map<std::int64_t, Bytes>;

void add_elements(Places& places, const graph::Piece& piece, std::size_t dim, std::int64_t host,
                  Bytes byte) {
    if (dim == piece.dims.size()) {
        CHECK(places.emplace(host, byte).second); // it stands once
        return;
    }
    const auto& loop = piece.dims[dim];
    for (std::int64_t i = 0; i < loop.count; ++i) {
        add_elements(places, piece, dim + 1, host + i * loop.host_stride,
                     byte + i * loop.tile_stride);
    }
}

Places places_of(const WeightGrid& grid, Bytes from, std::int64_t first, std::int64_t last) {
    graph::Tensor tensor;
    graph::add_weights(tensor, 0, {{}, from}, grid, first, last);
    Places places;
    for (const graph::Piece& piece : tensor.pieces) {
        add_elements(places, piece, 0, piece.host_offset, piece.place.offset);
    }
    return places;
}

/// The same from each element by itself.
Places expected(const WeightGrid& grid, Bytes from, std::int64_t first, std::int64_t last) {
    const auto& [inputs, channels, by_channels, by_sets, element_bytes] = grid;
    Places places;
    for (std::int64_t in = inputs.groups.first * inputs.group;
         in < std::min(inputs.groups.last * inputs.group, inputs.host); ++in) {
        for (std::int64_t out = channels.groups.first * channels.group;
             out < std::min(channels.groups.last * channels.group, channels.host); ++out) {
            const std::int64_t in_group = in / inputs.group - inputs.groups.first;
            const std::int64_t out_group = out / channels.group - channels.groups.first;
            const std::int64_t block = by_channels ? out_group * inputs.groups.size() + in_group
                                                   : in_group * channels.groups.size() + out_group;
            const std::int64_t channel = out % channels.group;
            // two of each four neighbours in each set of the matrix unit
            const std::int64_t row =
                by_sets ? channel / 2 % 2 * 8 + channel / 4 * 2 + channel % 2 : channel;
            if (block >= first && block < last) {
                places[in * inputs.host_stride + out * channels.host_stride] =
                    from +
                    (((block - first) * channels.group + row) * inputs.group + in % inputs.group) *
                        element_bytes;
            }
        }
    }
    return places;
}

} // namespace

TEST_CASE("weights stand block by block, a row of inputs for each channel", "[kernels][graph]") {
    for (const bool by_channels : {false, true}) {
        for (const bool by_sets : {false, true}) {
            for (const std::int64_t host_channels : {48, 45, 40, 33}) {
                for (const std::int64_t host_inputs : {24, 19}) {
                    WeightGrid grid{.inputs = {{1, 3}, 8, host_inputs, host_channels},
                                    .channels = {{0, 3}, 16, host_channels},
                                    .is_by_channels = by_channels,
                                    .is_by_sets = by_sets};
                    CAPTURE(by_channels, by_sets, host_channels, host_inputs);
                    CHECK(places_of(grid, 64, 0, 6) == expected(grid, 64, 0, 6));
                    CHECK(places_of(grid, 0, 1, 5) == expected(grid, 0, 1, 5));
                    grid.inputs.host_stride = 1;
                    grid.channels.host_stride = host_inputs;
                    grid.element_bytes = 4;
                    CHECK(places_of(grid, 0, 2, 3) == expected(grid, 0, 2, 3));
                }
            }
        }
    }
}
