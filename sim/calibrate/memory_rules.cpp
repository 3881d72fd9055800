// SPDX-License-Identifier: MIT
// STREAM and reads of tile memory.
#include "base/element_type.h"
#include "sim/calibrate/rules.h"

#include <fmt/format.h>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

const Timed kWholeLoop{.phases = {"all"}, .steps = {}};
/// Of an array, where a row gives no size: what MEM-triad-FP32-naive says beside MEM-bstream-triad,
/// one loop measured in two programs (docs/evidence.md#stream-sizes).
constexpr std::int64_t kArrayBytes = 20'000'000;

/// One kernel of STREAM: what it moves and computes for an element.
struct Kernel {
    const char* op;
    double arrays;
    double flops;
};

/// How the row's program was written.
std::string codelet_of(const ReferenceRow& row) {
    if (row.says("workload", {"naive"}) || row.says("workload", {"plain C++"})) {
        return "naive";
    }
    if (row.says("workload", {"vendor"})) {
        return "vendor";
    }
    return row.says("workload", {"paced"}) ? "paced" : "vector";
}

/// Arrays are dealt in pieces of 16 bytes.
std::int64_t whole_pieces(std::int64_t elements) {
    constexpr std::int64_t kPiece = 8;
    return (elements + kPiece - 1) / kPiece * kPiece;
}

auto stream(Kernel kernel) {
    return [kernel](const ReferenceRow& row, const RowMachine& machine) -> Mapped {
        const ElementType type =
            row.says("workload", {"FP16"}) ? ElementType::F16 : ElementType::F32;
        const auto given = row.count("elems");
        const Bytes element_bytes = bytes_of(type);
        const std::int64_t elements = whole_pieces(given.value_or(kArrayBytes / element_bytes));
        const json workload = workload_of("memory_stream", {{"op", kernel.op},
                                                            {"dtype", name_of(type)},
                                                            {"elements", elements},
                                                            {"codelet", codelet_of(row)}});
        const bool flops = row.says("metric", {"flop"});
        const double amount =
            flops ? kernel.flops : kernel.arrays * static_cast<double>(element_bytes);
        Measurement measurement =
            is_time(row) ? measure_time(row, machine, workload, kWholeLoop)
                         : measure_rate(row, machine, workload, kWholeLoop,
                                        static_cast<double>(given.value_or(elements)) * amount);
        if (!given) {
            assume(measurement, fmt::format("{} elements", elements));
        }
        return measurement;
    };
}

constexpr Kernel kCopy{"copy", 2, 0};
constexpr Kernel kScale{"scale", 2, 1};
constexpr Kernel kAdd{"add", 3, 1};
constexpr Kernel kTriad{"triad", 3, 2};

/// Reads by all workers of all tiles, with the loads of a codelet.
auto reads(const char* codelet) {
    return [codelet](const ReferenceRow& row, const RowMachine& machine) -> Mapped {
        constexpr std::int64_t kTileBytes = 98'304;
        const std::int64_t tiles =
            row.count("tiles") ? needed_tiles(row, machine) : machine.spec.chip.tiles;
        const std::int64_t elements = tiles * kTileBytes / 4;
        const json workload = workload_of(
            "memory_stream",
            {{"op", "read"}, {"tiles", tiles}, {"elements", elements}, {"codelet", codelet}});
        Measurement measurement =
            measure_rate(row, machine, workload, kWholeLoop, 4.0 * static_cast<double>(elements));
        assume(measurement, fmt::format("{} B on each tile", kTileBytes));
        return measurement;
    };
}

} // namespace

const std::vector<Rule>& memory_rules() {
    static const std::vector<Rule> rules{
        {"STREAM", {{"workload", {"stream copy"}}}, stream(kCopy)},
        {"STREAM", {{"workload", {"stream mul"}}}, stream(kScale)},
        {"STREAM", {{"workload", {"stream scale"}}}, stream(kScale)},
        {"STREAM", {{"workload", {"stream add"}}}, stream(kAdd)},
        {"STREAM", {{"workload", {"stream triad"}}}, stream(kTriad)},
        {"memory reads",
         {{"workload", {"local SRAM read", "128-bit"}}, {"metric", {"bandwidth"}}},
         reads("paced")},
        {"memory reads",
         {{"workload", {"local SRAM read", "64-bit"}}, {"metric", {"bandwidth"}}},
         reads("vector")},
        {"memory reads",
         {{"workload", {"local SRAM read", "32-bit"}}, {"metric", {"bandwidth"}}},
         reads("naive")},
    };
    return rules;
}

} // namespace tessera::calibrate
