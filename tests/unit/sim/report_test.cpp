// SPDX-License-Identifier: MIT
// What a page has of a large store, and that names in it are no HTML.
#include "sim/report/command/store_entry.h"
#include "sim/report/page.h"

#include <catch2/catch.hpp>

#include <algorithm>

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
