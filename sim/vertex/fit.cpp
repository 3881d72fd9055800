// SPDX-License-Identifier: MIT
#include "sim/vertex/fit.h"

#include "base/text.h"

#include <Eigen/QR>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::vertex {
namespace {

[[noreturn]] void refuse(const std::string& formula, const std::string& why) {
    throw FitError(
        fmt::format("--fit: {}: {}", in_quotes(formula, expression::kLongestShown), why));
}

double value_of(const std::string& formula, const expression::Scope& scope) {
    try {
        return expression::evaluate(formula, scope);
    } catch (const expression::Error& error) {
        refuse(formula, fmt::format("character {}: {}{}{}", error.column(), error.what(),
                                    error.hint().empty() ? "" : "; ", error.hint()));
    }
}

/// A linear formula's rows: the value without unknowns, then what each unknown adds.
class Linear {
public:
    Linear(const std::string& formula, const std::vector<Point>& points)
        : formula_(formula), points_(points) {
        std::vector<std::string> names;
        try {
            names = expression::names_in(formula);
        } catch (const expression::Error& error) {
            refuse(formula, fmt::format("character {}: {}", error.column(), error.what()));
        }
        for (const auto& name : names) {
            if (points.front().scope.numbers.count(name) == 0) {
                unknowns_.push_back(name);
            }
        }
        if (unknowns_.empty()) {
            refuse(formula, "got no unknown name, expected one, for example a in 'a + b*rows'");
        }
        if (points.size() < unknowns_.size()) {
            refuse(formula, fmt::format("got {} points, expected {} or more for so many unknowns",
                                        points.size(), unknowns_.size()));
        }
        const auto columns = static_cast<Eigen::Index>(unknowns_.size());
        rows_ = Eigen::MatrixXd(static_cast<Eigen::Index>(points.size()), columns);
        fixed_ = Eigen::VectorXd(static_cast<Eigen::Index>(points.size()));
        for (std::size_t p = 0; p < points.size(); ++p) {
            fill(p);
        }
    }

    [[nodiscard]] const std::vector<std::string>& unknowns() const { return unknowns_; }
    [[nodiscard]] const Eigen::MatrixXd& rows() const { return rows_; }
    [[nodiscard]] const Eigen::VectorXd& fixed() const { return fixed_; }

private:
    void fill(std::size_t p) {
        expression::Scope scope = points_[p].scope;
        const auto row = static_cast<Eigen::Index>(p);
        for (const auto& name : unknowns_) {
            scope.numbers[name] = 0;
        }
        const double none = value_of(formula_, scope);
        fixed_(row) = none;
        // Any two values of the unknowns tell a linear formula from another.
        std::vector<double> probe(unknowns_.size());
        double expected = none;
        double largest = std::fabs(none);
        for (std::size_t i = 0; i < unknowns_.size(); ++i) {
            double& unknown = scope.numbers.at(unknowns_[i]);
            unknown = 1;
            const double step = value_of(formula_, scope) - none;
            unknown = 0;
            rows_(row, static_cast<Eigen::Index>(i)) = step;
            probe[i] = 2.75 + 1.625 * static_cast<double>(i);
            expected += probe[i] * step;
            largest = std::max(largest, std::fabs(probe[i] * step));
        }
        for (std::size_t i = 0; i < unknowns_.size(); ++i) {
            scope.numbers.at(unknowns_[i]) = probe[i];
        }
        const double got = value_of(formula_, scope);
        constexpr double kRounding = 1e-9;
        if (!(std::fabs(got - expected) <= kRounding * std::max(1.0, largest))) {
            refuse(formula_, "is not linear in its unknown names");
        }
    }

    const std::string& formula_;
    const std::vector<Point>& points_;
    std::vector<std::string> unknowns_;
    Eigen::MatrixXd rows_;
    Eigen::VectorXd fixed_;
};

} // namespace

void check_formula(const std::string& formula, const std::vector<Point>& points) {
    const Linear linear(formula, points);
    const auto qr = linear.rows().colPivHouseholderQr();
    if (qr.rank() < static_cast<Eigen::Index>(linear.unknowns().size())) {
        refuse(formula, "the points do not tell its unknowns apart");
    }
}

Fit fit(const std::string& formula, const std::vector<Point>& points,
        const std::vector<double>& measured) {
    check_formula(formula, points);
    const Linear linear(formula, points);
    const Eigen::Map<const Eigen::VectorXd> values(measured.data(),
                                                   static_cast<Eigen::Index>(measured.size()));
    const Eigen::VectorXd solved =
        linear.rows().colPivHouseholderQr().solve(values - linear.fixed());
    const Eigen::VectorXd fitted = linear.rows() * solved + linear.fixed();
    Fit out;
    out.formula = formula;
    for (std::size_t i = 0; i < linear.unknowns().size(); ++i) {
        out.coefficients.emplace_back(linear.unknowns()[i], solved(static_cast<Eigen::Index>(i)));
    }
    for (std::size_t p = 0; p < measured.size(); ++p) {
        const double value = fitted(static_cast<Eigen::Index>(p));
        out.fitted.push_back(value);
        out.largest_residual = std::max(out.largest_residual, std::fabs(measured[p] - value));
    }
    return out;
}

} // namespace tessera::vertex
