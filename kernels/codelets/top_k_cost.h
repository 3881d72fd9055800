// SPDX-License-Identifier: MIT
// Worker issues of top_k_words.S and top_k_pairs.S, and the supervisor's loop over the stages of a network.
// tests/kernels/codelets/codelet_cost_test.cpp counts them in the assembled codelets.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/codelets/supervisor_timeline.h"

#include <cstdint>
#include <span>

namespace tessera::codelets {

/// How elements are stored: a key and the complement of an index.
enum class TopKElement {
    Word, ///< both in one word, of FP16 values with indices below 65536
    Pair  ///< a word each
};
[[nodiscard]] constexpr Bytes bytes_of(TopKElement element) {
    return element == TopKElement::Word ? 4 : 8;
}

/// Around both loops of a vertex of keys.
[[nodiscard]] constexpr std::int64_t top_k_keys_frame(ElementType type) {
    return type == ElementType::F16 ? 27 : 29;
}
[[nodiscard]] constexpr std::int64_t top_k_key(TopKElement element) {
    return element == TopKElement::Word ? 9 : 8;
}
/// An element that no value has.
[[nodiscard]] constexpr std::int64_t top_k_other(TopKElement element) {
    return element == TopKElement::Word ? 1 : 2;
}

constexpr std::int64_t kTopKSortFrame = 19;
constexpr std::int64_t kTopKHalveFrame = 21;
/// A comparison of a stage.
[[nodiscard]] constexpr std::int64_t top_k_comparison(TopKElement element, bool halves) {
    return element == TopKElement::Word ? (halves ? 8 : 10) : (halves ? 16 : 21);
}

constexpr std::int64_t kTopKResultsFrame = 18;
/// A unit of results: two values of FP16, one of FP32.
[[nodiscard]] constexpr std::int64_t top_k_result(ElementType type) {
    return type == ElementType::F16 ? 16 : 8;
}
[[nodiscard]] constexpr std::int64_t top_k_results_in_unit(ElementType type) {
    return type == ElementType::F16 ? 2 : 1;
}

/// A worker's part of a vertex of keys, of a stage, and of a vertex of results.
[[nodiscard]] constexpr std::int64_t top_k_keys_issues(TopKElement element, ElementType type,
                                                       std::int64_t values, std::int64_t others) {
    return top_k_keys_frame(type) + values * top_k_key(element) + others * top_k_other(element);
}
[[nodiscard]] constexpr std::int64_t top_k_stage_issues(TopKElement element, bool halves,
                                                        std::int64_t comparisons) {
    return (halves ? kTopKHalveFrame : kTopKSortFrame) +
           comparisons * top_k_comparison(element, halves);
}
[[nodiscard]] constexpr std::int64_t top_k_results_issues(ElementType type, std::int64_t units) {
    return kTopKResultsFrame + units * top_k_result(type);
}

/// A stage of a network: comparisons that do not depend on each other.
struct TopKStage {
    bool halves = false;          ///< keeps the larger element of each pair, elsewhere
    std::int64_t distance = 1;    ///< a power of two; see top_k.inc. In elements
    std::int64_t partner = 1;     ///< in elements
    std::int64_t comparisons = 0; ///< of all workers
};

/// A vertex top_k_select_words or _pairs, from its first instruction to its return.
void run_top_k_select(SupervisorTimeline& time, TopKElement element,
                      std::span<const TopKStage> stages);

} // namespace tessera::codelets
