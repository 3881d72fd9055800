// SPDX-License-Identifier: MIT
// Recall of selections by buckets, on rows whose elements are all different.
#include "base/error.h"
#include "sim/calibrate/rules.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

/// So that the standard error is a few hundredths at most, and the run short.
constexpr std::int64_t kElements = 1'000'000;
constexpr std::int64_t kMostRows = 64;
constexpr double kStandardErrors = 3;
constexpr double kLeastAllowed = 0.01;

/// Of the only step of a result, whose check tells it.
double recall_of(const json& result) {
    constexpr std::string_view kWord = "recall ";
    const std::string sentence = result.at("check").at("steps").at(0).at("sentence");
    const auto at = sentence.find(kWord);
    if (at == std::string::npos) {
        throw IoError("the result tells no recall: " + sentence);
    }
    return std::strtod(sentence.c_str() + at + kWord.size(), nullptr);
}

/// The mean of the row's repetitions and that of the run's rows: both are drawn.
Mapped recall(const ReferenceRow& row, const RowMachine& machine) {
    const std::int64_t n = needed(row, "n");
    const std::int64_t rows = std::clamp<std::int64_t>(kElements / n, 1, kMostRows);
    const auto deviation = row.number("std");
    const auto repetitions = static_cast<double>(needed(row, "repetitions"));
    if (!deviation) {
        throw row.error("std", "column 'std': expected the standard deviation of a repetition");
    }
    Measurement measurement;
    measurement.timed = "recall of all rows";
    measurement.runs = {{machine.name, machine.sets,
                         workload_of("top_k", {{"n", n},
                                               {"rows", rows},
                                               {"k", needed(row, "k")},
                                               {"buckets", needed(row, "buckets")},
                                               {"kept", needed(row, "kept")},
                                               {"dtype", "f32"},
                                               {"values", "shuffled"}})}};
    const double unit = unit_in(row, "1");
    measurement.read = [unit](const std::vector<json>& results) {
        return recall_of(results[0]) / unit;
    };
    const double error = *deviation * std::sqrt(1 / repetitions + 1 / static_cast<double>(rows));
    measurement.allowed = std::max(kStandardErrors * error, kLeastAllowed);
    return measurement;
}

} // namespace

const std::vector<Rule>& recall_rules() {
    static const std::vector<Rule> rules{
        {"top-k recall", {{"workload", {"top-k", "buckets"}}, {"metric", {"recall"}}}, recall},
    };
    return rules;
}

} // namespace tessera::calibrate
