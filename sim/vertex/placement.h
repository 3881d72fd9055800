// SPDX-License-Identifier: MIT
// Where things lie in the tile's memory: first fit under the rules of regions and memory elements.
// Region 0 is executable, each of its elements serves one access a cycle; in region 1 two elements
// are interleaved and count as one here. What has a fixed address comes first, then code, then what
// names an element, then what must keep apart, then the rest, each in the order of the requests. In a
// memory beyond spec::kCodeReach what must end there comes before what names an element.
#pragma once

#include "kernels/vertex/spec.h"
#include "models/spec/memory_spec.h"

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tessera::vertex {

struct PlacementRequest {
    std::string name; ///< for messages; several may be called alike
    Bytes bytes = 0;
    Bytes alignment = 1;
    Region region = Region::Any;
    std::optional<Address> address;
    std::optional<std::int64_t> element; ///< counted from the start of memory
    bool own_element = false;
    std::vector<std::size_t> not_with; ///< requests that may share no element with this one
    bool by_setzi = false; ///< code has its address in a setzi: it ends within spec::kCodeReach
};

struct Placed {
    std::string name;
    Address address = 0;
    Bytes bytes = 0;
    bool own_element = false;
    std::vector<std::size_t> not_with;
};

/// A fixed address breaks a rule.
class PlacementError : public std::runtime_error {
public:
    PlacementError(std::size_t request, const std::string& message)
        : std::runtime_error(message), request_(request) {}
    [[nodiscard]] std::size_t request() const { return request_; }

private:
    std::size_t request_;
};

/// The requests in their order, placed. An empty one gets an address and keeps nothing away.
/// @throws DoesNotFit where one finds no place; PlacementError
[[nodiscard]] std::vector<Placed> place(const spec::MemorySpec& memory,
                                        const std::vector<PlacementRequest>& requests);

/// The element of an address, counted from the start of memory. In region 1 it is the first of the
/// two that are interleaved there.
[[nodiscard]] std::int64_t element_of(const spec::MemorySpec& memory, Address address);

} // namespace tessera::vertex
