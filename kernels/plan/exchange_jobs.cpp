// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_jobs.h"

#include "base/error.h"
#include "models/isa/exchange_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>

namespace tessera::plan {

namespace {

using program::Transfer;

constexpr Bytes kWordBytes = 4;
constexpr Bytes kWideItemBytes = 8;

/// A used range of one tile's memory.
struct Range {
    TileId tile = 0;
    Address begin = 0;
    Bytes end = 0;
    bool received = false;
};

class TransferChecker {
public:
    TransferChecker(const spec::MachineSpec& machine, const std::string& name)
        : machine_(machine), name_(name) {}

    void check(std::span<const Transfer> transfers) {
        std::vector<std::size_t> last_seen(static_cast<std::size_t>(machine_.chip.tiles), 0);
        for (std::size_t i = 0; i < transfers.size(); ++i) {
            index_ = i;
            const auto& transfer = transfers[i];
            if (transfer.bytes <= 0 || transfer.bytes % kWordBytes != 0)
                fail(fmt::format("got {} bytes, expected a positive multiple of 4 bytes",
                                 transfer.bytes));
            if (transfer.destinations.empty())
                fail("got no destination, expected at least one");
            add(transfer.source_tile, transfer.source_address, transfer.bytes, false);
            for (const auto& destination : transfer.destinations) {
                add(destination.tile, destination.address, transfer.bytes, true);
                if (destination.tile == transfer.source_tile)
                    fail(fmt::format("tile {} is source and destination, expected two tiles; "
                                     "workers copy inside a tile",
                                     destination.tile));
                if (last_seen[destination.tile] == i + 1)
                    fail(fmt::format("tile {} is a destination twice", destination.tile));
                last_seen[destination.tile] = i + 1;
            }
        }
        check_overlaps();
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw ProgramError(fmt::format("exchange {}: transfer {}: {}", name_, index_, what));
    }

    void add(TileId tile, Address address, Bytes bytes, bool received) {
        if (static_cast<std::int64_t>(tile) >= machine_.chip.tiles)
            fail(fmt::format("got tile {}, expected 0..{}", tile, machine_.chip.tiles - 1));
        if (address % kWordBytes != 0)
            fail(fmt::format("tile {} address 0x{:x}: misaligned (4 bytes)", tile, address));
        if (address < machine_.memory.region0_begin() ||
            static_cast<Bytes>(address) + bytes > static_cast<Bytes>(machine_.memory.end()))
            fail(fmt::format("tile {} address 0x{:x}, {} bytes: outside tile memory", tile, address,
                             bytes));
        ranges_.push_back({tile, address, static_cast<Bytes>(address) + bytes, received});
    }

    void check_overlaps() {
        std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
            return a.tile != b.tile ? a.tile < b.tile : a.begin < b.begin;
        });
        Bytes received_end = 0;
        Bytes sent_end = 0;
        for (std::size_t i = 0; i < ranges_.size(); ++i) {
            const auto& range = ranges_[i];
            if (i > 0 && ranges_[i - 1].tile != range.tile)
                received_end = sent_end = 0;
            const auto* reason = "";
            if (received_end > range.begin)
                reason = range.received ? "is received twice" : "is sent and received";
            else if (range.received && sent_end > range.begin)
                reason = "is sent and received";
            if (*reason != '\0')
                throw ProgramError(fmt::format("exchange {}: tile {} address 0x{:x}: {} in one "
                                               "exchange, which leaves its value open",
                                               name_, range.tile, range.begin, reason));
            auto& end = range.received ? received_end : sent_end;
            end = std::max(end, range.end);
        }
    }

    const spec::MachineSpec& machine_;
    const std::string& name_;
    std::size_t index_ = 0;
    std::vector<Range> ranges_;
};

/// Whether `next` sends the bytes behind `job` to the bytes behind its destinations.
bool continues(const Job& job, const Transfer& next) {
    const auto& first = *job.transfer;
    if (first.source_tile != next.source_tile || first.paired != next.paired ||
        static_cast<Bytes>(first.source_address) + job.bytes != next.source_address ||
        first.destinations.size() != next.destinations.size())
        return false;
    return std::equal(first.destinations.begin(), first.destinations.end(),
                      next.destinations.begin(), [&](const auto& a, const auto& b) {
                          return a.tile == b.tile &&
                                 static_cast<Bytes>(a.address) + job.bytes == b.address;
                      });
}

bool complete_pairs(const Transfer& transfer, std::int64_t tiles) {
    std::map<TileId, Address> addresses;
    for (const auto& destination : transfer.destinations)
        addresses[destination.tile] = destination.address;
    return std::all_of(addresses.begin(), addresses.end(), [&](const auto& entry) {
        const auto partner = timing::partner_tile(tiles, entry.first);
        const auto found = partner ? addresses.find(*partner) : addresses.end();
        return found != addresses.end() && found->second == entry.second;
    });
}

/// The group that a job belongs to: the pairs of its receivers, with or without its sender's.
std::vector<TileId> group_of(const Job& job, bool with_sender) {
    std::vector<TileId> pairs;
    for (const auto& destination : job.transfer->destinations)
        pairs.push_back(destination.tile / 2);
    if (with_sender)
        pairs.push_back(job.transfer->source_tile / 2);
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    return pairs;
}

struct Groups {
    std::vector<std::uint32_t> group_of_job;
    std::vector<std::vector<TileId>> pairs; ///< of each group, in order of appearance
};

Groups find_groups(std::span<const Job> jobs, bool with_sender) {
    Groups groups;
    std::map<std::vector<TileId>, std::uint32_t> known;
    for (const auto& job : jobs) {
        auto pairs = group_of(job, with_sender);
        const auto [at, fresh] =
            known.try_emplace(std::move(pairs), static_cast<std::uint32_t>(known.size()));
        if (fresh)
            groups.pairs.push_back(at->first);
        groups.group_of_job.push_back(at->second);
    }
    return groups;
}

/// Hands out rounds: each resource serves one claim a round.
class Rounds {
public:
    explicit Rounds(std::size_t resources) : taken_(resources) {}

    /// Least round in which all `resources` are still free; takes them in it.
    std::uint32_t claim(std::span<const TileId> resources) {
        closed_.clear();
        for (const auto resource : resources) {
            const auto& taken = taken_[resource];
            closed_.resize(std::max(closed_.size(), taken.size()));
            for (std::size_t word = 0; word < taken.size(); ++word)
                closed_[word] |= taken[word];
        }
        std::size_t word = 0;
        while (word < closed_.size() && closed_[word] == ~std::uint64_t{0})
            ++word;
        const auto bit = word < closed_.size() ? std::countr_one(closed_[word]) : 0;
        for (const auto resource : resources) {
            auto& taken = taken_[resource];
            taken.resize(std::max(taken.size(), word + 1));
            taken[word] |= std::uint64_t{1} << bit;
        }
        return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(bit);
    }

private:
    std::vector<std::vector<std::uint64_t>> taken_;
    std::vector<std::uint64_t> closed_;
};

template <typename Key> std::vector<std::uint32_t> sorted_by(std::size_t jobs, Key key) {
    std::vector<std::uint32_t> order(jobs);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    return order;
}

} // namespace

void check_transfers(const spec::MachineSpec& machine, const std::string& name,
                     std::span<const Transfer> transfers) {
    TransferChecker{machine, name}.check(transfers);
}

bool pairable_bytes(const spec::MachineSpec& machine, const Transfer& transfer, Bytes bytes) {
    const auto& exchange = machine.exchange;
    const auto items = bytes / kWideItemBytes;
    // Below three items the format controls of one run would meet its pointer control.
    if (!exchange.pair_double || bytes % kWideItemBytes != 0 ||
        items < std::max<std::int64_t>(exchange.pair_min_items, 3) ||
        transfer.source_address % kWideItemBytes != 0 || transfer.destinations.empty())
        return false;
    const auto tiles = machine.chip.tiles;
    if (!timing::partner_tile(tiles, transfer.source_tile))
        return false;
    for (const auto& destination : transfer.destinations) {
        if (destination.address % kWideItemBytes != 0 ||
            destination.tile / 2 == transfer.source_tile / 2)
            return false;
        // The neutral at M + items must not meet the pointer controls at A - 2 and A; in between
        // (and for a mux that reaches the pointer at once) single controls meet as well.
        const auto distance =
            exchange.mux_to_pointer_cycles +
            exchange.mux_to_pointer_row_cycles * timing::tile_position(tiles, destination.tile).row;
        if (distance < 2 || items == distance - 1 || items == distance + 1)
            return false;
    }
    return complete_pairs(transfer, tiles);
}

std::vector<Job> make_jobs(const spec::MachineSpec& machine, std::span<const Transfer> transfers) {
    std::vector<Job> jobs;
    jobs.reserve(transfers.size());
    for (const auto& transfer : transfers) {
        if (!jobs.empty() && continues(jobs.back(), transfer))
            jobs.back().bytes += transfer.bytes;
        else
            jobs.push_back({&transfer, transfer.bytes, false});
    }
    for (auto& job : jobs)
        job.wide = job.transfer->paired && pairable_bytes(machine, *job.transfer, job.bytes);
    return jobs;
}

Message make_message(const timing::ExchangeTiming& timing, const Job& job, bool wide,
                     std::vector<Receiver>& receivers) {
    const auto& transfer = *job.transfer;
    const auto from = transfer.source_tile;
    receivers.clear();
    for (const auto& destination : transfer.destinations) {
        const auto own = timing.mux_offset(from, destination.tile);
        const auto other = wide ? timing.mux_offset(from, destination.tile ^ 1U) : own;
        receivers.push_back({destination.tile, std::min(own, other), destination.address,
                             timing.direction(from, destination.tile), other < own});
    }
    Message message;
    message.source = from;
    message.address = transfer.source_address;
    message.wide = wide;
    message.items = job.bytes / message.item_bytes();
    const bool several = transfer.destinations.size() > (wide ? 2U : 1U);
    message.ctl = (several ? 3U : receivers.front().direction) | (wide ? isa::kWideItems : 0U);
    message.receivers = receivers;
    return message;
}

std::vector<std::uint32_t> grouped_order(std::span<const Job> jobs, std::int64_t tiles) {
    auto groups = find_groups(jobs, false);
    if (auto closed = find_groups(jobs, true); closed.pairs.size() < groups.pairs.size())
        groups = std::move(closed);
    Rounds pairs{static_cast<std::size_t>(tiles / 2 + 1)};
    std::vector<std::uint32_t> rounds;
    for (const auto& group : groups.pairs)
        rounds.push_back(pairs.claim(group));
    return sorted_by(jobs.size(), [&](std::uint32_t job) {
        const auto group = groups.group_of_job[job];
        return std::tuple{rounds[group], group, jobs[job].transfer->source_tile, !jobs[job].wide};
    });
}

std::vector<std::uint32_t> round_order(std::span<const Job> jobs, std::int64_t tiles) {
    // Resource t is tile t's input, resource tiles + t its outgoing lane.
    Rounds lanes{static_cast<std::size_t>(2 * tiles)};
    std::vector<std::uint32_t> rounds;
    std::vector<TileId> used;
    for (const auto& job : jobs) {
        used.assign(1, static_cast<TileId>(tiles) + job.transfer->source_tile);
        for (const auto& destination : job.transfer->destinations)
            used.push_back(destination.tile);
        rounds.push_back(lanes.claim(used));
    }
    return sorted_by(jobs.size(), [&](std::uint32_t job) {
        return std::tuple{rounds[job], jobs[job].transfer->source_tile};
    });
}

} // namespace tessera::plan
