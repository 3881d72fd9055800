// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "sim/sweep/point_table.h"
#include "sim/sweep/store.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
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
