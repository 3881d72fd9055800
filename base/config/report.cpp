// SPDX-License-Identifier: MIT
#include "base/config/report.h"

#include <algorithm>

namespace tessera::config {
namespace {

using Row = std::vector<std::string>;

std::string aligned(const std::vector<Row>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], row[i].size());
        }
    }
    std::string out;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + '\n';
    }
    return out;
}

void collect(const nlohmann::json& node, const std::string& pointer, const std::string& path,
             const Origins& origins, std::vector<ResolvedValue>& out) {
    for (const auto& [key, value] : node.items()) {
        const std::string at = child_pointer(pointer, key);
        const std::string name = path.empty() ? key : path + "." + key;
        if (value.is_object()) {
            collect(value, at, name, origins, out);
            continue;
        }
        const auto found = origins.find(at);
        out.push_back({name, value, found == origins.end() ? "default" : found->second.text()});
    }
}

} // namespace

std::string parameters_text(const std::vector<Parameter>& parameters) {
    std::vector<Row> rows{
        {"path", "type", "unit", "range", "default", "meaning", "source", "used", "belongs to"}};
    for (const auto& p : parameters) {
        rows.push_back({p.path, p.type, p.unit, p.range, p.default_value, p.sentence, p.source,
                        p.used, p.form});
    }
    return aligned(rows);
}

std::vector<ResolvedValue> resolved_values(const nlohmann::json& resolved, const Origins& origins) {
    std::vector<ResolvedValue> out;
    collect(resolved, "", "", origins, out);
    return out;
}

std::string resolved_text(const nlohmann::json& resolved, const Origins& origins) {
    std::vector<Row> rows;
    for (const auto& leaf : resolved_values(resolved, origins)) {
        rows.push_back({leaf.path, value_text(leaf.value), leaf.origin});
    }
    return aligned(rows);
}

} // namespace tessera::config
