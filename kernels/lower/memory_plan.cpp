// SPDX-License-Identifier: MIT
#include "kernels/lower/memory_plan.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

namespace tessera::lower {
namespace {

using plan::Fit;
using plan::FitRequest;
using plan::Occupied;
using plan::round_up;

Address end_of(const MemoryPlan::Buffer& buffer) {
    return buffer.begin + static_cast<Address>(buffer.bytes);
}

bool names(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

template <class Of> bool is_row(const Of& buffer) {
    return buffer.kind == program::SegmentKind::ExchangeRow;
}

bool is_state(const BufferRequest& request) {
    return request.kind == program::SegmentKind::VertexState;
}

bool apart(const BufferRequest& request, const MemoryPlan::Buffer& other) {
    return names(request.apart_from, other.name) || names(other.apart_from, request.name);
}

std::uint64_t steps_of(const program::Lifetime& lifetime) {
    return std::uint64_t{lifetime.last} - lifetime.first;
}

/// The requests as given, then bound to a region before free, largest first, then longest first. In
/// a memory that vertex state cannot be everywhere in, also with the state before the others.
std::vector<std::vector<BufferRequest>> orders_of(const std::vector<BufferRequest>& requests,
                                                  const spec::MemorySpec& memory) {
    std::vector<std::vector<BufferRequest>> orders(3, requests);
    std::stable_sort(orders[1].begin(), orders[1].end(), [](const auto& left, const auto& right) {
        return std::make_tuple(left.where == Where::Any, -left.bytes) <
               std::make_tuple(right.where == Where::Any, -right.bytes);
    });
    std::stable_sort(orders[2].begin(), orders[2].end(), [](const auto& left, const auto& right) {
        return std::make_tuple(left.where == Where::Any, steps_of(right.lifetime), -left.bytes) <
               std::make_tuple(right.where == Where::Any, steps_of(left.lifetime), -right.bytes);
    });
    if (memory.end() > spec::kCodeReach) {
        std::ranges::stable_partition(orders.emplace_back(requests), is_state);
    }
    return orders;
}

const char* word(program::SegmentKind kind) {
    switch (kind) {
    case program::SegmentKind::Code:
        return "code";
    case program::SegmentKind::Stack:
        return "stack";
    case program::SegmentKind::VertexState:
        return "vertex state";
    case program::SegmentKind::Metadata:
        return "metadata";
    case program::SegmentKind::ExchangeRow:
        return "exchange rows";
    case program::SegmentKind::Tensor:
        break;
    }
    return "tensor";
}

/// The largest by name, the others together.
std::string largest_first(std::vector<std::pair<std::string, Bytes>> sizes) {
    constexpr std::size_t kNamed = 12;
    std::stable_sort(sizes.begin(), sizes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    sizes.erase(std::remove_if(sizes.begin(), sizes.end(),
                               [](const auto& size) { return size.second == 0; }),
                sizes.end());
    Bytes others = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (i < kNamed) {
            text +=
                fmt::format("{}{} {} B", text.empty() ? "" : ", ", sizes[i].first, sizes[i].second);
        } else {
            others += sizes[i].second;
        }
    }
    return others == 0 ? text
                       : fmt::format("{}, {} others {} B", text, sizes.size() - kNamed, others);
}

} // namespace

MemoryPlan::MemoryPlan(const spec::MachineSpec& machine, Bytes code)
    : memory_(machine.memory), code_(code) {}

const MemoryPlan::Buffer* MemoryPlan::find(const std::string& name) const {
    const auto found = std::find_if(placed_.begin(), placed_.end(),
                                    [&](const Buffer& placed) { return placed.name == name; });
    return found == placed_.end() ? nullptr : &*found;
}

Fit MemoryPlan::fit(const BufferRequest& request) const {
    FitRequest wanted{.bytes = request.bytes, .alignment = request.alignment};
    const Bytes code_end = memory_.region0_begin() + code_;
    wanted.lowest = request.where == Where::Region1 ? memory_.region1_begin() : code_end;
    wanted.limit = request.where == Where::Region0 ? memory_.region1_begin() : memory_.end();
    if (is_state(request)) {
        wanted.limit = std::min<Bytes>(wanted.limit, spec::kCodeReach);
    }
    std::vector<Occupied> occupied;
    if (code_ > 0) {
        occupied.push_back({memory_.region0_begin(), code_end, request.by_codelets});
    }
    for (const Buffer& other : placed_) {
        if (request.lifetime.meets(other.lifetime)) {
            const bool fetched = (is_row(request) && other.by_rows && !is_row(other)) ||
                                 (is_row(other) && request.by_rows && !is_row(request));
            occupied.push_back({other.begin, end_of(other), fetched || apart(request, other)});
        }
    }
    return lowest_fit(memory_, wanted, occupied);
}

std::map<std::uint32_t, Bytes> MemoryPlan::live_bytes(Where where) const {
    std::map<std::uint32_t, Bytes> begin; // by step
    std::map<std::uint32_t, Bytes> end;   // behind the step
    for (const BufferRequest& request : requests_) {
        const bool counts = where == Where::Any || request.where == where;
        begin[request.lifetime.first] += counts ? request.bytes : 0;
        end[request.lifetime.last] += counts ? request.bytes : 0;
    }
    Bytes kept = 0;
    auto gone = end.begin();
    for (auto& [step, bytes] : begin) {
        for (; gone != end.end() && gone->first < step; ++gone) {
            kept -= gone->second;
        }
        kept += bytes;
        bytes = kept;
    }
    return begin;
}

Bytes MemoryPlan::over_limits() const {
    const auto most = [&](Where where) {
        Bytes most_bytes = 0;
        for (const auto& [step, bytes] : live_bytes(where)) {
            most_bytes = std::max(most_bytes, bytes);
        }
        return most_bytes;
    };
    const Bytes room0 = memory_.region0_bytes - code_;
    return std::max({most(Where::Any) - room0 - memory_.region1_bytes, most(Where::Region0) - room0,
                     most(Where::Region1) - memory_.region1_bytes});
}

Shortfall MemoryPlan::shortfall() const {
    if (shortfall_.bytes_over == 0 || code_ > memory_.region0_bytes) {
        return shortfall_;
    }
    return {shortfall_.name, std::max(shortfall_.bytes_over, over_limits())};
}

bool MemoryPlan::place(const BufferRequest& request) {
    if (request.bytes == 0) {
        return true;
    }
    requests_.push_back(request);
    if (code_ > memory_.region0_bytes) {
        shortfall_ = {"code", code_ - memory_.region0_bytes};
        return false;
    }
    // Bytes are checked first: addresses have 32 bits.
    Bytes over = request.bytes - memory_.bytes();
    if (over <= 0) {
        const Fit found = fit(request);
        over = found.bytes_over;
        if (over == 0) {
            placed_.push_back({request.name, request.kind, static_cast<Address>(found.address),
                               request.bytes, request.lifetime, request.by_rows,
                               request.apart_from});
            return true;
        }
    }
    if (shortfall_.bytes_over == 0) {
        shortfall_ = {request.name, over};
    }
    return false;
}

bool MemoryPlan::place_all(const std::vector<BufferRequest>& requests) {
    std::optional<MemoryPlan> best;
    const MemoryPlan before = *this;
    for (const std::vector<BufferRequest>& order : orders_of(requests, memory_)) {
        MemoryPlan tried = before;
        const bool fits = std::all_of(order.begin(), order.end(),
                                      [&](const BufferRequest& one) { return tried.place(one); });
        if (fits && (!best.has_value() || tried.used_bytes() < best->used_bytes())) {
            best = std::move(tried);
        }
    }
    if (best.has_value()) {
        *this = std::move(*best);
        return true;
    }
    for (const BufferRequest& request : requests) {
        static_cast<void>(place(request));
    }
    return false;
}

void MemoryPlan::forget_rows() {
    std::erase_if(placed_, [](const Buffer& placed) { return is_row(placed); });
    std::erase_if(requests_, [](const BufferRequest& made) { return is_row(made); });
}

void MemoryPlan::take_rows(const MemoryPlan& other) {
    forget_rows();
    std::copy_if(other.placed_.begin(), other.placed_.end(), std::back_inserter(placed_),
                 [](const Buffer& placed) { return is_row(placed); });
}

void MemoryPlan::join(const MemoryPlan& other) {
    placed_.insert(placed_.end(), other.placed_.begin(), other.placed_.end());
}

Address MemoryPlan::address(const std::string& name) const {
    const Buffer* placed = find(name);
    TESSERA_ASSERT(placed != nullptr);
    return placed->begin;
}

Bytes MemoryPlan::bytes(const std::string& name) const {
    const Buffer* placed = find(name);
    return placed == nullptr ? 0 : placed->bytes;
}

Bytes MemoryPlan::used_bytes() const {
    std::vector<std::pair<Address, Address>> spans;
    for (const Buffer& placed : placed_) {
        spans.emplace_back(placed.begin, end_of(placed));
    }
    std::sort(spans.begin(), spans.end());
    Bytes total = code_;
    Address counted = 0;
    for (const auto& [begin, end] : spans) {
        total += static_cast<Bytes>(std::max(end, counted) - std::max(begin, counted));
        counted = std::max(counted, end);
    }
    return total;
}

std::map<std::string, Bytes> MemoryPlan::sizes() const {
    std::map<std::string, Bytes> all{{"code", code_}};
    for (const Buffer& buffer : placed_) {
        all[buffer.name] = buffer.bytes;
    }
    return all;
}

LiveSet MemoryPlan::peak() const {
    LiveSet peak;
    for (const auto& [step, bytes] : live_bytes(Where::Any)) {
        if (bytes > peak.bytes) {
            peak.bytes = bytes;
            peak.step = step;
        }
    }
    for (const BufferRequest& request : requests_) {
        if (request.lifetime.contains(peak.step)) {
            peak.buffers.push_back(request);
        }
    }
    std::ranges::stable_sort(peak.buffers, std::ranges::greater{}, &BufferRequest::bytes);
    return peak;
}

Bytes MemoryPlan::free_beside_code(std::uint32_t step) const {
    const Bytes begin = memory_.region0_begin() + code_;
    const Bytes end = memory_.region0_begin() + round_up(code_, memory_.element_bytes);
    Bytes free = end - begin;
    for (const Buffer& buffer : placed_) {
        const Bytes from = std::max<Bytes>(buffer.begin, begin);
        const Bytes until = std::min<Bytes>(end_of(buffer), end);
        free -= buffer.lifetime.contains(step) ? std::max<Bytes>(until - from, 0) : 0;
    }
    return free;
}

std::string why_not(const MemoryPlan& plan, TileId fullest_tile,
                    const std::vector<std::string>& steps) {
    const LiveSet peak = plan.peak();
    const std::vector<std::pair<std::string, Bytes>> code{
        {word(program::SegmentKind::Code), plan.code()},
        {"rest of the code's memory element", plan.free_beside_code(peak.step)}};
    std::map<std::string, Bytes> kinds(code.begin(), code.end());
    std::vector<std::pair<std::string, Bytes>> buffers = code;
    for (const BufferRequest& buffer : peak.buffers) {
        kinds[word(buffer.kind)] += buffer.bytes;
        buffers.emplace_back(buffer.name, buffer.bytes);
    }
    return fmt::format(
        "tile_{} is {} bytes over ('{}' finds no place); most is kept in step '{}': {}; the "
        "buffers of that step: {}",
        fullest_tile, plan.shortfall().bytes_over, plan.shortfall().name,
        peak.step < steps.size() ? steps[peak.step] : "start",
        largest_first({kinds.begin(), kinds.end()}), largest_first(std::move(buffers)));
}

} // namespace tessera::lower
