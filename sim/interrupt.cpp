// SPDX-License-Identifier: MIT
#include "sim/interrupt.h"

#include "base/error.h"
#include "sim/progress_line.h"

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace tessera::sim {
namespace {

constexpr int kSlots = 8;
constexpr int kBugExitCode = 70;

// A handler may touch only lock-free atomics and plain memory that they guard.
struct Slot {
    std::atomic<bool> used{false};
    std::array<char, PATH_MAX> path{};
};
std::array<Slot, kSlots> slots;
std::array<std::atomic<pid_t>, kMostChildren> children{};

extern "C" void on_signal(int signal_number) {
    clear_progress_line_at_once();
    for (auto& slot : slots) {
        if (slot.used.load()) {
            unlink(slot.path.data());
        }
    }
    if (signal_number == SIGABRT) {
        _exit(kBugExitCode);
    }
    for (const auto& slot : children) {
        const pid_t child = slot.load();
        if (child > 0) {
            kill(child, signal_number);
        }
    }
    _exit(128 + signal_number);
}

/// Puts `now` into the first slot that holds `before`.
void replace_child(pid_t before, pid_t now) {
    for (auto& slot : children) {
        pid_t held = before;
        if (slot.compare_exchange_strong(held, now)) {
            return;
        }
    }
    TESSERA_ASSERT(!"a child more than there is room for");
}

} // namespace

void install_signal_handlers() {
    for (const int signal_number : {SIGINT, SIGTERM, SIGABRT}) {
        struct sigaction action {};
        action.sa_handler = on_signal;
        sigemptyset(&action.sa_mask);
        sigaction(signal_number, &action, nullptr);
    }
}

TemporaryOutput::TemporaryOutput(const std::string& path) : slot_(-1) {
    const std::string temporary = path + ".tmp";
    if (temporary.size() + 1 > PATH_MAX) {
        return; // it cannot be opened either
    }
    for (int slot = 0; slot < kSlots && slot_ < 0; ++slot) {
        if (!slots.at(static_cast<std::size_t>(slot)).used.load()) {
            slot_ = slot;
        }
    }
    TESSERA_ASSERT(slot_ >= 0);
    Slot& mine = slots.at(static_cast<std::size_t>(slot_));
    std::memcpy(mine.path.data(), temporary.c_str(), temporary.size() + 1);
    mine.used.store(true);
}

TemporaryOutput::~TemporaryOutput() {
    if (slot_ >= 0) {
        slots.at(static_cast<std::size_t>(slot_)).used.store(false);
    }
}

void remember_child(pid_t child) {
    replace_child(0, child);
}

void forget_child(pid_t child) {
    replace_child(child, 0);
}

void forget_parents_business() {
    for (auto& slot : slots) {
        slot.used.store(false);
    }
    for (auto& child : children) {
        child.store(0);
    }
}

} // namespace tessera::sim
