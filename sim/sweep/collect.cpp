// SPDX-License-Identifier: MIT
#include "sim/sweep/collect.h"

#include "base/error.h"
#include "base/output_place.h"
#include "base/temporary_file.h"
#include "sim/sweep/listing.h"
#include "sim/sweep/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <sqlite3.h>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;

/// What lines have besides what is changed and results.
const std::vector<std::pair<std::string, std::vector<std::string>>> kOfLines{
    {"key", {"key"}},
    {"status", {"status"}},
    {"machine", {"machine"}},
    {"workload", {"workload"}},
    {"machine.content", {"contents", "machine"}},
    {"workload.content", {"contents", "workload"}},
    {"mode", {"mode"}},
    {"model", {"model"}},
    {"message", {"message"}},
    {"note", {"note"}},
    {"host.wall_s", {"host", "wall_s"}},
    {"host.peak_rss_bytes", {"host", "peak_rss_bytes"}}};

class Database {
public:
    /// `shown` stands in messages.
    Database(const std::string& file, std::string shown) : file_(std::move(shown)) {
        if (sqlite3_open(file.c_str(), &database_) != SQLITE_OK) {
            const std::string why = sqlite3_errmsg(database_);
            sqlite3_close(database_);
            throw IoError(file_ + ": " + why);
        }
        sqlite3_limit(database_, SQLITE_LIMIT_COLUMN, 2000);
    }
    ~Database() { sqlite3_close(database_); }
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void run(const std::string& statement) {
        check(sqlite3_exec(database_, statement.c_str(), nullptr, nullptr, nullptr));
    }
    void check(int code) const {
        if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) {
            throw IoError(file_ + ": " + sqlite3_errmsg(database_));
        }
    }
    [[nodiscard]] sqlite3* get() const { return database_; }

    class Statement {
    public:
        Statement(const Database& database, const std::string& text) : database_(database) {
            database.check(
                sqlite3_prepare_v2(database.get(), text.c_str(), -1, &statement_, nullptr));
        }
        ~Statement() { sqlite3_finalize(statement_); }
        Statement(const Statement&) = delete;
        Statement& operator=(const Statement&) = delete;

        void bind(int column, const Value& value) {
            if (value && std::holds_alternative<double>(*value)) {
                const double number = std::get<double>(*value);
                constexpr double kExact = 0x1p53;
                const bool whole = number == static_cast<double>(static_cast<std::int64_t>(
                                                 std::clamp(number, -kExact, kExact)));
                database_.check(whole ? sqlite3_bind_int64(statement_, column,
                                                           static_cast<std::int64_t>(number))
                                      : sqlite3_bind_double(statement_, column, number));
            } else if (value) {
                const auto& text = std::get<std::string>(*value);
                database_.check(sqlite3_bind_text(statement_, column, text.data(),
                                                  static_cast<int>(text.size()), SQLITE_TRANSIENT));
            }
        }
        bool step() {
            const int code = sqlite3_step(statement_);
            database_.check(code);
            return code == SQLITE_ROW;
        }
        void reset() {
            sqlite3_reset(statement_);
            sqlite3_clear_bindings(statement_);
        }
        [[nodiscard]] std::string text(int column) const {
            return reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
        }

    private:
        const Database& database_;
        sqlite3_stmt* statement_ = nullptr;
    };

private:
    std::string file_;
    sqlite3* database_ = nullptr;
};

/// A name in a statement.
std::string name_text(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
        text += c == '"' ? "\"\"" : std::string(1, c);
    }
    return text + "\"";
}

/// What the files in settings held: columns beside those of the settings.
void for_each_file_content(
    const PointLine& point,
    const std::function<void(const std::string& column, Value value)>& visit) {
    point.for_each_value("contents", [&](const std::string& path, Value digest) {
        if (path != kMachinePath && path != kWorkloadPath) {
            visit(path + ".content", std::move(digest));
        }
    });
}

std::size_t hash_of(const PointLine& point) {
    return std::hash<std::string_view>{}(point.text());
}

/// The primary key of a line in a database, whatever else there is.
std::string line_text(const PointLine& point) {
    return fmt::format("{}-{:016x}", point.key().text(), point.name());
}

} // namespace

Merged::Merged(std::vector<fs::path> stores) : stores_(std::move(stores)) {
    KnownPoints known;
    std::unordered_map<LineId, std::size_t, LineId::Hash> text_of;
    std::set<std::string, std::less<>> changed;
    std::set<std::string, std::less<>> results;
    const auto add_to = [](std::set<std::string, std::less<>>& paths) {
        return [&paths](const std::string& path, const Value& /*any*/) {
            if (!paths.contains(path)) {
                paths.insert(path);
            }
        };
    };
    for (const fs::path& store : stores_) {
        need_store(store);
        damage_.add(for_each_point(store, [&](const PointLine& point) {
            ++lines_;
            if (!known.add(point)) {
                return;
            }
            const std::size_t text = hash_of(point);
            const auto [found, is_new] = text_of.try_emplace(point.id(), text);
            if (!is_new) { // this line says more
                kept_.erase(std::exchange(found->second, text));
            }
            kept_.insert(text);
            point.for_each_value("changes", add_to(changed));
            for_each_file_content(point, add_to(changed));
            point.for_each_value("result", add_to(results));
        }));
    }
    changed_.assign(changed.begin(), changed.end());
    results_.assign(results.begin(), results.end());
}

void Merged::for_each(const std::function<void(const PointLine&)>& visit) const {
    std::unordered_set<std::size_t> left = kept_; // lines that came since are for the next time
    for (const fs::path& store : stores_) {
        for_each_point(store, [&](const PointLine& point) {
            if (left.erase(hash_of(point)) > 0) {
                visit(point);
            }
        });
    }
}

std::vector<std::string> columns_of(const Merged& merged) {
    std::vector<std::string> columns;
    columns.reserve(kOfLines.size());
    for (const auto& [column, keys] : kOfLines) {
        columns.push_back(column);
    }
    for (const auto* paths : {&merged.changed(), &merged.results()}) {
        for (const std::string& path : *paths) {
            if (std::find(columns.begin(), columns.end(), path) == columns.end()) {
                columns.push_back(path);
            }
        }
    }
    return columns;
}

void for_each_column(const PointLine& point,
                     const std::function<void(const std::string&, Value)>& visit) {
    for (const auto& [column, keys] : kOfLines) {
        visit(column, point.at(keys));
    }
    point.for_each_value("changes", visit);
    for_each_file_content(point, visit);
    point.for_each_value("result", visit);
}

namespace {

void fill(Database& database, const Merged& merged, const std::string& file) {
    const std::vector<std::string> columns = columns_of(merged);
    database.run("BEGIN IMMEDIATE");
    database.run("CREATE TABLE IF NOT EXISTS points (line TEXT PRIMARY KEY)");
    std::set<std::string> known;
    {
        Database::Statement info(database, "SELECT name FROM pragma_table_info('points')");
        while (info.step()) {
            known.insert(info.text(0));
        }
    }
    if (!known.contains("line")) {
        throw IoError(file +
                      ": its table 'points' is of an older version, in which a point had one "
                      "line; give another file");
    }
    std::string names = "\"line\"";
    std::string marks = "?";
    std::unordered_map<std::string, int> numbers{{"line", 1}};
    for (const std::string& column : columns) {
        if (!known.contains(column)) {
            database.run("ALTER TABLE points ADD COLUMN " + name_text(column));
        }
        numbers[column] = static_cast<int>(numbers.size()) + 1;
        names += ", " + name_text(column);
        marks += ", ?";
    }
    Database::Statement insert(
        database, fmt::format("INSERT OR REPLACE INTO points ({}) VALUES ({})", names, marks));
    merged.for_each([&](const PointLine& point) {
        insert.bind(numbers.at("line"), line_text(point));
        for_each_column(point, [&](const std::string& column, const Value& value) {
            insert.bind(numbers.at(column), value);
        });
        insert.step();
        insert.reset();
    });
    database.run("COMMIT");
}

} // namespace

void write_sqlite(const Merged& merged, const std::string& file) {
    const OutputPlace place = output_place(file);
    std::error_code ignored;
    if (place.is_there && fs::file_size(place.path, ignored) > 0) {
        Database database(place.path.string(), file);
        fill(database, merged, file);
        return;
    }
    try {
        TemporaryFile temporary(place.path.parent_path());
        {
            Database database(temporary.path().string(), file);
            database.run("PRAGMA journal_mode = OFF"); // nobody sees it before it is whole
            fill(database, merged, file);
        }
        temporary.put_in_place(place.path);
    } catch (const std::system_error& error) {
        throw IoError(file + ": cannot be written: " + error.code().message());
    }
}

void write_csv(const Merged& merged, traces::OutputFile& output) {
    const std::vector<std::string> columns = columns_of(merged);
    std::unordered_map<std::string, std::size_t> numbers;
    std::string text;
    for (const std::string& column : columns) {
        numbers.emplace(column, numbers.size());
        text += (text.empty() ? "" : ",") + csv_field(column);
    }
    text += "\r\n";
    std::vector<std::string> cells(columns.size());
    merged.for_each([&](const PointLine& point) {
        std::fill(cells.begin(), cells.end(), std::string());
        for_each_column(point, [&](const std::string& column, const Value& value) {
            std::string& cell = cells[numbers.at(column)];
            cell = !value ? ""
                   : std::holds_alternative<double>(*value)
                       ? fmt::format("{}", std::get<double>(*value))
                       : csv_field(std::get<std::string>(*value));
        });
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text += (i == 0 ? "" : ",") + cells[i];
        }
        text += "\r\n";
        constexpr std::size_t kPiece = std::size_t{1} << 20U;
        if (text.size() > kPiece) {
            output.write(text);
            text.clear();
        }
    });
    output.write(text);
    output.commit();
}

std::size_t merge_into(const Merged& merged, const fs::path& store) {
    KnownPoints known(store);
    std::unique_ptr<StoreWriter> writer;
    std::size_t added = 0;
    merged.for_each([&](const PointLine& point) {
        const bool is_failure_again = // what is said there already counts as much
            known.find(point.id()) != nullptr && !point.is_ok();
        if (!is_failure_again && known.add(point)) {
            if (writer == nullptr) {
                writer = std::make_unique<StoreWriter>(store);
            }
            writer->append_line(point.text());
            ++added;
        }
    });
    if (writer != nullptr) {
        writer->sync();
    }
    return added;
}

} // namespace tessera::sweep
