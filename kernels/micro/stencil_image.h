// SPDX-License-Identifier: MIT
// The image of a stencil workload: how it is cut into parts, and what blurring makes of it.
//
//      part (column, row) of a grid          a part in its tile, with the halo around it
//      +-----+-----+-----+                   h h h h h
//      | 0,0 | 1,0 | 2,0 |                   h p p p h
//      +-----+-----+-----+                   h p p p h
//      | 0,1 | 1,1 | 2,1 |                   h h h h h
//      +-----+-----+-----+
#pragma once

#include "base/units.h"
#include "kernels/workload/compute_workloads.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::micro {

constexpr std::int64_t kChannels = 4;

/// A binomial filter's: 1 2 1, 2 4 2, 1 2 1, in sixteenths. The codelets have them in their text.
constexpr float kCornerWeight = 0.0625F;
constexpr float kSideWeight = 0.125F;
constexpr float kCentreWeight = 0.25F;

/// Pixels of a part.
struct Part {
    std::int64_t left = 0;
    std::int64_t top = 0;
    std::int64_t width = 0;
    std::int64_t height = 0;
};

struct PartGrid {
    std::int64_t columns = 1;
    std::int64_t rows = 1;
    std::int64_t width = 0;  ///< of the image
    std::int64_t height = 0; ///< of the image

    [[nodiscard]] std::int64_t parts() const { return columns * rows; }
    [[nodiscard]] Part part(std::int64_t column, std::int64_t row) const {
        const std::int64_t left = width * column / columns;
        const std::int64_t top = height * row / rows;
        return {left, top, width * (column + 1) / columns - left, height * (row + 1) / rows - top};
    }
    [[nodiscard]] std::int64_t widest() const { return (width + columns - 1) / columns; }
    [[nodiscard]] std::int64_t highest() const { return (height + rows - 1) / rows; }
};

/// The grid of at most `tiles` parts with the smallest largest part, and among those the shortest
/// border.
[[nodiscard]] PartGrid choose_grid(std::int64_t width, std::int64_t height, std::int64_t tiles);

/// Row-major [height][width][channel], small whole numbers.
[[nodiscard]] std::vector<float> first_image(std::int64_t width, std::int64_t height);

/// The image after `iterations`: sums of corners and of sides, each times its weight, and the
/// centre's product, every sum and every product rounded to FP16 or FP32.
[[nodiscard]] std::vector<float> blurred(std::vector<float> image, std::int64_t width,
                                         std::int64_t height, std::int64_t iterations, bool to_f16);

/// As the machine stores it.
[[nodiscard]] std::vector<std::byte> image_bytes(const std::vector<float>& image, bool as_f16);

} // namespace tessera::micro
