// SPDX-License-Identifier: MIT
#include "kernels/plan/image_builder.h"

#include "kernels/plan/stub.h"

#include <algorithm>
#include <cstring>
#include <map>
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

/// Places the rows of every exchange behind the stubs: each at one address on all tiles, so that a
/// tile's row stands behind all its earlier ones. A row that a tile has already stands once.
std::vector<std::vector<Address>> ImageBuilder::row_addresses(Address& end) const {
    std::vector<std::map<std::vector<std::uint32_t>, Address>> known(images_.size());
    std::vector<std::vector<Address>> addresses;
    end = next_code_;
    for (const program::Exchange& exchange : program_.exchanges) {
        std::size_t longest = 0;
        addresses.emplace_back();
        for (const program::ExchangeRow& row : exchange.rows) {
            const auto [entry, added] = known[row.tile].try_emplace(row.words, end);
            addresses.back().push_back(entry->second);
            if (added) {
                longest = std::max(longest, row.words.size());
            }
        }
        end += static_cast<Address>((longest * 4 + 7) / 8 * 8);
    }
    return addresses;
}

Bytes ImageBuilder::code_bytes() const {
    Address end = 0;
    (void)row_addresses(end);
    return static_cast<Bytes>(end - machine_.memory.region0_begin()) + kFetchAheadBytes;
}

void ImageBuilder::add_row_segments() {
    Address end = 0;
    const auto addresses = row_addresses(end);
    Address fresh = next_code_; // rows below stand already
    for (std::size_t index = 0; index < addresses.size(); ++index) {
        program::Exchange& exchange = program_.exchanges[index];
        Address next_fresh = fresh;
        for (std::size_t i = 0; i < exchange.rows.size(); ++i) {
            program::ExchangeRow& row = exchange.rows[i];
            row.address = addresses[index][i];
            if (row.address < fresh) {
                continue;
            }
            images_[row.tile].segments.push_back(segment(program::SegmentKind::ExchangeRow,
                                                         "row of " + exchange.name, row.address,
                                                         share(row.words)));
            next_fresh = std::max(
                next_fresh, aligned8(row.address + static_cast<Address>(row.words.size() * 4)));
        }
        fresh = next_fresh;
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
    add_row_segments();
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
