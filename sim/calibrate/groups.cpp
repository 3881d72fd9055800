// SPDX-License-Identifier: MIT
#include "sim/calibrate/groups.h"

#include "base/config/suggest.h"
#include "base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace tessera::sim::calibrate {
namespace {

constexpr Target kIssueModel{.error_mean = {}, .error_p90 = {}, .error_most = 0.03};
constexpr Target kOnChip{.error_mean = 0.10, .error_p90 = 0.25, .error_most = {}};
constexpr Target kEach{.error_mean = {}, .error_p90 = {}, .error_most = 0.25};
constexpr Target kNone{};

} // namespace

const std::vector<Group>& groups() {
    static const std::vector<Group> all{
        {"STREAM", kIssueModel},
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

std::string calibrated_parameter(const std::string& row_id) {
    static const std::map<std::string, std::string> parameters{
        {"JIA-T4.8-01", "the fixed part of the exchange tables"},
        {"JIA-T4.16-00", "the fixed part of sums"},
        {"JIA-T4.18-00", "the fixed part of independent sums"},
        {"JIA-T4.19-00", "the latency of GC2's host link"},
        {"JIA-T4.20-09", "the rate of GC2's host link"},
        {"MEM-triad-FP32-naive", "the size of arrays in rows without one"},
        {"SQ-attn-remote-B1-S65536", "the latency of streaming memory"},
        {"SQ-attn-remote-B64-S1024", "the rate of streaming memory"}};
    const auto found = parameters.find(row_id);
    return found == parameters.end() ? std::string{} : found->second;
}

} // namespace tessera::sim::calibrate
