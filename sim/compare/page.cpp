// SPDX-License-Identifier: MIT
#include "sim/compare/page.h"

#include "sim/compare/report.h"
#include "sim/report/beside.h"
#include "sim/report/page.h"
#include "sim/result/result.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace tessera::compare {
namespace {

using Json = nlohmann::json;

report::Entry entry_of(Operand operand, const std::string& letter) {
    report::Entry entry = report::entry_of_file(std::move(operand.result), operand.source);
    entry.data["label"] = letter + ": " + entry.data["label"].get<std::string>();
    return entry;
}

/// The type `Comparison` of report/src/data.ts.
Json data_of(const Comparison& comparison) {
    Json data = comparison_json(comparison);
    for (std::size_t i = 0; i < comparison.groups.size(); ++i) {
        data["steps"][i]["members_a"] = comparison.groups[i].members_a;
        data["steps"][i]["members_b"] = comparison.groups[i].members_b;
    }
    return data;
}

} // namespace

std::string page_of(const Comparison& comparison, Operand a, Operand b) {
    std::vector<report::Entry> entries;
    entries.push_back(
        {{{"kind", "comparison"},
          {"label", "A beside B: " + comparison.name_a +
                        (comparison.name_b == comparison.name_a ? "" : ", " + comparison.name_b)},
          {"source", "A is " + a.source.string() + ", B is " + b.source.string()},
          {"comparison", data_of(comparison)},
          {"sides", {1, 2}}}}); // the numbers of the entries behind it
    entries.push_back(entry_of(std::move(a), "A"));
    entries.push_back(entry_of(std::move(b), "B"));
    return report::page_html(std::move(entries), result::kModelVersion);
}

} // namespace tessera::compare
