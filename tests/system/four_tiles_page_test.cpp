// SPDX-License-Identifier: MIT
// docs/four_tiles.md shows what the program prints and what the rules give.
#include "models/isa/exchange_word.h"
#include "models/spec/matrix_unit.h"
#include "tests/support/source_path.h"
#include "tests/system/four_tiles_paper.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <span>
#include <sstream>
#include <string>
#include <vector>

using namespace tessera;
using test::Paper;
using test::TileSheet;

namespace {

/// The controls of a receiver's row and the message of the sender's stand where the latencies put
/// them.
void check_event(const Paper& paper, TileId tile, const isa::ExchangeInstruction& in, Cycles last) {
    const TileId source = paper.transfer().source_tile;
    const Cycles first_sent = paper.wait_events() + 1;
    if (tile == source) {
        CHECK(last == (in.op == isa::ExchangeOp::Send ? first_sent - 1 + paper.words()
                                                      : paper.wait_events()));
        return;
    }
    if (in.mux) {
        const Cycles turned = first_sent + paper.timing.mux_offset(source, tile);
        const bool away = in.mux->source == timing::neutral_source(paper.machine);
        CHECK(last == turned + (away ? paper.words() : 0));
    }
    if (in.pointer) {
        CHECK(last == first_sent + paper.timing.latency(source, tile));
    }
}

std::string row_block(const Paper& paper) {
    std::string text;
    for (const auto& row : paper.program.exchanges[0].rows) {
        text += fmt::format("{}tile {}\n", text.empty() ? "" : "\n", row.tile);
        const std::span<const std::uint32_t> words(row.words);
        Cycles event = 0;
        for (std::size_t at = 0; at < words.size();) {
            const auto in = isa::decode_exchange_word(words.subspan(at));
            at += isa::words_of(in.op);
            const auto events =
                in.count == 0 ? "" : fmt::format("{} .. {}", event + 1, event + in.count);
            event += in.count;
            if (in.op != isa::ExchangeOp::Branch) {
                check_event(paper, row.tile, in, event);
            }
            text += fmt::format("{:>10}  {}\n", events, isa::text_of(in));
        }
        CHECK(event == paper.tiles[row.tile].row_events);
    }
    return text;
}

std::string latency_block(const Paper& paper) {
    std::string text = "to tile  sub  entry  displacement   L    T  mux at  pointer at  last word  "
                       "row ends\n";
    const TileId source = paper.transfer().source_tile;
    const Cycles first = paper.wait_events() + 1;
    for (const auto& to : paper.transfer().destinations) {
        const auto& position = paper.timing.grid().position(to.tile);
        const std::array<int, 4> entry{1, 5, 2, 4};
        const int enters = entry.at(static_cast<std::size_t>(position.sub));
        const int displacement = enters - 6 * (paper.timing.grid().position(source).sub % 2);
        const Cycles latency = paper.timing.latency(source, to.tile);
        CHECK(latency == 22 + std::abs(displacement));
        const Cycles offset = paper.timing.mux_offset(source, to.tile);
        text += fmt::format("{:>7}  {:>3}  {:>5}  {:>12}  {:>2}  {:>3}  {:>6}  {:>10}  {:>9}  "
                            "{:>8}\n",
                            to.tile, position.sub, enters, displacement, latency, offset,
                            first + offset, first + latency, first + latency + paper.words() - 1,
                            paper.tiles[to.tile].row_events);
    }
    return text;
}

std::string supervisor_block(const Paper& paper, TileId tile) {
    std::string text = "cycle  instruction\n";
    const auto& path = paper.tiles[tile].stub.path;
    const auto is_load = [&](std::size_t i) {
        return i < path.size() && path[i].text.rfind("ld128putcs", 0) == 0;
    };
    for (std::size_t i = 0; i < path.size(); ++i) {
        if (is_load(i) && i > 0 && is_load(i - 1) && is_load(i + 1)) {
            text += is_load(i - 2) ? "" : "  ...  one a cycle\n";
            continue;
        }
        text += fmt::format("{:>5}  {}\n", path[i].cycle, path[i].text);
    }
    return text + fmt::format("{:>5}  (returned)\n", paper.tiles[tile].stub.cycles);
}

std::string launch_block(const Paper& paper, TileId tile) {
    std::string text;
    for (const auto& launch : paper.tiles[tile].stub.launches) {
        text += fmt::format("{}launched on {:#x}\nworker  first issue  issues  last issue  "
                            "slot free\n",
                            text.empty() ? "" : "\n", launch.entry);
        for (std::size_t worker = 0; worker < launch.workers.size(); ++worker) {
            const auto& run = launch.workers[worker];
            text += fmt::format("{:>6}  {:>11}  {:>6}  {:>10}  {:>9}\n", worker, run.first,
                                run.issues, run.last, run.slot_free);
        }
    }
    return text;
}

/// The path of worker 0 of the tile's launch number `number`.
std::string worker_block(const Paper& paper, TileId tile, std::size_t number) {
    const auto& launch = paper.tiles[tile].stub.launches.at(number);
    const auto walked = by_hand::walk_worker(paper.machine.tile, paper.listings[tile], launch.entry,
                                             paper.choices(tile, launch.entry, 0));
    CHECK(walked.issues == launch.workers[0].issues);
    std::string text = "issue  cycle  instruction\n";
    for (const auto& issued : walked.path) {
        const Cycles cycle = launch.workers[0].first + paper.machine.tile.workers * issued.cycle;
        text += fmt::format("{}{:>5}  {:>5}  {}{}\n", issued.jumped_here ? "\n" : "", issued.cycle,
                            cycle, issued.text,
                            issued.times == 1 ? "" : fmt::format("  x {}", issued.times));
    }
    return text;
}

std::string account_block(const Paper& paper) {
    std::string text = "tile  sync  exchange  compute  idle    sum\n";
    const Cycles sync = paper.machine.sync.internal_cycles;
    for (TileId tile = 0; tile < 4; ++tile) {
        const auto& sheet = paper.tiles[tile];
        text += fmt::format("{:>4}  {:>4}  {:>8}  {:>7}  {:>4}  {:>5}\n", tile, sync,
                            sheet.exchange, sheet.compute, paper.idle(tile),
                            sync + sheet.exchange + sheet.compute + paper.idle(tile));
    }
    return text + fmt::format("{:>4}  {:>4}  {:>8}  {:>7}  {:>4}  {:>5}\n", "run", sync,
                              paper.tiles[paper.critical()].exchange,
                              paper.tiles[paper.critical()].compute, "", paper.cycles());
}

std::string memory_block(const Paper& paper, TileId tile) {
    std::string text;
    Bytes sum = 0;
    for (const auto& segment : paper.program.images[paper.program.image_of_tile[tile]].segments) {
        text += fmt::format("{:#x}  {:>5}  {}\n", segment.address, segment.bytes, segment.name);
        sum += segment.bytes;
    }
    return text + fmt::format("         {:>5}\n", sum);
}

/// "(1 + 2 + 3 + 4) / 4 = 2.50" over the four tiles.
template <typename Of> std::string mean_text(const Of& of_tile) {
    const std::array<Cycles, 4> cycles{of_tile(0), of_tile(1), of_tile(2), of_tile(3)};
    return fmt::format("({}) / 4 = {:.2f}", fmt::join(cycles, " + "),
                       0.25 * double(std::accumulate(cycles.begin(), cycles.end(), Cycles{0})));
}

std::string sums_block(const Paper& paper) {
    const auto& tiles = paper.tiles;
    const auto line = [](const std::string& what, const std::string& sum) {
        return fmt::format("{:<26}{}\n", what, sum);
    };
    const TileId home = paper.transfer().source_tile;
    const auto& work = paper.workload;
    const auto flops = 2 * work.m * work.k * work.n;
    const double ghz = paper.machine.chip.clock_hz * 1e-9;
    const double microseconds = double(paper.cycles()) / ghz * 1e-3;
    const double gflops = double(flops) / microseconds * 1e-3;
    const std::int64_t macs = spec::matrix_unit(paper.machine).macs_f16_f16;
    const double peak = double(4 * macs * 2) * ghz;
    const TileSheet& last = paper.tiles[paper.critical()];
    const double mean = 0.25 * double(paper.sum(&TileSheet::compute));
    return line("compute, mean", mean_text([&](TileId t) { return tiles[t].compute; })) +
           line("exchange, mean", mean_text([&](TileId t) { return tiles[t].exchange; })) +
           line("uneven splits", fmt::format("{} - {:.2f} = {:.2f}", last.compute, mean,
                                             double(last.compute) - mean)) +
           line("exchange overhead", fmt::format("{} - {} = {}", last.exchange, paper.words(),
                                                 last.exchange - paper.words())) +
           line("bound of the exchange", fmt::format("{} words on a lane", paper.words())) +
           line("bound of the compute set",
                fmt::format("{} worker issues + {} supervisor issues of tile {} = {}",
                            paper.worker_issues(home), paper.supervisor_issues(home), home,
                            paper.worker_issues(home) + paper.supervisor_issues(home))) +
           line("operations", fmt::format("2 x {} x {} x {} = {}", work.m, work.k, work.n, flops)) +
           line("time",
                fmt::format("{} cycles / {} GHz = {:.4f} us", paper.cycles(), ghz, microseconds)) +
           line("speed",
                fmt::format("{} / {:.4f} us = {:.2f} GFLOP/s", flops, microseconds, gflops)) +
           line("peak",
                fmt::format("4 tiles x {} x 2 x {} GHz = {:.1f} GFLOP/s", macs, ghz, peak)) +
           line("of the peak", fmt::format("{:.1f} %", 100 * gflops / peak));
}

/// What the sentences of the page say in numbers.
std::vector<std::string> sayings(const Paper& paper) {
    const auto& machine = paper.machine;
    const auto& exchange = machine.exchange;
    const TileId home = paper.transfer().source_tile;
    const by_hand::SupervisorPath& plain = paper.tiles[0].stub;
    const by_hand::SupervisorPath& both = paper.tiles[home].stub;
    const Cycles wait = paper.wait_events();
    const auto exchange_sum = [&](TileId tile) {
        return fmt::format("{} + {} + {}", exchange.prologue_cycles, paper.tiles[tile].row_events,
                           exchange.row_return_cycles);
    };
    return {
        fmt::format("can be read {} cycles after", machine.tile.pipeline_cycles),
        fmt::format("worker c modulo {} ", machine.tile.workers),
        fmt::format("lasts {} cycles (`control.step_cycles`)", machine.control.step_cycles),
        fmt::format("a barrier of {} cycles", machine.sync.internal_cycles),
        fmt::format("{} cycles of prologue", exchange.prologue_cycles),
        fmt::format("{} cycles for the branch at its end", exchange.row_return_cycles),
        fmt::format("T = L - {} ", exchange.mux_to_pointer_cycles),
        fmt::format("alive for {} events", exchange.row_tail_cycles),
        fmt::format("## Sync: {} cycles", machine.sync.internal_cycles),
        fmt::format("{} bytes are {} words", paper.transfer().bytes, paper.words()),
        fmt::format("waits {} events, and its words leave at the events {} to {}.", wait, wait + 1,
                    wait + paper.words()),
        fmt::format("the tiles spend {}, {}, {} and {} cycles", exchange_sum(0), exchange_sum(1),
                    exchange_sum(2), exchange_sum(3)),
        fmt::format("return after {} cycles; with the {} of the control step, {}.", plain.cycles,
                    machine.control.step_cycles, paper.tiles[0].compute),
        fmt::format("but {} cycles later", both.cycles - plain.cycles),
        fmt::format("{} cycles and {} of the control step are {}.", both.cycles,
                    machine.control.step_cycles, paper.tiles[home].compute),
        fmt::format("The {} issues of worker 0", plain.launches[0].workers[0].issues),
    };
}

std::string page_text() {
    std::ifstream file(tessera::test::source_path("docs/four_tiles.md"));
    std::stringstream page;
    page << file.rdbuf();
    return page.str();
}

std::string mark_of(const std::string& name) {
    return "<!-- checked: " + name + " -->\n```\n";
}

/// The fenced block of the page behind `<!-- checked: name -->`.
std::string block_of_page(const std::string& name) {
    const std::string text = page_text();
    const std::string mark = mark_of(name);
    const std::size_t at = text.find(mark);
    INFO("docs/four_tiles.md has no block '" << name << "'");
    REQUIRE(at != std::string::npos);
    const std::size_t begin = at + mark.size();
    return text.substr(begin, text.find("```\n", begin) - begin);
}

/// A block that differs is printed as it should be; with TESSERA_UPDATE_DOCS in the environment
/// (tools/check_docs.py --update sets it) it is put into the page.
void check_block(const std::string& name, const std::string& expected) {
    const std::string shown = block_of_page(name);
    bool equal = shown == expected;
    if (!equal && std::getenv("TESSERA_UPDATE_DOCS") != nullptr) {
        std::string page = page_text();
        page.replace(page.find(mark_of(name)) + mark_of(name).size(), shown.size(), expected);
        std::ofstream(tessera::test::source_path("docs/four_tiles.md")) << page;
        equal = true;
    }
    if (!equal) {
        fmt::print("docs/four_tiles.md, block '{}', should be:\n{}\n", name, expected);
    }
    INFO("docs/four_tiles.md, block '" << name << "'; read the sentences round it again too");
    CHECK(equal);
}

} // namespace

TEST_CASE("the page of the four-tile example shows what the rules give", "[cli][four_tiles]") {
    const Paper paper({});
    const TileId home = paper.transfer().source_tile;
    check_block("rows", row_block(paper));
    check_block("latencies", latency_block(paper));
    check_block("supervisor of tile 0", supervisor_block(paper, 0));
    check_block("workers of tile 0", launch_block(paper, 0));
    check_block("multiplying worker", worker_block(paper, 0, 0));
    check_block("supervisor of tile 2", supervisor_block(paper, home));
    check_block("workers of tile 2", launch_block(paper, home));
    check_block("copying worker", worker_block(paper, home, 0));
    check_block("account", account_block(paper));
    check_block("memory of tile 2", memory_block(paper, home));
    check_block("sums", sums_block(paper));
}

TEST_CASE("the sentences of the page of the four-tile example have its numbers",
          "[cli][four_tiles]") {
    std::istringstream words(page_text());
    std::string page;
    for (std::string word; words >> word;) {
        page += word + " ";
    }
    for (const std::string& saying : sayings(Paper({}))) {
        INFO("docs/four_tiles.md does not say: " << saying);
        CHECK(page.find(saying) != std::string::npos);
    }
}
