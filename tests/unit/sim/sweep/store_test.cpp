// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/input_file.h"
#include "sim/sweep/point_table.h"
#include "sim/sweep/store.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace tessera;
using namespace tessera::sweep;
using Json = nlohmann::json;

namespace {

Json point(const std::string& key, const std::string& status, const Json& result = nullptr) {
    Json made{{"key", sha256(key).text()}, {"status", status}};
    if (!result.is_null()) {
        made["result"] = result;
    }
    return made;
}

std::vector<PointKey> keys_in(const std::string& folder) {
    std::vector<PointKey> keys;
    static_cast<void>(
        for_each_point(folder, [&](const PointLine& one) { keys.push_back(one.key()); }));
    return keys;
}

std::string bytes_of(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("what a writer appends is there, in its order", "[unit][sweep]") {
    const test::ScratchFolder folder;
    const std::string store = folder.path("a/store");
    CHECK(keys_in(store).empty()); // no folder yet
    {
        StoreWriter writer(store);
        for (const char* key : {"c", "a", "b"}) {
            writer.append(point(key, "ok", {{"cycles", 7}}));
        }
        CHECK(keys_in(store) == std::vector{sha256("c"), sha256("a"), sha256("b")});
    }
    StoreWriter second(store);
    second.append(point("d", "ok", 1));
    CHECK(keys_in(store).size() == 4);
    CHECK(std::distance(std::filesystem::directory_iterator(store), {}) == 2);
}

TEST_CASE("however much of a file is there, its whole lines count", "[unit][sweep]") {
    const test::ScratchFolder folder;
    std::string whole;
    {
        StoreWriter writer(folder.path("from"));
        for (int i = 0; i < 4; ++i) {
            writer.append(point(std::string(1, static_cast<char>('a' + i)), "ok", i));
        }
        whole = bytes_of(writer.file());
    }
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const std::string part = whole.substr(0, length);
        static_cast<void>(folder.write("cut/x.jsonl", part));
        const auto lines = std::count(part.begin(), part.end(), '\n');
        REQUIRE(keys_in(folder.path("cut")).size() == static_cast<std::size_t>(lines));
    }
    // a process that goes on writes elsewhere
    StoreWriter again(folder.path("cut"));
    again.append(point("e", "ok", 9));
    CHECK(keys_in(folder.path("cut")).size() == 5);
}

TEST_CASE("long lines and many of them are read whole", "[unit][sweep]") {
    const test::ScratchFolder folder;
    StoreWriter writer(folder.path());
    for (int i = 0; i < 40; ++i) {
        writer.append(point(std::to_string(i), "ok", std::string(100'000, 'x')));
    }
    int number = 0;
    for_each_point(folder.path(), [&](const PointLine& one) {
        REQUIRE(one.key() == sha256(std::to_string(number++)));
        REQUIRE(std::get<std::string>(one.at({"result"}).value()).size() == 100'000);
    });
    CHECK(number == 40);
}

TEST_CASE("a line that is no point is left out and told with its place", "[unit][sweep]") {
    for (const std::string line :
         {"{\"key\": \"a\"}", "[]", "{", "{\"key\": 3, \"status\": \"ok\"}", "",
          "{\"key\": \"\", \"status\": \"ok\"}", "{\"key\": \"abc\", \"status\": \"ok\"}"}) {
        const test::ScratchFolder folder;
        static_cast<void>(folder.write("x.jsonl", point("a", "ok", 1).dump() + "\n" + line + "\n" +
                                                      point("b", "ok", 2).dump() + "\n"));
        CAPTURE(line);
        CHECK(keys_in(folder.path()) == std::vector{sha256("a"), sha256("b")});
        const KnownPoints known(folder.path());
        CHECK(known.size() == 2);
        REQUIRE(known.damage().warnings().size() == 1);
        CHECK_THAT(known.damage().warnings().front(),
                   Catch::Contains("x.jsonl:2: got ") && Catch::Contains("expected a point"));
    }
}

TEST_CASE("a point that is ok has a result", "[unit][sweep]") {
    const test::ScratchFolder folder;
    std::string text;
    for (int i = 0; i < 5; ++i) {
        text += point(std::to_string(i), "ok").dump() + "\n";
    }
    static_cast<void>(folder.write("x.jsonl", text + point("a", "crash").dump() + "\n"));
    const KnownPoints known(folder.path());
    CHECK(known.find(sha256("0")) == nullptr);
    CHECK(*known.status(sha256("a")) == "crash");
    CHECK(known.damage().lines == 5);
    CHECK(known.damage().warnings().size() == 4);
    CHECK_THAT(known.damage().warnings().back(), Catch::Contains("2 more lines"));
}

TEST_CASE("a point may have lines of several names", "[unit][sweep]") {
    const auto line = [](const std::string& workload, const std::string& status, bool contents) {
        Json made = point("k", status, status == "ok" ? Json(7) : Json());
        made["workload"] = workload;
        if (contents) {
            made["contents"] = {{"machine", "4567"}, {"workload", "0123"}};
        }
        return made.dump() + "\n";
    };
    const test::ScratchFolder folder;
    const std::string file =
        folder.write("x.jsonl", line("a", "ok", false) + line("b", "crash", true) +
                                    line("b", "ok", true) + line("b", "crash", true));
    const KnownPoints known(folder.path());
    CHECK(known.size() == 1);
    CHECK(*known.status(sha256("k")) == "ok");
    const auto* const a = known.find(LineId{sha256("k"), line_name("", "a", "", {})});
    const auto* const b = known.find(LineId{sha256("k"), line_name("", "b", "", {})});
    REQUIRE((a != nullptr && b != nullptr));
    CHECK((a->is_ok && !a->has_contents));
    CHECK((b->is_ok && b->has_contents));
    CHECK(known.find(LineId{sha256("k"), line_name("", "c", "", {})}) == nullptr);
    CHECK(known.find(LineId{sha256("l"), line_name("", "a", "", {})}) == nullptr);
    // a line of an older version says less than one that says what its names led to
    const PointTable table(folder.path(), {});
    REQUIRE(table.rows() == 1);
    CHECK(table.text(table.at(0, PointTable::kWorkload)) == "b");
}

TEST_CASE("a store knows what has run and how it ended", "[unit][sweep]") {
    const test::ScratchFolder folder;
    StoreWriter writer(folder.path());
    writer.append(point("fails", "crash"));
    writer.append(point("fails", "time_limit"));
    writer.append(point("mended", "crash"));
    writer.append(point("mended", "ok", {{"cycles", 5}}));
    writer.append(point("mended", "time_limit"));
    writer.append(point("twice", "ok", {{"cycles", 5}}));
    writer.append(point("twice", "ok", {{"cycles", 5}}));
    const KnownPoints known(folder.path());
    CHECK(known.size() == 3);
    CHECK(*known.status(sha256("fails")) == "time_limit");
    CHECK(*known.status(sha256("mended")) == "ok");
    CHECK(*known.status(sha256("twice")) == "ok");
    CHECK(known.status(sha256("other")) == nullptr);
}

TEST_CASE("two different results of one point are told", "[unit][sweep]") {
    const test::ScratchFolder folder;
    StoreWriter one(folder.path());
    StoreWriter other(folder.path());
    one.append(point("k", "ok", {{"cycles", 5}}));
    other.append(point("k", "ok", {{"cycles", 6}}));
    CHECK_THROWS_WITH(KnownPoints(folder.path()),
                      "two different results of one point, which is a bug: key " +
                          sha256("k").text());
}

TEST_CASE("where a disk is full the lines before stay and the failure is told", "[unit][sweep]") {
    const test::ScratchFolder folder;
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGXFSZ, SIG_IGN);
        const rlimit most{1000, 1000};
        setrlimit(RLIMIT_FSIZE, &most);
        int written = 0;
        try {
            StoreWriter writer(folder.path());
            for (; written < 100; ++written) {
                writer.append(point(std::to_string(written), "ok", std::string(150, 'x')));
            }
        } catch (const IoError&) {
            _exit(written);
        }
        _exit(100);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    const int written = WEXITSTATUS(status);
    CHECK(written > 1);
    CHECK(written < 100);
    CHECK(keys_in(folder.path()).size() == static_cast<std::size_t>(written));
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        CHECK(bytes_of(entry.path()).back() == '\n'); // nothing half written
    }
}

TEST_CASE("processes that are killed while they write lose the line at hand at most",
          "[unit][sweep]") {
    const test::ScratchFolder folder;
    constexpr int kWriters = 6;
    std::vector<pid_t> children;
    for (int number = 0; number < kWriters; ++number) {
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            StoreWriter writer(folder.path());
            for (int i = 0;; ++i) {
                const std::string name = std::to_string(number) + "." + std::to_string(i);
                Json line = point(name, "ok", i);
                line["name"] = name;
                writer.append(line);
            }
        }
        children.push_back(child);
    }
    usleep(200'000);
    for (const pid_t child : children) {
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
    }
    // of every writer all lines from the first on
    std::vector<int> next(kWriters, 0);
    for_each_point(folder.path(), [&](const PointLine& one) {
        const auto name = std::get<std::string>(one.at({"name"}).value());
        int& expected = next[static_cast<std::size_t>(name.front() - '0')];
        REQUIRE(name.substr(2) == std::to_string(expected++));
    });
    CHECK(std::all_of(next.begin(), next.end(), [](int lines) { return lines > 0; }));
}

TEST_CASE("a line that ends where a piece of its file ends is read, and so is the next",
          "[unit][sweep]") {
    const test::ScratchFolder folder;
    std::string first = point("a", "ok", "").dump();
    first.insert(first.size() - 2, std::string(kMiB - 1 - first.size(), 'x')); // with its end
    static_cast<void>(folder.write("x.jsonl", first + "\n" + point("b", "ok", 2).dump() + "\n"));
    CHECK(keys_in(folder.path()) == std::vector{sha256("a"), sha256("b")});
}

TEST_CASE("a line counts where it says more than what was known under its name", "[unit][sweep]") {
    const auto line = [](int says) {
        const bool is_ok = (says & 1) != 0;
        Json made = point("k", is_ok ? "ok" : "crash", is_ok ? Json(7) : Json());
        if ((says & 2) != 0) {
            made["lists"] = {1, 2};
        }
        if ((says & 4) != 0) {
            made["contents"] = {{"machine", "4567"}};
        }
        return made.dump() + "\n";
    };
    for (int before = 0; before < 8; ++before) {
        for (int now = 0; now < 8; ++now) {
            const test::ScratchFolder folder;
            static_cast<void>(folder.write("x.jsonl", line(before) + line(now)));
            KnownPoints known;
            std::vector<bool> says_more;
            for_each_point(folder.path(),
                           [&](const PointLine& one) { says_more.push_back(known.add(one)); });
            const bool more = (before & 1) == 0 || ((now & 1) != 0 && (now & ~before) != 0);
            CAPTURE(before, now);
            CHECK(says_more == std::vector<bool>{true, more});
            const auto* const found = known.find(LineId{sha256("k"), line_name("", "", "", {})});
            REQUIRE(found != nullptr);
            const int kept = more ? now : before;
            CHECK(found->is_ok == ((kept & 1) != 0));
            CHECK(found->has_lists == ((kept & 2) != 0));
            CHECK(found->has_contents == ((kept & 4) != 0));
            // a point keeps its result, and the lists that came with one
            const auto* const of_point = known.find(sha256("k"));
            REQUIRE(of_point != nullptr);
            const bool replaced = (before & 1) == 0 || ((now & 1) != 0 && (now & 2) != 0);
            CHECK(of_point->has_lists == (((replaced ? now : before) & 2) != 0));
            CHECK(*known.status(sha256("k")) == (((before | now) & 1) != 0 ? "ok" : "crash"));
        }
    }
}

TEST_CASE("a store sums what the points of a workload took, and knows their models",
          "[unit][sweep]") {
    const test::ScratchFolder folder;
    std::string text;
    const auto add = [&](const std::string& status, const Json& also) {
        Json made = point(std::to_string(text.size()), status, status == "ok" ? Json(1) : Json());
        made.update(also);
        text += made.dump() + "\n";
    };
    add("ok", {{"workload", "a"}, {"host", {{"wall_s", 2.5}}}, {"model", 3}});
    add("ok", {{"workload", "b"}, {"host", {{"wall_s", 8}}}, {"model", 3}});
    add("ok", {{"workload", "a"}, {"host", {{"wall_s", 0.25}}}, {"model", "x"}});
    add("crash", {{"workload", "a"}, {"host", {{"wall_s", 100}}}}); // not of those that are ok
    add("ok", {{"workload", "a"}});
    add("ok", {{"host", {{"wall_s", 100}}}});
    add("ok", {{"workload", 7}, {"host", {{"wall_s", 100}}}});
    add("ok", {{"workload", "a"}, {"host", {{"wall_s", "long"}}}});
    static_cast<void>(folder.write("x.jsonl", text));
    const KnownPoints known(folder.path());
    REQUIRE(known.times().size() == 2);
    CHECK(known.times().at("a").seconds == 2.5 + 0.25);
    CHECK(known.times().at("a").points == 2);
    CHECK(known.times().at("b").seconds == 8);
    CHECK(known.models() == std::set<std::int64_t>{3});
    CHECK_NOTHROW(refuse_other_models(known, "a/store", 3));
    CHECK_THROWS_WITH(refuse_other_models(known, "a/store", 4),
                      "a/store: its points are of model version 3, this program is of 4; give "
                      "another --store, and compare by `tessera sweep diff`");
}

TEST_CASE("a store has at most 255 kinds of status", "[unit][sweep]") {
    const test::ScratchFolder folder;
    std::string text;
    for (int i = 0; i < 255; ++i) {
        text += point(std::to_string(i), "status " + std::to_string(i)).dump() + "\n";
    }
    static_cast<void>(folder.write("x.jsonl", text));
    CHECK(*KnownPoints(folder.path()).status(sha256("254")) == "status 254");
    static_cast<void>(folder.write("y.jsonl", point("more", "other").dump() + "\n"));
    CHECK_THROWS_WITH(KnownPoints(folder.path()), "a store has more than 255 kinds of status");
}

TEST_CASE("damage of several stores is counted together and told by three examples",
          "[unit][sweep]") {
    for (int first = 0; first < 6; ++first) {
        for (int second = 0; second < 6; ++second) {
            Damage one;
            Damage other;
            std::vector<std::string> expected;
            for (int i = 0; i < first + second; ++i) {
                (i < first ? one : other).add(std::to_string(i));
            }
            for (int i = 0; i < std::min(first, 3) + std::min(second, 3) && i < 99; ++i) {
                const int shown = i < std::min(first, 3) ? i : i - std::min(first, 3) + first;
                if (expected.size() < 3) {
                    expected.push_back(std::to_string(shown));
                }
            }
            one.add(other);
            CAPTURE(first, second);
            CHECK(one.lines == first + second);
            CHECK(one.examples == expected);
            const int more = first + second - static_cast<int>(expected.size());
            if (more > 0) {
                expected.push_back(std::to_string(more) +
                                   " more lines are no points, and are left out");
            }
            CHECK(one.warnings() == expected);
        }
    }
}

TEST_CASE("a writer may have the lowest descriptor", "[unit][sweep]") {
    const test::ScratchFolder folder;
    const int before = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    StoreWriter(folder.path()).append(point("a", "ok", 1));
    dup2(before, STDIN_FILENO);
    close(before);
    CHECK(keys_in(folder.path()) == std::vector{sha256("a")});
    CHECK(folder.names().size() == 1);
}

TEST_CASE("what is no file of lines is not read, and what cannot be a store is told",
          "[unit][sweep]") {
    const test::ScratchFolder folder;
    static_cast<void>(folder.write("s/x.jsonl", point("a", "ok", 1).dump() + "\n"));
    static_cast<void>(folder.write("s/x.txt", point("b", "ok", 1).dump() + "\n"));
    static_cast<void>(folder.write("s/folder.jsonl/x.jsonl", point("c", "ok", 1).dump() + "\n"));
    CHECK(keys_in(folder.path("s")) == std::vector{sha256("a")});
    const std::string file = folder.path("s/x.txt");
    CHECK_THROWS_AS(keys_in(file), IoError);
    CHECK_THROWS_AS(StoreWriter(file), IoError);
    CHECK_THROWS_AS(StoreWriter(file + "/below"), IoError);
}

TEST_CASE("the values of a line are read as JSON has them", "[unit][sweep]") {
    const test::ScratchFolder folder;
    Json line = point("a", "ok", {{"deep", {{"yes", true}, {"no", false}, {"none", nullptr}}}});
    line["changes"] = {{"x.y", 2}, {"list", {1, 2.5, "z", true, {3, false}}}, {"in", {{"n", "w"}}}};
    static_cast<void>(folder.write("x.jsonl", line.dump() + "\n"));
    for_each_point(folder.path(), [&](const PointLine& one) {
        CHECK(value_text(one.at({"result", "deep", "yes"})) == "1");
        CHECK(value_text(one.at({"result", "deep", "no"})) == "0");
        CHECK_FALSE(one.at({"result", "deep", "none"}));
        CHECK_FALSE(one.at({"result", "deep", "yes", "more"}));
        CHECK_FALSE(one.at({"result", "other"}));
        std::map<std::string, std::string> values;
        one.for_each_value("changes", [&](const std::string& path, const Value& value) {
            values[path] = value_text(value);
        });
        CHECK(values == std::map<std::string, std::string>{
                            {"x.y", "2"}, {"list", "[1, 2.5, z, 1, [3, 0]]"}, {"in.n", "w"}});
        for (const char* key : {"changes", "result"}) {
            CHECK(Json::parse(one.raw(key)) == line[key]);
        }
        CHECK(one.raw("other").empty());
    });
}
