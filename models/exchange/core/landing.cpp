// SPDX-License-Identifier: MIT
#include "models/exchange/core/landing.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace tessera::exchange {

namespace {

// A format control acts on words that meet the pointer two events later: vendor rows set it at A
// - 2.
constexpr Cycles kFormatLead = 2;

std::vector<PointerChange> formats_of(const RowWalk& walk) {
    std::vector<PointerChange> formats;
    std::copy_if(walk.pointers.begin(), walk.pointers.end(), std::back_inserter(formats),
                 [](const PointerChange& change) { return change.format; });
    return formats;
}

void check_format(const Phase& phase, TileId tile, const std::vector<PointerChange>& formats,
                  const Arrival& arrival) {
    std::uint32_t format = 0;
    for (const auto& change : formats)
        if (change.event <= arrival.first_event - kFormatLead)
            format = change.value;
    if (format != arrival.format)
        phase.fail(tile, arrival.first_event,
                   fmt::format("format is {} where items of format {} arrive from tile {}", format,
                               arrival.format, arrival.source));
    for (const auto& change : formats)
        if (change.event > arrival.first_event - kFormatLead &&
            change.event <= arrival.last_event() - kFormatLead && change.value != arrival.format)
            phase.fail(tile, change.event,
                       fmt::format("the format becomes {} while items of format {} arrive from "
                                   "tile {} at events {} to {}",
                                   change.value, arrival.format, arrival.source,
                                   arrival.first_event, arrival.last_event()));
}

void check_row_end(const Phase& phase, const RowWalk& walk, const std::vector<Arrival>& arrivals) {
    const auto formats = formats_of(walk);
    if (!formats.empty() && formats.back().value != 0)
        phase.fail(walk.tile, walk.events,
                   fmt::format("format {} is left at the end of the row, expected 0",
                               formats.back().value));
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
    Bytes address = 0;
    Bytes item_bytes = 0;
};

class Elements {
public:
    explicit Elements(const spec::MemorySpec& memory) : memory_(memory) {}

    [[nodiscard]] bool in_region1(Bytes address) const {
        return address >= static_cast<Bytes>(memory_.region1_begin());
    }

    /// Cuts a run at element boundaries; in region 1 at those of its 32 KiB pairs of elements.
    void add(std::vector<Access>& accesses, Cycles first_event, Bytes address, std::int64_t items,
             Bytes item_bytes) const {
        while (items > 0) {
            const bool region1 = in_region1(address);
            const auto base = region1 ? static_cast<Bytes>(memory_.region1_begin()) : memory_.base;
            const auto step = (region1 ? 2 : 1) * memory_.element_bytes;
            const auto index = (address - base) / step;
            auto end = base + (index + 1) * step;
            if (!region1)
                end = std::min(end, static_cast<Bytes>(memory_.region1_begin()));
            const auto taken = std::min(items, (end - address + item_bytes - 1) / item_bytes);
            // Region 1 is numbered behind region 0; the largest index of region 0 is below this.
            const auto element =
                region1 ? memory_.region0_bytes / memory_.element_bytes + 1 + index : index;
            accesses.push_back(
                {element, first_event, first_event + taken - 1, address, item_bytes});
            first_event += taken;
            address += taken * item_bytes;
            items -= taken;
        }
    }

private:
    const spec::MemorySpec& memory_;
};

void sort_by_element(std::vector<Access>& accesses) {
    std::sort(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
        return a.element != b.element ? a.element < b.element : a.first_event < b.first_event;
    });
}

/// First event at which both accesses are in one element. In a pair of region 1, address bit 3
/// names the member: two runs of words eight bytes out of step alternate and never meet.
std::optional<Cycles> meeting(const Elements& elements, const Access& a, const Access& b) {
    const auto first = std::max(a.first_event, b.first_event);
    const auto last = std::min(a.last_event, b.last_event);
    if (a.element != b.element || first > last)
        return std::nullopt;
    if (!elements.in_region1(a.address) || a.item_bytes != b.item_bytes)
        return first;
    const auto member = [](const Access& access, Cycles event) {
        return (access.address + (event - access.first_event) * access.item_bytes) >> 3 & 1;
    };
    // The pattern repeats every 16 bytes, so four events show it all.
    for (auto event = first; event <= std::min(last, first + 3); ++event)
        if (member(a, event) == member(b, event))
            return event;
    return std::nullopt;
}

void check_elements(const Phase& phase, const RowWalk& walk, std::vector<Access>& reads,
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
                                   read.address, write.address));
        const bool read_first = read.element != write.element ? read.element < write.element
                                                              : read.last_event < write.last_event;
        (read_first ? r : w) += 1;
    }
    for (const auto& fetch : walk.fetches) {
        for (const auto* accesses : {&reads, &writes})
            for (const auto& access : *accesses)
                if (!elements.in_region1(access.address) && access.element == fetch.element &&
                    access.first_event <= fetch.last_event &&
                    fetch.first_event <= access.last_event)
                    phase.fail(walk.tile, std::max(access.first_event, fetch.first_event),
                               fmt::format("{} 0x{:x} meets the fetch of the row in its memory "
                                           "element",
                                           accesses == &reads ? "the send from" : "the receive at",
                                           access.address));
    }
}

struct Span {
    Bytes begin = 0;
    Bytes end = 0;
    bool received = false;
};

void check_overlap(const Phase& phase, const RowWalk& walk, const std::vector<Landing>& landings) {
    std::vector<Span> spans{{walk.address, walk.address + walk.bytes, false}};
    for (const auto& run : walk.sends)
        spans.push_back({run.address, run.address + run.items * run.item_bytes(), false});
    for (const auto& landing : landings)
        spans.push_back({landing.address, landing.address + landing.arrival.bytes(), true});
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.begin < b.begin; });
    Bytes used_end = 0;
    Bytes received_end = 0;
    for (const auto& span : spans) {
        if (span.begin < received_end || (span.received && span.begin < used_end))
            phase.fail(walk.tile, walk.events,
                       fmt::format("address 0x{:x} is received into and also sent, executed or "
                                   "received again in the same exchange",
                                   span.begin));
        auto& end = span.received ? received_end : used_end;
        end = std::max(end, span.end);
    }
}

/// Neither a 64-bit sender nor its partner is among the receivers of its message. Other arrivals
/// are free: the message takes the pair's outgoing lanes, not its incoming ones.
void check_not_received_by(const Phase& phase, TileId sender, TileId member,
                           const std::vector<Arrival>& arrivals) {
    for (const auto& arrival : arrivals)
        if (arrival.source == sender && arrival.format != 0)
            phase.fail(member, arrival.first_event,
                       fmt::format("receives 64-bit items from tile {} of its own pair", sender));
}

} // namespace

std::vector<Landing> find_landings(const Phase& phase, const RowWalk& walk,
                                   const std::vector<Arrival>& arrivals) {
    std::vector<Landing> landings;
    const auto formats = formats_of(walk);
    std::optional<Bytes> pointer;
    std::size_t next = 0;
    const auto set_until = [&](Cycles event) {
        for (; next < walk.pointers.size() && walk.pointers[next].event <= event; ++next)
            // The frame sets the incoming base to 0.
            if (!walk.pointers[next].format)
                pointer = static_cast<Bytes>(walk.pointers[next].value) * 4;
    };
    for (auto arrival : arrivals) {
        check_format(phase, walk.tile, formats, arrival);
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
            if (until < walk.pointers.size())
                part.items = std::min(part.items, walk.pointers[until].event - arrival.first_event);
            landings.push_back(land(phase, walk.tile, part, *pointer));
            *pointer += part.bytes();
            arrival.first_event += part.items;
            arrival.source_address += static_cast<Address>(part.bytes());
            arrival.items -= part.items;
        }
    }
    check_row_end(phase, walk, arrivals);
    return landings;
}

void check_wide_senders(const Phase& phase, const std::vector<std::vector<Arrival>>& arrivals) {
    for (const auto& walk : phase.walks()) {
        for (const auto& run : walk.sends) {
            if (!run.wide())
                continue;
            if (!phase.machine().exchange.pair_double)
                phase.fail(walk.tile, run.first_event,
                           "64-bit send, but exchange.pair_double is off");
            const auto partner = phase.timing().grid().partner(walk.tile);
            const auto* other = partner ? phase.walk_of(*partner) : nullptr;
            if (other == nullptr)
                phase.fail(walk.tile, run.first_event,
                           "64-bit send by a tile whose partner has no row");
            if (!other->sends.empty() && other->sends.front().first_event <= run.last_event())
                phase.fail(*partner, other->sends.front().first_event,
                           fmt::format("sends while its lane is borrowed by tile {} up to event "
                                       "{}",
                                       walk.tile, run.last_event()));
            check_not_received_by(phase, walk.tile, walk.tile, arrivals[walk.tile]);
            check_not_received_by(phase, walk.tile, *partner, arrivals[*partner]);
        }
    }
}

void check_memory(const Phase& phase, const RowWalk& walk, const std::vector<Landing>& landings) {
    const Elements elements{phase.machine().memory};
    std::vector<Access> reads;
    std::vector<Access> writes;
    for (const auto& run : walk.sends)
        elements.add(reads, run.first_event, run.address, run.items, run.item_bytes());
    for (const auto& landing : landings)
        elements.add(writes, landing.arrival.first_event, landing.address, landing.arrival.items,
                     landing.arrival.item_bytes());
    check_elements(phase, walk, reads, writes, elements);
    check_overlap(phase, walk, landings);
}

} // namespace tessera::exchange
