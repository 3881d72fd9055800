// SPDX-License-Identifier: MIT
// docs/models/ipu.md shows a run of two tiles event by event: this prints it.
#include "models/listeners/account.h"
#include "models/simulation/simulation.h"
#include "tests/component/hand_program.h"
#include "tests/support/source_path.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

const char* const kPage = "docs/models/ipu.md";
const char* const kMark = "<!-- checked: two tiles -->\n```\n";

/// Writes down what it hears.
struct Story final : events::Listener {
    void segment(const events::Segment& segment) override {
        for (const auto& span : segment.spans) {
            line(span.end, fmt::format("tile_{}", segment.tile),
                 fmt::format("has {} since {}", text_of(span), span.begin));
        }
        line(segment.end, fmt::format("tile_{}", segment.tile), "arrives at the barrier");
    }
    void released(const events::Release& release) override {
        line(release.cycle, "sync_unit",
             fmt::format("releases, {} cycles after tile_{} arrived last{}",
                         release.cycle - release.last_arrival, release.critical,
                         release.ends_program ? ": the program has ended" : ""));
    }
    void moved(const events::Moved& moved) override {
        line(moved.begin, "exchange_fabric", fmt::format("moves {} bytes", moved.bytes));
    }
    [[nodiscard]] static std::string text_of(const events::Span& span) {
        return span.doing == events::Doing::Exchange ? std::string("executed its row")
                                                     : fmt::format("computed (step {})", span.step);
    }
    void line(Cycles cycle, const std::string& who, const std::string& what) {
        lines.emplace_back(cycle, fmt::format("{:>5}  {:<16}{}\n", cycle, who, what));
    }
    /// What a tile did is told when it arrives: in the order of the cycles.
    [[nodiscard]] std::string text() {
        std::stable_sort(lines.begin(), lines.end(), [](const auto& left, const auto& right) {
            return left.first < right.first;
        });
        std::string all;
        for (const auto& line : lines) {
            all += line.second;
        }
        return all;
    }
    std::vector<std::pair<Cycles, std::string>> lines;
};

} // namespace

TEST_CASE("the page of the chip shows a run of two tiles as it goes") {
    spec::MachineSpec machine;
    machine.name = "two";
    machine.chip.tiles = 2;
    test::HandProgram hand(machine, test::kStubs);
    hand.then_compute(hand.compute_set("first", {{0, "store_7"}, {1, "loop_of_50"}}));
    hand.then_compute(hand.compute_set("second", {{0, "loop_of_50"}}));
    hand.then_exchange(hand.exchange("send", {{0, 0x80000, 400, false, {{1, 0x90000}}}}));
    hand.then_compute(hand.compute_set("last", {{0, "loop_of_5"}}));
    Story story;
    simulation::Simulation simulation(hand.machine(), hand.program(), {.listeners = {&story}});
    simulation.run();
    const std::string told = story.text();
    const std::string path = test::source_path(kPage);
    std::ifstream file(path);
    std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::size_t mark = page.find(kMark);
    REQUIRE(mark != std::string::npos);
    const std::size_t begin = mark + std::string(kMark).size();
    const std::size_t end = page.find("```\n", begin);
    const std::string shown = page.substr(begin, end - begin);
    if (shown != told && std::getenv("TESSERA_UPDATE_DOCS") != nullptr) {
        std::ofstream(path) << page.replace(begin, end - begin, told);
        return;
    }
    CHECK(shown == told);
}
