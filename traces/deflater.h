// SPDX-License-Identifier: MIT
// Compresses bytes in memory, part by part.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::traces {

class Deflater {
public:
    enum class Envelope : std::uint8_t { Zlib, Gzip };

    explicit Deflater(Envelope envelope);
    ~Deflater();
    Deflater(const Deflater&) = delete;
    Deflater& operator=(const Deflater&) = delete;

    void put(std::string_view bytes);
    /// All that was put, compressed; nothing may be put behind it.
    [[nodiscard]] std::string finish();

private:
    void go_on(int flush);

    z_stream stream_{};
    std::string packed_;
};

/// A whole text, compressed.
[[nodiscard]] std::string deflated(std::string_view text, Deflater::Envelope envelope);

} // namespace tessera::traces
