// SPDX-License-Identifier: MIT
// Collectives of a group of chips as schedules: who sends which fragment to whom in which step. Plain
// data; it knows neither tiles nor types nor time.
//
//   all-reduce of a ring = reduce-scatter + all-gather
//   step 0   0 -[3]-> 1 -[0]-> 2 -[1]-> 3 -[2]-> 0    each adds what it gets to its own fragment
//   step 3   0 -[0]-> 1 -[1]-> 2 -[2]-> 3 -[3]-> 0    each keeps what it gets
//
// A group has members 0 .. members - 1; which chip a member is stands elsewhere. A tensor has as many
// fragments as the group has members; member m keeps fragment m where each keeps one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tessera::collective {

enum class Kind { ReduceScatter, AllGather, AllReduce };

[[nodiscard]] std::string_view text(Kind kind);

/// One fragment from one member to another, which adds it to its own or keeps it instead.
struct Send {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t fragment = 0;
    bool adds = false;

    bool operator==(const Send&) const = default;
};

/// Sends that go at the same time. They carry the values at the begin of the step.
struct Step {
    std::vector<Send> sends;
};

struct Schedule {
    Kind kind = Kind::AllReduce;
    std::int32_t members = 1;
    std::vector<Step> steps;
};

/// `ring` names each member once, at least one: member ring[p] sends to ring[p + 1], the last to the
/// first. Reduce-scatter and all-gather take members - 1 steps of one fragment a member.
[[nodiscard]] Schedule ring_schedule(Kind kind, std::span<const std::int32_t> ring);

/// Orders of rings for the chips of one ladder, an even number of them.
/// 0 2 4 6 7 5 3 1: up one column, down the other.
[[nodiscard]] std::vector<std::int32_t> outside_ring(std::int32_t chips);
/// 0 1 3 2 4 5 7 6: a rung, a rail, the next rung, a rail; from the last chip back down its column.
[[nodiscard]] std::vector<std::int32_t> serpent_ring(std::int32_t chips);
/// 1 0 2 3 5 4 6 7: the same from the first board's other chip.
[[nodiscard]] std::vector<std::int32_t> mirrored_serpent_ring(std::int32_t chips);

} // namespace tessera::collective
