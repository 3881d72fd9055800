// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_rows.h"

#include "base/error.h"
#include "models/timing/tile_position.h"

#include <algorithm>

namespace tessera::plan {

namespace {

using isa::ExchangeInstruction;
using isa::ExchangeOp;

/// An instruction, and where the message that it sends stands.
struct Step {
    ExchangeInstruction in;
    std::uint32_t item_address = 0;
    unsigned ctl = 0; ///< 0: nothing is sent
};

/// Builds a row from left to right.
class RowWriter {
public:
    explicit RowWriter(const spec::MachineSpec& machine)
        : max_send_(
              std::min(isa::max_events(ExchangeOp::Send), machine.exchange.max_words_per_send)),
          max_sendoff_(std::min(isa::max_events(ExchangeOp::SendOff),
                                machine.exchange.max_words_per_sendoff)),
          mux_{false, timing::neutral_source(machine)} {}

    [[nodiscard]] Cycles now() const { return now_; }
    [[nodiscard]] std::vector<ExchangeInstruction> take() const {
        std::vector<ExchangeInstruction> row;
        row.reserve(steps_.size());
        for (const auto& step : steps_)
            row.push_back(step.in);
        return row;
    }

    void delay_until(Cycles event) {
        while (now_ < event)
            push({{.op = ExchangeOp::Delay,
                   .events = std::min(event - now_, isa::max_events(ExchangeOp::Delay))}});
    }

    /// A control while nothing is sent: at the last event of a delay.
    void control(const RowControl& control) {
        if (control.mux && control.pointer) {
            delay_until(control.event - 1);
            push_double({}, control, 1);
            return;
        }
        const auto op = control.mux ? ExchangeOp::DelayXpic : ExchangeOp::DelayPic;
        delay_until(control.event - isa::max_events(op));
        push({{.op = op,
               .events = control.event - now_,
               .mux = control.mux,
               .pointer = control.pointer}});
    }

    /// A whole message; `controls` fall in its events.
    void message(const RowSend& send, std::span<const RowControl> controls) {
        const auto end = send.start + send.items;
        if (controls.empty() || controls.front().event > send.start + 1) {
            const auto stop = controls.empty() ? end : controls.front().event - 1;
            const auto events = std::min(stop - now_, max_send_);
            push({{.op = ExchangeOp::Send,
                   .events = events,
                   .address = send.item_address,
                   .ctl = send.ctl},
                  send.item_address,
                  send.ctl});
            go_on(send, stop);
        }
        for (std::size_t i = 0; i < controls.size(); ++i) {
            const auto& control = controls[i];
            const auto stop = i + 1 < controls.size() ? controls[i + 1].event - 1 : end;
            const auto events = std::min(stop - now_, max_send_);
            const Step step{{}, address_now(send), send.ctl};
            // A start carries controls only as SendPicp, which has both.
            if (now_ == send.start || (control.mux && control.pointer))
                push_double(step, control, events);
            else
                push({{.op = ExchangeOp::SendPic,
                       .events = events,
                       .mux = control.mux,
                       .pointer = control.pointer},
                      step.item_address,
                      step.ctl});
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
            push({{.op = ExchangeOp::SendOff,
                   .events = std::min(stop - now_, max_sendoff_),
                   .ctl = send.ctl},
                  address_now(send),
                  send.ctl});
    }

    /// A SendPicp; a control that is missing becomes one that changes nothing.
    void push_double(Step step, const RowControl& control, Cycles events) {
        if (words_ % 2 != 0)
            make_even();
        step.in = {.op = ExchangeOp::SendPicp,
                   .events = events,
                   .address = step.item_address,
                   .ctl = step.ctl,
                   .mux = control.mux ? control.mux : mux_,
                   .pointer = control.pointer ? control.pointer : format_};
        push(step);
        even_from_ = steps_.size();
        mux_at_even_ = mux_;
        format_at_even_ = format_;
    }

    void push(const Step& step) {
        TESSERA_ASSERT(step.in.events > 0);
        now_ += step.in.events;
        words_ += isa::words_of(step.in.op);
        if (step.in.mux && !step.in.mux->paired)
            mux_ = *step.in.mux;
        if (step.in.pointer && step.in.pointer->format)
            format_ = *step.in.pointer;
        steps_.push_back(step);
    }

    /// Adds one word behind the last SendPicp, so that the next one stands on 8 bytes.
    void make_even() {
        const auto least = even_from_ > 0 ? even_from_ - 1 : 0;
        for (auto i = steps_.size(); i-- > least;)
            if (steps_[i].in.events >= 2) {
                split(i);
                ++words_;
                return;
            }
        auto& step = steps_.at(even_from_);
        auto& in = step.in;
        TESSERA_ASSERT(!in.mux || !in.mux->paired);
        in = {.op = ExchangeOp::SendPicp,
              .events = in.events,
              .address = step.item_address,
              .ctl = step.ctl,
              .mux = in.mux ? in.mux : mux_at_even_,
              .pointer = in.pointer ? in.pointer : format_at_even_};
        ++words_;
    }

    /// Splits one event off the instruction at `index`, keeping every event and control where it
    /// is.
    void split(std::size_t index) {
        auto& head = steps_[index];
        const auto at = steps_.begin() + static_cast<std::ptrdiff_t>(index);
        if (head.in.op == ExchangeOp::DelayXpic || head.in.op == ExchangeOp::DelayPic) {
            // The control is due at the last event, so the delay goes first.
            const Step before{{.op = ExchangeOp::Delay, .events = head.in.events - 1}};
            head.in.events = 1;
            steps_.insert(at, before);
            return;
        }
        head.in.events -= 1;
        Step rest{{.op = head.ctl != 0 ? ExchangeOp::SendOff : ExchangeOp::Delay,
                   .events = 1,
                   .ctl = head.ctl},
                  head.item_address + static_cast<std::uint32_t>(head.in.events),
                  head.ctl};
        steps_.insert(at + 1, rest);
    }

    std::int64_t max_send_;
    std::int64_t max_sendoff_;
    Cycles now_ = 0;
    std::vector<Step> steps_;
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
    RowWriter writer{machine};
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
    words.reserve(instructions.size() + 2);
    for (const auto& in : instructions)
        isa::append_words(in, words);
    isa::append_words({.op = ExchangeOp::Branch, .events = 0}, words);
    return words;
}

} // namespace tessera::plan
