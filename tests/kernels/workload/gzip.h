// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <zlib.h>

#include <string>

namespace tessera::test {

/// Packed as gzip packs.
inline std::string gzip_of(const std::string& text) {
    constexpr int kWindow = 15 + 16;
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, kWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string packed(deflateBound(&stream, text.size()), '\0');
    std::string copy = text;
    stream.next_in = reinterpret_cast<Bytef*>(copy.data());
    stream.avail_in = static_cast<uInt>(copy.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

} // namespace tessera::test
