// SPDX-License-Identifier: MIT
// Systems of a few tiny chips whose steps a seed decides: messages, barriers of zones, loops, and what all of it
// leaves, by a host that does one step after the other.
#pragma once

#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"
#include "tests/system/chip_programs.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

class RandomChips {
public:
    static constexpr std::int64_t kTiles = 4;
    static constexpr std::int64_t kPlaces = 7; ///< of an area
    static constexpr Bytes kPlaceBytes = 256;
    static constexpr Bytes kAreaBytes = kPlaces * kPlaceBytes;
    static constexpr std::int64_t kWords = 2 * kAreaBytes / 4; ///< of both areas of a tile
    /// A word of each tile that nothing uses; 0 unless an image says otherwise.
    static constexpr Address kFree = ChipPrograms::kWords + 2 * kAreaBytes;
    static constexpr std::uint32_t kZones = 3; ///< the first has all chips in one group

    using Words = std::vector<std::vector<std::uint32_t>>; ///< by chip and tile

    /// With these buffers instead of those that the seed decides.
    explicit RandomChips(std::uint64_t seed, std::optional<std::int64_t> buffer_packets = {})
        : random_(seed) {
        spec::MachineSpec machine = random_machine();
        if (buffer_packets) {
            machine.system.links.buffer_packets = *buffer_packets;
        }
        chips_ = std::make_unique<ChipPrograms>(machine);
        for (std::uint32_t zone = 1; zone < kZones; ++zone) {
            std::vector<std::uint32_t> groups;
            for (std::size_t chip = 0; chip < count(); ++chip) {
                groups.push_back(static_cast<std::uint32_t>(below(1 + count() / 2)));
            }
            chips_->zone(std::move(groups));
        }
        for (std::uint32_t i = 0; i < count() * kTiles; ++i) {
            auto& words = given_.emplace_back();
            for (std::uint32_t word = 0; word < kWords; ++word) {
                words.push_back(i * 5000 + word);
            }
        }
        add_items(2 + below(4), 0);
    }

    [[nodiscard]] ChipPrograms& chips() { return *chips_; }
    [[nodiscard]] std::size_t count() const { return chips_->hands.size(); }
    [[nodiscard]] const Words& given() const { return given_; }
    /// What the run leaves where it was given.
    [[nodiscard]] Words left() const {
        Words words = given_;
        const auto at = [](auto& all, const ChipPrograms::End& end) {
            return all[end.chip * kTiles + end.tile].begin() +
                   static_cast<std::ptrdiff_t>((end.address - ChipPrograms::kWords) / 4);
        };
        for (const std::size_t exchange : executed_) {
            const Words before = words;
            for (const Sent& sent : exchanges_[exchange]) {
                std::copy_n(at(before, sent.from), sent.bytes / 4, at(words, sent.to));
            }
        }
        return words;
    }
    /// What goes over each edge, without and with overheads: the sum over all messages that take it.
    [[nodiscard]] std::vector<std::pair<Bytes, Bytes>> edge_bytes() const {
        const auto& machine = chips_->machine();
        const auto topology = link::topology(machine);
        const link::RouteTable routes(machine, topology);
        std::vector<std::pair<Bytes, Bytes>> sums(topology.edges.size());
        const auto& links = machine.system.links;
        for (const std::size_t exchange : executed_) {
            for (const Sent& sent : exchanges_[exchange]) {
                const Bytes packets = (sent.bytes + links.payload_bytes - 1) / links.payload_bytes;
                for (const auto edge : routes.route(static_cast<std::int32_t>(sent.from.chip),
                                                    static_cast<std::int32_t>(sent.to.chip))) {
                    auto& [payload, all] = sums[static_cast<std::size_t>(edge)];
                    payload += sent.bytes;
                    all += sent.bytes + packets * links.overhead_bytes;
                }
            }
        }
        return sums;
    }
    /// The words of both areas of each tile, by chip and tile.
    [[nodiscard]] std::vector<program::ArrayId> tensors() {
        std::vector<program::ArrayId> all;
        for (std::size_t chip = 0; chip < count(); ++chip) {
            for (TileId tile = 0; tile < kTiles; ++tile) {
                all.push_back(chips_->words(chip, tile, ChipPrograms::kWords, kWords));
            }
        }
        return all;
    }
    std::size_t below(std::size_t limit) { return random_() % limit; }

private:
    struct Sent {
        ChipPrograms::End from;
        ChipPrograms::End to;
        Bytes bytes = 0;
    };
    using Step = program::Step;

    spec::MachineSpec random_machine() {
        const auto from_to = [&](std::int64_t first, std::int64_t last) {
            return first +
                   static_cast<std::int64_t>(below(static_cast<std::size_t>(last - first + 1)));
        };
        const bool is_full = below(3) == 0;
        spec::MachineSpec machine = tiny_chips(is_full ? from_to(2, 8) : 2 * from_to(1, 4));
        machine.system.zones = 5;
        auto& links = machine.system.links;
        links.topology = is_full ? spec::Topology::Full : spec::Topology::Ladder;
        links.contexts = from_to(1, 4);
        links.rung_links = from_to(1, 4);
        links.rail_links = from_to(1, 3);
        links.payload_bytes = 4 * from_to(1, 20);
        links.overhead_bytes = from_to(0, 13);
        links.turn_cycles = from_to(0, 90);
        links.buffer_packets = from_to(0, 5);
        for (std::int64_t chip = 0; chip < machine.system.chips && below(2) == 0; ++chip) {
            machine.system.chip_delay.push_back(from_to(0, 2000));
        }
        return machine;
    }

    /// As many steps on each chip.
    void add_items(std::size_t items, int depth) {
        for (std::size_t item = 0; item < items; ++item) {
            const std::size_t kind = below(depth < 2 ? 8 : 6);
            if (kind < 4) {
                add_exchange();
            } else if (kind < 5) {
                const auto zone = static_cast<std::uint32_t>(below(kZones));
                for (std::size_t chip = 0; chip < count(); ++chip) {
                    chips_->then(chip, ChipPrograms::sync_step(zone));
                }
            } else if (kind < 6) {
                add_computes();
            } else {
                add_repeat(depth);
            }
        }
    }

    void add_computes() {
        for (std::size_t chip = 0; chip < count(); ++chip) {
            auto& hand = chips_->hands[chip];
            const char* const stub = below(2) == 0 ? "loop_of_50" : "at_once";
            hand.then_compute(
                hand.compute_set("work", {{static_cast<TileId>(below(kTiles)), stub}}));
        }
    }

    void add_repeat(int depth) {
        const auto rounds = static_cast<std::uint32_t>(1 + below(3));
        std::vector<std::vector<Step>> before;
        for (auto& hand : chips_->hands) {
            before.push_back(std::move(hand.program().control.children));
            hand.program().control.children.clear();
        }
        const auto first = static_cast<std::ptrdiff_t>(executed_.size());
        add_items(1 + below(3), depth + 1);
        const std::vector<std::size_t> round(executed_.begin() + first, executed_.end());
        for (std::uint32_t more = 1; more < rounds; ++more) {
            executed_.insert(executed_.end(), round.begin(), round.end());
        }
        for (std::size_t chip = 0; chip < count(); ++chip) {
            auto& children = chips_->hands[chip].program().control.children;
            Step repeat = HandProgram::step(Step::Kind::Repeat, 0, std::move(children));
            repeat.count = rounds;
            children = std::move(before[chip]);
            children.push_back(std::move(repeat));
        }
    }

    /// Messages within the groups of a zone, from one area to the other.
    void add_exchange() {
        const std::string name = "exchange " + std::to_string(exchanges_.size());
        const auto zone = static_cast<std::uint32_t>(below(kZones));
        const auto& groups = chips_->system.zones[zone];
        const bool there = exchanges_.size() % 2 == 0;
        const Address sources = ChipPrograms::kWords + (there ? 0 : kAreaBytes);
        const Address targets = ChipPrograms::kWords + (there ? kAreaBytes : 0);
        std::map<std::pair<std::size_t, TileId>, std::int64_t> taken;
        auto& all = exchanges_.emplace_back();
        for (std::size_t tries = 1 + below(3 * count()); tries > 0; --tries) {
            const std::size_t from = below(count());
            const std::size_t to = below(count());
            const auto tile = static_cast<TileId>(below(kTiles));
            if (from == to || groups[from] != groups[to] || taken[{to, tile}] == kPlaces) {
                continue;
            }
            const Bytes bytes = 4 * static_cast<Bytes>(1 + below(kPlaceBytes / 4));
            const auto offset = static_cast<Address>(4 * below((kAreaBytes - bytes) / 4));
            const auto place = static_cast<Address>(taken[{to, tile}]++ * kPlaceBytes);
            all.push_back({{from, static_cast<TileId>(below(kTiles)), sources + offset},
                           {to, tile, targets + place},
                           bytes});
            chips_->message(name, all.back().from, all.back().to, bytes, zone);
        }
        for (std::size_t chip = 0; chip < count(); ++chip) {
            static_cast<void>(chips_->link(chip, name, zone));
            chips_->then_link(chip, name);
        }
        executed_.push_back(exchanges_.size() - 1);
    }

    std::mt19937_64 random_;
    std::unique_ptr<ChipPrograms> chips_;
    std::vector<std::vector<Sent>> exchanges_;
    std::vector<std::size_t> executed_; ///< exchanges, in order of execution
    Words given_;
};

} // namespace tessera::test
