// SPDX-License-Identifier: MIT
#include "models/link/link_fabric.h"

#include "base/error.h"
#include "models/ports/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

namespace tessera::link {

using ports::Clock;

LinkFabric::LinkFabric(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                       const program::SystemProgram& system, const program::SystemBinding& binding,
                       std::vector<ChipWords> words)
    : sc_module(name), chips("chips"), spec_(spec), system_(system), binding_(binding),
      words_(std::move(words)), topology_(tessera::link::topology(spec)), routes_(spec, topology_),
      network_(spec, topology_, routes_), parts_(system.chips()), parcels_(binding.messages.size()),
      from_address_(binding.messages.size()), into_address_(binding.messages.size()),
      over_(system.chips()), order_(system.chips()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    for (Part& part : parts_) {
        part.open.resize(static_cast<std::size_t>(spec.chip.tiles));
    }
    SC_HAS_PROCESS(LinkFabric);
    SC_METHOD(on_event);
    sensitive << ev_network_;
    dont_initialize();
}

std::span<const program::LinkUse> LinkFabric::open(std::int64_t chip, std::uint32_t exchange,
                                                   std::int64_t step, std::int64_t round) {
    const auto number = static_cast<std::size_t>(chip);
    const program::BoundExchange& bound = binding_.exchanges[number].at(exchange);
    Part& part = parts_[number];
    TESSERA_ASSERT(part.tiles == 0);
    uses_.clear();
    const auto use_of = [&](const program::LinkPlace& place, Address address, bool writes,
                            std::uint32_t message) {
        uses_.push_back({place.tile, address, place.bytes, writes, message});
        if (place.indexed) {
            uses_.push_back({place.tile, place.indexed->word, 4, false, message});
        }
    };
    for (const std::uint32_t message : bound.sends) {
        const program::LinkPlace& place = binding_.messages[message].from;
        from_address_[message] = address_of(number, place, round);
        use_of(place, from_address_[message], false, message);
    }
    for (const std::uint32_t message : bound.receives) {
        const program::LinkPlace& place = binding_.messages[message].into;
        into_address_[message] = address_of(number, place, round);
        use_of(place, into_address_[message], true, message);
    }
    for (const program::LinkUse& use : uses_) { // at() throws outside memory
        static_cast<void>(words_[number].memory->at(use.tile, use.address, use.bytes));
    }
    if (bound.indexed) {
        program::check_uses(system_, binding_, number, exchange, uses_);
    }
    for (const std::uint32_t message : bound.receives) {
        ++part.open[binding_.messages[message].into.tile];
    }
    part.tiles = bound.tiles.size();
    const LinkBound& least = bound_of(number, exchange);
    const Cycles prologue = std::max<Cycles>(1, spec_.exchange.prologue_cycles);
    part.told = {.exchange = exchange,
                 .step = step,
                 .begin = Clock::now(),
                 .end = Clock::now(),
                 .bound_cycles = least.binds == Binds::Nothing ? 0 : prologue + least.cycles(),
                 .bound_by = text(least.binds)};
    if (spec_.sync.external_cycles > part.told.bound_cycles) {
        part.told.bound_by = "barrier";
    }
    if (bound.tiles.empty()) {
        chips[static_cast<int>(number)]->linked(part.told);
        return uses_;
    }
    std::vector<Message> messages;
    messages.reserve(bound.sends.size());
    for (std::size_t at = 0; at < bound.sends.size(); ++at) {
        const program::BoundMessage& message = binding_.messages[bound.sends[at]];
        const auto tile = message.from.tile;
        if (at == 0 || binding_.messages[bound.sends[at - 1]].from.tile != tile) {
            ++part.open[tile]; // the turn is to end too
        }
        messages.push_back(this->message(bound.sends[at]));
    }
    if (listener_ != nullptr) {
        open_ways(number, exchange, step);
    }
    network_.inject(messages, Clock::now() + prologue);
    wake_for_next();
    return uses_;
}

Message LinkFabric::message(std::uint32_t number) const {
    const program::BoundMessage& bound = binding_.messages[number];
    return {.number = number,
            .from_chip = static_cast<std::int32_t>(bound.from_chip),
            .from_tile = static_cast<std::int32_t>(bound.from.tile),
            .to_chip = static_cast<std::int32_t>(bound.to_chip),
            .to_tile = static_cast<std::int32_t>(bound.into.tile),
            .bytes = bound.from.bytes};
}

/// The bound is of the messages to the chip: its part is not over before they are in.
const LinkBound& LinkFabric::bound_of(std::size_t chip, std::uint32_t exchange) {
    const auto [place, is_new] = bounds_.try_emplace({chip, exchange});
    if (is_new) {
        std::vector<Message> messages;
        for (const std::uint32_t number : binding_.exchanges[chip][exchange].receives) {
            messages.push_back(message(number));
        }
        std::ranges::stable_sort(messages, {}, [](const Message& one) {
            return std::pair(one.from_chip, one.from_tile);
        });
        place->second = link_bound(timing::link_timing(spec_), topology_, routes_, messages);
    }
    return place->second;
}

Address LinkFabric::address_of(std::size_t chip, const program::LinkPlace& place,
                               std::int64_t round) const {
    if (!place.indexed) {
        return place.address;
    }
    const program::LinkIndex& index = *place.indexed;
    const ChipWords& words = words_[chip];
    if (words.known != nullptr && !words.known->is_known(place.tile, index.word)) {
        throw NeedsData(fmt::format("tile_{}, {:#x} says where a message stands, tensor data that "
                                    "timing mode does not have",
                                    place.tile, index.word));
    }
    std::int32_t word = 0;
    std::memcpy(&word, words.memory->at(place.tile, index.word, sizeof word), sizeof word);
    const std::int64_t sum = word + index.sign * round + index.shift;
    const std::int64_t item = (sum % index.count + index.count) % index.count;
    const std::int64_t address = std::int64_t{place.address} + index.stride * item;
    if (address < 0 || address > std::int64_t{std::numeric_limits<Address>::max()}) {
        throw ProgramError(fmt::format("tile_{}: a message at address {}, outside tile memory",
                                       place.tile, address));
    }
    return static_cast<Address>(address);
}

void LinkFabric::wake_for_next() {
    if (const auto next = network_.next()) {
        ev_network_.notify(Clock::until(*next));
    }
}

void LinkFabric::on_event() {
    happened_.clear();
    network_.advance(Clock::now(), happened_);
    if (shuffle_) {
        std::ranges::shuffle(happened_, *shuffle_);
        std::ranges::shuffle(order_, *shuffle_);
    }
    for (const NetworkEvent& event : happened_) {
        const auto chip = static_cast<std::size_t>(event.chip);
        const auto tile = static_cast<TileId>(event.tile);
        if (listener_ != nullptr) {
            hear_turn(event);
        }
        switch (event.kind) {
        case NetworkEvent::Kind::TurnBegins:
            read(chip, tile);
            break;
        case NetworkEvent::Kind::Arrived:
            if (parts_[chip].tiles > 0) {
                write(static_cast<std::uint32_t>(event.message));
            }
            if (listener_ != nullptr) {
                hear_arrival(static_cast<std::uint32_t>(event.message));
            }
            close(chip, tile);
            break;
        case NetworkEvent::Kind::TurnOver:
            close(chip, tile);
            break;
        }
    }
    wake_for_next();
    for (const std::size_t chip : order_) {
        if (over_[chip].empty()) {
            continue;
        }
        const auto tiles = std::exchange(over_[chip], {});
        if (parts_[chip].tiles == 0) {
            parts_[chip].told.end = Clock::now() + spec_.exchange.row_return_cycles;
            chips[static_cast<int>(chip)]->linked(parts_[chip].told);
        }
        chips[static_cast<int>(chip)]->links_over(tiles);
    }
}

void LinkFabric::record_edges() {
    network_.record(series_.emplace(network_.edges().size()));
}

std::span<const std::uint32_t> LinkFabric::sends_of(std::size_t chip, TileId tile) const {
    const auto& sends = binding_.exchanges[chip][parts_[chip].told.exchange].sends;
    const auto tile_of = [&](std::uint32_t message) {
        return binding_.messages[message].from.tile;
    };
    const auto found = std::ranges::equal_range(sends, tile, {}, tile_of);
    return {found.begin(), found.end()};
}

void LinkFabric::open_ways(std::size_t chip, std::uint32_t exchange, std::int64_t step) {
    for (const std::uint32_t message : binding_.exchanges[chip][exchange].sends) {
        const std::size_t to = binding_.messages[message].to_chip;
        Way& way = ways_[{chip, to}];
        if (way.open == 0) {
            way = {};
            way.told.from = static_cast<std::int64_t>(chip);
            way.told.to = static_cast<std::int64_t>(to);
            way.told.exchange = exchange;
            way.told.step = step;
        }
        ++way.open;
        ++way.told.messages;
    }
}

void LinkFabric::hear_turn(const NetworkEvent& event) {
    if (event.kind == NetworkEvent::Kind::Arrived) {
        return;
    }
    const auto chip = static_cast<std::size_t>(event.chip);
    for (const std::uint32_t message : sends_of(chip, static_cast<TileId>(event.tile))) {
        Way& way = ways_.at({chip, binding_.messages[message].to_chip});
        if (event.kind == NetworkEvent::Kind::TurnOver) {
            way.told.sent = Clock::now();
        } else if (!std::exchange(way.has_begun, true)) {
            way.told.begin = Clock::now();
        }
    }
}

void LinkFabric::hear_arrival(std::uint32_t message) {
    const program::BoundMessage& bound = binding_.messages[message];
    Way& way = ways_.at({bound.from_chip, bound.to_chip});
    if (way.told.bytes == 0) {
        way.told.first_in = Clock::now();
    }
    way.told.bytes += bound.into.bytes;
    if (--way.open == 0) {
        way.told.last_in = Clock::now();
        way.told.step_there = parts_[bound.to_chip].told.step;
        listener_->carried(way.told);
    }
}

/// Takes the bytes that the tile sends, when its turn begins.
void LinkFabric::read(std::size_t chip, TileId tile) {
    const ChipWords& words = words_[chip];
    for (const std::uint32_t message : sends_of(chip, tile)) {
        const Bytes bytes = binding_.messages[message].from.bytes;
        const Address address = from_address_[message];
        parts_[chip].told.sent_bytes += bytes;
        Parcel& parcel = parcels_[message];
        if (words.known != nullptr) {
            parcel.known.clear();
            if (!words.known->is_any_known(tile, address, bytes)) {
                continue;
            }
            parcel.known.resize(static_cast<std::size_t>(bytes / 4));
            for (std::size_t word = 0; word < parcel.known.size(); ++word) {
                parcel.known[word] =
                    words.known->is_known(tile, address + 4 * static_cast<Address>(word));
            }
        }
        const std::byte* const begin = words.memory->at(tile, address, bytes);
        parcel.bytes.assign(begin, begin + bytes);
    }
}

void LinkFabric::write(std::uint32_t message) {
    const program::BoundMessage& bound = binding_.messages[message];
    const ChipWords& words = words_[bound.to_chip];
    const TileId tile = bound.into.tile;
    const Address address = into_address_[message];
    const Bytes bytes = bound.into.bytes;
    Parcel& parcel = parcels_[message];
    parts_[bound.to_chip].told.bytes += bytes;
    if (words.known != nullptr) {
        words.known->forget(tile, address, bytes);
        for (std::size_t word = 0; word < parcel.known.size(); ++word) {
            if (parcel.known[word]) {
                words.known->write(tile, address + 4 * static_cast<Address>(word), 4);
            }
        }
        if (parcel.known.empty()) {
            return;
        }
    }
    std::memcpy(words.memory->at(tile, address, bytes), parcel.bytes.data(), parcel.bytes.size());
    parcel.bytes = {};
}

/// A turn or a message of the tile is over. A chip that a mistake has stopped has no part.
void LinkFabric::close(std::size_t chip, TileId tile) {
    Part& part = parts_[chip];
    if (part.tiles > 0 && --part.open[tile] == 0) {
        --part.tiles;
        over_[chip].push_back(tile);
    }
}

} // namespace tessera::link
