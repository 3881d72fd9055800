// SPDX-License-Identifier: MIT
#include "sim/vertex/call_watch.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace tessera::vertex {
namespace {

constexpr std::size_t kFrame = 9;
constexpr std::size_t kStack = 11;

} // namespace

void CallWatch::begin_phase(const BenchPhase& phase) {
    phase_ = &phase;
    call_ = nullptr;
    running_ = false;
}

void CallWatch::issued(Address address, const Registers& registers) {
    if (address < phase_->stub || address >= phase_->stub_end) {
        return;
    }
    if (running_) {
        if (address != call_->returns_to) {
            throw ProgramError(
                fmt::format("{}returned to {:#x} in the launch stub, expected {:#x} as $lr was at "
                            "its call",
                            culprit(), address, call_->returns_to));
        }
        returned(registers);
    }
    const auto call =
        std::find_if(phase_->calls.begin(), phase_->calls.end(),
                     [address](const BenchCall& given) { return given.returns_to == address + 4; });
    if (call != phase_->calls.end()) {
        call_ = &*call;
        running_ = true;
        frame_ = registers(-1).main[kFrame];
        stack_ = registers(-1).main[kStack];
    }
}

/// The instruction behind the call, which has issued by now, leaves both registers alone.
void CallWatch::returned(const Registers& registers) {
    running_ = false;
    const isa::Context& supervisor = registers(-1);
    for (const auto& [name, number, before] :
         {std::tuple{"$m9", kFrame, frame_}, std::tuple{"$sp", kStack, stack_}}) {
        const bool is_free = number == kFrame && !call_->keeps_m9;
        if (!is_free && supervisor.main[number] != before) {
            throw ProgramError(fmt::format("{}returned with {} = {:#x}, expected {:#x} as at its "
                                           "call: a supervisor vertex keeps it",
                                           culprit(), name, supervisor.main[number], before));
        }
    }
    if (std::all_of(launched_.begin(), launched_.end(),
                    [&](int worker) { return registers(worker).exited; })) {
        return;
    }
    const std::string warning =
        culprit() + "returned while workers ran: sync TEXCH_SYNCZONE_LOCAL first";
    if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end()) {
        warnings_.push_back(warning);
    }
}

void CallWatch::end_phase() const {
    if (running_) {
        throw ProgramError(culprit() + "ended the phase by a branch to address 0, expected a "
                                       "return to the launch stub by br $lr");
    }
}

std::string CallWatch::culprit() const {
    return call_ == nullptr ? std::string{} : fmt::format("'{}': ", call_->entry_name);
}

} // namespace tessera::vertex
