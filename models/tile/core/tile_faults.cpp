// SPDX-License-Identifier: MIT
// What a fault of a tile program says.
#include "models/isa/assembler.h"
#include "models/isa/decoded_program.h"
#include "models/tile/core/tile_core_implementation.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace tessera::tile {
namespace {

std::string describe(const Fault& fault) {
    std::string text = fmt::format("tile_{}.{} @ {}: ", fault.tile,
                                   fault.context < 0 ? std::string("supervisor")
                                                     : fmt::format("worker_{}", fault.context),
                                   fault.cycle);
    if (!fault.source_line.empty()) {
        text += fault.source_line + ": ";
    }
    text += fmt::format("{} at {:#x}: {}",
                        fault.instruction.empty() ? "instruction" : fault.instruction,
                        fault.address, fault.reason);
    if (!fault.registers.empty()) {
        text += "; " + fault.registers;
    }
    return text;
}

} // namespace

TileFault::TileFault(Fault fault) : std::runtime_error(describe(fault)), fault_(std::move(fault)) {}

Fault TileCore::Implementation::report_of(const isa::Context& context,
                                          const isa::ExecutionFault& fault, Cycles cycle) const {
    Fault report;
    report.tile = tile;
    report.context = context.number;
    report.cycle = cycle;
    report.reason = fault.reason;
    if (static_cast<Bytes>(memory.span_bytes) < spec->memory.bytes()) {
        report.reason +=
            fmt::format("; of the tile's {} bytes the host has the first {}, which are "
                        "all that the program names (ulimit -v)",
                        spec->memory.bytes(), memory.span_bytes);
    }
    report.not_modelled = fault.not_modelled;
    report.needs_data = fault.needs_data;
    report.endless = fault.endless;
    if (fault.operation != nullptr && context.program != nullptr) {
        const auto& operations = context.program->operations;
        if (fault.operation >= operations.data() &&
            fault.operation < operations.data() + operations.size()) {
            report.address = context.program->address_of_operation(*fault.operation);
            report.source_line = code->source_line(report.address);
        }
        const std::uint32_t offset = report.address - memory.base;
        if (report.address != 0 && offset + 4 <= memory.span_bytes) {
            std::vector<std::uint32_t> words(
                offset + 8 <= memory.span_bytes &&
                        (std::to_integer<unsigned>(memory.bytes[offset + 3]) & 0x80U) != 0
                    ? 2
                    : 1);
            std::memcpy(words.data(), memory.bytes + offset, words.size() * 4);
            report.instruction = isa::disassemble(words, report.address,
                                                  context.number < 0 ? isa::CsrContext::Supervisor
                                                                     : isa::CsrContext::Worker)
                                     .front()
                                     .text;
        }
    }
    for (unsigned r = 0; r < 14; ++r) {
        report.registers += fmt::format("{}$m{} = {:#x}", r == 0 ? "" : ", ", r, context.main[r]);
    }
    for (unsigned r = 0; context.number >= 0 && r < 8; ++r) {
        report.registers += fmt::format(", $a{} = {:#x}", r, context.aux[r]);
    }
    return report;
}

void TileCore::Implementation::fault_of(const isa::Context& context,
                                        const isa::ExecutionFault& fault, Cycles cycle) const {
    throw TileFault(report_of(context, fault, cycle));
}

} // namespace tessera::tile
