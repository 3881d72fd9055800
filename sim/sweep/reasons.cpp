// SPDX-License-Identifier: MIT
#include "sim/sweep/reasons.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

namespace tessera::sweep {
namespace {

constexpr std::size_t kLongestMessage = 300;

/// A message without its numbers.
std::string kind_of(const std::string& message) {
    std::string kind;
    for (const char c : message) {
        const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
        if (!is_digit || kind.empty() || kind.back() != '#') {
            kind += is_digit ? '#' : c;
        }
    }
    return kind;
}

} // namespace

void Reasons::add(const std::string& what, const std::string& message, const std::string& point) {
    ++count_;
    const std::string line = message.substr(0, message.find('\n'));
    Kind& kind = kinds_[what + '\n' + kind_of(line)];
    if (kind.count++ == 0) {
        kind.what = what;
        kind.message = cut(line, kLongestMessage);
        kind.point = point;
    }
}

std::vector<std::string> Reasons::lines(std::size_t most) const {
    std::vector<const Kind*> order;
    for (const auto& [key, kind] : kinds_) {
        order.push_back(&kind);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const Kind* one, const Kind* other) { return one->count > other->count; });
    std::vector<std::string> lines;
    std::size_t left = count_;
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
        const Kind& kind = *order[i];
        left -= kind.count;
        lines.push_back(fmt::format("{} {}{}{}{}{}", grouped(static_cast<std::int64_t>(kind.count)),
                                    kind.what, kind.point.empty() ? "" : ", as ", kind.point,
                                    kind.message.empty() ? "" : ": ", kind.message));
    }
    if (left > 0) {
        lines.push_back(fmt::format("{} for {}", grouped(static_cast<std::int64_t>(left)),
                                    counted(order.size() - most, "other reason")));
    }
    return lines;
}

} // namespace tessera::sweep
