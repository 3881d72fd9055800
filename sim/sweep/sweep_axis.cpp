// SPDX-License-Identifier: MIT
#include "sim/sweep/sweep_axis.h"

#include "base/config/read.h"
#include "base/text.h"
#include "sim/sweep/sweep_file.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

bool is_power_of_two(const Json& value) {
    return value.is_number_integer() && value > 0 &&
           std::has_single_bit(value.get<std::uint64_t>());
}

bool values(SweepNotes& notes, const std::string& pointer, const AxisText& given, Axis& axis) {
    if (given.values.empty()) {
        notes.fail(pointer + "/values", "got an empty list, expected a value or several");
        return false;
    }
    bool right = true;
    for (std::size_t i = 0; i < given.values.size(); ++i) {
        const std::string at = fmt::format("{}/values/{}", pointer, i);
        const Json& value = given.values[i];
        if (given.paths.empty()) {
            notes.place(at, axis.paths.front(), value);
            right = notes.is_value(at, value) && right;
            axis.choices.push_back({value});
        } else if (!value.is_array() || value.size() != axis.paths.size()) {
            notes.fail(at, fmt::format("got {}, expected a list of {}", config::got_text(value),
                                       counted(axis.paths.size(), "value")));
            right = false;
        } else {
            for (std::size_t j = 0; j < value.size(); ++j) {
                notes.place(fmt::format("{}/{}", at, j), axis.paths[j], value[j]);
                right = notes.is_value(fmt::format("{}/{}", at, j), value[j]) && right;
            }
            axis.choices.emplace_back(value.begin(), value.end());
        }
    }
    return right;
}

bool are_numbers(SweepNotes& notes, const std::string& pointer, const Json& list) {
    bool right = true;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].is_number()) {
            notes.fail(fmt::format("{}/{}", pointer, i),
                       "got " + config::got_text(list[i]) + ", expected a number");
            right = false;
        }
    }
    return right;
}

bool range(SweepNotes& notes, const std::string& pointer, const AxisText& given, bool samples,
           Axis& axis) {
    const Json& list = given.range;
    const std::size_t least = samples ? 2 : 3;
    if (list.size() < least || list.size() > 3) {
        notes.fail(pointer,
                   fmt::format("got {}, expected {}", counted(list.size(), "number"),
                               samples ? "[from, to] or [from, to, step]" : "[from, to, step]"),
                   list.size() == 2 ? "without a step it is for a random or latin_hypercube sample"
                                    : "");
        return false;
    }
    if (!are_numbers(notes, pointer, list)) {
        return false;
    }
    const auto from = list[0].get<double>();
    const auto to = list[1].get<double>();
    if (list.size() == 2) {
        if (!(from < to) || (given.logarithmic && from <= 0)) {
            notes.fail(pointer, given.logarithmic
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
        notes.fail(pointer, count == 0
                                ? fmt::format("no step of {} leads from {} to {}", step, from, to)
                                : fmt::format("got {} values, expected at most {}",
                                              count == kEndless ? "endless" : grouped(count),
                                              grouped(kMostPoints)));
        return false;
    }
    axis.choices = Axis::range(list[0], list[1], list[2]);
    return true;
}

bool log2(SweepNotes& notes, const std::string& pointer, const AxisText& given, Axis& axis) {
    const Json& list = given.log2;
    if (list.size() != 2 || !is_power_of_two(list[0]) || !is_power_of_two(list[1]) ||
        list[0] > list[1]) {
        notes.fail(pointer, "expected [from, to], two powers of two, the second one not less");
        return false;
    }
    axis.choices = Axis::powers_of_two(list[0].get<std::int64_t>(), list[1].get<std::int64_t>());
    return true;
}

} // namespace

std::optional<Axis> axis_of(SweepNotes& notes, const std::string& pointer, const AxisText& given,
                            bool samples) {
    Axis axis;
    if (given.path.empty() == given.paths.empty()) {
        notes.fail(pointer, "expected 'path' or 'paths', one of them");
        return std::nullopt;
    }
    axis.paths = given.paths.empty() ? std::vector{given.path} : given.paths;
    for (std::size_t i = 0; i < axis.paths.size(); ++i) {
        notes.change(given.paths.empty() ? pointer + "/path"
                                         : fmt::format("{}/paths/{}", pointer, i),
                     axis.paths[i]);
        axis.paths[i] = full_path(axis.paths[i]);
    }
    const int forms = (given.values.is_null() ? 0 : 1) + (given.range.is_null() ? 0 : 1) +
                      (given.log2.is_null() ? 0 : 1);
    if (forms != 1) {
        notes.fail(pointer, "expected 'values', 'range' or 'log2', one of them");
        return std::nullopt;
    }
    if (given.values.is_null() && axis.paths.size() > 1) {
        notes.fail(pointer, "several paths go together by 'values'");
        return std::nullopt;
    }
    const bool filled = !given.values.is_null() ? values(notes, pointer, given, axis)
                        : !given.range.is_null()
                            ? range(notes, pointer + "/range", given, samples, axis)
                            : log2(notes, pointer + "/log2", given, axis);
    if (given.logarithmic && !axis.stretch) {
        notes.fail(pointer + "/scale", "a scale is of a range [from, to]");
    }
    return filled ? std::optional(std::move(axis)) : std::nullopt;
}

} // namespace tessera::sweep
