// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_rows.h"

#include "base/error.h"
#include "models/timing/exchange_latency.h"
#include "models/timing/tile_position.h"

#include <algorithm>
#include <utility>

namespace tessera::exchange_plan {

namespace {

using isa::ExchangeInstruction;
using isa::ExchangeOp;

/// Builds a row from left to right.
class RowWriter {
public:
    /// A writer of a row of at least about `least` instructions.
    RowWriter(const spec::MachineSpec& machine, std::size_t least)
        : lane_(machine.exchange),
          max_send_(most_items(ExchangeOp::Send, machine.exchange.max_words_per_send)),
          max_sendoff_(most_items(ExchangeOp::SendOff, machine.exchange.max_words_per_sendoff)),
          mux_{false, timing::neutral_source(machine)} {
        steps_.reserve(2 * least);
    }

    [[nodiscard]] Cycles now() const { return now_; }
    /// Last event of the message.
    [[nodiscard]] Cycles end_of(const RowSend& send) const {
        return send.start + lane_.events(send.items);
    }
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
            push({.op = ExchangeOp::Delay, .count = std::min(event - now_, max_delay_)});
    }

    /// A control while nothing is sent: at the last event of a delay.
    void control(const RowControl& control) {
        if (control.mux && control.pointer) {
            delay_until(control.event - 1);
            push_double(0, 0, control, 1);
            return;
        }
        const auto op = control.mux ? ExchangeOp::DelayXpic : ExchangeOp::DelayPic;
        delay_until(control.event - isa::max_count(op));
        push({.op = op,
              .count = control.event - now_,
              .mux = control.mux,
              .pointer = control.pointer});
    }

    /// A whole message; `controls` fall in its events.
    void message(const RowSend& send, std::span<const RowControl> controls) {
        const auto end = end_of(send);
        if (controls.empty() || controls.front().event > send.start + 1) {
            const auto stop = controls.empty() ? end : controls.front().event - 1;
            push({.op = ExchangeOp::Send,
                  .count = items_until(send, stop, max_send_),
                  .address = send.item_address,
                  .ctl = send.ctl});
            go_on(send, stop);
        }
        for (std::size_t i = 0; i < controls.size(); ++i) {
            const auto& control = controls[i];
            const auto stop = i + 1 < controls.size() ? controls[i + 1].event - 1 : end;
            const auto items = items_until(send, stop, max_send_);
            // A start carries controls only as SendPicp, which has both.
            if (now_ == send.start || (control.mux && control.pointer))
                push_double(address_now(send), send.ctl, control, items);
            else
                push({.op = ExchangeOp::SendPic,
                      .count = items,
                      .address = address_now(send),
                      .ctl = send.ctl,
                      .mux = control.mux,
                      .pointer = control.pointer});
            go_on(send, stop);
        }
    }

private:
    /// Most items of one instruction: whole events, so that the next one goes on where it ends.
    [[nodiscard]] std::int64_t most_items(ExchangeOp op, std::int64_t limit) const {
        const auto most = std::min(isa::max_count(op), limit);
        return most - most % lane_.items();
    }

    /// Events that the step takes.
    [[nodiscard]] Cycles events_of(const ExchangeInstruction& step) const {
        return step.ctl != 0 ? lane_.events(step.count) : step.count;
    }

    [[nodiscard]] std::int64_t items_sent(const RowSend& send) const {
        return (now_ - send.start) * lane_.items();
    }
    [[nodiscard]] std::uint32_t address_now(const RowSend& send) const {
        return send.item_address + static_cast<std::uint32_t>(items_sent(send));
    }
    /// Items from now up to event `stop`, or `most`.
    [[nodiscard]] std::int64_t items_until(const RowSend& send, Cycles stop,
                                           std::int64_t most) const {
        return std::min({(stop - now_) * lane_.items(), send.items - items_sent(send), most});
    }

    /// Plain continuation up to event `stop`.
    void go_on(const RowSend& send, Cycles stop) {
        while (now_ < stop)
            push({.op = ExchangeOp::SendOff,
                  .count = items_until(send, stop, max_sendoff_),
                  .address = address_now(send),
                  .ctl = send.ctl});
    }

    /// A SendPicp; a control that is missing becomes one that changes nothing.
    void push_double(std::uint32_t item_address, unsigned ctl, const RowControl& control,
                     std::int64_t count) {
        if (words_ % 2 != 0)
            make_even();
        push({.op = ExchangeOp::SendPicp,
              .count = count,
              .address = item_address,
              .ctl = ctl,
              .mux = control.mux ? control.mux : mux_,
              .pointer = control.pointer ? control.pointer : format_});
        even_from_ = steps_.size();
        mux_at_even_ = mux_;
        format_at_even_ = format_;
    }

    void push(const ExchangeInstruction& step) {
        TESSERA_ASSERT(step.count > 0);
        now_ += events_of(step);
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
            if (events_of(steps_[i]) >= 2) {
                split(i);
                ++words_;
                return;
            }
        auto& in = steps_.at(even_from_);
        TESSERA_ASSERT(!in.mux || !in.mux->paired);
        in = {.op = ExchangeOp::SendPicp,
              .count = in.count,
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
            const ExchangeInstruction before{.op = ExchangeOp::Delay, .count = head.count - 1};
            head.count = 1;
            steps_.insert(at, before);
            return;
        }
        const auto all = head.count;
        head.count = (events_of(head) - 1) * (head.ctl != 0 ? lane_.items() : 1);
        const ExchangeInstruction rest{
            .op = head.ctl != 0 ? ExchangeOp::SendOff : ExchangeOp::Delay,
            .count = all - head.count,
            .address = head.address + static_cast<std::uint32_t>(head.count),
            .ctl = head.ctl};
        steps_.insert(at + 1, rest);
    }

    const std::int64_t max_delay_ = isa::max_count(ExchangeOp::Delay);
    timing::LaneTiming lane_;
    std::int64_t max_send_; ///< items; likewise the next
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
        while (last < controls.size() && controls[last].event <= writer.end_of(send))
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
    isa::append_words({.op = ExchangeOp::Branch, .count = 0}, words);
    return words;
}

} // namespace tessera::exchange_plan
