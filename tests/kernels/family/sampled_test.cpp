// SPDX-License-Identifier: MIT
// How near the gradient of a sparse matrix's values has to be to the host's: its tolerance, written down
// once more.
#include "base/float16.h"
#include "kernels/family/sampled.h"
#include "kernels/workload/overflow.h"
#include "kernels/workload/reference.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

using namespace tessera;

namespace {

using Numbers = std::vector<double>;

family::Value value_of(ElementType type, std::vector<std::int64_t> shape, const Numbers& numbers,
                       bool whole_numbers) {
    family::Value value{{type, std::move(shape)}, {}, whole_numbers};
    for (const double number : numbers) {
        std::array<std::byte, 4> bytes{};
        if (type == ElementType::F32) {
            const auto single = static_cast<float>(number);
            std::memcpy(bytes.data(), &single, 4);
        } else {
            const std::uint16_t half = f32_to_f16(static_cast<float>(number));
            std::memcpy(bytes.data(), &half, 2);
        }
        value.bytes.insert(value.bytes.end(), bytes.begin(), bytes.begin() + bytes_of(type));
    }
    return value;
}

/// dy 3 x n and x 5 x n, and a matrix of 3 x 5 in blocks of 2 with three of its six blocks: of the last
/// one, which is at the corner, one element is inside.
struct Scene {
    ElementType type = ElementType::F32;
    std::int64_t n = 7;
    std::shared_ptr<const workload::SparsePattern> pattern =
        std::make_shared<const workload::SparsePattern>(
            workload::SparsePattern{3, 5, 2, {0, 2, 3}, {0, 1, 2}});

    /// Numbers that types have exactly.
    [[nodiscard]] Numbers drawn(std::int64_t rows, int step) const {
        Numbers numbers;
        for (std::int64_t i = 0; i < rows * n; ++i) {
            numbers.push_back(static_cast<double>(i * step % 13 - 6) / 4);
        }
        return numbers;
    }
    [[nodiscard]] Numbers dy() const { return drawn(3, 5); }
    [[nodiscard]] Numbers x() const { return drawn(5, 7); }

    /// Row and column of each element, block after block.
    [[nodiscard]] static std::vector<std::pair<std::int64_t, std::int64_t>> places() {
        return {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {0, 3},
                {1, 2}, {1, 3}, {2, 4}, {2, 5}, {3, 4}, {3, 5}};
    }
    [[nodiscard]] Numbers products(std::size_t element) const {
        const auto [row, column] = places()[element];
        Numbers made;
        for (std::int64_t i = 0; i < n && row < 3 && column < 5; ++i) {
            made.push_back(dy()[static_cast<std::size_t>(row * n + i)] *
                           x()[static_cast<std::size_t>(column * n + i)]);
        }
        return made;
    }
    [[nodiscard]] double sum(std::size_t element) const {
        double sum = 0;
        for (const double product : products(element)) {
            sum += product;
        }
        return sum;
    }
    [[nodiscard]] family::Checked check(const Numbers& got, bool whole, bool half_products) const {
        const auto dense_dy = value_of(type, {3, n}, dy(), whole);
        const auto dense_x = value_of(type, {5, n}, x(), whole);
        const family::Value unread;
        const std::array<const family::Value*, 3> inputs{&unread, &dense_dy, &dense_x};
        auto output = value_of(type, {3, 5}, got, false);
        output.type.sparse = pattern;
        return family::compare_sampled(inputs, output, half_products);
    }
};

} // namespace

TEST_CASE("the gradient of values is right within its roundings, element by element",
          "[kernels][family]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        Scene scene;
        scene.type = type;
        Numbers exact;
        for (std::size_t element = 0; element < Scene::places().size(); ++element) {
            exact.push_back(scene.sum(element));
        }
        for (const bool whole : {false, true}) {
            for (const bool half_products : {false, true}) {
                const auto right = scene.check(exact, whole, half_products);
                CHECK(right.passed);
                CHECK(right.elements == 12);
                CHECK(right.max_error == 0);
                for (std::size_t element = 0; element < exact.size(); ++element) {
                    CAPTURE(name_of(type), whole, half_products, element);
                    double of_products = 0;
                    double magnitude = 0;
                    for (const double product : scene.products(element)) {
                        magnitude += std::fabs(product);
                        of_products +=
                            half_products ? workload::rounding(ElementType::F16, product) : 0;
                    }
                    const double before =
                        whole ? 0
                              : of_products + workload::single_precision_error(
                                                  scene.products(element).empty() ? 1 : scene.n) *
                                                  (magnitude + of_products);
                    const double allowed =
                        before + workload::rounding(type, std::fabs(exact[element]) + before);
                    Numbers got = exact;
                    got[element] += 0.25;
                    const auto wrong = scene.check(got, whole, half_products);
                    CHECK_FALSE(wrong.passed);
                    CHECK(wrong.failed_elements == 1);
                    CHECK(wrong.max_error == 0.25);
                    CHECK(wrong.max_error_over_tolerance == Approx(0.25 / allowed));
                }
            }
        }
    }
}
