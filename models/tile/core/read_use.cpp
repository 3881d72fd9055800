// SPDX-License-Identifier: MIT
#include "models/tile/core/read_use.h"

#include "models/isa/csr_numbers.h"
#include "models/isa/decoded_program.h"

#include <algorithm>
#include <cstring>

namespace tessera::tile {
namespace {

constexpr std::uint32_t kAccumulators =
    ((1U << isa::place::kCount) - 1U) & ~((1U << isa::place::kEvenFirst) - 1U);

std::uint32_t word_at(const isa::MemoryView& memory, Address address) {
    std::uint32_t word = 0;
    if (const std::uint32_t offset = address - memory.base; offset <= memory.span_bytes - 4) {
        std::memcpy(&word, memory.bytes + offset, sizeof(word));
    }
    return word;
}

/// The bytes of its word that a narrow access touches.
std::uint32_t mask_of(const isa::MemoryAccess& access) {
    if (access.access_bytes >= 4) {
        return 0xffffffffU;
    }
    return ((1U << (8U * access.access_bytes)) - 1U) << (8U * (access.address % 4U));
}

} // namespace

ReadUse::ReadUse(const isa::MemoryView& memory, std::size_t workers, RaceDetector& races)
    : memory_(memory), races_(races), contexts_(workers + 1) {}

void ReadUse::load(std::span<const isa::DecodedProgram* const> programs) {
    flows_.clear();
    asks_for_flags_ = false;
    for (const isa::DecodedProgram* program : programs) {
        for (Address at = program->base; at < program->base + program->bytes(); at += 4) {
            asks_for_flags_ =
                asks_for_flags_ || isa::reads_sticky_flags(isa::decode(word_at(memory_, at)));
        }
    }
}

const isa::DataFlow& ReadUse::flow_at(Address pc) {
    const auto found = flows_.find(pc);
    if (found != flows_.end()) {
        return found->second;
    }
    const std::uint32_t first = word_at(memory_, pc);
    const isa::Operation operation = isa::decode(first);
    const bool is_bundle = (first & isa::kBundleBit) != 0 && !isa::has_two_words(operation.opcode);
    return flows_
        .emplace(pc, is_bundle ? isa::data_flow(operation, isa::decode(word_at(memory_, pc + 4)))
                               : isa::data_flow(operation))
        .first->second;
}

void ReadUse::begin(const isa::Context& context, Address pc) {
    flow_ = &flow_at(pc);
    clears_ =
        flow_->clears_by && (context.aux[*flow_->clears_by & 15U] & isa::kFpClearAccumulators) != 0;
    Places& places = contexts_[static_cast<std::size_t>(context.number + 1)];
    use_all(places, flow_->used);
    if (asks_for_flags_ || (context.fp_control & isa::kFpFlags) != 0) {
        use_all(places, flow_->computed);
    }
}

void ReadUse::end(const isa::Context& context, Cycles cycle, Address pc,
                  std::span<const isa::MemoryAccess> accesses) {
    Places& places = contexts_[static_cast<std::size_t>(context.number + 1)];
    results_.resize(std::max(results_.size(), flow_->results.size()));
    for (std::size_t i = 0; i < flow_->results.size(); ++i) {
        gather(places, flow_->results[i].from, results_[i]);
    }
    for (std::size_t i = 0; i < flow_->results.size(); ++i) {
        assign(places[flow_->results[i].to], results_[i]);
    }
    if (clears_) {
        for (unsigned place = isa::place::kEvenFirst; place < isa::place::kCount; ++place) {
            assign(places[place], {});
        }
    }
    read(places, *flow_, context.number, cycle, pc, accesses);
    for (const isa::MemoryAccess& access : accesses) {
        for (unsigned i = 0; access.writes && i < access.access_bytes / 4U; ++i) {
            const Address address = access.address + 4 * i;
            races_.write(context.number, cycle, pc, address, access.words[i],
                         word_at(memory_, address));
        }
    }
}

void ReadUse::forget(int context, unsigned place) {
    assign(contexts_[static_cast<std::size_t>(context + 1)][place], {});
}

/// Each word that was read goes to its register, or to where something comes of it at once.
void ReadUse::read(Places& places, const isa::DataFlow& flow, int context, Cycles cycle, Address pc,
                   std::span<const isa::MemoryAccess> accesses) {
    std::size_t next = 0;
    for (const isa::MemoryAccess& access : accesses) {
        const unsigned words = access.access_bytes < 4 ? 1 : access.access_bytes / 4U;
        for (unsigned i = 0; !access.writes && i < words; ++i, ++next) {
            const std::uint8_t to =
                next < flow.loaded.size() ? flow.loaded[next] : isa::place::kOutside;
            if (to == isa::place::kNowhere) {
                continue;
            }
            const ReadId id = races_.read(context, cycle, pc, access.address / 4 * 4 + 4 * i,
                                          access.words[i], mask_of(access));
            if (to == isa::place::kOutside) {
                races_.use(id);
            } else {
                assign(places[to], {id});
            }
            races_.release(id);
        }
    }
}

void ReadUse::use_all(Places& places, std::uint32_t mask) {
    for (unsigned place = 0; mask >> place != 0; ++place) {
        if (((mask >> place) & 1U) == 0) {
            continue;
        }
        for (const ReadId id : places[place]) {
            races_.use(id);
        }
        assign(places[place], {});
    }
}

/// The unused reads that a value depends on, used where there are too many.
void ReadUse::gather(const Places& places, std::uint32_t mask, Sources& into) {
    into.clear();
    for (unsigned place = 0; mask >> place != 0; ++place) {
        for (const ReadId id : places[place]) {
            if (((mask >> place) & 1U) != 0 && !races_.is_used(id) &&
                std::find(into.begin(), into.end(), id) == into.end()) {
                into.push_back(id);
            }
        }
    }
    if (into.size() > kMostReads) {
        for (const ReadId id : into) {
            races_.use(id);
        }
        into.clear();
    }
}

void ReadUse::assign(Sources& place, const Sources& value) {
    for (const ReadId id : value) {
        races_.hold(id);
    }
    for (const ReadId id : place) {
        races_.release(id);
    }
    place.assign(value.begin(), value.end());
}

} // namespace tessera::tile
