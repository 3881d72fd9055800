// SPDX-License-Identifier: MIT
// How long planning and executing an exchange take on the host, and how near plans come to their
// bound, on a whole chip. One line a pattern: its message size, milliseconds to plan and
// to execute, row cycles, bound, their ratio, what is over the limit of 1.10 x bound or bound + 200,
// the longest row, wide messages and those lowered to 4-byte items.
//
// usage: bench_exchange [--tiles N] [--json] [PATTERN[:BYTES]...]
#include "base/heap.h"
#include "kernels/exchange/exchange_planner.h"
#include "models/exchange/core/fabric.h"
#include "tests/support/exchange_patterns.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace tessera;
namespace patterns = exchange_patterns;

namespace {

struct Pattern {
    std::string name;
    std::vector<Bytes> sizes;
    std::function<void(patterns::Layout&, Bytes)> make;
};

const std::vector<Bytes> kSizes{64, 256, 1024, 4096, 16384, 65536};
const std::vector<Bytes> kAllToAllSizes{4, 16, 64, 208, 512, 1024, 4096};
const std::vector<Bytes> kShared{4, 16, 64, 128}; // all of it in one tile's memory
const std::vector<Bytes> kGroupSizes{4, 16, 64, 256, 1024, 4096};

std::vector<Pattern> all_patterns(TileId tiles) {
    using patterns::Layout;
    std::vector<Pattern> list{
        {"all-to-all", kAllToAllSizes,
         [=](Layout& to, Bytes n) { patterns::all_to_all(to, n, tiles); }},
        {"random", kSizes, [](Layout& to, Bytes n) { patterns::random_permutations(to, n, 1); }},
        {"broadcast", kSizes, [](Layout& to, Bytes n) { patterns::broadcast(to, n, 1, true); }},
        {"broadcast-narrow", kSizes,
         [](Layout& to, Bytes n) { patterns::broadcast(to, n, 1, false); }},
        {"broadcast-4-roots", kSizes,
         [](Layout& to, Bytes n) { patterns::broadcast(to, n, 4, true); }},
        {"broadcast-16-roots", kSizes,
         [](Layout& to, Bytes n) { patterns::broadcast(to, n, 16, false); }},
        {"gather", kShared, patterns::gather},
        {"scatter", kShared, patterns::scatter},
        {"transpose", kSizes, patterns::transpose},
        {"random-8", kSizes, [](Layout& to, Bytes n) { patterns::random_permutations(to, n, 8); }},
        {"random-64", kSizes,
         [](Layout& to, Bytes n) { patterns::random_permutations(to, n, 64); }},
        {"random-pairs-1", kSizes,
         [](Layout& to, Bytes n) { patterns::random_pairs(to, n, n, 1); }},
        {"random-pairs-30", kSizes,
         [](Layout& to, Bytes n) { patterns::random_pairs(to, n, n, 30); }},
        {"random-mixed-16", kSizes,
         [](Layout& to, Bytes n) { patterns::random_pairs(to, 4, n, 16); }},
        {"random-mixed-200",
         {16, 64, 256, 1024},
         [](Layout& to, Bytes n) { patterns::random_pairs(to, 4, n, 200); }},
        {"shift-1", kSizes, [](Layout& to, Bytes n) { patterns::shift(to, n, 1); }},
        {"shift-100", kSizes, [](Layout& to, Bytes n) { patterns::shift(to, n, 100); }},
        {"halo-4", kSizes, [](Layout& to, Bytes n) { patterns::halo(to, n, 0); }},
        {"halo-8", kSizes, [](Layout& to, Bytes n) { patterns::halo(to, n, n); }},
        {"halo-8-small", kSizes, [](Layout& to, Bytes n) { patterns::halo(to, n, 4); }},
        {"halves", kSizes, patterns::halves},
        {"all-to-all-of-100", kGroupSizes,
         [](Layout& to, Bytes n) { patterns::all_to_all_among(to, n, 100, 1); }},
    };
    for (const TileId group : {16U, 32U, 64U}) {
        for (const bool strided : {false, true}) {
            const auto name = std::to_string(group) + (strided ? "-strided" : "");
            list.push_back({"all-to-all-in-" + name, kGroupSizes, [=](Layout& to, Bytes n) {
                                patterns::all_to_all(to, n, group, strided);
                            }});
            list.push_back({"all-gather-in-" + name, kGroupSizes, [=](Layout& to, Bytes n) {
                                patterns::all_gather(to, n, group, strided);
                            }});
        }
    }
    return list;
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Result {
    std::size_t transfers = 0;
    double plan_s = 0;
    double execute_s = 0;
    Cycles cycles = 0;
    plan::ExchangeStats stats;
};

exchange::FabricOutcome execute(const spec::MachineSpec& machine, program::Exchange& exchange) {
    std::vector<const program::ExchangeRow*> row_of(static_cast<std::size_t>(machine.chip.tiles));
    for (auto& row : exchange.rows) {
        row.address = machine.memory.region0_begin();
        row_of[row.tile] = &row;
    }
    return exchange::execute_rows(
        machine, exchange, [&](TileId tile, Address, std::span<std::uint32_t> words) {
            std::copy_n(row_of[tile]->words.begin(), words.size(), words.begin());
        });
}

Result measure(const spec::MachineSpec& machine, patterns::Transfers transfers) {
    Result result;
    result.transfers = transfers.size();
    const auto start = Clock::now();
    auto plan = plan::plan_exchange_with_stats(machine, "bench", std::move(transfers));
    result.plan_s = seconds_since(start);
    const auto begin = Clock::now();
    const auto outcome = execute(machine, plan.exchange);
    result.execute_s = seconds_since(begin);
    result.cycles = *std::max_element(outcome.row_cycles.begin(), outcome.row_cycles.end());
    result.stats = plan.stats;
    return result;
}

void print(const std::string& name, Bytes size, const Result& result) {
    const auto bound = result.stats.bound.cycles();
    const auto limit =
        std::max(static_cast<Cycles>(1.10 * static_cast<double>(bound)), bound + 200);
    const auto over = std::max<Cycles>(result.cycles - limit, 0);
    std::printf("%-24s %6lld %8zu %8.1f %8.1f %8lld %8lld %6.3f %6lld %7lld %6lld %6lld\n",
                name.c_str(), static_cast<long long>(size), result.transfers, 1000 * result.plan_s,
                1000 * result.execute_s, static_cast<long long>(result.cycles),
                static_cast<long long>(bound),
                static_cast<double>(result.cycles) / static_cast<double>(bound),
                static_cast<long long>(over),
                static_cast<long long>(result.stats.longest_row_bytes),
                static_cast<long long>(result.stats.wide_messages),
                static_cast<long long>(result.stats.lowered_messages));
    std::fflush(stdout);
}

void print_json(const std::string& name, Bytes size, const Result& result) {
    std::printf("{\"pattern\": \"%s\", \"bytes\": %lld, \"transfers\": %zu, \"plan_s\": %.4f, "
                "\"execute_s\": %.4f, \"cycles\": %lld, \"bound_cycles\": %lld}\n",
                name.c_str(), static_cast<long long>(size), result.transfers, result.plan_s,
                result.execute_s, static_cast<long long>(result.cycles),
                static_cast<long long>(result.stats.bound.cycles()));
}

} // namespace

int main(int argc, char** argv) {
    keep_freed_memory();
    spec::MachineSpec machine;
    bool json = false;
    std::set<std::string> wanted;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--tiles") == 0 && i + 1 < argc)
            machine.chip.tiles = std::atoll(argv[++i]);
        else if (std::strcmp(argv[i], "--json") == 0)
            json = true;
        else
            wanted.insert(argv[i]);
    }
    if (!json)
        std::printf("%-24s %6s %8s %8s %8s %8s %8s %6s %6s %7s %6s %6s\n", "pattern", "bytes",
                    "messages", "plan ms", "exec ms", "cycles", "bound", "ratio", "over", "row B",
                    "wide", "narrow");
    for (const auto& pattern : all_patterns(static_cast<TileId>(machine.chip.tiles))) {
        for (const auto size : pattern.sizes) {
            if (!wanted.empty() && wanted.count(pattern.name) == 0 &&
                wanted.count(pattern.name + ":" + std::to_string(size)) == 0)
                continue;
            patterns::Layout layout{machine};
            pattern.make(layout, size);
            auto transfers = layout.take();
            if (!transfers || transfers->empty())
                continue; // larger than the tiles' memories
            const auto result = measure(machine, std::move(*transfers));
            json ? print_json(pattern.name, size, result) : print(pattern.name, size, result);
        }
    }
    return 0;
}
