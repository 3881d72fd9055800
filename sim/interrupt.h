// SPDX-License-Identifier: MIT
// What happens at Ctrl-C: unfinished output files go, a running child is told, and the exit code is
// 130.
#pragma once

#include <string>
#include <sys/types.h>

namespace tessera::sim {

/// SIGINT and SIGTERM end the process with 128 + signal, an abort (a broken invariant) with 70;
/// each removes the unfinished outputs first.
void install_signal_handlers();

/// While it lives, `path`.tmp is an unfinished output. Eight at a time.
class TemporaryOutput {
public:
    explicit TemporaryOutput(const std::string& path);
    ~TemporaryOutput();
    TemporaryOutput(const TemporaryOutput&) = delete;
    TemporaryOutput& operator=(const TemporaryOutput&) = delete;

private:
    int slot_;
};

/// In a child process: the unfinished outputs are the parent's business.
void forget_outputs();

/// The child that gets the signal too; 0 for none.
void set_running_child(pid_t child);

} // namespace tessera::sim
