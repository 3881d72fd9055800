// SPDX-License-Identifier: MIT
// Digests of a run's cycles on every tile and of its output bits. Equal runs have equal digests; a
// record of results stores them instead of megabytes.
#pragma once

#include "models/listeners/account.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tessera::result {

/// CRC-32 (as zlib computes it) of bytes that are added in parts.
class Digest {
public:
    void add(std::span<const std::byte> bytes);
    void add(const std::string& text);
    /// Eight hexadecimal digits.
    [[nodiscard]] std::string text() const;

private:
    unsigned long crc_ = 0;
};

/// The digest of every tile's cycles by kind, tile by tile: five 64-bit little-endian numbers each.
[[nodiscard]] std::string tile_cycles_digest(const listeners::Account& account);

} // namespace tessera::result
