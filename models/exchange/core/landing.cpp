// SPDX-License-Identifier: MIT
#include "models/exchange/core/landing.h"

#include "base/sort_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tessera::exchange {

namespace {

// A format control acts on words that meet the pointer two events later: vendor rows set it at A
// - 2.
constexpr Cycles kFormatLead = 2;

/// The item format of one tile, which its arrivals are held against in turn.
class Formats {
public:
    Formats(const Phase& phase, const RowWalk& walk) : phase_(phase), walk_(walk) { skip(); }

    /// Arrivals come in the order of events.
    void check(const Arrival& arrival) {
        for (; more() && change().event <= arrival.first_event - kFormatLead; advance())
            format_ = change().value;
        if (format_ != arrival.format)
            phase_.fail(walk_.tile, arrival.first_event,
                        fmt::format("format is {} where items of format {} arrive from tile {}",
                                    format_, arrival.format, arrival.source));
        for (; more() && change().event <= arrival.last_event() - kFormatLead; advance()) {
            format_ = change().value;
            if (format_ != arrival.format)
                phase_.fail(walk_.tile, change().event,
                            fmt::format("the format becomes {} while items of format {} arrive "
                                        "from tile {} at events {} to {}",
                                        format_, arrival.format, arrival.source,
                                        arrival.first_event, arrival.last_event()));
        }
    }

    void check_end() {
        for (; more(); advance())
            format_ = change().value;
        if (format_ != 0)
            phase_.fail(
                walk_.tile, walk_.events,
                fmt::format("format {} is left at the end of the row, expected 0", format_));
    }

private:
    [[nodiscard]] bool more() const { return next_ < walk_.pointers.size(); }
    [[nodiscard]] const PointerChange& change() const { return walk_.pointers[next_]; }
    void advance() {
        ++next_;
        skip();
    }
    void skip() {
        while (more() && !change().format)
            ++next_;
    }

    const Phase& phase_;
    const RowWalk& walk_;
    std::uint32_t format_ = 0;
    std::size_t next_ = 0;
};

void check_row_end(const Phase& phase, const RowWalk& walk, const std::vector<Arrival>& arrivals) {
    if (arrivals.empty())
        return;
    const auto needed = arrivals.back().last_event() + phase.machine().exchange.row_tail_cycles;
    if (walk.events < needed)
        phase.fail(walk.tile, walk.events,
                   fmt::format("the row ends before its last word from tile {} is written, "
                               "expected at least {} events",
                               arrivals.back().source, needed));
}

Landing land(const Phase& phase, TileId tile, const Arrival& arrival, Bytes pointer) {
    const auto& memory = phase.machine().memory;
    if (pointer % arrival.item_bytes() != 0)
        phase.fail(tile, arrival.first_event,
                   fmt::format("receive pointer 0x{:x} is misaligned ({} bytes)", pointer,
                               arrival.item_bytes()));
    if (pointer < memory.base || pointer + arrival.bytes() > static_cast<Bytes>(memory.end()))
        phase.fail(tile, arrival.first_event,
                   fmt::format("{} bytes received at 0x{:x}, outside tile memory", arrival.bytes(),
                               pointer));
    return {arrival, static_cast<Address>(pointer)};
}

/// A part of a run that stays in one element.
struct Access {
    std::int64_t element = 0;
    Cycles first_event = 0;
    Cycles last_event = 0;
    Bytes begin = 0;
    Bytes end = 0;
    Bytes event_begin = 0; ///< of the bytes that the run takes in the first event
    Bytes event_bytes = 0; ///< that it takes in an event
};

class Elements {
public:
    Elements(const spec::MemorySpec& memory, const timing::LaneTiming& lane)
        : memory_(memory), lane_items_(lane.items()), region1_(memory.region1_begin()),
          region1_first_((memory.region0_bytes + memory.element_bytes - 1) / memory.element_bytes),
          count_(region1_first_ + (memory.end() - region1_) / (2 * memory.element_bytes) + 1) {}

    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(count_); }
    [[nodiscard]] bool in_region1(Bytes address) const { return address >= region1_; }

    /// Calls `take` for each part of a run; cuts it at element boundaries, in region 1 at those of
    /// its 32 KiB pairs of elements. An event whose bytes lie on both sides is in both parts.
    template <typename Take>
    void for_each_part(Cycles first_event, Bytes address, std::int64_t items, Bytes item_bytes,
                       Take take) const {
        const Bytes event_bytes = item_bytes * lane_items_;
        const Bytes run_end = address + items * item_bytes;
        for (Bytes begin = address; begin < run_end;) {
            const bool region1 = in_region1(begin);
            const auto base = region1 ? region1_ : memory_.base;
            const auto step = (region1 ? 2 : 1) * memory_.element_bytes;
            const auto index = (begin - base) / step;
            auto end = std::min(run_end, base + (index + 1) * step);
            if (!region1)
                end = std::min(end, region1_);
            const auto event = (begin - address) / event_bytes;
            // Region 1 is numbered behind region 0.
            take(Access{region1 ? region1_first_ + index : index, first_event + event,
                        first_event + (end - 1 - address) / event_bytes, begin, end,
                        address + event * event_bytes, event_bytes});
            begin = end;
        }
    }

private:
    const spec::MemorySpec& memory_;
    std::int64_t lane_items_;
    Bytes region1_;
    std::int64_t region1_first_;
    std::int64_t count_;
};

template <typename Take>
void for_each_read(const Elements& elements, const RowWalk& walk, Take take) {
    for (const auto& run : walk.sends)
        elements.for_each_part(run.first_event, run.address, run.items, run.item_bytes(), take);
}

template <typename Take>
void for_each_write(const Elements& elements, const std::vector<Landing>& landings, Take take) {
    for (const auto& landing : landings)
        elements.for_each_part(landing.arrival.first_event, landing.address, landing.arrival.items,
                               landing.arrival.item_bytes(), take);
}

/// The elements that are used in more than one way: by reads, writes or fetches. Others cannot be
/// asked twice in one event.
std::vector<bool> shared_elements(const Elements& elements, const RowWalk& walk,
                                  const std::vector<Landing>& landings) {
    enum : unsigned { kRead = 1, kWritten = 2, kFetched = 4 };
    std::vector<unsigned> uses(elements.count());
    for_each_read(elements, walk, [&](const Access& access) {
        uses[static_cast<std::size_t>(access.element)] |= kRead;
    });
    for_each_write(elements, landings, [&](const Access& access) {
        uses[static_cast<std::size_t>(access.element)] |= kWritten;
    });
    for (const auto& fetch : walk.fetches)
        uses[static_cast<std::size_t>(fetch.element)] |= kFetched;
    std::vector<bool> shared(uses.size());
    for (std::size_t element = 0; element < uses.size(); ++element)
        shared[element] = (uses[element] & (uses[element] - 1)) != 0;
    return shared;
}

void sort_by_element(std::vector<Access>& accesses) {
    std::sort(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
        return a.element != b.element ? a.element < b.element : a.first_event < b.first_event;
    });
}

/// Which members of a pair of elements of region 1 an access is in at `event`, as two bits: address
/// bit 3 names the member.
unsigned members_at(const Access& access, Cycles event) {
    const Bytes from = access.event_begin + (event - access.first_event) * access.event_bytes;
    const Bytes begin = std::max(from, access.begin);
    const Bytes last = std::min(from + access.event_bytes, access.end) - 1;
    if (last / 8 != begin / 8)
        return 3;
    return (begin & 8) != 0 ? 2 : 1;
}

/// First event at which both accesses are in one element. In a pair of region 1 two runs of words
/// eight bytes out of step alternate and never meet.
std::optional<Cycles> meeting(const Elements& elements, const Access& a, const Access& b) {
    const auto first = std::max(a.first_event, b.first_event);
    const auto last = std::min(a.last_event, b.last_event);
    if (a.element != b.element || first > last)
        return std::nullopt;
    if (!elements.in_region1(a.begin) || a.event_bytes != b.event_bytes)
        return first;
    // The pattern repeats every 16 bytes, so four events show it all.
    for (auto event = first; event <= std::min(last, first + 3); ++event)
        if ((members_at(a, event) & members_at(b, event)) != 0)
            return event;
    return std::nullopt;
}

void check_reads_and_writes(const Phase& phase, const RowWalk& walk, std::vector<Access>& reads,
                            std::vector<Access>& writes, const Elements& elements) {
    sort_by_element(reads);
    sort_by_element(writes);
    for (std::size_t r = 0, w = 0; r < reads.size() && w < writes.size();) {
        const auto& read = reads[r];
        const auto& write = writes[w];
        if (const auto event = meeting(elements, read, write))
            phase.fail(walk.tile, *event,
                       fmt::format("a send reads and a receive writes one memory element (0x{:x} "
                                   "and 0x{:x})",
                                   read.begin, write.begin));
        const bool read_first = read.element != write.element ? read.element < write.element
                                                              : read.last_event < write.last_event;
        (read_first ? r : w) += 1;
    }
}

void check_fetches(const Phase& phase, const RowWalk& walk, const std::vector<Access>& reads,
                   const std::vector<Access>& writes, const Elements& elements) {
    for (const auto& fetch : walk.fetches) {
        for (const auto* accesses : {&reads, &writes})
            for (const auto& access : *accesses)
                if (!elements.in_region1(access.begin) && access.element == fetch.element &&
                    access.first_event <= fetch.last_event &&
                    fetch.first_event <= access.last_event)
                    phase.fail(walk.tile, std::max(access.first_event, fetch.first_event),
                               fmt::format("{} 0x{:x} meets the fetch of the row in its memory "
                                           "element",
                                           accesses == &reads ? "the send from" : "the receive at",
                                           access.begin));
    }
}

} // namespace

std::vector<Landing> find_landings(const Phase& phase, const RowWalk& walk,
                                   const std::vector<Arrival>& arrivals) {
    std::vector<Landing> landings;
    landings.reserve(arrivals.size());
    Formats formats{phase, walk};
    std::optional<Bytes> pointer;
    std::size_t next = 0;
    const auto set_until = [&](Cycles event) {
        for (; next < walk.pointers.size() && walk.pointers[next].event <= event; ++next)
            // The frame sets the incoming base to 0.
            if (!walk.pointers[next].format)
                pointer = static_cast<Bytes>(walk.pointers[next].value) * 4;
    };
    for (auto arrival : arrivals) {
        formats.check(arrival);
        while (arrival.items > 0) {
            set_until(arrival.first_event);
            if (!pointer)
                phase.fail(walk.tile, arrival.first_event,
                           fmt::format("words from tile {} arrive before the pointer is set",
                                       arrival.source));
            auto until = next;
            while (until < walk.pointers.size() && walk.pointers[until].format)
                ++until;
            auto part = arrival;
            if (until < walk.pointers.size()) {
                part.events =
                    std::min(part.events, walk.pointers[until].event - arrival.first_event);
                part.items = std::min(part.items, part.events * phase.lane().items());
            }
            landings.push_back(land(phase, walk.tile, part, *pointer));
            *pointer += part.bytes();
            arrival.first_event += part.events;
            arrival.events -= part.events;
            arrival.source_address += static_cast<Address>(part.bytes());
            arrival.items -= part.items;
        }
    }
    formats.check_end();
    check_row_end(phase, walk, arrivals);
    return landings;
}

void check_wide_senders(const Phase& phase) {
    for (const auto& walk : phase.walks()) {
        // The borrowed lane stays borrowed up to the last of them.
        const auto wide = std::find_if(walk.sends.rbegin(), walk.sends.rend(),
                                       [](const SendRun& run) { return run.wide(); });
        if (wide == walk.sends.rend())
            continue;
        if (!phase.machine().exchange.pair_double)
            phase.fail(walk.tile, wide->first_event,
                       "64-bit send, but exchange.pair_double is off");
        const auto partner = phase.timing().grid().partner(walk.tile);
        const auto* other = partner ? phase.walk_of(*partner) : nullptr;
        if (other == nullptr)
            phase.fail(walk.tile, wide->first_event,
                       "64-bit send by a tile whose partner has no row");
        if (!other->sends.empty() &&
            other->sends.front().first_event <= wide->last_event(phase.lane()))
            phase.fail(*partner, other->sends.front().first_event,
                       fmt::format("sends while its lane is borrowed by tile {} up to event {}",
                                   walk.tile, wide->last_event(phase.lane())));
    }
}

void check_elements(const Phase& phase, const RowWalk& walk, const std::vector<Landing>& landings) {
    const Elements elements{phase.machine().memory, phase.lane()};
    const auto shared = shared_elements(elements, walk, landings);
    if (std::find(shared.begin(), shared.end(), true) == shared.end())
        return;
    std::vector<Access> reads;
    std::vector<Access> writes;
    const auto into = [&](std::vector<Access>& accesses) {
        return [&](const Access& access) {
            if (shared[static_cast<std::size_t>(access.element)])
                accesses.push_back(access);
        };
    };
    for_each_read(elements, walk, into(reads));
    for_each_write(elements, landings, into(writes));
    check_reads_and_writes(phase, walk, reads, writes, elements);
    check_fetches(phase, walk, reads, writes, elements);
}

void sort_by_address(std::vector<Landing>& landings) {
    std::vector<std::uint64_t> keys;
    std::vector<std::uint64_t> scratch;
    std::vector<Landing> sorted;
    sort_items(
        std::span<const Landing>{landings}, [](const Landing& landing) { return landing.address; },
        keys, scratch, sorted);
    landings = std::move(sorted);
}

void check_overlap(const Phase& phase, const RowWalk& walk, const std::vector<Landing>& landings) {
    std::vector<std::uint64_t> keys{sort_key(walk.address, 0)};
    for (const auto& run : walk.sends)
        keys.push_back(sort_key(run.address, static_cast<std::uint32_t>(keys.size())));
    std::vector<std::uint64_t> scratch;
    sort_keys(keys, scratch);
    const auto end_of = [&](std::uint64_t key) {
        const auto index = index_of_key(key);
        if (index == 0)
            return static_cast<Bytes>(walk.address) + walk.bytes;
        const auto& run = walk.sends[index - 1];
        return static_cast<Bytes>(run.address) + run.items * run.item_bytes();
    };
    const auto fail = [&](Bytes address) {
        phase.fail(walk.tile, walk.events,
                   fmt::format("address 0x{:x} is received into and also sent, executed or "
                               "received again in the same exchange",
                               address));
    };
    Bytes used_end = 0;
    Bytes received_end = 0;
    auto used = keys.begin();
    for (const auto& landing : landings) {
        const Bytes begin = landing.address;
        // Whatever is used from below where this landing begins.
        for (; used != keys.end() && value_of_key(*used) < landing.address; ++used) {
            if (static_cast<Bytes>(value_of_key(*used)) < received_end)
                fail(value_of_key(*used));
            used_end = std::max(used_end, end_of(*used));
        }
        if (begin < std::max(received_end, used_end))
            fail(begin);
        received_end = begin + landing.arrival.bytes();
    }
    if (used != keys.end() && static_cast<Bytes>(value_of_key(*used)) < received_end)
        fail(value_of_key(*used));
}

} // namespace tessera::exchange
