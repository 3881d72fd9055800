// SPDX-License-Identifier: MIT
// `tessera vertex`: one vertex on one tile.
#pragma once

#include "sim/cli/cli.h"

namespace tessera::vertex {

/// Runs all points of the vertex file, prints the report and writes what was asked for. Returns the
/// exit code: 1 if an array is not as expected, 5 if --lockstep finds races or conflicts.
/// @throws UsageError, ConfigError, DoesNotFit, ProgramError, NotModelled, IoError
int vertex_command(const cli::VertexCommand& command);

} // namespace tessera::vertex
