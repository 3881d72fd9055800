// SPDX-License-Identifier: MIT
#include "models/spec/load.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
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
        const double steps = machine_.amp.steps_per_issue;
        if (steps != 0.5 && steps != 1 && steps != 2 && steps != 4) {
            fail("/amp/steps_per_issue",
                 fmt::format("got {} steps, expected 0.5, 1, 2 or 4", steps));
        }
    }

    void pairs() {
        // The links of a mesh or a ring know no pairs.
        const Fabric fabric = machine_.exchange.fabric;
        const bool pairs = fabric == Fabric::Compiled || fabric == Fabric::Bound;
        if (pairs && machine_.exchange.pair_double && machine_.chip.tiles % 2 != 0) {
            fail("/chip/tiles",
                 "got " + std::to_string(machine_.chip.tiles) +
                     " tiles, expected an even number while exchange.pair_double is true");
        }
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
    return rules.take();
}

} // namespace tessera::spec
