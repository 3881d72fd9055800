// SPDX-License-Identifier: MIT
#include "sim/sweep/point_table.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;

namespace {

/// A line that is ok, of machine bow and workload w unless `also` says otherwise.
std::string line(const std::string& key, const Json& also) {
    Json made{{"key", sha256(key).text()}, {"status", "ok"},   {"machine", "bow"},
              {"workload", "w"},           {"mode", "timing"}, {"changes", Json::object()},
              {"result", Json::object()}};
    made.update(also);
    return made.dump() + "\n";
}

/// A table of a store with these lines.
PointTable table_of(const std::string& lines, const std::vector<std::string>& paths = {}) {
    const test::ScratchFolder folder;
    static_cast<void>(folder.write("s/x.jsonl", lines));
    return {folder.path("s"), paths};
}

std::string text(const PointTable& table, std::size_t row, const std::string& path) {
    return table.text(table.at(row, table.column(path).value()));
}

} // namespace

TEST_CASE("columns are found where a line has what their paths mean", "[unit][sweep]") {
    const PointTable table =
        table_of(line("a", {{"message", "m"},
                            {"note", "n"},
                            {"model", 3},
                            {"host", {{"wall_s", 2.5}, {"deep", {{"er", 4}}}}},
                            {"result",
                             {{"message", "of result"},
                              {"note", 1},
                              {"host", {{"wall_s", 7}}},
                              {"hosts", 5},
                              {"a", {{"b", {{"c", 6}}}, {"bc", 8}}}}}}),
                 {"key", "message", "note", "model", "host.wall_s", "host.deep.er", "hosts",
                  "a.b.c", "a.bc", "a", "a.b.c.d", "b"});
    REQUIRE(table.rows() == 1);
    CHECK(text(table, 0, "key") == sha256("a").text());
    CHECK(text(table, 0, "message") == "m");
    CHECK(text(table, 0, "note") == "n");
    CHECK(text(table, 0, "model") == "3");
    CHECK(text(table, 0, "host.wall_s") == "2.5");
    CHECK(text(table, 0, "host.deep.er") == "4");
    CHECK(text(table, 0, "hosts") == "5");
    CHECK(text(table, 0, "a.b.c") == "6");
    CHECK(text(table, 0, "a.bc") == "8");
    for (const char* nothing : {"a", "a.b.c.d", "b"}) {
        CHECK(text(table, 0, nothing).empty());
    }
}

TEST_CASE("cells are in the order of numbers, words, nothing", "[unit][sweep]") {
    const std::vector<Json> in_order{-2, 1, 1.5, 10, "", "10", "a", "b", nullptr};
    std::string lines;
    for (std::size_t i = 0; i < 2 * in_order.size(); ++i) { // each twice
        lines += line(std::to_string(i),
                      {{"result", {{"x", in_order[i / 2]}}}, {"changes", {{"number", i}}}});
    }
    const PointTable table = table_of(lines, {"x"});
    REQUIRE(table.rows() == 2 * in_order.size());
    const auto sign = [](int number) { return number < 0 ? -1 : number > 0 ? 1 : 0; };
    const std::size_t column = table.column("x").value();
    for (std::size_t one = 0; one < table.rows(); ++one) {
        for (std::size_t other = 0; other < table.rows(); ++other) {
            CAPTURE(one, other);
            const int place = static_cast<int>(one / 2) - static_cast<int>(other / 2);
            CHECK(sign(table.compare(one, other, column)) == sign(place));
            // and keys are equal where cells are
            CHECK((table.key_of(one, {column}) == table.key_of(other, {column})) == (place == 0));
        }
    }
}

TEST_CASE("whole numbers are written without a point as far as they are exact", "[unit][sweep]") {
    const PointTable table = table_of("");
    const auto text_of = [&](double number) { return table.text({number, 0, Cell::Kind::Number}); };
    constexpr double kExact = 9007199254740992; // 2^53
    CHECK(text_of(kExact - 1) == "9007199254740991");
    CHECK(text_of(1 - kExact) == "-9007199254740991");
    CHECK(text_of(kExact) == "9007199254740992");
    CHECK(text_of(1e300) == "1e+300");
    CHECK(text_of(3) == "3");
    CHECK(text_of(0.1) == "0.1");
    CHECK(table.text({}).empty());
}

TEST_CASE("a later line of a name counts where it says more", "[unit][sweep]") {
    const auto crash = [](const std::string& message) {
        return line("a", {{"status", "crash"}, {"message", message}});
    };
    const PointTable table =
        table_of(crash("1") + crash("2") + line("a", {{"result", {{"x", 5}}}}) + crash("3"),
                 {"message", "x"});
    REQUIRE(table.rows() == 1);
    CHECK(table.is_ok(0));
    CHECK(text(table, 0, "x") == "5");
    CHECK(text(table, 0, "message") == "2"); // a line without a value leaves what was said
}

TEST_CASE("of a point that has lines with contents those without are left out", "[unit][sweep]") {
    const auto contents = [](const std::string& workload, int x) {
        return Json{{"workload", workload},
                    {"contents", {{"machine", "1111"}, {"workload", workload + "0"}}},
                    {"changes", {{"x", x}}},
                    {"result", {{"y", 10 * x}}}};
    };
    const auto older = [](const std::string& workload, int x) {
        return Json{{"workload", workload}, {"changes", {{"x", x}}}, {"result", {{"y", 10 * x}}}};
    };
    const PointTable table = table_of(
        line("a", older("p", 1)) + line("b", older("q", 2)) + line("a", contents("r", 1)) +
            line("c", contents("s", 3)) + line("b", contents("t", 2)) + line("d", older("u", 4)),
        {"y"});
    REQUIRE(table.rows() == 4);
    CHECK_FALSE(table.is_older());
    const std::vector<std::string> workloads{"r", "s", "t", "u"};
    const std::vector<std::string> keys{"a", "c", "b", "d"};
    const std::vector<int> x{1, 3, 2, 4};
    for (std::size_t row = 0; row < table.rows(); ++row) {
        CAPTURE(row);
        CHECK(text(table, row, "workload") == workloads[row]);
        CHECK(table.key(row) == sha256(keys[row]));
        CHECK(text(table, row, "x") == std::to_string(x[row]));
        CHECK(text(table, row, "y") == std::to_string(10 * x[row]));
        CHECK(table.has_contents(row) == (row != 3));
        CHECK(table.content(row, "workload") == (row != 3 ? workloads[row] + "0" : ""));
        CHECK(table.content(row, "other").empty());
    }
    CHECK(table_of(line("a", older("p", 1))).is_older());
    CHECK(table_of(line("a", older("p", 1)) + line("b", older("p", 2))).rows() == 2);
}

TEST_CASE("different things of one name have labels of their own", "[unit][sweep]") {
    const auto with = [](const std::string& workload, const std::string& content,
                         const std::string& file, const std::string& file_content) {
        return Json{{"workload", workload},
                    {"contents",
                     {{"machine", "1"}, {"workload", content}, {"workload.g.file", file_content}}},
                    {"changes", {{"workload.g.file", file}}}};
    };
    PointTable table = table_of(line("a", with("x/w.json", "0123456789", "d/g.mtx", "aaaaaaaaaa")) +
                                line("b", with("x/w.json", "abcdefabcd", "d/g.mtx", "bbbbbbbbbb")) +
                                line("c", with("v.json", "7777777777", "d/h.mtx", "cccccccccc")));
    CHECK(text(table, 0, "workload") == "w#01234567");
    CHECK(text(table, 1, "workload") == "w#abcdefab");
    CHECK(text(table, 2, "workload") == "v");
    CHECK(text(table, 0, "workload.g.file") == "d/g.mtx#aaaaaaaa");
    CHECK(text(table, 1, "workload.g.file") == "d/g.mtx#bbbbbbbb");
    CHECK(text(table, 2, "workload.g.file") == "d/h.mtx");
    CHECK(table.called(1, PointTable::kWorkload).written == "x/w.json");
    CHECK(table.called(1, PointTable::kWorkload).content == "abcdefabcd");
    CHECK(table.called(0, PointTable::kMode).written.empty());
    // a condition may name all that are called so, or one of them
    const Cell& first = table.at(0, PointTable::kWorkload);
    CHECK(table.word_among({"w"}, first) == table.word("w"));
    CHECK(table.word_among({"v"}, first) == first.word);
    CHECK(table.word_among({}, first) == first.word);
    const Cell& third = table.at(2, PointTable::kWorkload);
    CHECK(table.word_among({"v"}, third) == third.word);
    // of a file in a setting there is no short name
    const Cell& file = table.at(0, table.column("workload.g.file").value());
    CHECK(table.word_among({"g"}, file) == file.word);
}

TEST_CASE("what a point leaves as it is stands beside what points change", "[unit][sweep]") {
    PointTable table = table_of(line("a", {{"changes", {{"x", 3}}}}) +
                                    line("b", {{"changes", {{"y", 4}}}, {"result", {{"z", 5}}}}),
                                {"x", "z"});
    CHECK(table.changed() == std::vector<std::string>{"x", "y"});
    const std::size_t x = table.column("x").value();
    CHECK(table.value(1, x).kind == Cell::Kind::Nothing);
    table.set(0, "x", 100);
    table.set(1, "x", true);
    CHECK(table.value(0, x).number == 3); // what it changes counts
    CHECK(table.value(1, x).number == 1);
    CHECK(table.at(1, x).kind == Cell::Kind::Nothing);
    const std::size_t z = table.column("z").value();
    table.set(0, "z", "word"); // not what points change: in its column
    CHECK(table.text(table.at(0, z)) == "word");
    CHECK(table.value(1, z).number == 5);
}
