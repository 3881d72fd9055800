// SPDX-License-Identifier: MIT
#include "models/spec/load.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tessera::spec {
namespace {

class Rules {
public:
    Rules(const MachineSpec& machine, const config::Document& document)
        : machine_(machine), document_(document) {}

    std::vector<Diagnostic> take() { return std::move(found_); }

    void memory() {
        const auto& memory = machine_.memory;
        const std::int64_t element = memory.element_bytes;
        // Region 1 takes its element from address bit 3, region 0 from the offset: the base must
        // keep both.
        multiple("/memory/base", memory.base, 16, "16 B");
        if (!std::has_single_bit(static_cast<std::uint64_t>(element))) {
            fail("/memory/element_bytes", "got " + bytes(element) + ", expected a power of two");
        }
        multiple("/memory/region0_bytes", memory.region0_bytes, element, "memory.element_bytes");
        multiple("/memory/region1_bytes", memory.region1_bytes, 2 * element,
                 "2 * memory.element_bytes");
        ends_by("/memory/region0_bytes", "region 0", memory.base + memory.region0_bytes,
                "memory.base + memory.region0_bytes", kCodeReach,
                "setzi and call have 20 bits for addresses of code and vertex state");
        ends_by("/memory/region1_bytes", "memory", memory.base + memory.bytes(),
                "memory.base + memory.region0_bytes + memory.region1_bytes", kAddressSpace,
                "21 address bits");
    }

    void matrix_unit() {
        const double steps = machine_.amp.steps_per_issue;
        if (steps != 0.5 && steps != 1 && steps != 2 && steps != 4) {
            fail("/amp/steps_per_issue",
                 fmt::format("got {} steps, expected 0.5, 1, 2 or 4", steps));
        }
    }

    void pairs() {
        if (machine_.exchange.pairs() && machine_.chip.tiles % 2 != 0) {
            fail("/chip/tiles",
                 "got " + std::to_string(machine_.chip.tiles) +
                     " tiles, expected an even number while exchange.pair_double is true");
        }
    }

    /// What the rows of the compiled exchange can say.
    void rows() {
        const auto& exchange = machine_.exchange;
        if (exchange.fabric != Fabric::Compiled) {
            return;
        }
        if (machine_.chip.tiles > kMostCompiledTiles) {
            fail("/chip/tiles", "got " + std::to_string(machine_.chip.tiles) +
                                    " tiles, expected at most " +
                                    std::to_string(kMostCompiledTiles) +
                                    " (127 rows of 64: a mux source has 13 bits) while "
                                    "exchange.fabric is \"compiled\"");
        }
        fills_lane("/exchange/max_words_per_send", exchange.max_words_per_send);
        fills_lane("/exchange/max_words_per_sendoff", exchange.max_words_per_sendoff);
    }

    /// Both tiles of a pair must hear a word from the same side, or they cannot take it together:
    /// no column's entry may lie between theirs.
    void routes() {
        const auto& exchange = machine_.exchange;
        if (exchange.fabric != Fabric::Compiled || !exchange.pair_double) {
            return;
        }
        const Cycles column = exchange.route_column_cycles;
        entry("/exchange/route_near_cycles", exchange.route_near_cycles, 1, column - 1,
              "exchange.route_column_cycles - 1");
        entry("/exchange/route_far_cycles", exchange.route_far_cycles, 2, column,
              "exchange.route_column_cycles");
    }

    /// Several chips; routes are checked by models/machine_file. What one chip has no use for is not
    /// looked at.
    void system() {
        const SystemSpec& system = machine_.system;
        if (system.chips == 1) {
            return;
        }
        const std::string chips = std::to_string(system.chips) + " chips";
        if (system.chips > system.domain_chips) {
            fail("/system/chips", "got " + chips + ", expected at most " +
                                      std::to_string(system.domain_chips) +
                                      " (system.domain_chips)");
        }
        if (system.links.topology == Topology::Ladder && system.chips % 2 != 0) {
            fail("/system/chips",
                 "got " + chips +
                     ", expected an even number while system.links.topology is \"ladder\"");
        }
        if (std::ssize(system.chip_delay) > system.chips) {
            fail("/system/chip_delay", "got delays of " + std::to_string(system.chip_delay.size()) +
                                           " chips, expected at most " +
                                           std::to_string(system.chips) + " (system.chips)");
        }
        multiple("/system/links/payload_bytes", system.links.payload_bytes, 4, "4 B");
    }

private:
    static std::string bytes(std::int64_t value) { return std::to_string(value) + " B"; }

    void fail(const std::string& pointer, std::string message) {
        found_.push_back(document_.at_value(pointer, std::move(message)));
    }

    void multiple(const std::string& pointer, std::int64_t value, std::int64_t of,
                  const std::string& name) {
        if (value % of != 0) {
            const std::string shown =
                name.find("memory.") == std::string::npos ? name : name + " = " + bytes(of);
            fail(pointer, "got " + bytes(value) + ", expected a multiple of " + shown);
        }
    }

    void ends_by(const std::string& pointer, const std::string& what, std::int64_t end,
                 const std::string& sum, std::int64_t most, const std::string& reason) {
        if (end > most) {
            fail(pointer, "got " + what + " up to " + bytes(end) + " (" + sum +
                              "), expected at most " + bytes(most) + ": " + reason);
        }
    }

    void fills_lane(const std::string& pointer, std::int64_t words) {
        const std::int64_t lane = machine_.exchange.lane_items();
        if (words < lane) {
            fail(pointer, "got " + std::to_string(words) + " words, expected at least " +
                              std::to_string(lane) + " (exchange.lane_bytes / 4)");
        }
    }

    void entry(const std::string& pointer, Cycles value, Cycles least, Cycles most,
               const std::string& name) {
        if (value < least || value > most) {
            fail(pointer, "got " + std::to_string(value) + " cycles, expected " +
                              std::to_string(least) + ".." + std::to_string(most) + " (" + name +
                              ") while exchange.pair_double is true");
        }
    }

    const MachineSpec& machine_;
    const config::Document& document_;
    std::vector<Diagnostic> found_;
};

} // namespace

std::vector<Diagnostic> check_rules(const MachineSpec& machine, const config::Document& document) {
    Rules rules{machine, document};
    rules.memory();
    rules.matrix_unit();
    rules.pairs();
    rules.rows();
    rules.routes();
    rules.system();
    return rules.take();
}

} // namespace tessera::spec
