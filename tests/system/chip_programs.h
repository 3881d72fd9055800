// SPDX-License-Identifier: MIT
// Programs of several chips by hand: each chip has its own, channel b of chip a leads to chip b.
#pragma once

#include "models/simulation/simulation.h"
#include "tests/component/hand_program.h"

#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Chips of four tiles, with little time between them.
inline spec::MachineSpec tiny_chips(std::int64_t chips) {
    spec::MachineSpec machine = four_tiles();
    machine.system.chips = chips;
    machine.system.links.contexts = 2;
    machine.system.zones = 3;
    return machine;
}

class ChipPrograms {
public:
    using Kind = program::Step::Kind;
    static constexpr Address kWords = 0x80000; ///< data of a tile that nothing else uses

    explicit ChipPrograms(spec::MachineSpec machine, const std::string& text = kStubs)
        : machine_(std::move(machine)) {
        const auto chips = static_cast<std::size_t>(machine_.system.chips);
        for (std::size_t chip = 0; chip < chips; ++chip) {
            hands.emplace_back(machine_, text);
            for (TileId tile = 0; tile < machine_.chip.tiles; ++tile) {
                hands.back().program().images[tile].segments.push_back(
                    {kWords, kDataBytes, program::SegmentKind::Tensor, "data", nullptr, {}, true});
            }
        }
        all_in_one_zone();
    }

    /// Zone after zone.
    void zone(std::vector<std::uint32_t> groups) { system.zones.push_back(std::move(groups)); }
    void no_zones() { system.zones.clear(); }
    void all_in_one_zone() { zone(std::vector<std::uint32_t>(hands.size(), 0)); }

    /// The chip's part of the link exchange of that name; empty at first.
    program::LinkExchange& link(std::size_t chip, const std::string& name, std::uint32_t zone = 0) {
        auto& exchanges = hands[chip].program().link_exchanges;
        for (program::LinkExchange& exchange : exchanges) {
            if (exchange.name == name) {
                return exchange;
            }
        }
        return exchanges.emplace_back(
            program::LinkExchange{name, program::SyncZone::group(zone), {}, {}});
    }
    /// Bytes from a tile of a chip to one of another.
    struct End {
        std::size_t chip = 0;
        TileId tile = 0;
        Address address = kWords;
    };
    void message(const std::string& name, const End& from, const End& to, Bytes bytes,
                 std::uint32_t zone = 0) {
        const auto channel = [](std::size_t chip) { return static_cast<std::uint32_t>(chip); };
        auto& sends = link(from.chip, name, zone).sends;
        std::uint32_t index = 0;
        for (const program::LinkMessage& sent : sends) {
            index += sent.channel == channel(to.chip) ? 1 : 0;
        }
        sends.push_back({channel(to.chip), index, {from.tile, from.address, bytes}});
        link(to.chip, name, zone)
            .receives.push_back({channel(from.chip), index, {to.tile, to.address, bytes}});
    }

    void then(std::size_t chip, program::Step step) { hands[chip].then(std::move(step)); }
    void then_link(std::size_t chip, const std::string& name) { then(chip, link_step(chip, name)); }
    [[nodiscard]] program::Step link_step(std::size_t chip, const std::string& name) {
        auto& exchanges = hands[chip].program().link_exchanges;
        std::uint32_t index = 0;
        while (exchanges.at(index).name != name) {
            ++index;
        }
        return HandProgram::step(Kind::LinkExchange, index);
    }
    void all_link(const std::string& name) {
        for (std::size_t chip = 0; chip < hands.size(); ++chip) {
            static_cast<void>(link(chip, name));
            then_link(chip, name);
        }
    }
    [[nodiscard]] static program::Step sync_step(std::uint32_t zone) {
        program::Step step = HandProgram::step(Kind::Sync);
        step.zone = program::SyncZone::group(zone);
        return step;
    }

    /// Words of a tile as a tensor: known to timing mode.
    program::ArrayId words(std::size_t chip, TileId tile, Address address, std::int64_t count) {
        auto& tensors = hands[chip].program().tensors;
        program::Tensor tensor;
        tensor.name = "words " + std::to_string(tensors.size());
        tensor.type = ElementType::U32;
        tensor.shape = {count};
        tensor.known = true;
        tensor.pieces.push_back({tile, address, 0, {{count, 1, 4}}});
        tensors.push_back(std::move(tensor));
        return program::tensor(tensors.size() - 1);
    }

    /// As it is now.
    [[nodiscard]] const program::SystemProgram& finished() {
        system.programs.clear();
        system.program_of_chip.clear();
        system.peers.assign(hands.size(), {});
        for (std::size_t chip = 0; chip < hands.size(); ++chip) {
            system.programs.push_back(
                std::make_shared<const program::Program>(hands[chip].program()));
            system.program_of_chip.push_back(chip);
            for (std::size_t other = 0; other < hands.size(); ++other) {
                system.peers[chip].push_back(
                    {static_cast<std::uint32_t>(other), static_cast<std::uint32_t>(chip)});
            }
        }
        return system;
    }
    [[nodiscard]] const spec::MachineSpec& machine() const { return machine_; }

    static constexpr Bytes kDataBytes = 4096;
    std::deque<HandProgram> hands; ///< by chip
    program::SystemProgram system;

private:
    spec::MachineSpec machine_;
};

/// Runs with `count` host threads, in timing mode if `timing`.
inline std::vector<ipu::RunOptions> options_of(const ChipPrograms& chips, bool timing = false,
                                               int threads = 1) {
    ipu::RunOptions options{.threads = threads};
    if (timing) {
        options.timing = ipu::TimingOptions{};
    }
    return std::vector<ipu::RunOptions>(chips.hands.size(), options);
}

inline void write_words(simulation::Simulation& simulation, program::ArrayId array,
                        const std::vector<std::uint32_t>& words, std::size_t chip) {
    simulation.write(array, std::as_bytes(std::span(words)), chip);
}
inline std::vector<std::uint32_t> read_words(const simulation::Simulation& simulation,
                                             program::ArrayId array, std::size_t chip) {
    const auto bytes = simulation.read(array, chip);
    std::vector<std::uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

} // namespace tessera::test
