// SPDX-License-Identifier: MIT
#include "models/exchange/core/row_walk.h"

#include "base/error.h"
#include "models/isa/exchange_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace tessera::exchange {

namespace {

using isa::ExchangeInstruction;
using isa::ExchangeOp;

/// The message that a continuation would continue.
struct RunningMessage {
    unsigned ctl = 0;
    Bytes next_address = 0;
};

class Walker {
public:
    Walker(const spec::MachineSpec& machine, const std::string& exchange, TileId tile,
           Address address, Bytes bytes)
        : machine_(machine), lane_(machine.exchange), exchange_(exchange) {
        walk_.tile = tile;
        walk_.address = address;
        walk_.bytes = bytes;
        const auto& memory = machine.memory;
        if (address % 8 != 0 || address < memory.region0_begin() ||
            static_cast<Bytes>(address) + bytes > static_cast<Bytes>(memory.region1_begin()))
            fail("row is not in region 0 on an 8-byte boundary");
    }

    RowWalk walk(std::span<const std::uint32_t> words) {
        std::size_t at = 0;
        while (at < words.size()) {
            const auto in = decode(words.subspan(at));
            if (in.op == ExchangeOp::Branch) {
                if (at + 1 != words.size())
                    fail("words follow the branch that ends the row");
                return std::move(walk_);
            }
            const auto events = events_of(in);
            check_count(in, events);
            if (in.op == ExchangeOp::SendPicp && (walk_.address + at * 4) % 8 != 0)
                fail("sendpicp is not on an 8-byte boundary", &in);
            fetch(static_cast<Bytes>(walk_.address) + static_cast<Bytes>(at * 4), events);
            step(in, events);
            walk_.events += events;
            at += isa::words_of(in.op);
        }
        fail("row ends without br $m10");
    }

private:
    [[noreturn]] void fail(const std::string& what, const ExchangeInstruction* in = nullptr) const {
        throw ProgramError(fmt::format("exchange {}: tile {} event {}: {}{}{}", exchange_,
                                       walk_.tile, walk_.events + 1, in ? isa::text_of(*in) : "",
                                       in ? ": " : "", what));
    }

    ExchangeInstruction decode(std::span<const std::uint32_t> words) const {
        try {
            return isa::decode_exchange_word(words);
        } catch (const ProgramError& error) {
            fail(error.what());
        }
    }

    /// A send's count is of items, several of which may go in one event; what puts nothing on the
    /// bus counts events.
    std::int64_t events_of(const ExchangeInstruction& in) const {
        const bool starts = in.op == ExchangeOp::Send || in.op == ExchangeOp::SendPicp;
        const bool continues = in.op == ExchangeOp::SendOff || in.op == ExchangeOp::SendPic;
        const unsigned ctl = starts ? in.ctl : continues && running_ ? running_->ctl : 0;
        return (ctl & isa::kDirections) != 0 ? lane_.events(in.count) : in.count;
    }

    void check_count(const ExchangeInstruction& in, std::int64_t events) const {
        auto limit = isa::max_count(in.op);
        if (in.op == ExchangeOp::Send || in.op == ExchangeOp::SendPic ||
            in.op == ExchangeOp::SendPicp)
            limit = std::min(limit, machine_.exchange.max_words_per_send);
        if (in.op == ExchangeOp::SendOff)
            limit = std::min(limit, machine_.exchange.max_words_per_sendoff);
        if (in.count > limit)
            fail(fmt::format("got a count of {}, expected at most {}", in.count, limit), &in);
        if (walk_.events + events > std::numeric_limits<Event>::max())
            fail(fmt::format("the row lasts longer than {} events",
                             std::numeric_limits<Event>::max()),
                 &in);
    }

    void fetch(Bytes address, std::int64_t events) {
        if (address >= fetched_until_)
            turn_fetch(address);
        for (auto i = walk_.fetches.size() - fetched_; i < walk_.fetches.size(); ++i)
            walk_.fetches[i].last_event = walk_.events + events;
    }

    /// The elements that the window touches when it begins at `address`; they ascend with the row.
    void turn_fetch(Bytes address) {
        const auto& memory = machine_.memory;
        const auto element = [&](Bytes at) { return (at - memory.base) / memory.element_bytes; };
        const auto end_of = [&](std::int64_t e) {
            return memory.base + (e + 1) * memory.element_bytes;
        };
        // Region 1 never conflicts with fetch, so a window that runs past region 0 ends there.
        const auto first = element(address);
        const Bytes window = machine_.tile.fetch_window_bytes;
        const auto last =
            element(std::min(address + window, static_cast<Bytes>(memory.region1_begin()) - 1));
        for (auto e = first; e <= last; ++e)
            if (walk_.fetches.empty() || walk_.fetches.back().element < e)
                walk_.fetches.push_back({e, walk_.events + 1, walk_.events + 1});
        fetched_ = static_cast<std::size_t>(last - first + 1);
        fetched_until_ = std::min(end_of(first), end_of(last) - window);
    }

    void step(const ExchangeInstruction& in, std::int64_t events) {
        const bool delay = in.op == ExchangeOp::Delay || in.op == ExchangeOp::DelayXpic ||
                           in.op == ExchangeOp::DelayPic;
        // A delay's control is due at its last event, a send's at its first.
        const auto control_event = static_cast<Event>(walk_.events + (delay ? events : 1));
        if (in.mux)
            walk_.muxes.push_back({control_event, in.mux->paired, in.mux->source});
        if (in.pointer)
            walk_.pointers.push_back({control_event, in.pointer->format, in.pointer->value});
        if (in.mux && in.mux->paired && in.pointer)
            fail("two controls of a 64-bit receive in one event", &in);
        switch (in.op) {
        case ExchangeOp::Send:
        case ExchangeOp::SendPicp:
            start_message(in);
            break;
        case ExchangeOp::SendOff:
            if (in.delta != 0)
                throw NotModelled(fmt::format("exchange {}: tile {}: not modelled: sendoff with a "
                                              "delta; see docs/models/exchange.md",
                                              exchange_, walk_.tile));
            if (running_ && running_->ctl != in.ctl)
                fail(fmt::format("continues a message of ctl {}", running_->ctl), &in);
            break;
        case ExchangeOp::SendPic:
            break;
        default:
            running_.reset();
            return;
        }
        if (!running_)
            fail("continues a message, but none is running", &in);
        send(in);
    }

    void start_message(const ExchangeInstruction& in) {
        if ((in.ctl & isa::kWideItems) != 0 && (in.ctl & isa::kDirections) == 0)
            fail("64-bit items without a direction", &in);
        const Bytes item_bytes = (in.ctl & isa::kWideItems) != 0 ? 8 : 4;
        // The frame sets the outgoing base to 0, so item addresses are absolute.
        running_ = RunningMessage{in.ctl, static_cast<Bytes>(in.address) * item_bytes};
    }

    void send(const ExchangeInstruction& in) {
        if ((running_->ctl & isa::kDirections) == 0)
            return; // time passes, nothing is on the bus
        const auto& memory = machine_.memory;
        const SendRun run{static_cast<Event>(walk_.events + 1), static_cast<std::int32_t>(in.count),
                          static_cast<Address>(running_->next_address), running_->ctl};
        const auto bytes = run.items * run.item_bytes();
        if (running_->next_address < memory.base ||
            running_->next_address + bytes > static_cast<Bytes>(memory.end()))
            fail(fmt::format("sends from 0x{:x}, outside tile memory", running_->next_address),
                 &in);
        running_->next_address += bytes;
        if (!walk_.sends.empty()) {
            auto& last = walk_.sends.back();
            const bool full = last.items % lane_.items() == 0;
            if (full && last.ctl == run.ctl && last.last_event(lane_) + 1 == run.first_event &&
                last.address + last.items * last.item_bytes() == run.address) {
                last.items += run.items;
                return;
            }
        }
        walk_.sends.push_back(run);
    }

    const spec::MachineSpec& machine_;
    timing::LaneTiming lane_;
    const std::string& exchange_;
    RowWalk walk_;
    std::size_t fetched_ = 0; ///< elements that the fetch window touches: the last of the walk's
    Bytes fetched_until_ = 0; ///< while the window begins below this
    std::optional<RunningMessage> running_;
};

} // namespace

RowWalk walk_row(const spec::MachineSpec& machine, const std::string& exchange, TileId tile,
                 Address address, std::span<const std::uint32_t> words) {
    return Walker{machine, exchange, tile, address, static_cast<Bytes>(words.size() * 4)}.walk(
        words);
}

} // namespace tessera::exchange
