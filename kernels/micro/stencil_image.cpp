// SPDX-License-Identifier: MIT
#include "kernels/micro/stencil_image.h"

#include "base/float16.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

namespace tessera::micro {
namespace {

constexpr std::uint32_t kDroppedBits = 13;         ///< of an FP32 fraction in FP16
constexpr std::uint32_t kLeastNormal = 0x38800000; ///< 2^-14 as FP32

/// `value`, which is not negative and in FP16's range, rounded to FP16.
float rounded_to_f16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (bits < kLeastNormal) {
        return f16_to_f32(f32_to_f16(value));
    }
    const std::uint32_t odd = (bits >> kDroppedBits) & 1U;
    const std::uint32_t up = bits + (1U << (kDroppedBits - 1U)) - 1U + odd;
    return std::bit_cast<float>(up >> kDroppedBits << kDroppedBits);
}

/// One row of the padded image, blurred: `above` is the first pixel of its first window.
template <bool kToF16>
void blur_row(const float* above, std::int64_t padded_width, std::int64_t values, float* out) {
    const auto rounded = [](float value) { return kToF16 ? rounded_to_f16(value) : value; };
    const auto sum_of_four = [&](float a, float b, float c, float d) {
        return rounded(rounded(rounded(a + b) + c) + d);
    };
    const float* middle = above + padded_width * kChannels;
    const float* below = middle + padded_width * kChannels;
    for (std::int64_t i = 0; i < values; ++i) {
        constexpr std::int64_t kNext = kChannels;
        constexpr std::int64_t kLast = 2 * kChannels;
        const float corners = sum_of_four(above[i], above[i + kLast], below[i], below[i + kLast]);
        const float sides =
            sum_of_four(above[i + kNext], middle[i], middle[i + kLast], below[i + kNext]);
        const float outer =
            rounded(rounded(kCornerWeight * corners) + rounded(kSideWeight * sides));
        out[i] = rounded(outer + rounded(kCentreWeight * middle[i + kNext]));
    }
}

} // namespace

PartGrid choose_grid(std::int64_t width, std::int64_t height, std::int64_t tiles) {
    PartGrid best{1, 1, width, height};
    const auto cost = [](const PartGrid& grid) {
        return std::tuple{grid.widest() * grid.highest(), grid.widest() + grid.highest()};
    };
    for (std::int64_t columns = 1; columns <= std::min(tiles, width); ++columns) {
        const PartGrid grid{columns, std::min(tiles / columns, height), width, height};
        if (cost(grid) < cost(best)) {
            best = grid;
        }
    }
    return best;
}

std::vector<float> first_image(std::int64_t width, std::int64_t height) {
    std::vector<float> image(static_cast<std::size_t>(width * height * kChannels));
    std::generate(image.begin(), image.end(), [i = std::size_t{0}]() mutable {
        return static_cast<float>((i++ * 2654435761U >> 9U) % 256U);
    });
    return image;
}

std::vector<float> blurred(std::vector<float> image, std::int64_t width, std::int64_t height,
                           std::int64_t iterations, bool to_f16) {
    const std::int64_t row = width * kChannels;
    const std::int64_t padded_width = width + 2;
    const std::int64_t padded_row = padded_width * kChannels;
    std::vector<float> padded(static_cast<std::size_t>(padded_row * (height + 2)));
    for (std::int64_t n = 0; n < iterations; ++n) {
        for (std::int64_t y = 0; y < height; ++y) {
            std::copy_n(image.begin() + y * row, row,
                        padded.begin() + (y + 1) * padded_row + kChannels);
        }
        for (std::int64_t y = 0; y < height; ++y) {
            const float* above = padded.data() + y * padded_row;
            float* out = image.data() + y * row;
            to_f16 ? blur_row<true>(above, padded_width, row, out)
                   : blur_row<false>(above, padded_width, row, out);
        }
    }
    return image;
}

std::vector<std::byte> image_bytes(const std::vector<float>& image, bool as_f16) {
    std::vector<std::byte> bytes(image.size() * (as_f16 ? 2 : 4));
    if (!as_f16) {
        std::memcpy(bytes.data(), image.data(), bytes.size());
        return bytes;
    }
    for (std::size_t i = 0; i < image.size(); ++i) {
        const std::uint16_t half = f32_to_f16(image[i]);
        std::memcpy(bytes.data() + 2 * i, &half, 2);
    }
    return bytes;
}

} // namespace tessera::micro
