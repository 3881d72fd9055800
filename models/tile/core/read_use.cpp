// SPDX-License-Identifier: MIT
#include "models/tile/core/read_use.h"

#include "models/isa/csr_numbers.h"
#include "models/isa/decoded_program.h"

#include <algorithm>
#include <cstring>

namespace tessera::tile {
namespace {

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

/// Calls `each` for every read of these lists, once for each that it is in.
template <class Each>
void for_each_read(std::span<const std::vector<RaceDetector::ReadId>> lists, const Each& each) {
    for (const auto& list : lists) {
        std::for_each(list.begin(), list.end(), each);
    }
}

} // namespace

ReadUse::ReadUse(const isa::MemoryView& memory, std::size_t workers, RaceDetector& races)
    : memory_(memory), races_(races), contexts_(workers + 1) {}

void ReadUse::load(std::span<const isa::DecodedProgram* const> programs) {
    instructions_.clear();
    awaiting_loads_.clear();
    asks_for_flags_ = false;
    for (const isa::DecodedProgram* program : programs) {
        awaiting_loads_.insert(awaiting_loads_.end(), program->awaiting_loads.begin(),
                               program->awaiting_loads.end());
        for (Address at = program->base; at < program->base + program->bytes(); at += 4) {
            asks_for_flags_ =
                asks_for_flags_ || isa::reads_sticky_flags(isa::decode(word_at(memory_, at)));
        }
    }
}

const ReadUse::Instruction& ReadUse::instruction_at(Address pc) {
    const auto found = instructions_.find(pc);
    if (found != instructions_.end()) {
        return found->second;
    }
    const std::uint32_t first = word_at(memory_, pc);
    const isa::Operation operation = isa::decode(first);
    const bool is_bundle = (first & isa::kBundleBit) != 0 && !isa::has_two_words(operation.opcode);
    Instruction made;
    made.flow = is_bundle ? isa::data_flow(operation, isa::decode(word_at(memory_, pc + 4)))
                          : isa::data_flow(operation);
    made.awaits =
        std::find(awaiting_loads_.begin(), awaiting_loads_.end(), pc) != awaiting_loads_.end();
    return instructions_.emplace(pc, std::move(made)).first->second;
}

void ReadUse::begin(const isa::Context& context, Address pc) {
    running_ = &instruction_at(pc);
    const isa::DataFlow& flow = running_->flow;
    clears_ =
        flow.clears_by && (context.aux[*flow.clears_by & 15U] & isa::kFpClearAccumulators) != 0;
    Places& places = contexts_[static_cast<std::size_t>(context.number + 1)];
    use_all(places, flow.used, pc);
    if (asks_for_flags_ || (context.fp_control & isa::kFpFlags) != 0) {
        use_all(places, flow.computed, pc);
    }
}

void ReadUse::end(const isa::Context& context, Cycles cycle, Address pc,
                  std::span<const isa::MemoryAccess> accesses) {
    Places& places = contexts_[static_cast<std::size_t>(context.number + 1)];
    const isa::DataFlow& flow = running_->flow;
    results_.resize(std::max(results_.size(), flow.results.size()));
    const std::span<Sources> results(results_.data(), flow.results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
        gather(places, flow.results[i].from, results[i], pc);
    }
    // A read may move from a place that another result overwrites first: it is held meanwhile.
    for_each_read(results, [this](ReadId id) { races_.hold(id); });
    for (std::size_t i = 0; i < results.size(); ++i) {
        assign(places[flow.results[i].to], results[i]);
    }
    for_each_read(results, [this](ReadId id) { races_.release(id); });
    if (clears_) {
        for (unsigned place = isa::place::kAccumulators; place < isa::place::kCount; ++place) {
            assign(places[place], {});
        }
    }
    read(places, context.number, cycle, pc, accesses);
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
void ReadUse::read(Places& places, int context, Cycles cycle, Address pc,
                   std::span<const isa::MemoryAccess> accesses) {
    const isa::DataFlow& flow = running_->flow;
    std::size_t next = 0;
    for (const isa::MemoryAccess& access : accesses) {
        const unsigned words = access.access_bytes < 4 ? 1 : access.access_bytes / 4U;
        for (unsigned i = 0; !access.writes && i < words; ++i, ++next) {
            const std::uint8_t to =
                next < flow.loaded.size() ? flow.loaded[next] : isa::place::kOutside;
            if (to == isa::place::kNowhere) {
                continue;
            }
            const Address word = access.address / 4 * 4 + 4 * i;
            if (running_->awaits || races_.synchronises(word)) {
                races_.acquire(context, cycle, word);
                if (to != isa::place::kOutside) {
                    assign(places[to], {});
                }
                continue;
            }
            const ReadId id =
                races_.read(context, cycle, pc, word, access.words[i], mask_of(access));
            if (to == isa::place::kOutside) {
                races_.use(id, pc);
            } else {
                assign(places[to], {id});
            }
            races_.release(id);
        }
    }
}

void ReadUse::use_all(Places& places, isa::place::Mask mask, Address pc) {
    for (unsigned place = 0; mask >> place != 0; ++place) {
        if (((mask >> place) & 1U) == 0) {
            continue;
        }
        for (const ReadId id : places[place]) {
            races_.use(id, pc);
        }
        assign(places[place], {});
    }
}

/// The unused reads that a value depends on, used where there are too many.
void ReadUse::gather(const Places& places, isa::place::Mask mask, Sources& into, Address pc) {
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
            races_.use(id, pc);
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
