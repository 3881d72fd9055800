// SPDX-License-Identifier: MIT
#include "kernels/vertex/evaluation.h"

#include "base/config/read.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tessera::vertex {

void Evaluation::fail(const std::string& pointer, std::string message, std::string hint) {
    mistakes_.push_back(document_->at_value(pointer, std::move(message), std::move(hint)));
}

double Evaluation::number(const std::string& pointer, const Json& given, double otherwise) {
    if (given.is_number()) {
        return given.get<double>();
    }
    if (!given.is_string()) {
        fail(pointer, "got " + config::got_text(given) + ", expected a number or an expression");
        return otherwise;
    }
    const auto& text = given.get_ref<const std::string&>();
    try {
        return expression::evaluate(text, scope_);
    } catch (const expression::Error& error) {
        fail(pointer,
             fmt::format("{}, character {}: {}", in_quotes(text, expression::kLongestShown),
                         error.column(), error.what()),
             error.hint());
    }
    return otherwise;
}

std::int64_t Evaluation::whole(const std::string& pointer, const Json& given, std::int64_t low,
                               std::int64_t high, const std::string& unit) {
    const double value = number(pointer, given, static_cast<double>(low));
    if (!(value >= static_cast<double>(low) && value <= static_cast<double>(high)) ||
        std::floor(value) != value) {
        fail(pointer, fmt::format("got {}, expected a whole number of {}..{}{}{}", value, low, high,
                                  unit.empty() ? "" : " ", unit));
        return low;
    }
    return static_cast<std::int64_t>(value);
}

const Json* Evaluation::find(const std::string& pointer) const {
    const Json::json_pointer at{pointer};
    return document_->root.contains(at) ? &document_->root.at(at) : nullptr;
}

void Evaluation::throw_if_failed() {
    config::throw_if_any(std::move(mistakes_));
    mistakes_.clear();
}

std::vector<std::pair<std::string, std::string>> defines_of(Evaluation& evaluation,
                                                            const LoadedVertex& loaded) {
    std::vector<std::pair<std::string, std::string>> defines;
    for (const auto& [name, given] : loaded.spec.defines.items()) {
        const std::string text =
            given.is_object()
                ? given.at("text").get<std::string>()
                : std::to_string(evaluation.whole(config::child_pointer("/defines", name), given,
                                                  INT32_MIN, UINT32_MAX));
        defines.emplace_back(name, text);
    }
    return defines;
}

std::vector<Point> points_of(const LoadedVertex& loaded, const spec::MachineSpec& machine) {
    const Json& listed = loaded.spec.points;
    const auto work = std::make_shared<expression::Work>();
    std::vector<Point> points;
    for (std::size_t i = 0; i < std::max<std::size_t>(1, listed.size()); ++i) {
        expression::Scope scope;
        scope.work = work;
        scope.no_table = "it may stand in state and in values";
        scope.numbers["tile.workers"] = static_cast<double>(machine.tile.workers);
        Evaluation evaluation(loaded, std::move(scope));
        Point point;
        for (const auto& name : loaded.parameter_names) {
            const auto& fixed = loaded.fixed_parameters;
            const bool is_fixed = std::find(fixed.begin(), fixed.end(), name) != fixed.end();
            const bool own = !is_fixed && i < listed.size() && listed[i].contains(name);
            const std::string at =
                config::child_pointer(own ? fmt::format("/points/{}", i) : "/parameters", name);
            const double value = evaluation.number(at, *evaluation.find(at));
            evaluation.scope().numbers[name] = value;
            point.shown.emplace_back(name, value);
        }
        evaluation.throw_if_failed();
        point.scope = evaluation.scope();
        const bool known = std::any_of(points.begin(), points.end(), [&](const Point& other) {
            return other.shown == point.shown;
        });
        if (!known) {
            points.push_back(std::move(point));
        }
    }
    return points;
}

} // namespace tessera::vertex
