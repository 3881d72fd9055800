// SPDX-License-Identifier: MIT
#include "sim/calibrate/groups.h"

#include "base/config/suggest.h"
#include "base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace tessera::sim::calibrate {
namespace {

constexpr Target kIssueModel{.error_most = 0.03};
constexpr Target kOnChip{.error_mean = 0.10, .error_p90 = 0.25};
constexpr Target kEach{.error_most = 0.25};
constexpr Target kNone{};

constexpr Target between(double low, double high, double p90) {
    return {.error_p90 = p90, .ratio_low = low, .ratio_high = high};
}

} // namespace

const std::vector<Group>& groups() {
    static const std::vector<Group> all{
        {"STREAM", kIssueModel, true},
        {"memory reads", kIssueModel},
        {"exchange: one word", kOnChip},
        {"exchange: pairs", kOnChip},
        {"exchange: broadcast", kOnChip},
        {"exchange: gather", kOnChip},
        {"exchange: long gather", kOnChip},
        {"exchange: scatter", kOnChip},
        {"exchange: long scatter", kOnChip},
        {"exchange: all to all", kOnChip},
        {"self copy", kNone},
        {"reduction", kOnChip},
        {"reduction: independent", kOnChip},
        {"sync", kNone},
        {"stencil: sync", kEach},
        {"stencil: exchange", kEach},
        {"stencil: copies", kEach},
        {"stencil: compute", kEach},
        {"stencil: iterations", kNone},
        {"remote buffer", kEach},
        {"remote buffer: rows", kEach},
        {"host", kEach},
        {"matrix-unit vertex", between(0.97, 1.03, 0.05)},
        {"dense FP16: n <= 256", between(0.85, 1.18, 0.30)},
        {"dense FP16: n > 256", between(0.92, 1.08, 0.20)},
        {"dense FP32: n <= 256", between(0.85, 1.18, 0.30)},
        {"dense FP32: n > 256", between(0.92, 1.08, 0.20)},
        {"static, element-wise: n < 256", kNone},
        {"static, element-wise: n >= 256", between(0.9, 1.1, 0.15)},
        {"static, blocks: n <= 16", between(0.75, 1.33, 0.45)},
        {"static, blocks: n >= 64", between(0.85, 1.18, 0.30)},
        {"static over dense", {.signs = 0.9}},
        {"GC2: 1x1 convolutions", kNone},
    };
    return all;
}

void check_group_name(const std::string& name) {
    std::vector<std::string> names;
    for (const Group& group : groups()) {
        if (name == group.name) {
            return;
        }
        names.emplace_back(group.name);
    }
    std::string hint = config::did_you_mean(name, names);
    throw ConfigError(Diagnostic{.file = "--group",
                                 .line = 0,
                                 .column = 0,
                                 .pointer = {},
                                 .message = fmt::format("no group '{}'", name),
                                 .hint = hint.empty()
                                             ? fmt::format("groups: {}", fmt::join(names, ", "))
                                             : std::move(hint)});
}

} // namespace tessera::sim::calibrate
