// SPDX-License-Identifier: MIT
// A dense matrix beside a sparse one with a pattern of the run: block rows or block columns of W are
// lines of it, and a tile needs those of its part with the columns of its z.
//
//     columns of W   X, and the gradient of X    tiles of the same y and z share lines
//     rows of W      W X, and its gradient       tiles of the same x and z share lines
//
// A tile has its lines as [line][column][block]. In memory between steps, tiles that share lines
// have a run of them each.
#pragma once

#include "base/range.h"
#include "kernels/dynamic/layout.h"
#include "kernels/graph/cells.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/graph.h"

#include <cstdint>

namespace tessera::dynamic {

class Lines {
public:
    enum class Of : std::uint8_t { Columns, Rows };

    /// `size`: rows of the dense matrix; `n`: columns of it. `run_unit`: elements that a run has a whole
    /// number of, beside blocks and words of 8 bytes.
    Lines(const Layout& layout, Of of, std::int64_t size, std::int64_t n, ElementType type,
          std::int64_t run_unit);

    [[nodiscard]] std::int64_t parts() const { return is_columns() ? split_.y : split_.x; }
    /// Tiles that share the lines of a part, of one z.
    [[nodiscard]] std::int64_t sharers() const { return is_columns() ? split_.x : split_.y; }
    [[nodiscard]] TileId tile(std::int64_t part, std::int64_t sharer, std::int64_t z) const {
        return static_cast<TileId>(is_columns() ? layout_.bucket_of(sharer, part, z)
                                                : layout_.bucket_of(part, sharer, z));
    }
    /// Elements of a tile's lines, and what they take, whole units.
    [[nodiscard]] std::int64_t elements() const { return lines() * layout_.n * layout_.block; }
    [[nodiscard]] std::int64_t whole_elements() const;
    [[nodiscard]] Bytes bytes() const { return elements() * bytes_of(type_); }
    [[nodiscard]] Bytes whole_bytes() const { return whole_elements() * bytes_of(type_); }
    /// Whether a tile's lines go beyond the matrix.
    [[nodiscard]] bool pads() const;
    /// Elements of a tile's lines that one of the sharers has.
    [[nodiscard]] Range run_of(std::int64_t sharer) const;

    /// The matrix, row-major, whose runs stand at `place`.
    [[nodiscard]] graph::Tensor tensor(const char* name, bool is_given, graph::Place place) const;
    /// Each tile gets the lines of its part in `to`, from runs in `home`, which gets its room. Both of
    /// a pair take them together, but for what one of them holds.
    void bring(graph::Bringing& bringing, graph::BufferId home, graph::BufferId to) const;

private:
    [[nodiscard]] bool is_columns() const { return of_ == Of::Columns; }
    [[nodiscard]] std::int64_t lines() const {
        return is_columns() ? layout_.part_columns : layout_.part_rows;
    }
    [[nodiscard]] graph::CellGrid cells(std::int64_t part, std::int64_t z) const;

    const Layout& layout_;
    Split split_;
    Of of_;
    std::int64_t size_;
    std::int64_t n_;
    ElementType type_;
    std::int64_t grain_; ///< elements
};

} // namespace tessera::dynamic
