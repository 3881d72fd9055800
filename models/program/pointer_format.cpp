// SPDX-License-Identifier: MIT
#include "models/program/pointer_format.h"

#include "base/error.h"

#include <fmt/format.h>

namespace tessera::program {

std::string pointer_mistake(PointerFormat format, const PointerTarget& target) {
    const PointerFacts& facts = facts_of(format);
    const std::int64_t base = facts.relative ? target.base : 0;
    const std::int64_t unit = facts.relative ? target.unit : 1;
    const std::int64_t bytes = target.address - base;
    if (bytes < 0 || bytes % unit != 0 || bytes / unit > largest_offset(format)) {
        return facts.relative
                   ? fmt::format("got address {:#x} from base {:#x}, expected a multiple of {} B "
                                 "above it, of {} bits",
                                 target.address, base, unit, facts.address_bits)
                   : fmt::format("got address {:#x}, expected one of {} bits", target.address,
                                 facts.address_bits);
    }
    if (target.length < 0 || target.length > largest_length(format)) {
        return fmt::format("got a length of {} elements, expected 0..{}", target.length,
                           largest_length(format));
    }
    return {};
}

std::uint64_t pack_pointer(PointerFormat format, const PointerTarget& target,
                           std::string_view what) {
    if (const std::string mistake = pointer_mistake(format, target); !mistake.empty()) {
        throw ProgramError(fmt::format("{}: {}", what, mistake));
    }
    const PointerFacts& facts = facts_of(format);
    const std::int64_t offset =
        facts.relative ? (target.address - target.base) / target.unit : target.address;
    const auto length = static_cast<std::uint64_t>(target.length);
    return static_cast<std::uint64_t>(offset) |
           (facts.length_bits == 0 ? 0 : length << static_cast<unsigned>(facts.address_bits));
}

} // namespace tessera::program
