// SPDX-License-Identifier: MIT
#include "sim/sweep/sweep_file.h"

#include "base/config/describe.h"
#include "base/config/read.h"
#include "base/expression/expression.h"
#include "base/text.h"
#include "sim/sweep/sweep_axis.h"
#include "sim/sweep/sweep_notes.h"
#include "sim/sweep/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::sweep {
namespace {

using config::child_pointer;
using Json = nlohmann::json;

class Reader {
public:
    explicit Reader(const config::Document& document) : document_(document), notes_(document) {}

    SweepSpec read() {
        notes_.mistakes = config::read(sweep_shape(), document_, &text_);
        if (!notes_.mistakes.empty()) {
            config::throw_if_any(
                std::move(notes_.mistakes)); // what follows takes forms for granted
        }
        sweep_.machines = names("/machine", text_.machine);
        sweep_.workloads = names("/workload", text_.workload);
        sweep_.mode = text_.mode;
        sweep_.set = changes("/set", text_.set);
        sweep_.sample = {text_.sample.kind, text_.sample.n,
                         static_cast<std::uint64_t>(text_.sample.seed)};
        const bool samples =
            text_.sample.kind == Sampling::Random || text_.sample.kind == Sampling::LatinHypercube;
        if (samples && text_.sample.n == 0) {
            notes_.fail("/sample/n", "missing, expected a number of points");
        }
        for (std::size_t i = 0; i < text_.axes.size(); ++i) {
            if (auto axis = axis_of(notes_, fmt::format("/axes/{}", i), text_.axes[i], samples)) {
                sweep_.axes.push_back(*std::move(axis));
            }
        }
        for (std::size_t i = 0; i < text_.points.size(); ++i) {
            sweep_.points.push_back(changes(fmt::format("/points/{}", i), text_.points[i]));
        }
        derive();
        conditions("/exclude", text_.exclude);
        conditions("/constraints", text_.constraints);
        sweep_.exclude = text_.exclude;
        sweep_.constraints = text_.constraints;
        metrics();
        objectives();
        config::throw_if_any(std::move(notes_.mistakes));
        sweep_.places = std::move(notes_.places);
        return std::move(sweep_);
    }

private:
    std::vector<std::string> names(const std::string& pointer, const Json& given) {
        std::vector<std::string> found;
        const Json list = given.is_array() ? given : Json::array({given});
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (!list[i].is_string()) {
                notes_.fail(given.is_array() ? fmt::format("{}/{}", pointer, i) : pointer,
                            "got " + config::got_text(list[i]) + ", expected a name or a file");
            } else if (std::find(found.begin(), found.end(), list[i]) != found.end()) {
                notes_.fail(fmt::format("{}/{}", pointer, i),
                            in_quotes(list[i].get<std::string>()) + " stands here twice");
            } else {
                found.push_back(list[i]);
                notes_.place(given.is_array() ? fmt::format("{}/{}", pointer, i) : pointer,
                             pointer.substr(1), list[i]);
            }
        }
        if (list.empty()) {
            notes_.fail(pointer, "got an empty list, expected a name or several");
        }
        return found;
    }

    Changes changes(const std::string& pointer, const Json& object) {
        Changes made;
        if (object.is_object()) {
            for (const auto& [path, value] : object.items()) {
                notes_.place(child_pointer(pointer, path), full_path(path), value);
                if (notes_.is_value(child_pointer(pointer, path), value)) {
                    made.push_back({full_path(path), value});
                }
            }
        }
        return made;
    }

    /// The names in an expression; nothing where it is none, which is told.
    std::vector<std::string> names_of(const std::string& pointer, const std::string& text) {
        try {
            return expression::names_in(text);
        } catch (const expression::Error& error) {
            notes_.fail(pointer,
                        fmt::format("{}, character {}: {}",
                                    in_quotes(text, expression::kLongestShown), error.column(),
                                    error.what()),
                        error.hint());
            return {};
        }
    }

    void conditions(const std::string& pointer, const std::vector<std::string>& texts) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
            names_of(fmt::format("{}/{}", pointer, i), texts[i]);
        }
    }

    void derive() {
        for (const std::string& path : in_order_of_need("/derive", text_.derive)) {
            sweep_.derived.push_back({path, text_.derive[path].get<std::string>()});
        }
        if (text_.derive.is_object()) {
            for (const auto& [path, given] : text_.derive.items()) {
                if (given.is_string()) {
                    notes_.change(child_pointer("/derive", path), path);
                }
            }
        }
    }

    void metrics() {
        for (const std::string& name : in_order_of_need("/metrics", text_.metrics)) {
            try {
                if (expression::names_in(name) != std::vector{name}) {
                    notes_.fail(child_pointer("/metrics", name), "expressions could not name it");
                }
            } catch (const expression::Error&) {
                notes_.fail(child_pointer("/metrics", name), "expressions could not name it");
            }
            sweep_.metrics.push_back({name, text_.metrics[name].get<std::string>()});
        }
    }

    /// The keys of an object of expressions, each behind those that its expression names. Mistakes
    /// are told.
    std::vector<std::string> in_order_of_need(const std::string& at, const Json& expressions) {
        std::vector<std::string> ordered;
        if (!expressions.is_object()) {
            return ordered;
        }
        std::map<std::string, std::vector<std::string>> needs;
        for (const auto& [name, given] : expressions.items()) {
            const std::string pointer = child_pointer(at, name);
            if (!given.is_string()) {
                notes_.fail(pointer, "got " + config::got_text(given) +
                                         ", expected an expression in quotes");
                continue;
            }
            needs[name] = names_of(pointer, given.get<std::string>());
        }
        // those that need nothing more, again and again
        while (!needs.empty()) {
            const auto ready = std::find_if(needs.begin(), needs.end(), [&](const auto& one) {
                return std::none_of(one.second.begin(), one.second.end(),
                                    [&](const auto& name) { return needs.contains(name); });
            });
            if (ready == needs.end()) {
                notes_.fail(child_pointer(at, needs.begin()->first),
                            "it follows from itself: " + circle_of(needs));
                break;
            }
            ordered.push_back(ready->first);
            needs.erase(ready);
        }
        return ordered;
    }

    /// The paths of a circle, from one to itself.
    static std::string circle_of(const std::map<std::string, std::vector<std::string>>& needs) {
        std::vector<std::string> way{needs.begin()->first};
        while (std::count(way.begin(), way.end(), way.back()) < 2) {
            const auto& names = needs.at(way.back());
            way.push_back(*std::find_if(names.begin(), names.end(),
                                        [&](const auto& name) { return needs.contains(name); }));
        }
        const auto first = std::find(way.begin(), way.end(), way.back());
        return fmt::format("{}", fmt::join(first, way.end(), " needs "));
    }

    void objectives() {
        for (std::size_t i = 0; i < text_.objectives.size(); ++i) {
            const ObjectiveText& given = text_.objectives[i];
            const std::string pointer = fmt::format("/objectives/{}", i);
            const bool weighted = given.over == Objective::Over::WeightedSum;
            if (!weighted && !given.weights.empty()) {
                notes_.fail(pointer + "/weights", "weights are of weighted_sum");
            } else if (!given.weights.empty() && given.weights.size() != sweep_.workloads.size()) {
                notes_.fail(pointer + "/weights",
                            fmt::format("got {}, expected one for each of {}",
                                        counted(given.weights.size(), "weight"),
                                        counted(sweep_.workloads.size(), "workload")));
            }
            Objective made{given.path, given.largest, given.over, given.weights};
            if (weighted && made.weights.empty()) {
                made.weights.assign(sweep_.workloads.size(), 1.0);
            }
            sweep_.objectives.push_back(std::move(made));
        }
    }

    const config::Document& document_;
    SweepNotes notes_;
    SweepText text_;
    SweepSpec sweep_;
};

Axis axis_of_names(const std::string& path, const std::vector<std::string>& names) {
    Axis axis{{path}, {}, {}};
    for (const std::string& name : names) {
        axis.choices.push_back({name});
    }
    return axis;
}

} // namespace

std::string full_path(const std::string& path) {
    return path == "seed" ? "workload.seed" : path;
}

SweepSpec read_sweep(const config::Document& document) {
    return Reader(document).read();
}

Space space_of(const SweepSpec& sweep, const config::Document& document) {
    std::vector<Axis> all;
    if (sweep.machines.size() > 1) {
        all.push_back(axis_of_names("machine", sweep.machines));
    }
    if (sweep.workloads.size() > 1) {
        all.push_back(axis_of_names("workload", sweep.workloads));
    }
    const std::int64_t size = Space::size_of(sweep.axes, sweep.sample, all);
    if (size > kMostPoints) {
        throw ConfigError(document.at_value(
            "/axes",
            fmt::format("got a grid of {} points, expected at most {}",
                        size == kEndless ? "endless" : grouped(size), grouped(kMostPoints)),
            "a random or latin_hypercube sample takes some of them"));
    }
    return {sweep.axes, sweep.sample, std::move(all)};
}

nlohmann::json sweep_schema() {
    return config::json_schema(sweep_shape(), "tessera sweep");
}

} // namespace tessera::sweep
