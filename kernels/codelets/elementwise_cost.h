// SPDX-License-Identifier: MIT
// Worker issues of elementwise.inc's loops. tests/kernels/codelets/codelet_cost_test.cpp counts
// them in the assembled codelets.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kMapNothing = 7; ///< a worker without rows that does nothing else
constexpr std::int64_t kMapLastRow = 1; ///< more than another row

/// What a codelet's loop costs.
struct MapLoop {
    std::int64_t frame = 0; ///< around the loop over rows
    std::int64_t row = 0;   ///< its rounds apart
    std::int64_t round = 0;
    std::int64_t ahead = 1;             ///< units of a row that are not rounds
    std::int64_t nothing = kMapNothing; ///< of a worker without rows
};

constexpr std::int64_t kSigmWaits = 4;     ///< behind the issue of an f32sigm
constexpr std::int64_t kRootWaits = 4;     ///< behind that of an f32sqrt
constexpr std::int64_t kDivisionWaits = 2; ///< behind that of an f32div or an f32oox
constexpr std::int64_t kHalfSigmWaits = 1; ///< behind that of an f16v2sigm
constexpr std::int64_t kOverRootWaits = 3; ///< behind that of an f32oorx
constexpr std::int64_t kExpWaits = 2;      ///< behind that of an f32exp
constexpr std::int64_t kLogWaits = 5;      ///< behind that of an f32ln
constexpr std::int64_t kHalfExpWaits = 1;  ///< behind that of an f16v2exp or an f16v2ln

constexpr MapLoop kReluLoop{19, 8, 2};
constexpr MapLoop kScaleLoop{20, 8, 2};
constexpr MapLoop kWidenLoop{19, 10, 4};
constexpr MapLoop kNarrowLoop{19, 8, 2};
constexpr MapLoop kGeluF16Loop{21, 16, 10};
constexpr MapLoop kGeluF32Loop{21, 6, 9 + 2 * kSigmWaits, 0};
constexpr MapLoop kTanhF16Loop{19, 9, 3};
constexpr MapLoop kTanhF32Loop{19, 9 + 2 * kSigmWaits, 3 + 2 * kSigmWaits};
constexpr MapLoop kSigmoidF16Loop{19, 9 + 2 * kHalfSigmWaits, 3 + 2 * kHalfSigmWaits};
constexpr MapLoop kSigmoidF32Loop{19, 9 + 2 * kSigmWaits, 3 + 2 * kSigmWaits};
constexpr MapLoop kSwishF16Loop{19, 10 + 2 * kHalfSigmWaits, 4 + 2 * kHalfSigmWaits};
constexpr MapLoop kSwishF32Loop{19, 10 + 2 * kSigmWaits, 4 + 2 * kSigmWaits};
constexpr MapLoop kSwishGradientF16Loop{24, 7, 9 + 2 * kHalfSigmWaits, 0};
constexpr MapLoop kSwishGradientF32Loop{24, 7, 9 + 2 * kSigmWaits, 0};
constexpr MapLoop kLogisticGradientLoop{25, 11, 4};
constexpr MapLoop kGluF16Loop{24, 11 + 2 * kHalfSigmWaits, 4 + 2 * kHalfSigmWaits};
constexpr MapLoop kGluF32Loop{24, 11 + 2 * kSigmWaits, 4 + 2 * kSigmWaits};
constexpr MapLoop kRsqrtF16Loop{19, 15 + 4 * kOverRootWaits, 9 + 4 * kOverRootWaits};
constexpr MapLoop kRsqrtF32Loop{19, 9 + 2 * kOverRootWaits, 3 + 2 * kOverRootWaits};
constexpr MapLoop kRsqrtGradientLoop{25, 12, 5};
constexpr MapLoop kScaledAddLoop{25, 10, 3};
constexpr MapLoop kScaledAddMixedLoop{25, 7, 6, 0};
constexpr MapLoop kReluGradientLoop{24, 10, 3};
constexpr MapLoop kGeluGradientF16Loop{24, 7, 16 + 2 * kHalfSigmWaits, 0};
constexpr MapLoop kGeluGradientF32Loop{24, 7, 17 + 2 * kSigmWaits, 0};
constexpr MapLoop kAddLoop{24, 10, 3};
constexpr MapLoop kAddWholeLoop{24, 7, 8, 0};
constexpr MapLoop kMultiplyLoop{24, 10, 3};
constexpr MapLoop kArithmeticLoop{24, 10, 3}; ///< a difference, the larger or the smaller one
constexpr MapLoop kWholeLoop{24, 7, 8, 0};    ///< one instruction for an element
constexpr MapLoop kWholeSelectLoop{24, 7, 10, 0};
constexpr MapLoop kDivideF16Loop{24, 7, 12 + 4 * kDivisionWaits, 0};
constexpr MapLoop kDivideF32Loop{24, 11 + 2 * kDivisionWaits, 4 + 2 * kDivisionWaits};
constexpr MapLoop kExpF16Loop{19, 9 + 2 * kHalfExpWaits, 3 + 2 * kHalfExpWaits};
constexpr MapLoop kExpF32Loop{19, 9 + 2 * kExpWaits, 3 + 2 * kExpWaits};
constexpr MapLoop kLogF32Loop{19, 9 + 2 * kLogWaits, 3 + 2 * kLogWaits};
constexpr MapLoop kSqrtF16Loop{19, 15 + 4 * kRootWaits, 9 + 4 * kRootWaits};
constexpr MapLoop kSqrtF32Loop{19, 9 + 2 * kRootWaits, 3 + 2 * kRootWaits};
constexpr MapLoop kFromWholeLoop{19, 9, 3};
constexpr MapLoop kToWholeLoop{19, 11, 5};
constexpr MapLoop kWordsLoop{19, 8, 2};
constexpr MapLoop kNarrowWholeLoop{20, 6, 8, 0};
constexpr MapLoop kAddToRowsLoop{24, 10, 2};
constexpr MapLoop kDropoutLoop{26, 20, 25, 0}; ///< a round is a block of 32 bytes

constexpr MapLoop kAdamMomentsF16Loop{25, 7, 10, 0};
constexpr MapLoop kAdamMomentsF32Loop{25, 7, 9, 0};
constexpr MapLoop kAdamApplyF16Loop{27, 7, 13 + 2 * (kRootWaits + kDivisionWaits), 0};
constexpr MapLoop kAdamApplyF32Loop{27, 7, 11 + 2 * (kRootWaits + kDivisionWaits), 0};

/// adam_corrections, of one worker.
constexpr std::int64_t kAdamCorrections = 14 + 2 * kDivisionWaits;

constexpr std::int64_t kSumsNothing = kMapNothing + 2 + 5; ///< of codelets that leave sums
constexpr MapLoop kSquaresLoop{21, 7, 1, 1, kSumsNothing};
constexpr MapLoop kSquaresOfDifferenceLoop{26, 9, 2, 1, kSumsNothing};
constexpr MapLoop kLambNormsF16Loop{35, 7, 13 + 2 * (kRootWaits + kDivisionWaits), 0,
                                    kSumsNothing + 3};
constexpr MapLoop kLambNormsF32Loop{35, 7, 12 + 2 * (kRootWaits + kDivisionWaits), 0,
                                    kSumsNothing + 3};
constexpr MapLoop kScaleByF16Loop{23, 13, 7};
constexpr MapLoop kScaleByF32Loop{23, 8, 2};

/// lamb_scalars, of one worker.
constexpr std::int64_t kLambScalars = 18 + kRootWaits + kDivisionWaits;

/// Rows of `units` units of 8 bytes of an input; the last one may be shorter.
struct MapRows {
    std::int64_t rows = 0;
    std::int64_t units = 0;
    std::int64_t last = 0;
};

[[nodiscard]] constexpr std::int64_t map_issues(const MapLoop& loop, const MapRows& work,
                                                std::int64_t worker, std::int64_t workers) {
    if (worker >= work.rows) {
        return loop.nothing;
    }
    const std::int64_t rows = (work.rows - 1 - worker) / workers + 1;
    const bool has_last = (work.rows - 1) % workers == worker;
    const std::int64_t units = rows * work.units - (has_last ? work.units - work.last : 0);
    return loop.frame + rows * loop.row + (units - rows * loop.ahead) * loop.round +
           (has_last ? kMapLastRow : 0);
}

} // namespace tessera::codelets
