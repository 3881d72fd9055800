// SPDX-License-Identifier: MIT
#include "sim/sweep/outcome.h"

#include "sim/sweep/store.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

/// "bow dense tile.workers=4"
std::string point_text(const Json& record) {
    std::string text =
        record["machine"].get<std::string>() + " " + record["workload"].get<std::string>();
    for (const auto& [path, value] : record["changes"].items()) {
        text += fmt::format(" {}={}", path,
                            value.is_string() ? value.get<std::string>() : value.dump());
    }
    return text;
}

std::string message_of(const Json& record) {
    if (record.contains("message")) {
        return record["message"].get<std::string>();
    }
    const Json::json_pointer sentence("/result/check/sentence");
    return record.contains(sentence) ? record[sentence].get<std::string>() : "";
}

} // namespace

void Outcome::add(const Json& record) {
    const auto status = record["status"].get<std::string>();
    if (status == kOkStatus) {
        return;
    }
    not_ok_.add(status, message_of(record), point_text(record));
    if (status == "check_failed") {
        wrong_.add(status, message_of(record), point_text(record));
    }
}

void Outcome::add_known(const std::filesystem::path& store,
                        const std::unordered_set<PointKey, PointKey::Hash>& points) {
    if (points.empty()) {
        return;
    }
    std::vector<std::string> lines; // a point each, in the order of the store
    std::unordered_map<PointKey, std::size_t, PointKey::Hash> numbers;
    for_each_point(store, [&](const PointLine& point) {
        if (points.contains(point.key())) {
            const auto [known, is_new] = numbers.try_emplace(point.key(), lines.size());
            lines.resize(numbers.size());
            lines[known->second] = point.text(); // what was said last counts
        }
    });
    for (const std::string& line : lines) {
        add(Json::parse(line));
    }
}

} // namespace tessera::sweep
