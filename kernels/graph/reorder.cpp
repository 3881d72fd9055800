// SPDX-License-Identifier: MIT
#include "kernels/graph/reorder.h"

#include "base/error.h"

#include <algorithm>
#include <utility>

namespace tessera::graph {
namespace {

using program::PieceDim;

/// Elements of one value of each digit.
std::vector<std::int64_t> spans_of(std::span<const std::int64_t> sizes) {
    std::vector<std::int64_t> spans(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;) {
        spans[i - 1] = spans[i] * sizes[i];
    }
    return spans;
}

/// Splits pieces where a loop carries from one digit into the next.
class Splitter {
public:
    /// `spans`: of each digit, the last of which is 1.
    explicit Splitter(std::span<const std::int64_t> spans) : spans_(spans) {}

    void add(Piece piece) {
        if (std::any_of(piece.dims.begin(), piece.dims.end(),
                        [](const PieceDim& dim) { return dim.count < 1; })) {
            return;
        }
        for (const std::int64_t span : spans_.first(spans_.size() - 1)) {
            std::int64_t inside = piece.host_offset % span;
            PieceDim* widest = nullptr; // of those that go on inside of a value
            for (PieceDim& dim : piece.dims) {
                if (dim.count == 1 || dim.host_stride % span == 0) {
                    continue;
                }
                inside += (dim.count - 1) * dim.host_stride;
                if (widest == nullptr || dim.host_stride > widest->host_stride) {
                    widest = &dim;
                }
            }
            if (inside >= span) {
                split(std::move(piece), *widest, span);
                return;
            }
        }
        made_.push_back(std::move(piece));
    }
    [[nodiscard]] std::vector<Piece> take() && { return std::move(made_); }

private:
    /// Whole values of a run of elements are one loop more; else the loop ends where its value does.
    void split(Piece piece, PieceDim& dim, std::int64_t span) {
        const std::int64_t inside = piece.host_offset % span;
        if (dim.host_stride < span && inside < dim.host_stride && span % dim.host_stride == 0) {
            const std::int64_t in_value = span / dim.host_stride;
            const std::int64_t values = dim.count / in_value;
            if (dim.count > in_value) {
                const PieceDim whole{values, span, in_value * dim.tile_stride};
                Piece rest = part(piece, dim, values * in_value, dim.count - values * in_value);
                dim.count = in_value;
                piece.dims.insert(piece.dims.begin(), whole);
                add(std::move(piece));
                add(std::move(rest));
                return;
            }
        }
        const std::int64_t first = std::min(
            dim.count - 1,
            std::max<std::int64_t>(1, (span - inside + dim.host_stride - 1) / dim.host_stride));
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

    std::span<const std::int64_t> spans_;
    std::vector<Piece> made_;
};

/// Numbers of the piece's elements changed by `now`, which is linear where no digit carries.
template <class Now> void renumber(Piece& piece, const Now& now) {
    piece.host_offset = now(piece.host_offset);
    for (PieceDim& dim : piece.dims) {
        dim.host_stride = now(dim.host_stride);
    }
}

/// The parts of a piece in which digit `digit` is `value`, which no loop carries into or out of.
void add_selected(Piece piece, std::int64_t span, std::int64_t size, std::int64_t value,
                  std::vector<Piece>& made) {
    const auto over_values = std::ranges::find_if(piece.dims, [&](const PieceDim& dim) {
        return dim.count > 1 && dim.host_stride / span % size != 0;
    });
    if (over_values == piece.dims.end()) {
        if (piece.host_offset / span % size == value) {
            renumber(piece,
                     [&](std::int64_t host) { return host / (span * size) * span + host % span; });
            made.push_back(std::move(piece));
        }
        return;
    }
    const PieceDim dim = *over_values;
    piece.dims.erase(over_values);
    for (std::int64_t i = 0; i < dim.count; ++i) {
        Piece one = piece;
        one.host_offset += i * dim.host_stride;
        one.place = one.place + i * dim.tile_stride;
        add_selected(std::move(one), span, size, value, made);
    }
}

} // namespace

std::vector<Piece> without_carries(const Piece& piece, std::span<const std::int64_t> sizes) {
    TESSERA_ASSERT(!sizes.empty());
    const auto spans = spans_of(sizes);
    Splitter splitter(spans);
    splitter.add(piece);
    return std::move(splitter).take();
}

std::vector<Piece> reordered(const Piece& piece, std::span<const std::int64_t> sizes,
                             std::span<const std::size_t> order) {
    TESSERA_ASSERT(order.size() == sizes.size());
    const auto spans = spans_of(sizes);
    std::vector<std::int64_t> span_now(sizes.size()); // of the former digits
    std::int64_t elements = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        span_now[order[i]] = elements;
        elements *= sizes[order[i]];
    }
    std::vector<Piece> made = without_carries(piece, sizes);
    for (Piece& part : made) {
        renumber(part, [&](std::int64_t host) {
            std::int64_t now = 0;
            for (std::size_t i = 0; i < sizes.size(); ++i) {
                const std::int64_t digit =
                    i == 0 ? host / spans[i] : host / spans[i] % sizes[i]; // the first has no end
                now += digit * span_now[i];
            }
            return now;
        });
    }
    return made;
}

std::vector<Piece> selected(const Piece& piece, std::span<const std::int64_t> sizes,
                            std::size_t digit, std::int64_t value) {
    const std::int64_t span = spans_of(sizes)[digit];
    std::vector<Piece> made;
    for (Piece& part : without_carries(piece, sizes)) {
        add_selected(std::move(part), span, sizes[digit], value, made);
    }
    return made;
}

std::vector<Piece> inserted(const Piece& piece, std::span<const std::int64_t> sizes,
                            std::size_t digit, std::int64_t value) {
    const std::int64_t span = spans_of(sizes)[digit];
    std::vector<std::int64_t> without(sizes.begin(), sizes.end());
    without[digit] = 1;
    std::vector<Piece> made = without_carries(piece, without);
    for (Piece& part : made) {
        renumber(part, [&](std::int64_t host) {
            return host / span * (span * sizes[digit]) + host % span;
        });
        part.host_offset += value * span;
    }
    return made;
}

} // namespace tessera::graph
