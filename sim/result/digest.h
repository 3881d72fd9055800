// SPDX-License-Identifier: MIT
// Digests of what a run found tile by tile and bit by bit: equal runs have equal ones, and a record
// of results holds them instead of megabytes.
#pragma once

#include "models/listeners/account.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tessera::sim {

/// CRC-32 (that of zlib) of bytes that come in parts.
class Digest {
public:
    void add(std::span<const std::byte> bytes);
    void add(const std::string& text);
    /// Eight hexadecimal digits.
    [[nodiscard]] std::string text() const;

private:
    unsigned long crc_ = 0;
};

/// Of every tile's cycles by kind, in the order of tiles: five 64-bit numbers each, little-endian.
[[nodiscard]] std::string tile_cycles_digest(const listeners::Account& account);

} // namespace tessera::sim
