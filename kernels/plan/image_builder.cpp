// SPDX-License-Identifier: MIT
#include "kernels/plan/image_builder.h"

#include "kernels/plan/stub.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace tessera::plan {
namespace {

/// A supervisor fetches up to 64 bytes ahead; data must not stand there.
constexpr Bytes kFetchAheadBytes = 64;

program::SharedBytes share(const std::vector<std::uint32_t>& words) {
    std::vector<std::byte> bytes(words.size() * 4);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

Address aligned8(Address address) {
    return (address + 7U) / 8U * 8U;
}

program::Segment segment(program::SegmentKind kind, const std::string& name, Address address,
                         program::SharedBytes data) {
    program::Segment made;
    made.address = address;
    made.bytes = static_cast<Bytes>(data->size());
    made.kind = kind;
    made.name = name;
    made.data = std::move(data);
    return made;
}

} // namespace

ImageBuilder::ImageBuilder(const spec::MachineSpec& machine, const CodeletLibrary& library,
                           std::string name)
    : machine_(machine), library_(library), images_(static_cast<std::size_t>(machine.chip.tiles)),
      next_code_(aligned8(machine.memory.region0_begin() + static_cast<Address>(library.bytes()))) {
    program_.name = std::move(name);
}

void ImageBuilder::add_zero(TileId tile, program::SegmentKind kind, const std::string& name,
                            Address address, Bytes bytes) {
    if (bytes == 0) {
        return;
    }
    program::Segment made;
    made.address = address;
    made.bytes = bytes;
    made.kind = kind;
    made.name = name;
    images_[tile].segments.push_back(std::move(made));
}

void ImageBuilder::add_words(TileId tile, program::SegmentKind kind, const std::string& name,
                             Address address, const std::vector<std::uint32_t>& words) {
    if (!words.empty()) {
        images_[tile].segments.push_back(segment(kind, name, address, share(words)));
    }
}

void ImageBuilder::add_bytes(TileId tile, program::SegmentKind kind, const std::string& name,
                             Address address, program::SharedBytes bytes) {
    if (!bytes->empty()) {
        images_[tile].segments.push_back(segment(kind, name, address, std::move(bytes)));
    }
}

program::SharedBytes ImageBuilder::stub(const std::vector<program::Vertex>& vertices) {
    std::vector<std::uint32_t> words = make_stub(vertices, machine_.memory.region0_begin());
    const auto found = stubs_.find(words);
    if (found != stubs_.end()) {
        return found->second;
    }
    program::SharedBytes bytes = share(words);
    stubs_.emplace(std::move(words), bytes);
    return bytes;
}

void ImageBuilder::add_compute_set(const std::string& name,
                                   std::vector<std::vector<program::Vertex>> vertices_of_tile) {
    program::ComputeSet set;
    set.name = name;
    Bytes longest = 0;
    for (std::size_t tile = 0; tile < vertices_of_tile.size(); ++tile) {
        program::TileVertices vertices;
        if (!vertices_of_tile[tile].empty()) {
            const program::SharedBytes code = stub(vertices_of_tile[tile]);
            longest = std::max(longest, static_cast<Bytes>(code->size()));
            vertices.stub = next_code_;
            vertices.vertices = std::move(vertices_of_tile[tile]);
            images_[tile].segments.push_back(
                segment(program::SegmentKind::Code, "stub of " + name, next_code_, code));
        }
        set.tiles.push_back(std::move(vertices));
    }
    next_code_ = aligned8(next_code_ + static_cast<Address>(longest));
    program::Step step;
    step.kind = program::Step::Kind::ComputeSet;
    step.index = static_cast<std::uint32_t>(program_.compute_sets.size());
    program_.control.children.push_back(step);
    program_.compute_sets.push_back(std::move(set));
}

void ImageBuilder::add_exchange(program::Exchange exchange) {
    program::Step step;
    step.kind = program::Step::Kind::Exchange;
    step.index = static_cast<std::uint32_t>(program_.exchanges.size());
    program_.control.children.push_back(step);
    program_.exchanges.push_back(std::move(exchange));
}

void ImageBuilder::add_tensor(program::Tensor tensor) {
    program_.tensors.push_back(std::move(tensor));
}

std::uint32_t ImageBuilder::vertex_name(const std::string& name) {
    const auto [entry, added] =
        names_.emplace(name, static_cast<std::uint32_t>(program_.vertex_names.size()));
    if (added) {
        program_.vertex_names.push_back(name);
    }
    return entry->second;
}

Bytes ImageBuilder::code_bytes() const {
    Bytes total = static_cast<Bytes>(next_code_ - machine_.memory.region0_begin());
    for (const program::Exchange& exchange : program_.exchanges) {
        std::size_t longest = 0;
        for (const program::ExchangeRow& row : exchange.rows) {
            longest = std::max(longest, row.words.size());
        }
        total += static_cast<Bytes>((longest * 4 + 7) / 8 * 8);
    }
    return total + kFetchAheadBytes;
}

void ImageBuilder::add_row_segments(program::Exchange& exchange, Address at) {
    for (program::ExchangeRow& row : exchange.rows) {
        row.address = at;
        images_[row.tile].segments.push_back(segment(
            program::SegmentKind::ExchangeRow, "row of " + exchange.name, at, share(row.words)));
    }
}

program::Program ImageBuilder::build() {
    const program::SharedBytes codelets = share(library_.codelet().words);
    std::set<TileId> running;
    for (const program::ComputeSet& set : program_.compute_sets) {
        for (std::size_t tile = 0; tile < set.tiles.size(); ++tile) {
            if (set.tiles[tile].stub != 0 && running.insert(static_cast<TileId>(tile)).second) {
                images_[tile].segments.push_back(segment(program::SegmentKind::Code, "codelets",
                                                         machine_.memory.region0_begin(),
                                                         codelets));
            }
        }
    }
    Address at = next_code_;
    for (program::Exchange& exchange : program_.exchanges) {
        std::size_t longest = 0;
        for (const program::ExchangeRow& row : exchange.rows) {
            longest = std::max(longest, row.words.size());
        }
        add_row_segments(exchange, at);
        at += static_cast<Address>((longest * 4 + 7) / 8 * 8);
    }
    program_.codelets.push_back(library_.codelet());
    for (program::Image& image : images_) {
        if (image.segments.empty()) {
            program_.image_of_tile.push_back(program::Program::kNoImage);
            continue;
        }
        std::stable_sort(
            image.segments.begin(), image.segments.end(),
            [](const auto& left, const auto& right) { return left.address < right.address; });
        program_.image_of_tile.push_back(static_cast<std::uint32_t>(program_.images.size()));
        program_.images.push_back(std::move(image));
    }
    return std::move(program_);
}

} // namespace tessera::plan
