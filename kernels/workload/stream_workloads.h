// SPDX-License-Identifier: MIT
// Workloads that move bytes over the chip's links, to streaming memory and to the host.
#pragma once

#include "kernels/workload/compute_workloads.h"
#include "kernels/workload/mistake.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::workload {

enum class StreamDirection { Read, Write }; ///< read: into tiles

/// A rule that fields of bytes share.
[[nodiscard]] inline std::vector<Mistake> whole_words(const char* key, std::int64_t bytes) {
    if (bytes % 4 == 0) {
        return {};
    }
    return {{key, "got " + std::to_string(bytes) + " B, expected a multiple of 4 B"}};
}

/// All rows of a buffer in streaming memory, one chunk after the other.
struct RemoteBufferWorkload {
    StreamDirection direction = StreamDirection::Read;
    std::int64_t rows = 0;
    std::int64_t row_bytes = 0;
    std::int64_t chunk_rows = 1;
    std::int64_t tiles = 0; ///< 0: all
    std::int64_t repeats = 1;

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        std::vector<Mistake> found = whole_words("row_bytes", row_bytes);
        if (rows % chunk_rows != 0) {
            found.push_back({"chunk_rows", "got " + std::to_string(chunk_rows) +
                                               " rows, expected a divisor of the " +
                                               std::to_string(rows) + " rows"});
        }
        return found;
    }

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/workloads.md";
        d.fixed("schema_version", 1).required().says("version of this file's format").from(kSource);
        d.fixed("kind", "remote_buffer").required().says("what is done").from(kSource);
        d.field("direction", &RemoteBufferWorkload::direction,
                {{"read", StreamDirection::Read}, {"write", StreamDirection::Write}})
            .says("into the tiles, or out of them")
            .from(kSource);
        d.field("rows", &RemoteBufferWorkload::rows)
            .unit("rows")
            .range(1, 100'000'000)
            .required()
            .says("of the buffer")
            .from(kSource);
        d.field("row_bytes", &RemoteBufferWorkload::row_bytes)
            .unit("B")
            .range(4, std::int64_t{1} << 32)
            .required()
            .says("of one row, a multiple of 4")
            .from(kSource);
        d.field("chunk_rows", &RemoteBufferWorkload::chunk_rows)
            .unit("rows")
            .range(1, 100'000'000)
            .says("that one copy moves")
            .from(kSource);
        d.field("tiles", &RemoteBufferWorkload::tiles)
            .unit("tiles")
            .range(1, 16384)
            .zero_if_absent("all of them")
            .says("over which a chunk is spread")
            .from(kSource);
        d.field("repeats", &RemoteBufferWorkload::repeats)
            .unit("times")
            .range(1, 1'000'000)
            .says("all rows, so often")
            .from(kSource);
    }
};

/// The same bytes to each of some tiles' memories, or back.
struct HostTransferWorkload {
    StreamDirection direction = StreamDirection::Read;
    std::int64_t tiles = 0; ///< 0: all
    std::int64_t bytes = 4;
    std::int64_t repeats = 1;

    [[nodiscard]] std::vector<Mistake> mistakes() const { return whole_words("bytes", bytes); }

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/workloads.md";
        d.fixed("schema_version", 1).required().says("version of this file's format").from(kSource);
        d.fixed("kind", "host_transfer").required().says("what is done").from(kSource);
        d.field("direction", &HostTransferWorkload::direction,
                {{"read", StreamDirection::Read}, {"write", StreamDirection::Write}})
            .says("into the tiles, or out of them")
            .from(kSource);
        d.field("tiles", &HostTransferWorkload::tiles)
            .unit("tiles")
            .range(1, 16384)
            .zero_if_absent("all of them")
            .says("that take part")
            .from(kSource);
        d.field("bytes", &HostTransferWorkload::bytes)
            .unit("B")
            .range(4, 1 << 20)
            .says("of each tile, a multiple of 4")
            .from(kSource);
        d.field("repeats", &HostTransferWorkload::repeats)
            .unit("times")
            .range(1, 1'000'000)
            .says("how often")
            .from(kSource);
    }
};

/// a = b + s c over arrays in streaming memory, streamed beside the computation.
struct StreamedTriadWorkload {
    std::int64_t elements = 0;
    StreamType dtype = StreamType::F32;
    std::int64_t io_tiles = 1;
    std::int64_t prefetch = 2;
    std::int64_t chunk_elements = 1024;
    std::int64_t repeats = 1;

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        if (chunk_elements % 4 == 0) {
            return {};
        }
        return {{"chunk_elements",
                 "got " + std::to_string(chunk_elements) + " elements, expected a multiple of 4"}};
    }

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/workloads.md";
        d.fixed("schema_version", 1).required().says("version of this file's format").from(kSource);
        d.fixed("kind", "streamed_triad").required().says("what is done").from(kSource);
        d.field("elements", &StreamedTriadWorkload::elements)
            .unit("elements")
            .range(1, 1'000'000'000)
            .required()
            .says("of each array; filled up to whole rounds")
            .from(kSource);
        d.field("dtype", &StreamedTriadWorkload::dtype,
                {{"f16", StreamType::F16}, {"f32", StreamType::F32}})
            .says("type of the elements")
            .from(kSource);
        d.field("io_tiles", &StreamedTriadWorkload::io_tiles)
            .unit("tiles")
            .range(1, 16383)
            .says("that stream, the last ones of the chip; the others compute")
            .from(kSource);
        d.field("prefetch", &StreamedTriadWorkload::prefetch)
            .unit("row buffers")
            .range(0, 64)
            .says("of each array on the IO tiles; 0: no copy beside the computation")
            .from(kSource);
        d.field("chunk_elements", &StreamedTriadWorkload::chunk_elements)
            .unit("elements")
            .range(4, 131072)
            .says("of each array on one computing tile in one round, a multiple of 4")
            .from(kSource);
        d.field("repeats", &StreamedTriadWorkload::repeats)
            .unit("times")
            .range(1, 1'000'000)
            .says("that a round is computed")
            .from(kSource);
    }
};

} // namespace tessera::workload
