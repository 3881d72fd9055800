// SPDX-License-Identifier: MIT
#include "kernels/transpose/transpose.h"

#include "kernels/family/matrix_input.h"
#include "kernels/graph/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>

namespace tessera::transpose {
namespace {

using graph::Piece;
using program::PieceDim;

std::vector<ElementType> all_types() {
    std::vector<ElementType> types;
    std::transform(kElementTypes.begin(), kElementTypes.end(), std::back_inserter(types),
                   [](const ElementFacts& facts) { return facts.type; });
    return types;
}

/// Turns a piece, in parts where one of its loops goes on from a row into the next.
class Turner {
public:
    Turner(std::int64_t m, std::int64_t n) : m_(m), n_(n) {}

    void add(Piece piece) {
        if (std::any_of(piece.dims.begin(), piece.dims.end(),
                        [](const PieceDim& dim) { return dim.count < 1; })) {
            return;
        }
        std::int64_t column = piece.host_offset % n_;
        PieceDim* widest = nullptr; // of those that go along a row
        for (PieceDim& dim : piece.dims) {
            if (dim.count == 1 || dim.host_stride % n_ == 0) {
                continue;
            }
            column += (dim.count - 1) * dim.host_stride;
            if (widest == nullptr || dim.host_stride > widest->host_stride) {
                widest = &dim;
            }
        }
        if (column < n_) {
            turn(std::move(piece));
        } else {
            split(std::move(piece), *widest);
        }
    }
    [[nodiscard]] std::vector<Piece> take() && { return std::move(made_); }

private:
    /// All of its loops go along a row or from row to row.
    void turn(Piece piece) {
        const auto now = [&](std::int64_t host) { return host % n_ * m_ + host / n_; };
        piece.host_offset = now(piece.host_offset);
        for (PieceDim& dim : piece.dims) {
            dim.host_stride = now(dim.host_stride);
        }
        made_.push_back(std::move(piece));
    }

    /// Whole rows of a run of elements are one loop more; else the loop ends where its row does.
    void split(Piece piece, PieceDim& dim) {
        const std::int64_t column = piece.host_offset % n_;
        if (dim.host_stride < n_ && column < dim.host_stride && n_ % dim.host_stride == 0) {
            const std::int64_t in_row = n_ / dim.host_stride;
            const std::int64_t rows = dim.count / in_row;
            if (dim.count > in_row) {
                const PieceDim whole{rows, n_, in_row * dim.tile_stride};
                Piece rest = part(piece, dim, rows * in_row, dim.count - rows * in_row);
                dim.count = in_row;
                piece.dims.insert(piece.dims.begin(), whole);
                add(std::move(piece));
                add(std::move(rest));
                return;
            }
        }
        const std::int64_t first =
            std::min(dim.count - 1, std::max<std::int64_t>(1, (n_ - column + dim.host_stride - 1) /
                                                                  dim.host_stride));
        Piece rest = part(piece, dim, first, dim.count - first);
        dim.count = first;
        add(std::move(piece));
        add(std::move(rest));
    }
    /// Rounds [first, first + count) of one of the piece's loops.
    static Piece part(const Piece& piece, const PieceDim& dim, std::int64_t first,
                      std::int64_t count) {
        Piece made = piece;
        made.dims[static_cast<std::size_t>(&dim - piece.dims.data())].count = count;
        made.host_offset += first * dim.host_stride;
        made.place = made.place + first * dim.tile_stride;
        return made;
    }

    std::int64_t m_;
    std::int64_t n_;
    std::vector<Piece> made_;
};

class TransposeStep : public family::Step {
public:
    explicit TransposeStep(const family::Request& request)
        : x_(family::matrix_input(request, all_types())) {}

    [[nodiscard]] family::TensorType output() const override {
        return {x_.type, {x_.shape[1], x_.shape[0]}};
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const graph::TensorId x =
            where.front()
                ? *where.front()
                : graph::add_rows(graph,
                                  {.name = site.owner + ": x", .type = x_.type, .shape = x_.shape},
                                  {site.first_tile, site.machine.chip.tiles})
                      .tensor;
        graph::Tensor y{.name = site.owner + ": y", .type = x_.type, .shape = output().shape};
        for (const Piece& piece : graph.tensors.at(x.index).pieces) {
            auto pieces = turned(piece, x_.shape[0], x_.shape[1]);
            std::move(pieces.begin(), pieces.end(), std::back_inserter(y.pieces));
        }
        return {{x}, graph.add_tensor(std::move(y)), graph::sequence({})};
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        const family::Value& output,
                                        int /*threads*/) const override {
        const std::int64_t m = x_.shape[0];
        const std::int64_t n = x_.shape[1];
        const auto bytes = static_cast<std::size_t>(bytes_of(x_.type));
        family::Checked checked;
        checked.elements = m * n;
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                const auto from = static_cast<std::size_t>(i * n + j) * bytes;
                const auto to = static_cast<std::size_t>(j * m + i) * bytes;
                checked.failed_elements += std::memcmp(inputs.front()->bytes.data() + from,
                                                       output.bytes.data() + to, bytes) != 0;
            }
        }
        checked.passed = checked.failed_elements == 0;
        checked.sentence = checked.passed ? fmt::format("all {} elements are the same", m * n)
                                          : fmt::format("WRONG: {} of {} elements differ",
                                                        checked.failed_elements, m * n);
        return checked;
    }

    [[nodiscard]] double flops() const override { return 0; }

private:
    family::TensorType x_;
};

} // namespace

std::vector<Piece> turned(const Piece& piece, std::int64_t m, std::int64_t n) {
    Turner turner(m, n);
    turner.add(piece);
    return std::move(turner).take();
}

const family::Family& family() {
    static const family::Family transpose{
        "transpose",
        "y = x with rows and columns exchanged, where x stands",
        {"x"},
        {},
        [](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<TransposeStep>(request);
        },
        true};
    return transpose;
}

} // namespace tessera::transpose
