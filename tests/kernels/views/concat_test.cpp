// SPDX-License-Identifier: MIT
#include "kernels/family/numbers.h"
#include "kernels/views/views.h"
#include "tests/kernels/family/matrix_step.h"

#include <array>
#include <string>
#include <vector>

namespace {

using namespace tessera;

std::string refusal_of(const family::TensorType& x, const family::TensorType& y) {
    try {
        static_cast<void>(views::concat().make({{x, y}, {}}));
    } catch (const family::Refused& refused) {
        CHECK(refused.input == 1);
        return refused.what();
    }
    return {};
}

} // namespace

TEST_CASE("the rows of two tensors are one behind the other", "[kernels][views]") {
    const family::TensorType first{ElementType::F16, {3, 2, 5}};
    const family::TensorType second{ElementType::F16, {4, 2, 5}};
    const auto step = views::concat().make({{first, second}, {}});
    CHECK(step->output().shape == std::vector<std::int64_t>{3 + 4, 2, 5});
    const auto x = test::random_value(first, 1);
    const auto y = test::random_value(second, 2);
    family::Value both{step->output(), x.bytes};
    both.bytes.insert(both.bytes.end(), y.bytes.begin(), y.bytes.end());
    const std::array<const family::Value*, 2> inputs{&x, &y};
    CHECK(step->check(inputs, both, 1).passed);
    both.bytes[x.bytes.size()] ^= std::byte{1};
    CHECK(step->check(inputs, both, 1).failed_elements == 1);
}

TEST_CASE("tensors of other types or sizes are not one behind the other", "[kernels][views]") {
    const family::TensorType x{ElementType::F32, {3, 5}};
    CHECK(refusal_of(x, {ElementType::F32, {1, 5}}).empty());
    const std::string expected = ", expected one type, and equal sizes but for the first";
    CHECK(refusal_of(x, {ElementType::F16, {1, 5}}) == "got f32 3 x 5 and f16 1 x 5" + expected);
    CHECK(refusal_of(x, {ElementType::F32, {1, 4}}) == "got f32 3 x 5 and f32 1 x 4" + expected);
    CHECK(refusal_of(x, {ElementType::F32, {5}}) == "got f32 3 x 5 and f32 5" + expected);
}
