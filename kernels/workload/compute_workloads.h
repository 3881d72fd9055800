// SPDX-License-Identifier: MIT
// Micro-workloads that access much memory and compute little: streams, sums, stencils.
#pragma once

#include "kernels/workload/mistake.h"
#include "kernels/workload/shared_keys.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::workload {

enum class StreamOp {
    Copy,  ///< c = a
    Scale, ///< c = s * a
    Add,   ///< c = a + b
    Triad, ///< c = a + s * b
    Read   ///< sums of a
};
enum class StreamCodelet {
    Paced,  ///< one bundle per 8-byte word, with up to two loads, a store and the arithmetic
    Vector, ///< one bundle for each 8-byte load and each 8-byte store
    Vendor, ///< a triad is two element-wise operations, each a vector loop
    Naive   ///< the code that a compiler generates for a loop over single elements
};

/// The STREAM benchmark on arrays in tile memory, which are spread evenly over the tiles.
struct MemoryStreamWorkload {
    StreamOp op = StreamOp::Triad;
    ElementType dtype = ElementType::F32;
    StreamCodelet codelet = StreamCodelet::Paced;
    std::int64_t elements = 0; ///< elements of each array, over all tiles
    std::int64_t tiles = 0;    ///< 0: all
    std::int64_t repeats = 1;

    /// Returns the number of elements in 16 bytes, the unit in which tiles get their shares.
    [[nodiscard]] std::int64_t unit_elements() const { return 16 / bytes_of(dtype); }

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        std::vector<Mistake> found;
        if (elements % unit_elements() != 0) {
            found.push_back({"elements", "got " + std::to_string(elements) +
                                             " elements, expected a multiple of " +
                                             std::to_string(unit_elements()) + " (16 B)"});
        }
        if (op == StreamOp::Read && dtype == ElementType::F16) {
            found.push_back({"dtype", "got f16, expected f32 for op read"});
        }
        if (op == StreamOp::Read && codelet == StreamCodelet::Vendor) {
            found.push_back({"codelet", "got vendor, expected paced, vector or naive for op read"});
        }
        return found;
    }

    template <class Description> static void describe(Description& d) {
        using W = MemoryStreamWorkload;
        constexpr const char* kSource = "docs/workloads.md#memory_stream";
        describe_kind(d, "memory_stream", kSource);
        d.field("op", &W::op,
                {{"copy", StreamOp::Copy},
                 {"scale", StreamOp::Scale},
                 {"add", StreamOp::Add},
                 {"triad", StreamOp::Triad},
                 {"read", StreamOp::Read}})
            .required()
            .says("c = a, c = s a, c = a + b, c = a + s b, or sums of a")
            .from(kSource);
        d.field("elements", &W::elements)
            .unit("elements")
            .range(4, 1'000'000'000)
            .required()
            .says("elements of an array, over all tiles; a multiple of 16 bytes")
            .from(kSource);
        describe_dtype<W>(d, kSource);
        d.field("codelet", &W::codelet,
                {{"paced", StreamCodelet::Paced},
                 {"vector", StreamCodelet::Vector},
                 {"vendor", StreamCodelet::Vendor},
                 {"naive", StreamCodelet::Naive}})
            .says("how the loop is written")
            .from(kSource);
        describe_tiles<W>(d, kSource);
        describe_repeats<W>(d, kSource);
    }
};

/// FP32 sums of operands that are stored on many tiles.
struct ReductionWorkload {
    std::int64_t tiles = 0;    ///< 0: all
    std::int64_t operands = 0; ///< on each tile
    std::int64_t outputs = 1;  ///< 1: one sum; 0 or the number of tiles: a sum for each tile
    std::int64_t stages = 0;   ///< exchanges to form the one sum, 1 or 2; 0: the faster choice
    std::int64_t repeats = 1;

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        return tiles == 0 ? std::vector<Mistake>{} : mistakes_on(tiles);
    }
    /// Returns the errors in this workload if `used_tiles` tiles have operands.
    [[nodiscard]] std::vector<Mistake> mistakes_on(std::int64_t used_tiles) const {
        if (outputs == 0 || outputs == 1 || outputs == used_tiles) {
            return {};
        }
        return {{"outputs", "got " + std::to_string(outputs) +
                                " outputs, expected 1 for one sum, or 0 or " +
                                std::to_string(used_tiles) + " for one of each tile"}};
    }

    template <class Description> static void describe(Description& d) {
        using W = ReductionWorkload;
        constexpr const char* kSource = "docs/workloads.md#reduction";
        describe_kind(d, "reduction", kSource);
        d.field("operands", &W::operands)
            .unit("elements")
            .range(1, 1'000'000)
            .required()
            .says("FP32 operands on each tile")
            .from(kSource);
        describe_tiles<W>(d, kSource, "tiles with operands, 0 for all");
        d.field("outputs", &W::outputs)
            .unit("elements")
            .range(0, 1'000'000)
            .says("1: one sum of all; 0, or as many as tiles: each tile its own")
            .from(kSource);
        d.field("stages", &W::stages)
            .unit("exchanges")
            .range(0, 2)
            .says("exchanges on the way to the one sum; 0: what takes fewer cycles")
            .from(kSource);
        describe_repeats<W>(d, kSource);
    }
};

/// The type of the channels, and how many of them the loop processes at once.
enum class StencilType {
    Half4,  ///< a pixel's four channels as FP16, in one vector
    Float2, ///< a pixel's four channels as FP32, in two vectors
    Float   ///< FP32, one channel at a time
};

/// A repeated 3 x 3 Gaussian blur of an image with four channels. Pixels outside it are zero.
struct StencilWorkload {
    std::int64_t width = 0;
    std::int64_t height = 0;
    StencilType dtype = StencilType::Half4;
    std::int64_t iterations = 1;
    std::int64_t grid_columns = 0; ///< tiles along the width; 0: chosen for the smallest parts
    std::int64_t grid_rows = 0;    ///< tiles along the height; 0: chosen likewise

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        if ((grid_columns == 0) == (grid_rows == 0)) {
            return {};
        }
        return {{grid_columns == 0 ? "grid_columns" : "grid_rows",
                 "got 0, expected both sides of the grid of tiles or neither"}};
    }

    template <class Description> static void describe(Description& d) {
        using W = StencilWorkload;
        constexpr const char* kSource = "docs/workloads.md#stencil";
        describe_kind(d, "stencil", kSource);
        d.field("width", &W::width)
            .unit("pixels")
            .range(1, 100'000)
            .required()
            .says("columns of the image")
            .from(kSource);
        d.field("height", &W::height)
            .unit("pixels")
            .range(1, 100'000)
            .required()
            .says("rows of the image")
            .from(kSource);
        d.field("dtype", &W::dtype,
                {{"half4", StencilType::Half4},
                 {"float2", StencilType::Float2},
                 {"float", StencilType::Float}})
            .says("type of the four channels and width of the loop over them")
            .from(kSource);
        d.field("iterations", &W::iterations)
            .unit("times")
            .range(1, 1'000'000)
            .says("how often the image is blurred")
            .from(kSource);
        d.field("grid_columns", &W::grid_columns)
            .unit("tiles")
            .range(0, 100'000)
            .says("tiles along the width, 0: chosen")
            .from(kSource);
        d.field("grid_rows", &W::grid_rows)
            .unit("tiles")
            .range(0, 100'000)
            .says("tiles along the height, 0: chosen")
            .from(kSource);
    }
};

} // namespace tessera::workload
