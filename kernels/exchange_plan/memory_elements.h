// SPDX-License-Identifier: MIT
// Which memory elements a tile sends from and receives into.
#pragma once

#include "base/units.h"
#include "kernels/exchange_plan/exchange_jobs.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <vector>

namespace tessera::exchange_plan {

/// Memory elements by number: those of region 0, then the pairs of region 1.
class Elements {
public:
    explicit Elements(const spec::MemorySpec& memory);
    [[nodiscard]] std::int64_t count() const { return of(memory_.end() - 1) + 1; }
    [[nodiscard]] std::int64_t of(Bytes address) const;
    [[nodiscard]] Bytes begin(std::int64_t element) const;

private:
    spec::MemorySpec memory_;
    std::int64_t region0_elements_;
};

/// By tile: whether it sends from and receives into one memory element.
[[nodiscard]] std::vector<std::uint8_t> tiles_with_shared_elements(const spec::MachineSpec& machine,
                                                                   const JobList& list);

} // namespace tessera::exchange_plan
