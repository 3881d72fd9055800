// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "models/program/remote_sizes.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using program::RemoteBuffer;

namespace {

using Place = RemoteBuffer::Place;
constexpr Bytes kCapacity = 1000;

RemoteBuffer buffer(std::int64_t rows, Bytes row_bytes, Place place = Place::StreamingMemory) {
    RemoteBuffer made;
    made.name = "b";
    made.place = place;
    made.rows = rows;
    made.row_bytes = row_bytes;
    return made;
}

/// The sizes with blanks between them, or why there are none.
std::string sizes_of(const std::vector<RemoteBuffer>& buffers, Bytes capacity = kCapacity) {
    std::string text;
    try {
        for (const Bytes size : program::remote_sizes(buffers, capacity, "m")) {
            text += (text.empty() ? "" : " ") + std::to_string(size);
        }
    } catch (const DoesNotFit& error) {
        return std::string("does not fit: ") + error.what();
    } catch (const ProgramError& error) {
        return error.what();
    }
    return text;
}

} // namespace

TEST_CASE("remote buffers have whole words and at least one row", "[unit][program]") {
    CHECK(sizes_of({}).empty());
    CHECK(sizes_of({buffer(1, 4), buffer(3, 8)}) == "4 24");
    constexpr Bytes kLongest = Bytes{1} << 50;
    for (const auto place : {Place::StreamingMemory, Place::Host}) {
        for (const auto& [rows, bytes] : std::vector<std::pair<std::int64_t, Bytes>>{
                 {0, 4}, {-1, 4}, {1, 0}, {1, -4}, {1, 2}, {1, 3}, {1, 5}, {1, 6}, {2, 10}}) {
            CHECK(sizes_of({buffer(rows, bytes, place)}) ==
                  fmt::format("remote buffer b: got {} rows of {} bytes, expected at least one of "
                              "whole words, {} bytes at most",
                              rows, bytes, kLongest));
        }
    }
}

TEST_CASE("buffers of streaming memory fill it together, those of the host do not",
          "[unit][program]") {
    CHECK(sizes_of({buffer(250, 4)}) == "1000");
    CHECK(sizes_of({buffer(125, 4), buffer(125, 4)}) == "500 500");
    CHECK(sizes_of({buffer(249, 4), buffer(400, 4, Place::Host), buffer(1, 4)}) == "996 1600 4");
    CHECK(sizes_of({buffer(251, 4)}) ==
          "does not fit: remote buffer b: got 251 rows of 4 B beside 0 B of other buffers, "
          "expected at most 1000 B in all (streaming.capacity_bytes of machine 'm')");
    CHECK(sizes_of({buffer(249, 4), buffer(2, 4)}) ==
          "does not fit: remote buffer b: got 2 rows of 4 B beside 996 B of other buffers, "
          "expected at most 1000 B in all (streaming.capacity_bytes of machine 'm')");
}

TEST_CASE("a remote buffer has a most of bytes wherever it is", "[unit][program]") {
    constexpr std::int64_t kMost = std::int64_t{1} << 48; // rows of 4 bytes
    CHECK(sizes_of({buffer(kMost, 4, Place::Host)}) == std::to_string(4 * kMost));
    CHECK(sizes_of({buffer(kMost + 1, 4, Place::Host)}).find("expected at least one of") !=
          std::string::npos);
    CHECK(sizes_of({buffer(kMost + 1, 4)}, 8 * kMost).find("expected at least one of") !=
          std::string::npos);
}
