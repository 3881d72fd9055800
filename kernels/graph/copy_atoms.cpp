// SPDX-License-Identifier: MIT
#include "kernels/graph/copy_atoms.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace tessera::graph {
namespace {

/// Neighbouring elements that are neighbours in a tile too.
struct Run {
    std::int64_t host = 0;
    std::int64_t elements = 0;
    At at;
};

class Runs {
public:
    Runs(const Tensor& tensor, bool each_once) : bytes_(bytes_of(tensor.type)) {
        for (const Piece& piece : tensor.pieces) {
            add(piece, 0, piece.host_offset, static_cast<std::uint32_t>(piece.place.offset));
        }
        std::sort(all_.begin(), all_.end(), [](const Run& left, const Run& right) {
            return std::tie(left.host, left.at) < std::tie(right.host, right.at);
        });
        join(each_once);
    }
    [[nodiscard]] const std::vector<Run>& all() const { return all_; }

private:
    void add(const Piece& piece, std::size_t dim, std::int64_t host, std::uint32_t offset) {
        const At at{piece.tile, piece.place.buffer.index, offset};
        if (dim == piece.dims.size()) {
            all_.push_back({host, 1, at});
            return;
        }
        const program::PieceDim& here = piece.dims[dim];
        if (dim + 1 == piece.dims.size() && here.host_stride == 1 && here.tile_stride == bytes_) {
            all_.push_back({host, here.count, at});
            return;
        }
        for (std::int64_t i = 0; i < here.count; ++i) {
            add(piece, dim + 1, host + i * here.host_stride,
                offset + static_cast<std::uint32_t>(i * here.tile_stride));
        }
    }
    /// Runs that go on in the next one become one; of `each_once`, elements that a run before has
    /// go.
    void join(bool each_once) {
        std::vector<Run> joined;
        for (Run run : all_) {
            if (each_once && !joined.empty()) {
                const std::int64_t known = joined.back().host + joined.back().elements;
                const std::int64_t skipped =
                    std::clamp<std::int64_t>(known - run.host, 0, run.elements);
                run.host += skipped;
                run.elements -= skipped;
                run.at.offset += static_cast<std::uint32_t>(skipped * bytes_);
            }
            if (run.elements == 0) {
                continue;
            }
            if (!joined.empty()) {
                Run& last = joined.back();
                if (last.host + last.elements == run.host &&
                    last.at + static_cast<std::uint32_t>(last.elements * bytes_) == run.at) {
                    last.elements += run.elements;
                    continue;
                }
            }
            joined.push_back(run);
        }
        all_ = std::move(joined);
    }

    Bytes bytes_;
    std::vector<Run> all_;
};

} // namespace

std::vector<Atom> places_of_elements(const Tensor& tensor) {
    std::vector<Atom> elements;
    const Runs runs(tensor, false);
    for (const Run& run : runs.all()) {
        elements.push_back(
            {run.at, run.at, static_cast<std::uint32_t>(run.elements * bytes_of(tensor.type))});
    }
    return elements;
}

Matched match(const Tensor& from_tensor, const Tensor& to_tensor, const std::string& fault) {
    Matched matched;
    const Runs from(from_tensor, true);
    const Runs to(to_tensor, false);
    const auto bytes = bytes_of(to_tensor.type);
    for (const Run& wanted : to.all()) {
        std::int64_t at = wanted.host;
        const std::int64_t end = wanted.host + wanted.elements;
        auto source =
            std::partition_point(from.all().begin(), from.all().end(),
                                 [&](const Run& run) { return run.host + run.elements <= at; });
        for (; at < end; ++source) {
            if (source == from.all().end() || source->host > at) {
                throw ProgramError(fmt::format("{}: element {} of '{}' stands on no tile", fault,
                                               at, from_tensor.name));
            }
            const std::int64_t elements = std::min(source->host + source->elements, end) - at;
            const Atom atom{source->at + static_cast<std::uint32_t>((at - source->host) * bytes),
                            wanted.at + static_cast<std::uint32_t>((at - wanted.host) * bytes),
                            static_cast<std::uint32_t>(elements * bytes)};
            (atom.from == atom.to ? matched.in_place : matched.atoms).push_back(atom);
            matched.covered.push_back({atom.to, atom.to, atom.bytes});
            at += elements;
        }
    }
    return matched;
}

} // namespace tessera::graph
