// SPDX-License-Identifier: MIT
// A program of a few lines: assembly text at the start of region 0 of every tile that takes part,
// compute sets that name symbols of it, and exchanges planned from transfers.
#pragma once

#include "kernels/exchange_plan/exchange_planner.h"
#include "models/isa/assembler.h"
#include "models/isa/machine_target.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/tile/core/tile_core.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Bow with four tiles.
inline spec::MachineSpec four_tiles() {
    spec::MachineSpec machine;
    machine.name = "four";
    machine.chip.tiles = 4;
    return machine;
}

inline program::SharedBytes bytes_of_words(const std::vector<std::uint32_t>& words) {
    auto bytes = std::make_shared<std::vector<std::byte>>(words.size() * 4);
    std::memcpy(bytes->data(), words.data(), bytes->size());
    return bytes;
}

class HandProgram {
public:
    HandProgram(spec::MachineSpec machine, const std::string& text) : machine_(std::move(machine)) {
        program_.name = "by hand";
        program_.codelets.push_back(
            isa::assemble("hand", {{"hand.S", text}}, machine_.memory.region0_begin(), options()));
        const auto& codelet = program_.codelets.front();
        for (std::int64_t tile = 0; tile < machine_.chip.tiles; ++tile) {
            program_.image_of_tile.push_back(static_cast<std::uint32_t>(tile));
            auto& image = program_.images.emplace_back();
            image.segments.push_back({codelet.address, static_cast<Bytes>(codelet.words.size() * 4),
                                      program::SegmentKind::Code, "hand",
                                      bytes_of_words(codelet.words)});
        }
        // Rows stand in an element of their own, away from code and data.
        row_address_ = machine_.memory.region0_begin() +
                       4 * static_cast<Address>(machine_.memory.element_bytes);
    }

    /// A compute set in which each given tile runs from a symbol.
    std::uint32_t compute_set(const std::string& name, const std::map<TileId, std::string>& stubs) {
        auto& set = program_.compute_sets.emplace_back();
        set.name = name;
        for (const auto& [tile, symbol] : stubs) {
            set.tiles.resize(tile + 1);
            set.tiles[tile].stub = program_.codelets.front().symbols.at(symbol);
        }
        return static_cast<std::uint32_t>(program_.compute_sets.size() - 1);
    }

    std::uint32_t exchange(const std::string& name, std::vector<program::Transfer> transfers) {
        program_.exchanges.push_back(
            exchange_plan::plan_exchange(machine_, name, std::move(transfers)));
        for (auto& row : program_.exchanges.back().rows) {
            row.address = row_address_;
            program_.images.at(row.tile).segments.push_back(
                {row_address_, static_cast<Bytes>(row.words.size() * 4),
                 program::SegmentKind::ExchangeRow, name, bytes_of_words(row.words)});
        }
        row_address_ += 0x1000;
        return static_cast<std::uint32_t>(program_.exchanges.size() - 1);
    }

    static program::Step step(program::Step::Kind kind, std::uint32_t index = 0,
                              std::vector<program::Step> children = {}) {
        program::Step made;
        made.kind = kind;
        made.index = index;
        made.children = std::move(children);
        return made;
    }
    HandProgram& then(program::Step next) {
        program_.control.children.push_back(std::move(next));
        return *this;
    }
    HandProgram& then_compute(std::uint32_t index) {
        program_.control.children.push_back(step(program::Step::Kind::ComputeSet, index));
        return *this;
    }
    HandProgram& then_exchange(std::uint32_t index) {
        program_.control.children.push_back(step(program::Step::Kind::Exchange, index));
        return *this;
    }
    HandProgram& then_sync() {
        program_.control.children.push_back(step(program::Step::Kind::Sync));
        return *this;
    }
    /// The steps so far become the body of a repeat.
    HandProgram& repeated(std::uint32_t rounds) {
        program::Step repeat = std::move(program_.control);
        repeat.kind = program::Step::Kind::Repeat;
        repeat.count = rounds;
        program_.control = step(program::Step::Kind::Sequence);
        program_.control.children.push_back(std::move(repeat));
        return *this;
    }

    /// Cycles that a tile's core takes from `symbol`, by itself and without SystemC.
    [[nodiscard]] Cycles stub_cycles(const std::string& symbol, TileId tile = 0) const {
        std::vector<tile::ContextSpan> spans;
        return stub_outcome(symbol, tile, spans).cycles;
    }
    /// What its contexts did meanwhile.
    [[nodiscard]] std::vector<tile::ContextSpan> stub_spans(const std::string& symbol,
                                                            TileId tile) const {
        std::vector<tile::ContextSpan> spans;
        static_cast<void>(stub_outcome(symbol, tile, spans));
        return spans;
    }

    [[nodiscard]] program::Program& program() { return program_; }
    [[nodiscard]] const spec::MachineSpec& machine() const { return machine_; }

private:
    tile::ComputeOutcome stub_outcome(const std::string& symbol, TileId tile,
                                      std::vector<tile::ContextSpan>& spans) const {
        std::vector<std::uint64_t> memory(static_cast<std::size_t>(machine_.memory.bytes() / 8));
        tile::CodeCache code(program_.codelets);
        tile::TileCore core(machine_, tile, reinterpret_cast<std::byte*>(memory.data()));
        core.load(program_.images.at(tile), code);
        return core.run(program_.codelets.front().symbols.at(symbol), &spans);
    }

    [[nodiscard]] isa::AssemblyOptions options() const {
        return isa::options_for(isa::target_of(machine_));
    }

    spec::MachineSpec machine_;
    program::Program program_;
    Address row_address_ = 0;
};

/// Supervisor code with stubs of three lengths, one that stores, and two that fault.
inline const char* const kStubs = R"(
.supervisor
.globl at_once, loop_of_5, loop_of_50, store_7, fault_early, fault_late, all_workers
at_once:
    br $lr
loop_of_5:
    setzi $m0, 5
1:  brnzdec $m0, 1b
    br $lr
loop_of_50:
    setzi $m0, 50
1:  brnzdec $m0, 1b
    br $lr
store_7:
    setzi $m0, 7
    setzi $m1, 0x80000
    st32 $m0, $m1, $mzero, 0
    br $lr
fault_early:
    setzi $m1, 0x80002
    ld32 $m0, $m1, $mzero, 0
    br $lr
fault_late:
    setzi $m0, 50
1:  brnzdec $m0, 1b
    setzi $m1, 0x80002
    ld32 $m0, $m1, $mzero, 0
    br $lr
all_workers:
    setzi $m0, worker
    runall $m0, $mzero, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $lr
.worker
worker:
    setzi $m0, 3
1:  brnzdec $m0, 1b
    exitz $mzero
)";

} // namespace tessera::test
