// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace tessera::matmul {
namespace {

/// Messages shorter than this are dearer in control than in words.
constexpr Bytes kShortestMessage = 256;
/// A reduction reads one unit behind its share.
constexpr Bytes kReadAhead = 16;

constexpr Bytes kVertexStateBytes = 32;
constexpr Bytes kCopyStateBytes = 16;

} // namespace

Layout::Layout(const spec::MachineSpec& machine, const Grid& grid)
    : machine_(machine), grid_(grid), homes_a_(static_cast<std::size_t>(grid.partition().chunks)),
      homes_b_(static_cast<std::size_t>(grid.partition().chunks)),
      filled_a_(static_cast<std::size_t>(machine.chip.tiles)),
      filled_b_(static_cast<std::size_t>(machine.chip.tiles)),
      copies_of_tile_(static_cast<std::size_t>(machine.chip.tiles)) {
    for (std::int64_t chunk = 0; chunk < grid.partition().chunks; ++chunk) {
        if (!grid.a_stays()) {
            deal(operand(true), chunk);
        }
        if (!grid.b_stays()) {
            deal(operand(false), chunk);
        }
    }
    find_steps();
}

TilePart Layout::group_a(std::size_t group) const {
    const auto g = static_cast<std::int64_t>(group);
    return {g / grid_.partition().parts_k, g % grid_.partition().parts_k, 0};
}

TilePart Layout::group_b(std::size_t group) const {
    const auto g = static_cast<std::int64_t>(group);
    return {0, g % grid_.partition().parts_k, g / grid_.partition().parts_k};
}

Layout::Operand Layout::operand(bool is_a) const {
    const Partition& p = grid_.partition();
    if (is_a) {
        return {true, p.paired == Paired::A, kCellBytes,
                static_cast<std::size_t>(p.parts_m * p.parts_k),
                static_cast<std::size_t>(p.parts_n)};
    }
    return {false, p.paired == Paired::B, grid_.problem().block_bytes(),
            static_cast<std::size_t>(p.parts_n * p.parts_k), static_cast<std::size_t>(p.parts_m)};
}

std::int64_t Layout::units(const Operand& op, std::size_t group, std::int64_t chunk) const {
    const TilePart part = op.is_a ? group_a(group) : group_b(group);
    const std::int64_t across =
        op.is_a ? grid_.rows(part.im).length() : grid_.out_groups(part.in).length();
    return grid_.chunk(part.ik, chunk).length() * across;
}

TileId Layout::receiver(const Operand& op, std::size_t group, std::size_t number) const {
    TilePart part = op.is_a ? group_a(group) : group_b(group);
    (op.is_a ? part.in : part.im) = static_cast<std::int64_t>(number);
    return grid_.tile(part);
}

bool Layout::receives(const Operand& op, TileId tile, std::size_t group) const {
    if (static_cast<std::int64_t>(tile) >= grid_.partition().tiles()) {
        return false;
    }
    const TilePart part = grid_.part(tile);
    const TilePart wanted = op.is_a ? group_a(group) : group_b(group);
    return part.ik == wanted.ik && (op.is_a ? part.im == wanted.im : part.in == wanted.in);
}

std::vector<plan::Home> Layout::deal_wide(const Operand& op, std::int64_t chunk) const {
    std::vector<std::int64_t> units_of_group;
    std::vector<std::vector<TileId>> receivers;
    for (std::size_t group = 0; group < op.groups; ++group) {
        units_of_group.push_back(units(op, group, chunk));
        receivers.emplace_back();
        for (std::size_t number = 0; number < op.receivers; ++number) {
            receivers.back().push_back(receiver(op, group, number));
        }
    }
    const std::int64_t shortest = ceil_div(machine_.exchange.pair_min_items * 8, op.unit_bytes);
    return plan::deal_to_next_group(units_of_group, receivers, shortest, chunk % 2);
}

std::vector<plan::Home> Layout::deal_single(const Operand& op, std::int64_t chunk) const {
    std::vector<std::int64_t> units_of_group;
    for (std::size_t group = 0; group < op.groups; ++group) {
        units_of_group.push_back(units(op, group, chunk));
    }
    // Beside wide messages: on the members that send them, whose lanes nobody borrows.
    std::vector<TileId> candidates;
    const bool half = grid_.partition().paired != Paired::None;
    for (std::int64_t tile = 0; tile < machine_.chip.tiles; ++tile) {
        if (!half || tile % 2 == chunk % 2) {
            candidates.push_back(static_cast<TileId>(tile));
        }
    }
    return plan::deal_homes(
        units_of_group, candidates, ceil_div(kShortestMessage, op.unit_bytes),
        [&](TileId tile, std::size_t group) { return receives(op, tile, group); });
}

void Layout::deal(const Operand& op, std::int64_t chunk) {
    std::vector<Bytes>& filled = op.is_a ? filled_a_ : filled_b_;
    std::vector<HomeRun> runs;
    std::map<std::size_t, std::int64_t> turns;
    for (const plan::Home& home : op.wide ? deal_wide(op, chunk) : deal_single(op, chunk)) {
        runs.push_back({home, filled[home.tile], turns[home.group]++});
        filled[home.tile] += (home.last - home.first) * op.unit_bytes;
        copies_of_tile_[home.tile] += receives(op, home.tile, home.group) ? 1 : 0;
    }
    (op.is_a ? homes_a_ : homes_b_)[static_cast<std::size_t>(chunk)] = std::move(runs);
}

Bytes Layout::state_bytes() const {
    const std::int64_t copies = *std::max_element(copies_of_tile_.begin(), copies_of_tile_.end());
    return (grid_.partition().chunks + 1) * kVertexStateBytes + copies * kCopyStateBytes;
}

void Layout::find_steps() {
    const bool copies = *std::max_element(copies_of_tile_.begin(), copies_of_tile_.end()) > 0;
    plan::Liveness::Names homes;
    plan::Liveness::Names received;
    (grid_.a_stays() ? steps_.given({"x"}) : steps_.given({"home of a"}));
    (grid_.b_stays() ? steps_.given({"weights"}) : steps_.given({"home of b"}));
    if (!grid_.a_stays()) {
        homes.emplace_back("home of a");
        received.emplace_back("x");
    }
    if (!grid_.b_stays()) {
        homes.emplace_back("home of b");
        received.emplace_back("weights");
    }
    for (std::int64_t chunk = 0; chunk < grid_.partition().chunks; ++chunk) {
        if (!homes_a(chunk).empty() || !homes_b(chunk).empty()) {
            steps_.step(fmt::format("bring chunk {}", chunk)).reads(homes).writes(received);
        }
        steps_.step(fmt::format("multiply chunk {}", chunk)).reads({"x", "weights"});
        steps_.reads(copies ? homes : plan::Liveness::Names{});
        (chunk == 0 ? steps_.writes({"partials"}) : steps_.updates({"partials"}));
    }
    if (!grid_.reduces()) {
        steps_.wanted({"partials"});
        return;
    }
    if (grid_.partition().parts_k > 1) {
        steps_.step("reduce: bring partial results").reads({"partials"}).writes({"slices"});
    }
    steps_.step("reduce").reads({"partials", "slices"}).writes({"result"});
    steps_.wanted({"result"});
}

Bytes Layout::out_bytes(const TilePart& part) const {
    return grid_.rows(part.im).length() * grid_.out_groups(part.in).length() * kCellBytes;
}

Bytes Layout::x_bytes(const TilePart& part) const {
    return grid_.rows(part.im).length() * kCellBytes *
           (grid_.a_stays() ? grid_.k_groups(part.ik).length() : grid_.most_chunk_groups());
}

Bytes Layout::weights_bytes(const TilePart& part) const {
    return grid_.out_groups(part.in).length() * grid_.problem().block_bytes() *
           (grid_.b_stays() ? grid_.k_groups(part.ik).length() : grid_.most_chunk_groups());
}

TileId Layout::fullest_tile() const {
    TileId fullest = 0;
    Bytes most = 0;
    for (TileId tile = 0; tile < filled_a_.size(); ++tile) {
        Bytes bytes = filled_a_[tile] + filled_b_[tile];
        if (static_cast<std::int64_t>(tile) < grid_.partition().tiles()) {
            const TilePart part = grid_.part(tile);
            bytes += out_bytes(part) + x_bytes(part) + weights_bytes(part);
        }
        if (bytes > most) {
            most = bytes;
            fullest = tile;
        }
    }
    return fullest;
}

bool Layout::place(plan::CodeRoom code) {
    using plan::Where;
    using Kind = program::SegmentKind;
    const Partition& p = grid_.partition();
    const Bytes out = grid_.most_rows() * grid_.most_out_groups() * kCellBytes;
    const Bytes share = ceil_div(out / kCellBytes, p.parts_k) * kCellBytes;
    const Bytes x = grid_.most_rows() * kCellBytes *
                    (grid_.a_stays() ? grid_.most_k_groups() : grid_.most_chunk_groups());
    const Bytes weights = grid_.most_out_groups() * grid_.problem().block_bytes() *
                          (grid_.b_stays() ? grid_.most_k_groups() : grid_.most_chunk_groups());
    const Bytes home_a = *std::max_element(filled_a_.begin(), filled_a_.end());
    const Bytes home_b = *std::max_element(filled_b_.begin(), filled_b_.end());
    const Bytes result = grid_.reduces() ? share / kCellBytes * grid_.problem().group * 2 : 0;
    std::vector<plan::BufferRequest> requests;
    const auto tensor = [&](const char* name, Bytes bytes, Where where,
                            const std::vector<std::string>& apart_from) {
        requests.push_back(
            {name, Kind::Tensor, bytes, 16, where, apart_from, steps_.lifetime(name)});
    };
    tensor("partials", out + kReadAhead, Where::Region1, {});
    tensor("weights", weights, Where::Region1, {"partials"});
    tensor("slices", (p.parts_k - 1) * share, Where::Region1, {"partials"});
    tensor("x", x, Where::Any, {"partials"});
    tensor("home of a", home_a, Where::Any, {"x", "weights"});
    tensor("home of b", home_b, Where::Any, {"x", "weights"});
    tensor("result", result, Where::Any, {});
    requests.push_back({"vertex state", Kind::VertexState, state_bytes(), 8, Where::Any, {}, {}});
    memory_.emplace(machine_, code);
    return memory_->place_all(requests);
}

Address Layout::x(const TilePart& part, std::int64_t chunk) const {
    const Address base = memory_->address("x");
    if (!grid_.a_stays()) {
        return base;
    }
    const std::int64_t before = grid_.chunk(part.ik, chunk).begin - grid_.k_groups(part.ik).begin;
    return base + static_cast<Address>(before * grid_.rows(part.im).length() * kCellBytes);
}

Address Layout::weights(const TilePart& part, std::int64_t chunk) const {
    const Address base = memory_->address("weights");
    if (!grid_.b_stays()) {
        return base;
    }
    const std::int64_t before = grid_.chunk(part.ik, chunk).begin - grid_.k_groups(part.ik).begin;
    return base + static_cast<Address>(before * grid_.out_groups(part.in).length() *
                                       grid_.problem().block_bytes());
}

std::vector<program::Destination> Layout::destinations(const Operand& op, std::size_t group,
                                                       std::int64_t chunk) const {
    std::vector<program::Destination> all;
    for (std::size_t number = 0; number < op.receivers; ++number) {
        const TileId tile = receiver(op, group, number);
        const TilePart part = grid_.part(tile);
        all.push_back({tile, op.is_a ? x(part, chunk) : weights(part, chunk)});
    }
    return all;
}

program::Transfer Layout::message(const Operand& op, const HomeRun& run) const {
    program::Transfer made;
    made.source_tile = run.home.tile;
    made.source_address = home(op.is_a ? "home of a" : "home of b", run);
    made.bytes = (run.home.last - run.home.first) * op.unit_bytes;
    made.paired = op.wide;
    return made;
}

void Layout::bring_operand(const Operand& op, std::int64_t chunk,
                           std::vector<program::Transfer>& transfers,
                           std::vector<LocalCopy>& copies) const {
    // All groups take their first message, then their second: equal groups stay in step.
    std::vector<const HomeRun*> order;
    for (const HomeRun& run : op.is_a ? homes_a(chunk) : homes_b(chunk)) {
        order.push_back(&run);
    }
    std::stable_sort(order.begin(), order.end(), [](const HomeRun* left, const HomeRun* right) {
        return left->turn < right->turn;
    });
    for (const HomeRun* run : order) {
        program::Transfer transfer = message(op, *run);
        for (program::Destination to : destinations(op, run->home.group, chunk)) {
            to.address += static_cast<Address>(run->home.first * op.unit_bytes);
            if (to.tile == transfer.source_tile) {
                copies.push_back({to.tile, transfer.source_address, to.address, transfer.bytes});
            } else {
                transfer.destinations.push_back(to);
            }
        }
        if (!transfer.destinations.empty()) {
            transfers.push_back(std::move(transfer));
        }
    }
}

void Layout::bring(std::int64_t chunk, std::vector<program::Transfer>& transfers,
                   std::vector<LocalCopy>& copies) const {
    for (const bool wide : {true, false}) {
        for (const bool is_a : {true, false}) {
            const Operand op = operand(is_a);
            if (op.wide != wide) {
                continue;
            }
            bring_operand(op, chunk, transfers, copies);
        }
    }
}

std::vector<program::Transfer> Layout::bring_partials() const {
    const Partition& p = grid_.partition();
    std::vector<program::Transfer> transfers;
    for (std::int64_t turn = 1; turn < p.parts_k; ++turn) {
        for (std::int64_t tile = 0; tile < p.tiles(); ++tile) {
            const TilePart from = grid_.part(static_cast<TileId>(tile));
            TilePart to = from;
            to.ik = (from.ik + turn) % p.parts_k;
            const Range share = grid_.share(to);
            if (share.length() == 0) {
                continue;
            }
            const std::int64_t slot = from.ik < to.ik ? from.ik : from.ik - 1;
            program::Transfer transfer;
            transfer.source_tile = static_cast<TileId>(tile);
            transfer.source_address =
                memory_->address("partials") + static_cast<Address>(share.begin * kCellBytes);
            transfer.bytes = share.length() * kCellBytes;
            transfer.destinations.push_back(
                {grid_.tile(to), memory_->address("slices") +
                                     static_cast<Address>(slot * share.length() * kCellBytes)});
            transfers.push_back(std::move(transfer));
        }
    }
    return transfers;
}

} // namespace tessera::matmul
