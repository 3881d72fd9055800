// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_rows.h"

#include "base/error.h"
#include "models/timing/tile_position.h"

#include <algorithm>
#include <utility>

namespace tessera::plan {

namespace {

using isa::ExchangeInstruction;
using isa::ExchangeOp;

/// Builds a row from left to right.
class RowWriter {
public:
    /// A writer of a row of at least about `least` instructions.
    RowWriter(const spec::MachineSpec& machine, std::size_t least)
        : max_send_(
              std::min(isa::max_events(ExchangeOp::Send), machine.exchange.max_words_per_send)),
          max_sendoff_(std::min(isa::max_events(ExchangeOp::SendOff),
                                machine.exchange.max_words_per_sendoff)),
          mux_{false, timing::neutral_source(machine)} {
        steps_.reserve(2 * least);
    }

    [[nodiscard]] Cycles now() const { return now_; }
    [[nodiscard]] std::vector<ExchangeInstruction> take() {
        for (auto& step : steps_) {
            if (step.op != ExchangeOp::Send && step.op != ExchangeOp::SendPicp)
                step.address = 0;
            if (step.op == ExchangeOp::SendPic)
                step.ctl = 0;
        }
        return std::move(steps_);
    }

    void delay_until(Cycles event) {
        while (now_ < event)
            push({.op = ExchangeOp::Delay, .events = std::min(event - now_, max_delay_)});
    }

    /// A control while nothing is sent: at the last event of a delay.
    void control(const RowControl& control) {
        if (control.mux && control.pointer) {
            delay_until(control.event - 1);
            push_double(0, 0, control, 1);
            return;
        }
        const auto op = control.mux ? ExchangeOp::DelayXpic : ExchangeOp::DelayPic;
        delay_until(control.event - isa::max_events(op));
        push({.op = op,
              .events = control.event - now_,
              .mux = control.mux,
              .pointer = control.pointer});
    }

    /// A whole message; `controls` fall in its events.
    void message(const RowSend& send, std::span<const RowControl> controls) {
        const auto end = send.start + send.items;
        if (controls.empty() || controls.front().event > send.start + 1) {
            const auto stop = controls.empty() ? end : controls.front().event - 1;
            const auto events = std::min(stop - now_, max_send_);
            push({.op = ExchangeOp::Send,
                  .events = events,
                  .address = send.item_address,
                  .ctl = send.ctl});
            go_on(send, stop);
        }
        for (std::size_t i = 0; i < controls.size(); ++i) {
            const auto& control = controls[i];
            const auto stop = i + 1 < controls.size() ? controls[i + 1].event - 1 : end;
            const auto events = std::min(stop - now_, max_send_);
            // A start carries controls only as SendPicp, which has both.
            if (now_ == send.start || (control.mux && control.pointer))
                push_double(address_now(send), send.ctl, control, events);
            else
                push({.op = ExchangeOp::SendPic,
                      .events = events,
                      .address = address_now(send),
                      .ctl = send.ctl,
                      .mux = control.mux,
                      .pointer = control.pointer});
            go_on(send, stop);
        }
    }

private:
    [[nodiscard]] std::uint32_t address_now(const RowSend& send) const {
        return send.item_address + static_cast<std::uint32_t>(now_ - send.start);
    }

    /// Plain continuation up to event `stop`.
    void go_on(const RowSend& send, Cycles stop) {
        while (now_ < stop)
            push({.op = ExchangeOp::SendOff,
                  .events = std::min(stop - now_, max_sendoff_),
                  .address = address_now(send),
                  .ctl = send.ctl});
    }

    /// A SendPicp; a control that is missing becomes one that changes nothing.
    void push_double(std::uint32_t item_address, unsigned ctl, const RowControl& control,
                     Cycles events) {
        if (words_ % 2 != 0)
            make_even();
        push({.op = ExchangeOp::SendPicp,
              .events = events,
              .address = item_address,
              .ctl = ctl,
              .mux = control.mux ? control.mux : mux_,
              .pointer = control.pointer ? control.pointer : format_});
        even_from_ = steps_.size();
        mux_at_even_ = mux_;
        format_at_even_ = format_;
    }

    void push(const ExchangeInstruction& step) {
        TESSERA_ASSERT(step.events > 0);
        now_ += step.events;
        words_ += isa::words_of(step.op);
        if (step.mux && !step.mux->paired)
            mux_ = *step.mux;
        if (step.pointer && step.pointer->format)
            format_ = *step.pointer;
        steps_.push_back(step);
    }

    /// Adds one word behind the last SendPicp, so that the next one stands on 8 bytes.
    void make_even() {
        const auto least = even_from_ > 0 ? even_from_ - 1 : 0;
        for (auto i = steps_.size(); i-- > least;)
            if (steps_[i].events >= 2) {
                split(i);
                ++words_;
                return;
            }
        auto& in = steps_.at(even_from_);
        TESSERA_ASSERT(!in.mux || !in.mux->paired);
        in = {.op = ExchangeOp::SendPicp,
              .events = in.events,
              .address = in.address,
              .ctl = in.ctl,
              .mux = in.mux ? in.mux : mux_at_even_,
              .pointer = in.pointer ? in.pointer : format_at_even_};
        ++words_;
    }

    /// Splits one event off the instruction at `index`, keeping every event and control where it
    /// is.
    void split(std::size_t index) {
        auto& head = steps_[index];
        const auto at = steps_.begin() + static_cast<std::ptrdiff_t>(index);
        if (head.op == ExchangeOp::DelayXpic || head.op == ExchangeOp::DelayPic) {
            // The control is due at the last event, so the delay goes first.
            const ExchangeInstruction before{.op = ExchangeOp::Delay, .events = head.events - 1};
            head.events = 1;
            steps_.insert(at, before);
            return;
        }
        head.events -= 1;
        const ExchangeInstruction rest{
            .op = head.ctl != 0 ? ExchangeOp::SendOff : ExchangeOp::Delay,
            .events = 1,
            .address = head.address + static_cast<std::uint32_t>(head.events),
            .ctl = head.ctl};
        steps_.insert(at + 1, rest);
    }

    const std::int64_t max_delay_ = isa::max_events(ExchangeOp::Delay);
    std::int64_t max_send_;
    std::int64_t max_sendoff_;
    Cycles now_ = 0;
    /// All of them with the address and ctl of the message at their first event, ctl 0 where none
    /// is sent, until the row is taken.
    std::vector<ExchangeInstruction> steps_;
    std::size_t words_ = 0;
    std::size_t even_from_ = 0; ///< first step behind the last SendPicp
    // What the plain mux and the format stand on, now and behind the last SendPicp.
    isa::MuxControl mux_;
    isa::PointerControl format_{true, 0};
    isa::MuxControl mux_at_even_ = mux_;
    isa::PointerControl format_at_even_ = format_;
};

} // namespace

std::vector<ExchangeInstruction> row_instructions(const spec::MachineSpec& machine,
                                                  std::span<const RowSend> sends,
                                                  std::span<const RowControl> controls,
                                                  Cycles end_event) {
    RowWriter writer{machine, sends.size() + controls.size()};
    std::size_t next = 0;
    for (const auto& send : sends) {
        for (; next < controls.size() && controls[next].event <= send.start; ++next)
            writer.control(controls[next]);
        writer.delay_until(send.start);
        auto last = next;
        while (last < controls.size() && controls[last].event <= send.start + send.items)
            ++last;
        writer.message(send, controls.subspan(next, last - next));
        next = last;
    }
    for (; next < controls.size(); ++next)
        writer.control(controls[next]);
    writer.delay_until(end_event);
    TESSERA_ASSERT(writer.now() == end_event);
    return writer.take();
}

std::vector<std::uint32_t> row_words(std::span<const ExchangeInstruction> instructions) {
    std::vector<std::uint32_t> words;
    std::size_t count = 1; // the branch
    for (const auto& in : instructions)
        count += isa::words_of(in.op);
    words.reserve(count);
    for (const auto& in : instructions)
        isa::append_words(in, words);
    isa::append_words({.op = ExchangeOp::Branch, .events = 0}, words);
    return words;
}

} // namespace tessera::plan
