// SPDX-License-Identifier: MIT
#include "sim/calibrate/reference.h"

#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace tessera::calibrate {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 6> kNeeded{"id",     "machine", "workload",
                                             "metric", "value",   "unit"};
constexpr double kLargest = 1e15;
constexpr double kSmallest = 1e-15;

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

/// Why a table holds no reference rows, or nothing.
std::string missing_column(const CsvTable& table) {
    for (const char* needed : kNeeded) {
        if (std::find(table.heading.begin(), table.heading.end(), needed) == table.heading.end()) {
            const std::string hint = config::did_you_mean(needed, table.heading);
            return fmt::format("no column '{}'{}", needed, hint.empty() ? "" : "; " + hint);
        }
    }
    return {};
}

} // namespace

std::string ReferenceRow::text(const std::string& column) const {
    const auto found = cells_.find(column);
    return found == cells_.end() ? std::string{} : found->second.text;
}

bool ReferenceRow::says(const std::string& column, const std::vector<std::string>& words) const {
    const std::string held = lower(text(column));
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return held.find(lower(word)) != std::string::npos;
    });
}

std::optional<double> ReferenceRow::number(const std::string& column) const {
    const std::string held = text(column);
    if (held.empty()) {
        return std::nullopt;
    }
    double value = 0;
    const auto [end, failed] = std::from_chars(held.data(), held.data() + held.size(), value);
    if (failed != std::errc{} || end != held.data() + held.size() || !std::isfinite(value)) {
        throw error(column, fmt::format("got {}, expected a number", in_quotes(held)));
    }
    return value;
}

std::optional<std::int64_t> ReferenceRow::count(const std::string& column) const {
    const auto value = number(column);
    if (!value) {
        return std::nullopt;
    }
    if (*value < 1 || *value > kLargest || *value != std::floor(*value)) {
        throw error(column, fmt::format("got {}, expected a whole number of at least 1 (to {:g})",
                                        cut(text(column)), kLargest));
    }
    return static_cast<std::int64_t>(*value);
}

double ReferenceRow::value() const {
    const auto value = number("value");
    if (!value || *value < kSmallest || *value > kLargest) {
        throw error("value", fmt::format("got {}, expected a number above 0 ({:g}..{:g})",
                                         in_quotes(text("value")), kSmallest, kLargest));
    }
    return *value;
}

ConfigError ReferenceRow::error(const std::string& column, std::string message,
                                std::string hint) const {
    const auto found = cells_.find(column);
    const CsvCell& at = found == cells_.end() ? cells_.at("id") : found->second;
    return ConfigError(Diagnostic{.file = file_,
                                  .line = at.line,
                                  .column = at.column,
                                  .pointer = column,
                                  .message = std::move(message),
                                  .hint = std::move(hint)});
}

void add_rows(Reference& reference, const CsvTable& table) {
    if (const std::string reason = missing_column(table); !reason.empty()) {
        reference.other_files.push_back({table.file, reason, table.rows.size()});
        return;
    }
    if (table.rows.empty()) {
        reference.other_files.push_back({table.file, "no rows below the heading", 0});
    }
    std::vector<Diagnostic> mistakes;
    const auto refuse = [&](const ReferenceRow& row, std::string message) {
        mistakes.push_back(row.error("id", std::move(message)).diagnostics().front());
    };
    for (const auto& cells : table.rows) {
        std::map<std::string, CsvCell> named;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            named.emplace(table.heading[i], cells[i]);
        }
        ReferenceRow row(table.file, std::move(named));
        if (row.id().empty()) {
            refuse(row, "got an empty id");
            continue;
        }
        const auto other =
            std::find_if(reference.rows.begin(), reference.rows.end(),
                         [&](const ReferenceRow& known) { return known.id() == row.id(); });
        if (other != reference.rows.end()) {
            refuse(row, fmt::format("got id {} twice, first at {}:{}", in_quotes(row.id()),
                                    other->file(), other->line()));
            continue;
        }
        reference.rows.push_back(std::move(row));
    }
    config::throw_if_any(std::move(mistakes));
}

Reference read_reference(const fs::path& directory) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (fs::directory_iterator at(directory, failed), end; !failed && at != end;
         at.increment(failed)) {
        if (lower(at->path().extension().string()) == ".csv" && !at->is_directory(failed)) {
            files.push_back(at->path());
        }
    }
    if (failed) {
        throw IoError(fmt::format("{}: cannot be read: {}", directory.string(), failed.message()));
    }
    if (files.empty()) {
        throw IoError(fmt::format("{}: has no .csv file", directory.string()));
    }
    std::sort(files.begin(), files.end());
    Reference reference;
    std::vector<Diagnostic> mistakes;
    for (const auto& file : files) {
        try {
            add_rows(reference, read_csv(file));
        } catch (const ConfigError& error) {
            mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
        }
    }
    if (mistakes.empty() && reference.rows.empty()) {
        for (const OtherFile& other : reference.other_files) {
            mistakes.push_back({other.file, 1, 1, {}, other.reason, {}});
        }
    }
    config::throw_if_any(std::move(mistakes));
    return reference;
}

} // namespace tessera::calibrate
