// SPDX-License-Identifier: MIT
#include "kernels/lower/images.h"

#include "base/bytes.h"

#include <tbb/parallel_for_each.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace tessera::lower {
namespace {

using Images = std::vector<program::Image>; ///< by tile
using program::SegmentKind;

program::Segment segment(SegmentKind kind, const std::string& name, Address address,
                         program::SharedBytes data, program::Lifetime lifetime = {}) {
    const auto bytes = static_cast<Bytes>(data->size());
    return {address, bytes, kind, name, std::move(data), lifetime};
}

/// By buffer, whether a known tensor stands in it.
std::vector<bool> known_buffers(const graph::Graph& graph) {
    std::vector<bool> known(graph.buffers.size());
    for (const graph::Tensor& tensor : graph.tensors) {
        for (const graph::Piece& piece : tensor.pieces) {
            known[piece.place.buffer.index] = known[piece.place.buffer.index] || tensor.known;
        }
    }
    return known;
}

/// Buffers of the graph, but not those of vertex state, which are the last ones.
void hold_buffers(const Places& places, Images& images) {
    Relocated relocated(places);
    const std::vector<bool> known = known_buffers(places.graph);
    const auto& buffers = places.graph.buffers;
    for (std::uint32_t index = 0; index < buffers.size() - places.state.buffers.size(); ++index) {
        for (const graph::Held& held : buffers[index].held) {
            const MemoryPlan::Buffer& at = places.placing.at(held.tile, graph::BufferId{index});
            auto& segments = images[held.tile].segments;
            Bytes there = 0;
            if (held.contents != nullptr && !held.contents->empty()) {
                there = static_cast<Bytes>(held.contents->size());
                segments.push_back(
                    segment(at.kind, at.name, at.begin, relocated.of(held), at.lifetime));
                segments.back().known = known[index];
            }
            const Bytes behind = held.bytes + buffers[index].read_beyond - there;
            if (behind != 0) {
                segments.push_back({at.begin + static_cast<Address>(there), behind, at.kind,
                                    at.name, nullptr, at.lifetime, known[index]});
            }
        }
    }
}

void hold_state(const Places& places, Images& images) {
    std::map<std::vector<std::uint32_t>, program::SharedBytes> shared;
    auto buffer = places.state.buffers.begin();
    for (const auto& of_tile : state_words(places)) {
        const graph::BufferId of = *buffer++;
        for (TileId tile = 0; tile < of_tile.size(); ++tile) {
            const std::vector<std::uint32_t>& words = of_tile[tile];
            if (words.empty()) {
                continue;
            }
            const MemoryPlan::Buffer& at = places.placing.at(tile, of);
            program::SharedBytes& bytes = shared[words];
            if (bytes == nullptr) {
                bytes = shared_bytes(words);
            }
            images[tile].segments.push_back(
                segment(at.kind, at.name, at.begin, bytes, at.lifetime));
        }
    }
}

/// Codelets stand on every tile that runs some.
void hold_code(const program::Program& program, const Places& places, const CodeZone& zone,
               const Stubs& stubs, Images& images) {
    const auto& codelet = places.codelets.codelet();
    const program::SharedBytes codelets = shared_bytes(codelet.words);
    std::vector<std::string> names;
    for (const program::ComputeSet& set : program.compute_sets) {
        names.push_back("stub of " + set.name);
    }
    for (std::size_t tile = 0; tile < images.size(); ++tile) {
        bool runs = false;
        for (std::size_t set = 0; set < program.compute_sets.size(); ++set) {
            if (const auto& code = stubs.code[set][tile]; code != nullptr) {
                runs = true;
                images[tile].segments.push_back(
                    segment(SegmentKind::Code, names[set], zone.stubs[set], code));
            }
        }
        if (runs) {
            images[tile].segments.push_back(
                segment(SegmentKind::Code, codelet.name, zone.codelets, codelets));
        }
    }
}

/// Tiles that hold something are those that take part.
void hold_control(const CodeZone& zone, Images& images) {
    for (program::Image& image : images) {
        if (!image.segments.empty() && zone.control_bytes != 0) {
            image.segments.push_back(
                {zone.control, zone.control_bytes, SegmentKind::Code, "control program", nullptr});
        }
    }
}

void hold_rows(const program::Program& program, const RowHomes& rows, Images& images) {
    for (std::uint32_t index = 0; index < program.exchanges.size(); ++index) {
        const program::Exchange& exchange = program.exchanges[index];
        const std::string name = "row of " + exchange.name;
        for (std::size_t i = 0; i < exchange.rows.size(); ++i) {
            const program::ExchangeRow& row = exchange.rows[i];
            if (rows.of_row[index][i] == index) {
                images[row.tile].segments.push_back(segment(SegmentKind::ExchangeRow, name,
                                                            row.address, shared_bytes(row.words),
                                                            {0, rows.rooms[index].last}));
            }
        }
    }
}

} // namespace

void make_images(program::Program& program, const Places& places, const CodeZone& zone,
                 const Stubs& stubs, const RowHomes& rows, std::size_t tiles) {
    Images images(tiles);
    hold_code(program, places, zone, stubs, images);
    hold_buffers(places, images);
    hold_state(places, images);
    hold_rows(program, rows, images);
    hold_control(zone, images);
    tbb::parallel_for_each(images, [](program::Image& image) {
        std::ranges::stable_sort(image.segments, {}, &program::Segment::address);
    });
    for (program::Image& image : images) {
        if (image.segments.empty()) {
            program.image_of_tile.push_back(program::Program::kNoImage);
            continue;
        }
        program.image_of_tile.push_back(static_cast<std::uint32_t>(program.images.size()));
        program.images.push_back(std::move(image));
    }
}

} // namespace tessera::lower
