// SPDX-License-Identifier: MIT
#include "kernels/plan/memory_plan.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::plan {
namespace {

Bytes round_up(Bytes value, Bytes unit) {
    return (value + unit - 1) / unit * unit;
}

} // namespace

MemoryPlan::MemoryPlan(const spec::MachineSpec& machine, Bytes code_bytes)
    : memory_(machine.memory), code_zone_bytes_(round_up(code_bytes, machine.memory.element_bytes)),
      requested_bytes_(code_zone_bytes_) {}

const MemoryPlan::Placed* MemoryPlan::find(const std::string& name) const {
    const auto found = std::find_if(placed_.begin(), placed_.end(),
                                    [&](const Placed& placed) { return placed.name == name; });
    return found == placed_.end() ? nullptr : &*found;
}

std::int64_t MemoryPlan::granule(Address address) const {
    if (address < memory_.region1_begin()) {
        return static_cast<Bytes>(address - memory_.region0_begin()) / memory_.element_bytes;
    }
    const Bytes elements0 = memory_.region0_bytes / memory_.element_bytes + 1;
    return elements0 +
           static_cast<Bytes>(address - memory_.region1_begin()) / (2 * memory_.element_bytes);
}

Address MemoryPlan::granule_end(Address address) const {
    if (address < memory_.region1_begin()) {
        const Bytes offset = static_cast<Bytes>(address - memory_.region0_begin());
        return memory_.region0_begin() +
               static_cast<Address>(round_up(offset + 1, memory_.element_bytes));
    }
    const Bytes offset = static_cast<Bytes>(address - memory_.region1_begin());
    return memory_.region1_begin() +
           static_cast<Address>(round_up(offset + 1, 2 * memory_.element_bytes));
}

Address MemoryPlan::blocked_until(Address begin, Address end, const BufferRequest& request) const {
    Address until = 0;
    for (const Placed& other : placed_) {
        if (begin < other.end && other.begin < end) {
            until = std::max(until, other.end);
        }
        const bool apart = std::find(request.apart_from.begin(), request.apart_from.end(),
                                     other.name) != request.apart_from.end();
        if (apart && granule(begin) <= granule(other.end - 1) &&
            granule(other.begin) <= granule(end - 1)) {
            until = std::max(until, granule_end(other.end - 1));
        }
    }
    return until;
}

bool MemoryPlan::refuse_request(const BufferRequest& request, Bytes bytes_over) {
    refused_.push_back(request);
    if (refused_.size() == 1) {
        shortfall_ = {request.name, bytes_over};
    }
    shortfall_.bytes_over = std::max(shortfall_.bytes_over, requested_bytes_ - memory_.bytes());
    return false;
}

bool MemoryPlan::place(const BufferRequest& request) {
    if (request.bytes == 0) {
        return true;
    }
    requested_bytes_ += request.bytes;
    if (request.bytes > memory_.bytes()) {
        return refuse_request(request, request.bytes - memory_.bytes());
    }
    const Address first = request.where == Where::Region1
                              ? memory_.region1_begin()
                              : memory_.region0_begin() + static_cast<Address>(code_zone_bytes_);
    const Address limit = request.where == Where::Region0 ? memory_.region1_begin() : memory_.end();
    const auto wanted = static_cast<Address>(request.bytes);
    Address begin = first;
    while (true) {
        begin = static_cast<Address>(round_up(static_cast<Bytes>(begin), request.alignment));
        const Address until = blocked_until(begin, begin + wanted, request);
        if (until == 0) {
            break;
        }
        begin = until;
    }
    if (begin + wanted > limit) {
        return refuse_request(request, static_cast<Bytes>(begin + wanted - limit));
    }
    placed_.push_back({request.name, request.kind, begin, begin + wanted, false});
    return true;
}

void MemoryPlan::overlay(const std::string& name, const std::string& on, Bytes bytes) {
    const Placed* under = find(on);
    TESSERA_ASSERT(under != nullptr && bytes <= static_cast<Bytes>(under->end - under->begin));
    const Placed added{name, under->kind, under->begin, under->begin + static_cast<Address>(bytes),
                       true};
    placed_.push_back(added);
}

Address MemoryPlan::address(const std::string& name) const {
    const Placed* placed = find(name);
    TESSERA_ASSERT(placed != nullptr);
    return placed->begin;
}

Bytes MemoryPlan::bytes(const std::string& name) const {
    const Placed* placed = find(name);
    return placed == nullptr ? 0 : static_cast<Bytes>(placed->end - placed->begin);
}

bool MemoryPlan::has(const std::string& name) const {
    return find(name) != nullptr;
}

Bytes MemoryPlan::used_bytes() const {
    Bytes total = code_zone_bytes_;
    for (const Placed& placed : placed_) {
        total += placed.overlay ? 0 : static_cast<Bytes>(placed.end - placed.begin);
    }
    return total;
}

std::vector<MemoryPlan::Buffer> MemoryPlan::buffers() const {
    std::vector<Buffer> all;
    for (const Placed& placed : placed_) {
        if (!placed.overlay) {
            all.push_back({placed.name, placed.kind, placed.begin,
                           static_cast<Bytes>(placed.end - placed.begin)});
        }
    }
    return all;
}

std::map<std::string, Bytes> MemoryPlan::sizes() const {
    std::map<std::string, Bytes> all{{"code", code_zone_bytes_}};
    for (const Buffer& buffer : buffers()) {
        all[buffer.name] = buffer.bytes;
    }
    return all;
}

std::string MemoryPlan::describe() const {
    std::vector<std::pair<Bytes, std::string>> order;
    for (const Placed& placed : placed_) {
        if (!placed.overlay) {
            order.emplace_back(static_cast<Bytes>(placed.end - placed.begin), placed.name);
        }
    }
    for (const BufferRequest& request : refused_) {
        order.emplace_back(request.bytes, request.name);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text = fmt::format("code {} B", code_zone_bytes_);
    for (const auto& [bytes, name] : order) {
        text += fmt::format(", {} {} B", name, bytes);
    }
    return text;
}

} // namespace tessera::plan
