// SPDX-License-Identifier: MIT
// Writes what a recorder has kept as one file. docs/formats/recording.md has its format.
#pragma once

#include "models/listeners/account.h"
#include "models/listeners/recorder.h"
#include "traces/output_file.h"

#include <functional>
#include <string>
#include <string_view>

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

/// Hands out the bytes of a recording, part by part.
void write(const Facts& facts, const std::function<void(std::string_view bytes)>& put);

/// Writes the same into a file, and commits it. @throws IoError
void write(const Facts& facts, traces::OutputFile& file);

} // namespace tessera::recording
