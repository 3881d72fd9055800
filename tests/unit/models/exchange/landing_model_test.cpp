// SPDX-License-Identifier: MIT
// The rules of a tile's memory in an exchange, written down a second time event by event and byte by
// byte, beside the code that goes by runs.
#include "base/error.h"
#include "models/exchange/core/landing.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::exchange;

namespace {

constexpr TileId kTile = 3;

/// A machine whose elements are so small that short runs cross them.
spec::MachineSpec small_machine(Bytes lane_bytes) {
    spec::MachineSpec machine;
    machine.chip.tiles = 8;
    machine.memory = {.base = 64, .region0_bytes = 256, .region1_bytes = 256, .element_bytes = 64};
    machine.exchange.lane_bytes = lane_bytes;
    return machine;
}

class Draw {
public:
    explicit Draw(unsigned seed) : random_(seed) {}
    std::int64_t operator()(std::int64_t first, std::int64_t last) {
        return std::uniform_int_distribution<std::int64_t>{first, last}(random_);
    }

private:
    std::mt19937 random_;
};

std::string fault_of(const auto& does) {
    try {
        does();
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

std::string at_event(Cycles event, const std::string& what) {
    return fmt::format("exchange x: tile {} event {}: {}", kTile, event, what);
}

/// What a tile does with one element in one event: which members of a pair it is in, a bit each,
/// and how many bytes a full event of the run has.
struct Use {
    unsigned members = 0;
    Bytes event_bytes = 0;
};

using Uses = std::map<std::pair<std::int64_t, Cycles>, Use>; ///< by element and event

/// Adds what a run of items does, byte by byte. Elements of region 1 are numbered behind all others.
void add_uses(const spec::MachineSpec& machine, Uses& uses, Cycles first, Address address,
              std::int64_t items, Bytes item_bytes) {
    const auto& memory = machine.memory;
    const std::int64_t lane = machine.exchange.lane_bytes / 4;
    for (Bytes byte = 0; byte < items * item_bytes; ++byte) {
        const Bytes at = address + byte;
        const bool region1 = at >= memory.region1_begin();
        const std::int64_t element =
            region1 ? 1000 + (at - memory.region1_begin()) / (2 * memory.element_bytes)
                    : (at - memory.base) / memory.element_bytes;
        Use& use = uses[{element, first + byte / item_bytes / lane}];
        use.members |= region1 && at / 8 % 2 == 1 ? 2U : 1U;
        use.event_bytes = item_bytes * lane;
    }
}

/// The complaint about elements that two ask in one event; without the addresses.
std::string expected_clash(const Uses& reads, const Uses& writes,
                           const std::vector<FetchSpan>& fetches) {
    for (const auto& [where, read] : reads) {
        const auto write = writes.find(where);
        if (write == writes.end()) {
            continue;
        }
        // Runs of unlike width in a pair of elements are not told apart by its members.
        if ((read.members & write->second.members) != 0 ||
            read.event_bytes != write->second.event_bytes) {
            return at_event(where.second, "a send reads and a receive writes one memory element");
        }
    }
    for (const auto& fetch : fetches) {
        for (const auto* uses : {&reads, &writes}) {
            for (const auto& [where, use] : *uses) {
                if (where.first == fetch.element && fetch.first_event <= where.second &&
                    where.second <= fetch.last_event) {
                    return at_event(where.second,
                                    uses == &reads ? "the send from" : "the receive at");
                }
            }
        }
    }
    return "";
}

struct Scene {
    RowWalk walk;
    std::vector<Landing> landings;
};

/// Sends and receives of one tile at random places of a quarter of the small memory, and fetches.
Scene random_scene(const spec::MachineSpec& machine, Draw& draw) {
    Scene scene;
    scene.walk.tile = kTile;
    const Bytes from = draw(0, 3) * 96;
    const auto place = [&](Bytes item_bytes, std::int64_t& items) {
        items = std::min<std::int64_t>(items, 24);
        const Bytes room = machine.memory.bytes() - items * item_bytes;
        const Bytes at = std::min(from + draw(0, 16) * 8, room / 8 * 8);
        return static_cast<Address>(machine.memory.base + at +
                                    (item_bytes == 4 ? draw(0, 1) * 4 : 0));
    };
    const timing::LaneTiming lane(machine.exchange);
    Event event = static_cast<Event>(draw(1, 4));
    for (auto many = draw(0, 3); many > 0; --many) {
        std::int64_t items = draw(1, 20);
        const bool wide = draw(0, 3) == 0;
        const Address address = place(wide ? 8 : 4, items);
        scene.walk.sends.push_back(
            {event, static_cast<std::int32_t>(items), address, wide ? 5U : 1U});
        event = static_cast<Event>(scene.walk.sends.back().last_event(lane) + draw(1, 4));
    }
    Cycles arrives = draw(1, 4);
    for (auto many = draw(0, 3); many > 0; --many) {
        std::int64_t items = draw(1, 20);
        const bool wide = draw(0, 3) == 0;
        const Address address = place(wide ? 8 : 4, items);
        scene.landings.push_back(
            {{arrives, lane.events(items), items, 0, 0, wide ? 1U : 0U}, address});
        arrives += lane.events(items) + draw(0, 3);
    }
    if (draw(0, 2) == 0) {
        const Cycles first = draw(1, 30);
        scene.walk.fetches.push_back({draw(0, 3), first, first + draw(0, 5)});
    }
    scene.walk.events = 200;
    return scene;
}

} // namespace

TEST_CASE("an element serves one of send, receive and fetch in an event", "[exchange][landing]") {
    int clashes = 0;
    int free = 0;
    for (const Bytes lane_bytes : {4, 8, 16}) {
        const auto machine = small_machine(lane_bytes);
        Draw draw(static_cast<unsigned>(lane_bytes));
        for (int round = 0; round < 800; ++round) {
            const Scene scene = random_scene(machine, draw);
            CAPTURE(lane_bytes, round);
            Uses reads;
            Uses writes;
            for (const auto& run : scene.walk.sends) {
                add_uses(machine, reads, run.first_event, run.address, run.items, run.item_bytes());
            }
            for (const auto& landing : scene.landings) {
                add_uses(machine, writes, landing.arrival.first_event, landing.address,
                         landing.arrival.items, landing.arrival.item_bytes());
            }
            const Phase phase(machine, "x", {scene.walk});
            const std::string got =
                fault_of([&] { check_elements(phase, scene.walk, scene.landings); });
            const std::string expected = expected_clash(reads, writes, scene.walk.fetches);
            CHECK_THAT(got, Catch::StartsWith(expected));
            CHECK(got.empty() == expected.empty());
            (got.empty() ? free : clashes) += 1;
        }
    }
    CHECK(clashes > 300);
    CHECK(free > 300);
}

TEST_CASE("what is received stands apart from the row, what is sent and what else is received",
          "[exchange][landing]") {
    int overlaps = 0;
    int apart = 0;
    for (const Bytes lane_bytes : {4, 16}) {
        auto machine = small_machine(lane_bytes);
        Draw draw(static_cast<unsigned>(lane_bytes) + 1);
        for (int round = 0; round < 800; ++round) {
            CAPTURE(lane_bytes, round);
            Scene scene = random_scene(machine, draw);
            scene.walk.address = static_cast<Address>(machine.memory.base + 8 * draw(0, 40));
            scene.walk.bytes = 4 * draw(1, 8);
            std::map<Bytes, int> used; // by byte: 1 used, more if used otherwise too
            std::set<Bytes> received;
            std::optional<Bytes> lowest;
            const auto lower = [&](Bytes byte) { lowest = std::min(lowest.value_or(byte), byte); };
            for (Bytes i = 0; i < scene.walk.bytes; ++i) {
                used[scene.walk.address + i] = 1;
            }
            for (const auto& run : scene.walk.sends) {
                for (Bytes i = 0; i < run.items * run.item_bytes(); ++i) {
                    used[run.address + i] = 1;
                }
            }
            for (const auto& landing : scene.landings) {
                for (Bytes i = 0; i < landing.arrival.bytes(); ++i) {
                    const Bytes byte = landing.address + i;
                    if (!received.insert(byte).second || used.count(byte) != 0) {
                        lower(byte);
                    }
                }
            }
            const Phase phase(machine, "x", {scene.walk});
            sort_by_address(scene.landings);
            CHECK(
                std::is_sorted(scene.landings.begin(), scene.landings.end(),
                               [](const auto& a, const auto& b) { return a.address < b.address; }));
            const std::string got =
                fault_of([&] { check_overlap(phase, scene.walk, scene.landings); });
            CHECK(got == (lowest ? at_event(scene.walk.events,
                                            fmt::format("address 0x{:x} is received into and also "
                                                        "sent, executed or received again in the "
                                                        "same exchange",
                                                        *lowest))
                                 : ""));
            (got.empty() ? apart : overlaps) += 1;
        }
    }
    CHECK(overlaps > 200);
    CHECK(apart > 200);
}

namespace {

/// An item where it is written.
struct Item {
    Cycles event = 0;
    Bytes address = 0;
    TileId source = 0;
    Bytes source_address = 0;

    bool operator==(const Item&) const = default;
};

struct Landed {
    std::vector<Item> items;
    std::string fault; ///< how it begins
};

constexpr Cycles kFormatLead = 2; // a format acts on what meets the pointer two events later

std::uint32_t format_at(const RowWalk& walk, Cycles event) {
    std::uint32_t format = 0;
    for (const auto& change : walk.pointers) {
        format = change.format && change.event <= event ? change.value : format;
    }
    return format;
}

/// Walks the events one by one.
Landed land_slowly(const spec::MachineSpec& machine, const RowWalk& walk,
                   const std::vector<Arrival>& arrivals) {
    Landed out;
    const std::int64_t lane = machine.exchange.lane_bytes / 4;
    const auto pointer_change = [&](Cycles event) {
        std::optional<Bytes> value;
        for (const auto& change : walk.pointers) {
            if (!change.format && change.event == event) {
                value = Bytes{change.value} * 4;
            }
        }
        return value;
    };
    std::optional<Bytes> pointer;
    Cycles looked = 0;
    const auto follow = [&](Cycles event) {
        bool changed = false;
        for (; looked <= event; ++looked) {
            if (const auto value = pointer_change(looked)) {
                pointer = value;
                changed = true;
            }
        }
        return changed;
    };
    for (const auto& arrival : arrivals) {
        const auto format = format_at(walk, arrival.first_event - kFormatLead);
        if (format != arrival.format) {
            out.fault = at_event(arrival.first_event, fmt::format("format is {} where", format));
            return out;
        }
        for (Cycles event = arrival.first_event + 1; event <= arrival.last_event(); ++event) {
            const auto later = format_at(walk, event - kFormatLead);
            if (later != arrival.format) {
                out.fault =
                    at_event(event - kFormatLead, fmt::format("the format becomes {}", later));
                return out;
            }
        }
        std::int64_t left = arrival.items;
        Bytes source_address = arrival.source_address;
        for (Cycles event = arrival.first_event; event <= arrival.last_event(); ++event) {
            const bool begins = follow(event) || event == arrival.first_event;
            if (!pointer) {
                out.fault = at_event(event, fmt::format("words from tile {} arrive before the "
                                                        "pointer is set",
                                                        arrival.source));
                return out;
            }
            if (begins) { // a part up to the next change of the pointer, as a whole
                Cycles until = event + 1;
                while (until <= arrival.last_event() && !pointer_change(until)) {
                    ++until;
                }
                const Bytes bytes = std::min(left, (until - event) * lane) * arrival.item_bytes();
                if (*pointer % arrival.item_bytes() != 0) {
                    out.fault = at_event(
                        event, fmt::format("receive pointer 0x{:x} is misaligned", *pointer));
                    return out;
                }
                if (*pointer < machine.memory.base ||
                    *pointer + bytes > machine.memory.base + machine.memory.bytes()) {
                    out.fault = at_event(event, fmt::format("{} bytes received at 0x{:x}, outside "
                                                            "tile memory",
                                                            bytes, *pointer));
                    return out;
                }
            }
            for (std::int64_t i = 0; i < lane && left > 0; ++i, --left) {
                out.items.push_back({event, *pointer, arrival.source, source_address});
                *pointer += arrival.item_bytes();
                source_address += arrival.item_bytes();
            }
        }
    }
    if (const auto format = format_at(walk, walk.events); format != 0) {
        out.fault = at_event(walk.events, fmt::format("format {} is left", format));
    } else if (!arrivals.empty() &&
               walk.events < arrivals.back().last_event() + machine.exchange.row_tail_cycles) {
        out.fault =
            at_event(walk.events,
                     fmt::format("the row ends before its last word from tile {} is written, "
                                 "expected at least {} events",
                                 arrivals.back().source,
                                 arrivals.back().last_event() + machine.exchange.row_tail_cycles));
    }
    return out;
}

} // namespace

TEST_CASE("arrivals land where the pointer stands, in the format that is set two events before",
          "[exchange][landing]") {
    std::map<std::string, int> faults{{"format is", 0},           {"the format becomes", 0},
                                      {"before the pointer", 0},  {"misaligned", 0},
                                      {"outside tile memory", 0}, {"is left", 0},
                                      {"the row ends before", 0}};
    for (const Bytes lane_bytes : {4, 8, 16}) {
        const auto machine = small_machine(lane_bytes);
        const timing::LaneTiming lane(machine.exchange);
        Draw draw(static_cast<unsigned>(lane_bytes) + 2);
        for (int round = 0; round < 800; ++round) {
            CAPTURE(lane_bytes, round);
            std::vector<Arrival> arrivals;
            Cycles event = draw(3, 8);
            RowWalk walk;
            walk.tile = kTile;
            const auto turn = [&](Cycles at, bool format, std::int64_t value) {
                walk.pointers.push_back(
                    {static_cast<Event>(at), format, static_cast<std::uint32_t>(value)});
            };
            unsigned format = 0;
            for (auto many = draw(0, 4); many > 0; --many) {
                const std::int64_t items = draw(1, 12);
                const unsigned wanted =
                    draw(0, 3) == 0 ? 1U + static_cast<unsigned>(draw(0, 1)) : 0U;
                const std::int64_t wide = wanted != 0 ? 2 : 1;
                if (wanted != format) {
                    turn(event - kFormatLead + (draw(0, 30) == 0 ? 1 : 0), true, wanted);
                    event += 2; // else of the arrival before
                    walk.pointers.back().event += 2;
                    format = wanted;
                }
                if (arrivals.empty() || draw(0, 2) == 0) {
                    if (draw(0, 20) != 0) {
                        const auto words = machine.memory.bytes() / 4;
                        turn(event - draw(0, 1), false,
                             machine.memory.base / 4 +
                                 (draw(0, 8) == 0 ? words - draw(0, items * wide)
                                                  : draw(0, words / 8) * 2) -
                                 (draw(0, 40) == 0 ? 1 : 0));
                    }
                }
                arrivals.push_back({event, lane.events(items), items,
                                    static_cast<TileId>(draw(0, 2)),
                                    static_cast<Address>(64 + draw(0, 20) * 8), wanted});
                if (draw(0, 3) == 0) { // in the middle, or just behind
                    turn(event + draw(1, lane.events(items) + 1), draw(0, 2) == 0,
                         (machine.memory.base / 8 + draw(0, 30)) * 2);
                    if (walk.pointers.back().format) {
                        walk.pointers.back().value = draw(0, 2) == 0 ? 0U : format;
                    }
                }
                event += lane.events(items) + draw(0, 4);
            }
            walk.events = event + machine.exchange.row_tail_cycles - draw(0, 3);
            if (format != 0 && draw(0, 5) != 0) {
                turn(event, true, 0);
            }
            std::stable_sort(walk.pointers.begin(), walk.pointers.end(),
                             [](const auto& a, const auto& b) { return a.event < b.event; });
            const Landed expected = land_slowly(machine, walk, arrivals);
            const Phase phase(machine, "x", {walk});
            std::vector<Landing> landings;
            const std::string fault =
                fault_of([&] { landings = find_landings(phase, walk, arrivals); });
            CHECK_THAT(fault, Catch::StartsWith(expected.fault));
            CHECK(fault.empty() == expected.fault.empty());
            for (auto& [text, times] : faults) {
                times += fault.find(text) != std::string::npos ? 1 : 0;
            }
            if (!fault.empty()) {
                continue;
            }
            std::vector<Item> items;
            for (const auto& landing : landings) {
                const Arrival& part = landing.arrival;
                CHECK(part.events == lane.events(part.items));
                for (std::int64_t i = 0; i < part.items; ++i) {
                    items.push_back({part.first_event + i / lane.items(),
                                     landing.address + i * part.item_bytes(), part.source,
                                     part.source_address + i * part.item_bytes()});
                }
            }
            CHECK(items == expected.items);
        }
    }
    for (const auto& [text, times] : faults) {
        CAPTURE(text);
        CHECK(times > 5);
    }
}
