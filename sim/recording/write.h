// SPDX-License-Identifier: MIT
// Writes what a recorder has kept as one file. docs/formats/recording.md has its format.
#pragma once

#include "models/listeners/account.h"
#include "models/listeners/recorder.h"
#include "models/program/program.h"
#include "traces/output_file.h"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::recording {

/// One chip's run. The steps of all three are the same.
struct ChipFacts {
    const listeners::Account& account;
    const listeners::Recorder& recorder;
    const program::Program& program;
};

/// All that a recording is made from.
struct Facts {
    std::string machine;
    std::string workload;
    std::string mode; ///< functional or timing
    double clock_hz = 0;
    std::vector<ChipFacts> chips; ///< one at least
    std::size_t last = 0;         ///< of those the one that ends last
};

/// Hands out the bytes of a recording, part by part.
void write(const Facts& facts, const std::function<void(std::string_view bytes)>& put);

/// Writes the same into a file, and commits it. @throws IoError
void write(const Facts& facts, traces::OutputFile& file);

/// The same, compressed with gzip.
[[nodiscard]] std::string compressed(const Facts& facts);

} // namespace tessera::recording
