// SPDX-License-Identifier: MIT
// The form of a file of kind `pipeline`: its tensors, and its steps with the keys of their
// families.
#pragma once

#include "base/config/shape.h"
#include "kernels/catalog/catalog.h"

#include <memory>

namespace tessera::catalog {

/// The shape that reads a workload::PipelineWorkload.
[[nodiscard]] std::shared_ptr<const config::Shape> pipeline_shape(Families families);

} // namespace tessera::catalog
