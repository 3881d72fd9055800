// SPDX-License-Identifier: MIT
#include "sim/sweep/sweep_command.h"

#include "base/config/paths.h"
#include "base/config/shape.h"
#include "base/error.h"
#include "base/layout.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "sim/progress_line.h"
#include "sim/result.h"
#include "sim/screen.h"
#include "sim/sweep/planned_point.h"
#include "sim/sweep/store.h"
#include "sim/warm_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace tessera::sim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using sweep::PlannedPoint;

/// Points that a warm worker is given at a time: what they share is made once for all of them, and
/// each holds its configuration meanwhile.
constexpr std::size_t kAtATime = 512;

/// Numbers, words and truths of a result by their paths; not lists, which are of single steps, nor
/// what the host felt or the point says anyway.
void add_scalars(const std::string& path, const Json& value, Json& flat) {
    if (value.is_object()) {
        for (const auto& [key, inner] : value.items()) {
            add_scalars(path.empty() ? key : path + "." + key, inner, flat);
        }
    } else if (!value.is_array() && !value.is_null()) {
        flat[path] = value;
    }
}

Json scalars_of(Json result) {
    for (const char* part : {"host", "machine", "workload", "schema_version"}) {
        result.erase(part);
    }
    Json flat = Json::object();
    add_scalars("", result, flat);
    return flat;
}

std::string status_of(const ChildOutcome& outcome) {
    if (outcome.was_late) {
        return "time_limit";
    }
    switch (outcome.exit_code) {
    case kOk:
        return sweep::kOkStatus;
    case kCheckFailed:
        return "check_failed";
    case kConfig:
        return "invalid";
    case kDoesNotFit:
        return "does_not_fit";
    case kProgramFault:
        return "fault";
    case kHostMemory:
        return "memory_limit";
    default:
        return outcome.signal != 0 ? "crash" : "error";
    }
}

/// The line of the store.
Json record_of(const PlannedPoint& point, const std::string& mode, const ChildOutcome& outcome) {
    Json changes = Json::object();
    for (const sweep::Change& change : point.changes) {
        changes[change.path] = change.value;
    }
    Json record{{"key", point.key},
                {"status", status_of(outcome)},
                {"machine", fs::path(point.machine).stem().string()},
                {"workload", fs::path(point.workload).stem().string()},
                {"mode", mode},
                {"model", kModelVersion},
                {"changes", std::move(changes)}};
    const Json result = Json::parse(outcome.text, nullptr, false);
    if (result.is_object() && result.contains("message")) {
        record["message"] = result["message"];
    } else if (result.is_object()) {
        record["host"] = {{"wall_s", result["host"]["wall_s"]},
                          {"peak_rss_bytes", result["host"]["peak_rss_bytes"]}};
        record["result"] = scalars_of(result);
    }
    return record;
}

RunCommand run_of(const PlannedPoint& point, const std::string& mode, int jobs) {
    RunCommand run;
    run.workloads = {point.workload};
    run.machine = point.machine;
    run.sets = sweep::sets_of(point.changes);
    run.mode = mode;
    run.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / jobs);
    run.quiet = true;
    return run;
}

std::string points_text(std::size_t count) {
    return fmt::format("{} point{}", grouped(static_cast<std::int64_t>(count)),
                       count == 1 ? "" : "s");
}

class Sweep {
public:
    Sweep(const SweepCommand& command, const Elaborate& elaborate)
        : command_(command), elaborate_(elaborate),
          file_(config::find_config(paths_, "sweeps", "sweep", command.what)),
          document_(config::read_document(file_)), sweep_(sweep::read_sweep(document_)),
          folder_(command.store.empty() ? file_.stem().string() + ".sweep" : command.store) {}

    int run() {
        plan();
        if (command_.dry_run) {
            say(fmt::format("{}, {} known in {}, {} to run\n", points_text(points_.size()),
                            points_.size() - to_do_.size(), folder_.string(), to_do_.size()));
            return kOk;
        }
        Stopwatch watch;
        const std::size_t known = points_.size() - to_do_.size();
        if (!to_do_.empty()) {
            run_points();
        }
        std::string text = fmt::format("{} in {}", points_text(points_.size()), folder_.string());
        text += known == 0 ? "" : fmt::format(", {} known before", known);
        for (const auto& [status, count] : ended_) {
            text += fmt::format(", {} {}", count, status);
        }
        text += to_do_.empty() ? "" : fmt::format("; {:.1f} s", watch.lap());
        say(text + "\n");
        return ended_.contains("check_failed") ? kCheckFailed : kOk;
    }

private:
    void say(const std::string& text) const {
        if (!command_.quiet) {
            std::fputs(text.c_str(), stdout);
        }
    }

    void plan() {
        sweep::PointKeys keys(kModelVersion);
        for (PlannedPoint& point : sweep::plan_points(sweep_, document_, paths_, keys)) {
            if (point.mistakes.empty()) {
                points_.push_back(std::move(point));
            } else {
                ++ended_["invalid"];
                tell_warning(point.mistakes.front().text());
            }
        }
        const sweep::KnownPoints known(folder_);
        for (const PlannedPoint& point : points_) {
            if (known.status(point.key) == nullptr) {
                to_do_.push_back(&point);
            }
        }
    }

    void run_points() {
        sweep::StoreWriter store(folder_);
        ProgressLine progress;
        std::size_t done = 0;
        for (std::size_t first = 0; first < to_do_.size(); first += kAtATime) {
            const std::size_t end = std::min(first + kAtATime, to_do_.size());
            std::vector<RunCommand> runs;
            for (std::size_t i = first; i < end; ++i) {
                runs.push_back(run_of(*to_do_[i], sweep_.mode, command_.jobs));
            }
            static_cast<void>(run_warm(
                runs, command_.jobs, elaborate_,
                [&](const ChildEnd& one) {
                    const Json record =
                        record_of(*to_do_[first + one.body], sweep_.mode, one.outcome);
                    store.append(record);
                    ++ended_[record["status"].get<std::string>()];
                    progress.show(fmt::format("{} of {}", ++done, points_text(to_do_.size())));
                },
                {.seconds = static_cast<double>(command_.time_limit_s),
                 .memory_bytes = static_cast<std::size_t>(command_.memory_limit_mib) << 20U}));
        }
        progress.clear();
    }

    const SweepCommand& command_;
    const Elaborate& elaborate_;
    config::ConfigPaths paths_ = config::default_config_paths();
    fs::path file_;
    config::Document document_;
    sweep::SweepSpec sweep_;
    fs::path folder_;
    std::vector<PlannedPoint> points_;
    std::vector<const PlannedPoint*> to_do_;
    std::map<std::string, std::size_t> ended_; ///< by status
};

/// The points of a store as a table: what changes, how each ended, its cycles. The last line of a
/// point counts, but for one that is ok.
std::string table_of(const fs::path& folder, const Layout& layout) {
    if (!fs::is_directory(folder)) {
        throw IoError(folder.string() + ": no store there; `tessera sweep run` makes one");
    }
    std::map<std::string, Json> points;
    std::vector<std::string> order;
    std::set<std::string> paths;
    sweep::KnownPoints known; // tells two results of one point
    sweep::for_each_point(folder, [&](const Json& point) {
        known.add(point);
        const auto key = point["key"].get<std::string>();
        const auto [at, is_new] = points.try_emplace(key, point);
        if (is_new) {
            order.push_back(key);
        } else if (at->second["status"] != sweep::kOkStatus) {
            at->second = point;
        }
        const Json changes = point.value("changes", Json::object());
        for (const auto& [path, value] : changes.items()) {
            paths.insert(path);
        }
    });
    std::vector<std::vector<std::string>> rows{{"machine", "workload"}};
    std::vector<Align> columns{Align::Left, Align::Left};
    for (const std::string& path : paths) {
        rows.front().push_back(path);
        columns.push_back(Align::Right);
    }
    rows.front().insert(rows.front().end(), {"cycles", "status"});
    columns.insert(columns.end(), {Align::Right, Align::Left});
    for (const std::string& key : order) {
        const Json& point = points.at(key);
        std::vector<std::string> row{point.value("machine", ""), point.value("workload", "")};
        const Json changes = point.value("changes", Json::object());
        for (const std::string& path : paths) {
            row.push_back(changes.contains(path) ? config::value_text(changes[path]) : "");
        }
        const Json result = point.value("result", Json::object());
        row.push_back(result.contains("cycles") ? grouped(result["cycles"].get<std::int64_t>())
                                                : "");
        row.push_back(point["status"].get<std::string>());
        rows.push_back(std::move(row));
    }
    return table(layout, 0, columns, rows);
}

} // namespace

int sweep_command(const SweepCommand& command, const Elaborate& elaborate) {
    if (command.action == "show") {
        std::fputs(table_of(command.what, layout_of(stdout)).c_str(), stdout);
        return kOk;
    }
    return Sweep(command, elaborate).run();
}

} // namespace tessera::sim
