// SPDX-License-Identifier: MIT
// A line on a terminal that overwrites itself, ten times a second at most; nothing where stderr is
// no terminal.
#pragma once

#include <chrono>
#include <string>

namespace tessera::sim {

class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    [[nodiscard]] bool on_terminal() const { return on_terminal_; }
    void show(const std::string& text);
    void clear();

private:
    bool on_terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

} // namespace tessera::sim
