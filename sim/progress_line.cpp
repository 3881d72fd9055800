// SPDX-License-Identifier: MIT
#include "sim/progress_line.h"

#include <cstdio>
#include <unistd.h>

namespace tessera::sim {

ProgressLine::ProgressLine() : on_terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (!on_terminal_ || now - last_ < std::chrono::milliseconds(100)) {
        return;
    }
    last_ = now;
    shown_ = true;
    std::fputs(("\r\033[K" + text).c_str(), stderr);
}

void ProgressLine::clear() {
    if (shown_) {
        std::fputs("\r\033[K", stderr);
        shown_ = false;
    }
}

} // namespace tessera::sim
