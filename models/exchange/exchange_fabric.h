// SPDX-License-Identifier: MIT
// The exchange fabric: at the release that opens an exchange its words move, and each tile goes on
// when its own row has ended. Which fabric it is the machine says (core/fabric.h).
//
// Ports: is the tiles' Fabric.
// Timing: a tile's row ends FabricOutcome::prologue_cycles + its row_cycles after the release.
// Not modelled: the skew of the rows' event counts over the grid (docs/deviations.md).
// Source: docs/evidence.md#exchange-rows
#pragma once

#include "base/for_each.h"
#include "models/exchange/core/fabric.h"
#include "models/ports/ports.h"
#include "models/program/known_words.h"
#include "models/program/program.h"
#include "models/program/tile_memory.h"
#include "models/spec/machine_spec.h"

#include <systemc>

#include <exception>
#include <memory>
#include <vector>

namespace tessera::exchange {

class ExchangeFabric : public sc_core::sc_module, public ports::Fabric {
public:
    /// All outlive the fabric; `for_each` shares out what it does over host threads.
    ExchangeFabric(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                   const std::vector<program::Exchange>& exchanges,
                   const program::TileMemory& memory, const ForEach& for_each);

    /// From now on only known words move: timing mode. Before prepare(); outlives the fabric.
    void set_known(program::KnownWords& known) { known_ = &known; }

    /// The host's part, before the run: decodes and checks the rows of all exchanges, which do not
    /// change. Throws nothing: outcome() does.
    void prepare();

    /// What an exchange moves and how long it takes. @throws ProgramError if it breaks a rule.
    [[nodiscard]] const FabricOutcome& outcome(std::uint32_t exchange) const;

    /// In the cycle of its release: the words of an exchange move. Returns the bytes, counted where
    /// they are written. @throws ProgramError if it breaks a rule.
    Bytes open(std::uint32_t exchange);
    /// In the cycle of the release: `value` is told to all tiles.
    void tell(const program::TileValue& value);

    [[nodiscard]] Cycles row_cycles(std::uint32_t exchange, TileId tile) const override {
        return prepared_[exchange].row_cycles[tile];
    }
    [[nodiscard]] events::Lanes lanes(std::uint32_t exchange, TileId tile) const override {
        return prepared_[exchange].lanes[tile];
    }
    [[nodiscard]] Told told() const override { return told_; }

private:
    struct Prepared {
        std::unique_ptr<const FabricOutcome> outcome;
        std::vector<Cycles> row_cycles;   ///< by tile, with the prologue; 0 without a row
        std::vector<events::Lanes> lanes; ///< by tile
        std::exception_ptr failure;
    };
    void prepare(std::uint32_t exchange);
    void copy_bytes(const CopyRun& copy) const;
    template <class ForEachCopy>
    void move_known(const std::vector<CopyRun>& copies, const ForEachCopy& for_each_copy);

    const spec::MachineSpec& spec_;
    const std::vector<program::Exchange>& exchanges_;
    const program::TileMemory& memory_;
    program::KnownWords* known_ = nullptr; ///< null: all words are
    const ForEach& for_each_;
    std::vector<Prepared> prepared_;
    Told told_;
};

} // namespace tessera::exchange
