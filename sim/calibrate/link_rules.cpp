// SPDX-License-Identifier: MIT
// Traffic between chips. A row's columns say between which chips; the machine is a ladder of cards with
// as many chips as the farthest one needs. What a row times is the whole exchange, its barrier included.
//   one word between two chips            figure 4.4 and table 4.1
//   one word from each tile of a chip     table 4.3
//   large messages, one or all tiles      tables 4.4 and 4.6
// Constants of links were taken from some of these rows (column `calibrates`); rows that no mechanism
// of the model explains are open: they are printed and not judged (docs/evidence.md#links).
#include "base/config/paths.h"
#include "models/machine_file/load.h"
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

/// As on a chip, the control program around the exchange is none of the figure.
const Timed kExchange{.phases = {"sync", "link"}, .steps = {}};

constexpr std::int64_t kWord = 4;
/// Where a row gives no size: what the broadcast tables use, and of messages of all tiles a tenth, as
/// their rate is that of a link, which many messages fill.
constexpr std::int64_t kLargeBytes = 102'400;
constexpr std::int64_t kLargeBytesOfMany = 10'240;

using ChipPair = std::pair<std::int64_t, std::int64_t>;

/// Columns `from_chip` and `to_chip`, or what the topology's words mean on a ladder whose chips 2 b and
/// 2 b + 1 are of board b.
ChipPair chips_of(const ReferenceRow& row) {
    if (!row.text("from_chip").empty()) {
        const auto chip = [&](const char* column) {
            constexpr double kMost = 1023;
            const double number = row.number(column).value_or(-1);
            if (!(number >= 0 && number <= kMost) ||
                number != static_cast<double>(static_cast<std::int64_t>(number))) {
                throw row.error(column,
                                fmt::format("column '{}': expected a chip's number", column));
            }
            return static_cast<std::int64_t>(number);
        };
        return {chip("from_chip"), chip("to_chip")};
    }
    if (row.says("topology", {"same board"})) {
        return {0, 1};
    }
    return row.says("topology", {"no direct link"}) ? ChipPair{0, 3} : ChipPair{0, 2};
}

/// The system whose figures a row has; nothing where none is known. Measured systems of GC2 are ladders
/// of cards.
std::optional<RowMachine> system_of(const RowMachine& machine) {
    if (machine.spec.system.chips > 1) {
        return machine;
    }
    if (machine.name != "gc2") {
        return std::nullopt;
    }
    const char* const ladder = "gc2_ladder16";
    return RowMachine{
        ladder, machine.sets,
        machine_file::load(ladder, config::default_config_paths(), machine.sets).spec};
}

/// The system with `chips` chips at least, in whole boards.
RowMachine cut(const RowMachine& system, std::int64_t chips) {
    RowMachine made = system;
    made.spec.system.chips = (chips + 1) / 2 * 2;
    made.sets.push_back(fmt::format("system.chips={}", made.spec.system.chips));
    return made;
}

/// `keys`: of the workload; `bytes`: of all messages.
Measurement measure_pattern(const ReferenceRow& row, const RowMachine& machine, json keys,
                            std::int64_t bytes) {
    const json workload = workload_of("link_pattern", std::move(keys));
    Measurement measurement =
        is_time(row) ? measure_time(row, machine, workload, kExchange)
                     : measure_rate(row, machine, workload, kExchange, static_cast<double>(bytes));
    measurement.runs.front().mode = "timing";
    measurement.timed = "the exchange and its barrier";
    return measurement;
}

Measurement between(const ReferenceRow& row, const RowMachine& system, json keys,
                    std::int64_t messages) {
    const auto [from, to] = chips_of(row);
    keys["source"] = from;
    keys["destination"] = to;
    const std::int64_t bytes = messages * keys["bytes"].get<std::int64_t>();
    return measure_pattern(row, cut(system, std::max(from, to) + 1), std::move(keys), bytes);
}

/// A tile in the middle of a chip sends to that of the other one.
Measurement one_pair(const ReferenceRow& row, const RowMachine& system, std::int64_t bytes) {
    return between(
        row, system,
        {{"pattern", "point_to_point"}, {"bytes", bytes}, {"tile", system.spec.chip.tiles / 2}}, 1);
}

Mapped one_word(const ReferenceRow& row, const RowMachine& system) {
    return one_pair(row, system, kWord);
}

Mapped one_large_message(const ReferenceRow& row, const RowMachine& system) {
    Measurement measurement = one_pair(row, system, kLargeBytes);
    assume(measurement, fmt::format("a message of {} B", kLargeBytes));
    return measurement;
}

constexpr const char* kOneEach = "each tile receives one message";

Mapped words_one_way(const ReferenceRow& row, const RowMachine& system) {
    Measurement measurement =
        between(row, system, {{"pattern", "bulk"}, {"bytes", kWord}}, system.spec.chip.tiles);
    assume(measurement, kOneEach);
    return measurement;
}

Measurement large_messages(const ReferenceRow& row, const RowMachine& system, const char* pattern,
                           std::int64_t ways) {
    Measurement measurement =
        between(row, system, {{"pattern", pattern}, {"bytes", kLargeBytesOfMany}},
                ways * system.spec.chip.tiles);
    assume(measurement, fmt::format("messages of {} B", kLargeBytesOfMany));
    assume(measurement, kOneEach);
    return measurement;
}

Mapped large_one_way(const ReferenceRow& row, const RowMachine& system) {
    return large_messages(row, system, "bulk", 1);
}

Mapped large_both_ways(const ReferenceRow& row, const RowMachine& system) {
    return large_messages(row, system, "bulk_both", 2);
}

/// Every tile of the row's chips sends to a tile of another chip.
Mapped random_messages(const ReferenceRow& row, const RowMachine& system) {
    const std::int64_t bytes = is_time(row) ? kWord : kLargeBytesOfMany;
    const RowMachine machine = cut(system, needed(row, "ipus"));
    Measurement measurement =
        measure_pattern(row, machine, {{"pattern", "random"}, {"bytes", bytes}},
                        bytes * machine.spec.system.chips * machine.spec.chip.tiles);
    if (!is_time(row)) {
        assume(measurement, fmt::format("messages of {} B", bytes));
    }
    assume(measurement, kOneEach);
    assume(measurement, "none within a chip");
    return measurement;
}

/// `tiles` tiles of both chips of a pair, spread evenly, send to each other.
Mapped pair_of_machine(const ReferenceRow& row, const RowMachine& system) {
    const std::int64_t tiles = needed_tiles(row, system);
    const std::int64_t bytes = whole_words(needed(row, "msg_bytes"));
    return measure_pattern(row, cut(system, 2),
                           {{"pattern", "bulk_both"},
                            {"bytes", bytes},
                            {"source", 0},
                            {"destination", 1},
                            {"tiles", tiles}},
                           2 * tiles * bytes);
}

using Measure = Mapped (*)(const ReferenceRow&, const RowMachine&);

Rule rule(const char* group, std::vector<Says> row, Measure measure) {
    return {group, std::move(row),
            [measure](const ReferenceRow& of, const RowMachine& machine) -> Mapped {
                const auto system = system_of(machine);
                return system ? measure(of, *system)
                              : NotCovered{fmt::format("no system of machine {}", machine.name)};
            },
            true};
}

} // namespace

const std::vector<Rule>& link_rules() {
    static const std::vector<Rule> rules{
        rule("links: one word",
             {{"workload", {"one-word transfer", "IPU pair"}}, {"metric", {"latency"}}}, one_word),
        rule("links: near chips",
             {{"workload", {"point-to-point, one word"}}, {"topology", {"other IPU"}}}, one_word),
        rule("links: words of all tiles", {{"workload", {"one word from every tile of one IPU"}}},
             words_one_way),
        rule("links: words of all tiles",
             {{"workload", {"one word from every tile to random tile system-wide"}}},
             random_messages),
        rule("links: bulk",
             {{"workload", {"point-to-point, one pair, large message"}},
              {"topology", {"other IPU"}}},
             one_large_message),
        rule("links: bulk", {{"workload", {"IPU to IPU, one direction"}}}, large_one_way),
        rule("links: bulk", {{"workload", {"IPU to IPU, both directions"}}}, large_both_ways),
        rule("links: random bulk",
             {{"workload", {"every tile to random tile system-wide"}},
              {"metric", {"aggregate_bandwidth"}}},
             random_messages),
        rule("links: bulk", {{"workload", {"pair of a machine"}}}, pair_of_machine),
    };
    return rules;
}

} // namespace tessera::calibrate
