// SPDX-License-Identifier: MIT
#include "models/tile/core/tile_core.h"

#include "base/error.h"
#include "models/isa/data_flow.h"
#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "models/isa/machine_target.h"
#include "models/tile/core/tile_core_implementation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace tessera::tile {
namespace {

/// Whether timing mode knows what stands there when the run starts. Memory that is taken later has
/// something else until then.
bool is_known(const program::Segment& segment) {
    using Kind = program::SegmentKind;
    const Kind kind = segment.kind;
    return (segment.data != nullptr || segment.lifetime.first == 0) &&
           (segment.known || kind == Kind::Code || kind == Kind::VertexState ||
            kind == Kind::Metadata);
}

} // namespace

TileCore::Implementation::Implementation(const spec::MachineSpec& machine, TileId tile_id,
                                         std::byte* bytes)
    : spec(&machine), machine_target(isa::target_of(machine)), tile(tile_id),
      round(machine.tile.round_cycles()), workers(static_cast<std::size_t>(machine.tile.workers)),
      registers(workers.size(), machine_target), slots(workers.size(), round) {
    memory.bytes = bytes;
    memory.base = machine.memory.region0_begin();
    memory.span_bytes = static_cast<std::uint32_t>(machine.memory.bytes());
    memory.region0_bytes = static_cast<std::uint32_t>(machine.memory.region0_bytes);
    memory.element_shift = static_cast<std::uint32_t>(
        std::countr_zero(static_cast<std::uint64_t>(machine.memory.element_bytes)));
    memory.fetch_conflict_faults = machine.tile.fetch_conflict == spec::FetchConflict::Error;
    supervisor.cycles_per_issue = 1;
    supervisor.fetch_window_bytes = static_cast<std::uint32_t>(machine.tile.fetch_window_bytes);
    attach(supervisor);
    supervisor.jump_log = &supervisor_jumps;
    for (std::size_t n = 0; n < workers.size(); ++n) {
        attach(workers[n]);
        workers[n].jump_log = &worker_jumps;
        workers[n].number = static_cast<std::int32_t>(n);
        workers[n].cycles_per_issue = round;
        workers[n].fetch_window_bytes =
            static_cast<std::uint32_t>(machine.tile.worker_fetch_window_bytes);
        workers[n].unaligned_bundle_issues = machine.tile.unaligned_bundle_issues;
        workers[n].issue_limit = machine.tile.phase_limit_cycles / round;
    }
    TESSERA_ASSERT(workers.size() <= events::kMostWorkers);
    launch_issues.assign(workers.size(), 0);
}

void TileCore::Implementation::load(const program::Image& image, CodeCache& cache) {
    code = &cache;
    programs.clear();
    std::uint32_t code_begin = memory.span_bytes;
    std::uint32_t code_end = 0;
    for (const program::Segment& segment : image.segments) {
        const std::uint32_t offset = segment.address - memory.base;
        if (segment.bytes < 0 || offset > memory.span_bytes ||
            segment.bytes > static_cast<Bytes>(memory.span_bytes - offset)) {
            throw ProgramError(
                fmt::format("tile_{}: segment '{}' at {:#x} of {} bytes is outside tile memory",
                            tile, segment.name, segment.address, segment.bytes));
        }
        const bool unknown = timing != nullptr && !is_known(segment);
        if (segment.data != nullptr && !unknown) {
            std::memcpy(memory.bytes + offset, segment.data->data(),
                        static_cast<std::size_t>(segment.bytes));
        }
        if (timing != nullptr && !unknown) {
            timing->known.learn(tile, segment.address, segment.bytes);
            if (segment.kind == program::SegmentKind::Metadata && segment.data != nullptr) {
                timing->known.share(tile, segment.address, segment.bytes, segment.data.get());
            }
        }
        if (segment.kind == program::SegmentKind::Stack) {
            stack_end = static_cast<Address>(segment.address + static_cast<Address>(segment.bytes));
        }
        if (segment.kind == program::SegmentKind::Code) {
            if (segment.address % 4 != 0 || segment.address == 0 ||
                segment.bytes > static_cast<Bytes>(memory.region0_bytes) - offset) {
                throw ProgramError(fmt::format("tile_{}: code segment '{}' at {:#x} of {} bytes: "
                                               "code lies in region 0 at multiples of 4 bytes, not "
                                               "at 0, a branch to which ends the phase",
                                               tile, segment.name, segment.address, segment.bytes));
            }
            programs.push_back(cache.decoded(segment, machine_target));
            code_begin = std::min(code_begin, offset);
            code_end = std::max(code_end, offset + static_cast<std::uint32_t>(segment.bytes));
        }
    }
    memory.code_begin = code_begin;
    memory.code_end = code_end;
    take_programs();
    has_wait_loops = std::any_of(programs.begin(), programs.end(), [](const auto* program) {
        return !program->awaiting_loads.empty();
    });
    slot_by_slot.reset();
    met_in.clear();
    if (timing != nullptr) {
        code_number = timing->classes.code_number(programs);
        registers_number = timing->classes.registers_number(registers);
    }
}

void TileCore::Implementation::take_programs() {
    supervisor_jumps.load(programs);
    worker_jumps.load(programs);
    supervisor.programs = programs;
    for (isa::Context& worker : workers) {
        worker.programs = programs;
    }
}

TileCore::TileCore(const spec::MachineSpec& spec, TileId tile, std::byte* memory)
    : implementation_(std::make_unique<Implementation>(spec, tile, memory)) {}
TileCore::~TileCore() = default;
TileCore::TileCore(TileCore&&) noexcept = default;
TileCore& TileCore::operator=(TileCore&&) noexcept = default;

void TileCore::load(const program::Image& image, CodeCache& code) {
    implementation_->load(image, code);
}

ComputeOutcome TileCore::run(Address stub, std::vector<ContextSpan>* spans,
                             std::span<const program::Vertex> vertices) {
    return implementation_->timing != nullptr ? implementation_->run_known(stub, spans, vertices)
                                              : implementation_->run_ordered(stub, spans);
}

void TileCore::set_timing(TimingMode& timing) {
    implementation_->timing = &timing;
}

KnownFacts TileCore::known_facts() const {
    KnownFacts facts = implementation_->known_facts;
    facts.registers = implementation_->registers_number;
    return facts;
}

void TileCore::keep_only(Bytes bytes) {
    implementation_->memory.span_bytes = static_cast<std::uint32_t>(bytes);
}

void TileCore::set_audited(bool audited) {
    implementation_->audited = audited;
}

void TileCore::set_engine(const isa::Engine& engine) {
    implementation_->engine = &engine;
}

const isa::Context& TileCore::Implementation::context(int number) const {
    return number < 0 ? supervisor : workers.at(static_cast<std::size_t>(number));
}

std::span<std::byte> TileCore::Implementation::bytes_at(Address address, Bytes bytes) const {
    const std::uint32_t offset = address - memory.base;
    if (bytes < 0 || offset > memory.span_bytes ||
        bytes > static_cast<Bytes>(memory.span_bytes - offset)) {
        throw ProgramError(fmt::format("tile_{}: {} bytes at {:#x} are outside tile memory", tile,
                                       bytes, address));
    }
    return {memory.bytes + offset, static_cast<std::size_t>(bytes)};
}

void TileCore::Implementation::set_register(int number, unsigned place, std::uint32_t value) {
    isa::Context& to = number < 0 ? supervisor : workers.at(static_cast<std::size_t>(number));
    (place < isa::place::kAux ? to.main[place] : to.aux[place - isa::place::kAux]) = value;
}

void TileCore::set_register(int context, unsigned place, std::uint32_t value) {
    implementation_->set_register(context, place, value);
}

const isa::Context& TileCore::context(int number) const {
    return implementation_->context(number);
}

void TileCore::set_rows_at_once(bool allowed) {
    for (isa::Context& worker : implementation_->workers) {
        worker.rows_at_once = allowed;
    }
}

std::span<std::byte> TileCore::memory(Address address, Bytes bytes) {
    return implementation_->bytes_at(address, bytes);
}

std::span<const std::byte> TileCore::memory(Address address, Bytes bytes) const {
    return implementation_->bytes_at(address, bytes);
}

} // namespace tessera::tile
