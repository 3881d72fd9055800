// SPDX-License-Identifier: MIT
#include "models/exchange/exchange_fabric.h"

#include "base/error.h"

namespace tessera::exchange {

ExchangeFabric::ExchangeFabric(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                               const std::vector<program::Exchange>& exchanges,
                               const sc_core::sc_time& cycle_period)
    : sc_module(name), out_end("out_end"), spec_(spec), exchanges_(exchanges),
      prepared_(exchanges.size()), cycle_period_(cycle_period) {
    SC_HAS_PROCESS(ExchangeFabric);
    SC_METHOD(on_end);
    sensitive << ev_end_;
    dont_initialize();
}

void ExchangeFabric::prepare(std::uint32_t exchange, const RowReader& read_row) {
    Prepared& prepared = prepared_.at(exchange);
    if (prepared.outcome != nullptr || prepared.failure != nullptr) {
        return;
    }
    try {
        prepared.outcome = std::make_unique<const FabricOutcome>(
            run_exchange(spec_, exchanges_.at(exchange), read_row));
    } catch (...) {
        prepared.failure = std::current_exception();
    }
}

const FabricOutcome& ExchangeFabric::outcome(std::uint32_t exchange) const {
    const Prepared& prepared = prepared_.at(exchange);
    if (prepared.failure != nullptr) {
        std::rethrow_exception(prepared.failure);
    }
    TESSERA_ASSERT(prepared.outcome != nullptr);
    return *prepared.outcome;
}

Cycles ExchangeFabric::phase_cycles(std::uint32_t exchange) const {
    return outcome(exchange).phase_cycles();
}

void ExchangeFabric::start(std::uint32_t exchange) {
    ev_end_.notify(sc_core::sc_time::from_value(
        cycle_period_.value() * static_cast<sc_core::sc_time::value_type>(phase_cycles(exchange))));
}

void ExchangeFabric::on_end() {
    out_end->exchange_ended();
}

} // namespace tessera::exchange
