// SPDX-License-Identifier: MIT
#include "sim/sweep/command/check.h"

#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/catalog/load.h"
#include "models/spec/load.h"
#include "sim/result/estimate_gap.h"
#include "sim/result/result.h"
#include "sim/sweep/command/result_paths.h"
#include "sim/sweep/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

class NameCheck {
public:
    NameCheck(const Source& source, const config::ConfigPaths& paths)
        : sweep_(source.sweep), document_(source.document), paths_(paths) {}

    void run() {
        configurations();
        config::throw_if_any(std::move(mistakes_)); // what follows needs them
        parameters();
        config::throw_if_any(std::move(mistakes_));
    }

private:
    void fail(const std::string& pointer, std::string message, std::string hint = {}) {
        mistakes_.push_back(document_.at_value(pointer, std::move(message), std::move(hint)));
    }

    /// Calls `load`, whose mistakes stand at `pointer` unless they have a place of their own.
    template <class Load> void placed(const std::string& pointer, const Load& load) {
        try {
            load();
        } catch (const ConfigError& error) {
            for (const Diagnostic& mistake : error.diagnostics()) {
                if (mistake.file.empty()) {
                    fail(pointer, mistake.message, mistake.hint);
                } else {
                    mistakes_.push_back(mistake);
                }
            }
        } catch (const IoError& error) {
            fail(pointer, error.what());
        }
    }

    [[nodiscard]] std::string file_of(const char* kind, const std::string& name) const {
        return sweep_.places.file_of(kind, name, paths_);
    }

    [[nodiscard]] std::string pointer_of(const char* key, std::size_t number) const {
        const std::string pointer = std::string("/") + key;
        return document_.root.value(key, Json()).is_array() ? fmt::format("{}/{}", pointer, number)
                                                            : pointer;
    }

    void configurations() {
        for (std::size_t i = 0; i < sweep_.machines.size(); ++i) {
            placed(pointer_of("machine", i), [&] {
                static_cast<void>(
                    spec::read_machine(file_of(kMachinePath, sweep_.machines[i]), paths_));
            });
        }
        for (std::size_t i = 0; i < sweep_.workloads.size(); ++i) {
            placed(pointer_of("workload", i), [&] {
                workloads_.push_back(
                    catalog::load_workload(file_of(kWorkloadPath, sweep_.workloads[i]), paths_)
                        .resolved);
            });
        }
    }

    [[nodiscard]] bool is_known(const std::string& path) const {
        return config::is_set_path(spec::machine_shape(), path, "") ||
               std::any_of(workloads_.begin(), workloads_.end(), [&](const Json& workload) {
                   return catalog::is_workload_path(path, workload);
               });
    }

    void parameter(const std::string& pointer, const std::string& path) {
        if (is_known(path)) {
            return;
        }
        std::vector<std::string> known;
        for (const auto& parameters :
             {config::parameters(spec::machine_shape()),
              config::parameters(catalog::workload_shape(), catalog::kSetPrefix)}) {
            for (const config::Parameter& one : parameters) {
                known.push_back(one.path);
            }
        }
        fail(pointer,
             fmt::format("no machine and no workload of this sweep has {}", in_quotes(path)),
             config::did_you_mean(path, known));
    }

    void changes(const std::string& pointer, const Json& given) {
        for (const auto& [path, value] : given.items()) {
            parameter(config::child_pointer(pointer, path), full_path(path));
        }
    }

    void parameters() {
        const Json& root = document_.root;
        for (const char* key : {"set", "derive"}) {
            if (root.contains(key)) {
                changes(std::string("/") + key, root[key]);
            }
        }
        const Json points = root.value("points", Json::array());
        for (std::size_t i = 0; i < points.size(); ++i) {
            changes(fmt::format("/points/{}", i), points[i]);
        }
        const Json axes = root.value("axes", Json::array());
        for (std::size_t i = 0; i < axes.size(); ++i) {
            if (axes[i].contains("path")) {
                parameter(fmt::format("/axes/{}/path", i),
                          full_path(axes[i]["path"].get<std::string>()));
            }
            const Json several = axes[i].value("paths", Json::array());
            for (std::size_t j = 0; j < several.size(); ++j) {
                parameter(fmt::format("/axes/{}/paths/{}", i, j),
                          full_path(several[j].get<std::string>()));
            }
        }
    }

    const SweepSpec& sweep_;
    const config::Document& document_;
    const config::ConfigPaths& paths_;
    std::vector<Json> workloads_; ///< as they are
    std::vector<Diagnostic> mistakes_;
};

std::string joined(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts) {
        all += (all.empty() ? "" : ", ") + text;
    }
    return all;
}

} // namespace

void check_names(const Source& source, const config::ConfigPaths& paths) {
    static_cast<void>(space_of(source.sweep, source.document)); // not more points than anybody runs
    NameCheck(source, paths).run();
    check_result_paths(source.sweep, source.document);
}

std::vector<std::string> without_estimate(const SweepSpec& sweep,
                                          const config::ConfigPaths& paths) {
    std::vector<std::string> names;
    for (const std::string& name : sweep.workloads) {
        const auto loaded =
            catalog::load_workload(sweep.places.file_of(kWorkloadPath, name, paths), paths);
        const auto kind = loaded.resolved["kind"].get<std::string>();
        if (!result::has_estimate(kind)) {
            names.push_back(fmt::format("{} ({})", in_quotes(name), kind));
        }
    }
    return names;
}

std::vector<std::string> check_estimates(const SweepSpec& sweep, bool screens,
                                         const config::ConfigPaths& paths) {
    if (!screens && sweep.mode != kEstimate) {
        return {};
    }
    const std::vector<std::string> names = without_estimate(sweep, paths);
    // a machine is kept by what all workloads come to together
    if (!names.empty() && (screens || names.size() == sweep.workloads.size())) {
        throw NotModelled(
            fmt::format("{}: no point has an estimate of {}; there are closed forms of "
                        "kinds {}, see docs/timing_mode.md#estimates",
                        screens ? "--screen estimate" : "mode estimate", joined(names),
                        result::kinds_with_estimates()));
    }
    return names;
}

std::vector<std::string> check_sweep(const Source& source, const config::ConfigPaths& paths) {
    check_names(source, paths);
    std::vector<std::string> notes;
    const std::vector<std::string> none = check_estimates(source.sweep, false, paths);
    const std::vector<std::string> names = without_estimate(source.sweep, paths);
    if (!names.empty()) {
        notes.push_back(fmt::format("there is no estimate of {}: {}", joined(names),
                                    none.empty() ? "--screen estimate would refuse it"
                                                 : "its points are not modelled in this mode"));
    }
    const Plan plan =
        plan_points(source.sweep, source.document, paths, PointKeys(result::kModelVersion));
    if (plan.invalid > 0) {
        notes.push_back(fmt::format("{} cannot be, as {}",
                                    counted(static_cast<std::size_t>(plan.invalid), "point"),
                                    plan.invalid_examples.front().text()));
    }
    if (plan.points.empty()) {
        notes.emplace_back("it has no points: all are excluded");
    }
    return notes;
}

} // namespace tessera::sweep
