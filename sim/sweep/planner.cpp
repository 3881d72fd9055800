// SPDX-License-Identifier: MIT
#include "sim/sweep/planner.h"

#include "base/config/read.h"
#include "base/error.h"
#include "base/expression/expression.h"
#include "kernels/catalog/load.h"
#include "kernels/catalog/machine_check.h"
#include "models/spec/load.h"
#include "sim/sweep/condition.h"
#include "sim/sweep/formulas.h"
#include "sim/sweep/planned_files.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kSetPrefixLength = std::string_view(catalog::kSetPrefix).size();

} // namespace

class Planner::Impl {
public:
    Impl(const SweepSpec& sweep, const config::Document& document, const config::ConfigPaths& paths,
         PointKeys& keys)
        : sweep_(sweep), keys_(keys), space_(space_of(sweep, document)),
          // points of their own stand alone where nothing else is said
          in_space_(!sweep.points.empty() && sweep.axes.empty() ? 0 : space_.size()),
          files_(sweep, paths, keys), formulas_(sweep, document) {}

    [[nodiscard]] PlannedFiles& files() { return files_; }
    [[nodiscard]] std::int64_t size() const {
        return in_space_ + static_cast<std::int64_t>(sweep_.points.size());
    }

    PlannedPoint at(std::int64_t number) { return made_of(changes_of(number)); }

    PlannedLine line(std::int64_t number) {
        PlannedLine line = called(changes_of(number));
        settle(line);
        return line;
    }

    Contents contents_of(const PlannedLine& line) {
        Contents contents{{kMachinePath, files_.content_of(kMachinePath, line.machine)},
                          {kWorkloadPath, files_.content_of(kWorkloadPath, line.workload)}};
        for (const Change& change : line.changes) {
            if (names_file(change.path, change.value)) {
                contents[change.path] =
                    files_.content_of(change.path, change.value.get<std::string>());
            }
        }
        return contents;
    }

    [[nodiscard]] std::optional<std::int64_t> sample_of(std::int64_t number) const {
        return number < in_space_ ? std::optional(space_.sample_of(number)) : std::nullopt;
    }

    [[nodiscard]] std::string workload_of(std::int64_t number) const {
        return called(changes_of(number)).workload;
    }

    PlannedPoint made_of(const Changes& changes) {
        PlannedPoint point;
        static_cast<PlannedLine&>(point) = called(changes);
        try {
            settle(point);
            if (!point.is_excluded) {
                prepare(point);
            }
        } catch (const ConfigError& error) {
            point.mistakes = error.diagnostics();
        }
        return point;
    }

private:
    [[nodiscard]] Changes changes_of(std::int64_t number) const {
        return number < in_space_ ? space_.at(number)
                                  : sweep_.points[static_cast<std::size_t>(number - in_space_)];
    }

    /// The line of a point's changes, before what follows from them.
    [[nodiscard]] PlannedLine called(const Changes& changes) const {
        PlannedLine line{sweep_.machines.front(), sweep_.workloads.front(), sweep_.set, false};
        for (const Change& change : changes) {
            if (change.path == kMachinePath || change.path == kWorkloadPath) {
                (change.path == kMachinePath ? line.machine : line.workload) =
                    change.value.get<std::string>();
            } else {
                set(line.changes, change);
            }
        }
        return line;
    }

    /// The run of a line: its files, its key.
    void prepare(PlannedPoint& point) {
        point.machine_file = files_.file_of(kMachinePath, point.machine);
        point.workload_file = files_.file_of(kWorkloadPath, point.workload);
        Changes placed = point.changes;
        for (Change& change : placed) {
            if (names_file(change.path, change.value)) {
                change.value = files_.file_of(change.path, change.value.get<std::string>());
            }
        }
        point.sets = sets_of(placed);
        const Loaded loaded = files_.load(point.machine_file, point.workload_file, point.sets);
        config::throw_if_any(catalog::mistakes_on(loaded.machine->loaded, loaded.workload->loaded));
        point.key = keys_.of(loaded.machine->text, loaded.workload->text, sweep_.mode);
        point.contents = contents_of(point);
    }

    /// Whether a path is of workloads of another kind in the sweep, and not of this one's.
    [[nodiscard]] bool is_of_others(const std::string& path, const std::string& workload) {
        if (sweep_.workloads.size() < 2 || !path.starts_with(catalog::kSetPrefix)) {
            return false;
        }
        const std::string key =
            path.substr(kSetPrefixLength, path.find('.', kSetPrefixLength) - kSetPrefixLength);
        const Json& own = files_.base_workload(workload);
        return !own.contains(key) && std::any_of(sweep_.workloads.begin(), sweep_.workloads.end(),
                                                 [&](const std::string& name) {
                                                     const Json& other = files_.base_workload(name);
                                                     return other.contains(key) &&
                                                            other["kind"] != own["kind"];
                                                 });
    }

    /// What follows, and whether a condition leaves it out.
    void settle(PlannedLine& point) {
        std::erase_if(point.changes, [&](const Change& change) {
            return is_of_others(change.path, point.workload);
        });
        if (!formulas_.empty()) {
            point.is_excluded = formulas_.settle(
                point.changes, files_.base_machine(point.machine),
                files_.base_workload(point.workload),
                [&](const std::string& path) { return is_of_others(path, point.workload); },
                std::make_shared<expression::Work>(work_of_point(size())));
        }
    }

    const SweepSpec& sweep_;
    PointKeys& keys_;
    Space space_;
    std::int64_t in_space_;
    PlannedFiles files_;
    Formulas formulas_;
};

Planner::Planner(const SweepSpec& sweep, const config::Document& document,
                 const config::ConfigPaths& paths, PointKeys& keys)
    : impl_(std::make_unique<Impl>(sweep, document, paths, keys)) {}
Planner::~Planner() = default;

std::int64_t Planner::size() const {
    return impl_->size();
}

PlannedPoint Planner::at(std::int64_t number) {
    return impl_->at(number);
}

PlannedLine Planner::line(std::int64_t number) {
    return impl_->line(number);
}

Contents Planner::contents_of(const PlannedLine& line) {
    return impl_->contents_of(line);
}

std::string Planner::content_of(const std::string& path, const std::string& written) {
    return impl_->files().content_of(path, written);
}

std::optional<std::int64_t> Planner::sample_of(std::int64_t number) const {
    return impl_->sample_of(number);
}

std::string Planner::workload_of(std::int64_t number) const {
    return impl_->workload_of(number);
}

PlannedPoint Planner::made_of(const Changes& changes) {
    return impl_->made_of(changes);
}

LineName name_of(const PlannedLine& line, const std::string& mode) {
    Settings settings;
    for (const Change& change : line.changes) {
        settings.emplace_back(change.path, value_of(change.value));
    }
    return line_name(line.machine, line.workload, mode, std::move(settings));
}

std::vector<std::string> sets_of(const Changes& changes) {
    std::vector<std::string> sets;
    sets.reserve(changes.size());
    for (const Change& change : changes) {
        sets.push_back(change.path + "=" + change.value.dump());
    }
    return sets;
}

} // namespace tessera::sweep
