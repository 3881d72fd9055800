// SPDX-License-Identifier: MIT
// All points of a sweep, on several host threads.
#include "base/activity.h"
#include "base/config/read.h"
#include "base/error.h"
#include "sim/sweep/planner.h"

#include <algorithm>
#include <exception>
#include <map>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tessera::sweep {
namespace {

/// Which values have been right in some point, and the first mistakes of those that have not. Of
/// what has another value in every point, which paths.
class Mistakes {
public:
    explicit Mistakes(const SweepSpec& sweep) {
        for (const Axis& axis : sweep.axes) {
            if (!axis.stretch) {
                chosen_.insert(axis.paths.begin(), axis.paths.end());
            }
        }
    }

    void note(const PlannedPoint& point) {
        note("machine=" + point.machine, point);
        note("workload=" + point.workload, point);
        for (const Change& change : point.changes) {
            note(change.path + (chosen_.contains(change.path) ? "=" + change.value.dump() : ""),
                 point);
        }
    }

    void add(Mistakes&& other) {
        right_.merge(other.right_);
        first_mistakes_.merge(other.first_mistakes_);
    }

    void refuse_what_is_never_right() const {
        std::vector<Diagnostic> mistakes;
        for (const auto& [what, found] : first_mistakes_) {
            if (!right_.contains(what)) {
                mistakes.insert(mistakes.end(), found.begin(), found.end());
            }
        }
        std::sort(mistakes.begin(), mistakes.end(),
                  [](const auto& one, const auto& other) { return one.text() < other.text(); });
        const auto same = [](const auto& one, const auto& other) {
            return one.text() == other.text();
        };
        mistakes.erase(std::unique(mistakes.begin(), mistakes.end(), same), mistakes.end());
        config::throw_if_any(std::move(mistakes));
    }

private:
    void note(std::string what, const PlannedPoint& point) {
        if (!point.mistakes.empty()) {
            first_mistakes_.try_emplace(std::move(what), point.mistakes);
        } else if (!right_.contains(what)) {
            right_.insert(std::move(what));
        }
    }

    std::unordered_set<std::string> chosen_; ///< paths of axes with a list of values
    std::unordered_set<std::string> right_;
    std::map<std::string, std::vector<Diagnostic>> first_mistakes_;
};

/// A part of a plan: points that may come twice.
struct PlanPart {
    explicit PlanPart(const SweepSpec& sweep) : mode(sweep.mode), mistakes(sweep) {}

    void add(std::int64_t number, PlannedPoint point) {
        mistakes.note(point);
        if (!point.mistakes.empty()) {
            if (plan.invalid_examples.size() < kExamples) {
                plan.invalid_examples.push_back(std::move(point.mistakes.front()));
            }
            ++plan.invalid;
        } else if (point.is_excluded) {
            ++plan.excluded;
        } else {
            plan.points.push_back({number, point.key, name_of(point, mode)});
        }
    }

    static constexpr std::size_t kExamples = 3;
    std::string mode;
    Plan plan;
    Mistakes mistakes;
    std::exception_ptr failure;
};

} // namespace

Plan plan_points(const SweepSpec& sweep, const config::Document& document,
                 const config::ConfigPaths& paths, const PointKeys& keys, const Shard& shard) {
    PointKeys first_keys = keys;
    const std::int64_t size = Planner(sweep, document, paths, first_keys).size();
    const std::int64_t count =
        std::max<std::int64_t>(0, (size - shard.number + shard.of - 1) / shard.of);
    const Activity planning("planning points", count);
    constexpr std::int64_t kFewest = 1000; // that are worth a thread
    constexpr std::int64_t kMostThreads = 16;
    const auto threads = std::clamp<std::int64_t>(
        std::min<std::int64_t>(std::thread::hardware_concurrency(), count / kFewest), 1,
        kMostThreads);
    std::vector<PlanPart> parts(static_cast<std::size_t>(threads), PlanPart(sweep));
    const auto plan_part = [&](std::int64_t which) {
        PlanPart& part = parts[static_cast<std::size_t>(which)];
        try {
            PointKeys own_keys = keys;
            Planner planner(sweep, document, paths, own_keys);
            for (std::int64_t i = count * which / threads; i < count * (which + 1) / threads; ++i) {
                const std::int64_t number = shard.number + i * shard.of;
                part.add(number, planner.at(number));
                planning.step();
            }
        } catch (...) {
            part.failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    for (std::int64_t which = 1; which < threads; ++which) {
        others.emplace_back(plan_part, which);
    }
    plan_part(0);
    for (std::thread& other : others) {
        other.join();
    }
    Plan plan;
    Mistakes mistakes(sweep);
    std::unordered_map<PointKey, LineName, PointKey::Hash> seen;
    std::unordered_set<LineId, LineId::Hash> equal;
    for (PlanPart& part : parts) {
        if (part.failure != nullptr) {
            std::rethrow_exception(part.failure);
        }
        mistakes.add(std::move(part.mistakes));
        plan.excluded += part.plan.excluded;
        plan.invalid += part.plan.invalid;
        for (Diagnostic& example : part.plan.invalid_examples) {
            if (plan.invalid_examples.size() < PlanPart::kExamples) {
                plan.invalid_examples.push_back(std::move(example));
            }
        }
        for (const Plan::Point& point : part.plan.points) {
            const auto [known, is_new] = seen.try_emplace(point.key, point.name);
            if (is_new) {
                plan.points.push_back(point);
            } else if (known->second != point.name &&
                       equal.insert({point.key, point.name}).second) {
                plan.equal.push_back(point);
            }
        }
        part.plan.points = {};
    }
    if (shard.of == 1) {
        mistakes.refuse_what_is_never_right();
    }
    return plan;
}

} // namespace tessera::sweep
