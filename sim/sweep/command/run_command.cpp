// SPDX-License-Identifier: MIT
#include "base/config/json_text.h"
#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "sim/process/exit_code.h"
#include "sim/process/screen.h"
#include "sim/process/work_progress.h"
#include "sim/result/result.h"
#include "sim/run/warm_worker.h"
#include "sim/sweep/command/check.h"
#include "sim/sweep/command/commands.h"
#include "sim/sweep/command/record.h"
#include "sim/sweep/command/standing.h"
#include "sim/sweep/command/tell_damage.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/outcome.h"
#include "sim/sweep/planner.h"
#include "sim/sweep/source.h"
#include "sim/sweep/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Points that a warm worker is given at a time: what they share is made once for all of them, and
/// each holds its configuration meanwhile.
constexpr std::size_t kAtATime = 512;

/// Runs of a point whose child was killed from outside, before that is its result.
constexpr int kMostKills = 3;

/// Points of one plan that are run into a store.
class Runner {
public:
    Runner(const cli::SweepRunCommand& command, const run::Elaborate& elaborate)
        : command_(command), elaborate_(elaborate) {}

    /// `record` is called with the line of each, in the order of their ends.
    void run(Planner& planner, const std::vector<std::int64_t>& numbers, const std::string& mode,
             const std::function<void(const Json&)>& record) {
        process::ProgressShow progress("point", numbers.size(), command_.quiet);
        const auto ended = [&](const Json& one) {
            record(one);
            const auto status = one["status"].get<std::string>();
            progress.ended(status == kOkStatus ? "" : status);
        };
        for (std::size_t first = 0; first < numbers.size(); first += kAtATime) {
            const std::size_t end = std::min(first + kAtATime, numbers.size());
            std::vector<PlannedPoint> points;
            for (std::size_t i = first; i < end; ++i) {
                points.push_back(planner.at(numbers[i]));
            }
            run_some(
                points, mode, ended, [&] { progress.tick(); }, 1);
        }
    }

    void run_some(const std::vector<PlannedPoint>& points, const std::string& mode,
                  const std::function<void(const Json&)>& ended,
                  const std::function<void()>& each_second, int attempt) {
        const int cores = static_cast<int>(std::thread::hardware_concurrency());
        std::vector<cli::RunCommand> runs;
        runs.reserve(points.size());
        for (const PlannedPoint& point : points) {
            runs.push_back(run_of(point, mode, std::max(1, cores / command_.jobs)));
        }
        std::vector<PlannedPoint> killed;
        static_cast<void>(run::run_warm(
            runs, command_.jobs, elaborate_,
            [&](const process::ChildEnd& one) {
                if (status_of(one.outcome) == "killed" && attempt < kMostKills) {
                    killed.push_back(points[one.body]);
                } else {
                    ended(record_of(points[one.body], mode, one.outcome, command_.keep_lists));
                }
            },
            {.seconds = static_cast<double>(command_.time_limit_s),
             .memory_bytes = static_cast<std::size_t>(command_.memory_limit_mib) << 20U,
             .each_second = each_second}));
        if (!killed.empty()) {
            run_some(killed, mode, ended, each_second, attempt + 1);
        }
    }

private:
    const cli::SweepRunCommand& command_;
    const run::Elaborate& elaborate_;
};

/// A sweep in one mode: its plan, and which of its points are to be run.
struct Stage {
    Stage(const Source& source, const std::string& mode, const config::ConfigPaths& paths,
          PointKeys& keys)
        : sweep(source.sweep) {
        sweep.mode = mode;
        planner = std::make_unique<Planner>(sweep, source.document, paths, keys);
    }
    /// Lines that the store is to have once the point of a key has a result there.
    using Lines = std::unordered_map<PointKey, std::vector<std::int64_t>, PointKey::Hash>;

    SweepSpec sweep;
    std::unique_ptr<Planner> planner;
    Plan plan;
    std::vector<std::int64_t> to_do;
    Lines others; ///< of points to do: lines of other names
    Lines known;  ///< of points that are known under other names
};

using PointSet = std::unordered_set<PointKey, PointKey::Hash>;

class Sweep {
public:
    Sweep(const cli::SweepRunCommand& command, const run::Elaborate& elaborate)
        : command_(command), elaborate_(elaborate),
          source_(
              read_source({command.what, command.machines, command.sets, command.mode}, paths_)),
          folder_(command.store.empty() ? fs::path(source_.name + ".sweep")
                                        : fs::path(command.store)) {}

    int run() {
        {
            const process::ActivityWatch watch(source_.name, !command_.quiet);
            check_names(source_, paths_);
            for (const std::string& none :
                 check_estimates(source_.sweep, command_.screen, paths_)) {
                process::tell_warning("there is no estimate of " + none);
            }
            known_ = KnownPoints(folder_);
            tell_damage(known_.damage());
            refuse_other_models(known_, folder_, result::kModelVersion);
            main_ = plan(source_.sweep.mode);
            if (command_.screen) {
                first_ = plan(kEstimate);
            }
        }
        tell_invalid(main_->plan);
        if (command_.dry_run) {
            say(dry_text());
            return process::kOk;
        }
        Stopwatch watch;
        freeze(source_, *main_->planner, paths_, folder_);
        if (command_.screen) {
            run_stage(*first_);
            keep_best();
        }
        outcome_.add_known(folder_, known_points());
        run_stage(*main_);
        std::string text = fmt::format("{} in {}", counted(wanted(), "point"), folder_.string());
        text += main_->plan.equal.empty() || kept_
                    ? ""
                    : fmt::format(" for {} lines", grouped(static_cast<std::int64_t>(
                                                       wanted() + main_->plan.equal.size())));
        text += known_before_ == 0 ? "" : fmt::format(", {} known before", known_before_);
        for (const auto& [status, count] : ended_) {
            text += fmt::format(", {} {}", count, status);
        }
        text +=
            main_->to_do.empty() && !command_.screen ? "" : fmt::format("; {:.1f} s", watch.lap());
        say(text + "\n");
        for (const std::string& line : outcome_.not_ok().lines()) {
            say("  " + line + "\n");
        }
        return wrong_or_ok();
    }

private:
    void say(const std::string& text) const {
        if (!command_.quiet) {
            std::fputs(text.c_str(), stdout);
        }
    }

    /// What nobody reads otherwise is told where it is wrong.
    int wrong_or_ok() const {
        if (command_.quiet) {
            for (const std::string& line : outcome_.wrong().lines()) {
                process::tell_failure(source_.name + ": " + line);
            }
        }
        return outcome_.wrong().count() > 0 ? process::kCheckFailed : process::kOk;
    }

    /// Those of the main stage that are wanted and were known before, and are not ok.
    [[nodiscard]] PointSet known_points() const {
        PointSet keys;
        for (const Plan::Point& point : main_->plan.points) {
            const bool is_wanted = !kept_ || kept_->contains(point.key);
            if (is_wanted && is_known(point.key) && *known_.status(point.key) != kOkStatus) {
                keys.insert(point.key);
            }
        }
        return keys;
    }

    void tell_invalid(const Plan& plan) {
        if (plan.invalid == 0) {
            return;
        }
        ended_["invalid"] += static_cast<std::size_t>(plan.invalid);
        for (const Diagnostic& example : plan.invalid_examples) {
            process::tell_warning(example.text());
        }
        const auto more = plan.invalid - static_cast<std::int64_t>(plan.invalid_examples.size());
        if (more > 0) {
            process::tell_warning(fmt::format("{} more points cannot be", grouped(more)));
        }
    }

    std::unique_ptr<Stage> plan(const std::string& mode) {
        auto stage = std::make_unique<Stage>(source_, mode, paths_, keys_);
        stage->plan = plan_points(stage->sweep, source_.document, paths_, keys_,
                                  {command_.shard, command_.shards});
        const auto wants_line = [&](const Plan::Point& point) {
            const auto* const line = known_.find(LineId{point.key, point.name});
            return line == nullptr || !line->has_contents;
        };
        for (const Plan::Point& point : stage->plan.points) {
            if (!is_known(point.key)) {
                stage->to_do.push_back(point.number);
            } else if (wants_line(point)) {
                stage->known[point.key].push_back(point.number);
            }
        }
        for (const Plan::Point& point : stage->plan.equal) {
            if (!is_known(point.key)) {
                stage->others[point.key].push_back(point.number);
            } else if (wants_line(point)) {
                stage->known[point.key].push_back(point.number);
            }
        }
        return stage;
    }

    /// Points of the main stage that are wanted: all, or those that a screen left.
    [[nodiscard]] std::size_t wanted() const {
        return kept_ ? kept_->size() : main_->plan.points.size();
    }

    [[nodiscard]] bool is_known(const PointKey& key) const {
        const auto* const known = known_.find(key);
        const std::string* const status = known_.status(key);
        if (known == nullptr || *status == "killed") {
            return false;
        }
        if (*status == kOkStatus) {
            return known->has_lists || !command_.keep_lists;
        }
        return std::none_of(
            command_.retry.begin(), command_.retry.end(),
            [&](const std::string& one) { return one == *status || one == "failed"; });
    }

    [[nodiscard]] std::string dry_text() const {
        const std::size_t all = main_->plan.points.size();
        std::string text =
            fmt::format("{}, {} known in {}, {} to run\n", counted(all, "point"),
                        grouped(static_cast<std::int64_t>(all - main_->to_do.size())),
                        folder_.string(), grouped(static_cast<std::int64_t>(main_->to_do.size())));
        if (main_->plan.excluded > 0) {
            text += fmt::format("{} excluded\n",
                                counted(static_cast<std::size_t>(main_->plan.excluded), "point"));
        }
        if (!main_->to_do.empty()) {
            text += "time: " + time_text() + "\n";
        }
        return text;
    }

    /// From what points of the same workloads took.
    [[nodiscard]] std::string time_text() const {
        if (known_.times().empty()) {
            return "unknown";
        }
        double seconds = 0;
        for (const std::int64_t number : main_->to_do) {
            const auto found = known_.times().find(main_->planner->workload_of(number));
            if (found == known_.times().end()) {
                return "unknown";
            }
            seconds += found->second.seconds / static_cast<double>(found->second.points);
        }
        return "about " + process::duration_text(seconds / command_.jobs) +
               ", as stored points took";
    }

    void run_stage(Stage& stage) {
        if (&stage == main_.get()) {
            known_before_ = wanted() - stage.to_do.size();
        }
        if (stage.to_do.empty() && stage.known.empty()) {
            return;
        }
        if (store_ == nullptr) {
            store_ = std::make_unique<StoreWriter>(folder_);
        }
        call_known(stage);
        Runner(command_, elaborate_)
            .run(*stage.planner, stage.to_do, stage.sweep.mode, [&](const Json& record) {
                store_->append(record);
                const auto key = PointKey::from(record["key"].get<std::string>());
                append_for(stage, stage.others, key.value(), record);
                if (&stage == main_.get()) {
                    ++ended_[record["status"].get<std::string>()];
                    outcome_.add(record);
                }
            });
    }

    /// The same record under the names of other lines.
    void append_for(const Stage& stage, const Stage::Lines& lines, const PointKey& key,
                    Json record) {
        const auto found = lines.find(key);
        if (found != lines.end()) {
            for (const std::int64_t number : found->second) {
                name_line(stage.planner->at(number), record);
                store_->append_line(
                    config::text_of_json(record)); // what is lost is written by the next run
            }
        }
    }

    /// Lines of this sweep's names for points that the store knows under others.
    void call_known(Stage& stage) {
        std::map<PointKey, Json> failures; // the last of each
        const auto name = [&](const PointKey& key, const Json& record) {
            append_for(stage, stage.known, key, record);
            stage.known.erase(key);
        };
        if (!stage.known.empty()) {
            static_cast<void>(for_each_point(folder_, [&](const PointLine& point) {
                if (stage.known.contains(point.key())) {
                    if (point.is_ok()) {
                        name(point.key(), Json::parse(point.text()));
                    } else {
                        failures[point.key()] = Json::parse(point.text());
                    }
                }
            }));
        }
        for (const auto& [key, record] : failures) {
            if (stage.known.contains(key)) {
                name(key, record);
            }
        }
    }

    /// Of the main stage only the points that closed forms call best.
    void keep_best() {
        std::vector<Condition> constraints = constraints_of(source_.sweep, source_.document);
        std::vector<MetricColumn> metrics = metrics_of(source_.sweep, source_.document);
        auto [numbers, left_out] = best_points(folder_, first_->sweep, constraints, metrics,
                                               *first_->planner, paths_, command_.keep_percent);
        for (const Condition& constraint : constraints) {
            if (const std::string failure = constraint.failure(); !failure.empty()) {
                process::tell_warning(failure);
            }
        }
        if (numbers.empty() && !first_->plan.points.empty()) {
            std::string text = "--screen estimate: no point is left to choose from";
            for (const std::string& line : left_out.lines()) {
                text += "\n  " + line;
            }
            throw NotModelled(text);
        }
        PointSet& kept = kept_.emplace();
        for (const std::int64_t number : numbers) {
            kept.insert(main_->planner->at(number).key);
        }
        std::erase_if(main_->to_do, [&](std::int64_t number) {
            return !kept.contains(main_->planner->at(number).key);
        });
        const auto is_no_line = [&](const auto& one) { return !kept.contains(one.first); };
        std::erase_if(main_->others, is_no_line);
        std::erase_if(main_->known, is_no_line);
        say(fmt::format("{} of {} kept by estimates\n", counted(kept_->size(), "point"),
                        grouped(static_cast<std::int64_t>(first_->plan.points.size()))));
    }

    const cli::SweepRunCommand& command_;
    const run::Elaborate& elaborate_;
    config::ConfigPaths paths_ = config::default_config_paths();
    PointKeys keys_{result::kModelVersion};
    Source source_;
    fs::path folder_;
    KnownPoints known_;
    std::unique_ptr<Stage> main_;
    std::unique_ptr<Stage> first_; ///< by estimates
    std::unique_ptr<StoreWriter> store_;
    std::optional<PointSet> kept_; ///< by estimates
    std::size_t known_before_ = 0;
    std::map<std::string, std::size_t> ended_; ///< by status
    Outcome outcome_;                          ///< of all points that are wanted
};

/// Points that come a line each.
class Answers {
public:
    Answers(const cli::SweepRunCommand& command, const run::Elaborate& elaborate)
        : command_(command), elaborate_(elaborate),
          source_(
              read_source({command.what, command.machines, command.sets, command.mode}, paths_)),
          planner_(source_.sweep, source_.document, paths_, keys_) {
        source_.is_asked = true;
        check_names(source_, paths_);
        if (!command.store.empty()) {
            const KnownPoints known(command.store);
            tell_damage(known.damage());
            refuse_other_models(known, command.store, result::kModelVersion);
            for_each_point(command.store, [&](const PointLine& point) {
                if (point.is_ok()) {
                    known_[point.key()] = point.text();
                    names_.insert(point.id());
                }
            });
            freeze(source_, planner_, paths_, command.store);
        }
    }

    int run() {
        for (std::string line; std::getline(std::cin, line);) {
            if (line.find_first_not_of(" \t\r") == std::string::npos) {
                continue;
            }
            std::string answer = answer_to(line);
            answer += '\n';
            std::fputs(answer.c_str(), stdout);
            std::fflush(stdout);
        }
        return process::kOk;
    }

private:
    static std::string refusal(const std::string& message) {
        return config::text_of_json(Json{{"status", "invalid"}, {"message", message}});
    }

    std::string answer_to(const std::string& line) {
        const Json asked = Json::parse(line, nullptr, false);
        if (!asked.is_object()) {
            return refusal("got " + in_quotes(line) + ", expected {\"PATH\": VALUE, ...}");
        }
        Changes changes;
        for (const auto& [path, value] : asked.items()) {
            const bool is_name = path == "machine" || path == "workload";
            if (value.is_null() || value.is_object() || (is_name && !value.is_string())) {
                return refusal(path + ": got " + value.dump() + ", expected " +
                               (is_name ? "a name" : "a value"));
            }
            changes.push_back({full_path(path), value});
        }
        PlannedPoint point;
        try {
            point = planner_.made_of(changes);
        } catch (const IoError& error) { // a file that the line names is not there
            return refusal(error.what());
        }
        return answer_to(point);
    }

    std::string answer_to(const PlannedPoint& point) {
        if (!point.mistakes.empty()) {
            std::string text;
            for (const Diagnostic& mistake : point.mistakes) {
                text += (text.empty() ? "" : "\n") + mistake.text();
            }
            return refusal(text);
        }
        if (point.is_excluded) {
            return Json{{"status", "excluded"}}.dump();
        }
        const auto known = known_.find(point.key);
        if (known == known_.end()) {
            return ran(point);
        }
        Json record = Json::parse(known->second);
        name_line(point, record);
        if (names_.insert({point.key, name_of(point, source_.sweep.mode)}).second) {
            keep(record);
        }
        return config::text_of_json(record);
    }

    void keep(const Json& record) {
        if (command_.store.empty()) {
            return;
        }
        if (store_ == nullptr) {
            store_ = std::make_unique<StoreWriter>(command_.store);
        }
        store_->append(record);
    }

    std::string ran(const PlannedPoint& point) {
        std::string answer;
        Runner(command_, elaborate_)
            .run_some(
                {point}, source_.sweep.mode,
                [&](const Json& record) {
                    answer = config::text_of_json(record);
                    keep(record);
                },
                {}, 1);
        known_[point.key] = answer;
        names_.insert({point.key, name_of(point, source_.sweep.mode)});
        return answer;
    }

    const cli::SweepRunCommand& command_;
    const run::Elaborate& elaborate_;
    config::ConfigPaths paths_ = config::default_config_paths();
    PointKeys keys_{result::kModelVersion};
    Source source_;
    Planner planner_;
    std::map<PointKey, std::string> known_;
    std::unordered_set<LineId, LineId::Hash> names_; ///< that the store has
    std::unique_ptr<StoreWriter> store_;
};

} // namespace

int sweep_run(const cli::SweepRunCommand& command, const run::Elaborate& elaborate) {
    return Sweep(command, elaborate).run();
}

int sweep_answer(const cli::SweepRunCommand& command, const run::Elaborate& elaborate) {
    return Answers(command, elaborate).run();
}

} // namespace tessera::sweep
