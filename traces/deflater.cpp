// SPDX-License-Identifier: MIT
#include "traces/deflater.h"

#include "base/error.h"

#include <array>
#include <cstddef>
#include <utility>

namespace tessera::traces {

Deflater::Deflater(Envelope envelope) {
    constexpr int kWindowBits = 15;
    constexpr int kOfGzip = 16;
    constexpr int kMemoryLevel = 8;
    TESSERA_ASSERT(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                kWindowBits + (envelope == Envelope::Gzip ? kOfGzip : 0),
                                kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK);
}

Deflater::~Deflater() {
    deflateEnd(&stream_);
}

void Deflater::put(std::string_view bytes) {
    constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U; // zlib counts in unsigned
    while (!bytes.empty()) {
        const std::string_view part = bytes.substr(0, kMostAtOnce);
        stream_.next_in =
            const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(part.data()));
        stream_.avail_in = static_cast<uInt>(part.size());
        go_on(Z_NO_FLUSH);
        bytes.remove_prefix(part.size());
    }
}

std::string Deflater::finish() {
    go_on(Z_FINISH);
    return std::move(packed_);
}

void Deflater::go_on(int flush) {
    std::array<unsigned char, std::size_t{1} << 16U> part{};
    do {
        stream_.next_out = part.data();
        stream_.avail_out = static_cast<uInt>(part.size());
        TESSERA_ASSERT(deflate(&stream_, flush) != Z_STREAM_ERROR);
        packed_.append(reinterpret_cast<const char*>(part.data()), part.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
}

std::string deflated(std::string_view text, Deflater::Envelope envelope) {
    Deflater deflater(envelope);
    deflater.put(text);
    return deflater.finish();
}

} // namespace tessera::traces
