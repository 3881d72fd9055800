// SPDX-License-Identifier: MIT
// What happens at Ctrl-C and its like: unfinished output files go, running children are told, and
// the exit code is 128 and the signal's number.
#pragma once

#include <cstddef>
#include <sys/types.h>

namespace tessera::process {

/// SIGINT, SIGTERM, SIGHUP, SIGPIPE and SIGXCPU end the process with 128 + signal, an abort (a
/// broken invariant) with 70; each removes the unfinished outputs first. What is ignored when the
/// program starts, as under nohup, stays so. A write beyond the limit on the size of files fails
/// like one on a full disk.
void install_signal_handlers();

/// Children that can be remembered at a time.
inline constexpr std::size_t kMostChildren = 1024;

/// A child that is ended too, until it is forgotten.
void remember_child(pid_t child);
void forget_child(pid_t child);

/// In a new child process: the parent's unfinished outputs and other children are its own business,
/// and the child ends with the thread that made it.
void begin_child(pid_t parent);

} // namespace tessera::process
