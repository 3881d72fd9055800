// SPDX-License-Identifier: MIT
// From what one tile has to do and when, to its row of exchange instructions.
#pragma once

#include "base/units.h"
#include "models/isa/exchange_word.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::exchange_plan {

/// A message on the tile's outgoing lane: `items` items from event start+1 on, as many an event as
/// the lane is wide.
struct RowSend {
    std::uint32_t start = 0;
    std::uint32_t items = 0;
    std::uint32_t item_address = 0; ///< byte address / item bytes
    std::uint32_t ctl = 0;
};

/// What takes effect at `event`: a mux control, a pointer control or both.
struct RowControl {
    Cycles event = 0;
    std::optional<isa::MuxControl> mux;
    std::optional<isa::PointerControl> pointer;
};

/// Instructions of a row that lasts `end_event` events, without the final branch. `sends` do not
/// overlap; `sends` and `controls` ascend; no control falls later than `end_event`, and none of a
/// wide message in the first event of a send. A SendPicp always starts at an even word, counted
/// from the row's first word.
[[nodiscard]] std::vector<isa::ExchangeInstruction>
row_instructions(const spec::MachineSpec& machine, std::span<const RowSend> sends,
                 std::span<const RowControl> controls, Cycles end_event);

/// The row's words, `br $m10` included.
[[nodiscard]] std::vector<std::uint32_t>
row_words(std::span<const isa::ExchangeInstruction> instructions);

} // namespace tessera::exchange_plan
