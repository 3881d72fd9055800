// SPDX-License-Identifier: MIT
#include "models/program/system_binding.h"

#include "base/error.h"
#include "models/program/control_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tessera::program {
namespace {

using Way = std::vector<LinkMessage> LinkExchange::*;

std::string text_of(const LinkPlace& place) {
    return fmt::format("{} bytes of tile_{}, {:#x}", place.bytes, place.tile, place.address);
}

/// Messages of a channel, by index.
using Channel = std::map<std::uint32_t, const LinkMessage*>;

class Binder {
public:
    Binder(const SystemProgram& system, TileId tiles) : system_(system), tiles_(tiles) {
        binding_.exchanges.resize(system.chips());
    }

    SystemBinding bind() {
        check_programs();
        check_zones();
        for (const auto& program : system_.programs) {
            auto& names = names_.emplace_back();
            for (std::size_t at = 0; at < program->link_exchanges.size(); ++at) {
                names.emplace(program->link_exchanges[at].name, at);
            }
        }
        for (std::size_t chip = 0; chip < system_.chips(); ++chip) {
            const Program& program = system_.of_chip(chip);
            binding_.exchanges[chip].resize(program.link_exchanges.size());
            check_names(chip);
            for (const LinkExchange& exchange : program.link_exchanges) {
                check_places(chip, exchange);
            }
        }
        for (std::size_t chip = 0; chip < system_.chips(); ++chip) {
            for (std::size_t at = 0; at < system_.of_chip(chip).link_exchanges.size(); ++at) {
                join(chip, at);
            }
        }
        for (std::size_t chip = 0; chip < system_.chips(); ++chip) {
            for (std::size_t at = 0; at < binding_.exchanges[chip].size(); ++at) {
                finish(chip, at);
            }
        }
        return std::move(binding_);
    }

private:
    [[nodiscard]] const LinkExchange& exchange_of(std::size_t chip, std::size_t at) const {
        return system_.of_chip(chip).link_exchanges[at];
    }

    void check_programs() const {
        for (const auto& program : system_.programs) {
            check_control(*program);
        }
        for (const std::size_t number : system_.program_of_chip) {
            if (number >= system_.programs.size()) {
                throw ProgramError(fmt::format("a chip runs program {}, expected one below {}",
                                               number, system_.programs.size()));
            }
        }
        for (const Ranks& ranks : system_.ranks) {
            if (ranks.words_of_chip.size() != system_.chips()) {
                throw ProgramError(fmt::format("ranks {}: got words for {} chips, expected {}",
                                               ranks.tensor, ranks.words_of_chip.size(),
                                               system_.chips()));
            }
        }
    }

    void check_zones() const {
        for (std::size_t zone = 0; zone < system_.zones.size(); ++zone) {
            if (system_.zones[zone].size() != system_.chips()) {
                throw ProgramError(fmt::format("zone {}: got groups for {} chips, expected {}",
                                               zone, system_.zones[zone].size(), system_.chips()));
            }
        }
    }

    void check_names(std::size_t chip) const {
        const auto& exchanges = system_.of_chip(chip).link_exchanges;
        for (std::size_t at = 0; at < exchanges.size(); ++at) {
            const auto& zone = exchanges[at].zone;
            if (zone.kind != SyncZone::Kind::Group || zone.number >= system_.zones.size()) {
                throw ProgramError(fmt::format(
                    "link exchange {} of chip {}: its zone is not one of the system's {}",
                    exchanges[at].name, chip, system_.zones.size()));
            }
            const auto& names = names_[system_.program_of_chip[chip]];
            if (names.at(exchanges[at].name) != at) {
                throw ProgramError(fmt::format("link exchange {} of chip {}: another one has "
                                               "that name",
                                               exchanges[at].name, chip));
            }
        }
    }

    void check_places(std::size_t chip, const LinkExchange& exchange) const {
        for (const Way way : {&LinkExchange::sends, &LinkExchange::receives}) {
            for (const LinkMessage& message : exchange.*way) {
                const LinkPlace& place = message.place;
                const auto fail = [&](const std::string& what) {
                    throw ProgramError(fmt::format("link exchange {} of chip {}: {}: {}",
                                                   exchange.name, chip, text_of(place), what));
                };
                if (place.tile >= tiles_) {
                    fail(fmt::format("expected a tile below {}", tiles_));
                }
                if (place.bytes <= 0 || place.bytes % 4 != 0 || place.address % 4 != 0) {
                    fail("expected whole words, one at least");
                }
                constexpr std::int64_t kMost = std::int64_t{1} << 21; ///< bytes of addresses
                if (const auto& index = place.indexed;
                    index && (std::abs(index->stride) > kMost || index->count > kMost ||
                              std::abs(index->shift) > kMost)) {
                    fail(fmt::format("its index has a stride, a count or a shift above {}", kMost));
                }
                if (const auto& index = place.indexed;
                    index && (index->word % 4 != 0 || index->stride % 4 != 0 || index->count < 1 ||
                              index->sign < -1 || index->sign > 1)) {
                    fail("its index has a word or a stride that is no multiple of 4, a count below "
                         "1, or a sign that is not -1, 0 or 1");
                }
            }
        }
    }

    /// The messages of a chip's channel in the exchange, one way. A number that is missing or comes
    /// twice is a mistake.
    Channel channel_of(std::size_t chip, const LinkExchange& exchange, Way way,
                       std::uint32_t channel) const {
        Channel found;
        for (const LinkMessage& message : exchange.*way) {
            if (message.channel == channel && !found.emplace(message.index, &message).second) {
                throw ProgramError(fmt::format("link exchange {} of chip {}: message {} of channel "
                                               "{} is there twice",
                                               exchange.name, chip, message.index, channel));
            }
        }
        return found;
    }

    /// Every message that the chip sends, and those that it waits for: they have their other ends.
    void join(std::size_t chip, std::size_t at) {
        const LinkExchange& exchange = exchange_of(chip, at);
        std::vector<std::uint32_t> channels;
        for (const Way way : {&LinkExchange::sends, &LinkExchange::receives}) {
            for (const LinkMessage& message : exchange.*way) {
                channels.push_back(message.channel);
            }
        }
        std::ranges::sort(channels);
        const auto rest = std::ranges::unique(channels);
        channels.erase(rest.begin(), rest.end());
        for (const std::uint32_t channel : channels) {
            const auto [peer, peer_at] = peer_of(chip, exchange, channel);
            const LinkExchange& other = exchange_of(peer.chip, peer_at);
            check_zone(chip, exchange, peer.chip, other);
            const Channel sent = channel_of(chip, exchange, &LinkExchange::sends, channel);
            const Channel wanted =
                channel_of(peer.chip, other, &LinkExchange::receives, peer.channel);
            both_ends(chip, exchange, channel, sent, peer, wanted, "sends", "receives");
            both_ends(chip, exchange, channel,
                      channel_of(chip, exchange, &LinkExchange::receives, channel), peer,
                      channel_of(peer.chip, other, &LinkExchange::sends, peer.channel), "receives",
                      "sends");
            for (const auto& [index, message] : sent) {
                const auto number = static_cast<std::uint32_t>(binding_.messages.size());
                const LinkMessage& into = *wanted.at(index);
                binding_.messages.push_back(
                    {static_cast<std::uint32_t>(chip), peer.chip, message->place, into.place});
                numbers_[{chip, at, message}] = number;
                auto& receives = binding_.exchanges[peer.chip][peer_at].receives;
                receives.push_back(number);
            }
        }
        auto& sends = binding_.exchanges[chip][at].sends;
        for (const LinkMessage& message : exchange.sends) {
            sends.push_back(numbers_.at({chip, at, &message}));
        }
        std::ranges::stable_sort(
            sends, {}, [&](std::uint32_t number) { return binding_.messages[number].from.tile; });
    }

    /// The other end of a channel, and the exchange of that name there.
    std::pair<Peer, std::size_t> peer_of(std::size_t chip, const LinkExchange& exchange,
                                         std::uint32_t channel) const {
        if (chip >= system_.peers.size() || channel >= system_.peers[chip].size()) {
            throw ProgramError(
                fmt::format("link exchange {} of chip {}: channel {} leads nowhere, "
                            "expected one below {}",
                            exchange.name, chip, channel,
                            chip < system_.peers.size() ? system_.peers[chip].size() : 0));
        }
        const Peer peer = system_.peers[chip][channel];
        if (peer.chip >= system_.chips() || peer.chip == chip ||
            peer.chip >= system_.peers.size() || peer.channel >= system_.peers[peer.chip].size() ||
            system_.peers[peer.chip][peer.channel] !=
                Peer{static_cast<std::uint32_t>(chip), channel}) {
            throw ProgramError(fmt::format(
                "channel {} of chip {} leads to channel {} of chip {}, which does not lead back",
                channel, chip, peer.channel, peer.chip));
        }
        const auto& names = names_[system_.program_of_chip[peer.chip]];
        const auto found = names.find(exchange.name);
        if (found == names.end()) {
            throw ProgramError(fmt::format("link exchange {} of chip {} has messages over channel "
                                           "{}, and chip {} at its other end has no link exchange "
                                           "of that name",
                                           exchange.name, chip, channel, peer.chip));
        }
        return {peer, found->second};
    }

    void check_zone(std::size_t chip, const LinkExchange& exchange, std::size_t other_chip,
                    const LinkExchange& other) const {
        if (!(exchange.zone == other.zone)) {
            throw ProgramError(fmt::format(
                "link exchange {}: chip {} meets others in zone {}, chip "
                "{} in zone {}",
                exchange.name, chip, exchange.zone.number, other_chip, other.zone.number));
        }
        const auto& groups = system_.zones[exchange.zone.number];
        if (groups[chip] != groups[other_chip]) {
            throw ProgramError(
                fmt::format("link exchange {}: chips {} and {} have messages for each "
                            "other and are in different groups of zone {}",
                            exchange.name, chip, other_chip, exchange.zone.number));
        }
    }

    void both_ends(std::size_t chip, const LinkExchange& exchange, std::uint32_t channel,
                   const Channel& ours, const Peer& peer, const Channel& theirs, const char* does,
                   const char* other_does) const {
        for (const auto& [index, message] : ours) {
            const auto end = theirs.find(index);
            if (end == theirs.end()) {
                throw ProgramError(fmt::format("link exchange {}: chip {} {} message {} of channel "
                                               "{} ({}), and chip {} {} none of that number",
                                               exchange.name, chip, does, index, channel,
                                               text_of(message->place), peer.chip, other_does));
            }
            if (end->second->place.bytes != message->place.bytes) {
                throw ProgramError(fmt::format(
                    "link exchange {}: chip {} {} message {} of channel {} ({}), and chip {} {} {}",
                    exchange.name, chip, does, index, channel, text_of(message->place), peer.chip,
                    other_does, text_of(end->second->place)));
            }
        }
        for (const auto& [index, message] : theirs) {
            if (!ours.contains(index)) {
                throw ProgramError(fmt::format("link exchange {}: chip {} {} message {} of channel "
                                               "{} ({}), and chip {} {} none of that number",
                                               exchange.name, peer.chip, other_does, index,
                                               peer.channel, text_of(message->place), chip, does));
            }
        }
    }

    void finish(std::size_t chip, std::size_t at) {
        BoundExchange& bound = binding_.exchanges[chip][at];
        std::vector<LinkUse> uses;
        const auto add = [&](std::uint32_t number, const LinkPlace& place, bool writes) {
            bound.tiles.push_back(place.tile);
            bound.indexed = bound.indexed || place.indexed;
            uses.push_back({place.tile, place.address, place.bytes, writes, number});
        };
        for (const std::uint32_t number : bound.sends) {
            add(number, binding_.messages[number].from, false);
        }
        for (const std::uint32_t number : bound.receives) {
            add(number, binding_.messages[number].into, true);
        }
        std::ranges::sort(bound.tiles);
        const auto rest = std::ranges::unique(bound.tiles);
        bound.tiles.erase(rest.begin(), rest.end());
        if (!bound.indexed) {
            check_uses(system_, binding_, chip, at, uses);
        }
    }

    const SystemProgram& system_;
    TileId tiles_;
    SystemBinding binding_;
    /// By program: the first link exchange of each name.
    std::vector<std::unordered_map<std::string_view, std::size_t>> names_;
    std::map<std::tuple<std::size_t, std::size_t, const LinkMessage*>, std::uint32_t> numbers_;
};

} // namespace

SystemBinding bind(const SystemProgram& system, TileId tiles) {
    return Binder(system, tiles).bind();
}

void check_uses(const SystemProgram& system, const SystemBinding& binding, std::size_t chip,
                std::size_t exchange, std::vector<LinkUse>& uses) {
    const Program& program = system.of_chip(chip);
    const std::string& name = program.link_exchanges[exchange].name;
    const auto end_of = [&](const LinkUse& use) {
        const BoundMessage& message = binding.messages[use.message];
        return use.writes ? fmt::format("from chip {}", message.from_chip)
                          : fmt::format("to chip {}", message.to_chip);
    };
    std::ranges::sort(uses, {}, [](const LinkUse& use) {
        return std::tuple(use.tile, use.address, use.message);
    });
    // of those before on the tile, what is used furthest, and what is written furthest
    const LinkUse* any = nullptr;
    const LinkUse* written = nullptr;
    const auto further = [](const LinkUse* one, const LinkUse& other) {
        return one == nullptr || one->tile != other.tile ||
                       one->address + one->bytes < other.address + other.bytes
                   ? &other
                   : one;
    };
    for (const LinkUse& use : uses) {
        const LinkUse* const before = use.writes ? any : written;
        if (before != nullptr && before->tile == use.tile &&
            use.address < before->address + before->bytes) {
            throw ProgramError(fmt::format(
                "link exchange {}: chip {}, tile_{}, {:#x} is {} by the message {} and {} by the "
                "message {} in one step",
                name, chip, use.tile, use.address, before->writes ? "written" : "read",
                end_of(*before), use.writes ? "written" : "read", end_of(use)));
        }
        any = further(any, use);
        written = use.writes ? further(written, use) : written;
        if (!use.writes || use.tile >= program.image_of_tile.size() ||
            program.image_of_tile[use.tile] == Program::kNoImage) {
            continue;
        }
        for (const Segment& segment : program.images[program.image_of_tile[use.tile]].segments) {
            if ((segment.kind == SegmentKind::Code || segment.kind == SegmentKind::ExchangeRow) &&
                segment.address < use.address + use.bytes &&
                use.address < segment.address + segment.bytes) {
                throw ProgramError(fmt::format(
                    "link exchange {}: chip {}, tile_{}, {:#x}: the message {} would be written "
                    "over {}",
                    name, chip, use.tile, use.address, end_of(use),
                    segment.kind == SegmentKind::Code ? "code" : "a row of exchange"));
            }
        }
    }
}

} // namespace tessera::program
