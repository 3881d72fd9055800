// SPDX-License-Identifier: MIT
// Writes the instructions of a tile in the text format of the pipeline viewer Konata (`Kanata`
// version 4): a row an instruction, a column a clock. Fields are separated by tabs
// (docs/formats/konata.md explains every line):
//
//   Kanata 0004
//   C=  0             the first clock
//   I   0  0  6       instruction 0 of thread 6
//   L   0  0  4c000: setzi $m0, 0x4c010
//   S   0  0  Is      its stage Is begins
//   C   1             a clock later
//   ...
//   R   0  0  0       it is done
//
// Stages: Wt waits to issue, Is issues, Ex executes until its result may be used. Thread: worker
// number; the supervisor comes behind the workers. Source of the format: the viewer's public
// description of it.
#pragma once

#include "traces/output_file.h"
#include "traces/pipeline.h"

#include <span>

namespace tessera::traces {

/// Writes `instructions` and commits. `workers` is the tile's number of worker contexts.
/// @throws IoError if the file cannot be written
void write_konata(OutputFile& output, std::span<const PipelineInstruction> instructions,
                  int workers, const DescribeAddress& describe);

} // namespace tessera::traces
