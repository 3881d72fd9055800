// SPDX-License-Identifier: MIT
// An output that is opened before the run, so that what cannot be written is found first.
#pragma once

#include "sim/interrupt.h"
#include "traces/output_file.h"

#include <memory>
#include <string>

namespace tessera::sim {

class Output {
public:
    /// @throws IoError
    explicit Output(const std::string& path) : temporary_(path), file_(path) {}
    void write(const std::string& text) {
        file_.write(text);
        file_.commit();
    }

private:
    TemporaryOutput temporary_;
    traces::OutputFile file_;
};

/// The file of an option; nothing where it was not given, or is "-" for stdout.
[[nodiscard]] inline std::unique_ptr<Output> open_output(const std::string& path) {
    return path.empty() || path == "-" ? nullptr : std::make_unique<Output>(path);
}

} // namespace tessera::sim
