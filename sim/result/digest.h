// SPDX-License-Identifier: MIT
// Digests of a run's program, of its cycles on every tile and of its output bits. Equal runs have equal
// digests; a record of results stores them instead of megabytes.
#pragma once

#include "models/listeners/account.h"
#include "models/program/program.h"
#include "models/program/system_program.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::result {

/// CRC-32 (as zlib computes it) of bytes that are added in parts.
class Digest {
public:
    void add(std::span<const std::byte> bytes);
    void add(const std::string& text);
    /// Of a number: eight little-endian bytes.
    void add(std::int64_t number);
    /// Eight hexadecimal digits.
    [[nodiscard]] std::string text() const;

private:
    unsigned long crc_ = 0;        ///< of all but what waits
    std::vector<std::byte> waits_; ///< short parts: zlib takes long ones several times as fast
};

/// The digest of what a machine does with a program and of where its arrays are: memory images, control
/// program, vertices, stream copies, remote buffers and the places of tensors. Names do not count, nor do
/// the values that the host writes before the run.
[[nodiscard]] std::string program_digest(const program::Program& program);
/// Of the programs of all chips, and of how they belong together.
[[nodiscard]] std::string program_digest(const program::SystemProgram& system);

/// The digest of every tile's cycles by kind, tile by tile: five 64-bit little-endian numbers each,
/// and of several chips six.
[[nodiscard]] std::string tile_cycles_digest(std::span<const listeners::Account* const> chips);

} // namespace tessera::result
