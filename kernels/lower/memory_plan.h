// SPDX-License-Identifier: MIT
// Where things stand in a tile's memory: lowest fit (lowest_fit.h), memory taken again when what
// stood there is no longer needed.
//
//   region 0 (executable)                       region 1 (interleaved by two)
//   | code, stubs | exchange rows | data ...    | data ...                       |
//
// Behind code and rows stand at once those data that nothing touches while these are fetched; all
// others are in further memory elements. Rows are buffers that stand in region 0. Vertex state ends
// below spec::kCodeReach, as the stubs that hand it over have 20 bits for its address.
//
// One plan serves some tiles: a buffer has its largest size over these, and so one address on all
// of them. A request says when its buffer is needed (liveness.h finds that out): buffers whose
// lifetimes do not meet may share memory, and only those that meet are kept apart.
// Source: docs/evidence.md#memory-conflicts.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/plan/lowest_fit.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::lower {

using graph::Where;

struct BufferRequest {
    std::string name;
    program::SegmentKind kind = program::SegmentKind::Tensor;
    Bytes bytes = 0;
    Bytes alignment = 16;
    Where where = Where::Any;
    /// Names of buffers that must share no granule with this one while both are needed.
    std::vector<std::string> apart_from = {};
    program::Lifetime lifetime = {}; ///< always, unless said
    bool by_codelets = true;         ///< touched while codelets run
    bool by_rows = true;             ///< touched while exchange rows run
};

/// What did not fit, for the caller to turn into an answer.
struct Shortfall {
    std::string name; ///< of the buffer that found no place
    Bytes bytes_over = 0;
};

/// A step and what is kept in it, largest first.
struct LiveSet {
    std::uint32_t step = 0;
    Bytes bytes = 0;
    std::vector<BufferRequest> buffers;
};

class MemoryPlan {
public:
    /// The first `code` bytes of region 0 are kept for code: codelets, stubs and what is fetched
    /// ahead.
    MemoryPlan(const spec::MachineSpec& machine, Bytes code);

    /// Lowest address that obeys the request. Returns false where there is none; shortfall() then
    /// says so. Go on with the other requests for a full answer. A request of no bytes takes no
    /// place.
    [[nodiscard]] bool place(const BufferRequest& request);
    /// The same for all requests, in the order of a few that takes the least memory.
    [[nodiscard]] bool place_all(const std::vector<BufferRequest>& requests);
    /// Exchange rows go, to be placed again.
    void forget_rows();
    /// In place of its own rows, those of another plan.
    void take_rows(const MemoryPlan& other);
    /// Adds what another plan has placed, whose names may be the same.
    void join(const MemoryPlan& other);
    [[nodiscard]] Address address(const std::string& name) const;
    [[nodiscard]] Bytes bytes(const std::string& name) const;
    [[nodiscard]] Bytes code() const { return code_; }
    /// Memory that is used in any step, code included.
    [[nodiscard]] Bytes used_bytes() const;

    struct Buffer {
        std::string name;
        program::SegmentKind kind = program::SegmentKind::Tensor;
        Address begin = 0;
        Bytes bytes = 0;
        program::Lifetime lifetime;
        bool by_rows = true;
        std::vector<std::string> apart_from = {};
    };
    /// What stands in memory, in order of placing.
    [[nodiscard]] const std::vector<Buffer>& buffers() const { return placed_; }
    /// Bytes by buffer, and "code".
    [[nodiscard]] std::map<std::string, Bytes> sizes() const;

    /// By how much the first request that found no place does not fit: at least what all that is
    /// kept in one step has over the memory or over its region.
    [[nodiscard]] Shortfall shortfall() const;
    /// The first step in which most is asked for, placed or not; code is not counted.
    [[nodiscard]] LiveSet peak() const;
    /// Behind code in its last memory element: what no buffer stands in while `step` runs.
    [[nodiscard]] Bytes free_beside_code(std::uint32_t step) const;

private:
    [[nodiscard]] Bytes over_limits() const;
    /// Bytes that are asked for in the first step of each lifetime, where the most is.
    [[nodiscard]] std::map<std::uint32_t, Bytes> live_bytes(Where where) const;
    [[nodiscard]] plan::Fit fit(const BufferRequest& request) const;
    [[nodiscard]] const Buffer* find(const std::string& name) const;

    spec::MemorySpec memory_;
    Bytes code_;
    std::vector<Buffer> placed_;
    std::vector<BufferRequest> requests_; ///< all that were made
    Shortfall shortfall_;
};

/// Why a plan does not fit: "tile_5 is 96 bytes over ('x' finds no place); most is kept in step
/// 'multiply': tensor 640000 B, code 5012 B, exchange rows 220 B, rest of the code's memory
/// element 11152 B; the buffers of that step: x 400000 B, ...". `steps`: names of the program's
/// steps.
[[nodiscard]] std::string why_not(const MemoryPlan& plan, TileId fullest_tile,
                                  const std::vector<std::string>& steps);

} // namespace tessera::lower
