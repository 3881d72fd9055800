// SPDX-License-Identifier: MIT
// Bytes on their way to a file.
#pragma once

#include "traces/output_file.h"

#include <cstddef>
#include <string>

namespace tessera::traces {

/// What is appended to `bytes()` is written when a megabyte is there.
class Buffer {
public:
    explicit Buffer(OutputFile& file) : file_(file) {}

    [[nodiscard]] std::string& bytes() { return bytes_; }
    void write_if_full() {
        constexpr std::size_t kFullBytes = std::size_t{1} << 20;
        if (bytes_.size() >= kFullBytes) {
            write();
        }
    }
    void write() {
        file_.write(bytes_);
        bytes_.clear();
    }

private:
    OutputFile& file_;
    std::string bytes_;
};

} // namespace tessera::traces
