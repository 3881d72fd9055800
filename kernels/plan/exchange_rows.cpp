// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_rows.h"

#include "base/error.h"
#include "models/timing/tile_position.h"

#include <algorithm>

namespace tessera::plan {

namespace {

using isa::ExchangeInstruction;
using isa::ExchangeOp;

bool is_sending(const ExchangeInstruction& in) {
    return in.op == ExchangeOp::Send || in.op == ExchangeOp::SendOff ||
           in.op == ExchangeOp::SendPic || (in.op == ExchangeOp::SendPicp && in.ctl != 0);
}

/// Builds a row from left to right.
class RowWriter {
public:
    explicit RowWriter(const spec::MachineSpec& machine)
        : max_send_(
              std::min(isa::max_events(ExchangeOp::Send), machine.exchange.max_words_per_send)),
          max_sendoff_(std::min(isa::max_events(ExchangeOp::SendOff),
                                machine.exchange.max_words_per_sendoff)) {}

    [[nodiscard]] Cycles now() const { return now_; }
    std::vector<ExchangeInstruction> take() { return std::move(row_); }

    void delay_until(Cycles event) {
        while (now_ < event)
            push({.op = ExchangeOp::Delay,
                  .events = std::min(event - now_, isa::max_events(ExchangeOp::Delay))});
    }

    /// A control while nothing is sent: at the last event of a delay.
    void control(const RowControl& control) {
        if (control.mux && control.pointer) {
            delay_until(control.event - 1);
            push({.op = ExchangeOp::SendPicp, .mux = control.mux, .pointer = control.pointer});
            return;
        }
        const auto op = control.mux ? ExchangeOp::DelayXpic : ExchangeOp::DelayPic;
        delay_until(control.event - isa::max_events(op));
        push({.op = op,
              .events = control.event - now_,
              .mux = control.mux,
              .pointer = control.pointer});
    }

    /// A whole message; `controls` fall in its second to last event.
    void message(const RowSend& send, std::span<const RowControl> controls) {
        const auto end = send.start + send.items;
        const auto first_stop = controls.empty() ? end : controls.front().event - 1;
        chunk({.op = ExchangeOp::Send, .address = send.item_address, .ctl = send.ctl}, first_stop,
              send.ctl);
        for (std::size_t i = 0; i < controls.size(); ++i) {
            const auto& control = controls[i];
            const auto stop = i + 1 < controls.size() ? controls[i + 1].event - 1 : end;
            ExchangeInstruction in{
                .op = ExchangeOp::SendPic, .mux = control.mux, .pointer = control.pointer};
            if (control.mux && control.pointer) {
                in.op = ExchangeOp::SendPicp;
                in.address = send.item_address + static_cast<std::uint32_t>(now_ - send.start);
                in.ctl = send.ctl;
            }
            chunk(in, stop, send.ctl);
        }
    }

private:
    /// `in` for as many events as it can hold, then plain continuation up to event `stop`.
    void chunk(ExchangeInstruction in, Cycles stop, unsigned ctl) {
        in.events = std::min(stop - now_, max_send_);
        push(in);
        while (now_ < stop)
            push({.op = ExchangeOp::SendOff,
                  .events = std::min(stop - now_, max_sendoff_),
                  .ctl = ctl});
    }

    void push(const ExchangeInstruction& in) {
        TESSERA_ASSERT(in.events > 0);
        now_ += in.events;
        row_.push_back(in);
    }

    std::int64_t max_send_;
    std::int64_t max_sendoff_;
    Cycles now_ = 0;
    std::vector<ExchangeInstruction> row_;
};

/// Splits one event off the instruction at `index`, keeping every event and control where it is.
void split(std::vector<ExchangeInstruction>& row, std::size_t index) {
    auto& head = row[index];
    const auto at = [&](std::size_t i) { return row.begin() + static_cast<std::ptrdiff_t>(i); };
    if (head.op == ExchangeOp::DelayXpic || head.op == ExchangeOp::DelayPic) {
        // The control is due at the last event, so the delay goes first.
        const ExchangeInstruction before{.op = ExchangeOp::Delay, .events = head.events - 1};
        head.events = 1;
        row.insert(at(index), before);
        return;
    }
    const bool sending = is_sending(head);
    auto ctl = head.ctl;
    for (auto i = index; head.op == ExchangeOp::SendPic && i-- > 0;) {
        ctl = row[i].ctl;
        if (row[i].op != ExchangeOp::SendPic)
            break;
    }
    head.events -= 1;
    ExchangeInstruction tail{.op = sending ? ExchangeOp::SendOff : ExchangeOp::Delay, .events = 1};
    if (sending)
        tail.ctl = ctl;
    row.insert(at(index + 1), tail);
}

/// Turns a one-event control at `index` into a SendPicp whose other control changes nothing: the
/// mux that stands, or the item format that is in force.
void widen(std::vector<ExchangeInstruction>& row, std::size_t index, std::uint32_t neutral) {
    isa::MuxControl mux{false, neutral};
    isa::PointerControl format{true, 0};
    for (std::size_t i = 0; i < index; ++i) {
        if (row[i].mux && !row[i].mux->paired)
            mux = *row[i].mux;
        if (row[i].pointer && row[i].pointer->format)
            format = *row[i].pointer;
    }
    auto& in = row[index];
    if (in.op == ExchangeOp::SendPic || in.op == ExchangeOp::SendOff) {
        // These continue a message whose address the SendPicp would have to restate.
        Cycles items = 0;
        for (auto i = index; i-- > 0;) {
            items += row[i].events;
            if (row[i].op == ExchangeOp::Send || row[i].op == ExchangeOp::SendPicp) {
                in.address = row[i].address + static_cast<std::uint32_t>(items);
                in.ctl = row[i].ctl;
                break;
            }
        }
    }
    in.op = ExchangeOp::SendPicp;
    in.delta = 0;
    if (!in.mux)
        in.mux = mux;
    if (!in.pointer)
        in.pointer = format;
}

/// Gives every SendPicp its 8-byte boundary by adding one word somewhere since the one before it.
void align_double_words(std::vector<ExchangeInstruction>& row, std::uint32_t neutral) {
    std::size_t words = 0;
    std::size_t since =
        0; // no earlier instruction may be cut: its SendPicp would lose its boundary
    for (std::size_t i = 0; i < row.size(); ++i) {
        if (row[i].op == ExchangeOp::SendPicp && words % 2 != 0) {
            std::size_t at = i;
            while (at > since && row[at - 1].events < 2)
                --at;
            if (at > since) {
                split(row, at - 1);
                ++i;
            } else {
                const bool after_pair = since < i && row[since].op == ExchangeOp::SendPicp;
                widen(row, after_pair ? since + 1 : since, neutral);
            }
            ++words;
        }
        if (row[i].op == ExchangeOp::SendPicp)
            since = i;
        words += isa::words_of(row[i].op);
    }
}

} // namespace

std::vector<ExchangeInstruction> row_instructions(const spec::MachineSpec& machine,
                                                  std::span<const RowSend> sends,
                                                  std::span<const RowControl> controls,
                                                  Cycles end_event) {
    RowWriter writer{machine};
    std::size_t next = 0;
    for (const auto& send : sends) {
        for (; next < controls.size() && controls[next].event <= send.start; ++next)
            writer.control(controls[next]);
        writer.delay_until(send.start);
        auto last = next;
        while (last < controls.size() && controls[last].event <= send.start + send.items)
            ++last;
        TESSERA_ASSERT(last == next || controls[next].event > send.start + 1);
        writer.message(send, controls.subspan(next, last - next));
        next = last;
    }
    for (; next < controls.size(); ++next)
        writer.control(controls[next]);
    writer.delay_until(end_event);
    TESSERA_ASSERT(writer.now() == end_event);
    auto row = writer.take();
    align_double_words(row, timing::neutral_source(machine));
    return row;
}

std::vector<std::uint32_t> row_words(std::span<const ExchangeInstruction> instructions) {
    std::vector<std::uint32_t> words;
    words.reserve(instructions.size() + 2);
    for (const auto& in : instructions)
        isa::append_words(in, words);
    isa::append_words({.op = ExchangeOp::Branch, .events = 0}, words);
    return words;
}

} // namespace tessera::plan
