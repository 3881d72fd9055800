// SPDX-License-Identifier: MIT
#include "sim/calibrate/groups.h"

#include "base/config/suggest.h"
#include "base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera::calibrate {
namespace {

constexpr Target kIssueModel{.error_mean = {}, .error_p90 = {}, .error_most = 0.03};
constexpr Target kOnChip{.error_mean = 0.10, .error_p90 = 0.25, .error_most = {}};
constexpr Target kEach{.error_mean = {}, .error_p90 = {}, .error_most = 0.25};
/// One word between two chips: the mean of the times' ratios, and nine rows of ten.
constexpr Target kBetweenChips{.error_mean = {},
                               .error_p90 = 0.08,
                               .error_most = {},
                               .ratio_mean = Range{.least = 0.95, .most = 1.05}};
/// Of each row.
constexpr Target each(double most) {
    return {.error_mean = {}, .error_p90 = {}, .error_most = most};
}
/// Rows that no mechanism of the model explains: printed and not judged.
constexpr Target kOpen{.error_mean = {}, .error_p90 = {}, .error_most = {}};
constexpr Group::Marks kRead{.read = true};
constexpr Group::Marks kChosen{.chosen = true};
constexpr Group::Marks kConstant{.constant = true};
constexpr Group::Marks kReadAndChosen{.read = true, .chosen = true};
constexpr Group::Marks kReadAndConstant{.read = true, .constant = true};

/// Of the geometric mean of the times' ratios, and of nine rows of ten.
constexpr Target times(double least, double most, double p90) {
    return {.error_mean = {},
            .error_p90 = p90,
            .error_most = {},
            .ratio_mean = Range{.least = least, .most = most}};
}

constexpr Target kSigns{
    .error_mean = {}, .error_p90 = {}, .error_most = {}, .ratio_mean = {}, .sign_share = 0.9};

/// Of speed-ups: in every row the same one is faster.
constexpr Target kDynamicOverStatic{.error_mean = {},
                                    .error_p90 = {},
                                    .error_most = {},
                                    .ratio_mean = Range{.least = 0.80, .most = 1.25},
                                    .sign_share = 1};
constexpr Target kDynamicOverDense{
    .error_mean = {}, .error_p90 = {}, .error_most = 0.25, .ratio_mean = {}, .sign_share = 1};

constexpr Target kAttentionOnTiles{.error_mean = {},
                                   .error_p90 = {},
                                   .error_most = {},
                                   .ratio_mean = Range{.least = 0.75, .most = 1.33}};
/// Of the best over n: no run may be faster by more than this.
constexpr Target ceiling(double most) {
    return {.error_mean = {}, .error_p90 = {}, .error_most = most};
}

/// Rows with an `allowed` difference: each is within it.
constexpr Target kWithinChance = each(0);

} // namespace

const std::vector<Group>& groups() {
    using Kind = Group::Kind;
    static const std::vector<Group> all{
        {"STREAM", kIssueModel, Kind::Micro, kRead},
        {"memory reads", kIssueModel, Kind::Micro, kRead},
        {"exchange: one word", kOnChip},
        {"exchange: pairs", kOnChip},
        {"exchange: broadcast", kOnChip, Kind::Micro, kReadAndChosen},
        {"exchange: gather", kOnChip, Kind::Micro, kChosen},
        {"exchange: long gather", kOnChip, Kind::Micro, kChosen},
        {"exchange: scatter", kOnChip, Kind::Micro, kChosen},
        {"exchange: long scatter", kOnChip, Kind::Micro, kChosen},
        {"exchange: all to all", kOnChip, Kind::Micro, kChosen},
        {"self copy", kOnChip},
        {"reduction", kOnChip, Kind::Micro, kRead},
        {"reduction: independent", kOnChip, Kind::Micro, kReadAndConstant},
        {"sync", kEach, Kind::Micro, kConstant},
        {"stencil: sync", kEach, Kind::Micro, kConstant},
        {"stencil: exchange", kEach, Kind::Micro, kRead},
        {"stencil: copies", kEach, Kind::Micro, kRead},
        {"stencil: compute", kEach, Kind::Micro, kRead},
        {"stencil: iterations", kEach},
        {"remote buffer", kEach, Kind::Micro, kConstant},
        {"remote buffer: rows", kEach, Kind::Micro, kConstant},
        {"host", kEach, Kind::Micro, kConstant},
        {"links: one word", kBetweenChips},
        {"links: near chips", each(0.12)},
        {"links: bulk", each(0.10)},
        {"links: words of all tiles", kOpen},
        {"links: random bulk", kOpen},
        {"matrix-unit vertex", times(0.97, 1.03, 0.05), Kind::Kernels},
        {"dense FP16: n <= 256", times(0.85, 1.18, 0.30), Kind::Kernels},
        {"dense FP16: n > 256", times(0.92, 1.08, 0.20), Kind::Kernels},
        {"dense FP32: n <= 256", times(0.85, 1.18, 0.30), Kind::Kernels},
        {"dense FP32: n > 256", times(0.92, 1.08, 0.20), Kind::Kernels},
        {"static: element-wise, n < 256", times(0.85, 1.18, 0.30), Kind::Kernels},
        {"static: element-wise, n >= 256", times(0.90, 1.10, 0.15), Kind::Kernels},
        {"static: blocks, n <= 16", times(0.75, 1.33, 0.45), Kind::Kernels},
        {"static: blocks, 16 < n < 64", times(0.75, 1.33, 0.45), Kind::Kernels},
        {"static: blocks, n >= 64", times(0.85, 1.18, 0.30), Kind::Kernels},
        {"static over dense: sign", kSigns, Kind::Signs},
        {"dense: best over n", ceiling(0.08), Kind::Ceilings},
        {"static: best over n", ceiling(0.15), Kind::Ceilings},
        {"dynamic: best over n", times(0.75, 1.33, 0.40), Kind::Kernels},
        {"dynamic over static", kDynamicOverStatic, Kind::Kernels},
        {"dynamic over dense", kDynamicOverDense, Kind::Kernels},
        {"GC2: 1x1 convolutions", times(0.85, 1.18, 0.30), Kind::Kernels},
        {"GC2: GEMM peaks", times(0.92, 1.08, 0.20), Kind::Kernels},
        {"attention on tiles", kAttentionOnTiles, Kind::Models},
        {"attention from streaming memory", times(0.9, 1.1, 0.20), Kind::Models, kConstant},
        {"SparQ attention", times(0.9, 1.1, 0.20), Kind::Models, kConstant},
        {"BERT-Large stage", kOpen, Kind::Models},
        {"top-k recall", kWithinChance, Kind::Models},
    };
    return all;
}

const Group& group_of(const std::string& name) {
    const auto found = std::find_if(groups().begin(), groups().end(),
                                    [&](const Group& group) { return name == group.name; });
    TESSERA_ASSERT(found != groups().end());
    return *found;
}

bool is_in(const std::string& group, const std::string& asked) {
    const Group::Kind kind = group_of(group).kind;
    if (asked == kLinkGroups) {
        return group.starts_with("links: ");
    }
    return group == asked || asked == (kind == Group::Kind::Micro    ? kMicroGroups
                                       : kind == Group::Kind::Models ? kModelGroups
                                                                     : kKernelGroups);
}

void check_group_name(const std::string& name) {
    if (name == kMicroGroups || name == kKernelGroups || name == kModelGroups ||
        name == kLinkGroups) {
        return;
    }
    std::vector<std::string> names{kMicroGroups, kKernelGroups, kModelGroups, kLinkGroups};
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

} // namespace tessera::calibrate
