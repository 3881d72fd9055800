// SPDX-License-Identifier: MIT
#include "sim/run/results_csv.h"

#include "sim/result/result.h"
#include "sim/sweep/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_map>
#include <utility>

namespace tessera::run {
namespace {

using Json = nlohmann::json;

/// The first columns.
const std::array<const char*, 15> kHead{
    "status",          "machine",       "workload",   "mode", "model",  "message",
    "exit_code",       "part",          "kind",       "name", "cycles", "phases.compute",
    "phases.exchange", "phases.stream", "phases.sync"};

/// Lists of a result's steps, and the kind of each.
const std::array<std::pair<const char*, const char*>, 3> kSteps{
    {{"compute_sets", "compute"}, {"exchanges", "exchange"}, {"streams", "stream"}}};

std::string cell_of(const Json& value) {
    return value.is_boolean()        ? (value.get<bool>() ? "1" : "0")
           : value.is_string()       ? sweep::csv_field(value.get<std::string>())
           : value.is_number_float() ? fmt::format("{}", value.get<double>())
                                     : value.dump();
}

std::string mode_of(const Json& result) {
    const bool has_timing = result.contains("timing") && !result["timing"].is_null();
    return result.contains("mode") ? result["mode"].get<std::string>()
           : has_timing            ? "timing"
                                   : "functional";
}

class Table {
public:
    Table() {
        for (const char* column : kHead) {
            column_of(column);
        }
    }

    void begin_line() { lines_.emplace_back(); }

    void put(const std::string& column, const Json& value) {
        const std::size_t at = column_of(column);
        auto& line = lines_.back();
        line.resize(std::max(line.size(), at + 1));
        line[at] = cell_of(value);
    }

    /// Values of an object by their paths, without lists, which are of other lines.
    void put_all(const std::string& prefix, const Json& object) {
        for (const auto& [key, value] : object.items()) {
            if (value.is_object()) {
                put_all(prefix + key + ".", value);
            } else if (!value.is_array() && !value.is_null()) {
                put(prefix + key, value);
            }
        }
    }

    [[nodiscard]] std::string text() const {
        std::string text = line_text(columns_);
        for (const auto& line : lines_) {
            text += line_text(line);
        }
        return text;
    }

private:
    std::size_t column_of(const std::string& column) {
        const auto [found, is_new] = numbers_.try_emplace(column, columns_.size());
        if (is_new) {
            columns_.push_back(sweep::csv_field(column));
        }
        return found->second;
    }

    [[nodiscard]] std::string line_text(const std::vector<std::string>& cells) const {
        std::string text;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            text += (i == 0 ? "" : ",") + (i < cells.size() ? cells[i] : std::string());
        }
        return text + "\r\n";
    }

    std::vector<std::string> columns_; ///< in the order in which they first appear
    std::unordered_map<std::string, std::size_t> numbers_;
    std::vector<std::vector<std::string>> lines_;
};

class Lines {
public:
    void add(const Json& result) {
        result_ = &result;
        begin("run");
        if (result["status"] == "failed") {
            table_.put("exit_code", result["exit_code"]);
            table_.put("message", result["message"]);
            return;
        }
        run();
        for (const Json& kernel : result.value("kernels", Json::array())) {
            begin("kernel");
            kernel_line(kernel);
        }
        for (const auto& [list, kind] : kSteps) {
            for (const Json& step : result.value(list, Json::array())) {
                begin("step");
                table_.put("kind", kind);
                table_.put_all("", step);
            }
        }
    }

    [[nodiscard]] std::string text() const { return table_.text(); }

private:
    void begin(const char* part) {
        table_.begin_line();
        table_.put("status", (*result_)["status"]);
        table_.put("machine", (*result_)["machine"]["name"]);
        table_.put("workload", (*result_)["workload"]["name"]);
        if ((*result_)["status"] != "failed") {
            table_.put("mode", mode_of(*result_));
        }
        table_.put("model", result::kModelVersion);
        table_.put("part", part);
    }

    void run() {
        Json values = *result_;
        for (const char* key :
             {"host", "machine", "mode", "schema_version", "status", "workload"}) {
            values.erase(key);
        }
        table_.put_all("", values);
        for (const char* key : {"wall_s", "peak_rss_bytes"}) {
            table_.put(std::string("host.") + key, (*result_)["host"][key]);
        }
    }

    /// A kernel's cycles of a kind are in the same column as the run's.
    void kernel_line(Json kernel) {
        for (const auto& [kind, cycles] : (*result_)["phases"].items()) {
            table_.put("phases." + kind, kernel[kind]);
            kernel.erase(kind);
        }
        table_.put_all("", kernel);
    }

    const Json* result_ = nullptr;
    Table table_;
};

} // namespace

std::string results_csv(const std::vector<Json>& results) {
    Lines lines;
    for (const Json& result : results) {
        lines.add(result);
    }
    return lines.text();
}

} // namespace tessera::run
