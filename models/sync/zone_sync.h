// SPDX-License-Identifier: MIT
// A zone of a system: the barriers of its groups of chips.
//
//   chips of a group: arrive ... arrive --external_cycles + hops--> wake (all chips of the group)
//
// Ports: is the chips' OuterBarrier; chips, by number, woken at the release; witnesses, by number, told
//   where chips of a group meet for different things.
// Timing: release = cycle of the last arrival + sync.external_cycles + 2 * boards * sync.hop_ns, with
//   the boards (pairs of chips) from the first of the domain to the group's farthest; a cycle at
//   least. All chips of a group are released in one cycle. Groups do not wait for each other.
// Source: docs/evidence.md#links
#pragma once

#include "base/units.h"
#include "models/ports/ports.h"
#include "models/program/system_program.h"
#include "models/spec/machine_spec.h"

#include <systemc>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tessera::sync {

class ZoneSync : public sc_core::sc_module, public ports::OuterBarrier {
public:
    sc_core::sc_port<ports::Sleeper, 0, sc_core::SC_ZERO_OR_MORE_BOUND> chips;
    sc_core::sc_port<ports::Witness, 0, sc_core::SC_ZERO_OR_MORE_BOUND> witnesses;

    /// Zone `zone` of `system`, which outlives it.
    ZoneSync(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
             const program::SystemProgram& system, std::size_t zone);

    void arrive(std::int64_t chip, const events::Meeting& meeting) override;
    /// Wakes the chips of a cycle in an order that follows from the seed. No result may depend on it.
    void shuffle(std::uint64_t seed) { shuffle_.emplace(seed); }

    /// From the last arrival to the release of the chip's group.
    [[nodiscard]] Cycles barrier_cycles(std::size_t chip) const;
    /// Chips that wait here; what for, as a sentence about chip `chip`, which does.
    [[nodiscard]] bool waits(std::size_t chip) const { return arrived_.at(chip); }
    [[nodiscard]] std::string text_of(std::size_t chip) const;
    /// Chips of its group that have not come.
    [[nodiscard]] std::vector<std::size_t> awaited_by(std::size_t chip) const;

private:
    void on_settled();
    void on_release();
    void settle(const std::vector<std::size_t>& group);
    [[nodiscard]] std::string name_of(std::size_t chip) const;

    const spec::MachineSpec& spec_;
    const program::SystemProgram& system_;
    std::size_t zone_;
    std::vector<std::vector<std::size_t>> groups_; ///< chips, ascending
    std::vector<std::size_t> group_of_;            ///< by chip
    std::vector<bool> arrived_;                    ///< by chip
    std::vector<bool> told_;                       ///< by group: it failed
    std::vector<events::Meeting> meetings_;        ///< by chip that has arrived
    std::vector<std::size_t> touched_;             ///< groups that somebody came to in this cycle
    std::map<Cycles, std::vector<std::size_t>> releases_; ///< groups
    std::optional<std::mt19937_64> shuffle_;
    sc_core::sc_event ev_settled_;
    sc_core::sc_event ev_release_;
};

} // namespace tessera::sync
