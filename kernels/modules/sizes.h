// SPDX-License-Identifier: MIT
// Sizes of a model file: numbers with names, which may be expressions of each other.
#pragma once

#include "base/config/document.h"
#include "base/expression/expression.h"

#include <map>
#include <string>
#include <vector>

namespace tessera::modules {

/// Holds what expressions may name.
using Sizes = std::map<std::string, double>;

/// A mistake in an expression, told at the value in which it stands.
[[nodiscard]] Diagnostic expression_mistake(const config::Document& document,
                                            const std::string& pointer, const std::string& text,
                                            const expression::Error& error);

/// The values of an object of sizes at `pointer`: numbers, and expressions of `around` and of each
/// other in any order. One that cannot be computed is a mistake and is left out.
[[nodiscard]] Sizes sizes_of(const config::Document& document, const std::string& pointer,
                             const Sizes& around, std::vector<Diagnostic>& mistakes);

/// `path=value` options whose path is one of a size replace it; the others are returned.
[[nodiscard]] std::vector<std::string> set_sizes(config::Document& document,
                                                 const std::vector<std::string>& options,
                                                 const std::string& prefix,
                                                 std::vector<Diagnostic>& mistakes);

} // namespace tessera::modules
