// SPDX-License-Identifier: MIT
// What is between the chips of a system: a barrier for each zone, and the links. Wiring only.
//
//   ipu_0 .. ipu_N --outer_barrier--> zone_0 .. zone_M --wake--> their sync units
//                  --links----------> link_fabric ------links_over--> chips
#pragma once

#include "models/ipu/ipu.h"
#include "models/link/link_fabric.h"
#include "models/program/system_binding.h"
#include "models/program/system_program.h"
#include "models/spec/machine_spec.h"
#include "models/sync/zone_sync.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tessera::system {

class System {
public:
    /// Joins `chips`, which all run programs of `program` and outlive the system, as the others do.
    /// `shuffle` is the seed of another order of what happens in one cycle.
    System(const spec::MachineSpec& spec, const program::SystemProgram& program,
           const program::SystemBinding& binding, const std::vector<ipu::Ipu*>& chips,
           std::optional<std::uint64_t> shuffle);
    ~System();
    System(const System&) = delete;
    System& operator=(const System&) = delete;

    [[nodiscard]] const link::LinkFabric& links() const { return links_; }
    [[nodiscard]] link::LinkFabric& links() { return links_; }
    /// Where each chip is that has not ended its program, and for which others it waits.
    [[nodiscard]] std::string waiting() const;

private:
    [[nodiscard]] std::string place_of(std::size_t chip) const;

    const std::vector<ipu::Ipu*> chips_;
    std::deque<sync::ZoneSync> zones_;
    link::LinkFabric links_;
};

} // namespace tessera::system
