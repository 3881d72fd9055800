// SPDX-License-Identifier: MIT
// A step with a codelet of the user's own on tiles, and its check.
#pragma once

#include "kernels/family/family.h"
#include "kernels/own_codelet/definition.h"

#include <memory>

namespace tessera::own_codelet {

[[nodiscard]] std::unique_ptr<family::Step> step_of(Definition definition);

} // namespace tessera::own_codelet
