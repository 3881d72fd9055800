// SPDX-License-Identifier: MIT
// Workloads that move bytes over the chip's links, to streaming memory and to the host.
#pragma once

#include "kernels/workload/compute_workloads.h"
#include "kernels/workload/mistake.h"
#include "kernels/workload/shared_keys.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::workload {

/// Copies, or rounds of copies, that a program lists one by one.
constexpr std::int64_t kMostCopies = 1'000'000;

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
        } else if (rows / chunk_rows > kMostCopies) {
            found.push_back(
                {"chunk_rows", "got " + std::to_string(chunk_rows) + " rows, which make " +
                                   std::to_string(rows / chunk_rows) +
                                   " copies, expected at most " + std::to_string(kMostCopies)});
        } else if (repeats > kMostRounds / (rows / chunk_rows)) {
            found.push_back({"repeats", "got " + std::to_string(repeats) + " times " +
                                            std::to_string(rows / chunk_rows) +
                                            " copies, expected at most " +
                                            std::to_string(kMostRounds) + " copies in all"});
        }
        return found;
    }

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/workloads.md";
        describe_kind(d, "remote_buffer", kSource);
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
        describe_tiles<RemoteBufferWorkload>(d, kSource, "over which a chunk is spread, 0 for all");
        describe_repeats<RemoteBufferWorkload>(d, kSource, "all rows, so often");
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
        describe_kind(d, "host_transfer", kSource);
        d.field("direction", &HostTransferWorkload::direction,
                {{"read", StreamDirection::Read}, {"write", StreamDirection::Write}})
            .says("into the tiles, or out of them")
            .from(kSource);
        describe_tiles<HostTransferWorkload>(d, kSource);
        d.field("bytes", &HostTransferWorkload::bytes)
            .unit("B")
            .range(4, 1 << 20)
            .says("of each tile, a multiple of 4")
            .from(kSource);
        describe_repeats<HostTransferWorkload>(d, kSource);
    }
};

/// a = b + s c over arrays in streaming memory, streamed beside the computation.
struct StreamedTriadWorkload {
    std::int64_t elements = 0;
    ElementType dtype = ElementType::F32;
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
        describe_kind(d, "streamed_triad", kSource);
        d.field("elements", &StreamedTriadWorkload::elements)
            .unit("elements")
            .range(1, 1'000'000'000)
            .required()
            .says("of each array; filled up to whole rounds")
            .from(kSource);
        describe_dtype<StreamedTriadWorkload>(d, kSource);
        d.field("io_tiles", &StreamedTriadWorkload::io_tiles)
            .unit("tiles")
            .range(1, kMostTiles)
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
        describe_repeats<StreamedTriadWorkload>(d, kSource, "that a round is computed");
    }
};

} // namespace tessera::workload
