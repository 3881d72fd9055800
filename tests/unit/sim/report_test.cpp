// SPDX-License-Identifier: MIT
// What a page has of a large store, and that names in it are no HTML.
#include "sim/report/command/store_entry.h"
#include "sim/report/page.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

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
    CHECK(store["reasons"].size() == 1);
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
