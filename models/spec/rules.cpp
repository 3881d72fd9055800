// SPDX-License-Identifier: MIT
#include "models/spec/load.h"

#include <bit>
#include <string>

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
        constexpr std::int64_t kAddressSpace = 1 << 21; // docs/evidence.md#memory-map
        const std::int64_t end = memory.base + memory.bytes();
        if (end > kAddressSpace) {
            fail("/memory/region1_bytes", "got memory up to " + bytes(end) + ", expected at most " +
                                              bytes(kAddressSpace) + " (21 address bits)");
        }
    }

    void matrix_unit() {
        const auto& amp = machine_.amp;
        // Eight units a set; a unit takes 4 FP16 or 1 FP32 inputs a cycle. FP32 partials of FP16
        // inputs fill one set whatever there is. docs/evidence.md#matrix-unit
        macs("/amp/macs_f16_f16", amp.macs_f16_f16, 32 * amp.sets, "32 * amp.sets");
        macs("/amp/macs_f16_f32", amp.macs_f16_f32, 32, "one set of 8 units * 4");
        macs("/amp/macs_f32_f32", amp.macs_f32_f32, 8 * amp.sets, "8 * amp.sets");
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

    /// Both tiles of a pair must hear a word from the same side, or they cannot take it together: no
    /// column's entry may lie between theirs.
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

    void macs(const std::string& pointer, std::int64_t value, std::int64_t expected,
              const std::string& formula) {
        if (value != expected) {
            fail(pointer, "got " + std::to_string(value) + " MACs a tile cycle, expected " +
                              std::to_string(expected) + " (" + formula + ")");
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
    return rules.take();
}

} // namespace tessera::spec
