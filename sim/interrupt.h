// SPDX-License-Identifier: MIT
// What happens at Ctrl-C: unfinished output files go, running children are told, and the exit code is
// 130.
#pragma once

#include <cstddef>
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

/// Children that can be remembered at a time.
inline constexpr std::size_t kMostChildren = 1024;

/// A child that gets the signal too, until it is forgotten.
void remember_child(pid_t child);
void forget_child(pid_t child);

/// In a child process: the unfinished outputs and the other children are the parent's business.
void forget_parents_business();

} // namespace tessera::sim
