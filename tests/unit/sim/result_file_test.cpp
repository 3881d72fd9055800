// SPDX-License-Identifier: MIT
// Results that anybody may have changed: what is one, what is read of it, and what may not be written over.
#include "base/error.h"
#include "sim/cli/cli.h"
#include "sim/result/result_file.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using Json = nlohmann::json;

namespace {

const Json kResult{{"cycles", 7},
                   {"machine", {{"name", "m"}}},
                   {"workload", {{"name", "w"}}},
                   {"exchanges", Json::array()}};

template <class Action> std::string refusal(const Action& action) {
    try {
        action();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "taken";
}

} // namespace

TEST_CASE("a result has cycles, names, and lists of steps that are objects", "[unit][sim]") {
    CHECK(result::is_result(kResult));
    const auto with = [](const char* pointer, const Json& value) {
        Json changed = kResult;
        changed[Json::json_pointer(pointer)] = value;
        return result::is_result(changed);
    };
    for (const Json& cycles : {Json(0), Json(1.5), Json(8.99e18)}) {
        CHECK(with("/cycles", cycles));
    }
    for (const Json& cycles :
         {Json(-1), Json(-0.5), Json(9e18), Json(1e300), Json("7"), Json(nullptr)}) {
        CHECK_FALSE(with("/cycles", cycles));
    }
    for (const char* part : {"/machine", "/workload"}) {
        CHECK_FALSE(with(part, "m"));
        CHECK_FALSE(with(part, Json::object()));
        CHECK_FALSE(with((std::string(part) + "/name").c_str(), 7));
    }
    for (const auto& [list, kind] : result::kStepLists) {
        const std::string pointer = std::string("/") + list;
        CHECK(with(pointer.c_str(), {{{"name", "s"}}, Json::object()}));
        CHECK_FALSE(with(pointer.c_str(), {{{"name", "s"}}, 7}));
        CHECK_FALSE(with(pointer.c_str(), Json::object()));
    }
    for (const char* key : {"cycles", "machine", "workload"}) {
        Json less = kResult;
        less.erase(key);
        CHECK_FALSE(result::is_result(less));
    }
    CHECK_FALSE(result::is_result(Json::array()));
    CHECK_FALSE(result::is_result(nullptr));
}

TEST_CASE("what is not there, or is another thing, is 0, no text or no list", "[unit][sim]") {
    const Json document{{"number", 1.5},
                        {"nan", std::numeric_limits<double>::quiet_NaN()},
                        {"text", "a\nb\x7f\x1b[1m \u00e9"},
                        {"list", {1, 2}},
                        {"inner", {{"number", 3}}}};
    CHECK(result::number_at(document, "/number") == 1.5);
    CHECK(result::number_at(document, "/inner/number") == 3);
    for (const char* other : {"/nan", "/text", "/list", "/none", "/inner/none", "/number/inner"}) {
        CHECK(result::number_at(document, other) == 0);
    }
    CHECK(result::text_at(document, "/text") == "a?b??[1m \u00e9"); // which no terminal obeys
    CHECK(result::text_at(document, "/number").empty());
    CHECK(result::text_at(document, "/none").empty());
    CHECK(result::list_at(document, "list") == Json{1, 2});
    CHECK(result::list_at(document, "text") == Json::array());
    CHECK(result::list_at(document, "none") == Json::array());
}

TEST_CASE("a file that is no result says what it is instead", "[unit][sim]") {
    const test::ScratchFolder folder;
    const auto read = [&](const std::string& text) {
        const std::string file = folder.write("r.json", text);
        const std::string said = refusal([&] { static_cast<void>(result::read_result(file)); });
        CHECK((said == "taken" || said.find(file + ": ") == 0));
        return said == "taken" ? said : said.substr(file.size() + 2);
    };
    CHECK(read(kResult.dump()) == "taken");
    CHECK(read("{").find("got no JSON, expected a result: ") == 0);
    const std::string other =
        "got other JSON, expected a result of `tessera run --json` for one run";
    CHECK(read("[]") == other);
    CHECK(read("{}") == other);
    CHECK(read(R"({"runs": []})") ==
          "got a file of several runs, expected the result of one: --out DIR writes one for each "
          "run, in a folder of its own");
    CHECK_THROWS_AS(result::read_result(folder.path("absent.json")), IoError);
    CHECK(result::is_file(folder.path("r.json")));
    CHECK_FALSE(result::is_file(folder.path()));
    CHECK_FALSE(result::is_file(folder.path("absent.json")));
}

TEST_CASE("no output takes the place of what a command reads", "[unit][sim]") {
    const test::ScratchFolder folder;
    for (const char* file : {"run/result.json", "run/mine.txt", "store/a.jsonl", "store/mine.txt",
                             "one.json", "elsewhere/result.json"}) {
        static_cast<void>(folder.write(file, "x"));
    }
    std::filesystem::create_symlink("one.json", folder.path("link.json"));
    const auto is_kept = [&](const std::string& output, const std::string& input) {
        const std::string said = refusal([&] {
            result::keep_inputs(
                "diff",
                {{"--json", output.empty() || output == "-" ? output : folder.path(output)}},
                {folder.path("absent"), folder.path(input)});
        });
        CHECK((said == "taken" ||
               said == fmt::format(
                           "diff: --json: '{}' is what the command reads, expected another file",
                           folder.path(output))));
        return said != "taken";
    };
    CHECK(is_kept("one.json", "one.json"));
    CHECK(is_kept("link.json", "one.json"));
    CHECK(is_kept("run/../one.json", "one.json"));
    CHECK_FALSE(is_kept("two.json", "one.json"));
    CHECK_FALSE(is_kept("", "one.json"));
    CHECK_FALSE(is_kept("-", "one.json"));
    // of a run's folder the files that it is read for, whether they are there or not
    for (const char* read : {"result.json", "recording.bin.gz", "memory.json"}) {
        CHECK(is_kept(std::string("run/") + read, "run"));
        CHECK_FALSE(is_kept(std::string("elsewhere/") + read, "run"));
    }
    CHECK_FALSE(is_kept("run/page.html", "run"));
    CHECK_FALSE(is_kept("run/mine.txt", "run"));
    // of a store all, also where one of its points is read
    for (const char* input : {"store", "store:0123abcd"}) {
        CHECK(is_kept("store/mine.txt", input));
        CHECK(is_kept("store/new.html", input));
        CHECK_FALSE(is_kept("storey.html", input));
        CHECK_FALSE(is_kept("run/new.html", input));
    }
}
