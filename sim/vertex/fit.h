// SPDX-License-Identifier: MIT
// Least squares: the coefficients of a formula that is linear in its unknown names, from one value
// a point. `a + b*rows*columns` over the parameters rows and columns has the unknowns a and b.
#pragma once

#include "kernels/vertex/evaluation.h"

#include <string>
#include <vector>

namespace tessera::vertex {

struct Fit {
    std::string formula;
    std::vector<std::pair<std::string, double>> coefficients; ///< in the order of the formula
    std::vector<double> fitted;                               ///< of each point
    double largest_residual = 0; ///< |measured - fitted|, over all points
};

/// The formula is wrong, or cannot be fitted to these points.
class FitError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// `measured` has a value for each point. @throws FitError: no expression, not linear, no unknowns,
/// fewer different points than unknowns
[[nodiscard]] Fit fit(const std::string& formula, const std::vector<Point>& points,
                      const std::vector<double>& measured);

/// Throws FitError where the formula is none, so that this is known before the runs.
void check_formula(const std::string& formula, const std::vector<Point>& points);

} // namespace tessera::vertex
