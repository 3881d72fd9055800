// SPDX-License-Identifier: MIT
// Writes what a recorder has kept as one file. docs/formats/recording.md has its format.
#pragma once

#include "models/listeners/account.h"
#include "models/listeners/recorder.h"
#include "traces/output_file.h"

#include <string>

namespace tessera::recording {

/// All that a recording is made from: one chip's run. The account's steps are the recorder's.
struct Facts {
    std::string machine;
    std::string workload;
    std::string mode; ///< functional or timing
    double clock_hz = 0;
    const listeners::Account& account;
    const listeners::Recorder& recorder;
};

/// Writes the bytes of a recording, and commits the file. @throws IoError
void write(const Facts& facts, traces::OutputFile& file);

} // namespace tessera::recording
