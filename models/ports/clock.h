// SPDX-License-Identifier: MIT
// The tile clock: the one place where cycles become SystemC's time and back.
#pragma once

#include "base/units.h"

#include <systemc>

namespace tessera::ports {

class Clock {
public:
    /// SystemC's time until `cycle`, which is not past.
    [[nodiscard]] static sc_core::sc_time until(Cycles cycle) {
        return sc_core::sc_time::from_value(value_of(cycle) - sc_core::sc_time_stamp().value());
    }
    /// Cycles that have passed.
    [[nodiscard]] static Cycles now() {
        return static_cast<Cycles>(sc_core::sc_time_stamp().value() / period());
    }
    /// To the middle of the current cycle, when everything that happens in it has happened.
    [[nodiscard]] static sc_core::sc_time until_settled() {
        return sc_core::sc_time::from_value(value_of(now()) + period() / 2 -
                                            sc_core::sc_time_stamp().value());
    }

private:
    /// A cycle is one nanosecond of SystemC's time; seconds appear in results only.
    static sc_core::sc_time::value_type period() {
        static const auto kPeriod = sc_core::sc_time(1, sc_core::SC_NS).value();
        return kPeriod;
    }
    static sc_core::sc_time::value_type value_of(Cycles cycle) {
        return period() * static_cast<sc_core::sc_time::value_type>(cycle);
    }
};

} // namespace tessera::ports
