// SPDX-License-Identifier: MIT
#include "sim/sweep/sweep_file.h"

#include "base/config/describe.h"
#include "base/config/paths.h"
#include "base/config/read.h"
#include "base/expression/expression.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

namespace tessera::sweep {
namespace {

using config::child_pointer;
using config::Describe;
using Json = nlohmann::json;
using ShapePointer = std::shared_ptr<const config::Shape>;

constexpr const char* kSource = "docs/decisions/sweeps.md";

/// As the file has them.
struct AxisText {
    std::string path;
    std::vector<std::string> paths;
    Json values;
    Json range;
    Json log2;
    bool logarithmic = false;
};

struct ObjectiveText {
    std::string path;
    bool largest = false;
    Objective::Over over = Objective::Over::GeometricMean;
    std::vector<double> weights;
};

struct SampleText {
    Sampling kind = Sampling::Grid;
    std::int64_t n = 0;
    std::int64_t seed = 1;
};

struct SweepText {
    Json machine = "bow";
    Json workload;
    std::string mode = "timing";
    Json set;
    std::vector<AxisText> axes;
    SampleText sample;
    Json points;
    Json derive;
    std::vector<std::string> exclude;
    std::vector<std::string> constraints;
    std::vector<ObjectiveText> objectives;
};

void describe_path(config::FieldLine one) {
    one.says("a parameter as --set has it");
}

void describe_condition(config::FieldLine one) {
    one.says("a condition");
}

Json array_of(const std::string& type, int least, int most) {
    return {{"items", {{"type", type}}}, {"minItems", least}, {"maxItems", most}};
}

ShapePointer axis_shape() {
    Describe<AxisText> d;
    d.field("path", &AxisText::path)
        .empty_if_absent("paths")
        .says("the parameter that the axis changes, as --set has it")
        .from(kSource);
    d.list("paths", &AxisText::paths, describe_path)
        .range(1, 100)
        .empty_if_absent("path")
        .says("parameters whose values go together")
        .from(kSource);
    d.field("values", &AxisText::values)
        .json({"array"}, {{"minItems", 1}})
        .says("its values; with paths, lists of one for each")
        .from(kSource);
    d.field("range", &AxisText::range)
        .json({"array"}, array_of("number", 2, 3))
        .says("[from, to, step]; in a random or latin_hypercube sample [from, to] too")
        .from(kSource);
    d.field("log2", &AxisText::log2)
        .json({"array"}, array_of("integer", 2, 2))
        .says("[from, to]: powers of two")
        .from(kSource);
    d.field("scale", &AxisText::logarithmic, {{"linear", false}, {"log", true}})
        .says("of range [from, to]: as many from 1 to 10 as from 10 to 100, or not")
        .from(kSource);
    return d.shape();
}

ShapePointer sample_shape() {
    Describe<SampleText> d;
    d.field("kind", &SampleText::kind,
            {{"grid", Sampling::Grid},
             {"random", Sampling::Random},
             {"latin_hypercube", Sampling::LatinHypercube},
             {"one_at_a_time", Sampling::OneAtATime}})
        .says("all combinations, points of chance, or the base and every axis by itself")
        .from(kSource);
    d.field("n", &SampleText::n)
        .unit("points")
        .range(1, kMostPoints)
        .zero_if_absent("the points of the axes")
        .used_with("sample.kind", {"random", "latin_hypercube"})
        .says("how many")
        .from(kSource);
    d.field("seed", &SampleText::seed)
        .range(0, std::int64_t{1} << 53U)
        .used_with("sample.kind", {"random", "latin_hypercube"})
        .says("another seed gives another sample")
        .from(kSource);
    return d.shape();
}

ShapePointer objective_shape() {
    Describe<ObjectiveText> d;
    d.field("path", &ObjectiveText::path).required().says("a number of the result").from(kSource);
    d.field("goal", &ObjectiveText::largest, {{"min", false}, {"max", true}})
        .says("which is best")
        .from(kSource);
    d.field("over", &ObjectiveText::over,
            {{"geometric_mean", Objective::Over::GeometricMean},
             {"weighted_sum", Objective::Over::WeightedSum},
             {"worst", Objective::Over::Worst}})
        .says("what becomes of several workloads' numbers")
        .from(kSource);
    d.list("weights", &ObjectiveText::weights, [](config::FieldLine one) { one.range(0, 1e9); })
        .range(1, 1000)
        .empty_if_absent("1 each")
        .says("of weighted_sum, one a workload")
        .from(kSource);
    return d.shape();
}

const config::Shape& sweep_shape() {
    static const ShapePointer shape = [] {
        Describe<SweepText> d;
        d.fixed("schema_version", 1).required().says("version of this file's format");
        d.note("description").says("one sentence for lists of sweeps");
        d.field("machine", &SweepText::machine)
            .json({"string", "array"})
            .says("a machine, or several: names or files")
            .from(kSource);
        d.field("workload", &SweepText::workload)
            .json({"string", "array"})
            .required()
            .says("a workload, or several: names or files")
            .from(kSource);
        d.field("mode", &SweepText::mode)
            .one_of({"timing", "functional", "auto", "estimate"})
            .says("as of tessera run")
            .from(kSource);
        d.field("set", &SweepText::set)
            .json({"object"})
            .says("parameters of all points: {path: value}")
            .from(kSource);
        d.list("axes", &SweepText::axes, axis_shape()).range(0, 100).says("what points differ in");
        d.object("sample", &SweepText::sample, sample_shape())
            .says("which combinations of the axes");
        d.field("points", &SweepText::points)
            .json({"array"}, {{"items", {{"type", "object"}}}})
            .says("points of their own: {path: value} each")
            .from(kSource);
        d.field("derive", &SweepText::derive)
            .json({"object"}, {{"additionalProperties", {{"type", "string"}}}})
            .says("parameters that follow from others: {path: expression}")
            .from(kSource);
        d.list("exclude", &SweepText::exclude, describe_condition)
            .range(0, 1000)
            .says("conditions on parameters: points where one holds are left out")
            .from(kSource);
        d.list("constraints", &SweepText::constraints, describe_condition)
            .range(0, 1000)
            .says("conditions on results: points where one does not hold are never best")
            .from(kSource);
        d.list("objectives", &SweepText::objectives, objective_shape())
            .range(0, 100)
            .says("what is good");
        return d.shape();
    }();
    return *shape;
}

bool is_power_of_two(const Json& value) {
    return value.is_number_integer() && value > 0 &&
           std::has_single_bit(value.get<std::uint64_t>());
}

class Reader {
public:
    explicit Reader(const config::Document& document) : document_(document) {}

    SweepSpec read() {
        mistakes_ = config::read(sweep_shape(), document_, &text_);
        if (!mistakes_.empty()) {
            config::throw_if_any(std::move(mistakes_)); // what follows takes forms for granted
        }
        sweep_.machines = names("/machine", text_.machine);
        sweep_.workloads = names("/workload", text_.workload);
        sweep_.mode = text_.mode;
        sweep_.set = changes("/set", text_.set);
        sweep_.sample = {text_.sample.kind, text_.sample.n,
                         static_cast<std::uint64_t>(text_.sample.seed)};
        if (samples() && text_.sample.n == 0) {
            fail("/sample/n", "missing, expected a number of points");
        }
        for (std::size_t i = 0; i < text_.axes.size(); ++i) {
            axis(fmt::format("/axes/{}", i), text_.axes[i]);
        }
        for (std::size_t i = 0; i < text_.points.size(); ++i) {
            sweep_.points.push_back(changes(fmt::format("/points/{}", i), text_.points[i]));
        }
        derive();
        conditions("/exclude", text_.exclude);
        conditions("/constraints", text_.constraints);
        sweep_.exclude = text_.exclude;
        sweep_.constraints = text_.constraints;
        objectives();
        config::throw_if_any(std::move(mistakes_));
        return std::move(sweep_);
    }

private:
    void fail(const std::string& pointer, std::string message, std::string hint = {}) {
        mistakes_.push_back(document_.at_value(pointer, std::move(message), std::move(hint)));
    }

    [[nodiscard]] bool samples() const {
        return text_.sample.kind == Sampling::Random ||
               text_.sample.kind == Sampling::LatinHypercube;
    }

    std::vector<std::string> names(const std::string& pointer, const Json& given) {
        std::vector<std::string> found;
        const Json list = given.is_array() ? given : Json::array({given});
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (!list[i].is_string()) {
                fail(given.is_array() ? fmt::format("{}/{}", pointer, i) : pointer,
                     "got " + config::got_text(list[i]) + ", expected a name or a file");
            } else if (std::find(found.begin(), found.end(), list[i]) != found.end()) {
                fail(fmt::format("{}/{}", pointer, i),
                     in_quotes(list[i].get<std::string>()) + " stands here twice");
            } else {
                found.push_back(list[i]);
                note_place(given.is_array() ? fmt::format("{}/{}", pointer, i) : pointer,
                           pointer.substr(1), list[i]);
            }
        }
        if (list.empty()) {
            fail(pointer, "got an empty list, expected a name or several");
        }
        return found;
    }

    /// A plain value, as --set has it.
    bool is_value(const std::string& pointer, const Json& value) {
        if (value.is_number() || value.is_string() || value.is_boolean() || value.is_array()) {
            return true;
        }
        fail(pointer,
             "got " + config::got_text(value) + ", expected a number, text, true, false or a list");
        return false;
    }

    /// Keeps where the file is that a value names, if it names one.
    void note_place(const std::string& pointer, const std::string& path, const Json& value) {
        const bool is_config = path == kMachinePath || path == kWorkloadPath;
        if (!value.is_string() ||
            (is_config ? !config::is_path(value.get<std::string>()) : !names_file(path, value))) {
            return;
        }
        const auto written = value.get<std::string>();
        Diagnostic where = document_.at_value(pointer, "");
        std::string file =
            (std::filesystem::path(where.file).parent_path() / written).lexically_normal().string();
        file = !is_config || config::is_path(file) ? file : "./" + file;
        if (!sweep_.places.add(path, written, {file, "", !is_config, where})) {
            fail(pointer,
                 fmt::format("got {}, which is another file than that of {}", in_quotes(written),
                             sweep_.places.find(path, written)->where.text()),
                 "what a file names is relative to that file, what an option names to the working "
                 "folder");
        }
    }

    Changes changes(const std::string& pointer, const Json& object) {
        Changes made;
        if (object.is_object()) {
            for (const auto& [path, value] : object.items()) {
                note_place(child_pointer(pointer, path), full_path(path), value);
                if (is_value(child_pointer(pointer, path), value)) {
                    made.push_back({full_path(path), value});
                }
            }
        }
        return made;
    }

    /// A path that is changed once.
    void take_path(const std::string& pointer, const std::string& path) {
        if (path == "machine" || path == "workload") {
            fail(pointer, fmt::format("{} is no axis: it may be a list itself", in_quotes(path)));
        } else if (!paths_.insert(full_path(path)).second) {
            fail(pointer, in_quotes(path) + " is changed twice");
        }
    }

    void axis(const std::string& pointer, const AxisText& given) {
        Axis axis;
        if (given.path.empty() == given.paths.empty()) {
            fail(pointer, "expected 'path' or 'paths', one of them");
            return;
        }
        axis.paths = given.paths.empty() ? std::vector{given.path} : given.paths;
        for (std::size_t i = 0; i < axis.paths.size(); ++i) {
            take_path(given.paths.empty() ? pointer + "/path"
                                          : fmt::format("{}/paths/{}", pointer, i),
                      axis.paths[i]);
            axis.paths[i] = full_path(axis.paths[i]);
        }
        const int forms = (given.values.is_null() ? 0 : 1) + (given.range.is_null() ? 0 : 1) +
                          (given.log2.is_null() ? 0 : 1);
        if (forms != 1) {
            fail(pointer, "expected 'values', 'range' or 'log2', one of them");
            return;
        }
        if (given.values.is_null() && axis.paths.size() > 1) {
            fail(pointer, "several paths go together by 'values'");
            return;
        }
        const bool filled = !given.values.is_null()  ? values(pointer, given, axis)
                            : !given.range.is_null() ? range(pointer + "/range", given, axis)
                                                     : log2(pointer + "/log2", given, axis);
        if (given.logarithmic && !axis.stretch) {
            fail(pointer + "/scale", "a scale is of a range [from, to]");
        }
        if (filled) {
            sweep_.axes.push_back(std::move(axis));
        }
    }

    bool values(const std::string& pointer, const AxisText& given, Axis& axis) {
        if (given.values.empty()) {
            fail(pointer + "/values", "got an empty list, expected a value or several");
            return false;
        }
        bool right = true;
        for (std::size_t i = 0; i < given.values.size(); ++i) {
            const std::string at = fmt::format("{}/values/{}", pointer, i);
            const Json& value = given.values[i];
            if (given.paths.empty()) {
                note_place(at, axis.paths.front(), value);
                right = is_value(at, value) && right;
                axis.choices.push_back({value});
            } else if (!value.is_array() || value.size() != axis.paths.size()) {
                fail(at, fmt::format("got {}, expected a list of {}", config::got_text(value),
                                     counted(axis.paths.size(), "value")));
                right = false;
            } else {
                for (std::size_t j = 0; j < value.size(); ++j) {
                    note_place(fmt::format("{}/{}", at, j), axis.paths[j], value[j]);
                    right = is_value(fmt::format("{}/{}", at, j), value[j]) && right;
                }
                axis.choices.emplace_back(value.begin(), value.end());
            }
        }
        return right;
    }

    bool are_numbers(const std::string& pointer, const Json& list) {
        bool right = true;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (!list[i].is_number()) {
                fail(fmt::format("{}/{}", pointer, i),
                     "got " + config::got_text(list[i]) + ", expected a number");
                right = false;
            }
        }
        return right;
    }

    bool range(const std::string& pointer, const AxisText& given, Axis& axis) {
        const Json& list = given.range;
        const std::size_t least = samples() ? 2 : 3;
        if (list.size() < least || list.size() > 3) {
            fail(pointer,
                 fmt::format("got {}, expected {}", counted(list.size(), "number"),
                             samples() ? "[from, to] or [from, to, step]" : "[from, to, step]"),
                 list.size() == 2 ? "without a step it is for a random or latin_hypercube sample"
                                  : "");
            return false;
        }
        if (!are_numbers(pointer, list)) {
            return false;
        }
        const auto from = list[0].get<double>();
        const auto to = list[1].get<double>();
        if (list.size() == 2) {
            if (!(from < to) || (given.logarithmic && from <= 0)) {
                fail(pointer, given.logarithmic
                                  ? "expected two numbers above 0, the second one larger"
                                  : "expected two numbers, the second one larger");
                return false;
            }
            const bool whole = list[0].is_number_integer() && list[1].is_number_integer();
            axis.stretch = Axis::Stretch{from, to, whole, given.logarithmic};
            return true;
        }
        const auto step = list[2].get<double>();
        const std::int64_t count = step == 0 ? 0 : Axis::range_count(from, to, step);
        if (count == 0 || count > kMostPoints) {
            fail(pointer, count == 0
                              ? fmt::format("no step of {} leads from {} to {}", step, from, to)
                              : fmt::format("got {} values, expected at most {}",
                                            count == kEndless ? "endless" : grouped(count),
                                            grouped(kMostPoints)));
            return false;
        }
        axis.choices = Axis::range(list[0], list[1], list[2]);
        return true;
    }

    bool log2(const std::string& pointer, const AxisText& given, Axis& axis) {
        const Json& list = given.log2;
        if (list.size() != 2 || !is_power_of_two(list[0]) || !is_power_of_two(list[1]) ||
            list[0] > list[1]) {
            fail(pointer, "expected [from, to], two powers of two, the second one not less");
            return false;
        }
        axis.choices =
            Axis::powers_of_two(list[0].get<std::int64_t>(), list[1].get<std::int64_t>());
        return true;
    }

    /// The names in an expression; nothing where it is none, which is told.
    std::vector<std::string> names_of(const std::string& pointer, const std::string& text) {
        try {
            return expression::names_in(text);
        } catch (const expression::Error& error) {
            fail(pointer,
                 fmt::format("{}, character {}: {}", in_quotes(text, expression::kLongestShown),
                             error.column(), error.what()),
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
        if (!text_.derive.is_object()) {
            return;
        }
        std::map<std::string, std::vector<std::string>> needs;
        for (const auto& [path, given] : text_.derive.items()) {
            const std::string pointer = child_pointer("/derive", path);
            if (!given.is_string()) {
                fail(pointer,
                     "got " + config::got_text(given) + ", expected an expression in quotes");
                continue;
            }
            take_path(pointer, path);
            needs[path] = names_of(pointer, given.get<std::string>());
        }
        // those that need nothing more, again and again
        while (!needs.empty()) {
            const auto ready = std::find_if(needs.begin(), needs.end(), [&](const auto& one) {
                return std::none_of(one.second.begin(), one.second.end(),
                                    [&](const auto& name) { return needs.contains(name); });
            });
            if (ready == needs.end()) {
                fail(child_pointer("/derive", needs.begin()->first),
                     "it follows from itself: " + circle_of(needs));
                return;
            }
            sweep_.derived.push_back({ready->first, text_.derive[ready->first].get<std::string>()});
            needs.erase(ready);
        }
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
                fail(pointer + "/weights", "weights are of weighted_sum");
            } else if (!given.weights.empty() && given.weights.size() != sweep_.workloads.size()) {
                fail(pointer + "/weights",
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
    SweepText text_;
    SweepSpec sweep_;
    std::set<std::string> paths_; ///< that axes change or that follow
    std::vector<Diagnostic> mistakes_;
};

Axis axis_of(const std::string& path, const std::vector<std::string>& names) {
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
        all.push_back(axis_of("machine", sweep.machines));
    }
    if (sweep.workloads.size() > 1) {
        all.push_back(axis_of("workload", sweep.workloads));
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
