// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "sim/sweep/collect.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;

namespace {

/// A line of the point `name`: of a run that is ok, `said` tells several of them apart.
Json line(const std::string& name, bool is_ok, const std::string& said, const Json& more = {}) {
    Json made{{"key", sha256(name).text()}, {"status", is_ok ? "ok" : "crash"}, {"note", said}};
    if (is_ok) {
        made["result"] = {{"cycles", 5}};
    }
    if (more.is_object()) {
        made.update(more);
    }
    return made;
}

/// Stores in a folder.
class Stores {
public:
    void add(const std::string& store, const Json& one, const std::string& file = "b") {
        std::string& text = texts_[store + "/" + file + ".jsonl"];
        text += one.dump() + "\n";
        static_cast<void>(folder_.write(store + "/" + file + ".jsonl", text));
    }
    [[nodiscard]] std::filesystem::path path(const std::string& name) const {
        return folder_.path(name);
    }
    [[nodiscard]] Merged merged(const std::vector<std::string>& stores) const {
        std::vector<std::filesystem::path> paths;
        for (const std::string& store : stores) {
            paths.push_back(path(store));
        }
        return Merged(std::move(paths));
    }
    [[nodiscard]] std::string csv(const Merged& merged) const {
        traces::OutputFile output(path("out.csv").string());
        write_csv(merged, output);
        return test::read_text(path("out.csv"));
    }
    /// The rows of a query of a database here, a text each.
    [[nodiscard]] std::vector<std::string> rows(const std::string& file,
                                                const std::string& query) const {
        sqlite3* opened = nullptr;
        REQUIRE(sqlite3_open(path(file).c_str(), &opened) == SQLITE_OK);
        const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(opened, sqlite3_close);
        std::vector<std::string> found;
        const auto add = [](void* to, int columns, char** cells, char**) {
            std::string row;
            for (int i = 0; i < columns; ++i) {
                row += (i == 0 ? "" : " ") + std::string(cells[i] == nullptr ? "-" : cells[i]);
            }
            static_cast<std::vector<std::string>*>(to)->push_back(row);
            return 0;
        };
        REQUIRE(sqlite3_exec(database.get(), query.c_str(), add, &found, nullptr) == SQLITE_OK);
        return found;
    }
    void run(const std::string& file, const std::string& statement) const {
        CHECK(rows(file, statement).empty());
    }

private:
    test::ScratchFolder folder_;
    std::map<std::string, std::string> texts_;
};

/// What was said by the lines that are visited.
std::string said(const Merged& merged) {
    std::string all;
    merged.for_each([&](const PointLine& point) { all += value_text(point.at({"note"})) + " "; });
    return all;
}

} // namespace

TEST_CASE("of lines of one name the last failure is kept, or the first that is ok and says most",
          "[unit][sweep]") {
    Stores stores;
    stores.add("one", line("a", false, "a1"));
    stores.add("one", line("b", false, "b1"));
    stores.add("one", line("b", true, "b2"));
    stores.add("one", line("c", true, "c1"));
    stores.add("one", line("d", false, "d1", {{"workload", "w"}}));
    stores.add("two", line("a", false, "a2"));
    stores.add("two", line("b", false, "b3"));
    stores.add("two", line("b", true, "b4"));
    stores.add("two", line("c", true, "c2", {{"lists", Json::object()}}));
    stores.add("two", line("c", true, "c3", {{"contents", {{"machine", "1"}}}}));
    stores.add("two", line("d", false, "d2", {{"workload", "v"}})); // another name
    stores.add("two", Json{{"key", "none"}});
    const Merged merged = stores.merged({"one", "two"});
    CHECK(merged.lines() == 11);
    CHECK(merged.points() == 5);
    CHECK(merged.damage().lines == 1);
    CHECK(said(merged) == "b2 d1 a2 c3 d2 ");
    CHECK(said(stores.merged({"two", "one"})) == "b4 c3 d2 a1 d1 ");
    // a store twice, or the same lines in another one, are nothing more
    const Merged twice = stores.merged({"one", "one"});
    CHECK(twice.lines() == 10);
    CHECK(twice.points() == 4);
    CHECK(said(twice) == "a1 b2 c1 d1 ");
    CHECK_THROWS_AS(stores.merged({"one", "nothing"}), IoError);
}

TEST_CASE("what is written while stores are collected is for the next time", "[unit][sweep]") {
    Stores stores;
    stores.add("one", line("a", true, "a"));
    stores.add("one", line("b", false, "b"));
    stores.add("two", line("c", true, "c"));
    const Merged merged = stores.merged({"one", "two"});
    stores.add("one", line("d", true, "before all"), "a");
    stores.add("one", line("e", true, "behind"));
    stores.add("one", line("b", true, "better"));
    stores.add("two", line("c", true, "again", {{"lists", Json::object()}}));
    CHECK(said(merged) == "a b c ");
    CHECK(merged.points() == 3);
    CHECK(said(stores.merged({"one", "two"})) == "before all a behind better again ");
}

TEST_CASE("lines are added to a store where they are new or say more", "[unit][sweep]") {
    Stores stores;
    stores.add("from", line("a", false, "a"));
    stores.add("from", line("b", true, "b"));
    stores.add("from", line("c", true, "c", {{"lists", Json::object()}}));
    stores.add("from", line("d", true, "d"));
    stores.add("from", line("e", false, "e"));
    stores.add("to", line("a", false, "its own"));
    stores.add("to", line("b", false, "its own"));
    stores.add("to", line("c", true, "its own"));
    stores.add("to", line("d", true, "its own"));
    const Merged merged = stores.merged({"from"});
    CHECK(merge_into(merged, stores.path("to")) == 3); // b, c and e
    CHECK(merge_into(merged, stores.path("to")) == 0);
    const Merged all = stores.merged({"to"});
    CHECK(all.lines() == 4 + 3);
    CHECK(all.points() == 5);
    std::map<std::string, std::string> kept;
    all.for_each(
        [&](const PointLine& point) { kept[point.key().text()] = value_text(point.at({"note"})); });
    for (const auto& [name, note] :
         {std::pair{"a", "its own"}, {"b", "b"}, {"c", "c"}, {"d", "its own"}, {"e", "e"}}) {
        CHECK(kept.at(sha256(name).text()) == note);
    }
    CHECK(merge_into(merged, stores.path("new")) == 5);
    // nothing is written where nothing is added
    CHECK(merge_into(stores.merged({"new"}), stores.path("new")) == 0);
    CHECK(std::distance(std::filesystem::directory_iterator(stores.path("new")), {}) == 1);
}

TEST_CASE("columns are what all lines have, then settings and files, then results",
          "[unit][sweep]") {
    const std::vector<std::string> of_lines{
        "key",  "status", "machine", "workload", "machine.content", "workload.content",
        "mode", "model",  "message", "note",     "host.wall_s",     "host.peak_rss_bytes"};
    Stores stores;
    stores.add(
        "s",
        line("a", true, "x, \"y\"",
             {{"changes", {{"z.z", 1}, {"pattern.file", "a.mtx"}}},
              {"contents", {{"machine", "m"}, {"workload", "w"}, {"pattern.file", "f"}}},
              {"host", {{"wall_s", 0.5}, {"peak_rss_bytes", 7}}},
              {"result", {{"cycles", 5}, {"mode", "of the result"}, {"deep", {{"x", 2.25}}}}}}));
    stores.add("s", line("b", false, "", {{"message", "two\nlines"}, {"changes", {{"a", "#"}}}}));
    const Merged merged = stores.merged({"s"});
    CHECK(merged.changed() ==
          std::vector<std::string>{"a", "pattern.file", "pattern.file.content", "z.z"});
    CHECK(merged.results() == std::vector<std::string>{"cycles", "deep.x", "mode"});
    std::vector<std::string> columns = of_lines;
    columns.insert(columns.end(),
                   {"a", "pattern.file", "pattern.file.content", "z.z", "cycles", "deep.x"});
    CHECK(columns_of(merged) == columns); // none twice
    const std::string a = sha256("a").text();
    const std::string b = sha256("b").text();
    CHECK(stores.csv(merged) ==
          "key,status,machine,workload,machine.content,workload.content,mode,model,message,note,"
          "host.wall_s,host.peak_rss_bytes,a,pattern.file,pattern.file.content,z.z,cycles,deep."
          "x\r\n" +
              a + ",ok,,,m,w,of the result,,,\"x, \"\"y\"\"\",0.5,7,,a.mtx,f,1,5,2.25\r\n" + b +
              ",crash,,,,,,,\"two\nlines\",,,,#,,,,,\r\n");
}

TEST_CASE("a long table is whole", "[unit][sweep]") {
    // pieces of 1 MiB are written at a time
    Stores stores;
    constexpr int kLines = 5;
    for (int i = 0; i < kLines; ++i) {
        stores.add("s",
                   line(std::to_string(i), true, std::string(300'000, static_cast<char>('a' + i))));
    }
    const std::string text = stores.csv(stores.merged({"s"}));
    for (int i = 0; i < kLines; ++i) {
        const std::size_t at = text.find(sha256(std::to_string(i)).text());
        REQUIRE(at != std::string::npos);
        CHECK(text.substr(text.find(std::string(3, static_cast<char>('a' + i)), at), 300'000) ==
              std::string(300'000, static_cast<char>('a' + i)));
    }
    CHECK(std::count(text.begin(), text.end(), '\n') == 1 + kLines);
}

TEST_CASE("a database has numbers as they are, and one row a line", "[unit][sweep]") {
    Stores stores;
    const std::string file = stores.path("a.db").string();
    const auto add = [&](const std::string& name, const Json& value) {
        stores.add("s", line(name, true, name, {{"result", {{"say \"x\"", value}}}}));
    };
    add("a", 5);
    add("b", 0.5);
    add("c", std::int64_t{1} << 53U);
    add("d", -(std::int64_t{1} << 53U));
    add("e", 1e300);
    add("f", "text");
    stores.add("s", line("g", false, "g"));
    write_sqlite(stores.merged({"s"}), file);
    const std::string query =
        R"(SELECT note, typeof("say ""x"""), "say ""x""" FROM points ORDER BY note)";
    const std::vector<std::string> expected{"a integer 5",
                                            "b real 0.5",
                                            "c integer 9007199254740992",
                                            "d integer -9007199254740992",
                                            "e real 1.0e+300",
                                            "f text text",
                                            "g null -"};
    CHECK(stores.rows("a.db", query) == expected);
    // again, with a new line, columns of its own, and what others keep there
    stores.run("a.db", "CREATE TABLE mine (x)");
    stores.run("a.db", "ALTER TABLE points ADD COLUMN own");
    stores.add("s", line("h", true, "h", {{"result", {{"more", 1}}}}));
    write_sqlite(stores.merged({"s"}), file);
    CHECK(stores.rows("a.db", "SELECT count(*), count(more) FROM points") ==
          std::vector<std::string>{"8 1"});
    CHECK(stores.rows("a.db", "SELECT name FROM sqlite_master WHERE name = 'mine'").size() == 1);
    // a row of the table that is of no line of these stores stays
    Stores other;
    other.add("t", line("i", true, "i"));
    write_sqlite(other.merged({"t"}), file);
    CHECK(stores.rows("a.db", "SELECT count(*) FROM points") == std::vector<std::string>{"9"});
    // the key of a row is that of the point and the name
    const std::vector<std::string> key =
        stores.rows("a.db", "SELECT line FROM points WHERE note = 'i'");
    REQUIRE(key.size() == 1);
    CHECK(key[0].rfind(sha256("i").text() + "-", 0) == 0);
    CHECK(key[0].size() == sha256("i").text().size() + 1 + 16);
}

TEST_CASE("a database that cannot be written stays as it is, and says why", "[unit][sweep]") {
    Stores stores;
    stores.add("s", line("a", true, "a"));
    const Merged merged = stores.merged({"s"});
    stores.run("old.db", "CREATE TABLE points (key TEXT PRIMARY KEY)");
    const std::string old = stores.path("old.db").string();
    CHECK_THROWS_WITH(write_sqlite(merged, old),
                      old + ": its table 'points' is of an older version, in which a point had one "
                            "line; give another file");
    CHECK(stores.rows("old.db", "SELECT * FROM points").empty());
    const std::string text = stores.path("s/b.jsonl").string();
    CHECK_THROWS_WITH(write_sqlite(merged, text), text + ": file is not a database");
    const std::string nowhere = stores.path("no/such/folder/a.db").string();
    CHECK_THROWS_WITH(write_sqlite(merged, nowhere),
                      nowhere + ": cannot be written: No such file or directory");
    // an empty file is a new one
    const std::string empty = stores.path("empty.db").string();
    static_cast<void>(std::fclose(std::fopen(empty.c_str(), "w")));
    write_sqlite(merged, empty);
    CHECK(stores.rows("empty.db", "SELECT note FROM points") == std::vector<std::string>{"a"});
}
