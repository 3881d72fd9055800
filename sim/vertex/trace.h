// SPDX-License-Identifier: MIT
// Pipeline traces of a run that kept its records.
#pragma once

#include "sim/vertex/run.h"
#include "traces/output_file.h"

#include <memory>
#include <string>

namespace tessera::vertex {

/// A span an instruction, on a track for each context, in the format that the file's ending asks
/// for. @throws IoError
void write_trace(std::unique_ptr<traces::OutputFile> output, const spec::MachineSpec& machine,
                 const Bench& bench, const PointResult& result, const std::string& vertex);

/// The text format of the viewer Konata. @throws IoError
void write_konata(traces::OutputFile& output, const spec::MachineSpec& machine, const Bench& bench,
                  const PointResult& result);

} // namespace tessera::vertex
