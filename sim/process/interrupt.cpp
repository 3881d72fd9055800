// SPDX-License-Identifier: MIT
#include "sim/process/interrupt.h"

#include "base/error.h"
#include "base/temporary_file.h"
#include "sim/process/progress_line.h"

#include <array>
#include <atomic>
#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

namespace tessera::process {
namespace {

constexpr int kBugExitCode = 70;

// A handler may touch only lock-free atomics and plain memory that they guard.
std::array<std::atomic<pid_t>, kMostChildren> children{};

extern "C" void on_signal(int signal_number) {
    clear_progress_line_at_once();
    remove_temporary_files();
    if (signal_number == SIGABRT) {
        _exit(kBugExitCode);
    }
    for (const auto& slot : children) {
        const pid_t child = slot.load();
        if (child > 0) {
            kill(child, SIGTERM);
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

void handle(int signal_number, void (*handler)(int)) {
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) {
        return;
    }
    struct sigaction action {};
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, nullptr);
}

} // namespace

void install_signal_handlers() {
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXCPU, SIGABRT}) {
        handle(signal_number, on_signal);
    }
    handle(SIGXFSZ, SIG_IGN);
}

void remember_child(pid_t child) {
    replace_child(0, child);
}

void forget_child(pid_t child) {
    replace_child(child, 0);
}

void begin_child(pid_t parent) {
    forget_temporary_files();
    for (auto& child : children) {
        child.store(0);
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) { // it ended before that
        _exit(128 + SIGTERM);
    }
}

} // namespace tessera::process
