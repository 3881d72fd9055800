// SPDX-License-Identifier: MIT
// What a page has of results and of a large store, and that names in it are no HTML.
#include "base/error.h"
#include "sim/cli/cli.h"
#include "sim/compare/page.h"
#include "sim/compare/report.h"
#include "sim/report/beside.h"
#include "sim/report/command/report_command.h"
#include "sim/report/command/store_entry.h"
#include "sim/report/page.h"
#include "tests/unit/sim/made_recording.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tessera;

TEST_CASE("a sample has all points that it must have, and fills up to the most", "[report]") {
    const auto rows = report::sample(1000, 100, {3, 999, 3}, 1);
    CHECK(rows.size() == 100);
    CHECK(std::is_sorted(rows.begin(), rows.end()));
    CHECK(std::binary_search(rows.begin(), rows.end(), 3));
    CHECK(rows.back() == 999);
}

TEST_CASE("a sample depends only on its seed", "[report]") {
    const auto rows = report::sample(1000, 100, {}, 1);
    CHECK(rows == report::sample(1000, 100, {}, 1));
    CHECK(rows != report::sample(1000, 100, {}, 2));
}

TEST_CASE("a sample of few points is all of them", "[report]") {
    CHECK(report::sample(3, 100, {1}, 1) == std::vector<std::size_t>{0, 1, 2});
    CHECK(report::sample(0, 100, {}, 1).empty());
    CHECK(report::sample(3, 3, {}, 1).size() == 3);
    CHECK(report::sample(4, 3, {}, 1).size() == 3);
    CHECK(report::sample(4, 1, {0, 2, 3}, 1) ==
          std::vector<std::size_t>{0, 2, 3}); // all that it must have
}

TEST_CASE("a store has its points as columns, and the front, the best and the base among them",
          "[report]") {
    const test::ScratchFolder scratch;
    std::filesystem::create_directory(scratch.path("s.sweep"));
    std::string lines;
    const auto add = [&](char key, const char* status, const nlohmann::json& changes,
                         const nlohmann::json& result, const nlohmann::json& more) {
        nlohmann::json line{{"key", std::string(64, key)}, {"status", status}, {"machine", "tiny"},
                            {"workload", "tiny_matmul"},   {"mode", "timing"}, {"model", 1},
                            {"changes", changes}};
        if (!result.is_null()) {
            line["result"] = result;
        }
        if (!more.is_null()) {
            line.update(more);
        }
        lines += line.dump() + "\n";
    };
    add('b', "ok", {{"tile.workers", 4}}, {{"cycles", 50}, {"tflops", 2.5}}, {});
    add('c', "does_not_fit", {{"tile.workers", 8}}, {}, {{"message", "too many"}});
    add('a', "ok", {{"tile.workers", 2}, {"exchange.fabric", "ring"}},
        {{"cycles", 100}, {"tflops", 1}}, {{"note", "slow"}});
    add('d', "ok", nlohmann::json::object(), {{"cycles", 70}}, {});
    static_cast<void>(scratch.write("s.sweep/x.jsonl", lines));
    const auto entry = report::entry_of_store(scratch.path("s.sweep"));
    const nlohmann::json& store = entry.data["store"];
    INFO(store.dump(1));
    CHECK(entry.data["kind"] == "store");
    CHECK(entry.data["label"] == "s.sweep");
    CHECK(store["points"] == 4);
    CHECK(store["rows"] == 4);
    CHECK(store["seed"] == nullptr);
    CHECK((store["statuses"] == nlohmann::json{{"ok", 3}, {"does_not_fit", 1}}));
    const auto column = [&](const char* path) -> nlohmann::json {
        for (const nlohmann::json& one : store["columns"]) {
            if (one["path"] == path) {
                return one;
            }
        }
        return nullptr;
    };
    const auto at = [](const nlohmann::json& place) { return place.at(0).get<std::size_t>(); };
    const nlohmann::json cycles = column("cycles")["numbers"];
    REQUIRE(cycles.size() == 4);
    CHECK(store["best"].size() == 1);
    CHECK(store["base"].size() == 1);
    CHECK(cycles[at(store["best"])] == 50);
    CHECK(cycles[at(store["base"])] == 70); // changes nothing
    CHECK(store["front"] == store["best"]);
    const nlohmann::json keys = column("key");
    const auto key_of = [&](std::size_t row) {
        return keys["words"].at(keys["indices"].at(row).get<std::size_t>()).get<std::string>();
    };
    for (std::size_t row = 0; row < 4; ++row) {
        CAPTURE(row);
        const std::string key = key_of(row);
        CHECK(key == std::string(12, key[0]));
        const auto number = [&](const char* path) { return column(path)["numbers"].at(row); };
        const auto word = [&](const char* path) -> std::string {
            const nlohmann::json one = column(path);
            CHECK(std::ranges::count(one["words"], "") == 0); // a point without one has none
            const int index = one["indices"].at(row);
            return index < 0 ? ""
                             : one["words"].at(static_cast<std::size_t>(index)).get<std::string>();
        };
        CHECK(number("cycles") == (key[0] == 'a'   ? nlohmann::json(100)
                                   : key[0] == 'b' ? nlohmann::json(50)
                                   : key[0] == 'c' ? nlohmann::json()
                                                   : nlohmann::json(70)));
        CHECK(number("tflops") == (key[0] == 'a'   ? nlohmann::json(1)
                                   : key[0] == 'b' ? nlohmann::json(2.5)
                                                   : nlohmann::json()));
        CHECK(number("tile.workers") == (key[0] == 'a'   ? nlohmann::json(2)
                                         : key[0] == 'b' ? nlohmann::json(4)
                                         : key[0] == 'c' ? nlohmann::json(8)
                                                         : nlohmann::json()));
        CHECK(word("exchange.fabric") == (key[0] == 'a' ? "ring" : ""));
        CHECK(word("note") == (key[0] == 'a' ? "slow" : ""));
        CHECK(word("message") == (key[0] == 'c' ? "too many" : ""));
        CHECK(word("status") == (key[0] == 'c' ? "does_not_fit" : "ok"));
        CHECK(word("machine") == "tiny");
    }
    CHECK(column("seconds").is_null()); // of which nobody has any
    const nlohmann::json& best = store["tables"]["best"];
    REQUIRE(best["rows"].size() == 1);
    CHECK((best["head"] ==
           nlohmann::json{"objective", "value", "of the base", "machine", "what differs"}));
    CHECK((best["rows"][0] == nlohmann::json{"cycles", 50, "71.4 %", "tiny", "tile.workers = 4"}));
    CHECK(store["reasons"] == nlohmann::json{"1 does_not_fit, as tiny tiny_matmul "
                                             "tile.workers=8: too many"});
    std::vector<std::string> paths;
    for (const nlohmann::json& one : store["columns"]) {
        paths.push_back(one["path"]);
    }
    CHECK(paths == std::vector<std::string>{"machine", "workload", "mode", "exchange.fabric",
                                            "tile.workers", "status", "cycles", "tflops", "message",
                                            "note", "key"});
    CHECK(store["folder"] == "s.sweep");
    CHECK((store["changed"] == nlohmann::json{"exchange.fabric", "tile.workers"}));
    CHECK(store["objectives"] ==
          nlohmann::json::array({{{"path", "cycles"}, {"text", "cycles"}, {"is_max", false}}}));
    CHECK(store["constraints"].empty());
    CHECK(store["warnings"].empty());
    CHECK(store["tables"]["front"]["head"].back() == "cycles");
    REQUIRE(store["tables"]["front"]["rows"].size() == 1);
    CHECK(store["tables"]["front"]["rows"][0].back() == 50);
    CHECK((store["tables"]["sensitivity"]["rows"][0] ==
           nlohmann::json{"cycles", "tile.workers", 1.4, 2, nullptr, "4: 50, as it is: 70"}));
}

TEST_CASE("a page of a store tells twenty reasons, and how many more there are", "[report]") {
    for (const int reasons : {20, 21, 23}) {
        const test::ScratchFolder scratch;
        std::string lines;
        for (int i = 0; i < reasons; ++i) {
            lines += nlohmann::json{{"key", fmt::format("{:064x}", i)},
                                    {"status", "crash"},
                                    {"machine", "tiny"},
                                    {"workload", "tiny_matmul"},
                                    {"mode", "timing"},
                                    {"changes", {{"tile.workers", i}}},
                                    {"message", std::string(1, static_cast<char>('a' + i))}}
                         .dump() +
                     "\n";
        }
        static_cast<void>(scratch.write("s.sweep/x.jsonl", lines));
        const nlohmann::json told =
            report::entry_of_store(scratch.path("s.sweep")).data["store"]["reasons"];
        CAPTURE(reasons);
        REQUIRE(told.size() == (reasons > 20 ? 21 : 20));
        CHECK(told.back() == (reasons == 20   ? "1 crash, as tiny tiny_matmul tile.workers=19: t"
                              : reasons == 21 ? "1 for 1 other reason"
                                              : "3 for 3 other reasons"));
    }
}

TEST_CASE("a page has names of results only in its deflated data", "[report]") {
    const char* const name = "</script><img onerror=alert(1)>";
    const nlohmann::json result{{"workload", {{"name", name}}}, {"machine", {{"name", name}}}};
    const report::Entry entry = report::entry_of_run(result);
    CHECK(entry.data["label"] == std::string(name) + " on " + name);
    const std::string html = report::page_html({entry}, 1);
    CHECK(html.find("onerror") == std::string::npos);
    CHECK(html.find("default-src 'none'") != std::string::npos);
}

TEST_CASE("a page leaves out a recording that is too long, and says so", "[report]") {
    report::Entry entry = report::entry_of_run(nlohmann::json::object());
    entry.recording.assign("\x1f\x8b");
    entry.recording.resize(report::kMostRecordingBytes + 1);
    const std::string html = report::page_html({std::move(entry)}, 1);
    CHECK(html.find("recording-0\"") == std::string::npos);
}

namespace {

/// The bytes of a text in base64.
std::string decoded(std::string_view text) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::array<unsigned, 256> values{};
    for (unsigned i = 0; i < kDigits.size(); ++i) {
        values[static_cast<unsigned char>(kDigits[i])] = i;
    }
    std::string bytes;
    unsigned bits = 0;
    unsigned held = 0;
    for (const char digit : text.substr(0, text.find('='))) {
        bits = bits << 6U | values[static_cast<unsigned char>(digit)];
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes += static_cast<char>(bits >> held & 0xffU);
        }
    }
    return bytes;
}

} // namespace

TEST_CASE("a page has the bytes of a recording, up to the most", "[report]") {
    constexpr std::size_t kPart = std::size_t{3} << 20U; // that is encoded at once
    for (const std::size_t size : {std::size_t{2}, std::size_t{3}, std::size_t{4}, kPart - 1, kPart,
                                   kPart + 1, 2 * kPart + 2, report::kMostRecordingBytes}) {
        CAPTURE(size);
        std::string recording(size, '\0');
        for (std::size_t i = 0; i < size; ++i) {
            recording[i] = static_cast<char>((i * 2654435761U) >> 13U);
        }
        recording.replace(0, 2, "\x1f\x8b");
        report::Entry entry = report::entry_of_run(nlohmann::json::object());
        entry.recording = recording;
        const std::string html = report::page_html({std::move(entry)}, 1);
        const std::string_view before = "id=\"recording-0\">";
        const std::size_t begin = html.find(before);
        REQUIRE(begin != std::string::npos);
        const std::size_t end = html.find('<', begin + before.size());
        const std::string_view text =
            std::string_view(html).substr(begin + before.size(), end - begin - before.size());
        CHECK(text.size() == (size + 2) / 3 * 4);
        CHECK((decoded(text) == recording)); // not printed
    }
}

namespace {

/// What stands in a page under an id; empty where it has no such part.
std::string part_of(const std::string& html, const std::string& id) {
    const std::string before = "<script type=\"application/octet-stream\" id=\"" + id + "\">";
    const std::size_t begin = html.find(before);
    if (begin == std::string::npos) {
        return "";
    }
    const std::size_t end = html.find('<', begin + before.size());
    return decoded(
        std::string_view(html).substr(begin + before.size(), end - begin - before.size()));
}

nlohmann::json data_of(const std::string& html) {
    const std::string packed = part_of(html, "page");
    std::string text(1U << 22U, '\0');
    auto length = static_cast<uLongf>(text.size());
    REQUIRE(uncompress(reinterpret_cast<Bytef*>(text.data()), &length,
                       reinterpret_cast<const Bytef*>(packed.data()),
                       static_cast<uLong>(packed.size())) == Z_OK);
    return nlohmann::json::parse(text.substr(0, length));
}

/// A result of the run that test::Made records, with what its memory report must say.
nlohmann::json result_of(const std::string& name) {
    return {{"cycles", 10'000},
            {"workload", {{"name", name}}},
            {"machine", {{"name", "m"}}},
            {"memory", {{"max_bytes", 300}}}};
}

nlohmann::json memory_of(const std::string& name) {
    return {{"workload", name},
            {"machine", "m"},
            {"tiles", {{{"peak_bytes", 200}}, {{"peak_bytes", 300}}, {{"peak_bytes", 100}}}}};
}

} // namespace

TEST_CASE("the data of a page are its entries, in their order", "[report]") {
    const nlohmann::json failed{
        {"status", "failed"}, {"workload", {{"name", "w"}}}, {"message", "it does not fit"}};
    const nlohmann::json run = result_of("w");
    std::vector<report::Entry> entries{report::entry_of_run(run, {{"tiles", 1}}, "a.json"),
                                       report::entry_of_run(failed), report::entry_of_run(run)};
    entries[2].recording = "bytes";
    const std::string html = report::page_html(entries, 17);
    const nlohmann::json data = data_of(html);
    const auto version = data["version"].get<std::string>();
    CHECK(data == nlohmann::json{{"version", version},
                                 {"model_version", 17},
                                 {"entries",
                                  {{{"kind", "run"},
                                    {"label", "w on m"},
                                    {"source", "a.json"},
                                    {"result", run},
                                    {"memory", {{"tiles", 1}}}},
                                   {{"kind", "failed"},
                                    {"label", "w on "},
                                    {"source", ""},
                                    {"message", "it does not fit"}},
                                   {{"kind", "run"},
                                    {"label", "w on m"},
                                    {"source", ""},
                                    {"result", run},
                                    {"memory", nullptr},
                                    {"recording", "recording-2"}}}}});
    CHECK(part_of(html, "recording-2").rfind("\x1f\x8b", 0) == 0); // packed, if it was not
    CHECK(part_of(html, "recording-0").empty());
    CHECK(part_of(html, "recording-1").empty());
    CHECK(html.find("Made by tessera " + version + ", model 17.") != std::string::npos);
    report::Entry entry = report::entry_of_run(run);
    entry.recording.assign("\x1f\x8b");
    entry.recording.resize(report::kMostRecordingBytes + (std::size_t{3} << 19U));
    CHECK(data_of(report::page_html({std::move(entry)}, 1))["entries"][0]["no_recording"] ==
          "It has 15.5 MiB, and a page has room for 14 MiB.");
}

TEST_CASE("a result has the memory report beside it, where that is of its run", "[report]") {
    const test::ScratchFolder scratch;
    const std::string file = scratch.write("result.json", "");
    const auto beside = [&](const std::string& text, const std::string& of = "result.json") {
        static_cast<void>(scratch.write("memory.json", text));
        return report::entry_of_file(result_of("w"), scratch.path(of)).data["memory"];
    };
    const nlohmann::json its = memory_of("w");
    CHECK(report::entry_of_file(result_of("w"), file).data["memory"].is_null());
    CHECK(beside(its.dump()) == its);
    CHECK(report::entry_of_file(result_of("w"), file).data["source"] == file);
    CHECK(beside(its.dump(), "other.json").is_null()); // of a file that is no folder's
    CHECK(beside("[]").is_null());
    for (const auto& [key, value] : std::vector<std::pair<const char*, nlohmann::json>>{
             {"workload", "v"},
             {"workload", nullptr},
             {"machine", "n"},
             {"tiles", nlohmann::json::array()},
             {"tiles", {{{"peak_bytes", 299}}}},
             {"tiles", {{{"peak_bytes", 301}}, {{"peak_bytes", 300}}}}}) {
        nlohmann::json other = its;
        other[key] = value;
        CAPTURE(other);
        CHECK(beside(other.dump()).is_null());
    }
    CHECK_THROWS_AS(beside("{"), ConfigError);
}

TEST_CASE("a result has the recording beside it, where that is of its run", "[report]") {
    test::Made made;
    const auto entry = [&](const nlohmann::json& result, const char* of = "result.json") {
        return report::entry_of_file(result, made.scratch.path(of));
    };
    CHECK(entry(result_of("w")).recording.empty());
    CHECK_FALSE(entry(result_of("w")).data.contains("no_recording"));
    const std::filesystem::path recording = made.written();
    CHECK(entry(result_of("w")).recording == test::read_text(recording));
    CHECK_FALSE(entry(result_of("w")).data.contains("no_recording"));
    CHECK(entry(result_of("w"), "other.json").recording.empty());
    nlohmann::json other = result_of("w");
    other["cycles"] = 1;
    CHECK(entry(other).recording.empty());
    CHECK(entry(other).data["no_recording"] == "The one beside the result is of another run.");
    other["status"] = "failed"; // which has no recording
    CHECK_FALSE(entry(other).data.contains("no_recording"));
    static_cast<void>(made.written(1));
    const report::Entry damaged = entry(result_of("w"));
    CHECK(damaged.recording.empty());
    CHECK(damaged.data["no_recording"] ==
          "'" + recording.string() + "' is no recording: its header is cut off");
}

TEST_CASE("a page is made of results, of folders with results in them, and of stores", "[report]") {
    const test::ScratchFolder scratch;
    const auto write = [&](const std::string& name, const nlohmann::json& document) {
        return scratch.write(name, document.dump());
    };
    static_cast<void>(write("of_one/result.json", result_of("one")));
    static_cast<void>(write("of_one/deeper/result.json", result_of("not looked for")));
    static_cast<void>(write("of_two/b/result.json", result_of("b")));
    static_cast<void>(write("of_two/a/deep/result.json", result_of("a")));
    static_cast<void>(write("of_two/a/other.json", result_of("no result's name")));
    static_cast<void>(write("s.sweep/x.jsonl", {{"key", std::string(64, 'a')},
                                                {"status", "ok"},
                                                {"machine", "tiny"},
                                                {"workload", "tiny_matmul"},
                                                {"mode", "timing"},
                                                {"changes", nlohmann::json::object()},
                                                {"result", {{"cycles", 5}}}}));
    static_cast<void>(
        scratch.write("s.sweep/x.jsonl", test::read_text(scratch.path("s.sweep/x.jsonl")) + "\n"));
    const std::string runs = write(
        "runs.json", {{"runs", {result_of("first"), {{"status", "failed"}}, result_of("last")}}});
    const std::string page = scratch.path("page.html");
    const auto labels = [&](const std::vector<std::string>& names, const std::string& said = "") {
        std::vector<std::string> inputs;
        for (const std::string& name : names) {
            inputs.push_back(scratch.path(name));
        }
        const std::string text = report::report_text({inputs, page, said.empty()});
        const std::string html = test::read_text(page);
        CHECK(text == (said.empty() ? ""
                                    : fmt::format("{}: {}, {:.1f} MiB\n", page, said,
                                                  static_cast<double>(html.size()) / (1U << 20U))));
        std::string all;
        const nlohmann::json data = data_of(html);
        for (const nlohmann::json& entry : data["entries"]) {
            all += entry["label"].get<std::string>() + "; ";
        }
        return all;
    };
    CHECK(labels({"of_one"}, "1 entry") == "one on m; ");
    CHECK(labels({"of_one/result.json", "of_two"}, "3 entries") == "one on m; a on m; b on m; ");
    CHECK(labels({"runs.json"}) == "first on m;  on ; last on m; ");
    CHECK(labels({"s.sweep", "of_one"}) == "s.sweep; one on m; ");
    CHECK(labels({"s.sweep/"}) == "s.sweep; ");

    const auto refused = [&](const std::string& name) -> std::string {
        try {
            static_cast<void>(report::report_text({{scratch.path(name)}, page, true}));
        } catch (const std::exception& error) {
            return error.what();
        }
        return "accepted";
    };
    std::filesystem::create_directory(scratch.path("empty"));
    CHECK(refused("empty") ==
          "'" + scratch.path("empty") + "': neither a result nor a store there");
    static_cast<void>(write("other.json", {{"cycles", 1}}));
    CHECK(refused("other.json") ==
          scratch.path("other.json") +
              ": got other JSON, expected a result of `tessera run --json`");
    static_cast<void>(write("list.json", {{"runs", {result_of("a"), 3}}}));
    CHECK(refused("list.json").find("got other JSON") != std::string::npos);
    static_cast<void>(write("list.json", {{"runs", 3}}));
    CHECK(refused("list.json").find("got other JSON") != std::string::npos);
    CHECK_THROWS_WITH(report::report_text({{runs}, runs, true}),
                      "report: --output: '" + runs +
                          "' is what the command reads, expected another file");
    // what goes to stdout is the page alone
    CHECK(report::report_text({{runs}, "/dev/null", true}).empty());
}

TEST_CASE("a page of two results has what is between them, and both", "[report]") {
    compare::Comparison found;
    found.name_a = "v on m";
    found.name_b = "w on m";
    found.b = 7;
    compare::Group group;
    group.name = "multiply";
    group.members_a = {0, 2};
    group.members_b = {5};
    found.groups = {group, {}};
    const auto page = [&] {
        return data_of(compare::page_of(found, {result_of("v"), "a.json"},
                                        {result_of("w"), "b.json"}))["entries"];
    };
    nlohmann::json between = compare::comparison_json(found);
    between["steps"][0]["members_a"] = {0, 2};
    between["steps"][0]["members_b"] = {5};
    between["steps"][1]["members_a"] = nlohmann::json::array();
    between["steps"][1]["members_b"] = nlohmann::json::array();
    const nlohmann::json entries = page();
    REQUIRE(entries.size() == 3);
    CHECK(entries[0] == nlohmann::json{{"kind", "comparison"},
                                       {"label", "A beside B: v on m, w on m"},
                                       {"source", "A is a.json, B is b.json"},
                                       {"comparison", between},
                                       {"sides", {1, 2}}});
    CHECK(entries[1]["label"] == "A: v on m");
    CHECK(entries[1]["result"] == result_of("v"));
    CHECK(entries[1]["source"] == "a.json");
    CHECK(entries[2]["label"] == "B: w on m");
    CHECK(entries[2]["result"] == result_of("w"));
    found.name_b = found.name_a;
    CHECK(page()[0]["label"] == "A beside B: v on m");
}
