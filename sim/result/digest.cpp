// SPDX-License-Identifier: MIT
#include "sim/result/digest.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <bit>

namespace tessera::result {

static_assert(std::endian::native == std::endian::little, "digests are of little-endian bytes");

void Digest::add(std::span<const std::byte> bytes) {
    crc_ = crc32_z(crc_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

void Digest::add(const std::string& text) {
    add(std::as_bytes(std::span(text)));
}

std::string Digest::text() const {
    return fmt::format("{:08x}", crc_);
}

std::string tile_cycles_digest(const listeners::Account& account) {
    Digest digest;
    for (const listeners::CyclesByKind& tile : account.tiles()) {
        const std::array<Cycles, 5> kinds{tile.compute, tile.exchange, tile.sync, tile.stream,
                                          tile.idle};
        digest.add(std::as_bytes(std::span(kinds)));
    }
    return digest.text();
}

} // namespace tessera::result
