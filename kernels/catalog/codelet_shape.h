// SPDX-License-Identifier: MIT
// What a step of a pipeline with a codelet of the user's own may say.
#pragma once

#include "base/config/shape.h"

#include <memory>

namespace tessera::catalog {

/// Of workload::OwnCodelet.
[[nodiscard]] std::shared_ptr<const config::Shape> codelet_shape();

} // namespace tessera::catalog
