// SPDX-License-Identifier: MIT
// The control registers that a tile's supervisor stores in: what the next launches, weight loads
// and exchanges use. Those that say something about the moment (PC, COUNT, CTXT_STS) are not here.
// Source: docs/evidence.md#instruction-set (control and status registers)
#pragma once

#include "base/units.h"
#include "models/isa/target.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::tile {

class SupervisorRegisters {
public:
    SupervisorRegisters(std::size_t workers, const isa::Target& target)
        : worker_base(workers, 0), has_fp8_(target.has_fp8()) {}

    /// What the register holds; 0 where there is none.
    [[nodiscard]] std::uint32_t read(std::int32_t number) const;
    /// Writes what the machine keeps of the value; nothing where there is no such register.
    void write(std::int32_t number, std::uint32_t value);
    /// The worker whose WORKERn_BASE this is, or -1.
    [[nodiscard]] std::int32_t worker_of(std::int32_t number) const;

    [[nodiscard]] bool operator==(const SupervisorRegisters&) const = default;

    std::vector<Address> worker_base;
    std::uint32_t fp_initial = 0;        ///< FP_ICTL: FP_CTL of launched workers
    std::uint32_t fp_initial_format = 0; ///< FP_INFMT: their FP_NFMT
    std::uint32_t fp_initial_scale = 0;  ///< FP_ISCL: their FP_SCL
    std::uint32_t weight_address = 0;    ///< CCCSLOAD

private:
    bool has_fp8_;
    std::array<std::uint32_t, 2> debug_{};
    std::array<std::uint32_t, 12> exchange_{};
};

} // namespace tessera::tile
