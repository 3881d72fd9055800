// SPDX-License-Identifier: MIT
#include "sim/compare/comparison.h"

#include "sim/result/result_file.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <re2/re2.h>
#include <tuple>
#include <utility>

namespace tessera::compare {
namespace {

using Json = nlohmann::json;
using result::number_at;

/// How many chunks a step's work is cut into is the plan's choice, no other step.
std::string without_chunks(std::string name) {
    static const RE2 chunk(R"( (chunk|round|part) \d+)");
    RE2::GlobalReplace(&name, chunk, R"( \1s)");
    return name;
}

/// The parts of the cycles that steps of a group have of the run, and how much they did for them.
struct Parts {
    std::int64_t steps = 0;
    double cycles = 0;
    double work = 0; ///< mean over all tiles; an exchange's bound; what a copy is waited for
    double unused_tiles = 0;
    double uneven_splits = 0;
    double unequal_workers = 0;
    double overhead = 0;
    double amount = 0;                ///< issues of compute sets, bytes of the others
    std::vector<std::size_t> members; ///< of the result's list of their kind

    void add(const Parts& other) {
        steps += other.steps;
        for (const auto part :
             {&Parts::cycles, &Parts::work, &Parts::unused_tiles, &Parts::uneven_splits,
              &Parts::unequal_workers, &Parts::overhead, &Parts::amount}) {
            this->*part += other.*part;
        }
    }
};

/// The same as `explanation` of a result says of all compute sets together.
Parts parts_of_compute_set(const Json& step, double tiles) {
    Parts out{.steps = 1, .cycles = number_at(step, "/cycles")};
    out.work = std::min(out.cycles, number_at(step, "/tile_cycles/mean"));
    const double of_active = std::min(out.cycles, number_at(step, "/mean_cycles"));
    const double active = std::max(1.0, number_at(step, "/active_tiles"));
    const double unequal = number_at(step, "/critical_busiest_worker_cycles") -
                           number_at(step, "/critical_mean_worker_cycles") -
                           tiles / active *
                               (number_at(step, "/busiest_worker_cycles/mean") -
                                number_at(step, "/mean_worker_cycles/mean"));
    out.unused_tiles = std::max(0.0, of_active - out.work);
    out.unequal_workers = std::clamp(unequal, 0.0, std::max(0.0, out.cycles - of_active));
    out.uneven_splits = out.cycles - out.work - out.unused_tiles - out.unequal_workers;
    out.amount = number_at(step, "/worker_issues");
    return out;
}

Parts parts_of(const std::string& kind, const Json& step, double tiles) {
    if (kind == "compute_set") {
        return parts_of_compute_set(step, tiles);
    }
    Parts out{.steps = 1, .cycles = number_at(step, "/cycles")};
    out.work = kind == "exchange" ? std::min(out.cycles, number_at(step, "/critical_bound_cycles"))
                                  : out.cycles;
    out.overhead = out.cycles - out.work;
    out.amount = number_at(step, "/bytes");
    return out;
}

using Key = std::tuple<std::string, std::string, std::string>; // kind, role, name

/// The groups of a result, and the order in which they come.
struct Groups {
    std::map<Key, Parts> parts;
    std::vector<Key> order;
};

Groups groups_of(const Json& document) {
    Groups out;
    const double tiles = number_at(document, "/machine/chip/tiles");
    for (const auto& [list, kind] : result::kStepLists) {
        std::size_t number = 0;
        for (const Json& step : result::list_at(document, list)) {
            const Key key{kind, result::text_at(step, "/role"),
                          without_chunks(result::text_at(step, "/name"))};
            const auto [found, is_new] = out.parts.try_emplace(key);
            found->second.add(parts_of(kind, step, tiles));
            found->second.members.push_back(number++);
            if (is_new) {
                out.order.push_back(key);
            }
        }
    }
    return out;
}

/// The change from `before` to `after` of what is `amount` times its cost: first the amount at its
/// old cost, then the cost.
void add_product(Cycles& change, Reason amount, Reason cost, double before, double after,
                 double amount_before, double amount_after) {
    const double of_amount =
        amount_before > 0 && amount_after > 0 ? before * (amount_after / amount_before - 1) : 0;
    change.at(amount) += of_amount;
    change.at(cost) += after - before - of_amount;
}

Cycles change_of(const std::string& kind, const Parts& a, const Parts& b) {
    Cycles change;
    if (a.steps == 0 || b.steps == 0) {
        change.at(Reason::StepsOnlyOfA) = -a.cycles;
        change.at(Reason::StepsOnlyOfB) = b.cycles;
        return change;
    }
    const auto [amount, cost] = kind == "compute_set" ? std::pair{Reason::Issues, Reason::IssueTime}
                                : kind == "exchange"  ? std::pair{Reason::Words, Reason::WordTime}
                                : kind == "stream"
                                    ? std::pair{Reason::StreamBytes, Reason::StreamTime}
                                    : std::pair{Reason::LinkBytes, Reason::LinkTime};
    add_product(change, amount, cost, a.work, b.work, a.amount, b.amount);
    change.at(Reason::UnusedTiles) = b.unused_tiles - a.unused_tiles;
    change.at(Reason::UnevenSplits) = b.uneven_splits - a.uneven_splits;
    change.at(Reason::UnequalWorkers) = b.unequal_workers - a.unequal_workers;
    change.at(Reason::ExchangeOverhead) = b.overhead - a.overhead;
    return change;
}

void compare_steps(const Json& a, const Json& b, Comparison& out) {
    const Groups before = groups_of(a);
    const Groups after = groups_of(b);
    std::vector<Key> keys = before.order;
    std::copy_if(after.order.begin(), after.order.end(), std::back_inserter(keys),
                 [&](const Key& key) { return !before.parts.contains(key); });
    double steps_a = 0;
    double steps_b = 0;
    for (const Key& key : keys) {
        const auto one = before.parts.find(key);
        const auto other = after.parts.find(key);
        const Parts parts_a = one == before.parts.end() ? Parts{} : one->second;
        const Parts parts_b = other == after.parts.end() ? Parts{} : other->second;
        const auto& [kind, role, name] = key;
        Group group{kind,
                    name,
                    parts_a.steps,
                    parts_b.steps,
                    parts_a.cycles,
                    parts_b.cycles,
                    change_of(kind, parts_a, parts_b),
                    parts_a.members,
                    parts_b.members};
        steps_a += group.a;
        steps_b += group.b;
        out.change.add(group.change);
        out.groups.push_back(std::move(group));
    }
    const double sync_a = number_at(a, "/phases/sync");
    const double sync_b = number_at(b, "/phases/sync");
    add_product(out.change, Reason::Barriers, Reason::BarrierTime, sync_a, sync_b,
                number_at(a, "/counts/barriers"), number_at(b, "/counts/barriers"));
    out.change.at(Reason::Control) += (out.b - steps_b - sync_b) - (out.a - steps_a - sync_a);
    std::erase_if(out.groups,
                  [](const Group& group) { return group.change.largest_first().empty(); });
    std::stable_sort(out.groups.begin(), out.groups.end(),
                     [](const Group& one, const Group& other) {
                         return std::fabs(one.b - one.a) > std::fabs(other.b - other.a);
                     });
}

void collect_leaves(const std::string& path, const Json& value, std::map<std::string, Json>& out) {
    if (value.is_object()) {
        for (const auto& [key, inner] : value.items()) {
            collect_leaves(path.empty() ? key : path + "." + key, inner, out);
        }
    } else {
        out[path] = value;
    }
}

/// Values of machine and workload, by the paths of --set.
std::map<std::string, Json> settings_of(const Json& document) {
    std::map<std::string, Json> out;
    Json machine = document.value("machine", Json::object());
    Json workload = document.value("workload", Json::object());
    for (Json* const config : {&machine, &workload}) {
        if (config->is_object()) {
            config->erase("description");
            config->erase("schema_version");
        }
    }
    out["machine"] = result::text_at(document, "/machine/name");
    out["workload"] = result::text_at(document, "/workload/name");
    for (Json* const config : {&machine, &workload}) {
        if (config->is_object()) {
            config->erase("name");
        }
    }
    collect_leaves("", machine, out);
    collect_leaves("workload", workload, out);
    return out;
}

/// Values that are not the same, by path.
std::vector<Setting> differences(const std::map<std::string, Json>& before,
                                 const std::map<std::string, Json>& after) {
    std::vector<Setting> out;
    for (const auto& [path, value] : before) {
        const auto other = after.find(path);
        if (other == after.end() || other->second != value) {
            out.push_back({path, value, other == after.end() ? Json() : other->second});
        }
    }
    for (const auto& [path, value] : after) {
        if (!before.contains(path)) {
            out.push_back({path, Json(), value});
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const Setting& one, const Setting& other) {
        return one.path < other.path;
    });
    return out;
}

std::map<std::string, Json> plan_of(const Json& document) {
    std::map<std::string, Json> leaves;
    collect_leaves("plan", document.value("plan", Json::object()), leaves);
    std::erase_if(leaves, [](const auto& leaf) { return leaf.second.is_array(); });
    return leaves;
}

/// Figures that people ask for.
constexpr std::array kFigures{"cycles",
                              "seconds",
                              "phases.compute",
                              "phases.exchange",
                              "phases.sync",
                              "phases.stream",
                              "phases.link",
                              "flops",
                              "tflops",
                              "fraction_of_peak",
                              "gbytes_per_s",
                              "tiles_busy",
                              "memory.max_bytes",
                              "memory.mean_bytes",
                              "energy.total_j",
                              "energy.mean_w",
                              "energy.pj_per_flop",
                              "area.total_mm2",
                              "activity.instructions",
                              "activity.exchange_bytes"};

void compare_figures(const Json& a, const Json& b, Comparison& out) {
    for (const char* const path : kFigures) {
        std::string pointer = std::string("/") + path;
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        const Json::json_pointer at(pointer);
        if (a.contains(at) && b.contains(at) && a.at(at).is_number() && b.at(at).is_number()) {
            out.figures.push_back({path, a.at(at).get<double>(), b.at(at).get<double>()});
        }
    }
}

std::string name_of(const Json& document) {
    return result::text_at(document, "/workload/name") + " on " +
           result::text_at(document, "/machine/name");
}

bool has_steps(const Json& result) {
    return result.contains("compute_sets") && result.contains("exchanges");
}

} // namespace

double Cycles::sum() const {
    return std::accumulate(by_reason.begin(), by_reason.end(), 0.0);
}

void Cycles::add(const Cycles& other) {
    for (std::size_t i = 0; i < by_reason.size(); ++i) {
        by_reason[i] += other.by_reason[i];
    }
}

std::vector<Reason> Cycles::largest_first() const {
    constexpr double kNothing = 0.5; // cycles
    std::vector<Reason> reasons;
    for (std::size_t i = 0; i < by_reason.size(); ++i) {
        if (std::fabs(by_reason[i]) >= kNothing) {
            reasons.push_back(static_cast<Reason>(i));
        }
    }
    std::stable_sort(reasons.begin(), reasons.end(), [&](Reason one, Reason other) {
        return std::fabs(at(one)) > std::fabs(at(other));
    });
    return reasons;
}

Comparison compare(const Json& a, const Json& b) {
    Comparison out;
    out.name_a = name_of(a);
    out.name_b = name_of(b);
    out.a = number_at(a, "/cycles");
    out.b = number_at(b, "/cycles");
    out.settings = differences(settings_of(a), settings_of(b));
    out.plan = differences(plan_of(a), plan_of(b));
    compare_figures(a, b, out);
    out.has_steps = has_steps(a) && has_steps(b);
    if (out.has_steps) {
        compare_steps(a, b, out);
    }
    return out;
}

} // namespace tessera::compare
