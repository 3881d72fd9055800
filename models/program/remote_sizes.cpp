// SPDX-License-Identifier: MIT
#include "models/program/remote_sizes.h"

#include "base/error.h"

#include <fmt/format.h>

namespace tessera::program {
namespace {

/// Longer buffers than any machine has; keeps products of rows and bytes exact.
constexpr Bytes kLongestBuffer = Bytes{1} << 50;

} // namespace

std::vector<Bytes> remote_sizes(const std::vector<RemoteBuffer>& buffers, Bytes capacity,
                                const std::string& machine) {
    std::vector<Bytes> sizes;
    Bytes streaming = 0;
    for (const RemoteBuffer& buffer : buffers) {
        const bool has_rows =
            buffer.rows >= 1 && buffer.row_bytes >= 4 && buffer.row_bytes % 4 == 0;
        const bool streams = buffer.place == RemoteBuffer::Place::StreamingMemory;
        if (has_rows && streams && buffer.rows > (capacity - streaming) / buffer.row_bytes) {
            throw DoesNotFit(fmt::format(
                "remote buffer {}: got {} rows of {} B beside {} B of other buffers, expected at "
                "most {} B in all (streaming.capacity_bytes of machine '{}')",
                buffer.name, buffer.rows, buffer.row_bytes, streaming, capacity, machine));
        }
        if (!has_rows || buffer.rows > kLongestBuffer / buffer.row_bytes) {
            throw ProgramError(fmt::format("remote buffer {}: got {} rows of {} bytes, expected at "
                                           "least one of whole words, {} bytes at most",
                                           buffer.name, buffer.rows, buffer.row_bytes,
                                           kLongestBuffer));
        }
        sizes.push_back(buffer.rows * buffer.row_bytes);
        streaming += streams ? sizes.back() : Bytes{0};
    }
    return sizes;
}

} // namespace tessera::program
