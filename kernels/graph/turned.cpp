// SPDX-License-Identifier: MIT
#include "kernels/graph/turned.h"

#include "kernels/graph/unit_rows.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace tessera::graph {
namespace {

using program::PieceDim;

constexpr std::int64_t kSide = 16;
constexpr std::uint32_t kElement = 2;
constexpr std::uint32_t kRowBytes = kSide * kElement;
constexpr std::uint32_t kSquareBytes = kSide * kRowBytes;
constexpr auto kUnit = static_cast<std::uint32_t>(kUnitBytes);
constexpr RowPattern kOneByOne{kRowBytes, 2 * kRowBytes, 4 * kRowBytes};

/// 16 neighbours along one of the last two dimensions, the first of them a multiple of 16.
struct Line {
    std::int64_t host = 0;
    At at;
};

/// The dimension along which most elements of a tensor stand together: its host stride; 0: neither of the last two.
std::int64_t neighbours_of(const Tensor& tensor) {
    const std::int64_t columns = tensor.shape.back();
    std::int64_t along[2] = {0, 0}; // elements: along rows, along columns
    for (const Piece& piece : tensor.pieces) {
        std::int64_t elements = 1;
        std::int64_t stride = 0;
        for (const PieceDim& dim : piece.dims) {
            elements *= dim.count;
            stride = dim.tile_stride == kElement && dim.count > 1 ? dim.host_stride : stride;
        }
        if (stride == 1 || stride == columns) {
            along[stride == 1 ? 0 : 1] += elements;
        }
    }
    return along[0] == 0 && along[1] == 0 ? 0 : along[0] >= along[1] ? 1 : columns;
}

/// The lines of a tensor.
class Lines {
public:
    Lines(const Tensor& tensor, std::int64_t stride)
        : columns_(tensor.shape.back()), rows_(tensor.shape[tensor.shape.size() - 2]),
          stride_(stride) {
        for (const Piece& piece : tensor.pieces) {
            add(piece);
        }
    }

    /// Number of an element along the dimension of a host stride.
    [[nodiscard]] std::int64_t number(std::int64_t host, std::int64_t stride) const {
        return stride == 1 ? host % columns_ : host / columns_ % rows_;
    }

    std::vector<Line> all;
    bool is_whole = true; ///< the lines are all of the tensor

private:
    void add(const Piece& piece) {
        const auto along = std::ranges::find_if(piece.dims, [&](const PieceDim& dim) {
            return dim.tile_stride == kElement && dim.host_stride == stride_ && dim.count >= kSide;
        });
        if (along == piece.dims.end()) {
            is_whole = false;
            return;
        }
        std::vector<PieceDim> others(piece.dims.begin(), along);
        others.insert(others.end(), along + 1, piece.dims.end());
        add_runs(piece, others, 0, along->count, piece.host_offset, piece.place.offset);
    }
    void add_runs(const Piece& piece, const std::vector<PieceDim>& dims, std::size_t depth,
                  std::int64_t count, std::int64_t host, Bytes offset) {
        if (depth < dims.size()) {
            for (std::int64_t i = 0; i < dims[depth].count; ++i) {
                add_runs(piece, dims, depth + 1, count, host + i * dims[depth].host_stride,
                         offset + i * dims[depth].tile_stride);
            }
            return;
        }
        const std::int64_t length = stride_ == 1 ? columns_ : rows_;
        for (std::int64_t done = 0; done < count;) {
            const std::int64_t number = this->number(host + done * stride_, stride_);
            const bool is_line = number % kSide == 0 && number + kSide <= length &&
                                 done + kSide <= count && (offset + done * kElement) % kUnit == 0;
            const std::int64_t elements =
                is_line ? kSide : std::min(count - done, kSide - number % kSide);
            if (is_line) {
                all.push_back({host + done * stride_,
                               {piece.tile, piece.place.buffer.index,
                                static_cast<std::uint32_t>(offset + done * kElement)}});
            } else {
                is_whole = false;
            }
            done += elements;
        }
    }

    std::int64_t columns_;
    std::int64_t rows_;
    std::int64_t stride_;
};

/// Nothing where the rows are on several tiles or have no pattern.
std::optional<RowPattern> pattern_of(const std::array<At, kSide>& rows) {
    const At& first = rows[0];
    const RowPattern pattern{rows[1].offset - first.offset, rows[2].offset - first.offset,
                             rows[4].offset - first.offset};
    for (std::uint32_t i = 0; i < kSide; ++i) {
        const At expected = first + ((i & 1U) * pattern.one + (i >> 1U & 1U) * pattern.two +
                                     (i >> 2U) * pattern.four);
        if (rows[i] != expected || rows[i].offset < first.offset) {
            return std::nullopt;
        }
    }
    return pattern;
}

/// A row that a tile wants, of the square that begins at `square` of the host's elements.
struct Wanted {
    std::int64_t square = 0;
    std::int64_t row = 0;
    At at;
};

class SquareFinder {
public:
    SquareFinder(Graph& graph, TensorId from, TensorId to, const std::string& name)
        : graph_(graph), from_(graph.tensors.at(from.index)), to_(graph.tensors.at(to.index)),
          name_(name) {}

    std::optional<Turned> run() {
        if (from_.type != ElementType::F16 || to_.shape.size() < 2) {
            return std::nullopt;
        }
        along_from_ = neighbours_of(from_);
        along_to_ = neighbours_of(to_);
        if (along_from_ == along_to_ || along_from_ == 0 || along_to_ == 0) {
            return std::nullopt;
        }
        const Lines to(to_, along_to_);
        if (!to.is_whole) {
            return std::nullopt;
        }
        const Lines from(from_, along_from_);
        for (const Line& line : from.all) {
            from_lines_.emplace(line.host, line.at);
        }
        std::vector<Wanted> wanted;
        for (const Line& line : to.all) {
            made_.covered.push_back({line.at, line.at, kRowBytes});
            const std::int64_t row = to.number(line.host, along_from_) % kSide;
            wanted.push_back({line.host - row * along_from_, row, line.at});
        }
        std::ranges::sort(wanted, {}, [](const Wanted& one) {
            return std::tuple(one.at.tile, one.square, one.row, one.at);
        });
        for (auto first = wanted.begin(); first != wanted.end();) {
            const auto last = std::find_if(first, wanted.end(), [&](const Wanted& one) {
                return one.at.tile != first->at.tile || one.square != first->square;
            });
            if (!add({first, last})) {
                return std::nullopt;
            }
            first = last;
        }
        if (found_.empty()) {
            return std::nullopt;
        }
        made_.arrives = {.name = to_.name, .type = to_.type, .shape = to_.shape};
        place();
        return std::move(made_);
    }

private:
    /// A square that a tile wants.
    struct Found {
        std::span<const Wanted> wanted;
        std::array<At, kSide> from;
    };

    /// Rows of one square that one tile wants; false where `from` does not have it in lines.
    bool add(std::span<const Wanted> wanted) {
        std::array<At, kSide> rows;
        for (std::int64_t i = 0; i < kSide; ++i) {
            const auto line = from_lines_.find(wanted.front().square + i * along_to_);
            if (line == from_lines_.end()) {
                return false;
            }
            rows[static_cast<std::size_t>(i)] = line->second;
        }
        found_.push_back({wanted, rows});
        return true;
    }

    /// Nothing where the rows of a square are not 512 bytes on one tile, two rows always one behind the other.
    static std::optional<RowPattern> rows_together(const std::array<At, kSide>& rows) {
        const auto found = pattern_of(rows);
        const bool is_compact = found && found->one == kRowBytes &&
                                2 * kRowBytes + found->two + 3 * found->four == kSquareBytes;
        return is_compact ? found : std::nullopt;
    }

    /// In the order in which they stand in `from`, so that neighbours travel together.
    void place() {
        std::ranges::stable_sort(found_, {}, [](const Found& one) {
            return std::tuple(one.wanted.front().at.tile, one.from[0]);
        });
        std::map<TileId, std::pair<std::uint32_t, std::uint32_t>> used;
        std::optional<BufferId> squares;
        std::optional<BufferId> turned;
        for (const Found& found : found_) {
            const TileId tile = found.wanted.front().at.tile;
            auto& [in, out] = used[tile];
            const auto from_rows = rows_together(found.from);
            Square square{found.from[0], from_rows.value_or(kOneByOne), {}, kOneByOne};
            if (!from_rows || found.from[0].tile != tile) {
                squares = squares ? squares : graph_.add_buffer({.name = name_ + ": squares"});
                square.from = {tile, squares->index, in};
                in += kSquareBytes;
                add_arrival(found.wanted.front().square, square);
            }
            if (const auto to_rows = rows_in_place(found.wanted)) {
                square.to = found.wanted.front().at;
                square.to_rows = *to_rows;
            } else {
                turned = turned ? turned : graph_.add_buffer({.name = name_ + ": turned"});
                square.to = {tile, turned->index, out};
                out += kSquareBytes;
                for (const Wanted& one : found.wanted) {
                    const auto row = static_cast<std::uint32_t>(one.row) * kRowBytes;
                    made_.rows.push_back({square.to + row, one.at, kRowBytes});
                }
            }
            made_.squares.push_back(square);
        }
        for (const auto& [tile, bytes] : used) {
            if (bytes.first > 0) {
                graph_.hold(*squares, tile, bytes.first);
            }
            if (bytes.second > 0) {
                graph_.hold(*turned, tile, bytes.second);
            }
        }
    }
    void add_arrival(std::int64_t host, const Square& square) {
        const auto& [one, two, four] = square.from_rows;
        made_.arrives.pieces.push_back({square.from.tile,
                                        place_of(square.from),
                                        host,
                                        {{kSide / 4, 4 * along_to_, four},
                                         {2, 2 * along_to_, two},
                                         {2, along_to_, one},
                                         {kSide, along_from_, kElement}}});
    }
    static std::optional<RowPattern> rows_in_place(std::span<const Wanted> wanted) {
        std::array<At, kSide> rows;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (wanted.size() != kSide || wanted[i].row != static_cast<std::int64_t>(i)) {
                return std::nullopt;
            }
            rows[i] = wanted[i].at;
        }
        return wanted.size() == kSide ? pattern_of(rows) : std::nullopt;
    }

    Graph& graph_;
    const Tensor& from_;
    const Tensor& to_;
    std::string name_;
    std::int64_t along_from_ = 0; ///< host stride of neighbours
    std::int64_t along_to_ = 0;
    std::unordered_map<std::int64_t, At> from_lines_; ///< by the first element
    std::vector<Found> found_;
    Turned made_;
};

} // namespace

std::optional<SquareTiles> tiles_of_squares(const Tensor& from, std::size_t wanted) {
    if (from.type != ElementType::F16 || from.shape.size() != 2 ||
        from.shape[0] % kSide + from.shape[1] % kSide != 0) {
        return std::nullopt;
    }
    const std::int64_t strides[2] = {from.shape[1], 1};
    const std::int64_t along_wanted = strides[wanted];
    const std::int64_t along = strides[1 - wanted];
    if (neighbours_of(from) != along) {
        return std::nullopt;
    }
    const Lines lines(from, along);
    SquareTiles made{from.shape[wanted] / kSide, {}};
    made.squares.resize(static_cast<std::size_t>(from.shape[0] * from.shape[1] / (kSide * kSide)));
    std::vector<std::int64_t> found(made.squares.size()); // lines
    for (const Line& line : lines.all) {
        const auto number =
            static_cast<std::size_t>(lines.number(line.host, along) / kSide * made.across +
                                     lines.number(line.host, along_wanted) / kSide);
        SquareTiles::Square& square = made.squares[number];
        if (found[number]++ == 0) {
            square = {line.at.tile, line.at.tile};
        } else if (line.at.tile != square.tile) {
            square.other = line.at.tile;
        }
    }
    const bool is_whole = lines.is_whole && std::ranges::all_of(found, [](std::int64_t of_square) {
                              return of_square == kSide;
                          });
    return is_whole ? std::optional(std::move(made)) : std::nullopt;
}

std::optional<Turned> turn_squares(Graph& graph, TensorId from, TensorId to,
                                   const std::string& name) {
    return SquareFinder(graph, from, to, name).run();
}

} // namespace tessera::graph
