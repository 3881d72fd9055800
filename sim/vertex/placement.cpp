// SPDX-License-Identifier: MIT
#include "sim/vertex/placement.h"

#include "base/error.h"
#include "kernels/plan/lowest_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tessera::vertex {
namespace {

bool names(const std::vector<std::string>& list, const std::string& name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

class Placer {
public:
    Placer(const spec::MemorySpec& memory, const std::vector<PlacementRequest>& requests)
        : memory_(memory), requests_(requests), placed_(requests.size()) {}

    std::vector<Placed> run() {
        std::vector<std::size_t> order(requests_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto rank = [&](std::size_t i) {
            const auto& request = requests_[i];
            const bool low = request.by_setzi && memory_.end() > spec::kCodeReach;
            return request.address             ? 0
                   : low                       ? 1
                   : request.element           ? 2
                   : request.own_element       ? 3
                   : !request.not_with.empty() ? 4
                                               : 5;
        };
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
        for (const std::size_t i : order) {
            place_one(i);
        }
        return std::move(placed_);
    }

private:
    void place_one(std::size_t index) {
        const PlacementRequest& request = requests_[index];
        plan::FitRequest wanted{.bytes = request.bytes, .alignment = request.alignment};
        bounds(request, wanted.lowest, wanted.limit);
        wanted.in_one_region =
            request.region == Region::Any && request.bytes <= memory_.region1_bytes;
        wanted.search_end = memory_.end();
        plan::Fit found;
        if (request.address) {
            check_fixed(request);
            found = {wanted.lowest,
                     std::max<Bytes>(0, wanted.lowest + request.bytes - wanted.limit)};
        } else {
            found = plan::lowest_fit(memory_, wanted, occupied_for(request));
        }
        if (found.bytes_over > 0) {
            throw DoesNotFit(fmt::format("'{}' of {} bytes{}: {} bytes over; {}", request.name,
                                         request.bytes, where(request), found.bytes_over,
                                         occupied()));
        }
        placed_[index] = {request.name, static_cast<Address>(found.address), request.bytes,
                          request.own_element, request.not_with};
    }

    [[nodiscard]] Bytes lowest(const PlacementRequest& request) const {
        switch (request.region) {
        case Region::Interleaved:
            return memory_.region1_begin();
        case Region::Executable:
            return memory_.code_begin();
        default:
            return memory_.region0_begin();
        }
    }

    void bounds(const PlacementRequest& request, Bytes& begin, Bytes& limit) const {
        begin = lowest(request);
        limit = request.region == Region::Executable ? memory_.region1_begin() : memory_.end();
        if (request.by_setzi) {
            limit = std::min<Bytes>(limit, spec::kCodeReach);
        }
        if (request.element) {
            const Bytes first = memory_.region0_begin() + *request.element * memory_.element_bytes;
            limit = std::min<Bytes>(memory_.end(), plan::granule_end(memory_, first));
            begin = std::max(begin, first);
        }
        if (request.address) {
            begin = *request.address;
        }
    }

    [[nodiscard]] std::vector<plan::Occupied> occupied_for(const PlacementRequest& request) const {
        std::vector<plan::Occupied> all;
        for (const Placed& other : placed_) {
            if (other.bytes > 0) {
                all.push_back(as_occupied(request, other));
            }
        }
        return all;
    }
    [[nodiscard]] static plan::Occupied as_occupied(const PlacementRequest& request,
                                                    const Placed& other) {
        const bool apart = request.own_element || other.own_element ||
                           names(request.not_with, other.name) ||
                           names(other.not_with, request.name);
        return {other.address, other.address + other.bytes, apart};
    }

    void check_fixed(const PlacementRequest& request) const {
        const Bytes at = *request.address;
        const Bytes first =
            request.region == Region::Executable ? memory_.code_begin() : memory_.region0_begin();
        if (at % request.alignment != 0 || at < first) {
            throw PlacementError(request.name,
                                 fmt::format("got {:#x}, expected a multiple of {} in tile "
                                             "memory, {:#x}..{:#x}",
                                             at, request.alignment, first, memory_.end() - 1));
        }
        for (const Placed& other : placed_) {
            if (other.bytes > 0 && request.bytes > 0 &&
                plan::blocked_until(memory_, at, at + request.bytes, as_occupied(request, other)) !=
                    0) {
                throw PlacementError(request.name,
                                     fmt::format("{:#x} meets '{}' at {:#x}, or its memory element",
                                                 at, other.name, other.address));
            }
        }
    }

    [[nodiscard]] std::string where(const PlacementRequest& request) const {
        if (request.address) {
            return fmt::format(" at {:#x}", *request.address);
        }
        if (request.element) {
            return fmt::format(" in element {}", *request.element);
        }
        return request.region == Region::Executable    ? " in the executable region"
               : request.region == Region::Interleaved ? " in the interleaved region"
                                                       : "";
    }

    [[nodiscard]] std::string occupied() const {
        std::string text;
        for (const Placed& other : placed_) {
            if (other.bytes > 0) {
                text += fmt::format("{}{} {} B", text.empty() ? "there are " : ", ", other.name,
                                    other.bytes);
            }
        }
        return text.empty() ? "memory is empty" : text;
    }

    const spec::MemorySpec& memory_;
    const std::vector<PlacementRequest>& requests_;
    std::vector<Placed> placed_; ///< by request; of 0 bytes until it has its place
};

} // namespace

std::vector<Placed> place(const spec::MemorySpec& memory,
                          const std::vector<PlacementRequest>& requests) {
    return Placer(memory, requests).run();
}

std::int64_t element_of(const spec::MemorySpec& memory, Address address) {
    const auto element =
        static_cast<Bytes>(address - memory.region0_begin()) / memory.element_bytes;
    if (address < memory.region1_begin()) {
        return element;
    }
    const Bytes first = memory.region0_bytes / memory.element_bytes;
    return first + (element - first) / 2 * 2;
}

} // namespace tessera::vertex
