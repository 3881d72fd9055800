// SPDX-License-Identifier: MIT
// Orders in which the messages of an exchange may be placed. None is best for all exchanges.
#pragma once

#include "kernels/exchange_plan/exchange_jobs.h"
#include "models/timing/tile_position.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::exchange_plan {

using JobOrder = std::vector<std::uint32_t>;

/// As the transfers were given.
[[nodiscard]] JobOrder given_order(const JobList& list);

/// Column after column, so that neighbours on the grid are neighbours in the ring.
void sort_into_ring(std::vector<TileId>& tiles, const timing::TileGrid& grid);

/// All messages that go equally far round the ring of the tiles that take part together. In an
/// exchange between many tiles each tile so sends and receives without holes, because the latency
/// between two groups of tiles of one kind (column and sub) does not depend on their rows beyond
/// what each tile waits once, and changes little from one shift to the next.
[[nodiscard]] JobOrder shift_order(const JobList& list, const timing::TileGrid& grid);

/// Groups of tiles that all send to each other (or to another group) go together, groups that share
/// receivers go one after another, and senders of one group go in tile order. Tiles of one column
/// are neighbours in that order, so the mux offsets of successive senders differ little and hardly
/// any receiver waits between two messages. For messages to several receivers.
[[nodiscard]] JobOrder grouped_order(const JobList& list, const timing::TileGrid& grid);

/// In rounds: each tile sends at most one message and receives at most one in a round.
[[nodiscard]] JobOrder round_order(const JobList& list, const timing::TileGrid& grid);

/// Messages of the tile that has most to send or to take first.
[[nodiscard]] JobOrder busiest_order(const JobList& list, const timing::TileGrid& grid);

/// As a list schedule takes them: always the message that can start first; of several, the one
/// whose receivers still have most to take. Nothing where that would look at more than `most_looks`
/// messages.
[[nodiscard]] std::optional<JobOrder>
earliest_order(const JobList& list, const timing::TileGrid& grid, std::size_t most_looks);

} // namespace tessera::exchange_plan
