// SPDX-License-Identifier: MIT
#include "base/config/report.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace tessera::config {
namespace {

constexpr std::size_t kMeaningIndent = 4;

using Row = std::vector<std::string>;

/// An array that holds objects has paths into it; any other is one value.
bool has_inside(const nlohmann::json& value) {
    return value.is_object() ||
           (value.is_array() && !value.empty() && value.front().is_structured());
}

void collect(const nlohmann::json& node, const std::string& pointer, const std::string& path,
             const Origins& origins, std::vector<ResolvedValue>& out) {
    for (const auto& [key, value] : node.items()) {
        const std::string at = child_pointer(pointer, key);
        const std::string name = path.empty() ? key : path + "." + key;
        if (has_inside(value)) {
            collect(value, at, name, origins, out);
            continue;
        }
        const auto found = origins.find(at);
        out.push_back({name, value, found == origins.end() ? "default" : found->second.text()});
    }
}

bool is_choice(const Parameter& parameter) {
    return parameter.range.find('|') != std::string::npos;
}

/// A choice among words has its words below, where there is room.
std::string range_cell(const Parameter& parameter) {
    return is_choice(parameter) ? "one of" : parameter.range;
}

std::string with_unit(const std::string& text, const Parameter& parameter) {
    return text.empty() || parameter.unit.empty() ? text : text + " " + parameter.unit;
}

/// Sentence, words of a choice, source and origin.
std::string meaning(const Parameter& parameter, const std::string& origin) {
    std::string text = parameter.sentence;
    const auto add = [&](const std::string& part) {
        text += (text.empty() || part.empty() ? "" : "; ") + part;
    };
    if (is_choice(parameter)) {
        std::string words = "one of " + parameter.range;
        for (std::size_t at = 0; (at = words.find('|', at)) != std::string::npos;) {
            words.replace(at, 1, ", ");
        }
        add(words);
    }
    add(parameter.used.empty() ? "" : "used " + parameter.used);
    add(parameter.source);
    add(origin.empty() || origin == "default" ? "" : "set at " + origin);
    return text;
}

/// The rows as a table, each but the first with its paragraph below.
std::string with_meanings(const std::vector<Row>& rows, const std::vector<std::string>& meanings,
                          const Layout& layout) {
    // The last column is empty and to the right: nothing is wrapped, so a row is a line.
    std::vector<Align> columns(rows.front().size(), Align::Left);
    columns.back() = Align::Right;
    std::istringstream lines(table(layout, 0, columns, rows));
    std::string out;
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
        line.erase(line.find_last_not_of(' ') + 1);
        out += (number == 0 ? painted(layout, Paint::Quiet, line) : line) + "\n";
        if (number > 0 && !meanings[number - 1].empty()) {
            out += wrapped(layout, kMeaningIndent, meanings[number - 1]);
        }
    }
    return out;
}

} // namespace

std::string parameters_text(const std::vector<Parameter>& parameters, const Layout& layout) {
    std::string text;
    for (auto first = parameters.begin(); first != parameters.end();) {
        const auto end = std::find_if(first, parameters.end(), [&](const Parameter& parameter) {
            return parameter.form != first->form;
        });
        std::vector<Row> rows{{"path", "type", "range", "default", ""}};
        std::vector<std::string> meanings;
        for (auto p = first; p != end; ++p) {
            rows.push_back({p->path, p->type, with_unit(range_cell(*p), *p), p->default_value, ""});
            meanings.push_back(meaning(*p, ""));
        }
        text += text.empty() ? "" : "\n";
        text += first->form.empty() ? "" : painted(layout, Paint::Head, first->form) + "\n";
        text += with_meanings(rows, meanings, layout);
        first = end;
    }
    return text;
}

std::vector<ResolvedValue> resolved_values(const nlohmann::json& resolved, const Origins& origins) {
    std::vector<ResolvedValue> out;
    collect(resolved, "", "", origins, out);
    return out;
}

std::string resolved_text(const Shape& shape, const std::string& prefix,
                          const nlohmann::json& resolved, const Origins& origins,
                          const Layout& layout) {
    std::map<std::string, ResolvedValue> values;
    for (auto& leaf : resolved_values(resolved, origins)) {
        values.emplace(prefix + leaf.path, leaf);
    }
    std::vector<Row> rows{{"path", "value", "range", "default", ""}};
    std::vector<std::string> meanings;
    for (const auto& parameter : parameters_of(shape, prefix, resolved)) {
        const auto found = values.find(parameter.path);
        if (found == values.end()) { // part of the file only, or not given
            continue;
        }
        const auto& value = found->second.value;
        const std::string text = value.is_string() ? value.get<std::string>() : value_text(value);
        const bool is_list = value.is_array(); // its unit is that of their number
        rows.push_back({parameter.path, is_list ? text : with_unit(text, parameter),
                        range_cell(parameter), parameter.default_value, ""});
        meanings.push_back(meaning(parameter, found->second.origin));
    }
    return with_meanings(rows, meanings, layout);
}

} // namespace tessera::config
