// SPDX-License-Identifier: MIT
#include "sim/calibrate/unexplained.h"

#include <Eigen/QR>

namespace tessera::calibrate {
namespace {

std::optional<GapFit> gap_fit(const std::vector<Gap>& gaps) {
    constexpr Eigen::Index kUnknowns = 2;
    const auto rows = static_cast<Eigen::Index>(gaps.size());
    if (rows <= kUnknowns) { // through as many rows as unknowns any plane goes
        return std::nullopt;
    }
    Eigen::MatrixXd causes(rows, kUnknowns);
    Eigen::VectorXd cycles(rows);
    for (Eigen::Index i = 0; i < rows; ++i) {
        const Gap& gap = gaps[static_cast<std::size_t>(i)];
        causes(i, 0) = gap.words;
        causes(i, 1) = gap.steps;
        cycles(i) = gap.measured_cycles - gap.simulated_cycles;
    }
    const auto qr = causes.colPivHouseholderQr();
    if (qr.rank() < kUnknowns) {
        return std::nullopt;
    }
    const Eigen::VectorXd solved = qr.solve(cycles);
    const double all = cycles.squaredNorm();
    const double left = (cycles - causes * solved).squaredNorm();
    return GapFit{.cycles_per_word = solved(0),
                  .cycles_per_step = solved(1),
                  .explained = all > 0 ? 1 - left / all : 0};
}

} // namespace

Unexplained unexplained(const std::vector<Gap>& gaps) {
    Unexplained out{.rows = gaps.size(), .fit = gap_fit(gaps)};
    double measured = 0;
    for (const Gap& gap : gaps) {
        out.cycles += gap.measured_cycles - gap.simulated_cycles;
        measured += gap.measured_cycles;
    }
    out.share = gaps.empty() ? 0 : out.cycles / measured;
    return out;
}

} // namespace tessera::calibrate
