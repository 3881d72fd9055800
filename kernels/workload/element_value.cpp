// SPDX-License-Identifier: MIT
#include "kernels/workload/element_value.h"

#include "base/float16.h"
#include "base/float8.h"
#include "kernels/workload/half.h"

#include <bit>
#include <cstdint>

namespace tessera::workload {

double element_value(ElementType type, const std::byte* bytes) {
    const auto width = 8 * static_cast<unsigned>(bytes_of(type));
    std::uint32_t bits = 0;
    for (unsigned at = 0; at < width; at += 8) {
        bits |= std::to_integer<std::uint32_t>(bytes[at / 8]) << at;
    }
    switch (facts_of(type).kind) {
    case ElementFacts::Kind::Float:
        return type == ElementType::F32   ? std::bit_cast<float>(bits)
               : type == ElementType::F16 ? f16_to_f32(static_cast<std::uint16_t>(bits))
                                          : f8_to_f32(static_cast<std::uint8_t>(bits), type);
    case ElementFacts::Kind::Signed:
        return static_cast<std::int32_t>(bits << (32 - width)) >> (32 - width);
    case ElementFacts::Kind::Unsigned:
    case ElementFacts::Kind::Bool:
        break;
    }
    return bits;
}

void append_element(ElementType type, double number, std::vector<std::byte>& bytes) {
    const auto bits =
        !is_float(type)            ? static_cast<std::uint32_t>(static_cast<std::int64_t>(number))
        : type == ElementType::F32 ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
        : type == ElementType::F16 ? f64_to_f16(number)
                                   : f32_to_f8(static_cast<float>(number), type);
    for (Bytes at = 0; at < bytes_of(type); ++at) {
        bytes.push_back(static_cast<std::byte>(bits >> (8 * static_cast<unsigned>(at))));
    }
}

} // namespace tessera::workload
