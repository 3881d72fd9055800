// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "sim/result/estimate_gap.h"
#include "sim/result/result.h"
#include "sim/result/result_head.h"
#include "sim/result/result_values.h"

#include <algorithm>
#include <functional>
#include <string>

namespace tessera::result {
namespace {

using enum Unit;

const EstimateGap& gap_of(const std::string& family) {
    const auto* const found =
        std::find_if(kEstimateGaps.begin(), kEstimateGaps.end(),
                     [&](const EstimateGap& gap) { return gap.family == family; });
    TESSERA_ASSERT(found != kEstimateGaps.end()); // every family with closed forms is measured
    return *found;
}

Table<EstimateGap> gap_table() {
    using Gap = EstimateGap;
    return {{"rows", Count, "products that were measured", &Gap::rows},
            {"mean", Fraction, "geometric mean", &Gap::mean},
            {"least", Fraction, "rounded down", &Gap::least},
            {"most", Fraction, "rounded up", &Gap::most},
            {"worst", Fraction, "least or most, whichever is farther from 1",
             [](const Gap& gap) { return gap.worst(); }}};
}

Table<EstimateFacts> estimate_table() {
    using Facts = EstimateFacts;
    return {{"family", Word, "whose closed forms they are",
             [](const Facts& facts) { return facts.estimate.family; }},
            {"gap", "estimated cycles over those of timing mode, over products of the family",
             gap_table(), [](const Facts& facts) { return gap_of(facts.estimate.family); }}};
}

Table<EstimateFacts> host_table() {
    using Facts = EstimateFacts;
    return {
        {"plan_s", Second, "pattern and search",
         [](const Facts& facts) { return facts.host.plan_s; }},
        {"wall_s", Second, "all of it", [](const Facts& facts) { return facts.host.wall_s; }},
        {"threads", Count, "host threads", [](const Facts& facts) { return facts.host.threads; }},
        {"peak_rss_bytes", Byte, "of the process", [](const Facts&) { return peak_rss_bytes(); }}};
}

Table<EstimateFacts> result_table() {
    using Facts = EstimateFacts;
    return with_head<Facts>(
        {{"mode", {{"const", "estimate"}}, [](const Facts&) { return "estimate"; }},
         {"cycles", Cycle, "that closed forms expect: the sum of compute, exchange and sync",
          [](const Facts& facts) { return facts.estimate.predicted.total(); }},
         {"plan",
          {{"type", "object"}, {"description", "what comes first by closed forms"}},
          [](const Facts& facts) { return facts.estimate.plan; }},
         {"estimate", "of --mode estimate", estimate_table(), std::identity{}},
         {"host", "what the host spent; the only part that differs between equal estimates",
          host_table(), std::identity{}}},
        [](const Facts& facts) {
            return HeadFacts{facts.machine,
                             facts.machine_resolved,
                             facts.unused_parameters,
                             facts.workload_name,
                             facts.workload_resolved,
                             facts.job,
                             facts.estimate.predicted.total()};
        });
}

} // namespace

nlohmann::json make_result(const EstimateFacts& facts) {
    return result_table().values(facts);
}

nlohmann::json estimate_schema() {
    return result_table().schema("what an estimate found");
}

} // namespace tessera::result
