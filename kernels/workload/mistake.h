// SPDX-License-Identifier: MIT
// Values of a workload that are each in range and do not go together.
#pragma once

#include <string>

namespace tessera::workload {

/// What a workload's `mistakes()` lists; reading turns it into file:line:column.
struct Mistake {
    std::string key;     ///< of the value at fault
    std::string message; ///< what, got, expected: lower case, no full stop
};

} // namespace tessera::workload
