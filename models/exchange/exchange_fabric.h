// SPDX-License-Identifier: MIT
// The exchange fabric on the SystemC timeline: an exchange phase ends when its slowest tile has
// ended. Which fabric it is the machine says (core/fabric.h).
//
//   start(exchange) --prologue + slowest tile--> out_end->exchange_ended()
//
// Ports: out_end, told once a phase.
// Timing: phase = FabricOutcome::phase_cycles(); an exchange without active tiles takes no time.
// Not modelled: the skew of the rows' event counts over the grid (docs/deviations.md).
// Source: docs/evidence.md#exchange-rows
#pragma once

#include "models/exchange/core/fabric.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <systemc>

#include <exception>
#include <memory>
#include <vector>

namespace tessera::exchange {

/// Who waits for the exchange.
class ExchangeEnd : public virtual sc_core::sc_interface {
public:
    virtual void exchange_ended() = 0;
};

class ExchangeFabric : public sc_core::sc_module {
public:
    sc_core::sc_port<ExchangeEnd> out_end;

    /// `exchanges` outlives the fabric.
    ExchangeFabric(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                   const std::vector<program::Exchange>& exchanges,
                   const sc_core::sc_time& cycle_period);

    /// The host's part: runs and checks an exchange, once; later calls do nothing.
    /// Different exchanges may be prepared on different host threads. Throws nothing: outcome()
    /// does.
    void prepare(std::uint32_t exchange, const RowReader& read_row);

    /// What the prepared exchange moves and how long it takes. @throws ProgramError if it
    /// breaks a rule.
    [[nodiscard]] const FabricOutcome& outcome(std::uint32_t exchange) const;

    /// Cycles from the release of the sync to the end of the slowest tile.
    [[nodiscard]] Cycles phase_cycles(std::uint32_t exchange) const;

    /// SystemC's part: the phase opens now.
    void start(std::uint32_t exchange);

private:
    struct Prepared {
        std::unique_ptr<const FabricOutcome> outcome;
        std::exception_ptr failure;
    };
    void on_end();

    const spec::MachineSpec& spec_;
    const std::vector<program::Exchange>& exchanges_;
    std::vector<Prepared> prepared_;
    sc_core::sc_time cycle_period_;
    sc_core::sc_event ev_end_;
};

} // namespace tessera::exchange
