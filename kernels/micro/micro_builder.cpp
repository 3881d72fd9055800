// SPDX-License-Identifier: MIT
#include "kernels/micro/micro_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::micro {
namespace {

constexpr const char* kState = "vertex state";

ConfigError out_of_machine(const spec::MachineSpec& machine, const std::string& key,
                           const std::string& got, std::int64_t least, std::int64_t most) {
    return wrong_value(
        key,
        most < least
            ? fmt::format("{}, expected none on machine '{}', whose {} tiles are too few", got,
                          machine.name, machine.chip.tiles)
            : fmt::format("{}, expected {}..{} on machine '{}'", got, least, most, machine.name));
}

} // namespace

MicroBuilder::MicroBuilder(const spec::MachineSpec& machine, const plan::CodeletLibrary& library,
                           const std::string& owner, const std::string& name, plan::CodeRoom code,
                           Bytes state_bytes)
    : machine_(machine), name_(name), memories_{plan::MemoryPlan(machine, code)},
      images_(machine, library, owner, name), state_bytes_(state_bytes),
      state_used_(static_cast<std::size_t>(machine.chip.tiles)),
      steps_(machine, library, images_, place_state(), machine.chip.tiles) {}

Address MicroBuilder::place_state() {
    place({{kState, program::SegmentKind::VertexState, state_bytes_, 16, plan::Where::Any, {}, {}}},
          {});
    return address(kState);
}

void MicroBuilder::place(const std::vector<plan::BufferRequest>& buffers,
                         const plan::Liveness& steps, TileId fullest) {
    place_or_refuse(memories_.front(), buffers, steps, name_, fullest);
}

void MicroBuilder::place_elsewhere(const std::vector<plan::BufferRequest>& buffers,
                                   const plan::Liveness& steps, TileId fullest) {
    memories_.emplace_back(machine_, memories_.front().code_room());
    place_or_refuse(memories_.back(), buffers, steps, name_, fullest);
}

const plan::MemoryPlan::Buffer& MicroBuilder::placed(const std::string& buffer) const {
    for (const plan::MemoryPlan& memory : memories_) {
        for (const auto& placed : memory.buffers()) {
            if (placed.name == buffer) {
                return placed;
            }
        }
    }
    TESSERA_ASSERT(!"a buffer that was placed");
    return memories_.front().buffers().front();
}

Address MicroBuilder::address(const std::string& buffer) const {
    return placed(buffer).begin;
}

void MicroBuilder::hold(TileId tile, const std::string& buffer, Bytes bytes) {
    if (bytes > 0) {
        const auto& at = placed(buffer);
        images_.add_zero(tile, at.kind, buffer, at.begin, bytes, at.lifetime);
    }
}

void MicroBuilder::hold_bytes(TileId tile, const std::string& buffer,
                              const program::SharedBytes& bytes) {
    const auto& at = placed(buffer);
    images_.add_bytes(tile, at.kind, buffer, at.begin, bytes, at.lifetime);
}

program::Vertex MicroBuilder::vertex(TileId tile, const std::string& symbol,
                                     program::VertexKind kind,
                                     const std::vector<std::uint32_t>& state) {
    use_state(tile, state.size());
    return steps_.vertex(tile, symbol, kind, state);
}

Address MicroBuilder::state(TileId tile, const std::vector<std::uint32_t>& words) {
    use_state(tile, words.size());
    return steps_.add_state(tile, words);
}

void MicroBuilder::use_state(TileId tile, std::size_t words) {
    state_used_[tile] += static_cast<Bytes>(words * 4);
}

program::Vertex MicroBuilder::workers(TileId tile, const std::string& symbol,
                                      const std::vector<std::uint32_t>& state) {
    return vertex(tile, symbol, program::VertexKind::MultiWorker, state);
}

Vertices MicroBuilder::no_vertices() const {
    return Vertices(static_cast<std::size_t>(machine_.chip.tiles));
}

void MicroBuilder::add_compute_set(const std::string& name, program::Role role, Vertices vertices) {
    if (std::any_of(vertices.begin(), vertices.end(), [](const auto& of) { return !of.empty(); })) {
        images_.add_compute_set(name, role, std::move(vertices));
    }
}

void MicroBuilder::add_exchange(const std::string& name, program::Role role,
                                std::vector<program::Transfer> transfers) {
    steps_.add_exchange(name, role, std::move(transfers));
}

bool MicroBuilder::has_room() const {
    return images_.code_room().bytes() <= memories_.front().code_zone_bytes() &&
           state_bytes() <= state_bytes_;
}

Bytes MicroBuilder::state_bytes() const {
    return *std::max_element(state_used_.begin(), state_used_.end());
}

program::Program MicroBuilder::build(std::int64_t repeats) {
    for (std::size_t tile = 0; tile < state_used_.size(); ++tile) {
        steps_.place_state(static_cast<TileId>(tile));
    }
    program::Program program = images_.build();
    program.control.kind = program::Step::Kind::Repeat;
    program.control.count = static_cast<std::uint32_t>(repeats);
    return program;
}

program::Program build_program(const spec::MachineSpec& machine, const BuildRequest& request,
                               const std::function<void(MicroBuilder&)>& fill) {
    const plan::CodeletLibrary library(machine, request.codelets);
    plan::CodeRoom code = plan::ImageBuilder::first_code_room(machine, library);
    code.rows = request.row_bytes;
    Bytes state_bytes = request.state_bytes;
    while (true) {
        MicroBuilder builder(machine, library, request.owner, request.name, code, state_bytes);
        fill(builder);
        if (builder.has_room()) {
            return builder.build(request.repeats);
        }
        code.code = std::max(code.code, builder.code_room().code);
        code.rows = std::max(code.rows, builder.code_room().rows);
        state_bytes = std::max(state_bytes, builder.state_bytes());
    }
}

void place_or_refuse(plan::MemoryPlan& memory, std::vector<plan::BufferRequest> buffers,
                     const plan::Liveness& steps, const std::string& program, TileId fullest) {
    for (plan::BufferRequest& buffer : buffers) {
        buffer.lifetime = steps.lifetime(buffer.name);
    }
    if (!memory.place_all(buffers)) {
        throw DoesNotFit(fmt::format("{} does not fit in tile memory: {}", program,
                                     plan::why_not(memory, fullest, steps.steps())));
    }
}

ConfigError wrong_value(const std::string& key, const std::string& message) {
    Diagnostic diagnostic;
    diagnostic.file = "workload";
    diagnostic.pointer = "/" + key;
    diagnostic.message = message;
    return ConfigError(diagnostic);
}

std::int64_t tiles_or_all(const spec::MachineSpec& machine, std::int64_t wanted,
                          std::int64_t most) {
    if (wanted > most) {
        throw out_of_machine(machine, "tiles", fmt::format("got {} tiles", wanted), 1, most);
    }
    return wanted == 0 ? most : wanted;
}

TileId checked_tile(const spec::MachineSpec& machine, const std::string& key, std::int64_t tile) {
    if (tile >= machine.chip.tiles) {
        throw out_of_machine(machine, key, fmt::format("got tile {}", tile), 0,
                             machine.chip.tiles - 1);
    }
    return static_cast<TileId>(tile);
}

program::Tensor array_tensor(const std::string& name, program::DType type, std::int64_t elements) {
    program::Tensor tensor;
    tensor.name = name;
    tensor.type = type;
    tensor.shape = {elements};
    return tensor;
}

program::Piece run_of(TileId tile, Address address, std::int64_t first, std::int64_t elements,
                      program::DType type) {
    program::Piece piece;
    piece.tile = tile;
    piece.address = address;
    piece.host_offset = first;
    piece.dims.push_back({elements, 1, program::bytes_of(type)});
    return piece;
}

} // namespace tessera::micro
