// SPDX-License-Identifier: MIT
#include "kernels/elementwise/backward.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/map.h"
#include "kernels/family/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace tessera::elementwise {

using family::Family;
using family::Refused;
using family::Request;

namespace {

/// A number without its fraction, or the nearest one that the type has; of no number 0.
double whole_of(ElementType type, double number) {
    const bool is_signed = type == ElementType::I32;
    const double least = is_signed ? -0x1p31 : 0;
    const double most = is_signed ? 0x1p31 - 1 : 0x1p32 - 1;
    return std::isnan(number) ? 0 : std::clamp(std::trunc(number), least, most);
}

/// Takes the bits of a whole number as one of the other type.
double same_bits(ElementType to, double number) {
    const auto bits = static_cast<std::uint32_t>(static_cast<std::int64_t>(number));
    return to == ElementType::U32 ? static_cast<double>(bits)
                                  : static_cast<double>(static_cast<std::int32_t>(bits));
}

/// The function that makes one type of another. @throws Refused where there is none
function::Function cast_of(ElementType from, ElementType to) {
    const bool is_number = is_float(from) && is_float(to);
    const bool is_whole = !is_float(from) && !is_float(to);
    const bool has_single = from == ElementType::F32 || to == ElementType::F32;
    if (from == to || (!is_number && !is_whole && !has_single)) {
        throw Refused(-1, "to",
                      fmt::format("got {}, expected another type than that of x{}",
                                  tessera::name_of(to),
                                  from == to ? "" : ", by f32 between f16 and whole numbers"));
    }
    function::Function made{
        .name = "cast",
        .codelet = is_number ? "elementwise_cast" : "elementwise_cast_whole",
        .vertex = fmt::format("cast_{}_{}", tessera::name_of(from), tessera::name_of(to)),
        .loop = codelets::kToWholeLoop,
        .flops = 0,
        .value = [](double element, double) { return element; }};
    if (is_number) {
        const bool widens = to == ElementType::F32;
        made.loop = widens ? codelets::kWidenLoop : codelets::kNarrowLoop;
        made.tolerance = widens ? nullptr : function::one_rounding(to);
    } else if (is_whole) {
        made.vertex = "cast_words";
        made.loop = codelets::kWordsLoop;
        made.value = [to](double element, double) { return same_bits(to, element); };
    } else if (to == ElementType::F32) {
        made.loop = codelets::kFromWholeLoop;
        made.tolerance = function::one_rounding(to);
    } else {
        made.value = [to](double element, double) { return whole_of(to, element); };
    }
    return made;
}

std::unique_ptr<family::Step> make_cast(const Request& request) {
    static constexpr std::array kTypes{ElementType::F16, ElementType::F32, ElementType::I32,
                                       ElementType::U32};
    family::require_numbers(request, 0, "x", kTypes);
    const family::TensorType& x = request.inputs[0];
    family::TensorType out = x;
    out.type = find_element_type(word_of(cast(), request, "to"))->type;
    return std::make_unique<Map>(cast_of(x.type, out.type), std::vector{x}, out, std::vector{"x"});
}

} // namespace

const Family& cast() {
    static const Family family = family::with_gradient(
        Family{"cast",
               "x as another type; whole numbers from f32 and to it, without a fraction",
               {"x"},
               {{.key = "to",
                 .says = "the other type",
                 .words = {"f16", "f32", "i32", "u32"},
                 .word = "f16"}},
               make_cast},
        cast_backward);
    return family;
}

} // namespace tessera::elementwise
