// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_layout.h"

#include <algorithm>
#include <map>
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
    : machine_(machine), grid_(grid),
      homes_a_(static_cast<std::size_t>(grid.partition().chunks)),
      homes_b_(static_cast<std::size_t>(grid.partition().chunks)),
      filled_a_(static_cast<std::size_t>(machine.chip.tiles)),
      filled_b_(static_cast<std::size_t>(machine.chip.tiles)),
      copies_of_tile_(static_cast<std::size_t>(machine.chip.tiles)) {
    for (std::int64_t chunk = 0; chunk < grid.partition().chunks; ++chunk) {
        if (!grid.a_stays()) {
            deal_a(chunk);
        }
        if (!grid.b_stays()) {
            deal_b(chunk);
        }
    }
}

TilePart Layout::group_a(std::size_t group) const {
    const auto g = static_cast<std::int64_t>(group);
    return {g / grid_.partition().parts_k, g % grid_.partition().parts_k, 0};
}

TilePart Layout::group_b(std::size_t group) const {
    const auto g = static_cast<std::int64_t>(group);
    return {0, g % grid_.partition().parts_k, g / grid_.partition().parts_k};
}

/// While a tile sends at double width its partner may not send, so in one exchange only one member of every pair does;
/// the members take turns.
std::vector<TileId> Layout::candidates(std::int64_t chunk, bool paired) const {
    std::vector<TileId> tiles;
    const std::int64_t chip = machine_.chip.tiles;
    const bool alternate = grid_.partition().paired != Paired::None && chip > 1;
    const std::int64_t member =
        grid_.partition().chunks > 1 ? chunk % 2 : (paired ? 0 : 1);
    for (std::int64_t tile = 0; tile < chip; ++tile) {
        if (!alternate || tile % 2 == member) {
            tiles.push_back(static_cast<TileId>(tile));
        }
    }
    return tiles;
}

std::vector<HomeRun> Layout::stack(const std::vector<plan::Home>& homes, Bytes unit,
                                   std::vector<Bytes>& filled) {
    std::vector<HomeRun> runs;
    for (const plan::Home& home : homes) {
        runs.push_back({home, filled[home.tile]});
        filled[home.tile] += (home.last - home.first) * unit;
    }
    return runs;
}

void Layout::deal_a(std::int64_t chunk) {
    const Partition& p = grid_.partition();
    std::vector<std::int64_t> units;
    for (std::size_t g = 0; g < static_cast<std::size_t>(p.parts_m * p.parts_k); ++g) {
        const TilePart part = group_a(g);
        units.push_back(grid_.chunk(part.ik, chunk).length() * grid_.rows(part.im).length());
    }
    const auto receives = [&](TileId tile, std::size_t group) {
        const TilePart wanted = group_a(group);
        const TilePart part = grid_.part(tile);
        return static_cast<std::int64_t>(tile) < p.tiles() && part.im == wanted.im &&
               part.ik == wanted.ik;
    };
    const bool paired = p.paired == Paired::A;
    const Bytes shortest = paired ? machine_.exchange.pair_min_items * 8 : kShortestMessage;
    const auto homes = plan::deal_homes(units, candidates(chunk, paired),
                                        ceil_div(shortest, kCellBytes), receives);
    homes_a_[static_cast<std::size_t>(chunk)] = stack(homes, kCellBytes, filled_a_);
    for (const plan::Home& home : homes) {
        copies_of_tile_[home.tile] += receives(home.tile, home.group) ? 1 : 0;
    }
}

void Layout::deal_b(std::int64_t chunk) {
    const Partition& p = grid_.partition();
    std::vector<std::int64_t> units;
    for (std::size_t g = 0; g < static_cast<std::size_t>(p.parts_n * p.parts_k); ++g) {
        const TilePart part = group_b(g);
        units.push_back(grid_.chunk(part.ik, chunk).length() * grid_.out_groups(part.in).length());
    }
    const auto receives = [&](TileId tile, std::size_t group) {
        const TilePart wanted = group_b(group);
        const TilePart part = grid_.part(tile);
        return static_cast<std::int64_t>(tile) < p.tiles() && part.in == wanted.in &&
               part.ik == wanted.ik;
    };
    const Bytes unit = grid_.problem().block_bytes();
    const bool paired = p.paired == Paired::B;
    const Bytes shortest = paired ? machine_.exchange.pair_min_items * 8 : kShortestMessage;
    const auto homes =
        plan::deal_homes(units, candidates(chunk, paired), ceil_div(shortest, unit), receives);
    homes_b_[static_cast<std::size_t>(chunk)] = stack(homes, unit, filled_b_);
    for (const plan::Home& home : homes) {
        copies_of_tile_[home.tile] += receives(home.tile, home.group) ? 1 : 0;
    }
}

Bytes Layout::state_bytes() const {
    const std::int64_t copies =
        *std::max_element(copies_of_tile_.begin(), copies_of_tile_.end());
    return (grid_.partition().chunks + 1) * kVertexStateBytes + copies * kCopyStateBytes;
}

bool Layout::place(Bytes code_bytes) {
    using plan::Where;
    using Kind = program::SegmentKind;
    const Partition& p = grid_.partition();
    memory_.emplace(machine_, code_bytes);
    const Bytes out = grid_.most_rows() * grid_.most_out_groups() * kCellBytes;
    const Bytes share = ceil_div(out / kCellBytes, p.parts_k) * kCellBytes;
    const Bytes slices = (p.parts_k - 1) * share;
    const Bytes x = grid_.most_rows() * kCellBytes *
                    (grid_.a_stays() ? grid_.most_k_groups() : grid_.most_chunk_groups());
    const Bytes weights = grid_.most_out_groups() * grid_.problem().block_bytes() *
                          (grid_.b_stays() ? grid_.most_k_groups() : grid_.most_chunk_groups());
    const bool share_memory = !grid_.b_stays() && slices <= weights;
    bool fits = memory_->place({"partials", Kind::Tensor, out + kReadAhead, 16, Where::Region1, {}});
    fits = fits &&
           memory_->place({"weights", Kind::Tensor, weights, 16, Where::Region1, {"partials"}});
    if (share_memory && fits && slices > 0) {
        memory_->overlay("slices", "weights", slices);
    } else {
        fits = fits &&
               memory_->place({"slices", Kind::Tensor, slices, 16, Where::Region1, {"partials"}});
    }
    const Bytes home_a = *std::max_element(filled_a_.begin(), filled_a_.end());
    const Bytes home_b = *std::max_element(filled_b_.begin(), filled_b_.end());
    fits = fits && memory_->place({"x", Kind::Tensor, x, 16, Where::Any, {"partials"}});
    fits = fits &&
           memory_->place({"home of a", Kind::Tensor, home_a, 16, Where::Any, {"x", "weights"}});
    fits = fits &&
           memory_->place({"home of b", Kind::Tensor, home_b, 16, Where::Any, {"x", "weights"}});
    const Bytes result = grid_.reduces() ? share / kCellBytes * grid_.problem().group * 2 : 0;
    fits = fits && memory_->place({"result", Kind::Tensor, result, 16, Where::Any, {}});
    return fits && memory_->place({"vertex state", Kind::VertexState, state_bytes(), 8, Where::Any,
                                   {}});
}

Address Layout::x(const TilePart& part, std::int64_t chunk) const {
    const Address base = memory_->address("x");
    if (!grid_.a_stays()) {
        return base;
    }
    const std::int64_t before =
        grid_.chunk(part.ik, chunk).begin - grid_.k_groups(part.ik).begin;
    return base + static_cast<Address>(before * grid_.rows(part.im).length() * kCellBytes);
}

Address Layout::weights(const TilePart& part, std::int64_t chunk) const {
    const Address base = memory_->address("weights");
    if (!grid_.b_stays()) {
        return base;
    }
    const std::int64_t before =
        grid_.chunk(part.ik, chunk).begin - grid_.k_groups(part.ik).begin;
    return base + static_cast<Address>(before * grid_.out_groups(part.in).length() *
                                       grid_.problem().block_bytes());
}

void Layout::send(const HomeRun& run, Address source, Bytes unit, bool paired,
                  const std::vector<program::Destination>& receivers,
                  std::vector<program::Transfer>& transfers,
                  std::vector<LocalCopy>& copies) const {
    program::Transfer message;
    message.source_tile = run.home.tile;
    message.source_address = source;
    message.bytes = (run.home.last - run.home.first) * unit;
    message.paired = paired;
    program::Transfer to_partner = message;
    to_partner.paired = false;
    for (program::Destination receiver : receivers) {
        receiver.address += static_cast<Address>(run.home.first * unit);
        if (receiver.tile == run.home.tile) {
            copies.push_back({receiver.tile, source, receiver.address, message.bytes});
        } else if (paired && receiver.tile == (run.home.tile ^ 1U)) {
            to_partner.destinations.push_back(receiver); // its pair is not complete without us
        } else {
            message.destinations.push_back(receiver);
        }
    }
    if (!message.destinations.empty()) {
        transfers.push_back(message);
    }
    if (!to_partner.destinations.empty()) {
        transfers.push_back(to_partner);
    }
}

void Layout::bring(std::int64_t chunk, std::vector<program::Transfer>& transfers,
                   std::vector<LocalCopy>& copies) const {
    const Partition& p = grid_.partition();
    struct Turn {
        bool single_width = false;
        std::int64_t turn = 0;
        std::size_t group = 0;
        bool is_a = false;
        const HomeRun* run = nullptr;
    };
    // All groups take their first message, then their second: equal groups then stay in step. Double width comes first:
    // a partner's lane is borrowed up to the end of the message.
    std::vector<Turn> turns;
    const auto add = [&](const std::vector<HomeRun>& runs, bool is_a, bool paired) {
        std::map<std::size_t, std::int64_t> taken;
        for (const HomeRun& run : runs) {
            turns.push_back({!paired, taken[run.home.group]++, run.home.group, is_a, &run});
        }
    };
    add(homes_a(chunk), true, p.paired == Paired::A);
    add(homes_b(chunk), false, p.paired == Paired::B);
    std::stable_sort(turns.begin(), turns.end(), [](const Turn& left, const Turn& right) {
        return std::tie(left.single_width, left.turn, left.group) <
               std::tie(right.single_width, right.turn, right.group);
    });
    for (const Turn& turn : turns) {
        std::vector<program::Destination> receivers;
        if (turn.is_a) {
            TilePart part = group_a(turn.group);
            for (part.in = 0; part.in < p.parts_n; ++part.in) {
                receivers.push_back({grid_.tile(part), x(part, chunk)});
            }
            send(*turn.run, home("home of a", *turn.run), kCellBytes, p.paired == Paired::A,
                 receivers, transfers, copies);
        } else {
            TilePart part = group_b(turn.group);
            for (part.im = 0; part.im < p.parts_m; ++part.im) {
                receivers.push_back({grid_.tile(part), weights(part, chunk)});
            }
            send(*turn.run, home("home of b", *turn.run), grid_.problem().block_bytes(),
                 p.paired == Paired::B, receivers, transfers, copies);
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
