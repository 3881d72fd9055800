// SPDX-License-Identifier: MIT
// Says what a step of a pipeline with a codelet of the user's own may have.
#pragma once

#include "base/config/shape.h"

#include <memory>

namespace tessera::catalog {

/// The shape describes workload::OwnCodelet.
[[nodiscard]] std::shared_ptr<const config::Shape> codelet_shape();

} // namespace tessera::catalog
