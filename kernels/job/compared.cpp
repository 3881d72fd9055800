// SPDX-License-Identifier: MIT
#include "kernels/job/compared.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace tessera::job {
namespace {

/// The first byte in which the two differ, or nothing.
std::optional<std::size_t> first_difference(std::span<const std::byte> got,
                                            std::span<const std::byte> expected) {
    TESSERA_ASSERT(got.size() == expected.size());
    if (got.empty() ||
        std::memcmp(got.data(), expected.data(), got.size()) == 0) { // many times as fast
        return std::nullopt;
    }
    const auto at = std::mismatch(got.begin(), got.end(), expected.begin()).first;
    return at == got.end() ? std::nullopt
                           : std::optional(static_cast<std::size_t>(at - got.begin()));
}

} // namespace

void compare(const std::string& tensor, std::span<const std::byte> got,
             std::span<const std::byte> expected, Compared& compared) {
    compared.bytes += got.size();
    if (const auto at = first_difference(got, expected); at && compared.wrong.empty()) {
        compared.wrong = fmt::format("WRONG: tensor {}: byte {}: got {:#04x}, expected {:#04x}",
                                     tensor, *at, std::to_integer<unsigned>(got[*at]),
                                     std::to_integer<unsigned>(expected[*at]));
    }
}

CheckOutcome outcome_of(const Compared& compared) {
    CheckOutcome outcome;
    outcome.passed = compared.wrong.empty();
    outcome.text = outcome.passed ? fmt::format("exact: all {} bytes as expected", compared.bytes)
                                  : compared.wrong;
    outcome.json = {{"passed", outcome.passed},
                    {"exact_required", true},
                    {"bytes", compared.bytes},
                    {"sentence", outcome.text}};
    return outcome;
}

} // namespace tessera::job
