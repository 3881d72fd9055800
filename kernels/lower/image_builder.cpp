// SPDX-License-Identifier: MIT
#include "kernels/lower/image_builder.h"

#include "base/error.h"
#include "kernels/lower/stub.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

namespace tessera::lower {
namespace {

program::SharedBytes share(const std::vector<std::uint32_t>& words) {
    const auto bytes = std::as_bytes(std::span(words));
    return std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
}

constexpr Bytes kCodeAlignment = 8;

/// Room for so many bytes of code, so that the next piece is aligned.
Bytes aligned(Bytes bytes) {
    return (bytes + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment;
}

/// What contexts fetch ahead of the end of the code; data must not stand there.
Bytes fetched_behind(const spec::MachineSpec& machine) {
    return aligned(
        std::max(machine.tile.fetch_window_bytes, machine.tile.worker_fetch_window_bytes));
}

/// What is left free in front of the code.
Bytes kept_free(const spec::MachineSpec& machine) {
    return static_cast<Bytes>(machine.memory.code_begin() - machine.memory.region0_begin());
}

program::Segment segment(program::SegmentKind kind, const std::string& name, Address address,
                         program::SharedBytes data, program::Lifetime lifetime = {}) {
    program::Segment made;
    made.address = address;
    made.bytes = static_cast<Bytes>(data->size());
    made.kind = kind;
    made.name = name;
    made.data = std::move(data);
    made.lifetime = lifetime;
    return made;
}

} // namespace

ImageBuilder::ImageBuilder(const spec::MachineSpec& machine, const CodeletLibrary& library,
                           std::string name)
    : machine_(machine), library_(library), images_(static_cast<std::size_t>(machine.chip.tiles)),
      zone_(machine, {}), rows_of_tile_(images_.size()) {
    program_.name = std::move(name);
    static_cast<void>(
        place_in_zone("what no code may use", program::SegmentKind::Code, kept_free(machine)));
    codelets_ = place_in_zone("codelets", program::SegmentKind::Code, library.bytes());
}

Address ImageBuilder::place_in_zone(const std::string& name, program::SegmentKind kind,
                                    Bytes bytes) {
    const BufferRequest request{name, kind, aligned(bytes), kCodeAlignment, Where::Region0, {}};
    if (!zone_.place(request)) {
        throw DoesNotFit(fmt::format("{}: '{}' does not fit in region 0: {} bytes over",
                                     program_.name, name, zone_.shortfall().bytes_over));
    }
    return bytes == 0 ? machine_.memory.code_begin() : zone_.buffers().back().begin;
}

void ImageBuilder::add_zero(TileId tile, program::SegmentKind kind, const std::string& name,
                            Address address, Bytes bytes, program::Lifetime lifetime) {
    if (bytes == 0) {
        return;
    }
    program::Segment made;
    made.address = address;
    made.bytes = bytes;
    made.kind = kind;
    made.name = name;
    made.lifetime = lifetime;
    images_[tile].segments.push_back(std::move(made));
}

void ImageBuilder::add_words(TileId tile, program::SegmentKind kind, const std::string& name,
                             Address address, const std::vector<std::uint32_t>& words,
                             program::Lifetime lifetime) {
    if (!words.empty()) {
        images_[tile].segments.push_back(segment(kind, name, address, share(words), lifetime));
    }
}

void ImageBuilder::add_bytes(TileId tile, program::SegmentKind kind, const std::string& name,
                             Address address, program::SharedBytes bytes,
                             program::Lifetime lifetime) {
    if (!bytes->empty()) {
        images_[tile].segments.push_back(segment(kind, name, address, std::move(bytes), lifetime));
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

void ImageBuilder::add_compute_set(const std::string& name, program::Role role,
                                   const std::string& owner,
                                   std::vector<std::vector<program::Vertex>> vertices_of_tile) {
    std::vector<program::SharedBytes> code(vertices_of_tile.size());
    Bytes longest = 0;
    for (std::size_t tile = 0; tile < vertices_of_tile.size(); ++tile) {
        if (!vertices_of_tile[tile].empty()) {
            code[tile] = stub(vertices_of_tile[tile]);
            longest = std::max(longest, static_cast<Bytes>(code[tile]->size()));
        }
    }
    program::ComputeSet set;
    set.name = name;
    set.role = role;
    set.owner = owner;
    set.tiles.resize(vertices_of_tile.size());
    const Address address = place_in_zone("stub of " + name, program::SegmentKind::Code, longest);
    for (std::size_t tile = 0; tile < vertices_of_tile.size(); ++tile) {
        if (code[tile] != nullptr) {
            set.tiles[tile] = {address, std::move(vertices_of_tile[tile])};
            images_[tile].segments.push_back(
                segment(program::SegmentKind::Code, "stub of " + name, address, code[tile]));
        }
    }
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

    std::vector<std::uint32_t> homes;
    Bytes longest = 0;
    for (std::uint32_t i = 0; i < exchange.rows.size(); ++i) {
        const program::ExchangeRow& row = exchange.rows[i];
        const std::uint32_t home = home_of_row(row, step.index);
        if (home == step.index) {
            longest = std::max(longest, static_cast<Bytes>(row.words.size() * 4));
            rows_of_tile_[row.tile].emplace_back(step.index, i);
        }
        homes.push_back(home);
    }
    row_homes_.push_back(std::move(homes));
    row_bytes_.push_back(longest);
    program_.exchanges.push_back(std::move(exchange));
}

std::uint32_t ImageBuilder::home_of_row(const program::ExchangeRow& row, std::uint32_t own) const {
    const auto& known = rows_of_tile_[row.tile];
    const auto same = std::find_if(known.begin(), known.end(), [&](const auto& at) {
        return program_.exchanges[at.first].rows[at.second].words == row.words;
    });
    return same == known.end() ? own : same->first;
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

CodeRoom ImageBuilder::first_code_room(const spec::MachineSpec& machine,
                                       const CodeletLibrary& library) {
    return {.code = kept_free(machine) + aligned(library.bytes()) + fetched_behind(machine),
            .rows = 0};
}

CodeRoom ImageBuilder::code_room() const {
    CodeRoom room{.code = zone_.used_bytes() + fetched_behind(machine_), .rows = 0};
    for (const Bytes bytes : row_bytes_) {
        room.rows += aligned(bytes);
    }
    return room;
}

/// Rows of an exchange stand at one address on all tiles. A row that its tile has already stands
/// once.
void ImageBuilder::add_row_segments() {
    std::vector<Address> addresses;
    for (std::size_t index = 0; index < program_.exchanges.size(); ++index) {
        program::Exchange& exchange = program_.exchanges[index];
        const std::string name = "row of " + exchange.name;
        addresses.push_back(
            place_in_zone(name, program::SegmentKind::ExchangeRow, row_bytes_[index]));
        for (std::size_t i = 0; i < exchange.rows.size(); ++i) {
            program::ExchangeRow& row = exchange.rows[i];
            const std::uint32_t home = row_homes_[index][i];
            row.address = addresses[home];
            if (home == index) {
                images_[row.tile].segments.push_back(segment(program::SegmentKind::ExchangeRow,
                                                             name, row.address, share(row.words)));
            }
        }
    }
}

program::Program ImageBuilder::build() {
    const program::SharedBytes codelets = share(library_.codelet().words);
    std::set<TileId> running;
    for (const program::ComputeSet& set : program_.compute_sets) {
        for (std::size_t tile = 0; tile < set.tiles.size(); ++tile) {
            if (set.tiles[tile].stub != 0 && running.insert(static_cast<TileId>(tile)).second) {
                images_[tile].segments.push_back(
                    segment(program::SegmentKind::Code, "codelets", codelets_, codelets));
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

} // namespace tessera::lower
