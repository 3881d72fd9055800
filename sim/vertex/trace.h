// SPDX-License-Identifier: MIT
// Pipeline traces of a run that kept its records.
#pragma once

#include "sim/vertex/run.h"
#include "traces/output_file.h"

#include <memory>

namespace tessera::vertex {

/// A span an instruction, on a track for each context. @throws IoError
void write_perfetto(std::unique_ptr<traces::OutputFile> output, const spec::MachineSpec& machine,
                    const Bench& bench, const PointResult& result);

/// The text format of the viewer Konata. @throws IoError
void write_konata(traces::OutputFile& output, const spec::MachineSpec& machine, const Bench& bench,
                  const PointResult& result);

} // namespace tessera::vertex
