// SPDX-License-Identifier: MIT
// Where things stand in a tile's memory: first fit under the rules of regions and memory elements.
//
//   region 0 (executable)                       region 1 (interleaved by two)
//   | code, stubs, exchange rows | data ...     | data ...                       |
//   one 16 KiB element is a granule             one pair of elements, 32 KiB, is a granule
//
// One plan serves all tiles: a buffer has its largest size over the tiles, and so one address
// everywhere. Source: docs/evidence.md#memory-conflicts.
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::plan {

enum class Where { Any, Region0, Region1 };

struct BufferRequest {
    std::string name;
    program::SegmentKind kind = program::SegmentKind::Tensor;
    Bytes bytes = 0;
    Bytes alignment = 16;
    Where where = Where::Any;
    /// Names of buffers placed before that must share no granule with this one.
    std::vector<std::string> apart_from;
};

/// What did not fit, for the caller to turn into an answer.
struct Shortfall {
    std::string name; ///< of the buffer that found no place
    Bytes bytes_over = 0;
};

class MemoryPlan {
public:
    /// The first `code_bytes` of region 0, rounded up to whole elements, are kept for code.
    MemoryPlan(const spec::MachineSpec& machine, Bytes code_bytes);

    /// Lowest address that obeys the request. Returns false where there is none; `shortfall` then says by how
    /// much, of the first such request: at least what all requests together have over the memory. Go on
    /// with the other requests for a full answer.
    [[nodiscard]] bool place(const BufferRequest& request);
    /// Notes that `name` breaks another limit by so many bytes.
    void refuse(const std::string& name, Bytes bytes_over) { shortfall_ = {name, bytes_over}; }
    /// A second name for memory that is used at another time.
    void overlay(const std::string& name, const std::string& on, Bytes bytes);

    [[nodiscard]] Address address(const std::string& name) const;
    [[nodiscard]] Bytes bytes(const std::string& name) const;
    [[nodiscard]] bool has(const std::string& name) const;
    [[nodiscard]] Bytes used_bytes() const;
    [[nodiscard]] Bytes code_zone_bytes() const { return code_zone_bytes_; }
    struct Buffer {
        std::string name;
        program::SegmentKind kind = program::SegmentKind::Tensor;
        Address begin = 0;
        Bytes bytes = 0;
    };
    /// What stands in memory, in order of placing; overlays left out.
    [[nodiscard]] std::vector<Buffer> buffers() const;
    /// Bytes by buffer, and "code".
    [[nodiscard]] std::map<std::string, Bytes> sizes() const;

    [[nodiscard]] const Shortfall& shortfall() const { return shortfall_; }

    /// "code 16384 B, partials 120000 B, ...": all that was asked for, placed or not, largest first.
    [[nodiscard]] std::string describe() const;

private:
    struct Placed {
        std::string name;
        program::SegmentKind kind = program::SegmentKind::Tensor;
        Address begin = 0;
        Address end = 0;
        bool overlay = false;
    };

    /// False, and the shortfall of `request`, which lacks at least `bytes_over`.
    bool refuse_request(const BufferRequest& request, Bytes bytes_over);
    [[nodiscard]] const Placed* find(const std::string& name) const;
    [[nodiscard]] std::int64_t granule(Address address) const;
    [[nodiscard]] Address granule_end(Address address) const;
    /// Where to try next because [begin, end) is not free, or 0 when it is.
    [[nodiscard]] Address blocked_until(Address begin, Address end,
                                        const BufferRequest& request) const;

    spec::MemorySpec memory_;
    Bytes code_zone_bytes_ = 0;
    std::vector<Placed> placed_;
    Shortfall shortfall_;
    Bytes requested_bytes_ = 0;          ///< code zone included
    std::vector<BufferRequest> refused_; ///< requests that found no place
};

} // namespace tessera::plan
