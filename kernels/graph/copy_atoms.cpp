// SPDX-License-Identifier: MIT
#include "kernels/graph/copy_atoms.h"

#include "base/error.h"
#include "base/sort_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
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
        sort();
        join(each_once);
    }
    /// The runs cover these pieces of the tensor.
    Runs(const Tensor& tensor, const std::vector<const Piece*>& pieces)
        : bytes_(bytes_of(tensor.type)) {
        for (const Piece* piece : pieces) {
            add(*piece, 0, piece->host_offset, static_cast<std::uint32_t>(piece->place.offset));
        }
        sort();
        join(false);
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
    void sort() {
        const auto is_before = [](const Run& left, const Run& right) {
            return std::tie(left.host, left.at) < std::tie(right.host, right.at);
        };
        if (std::is_sorted(all_.begin(), all_.end(), is_before)) {
            return;
        }
        constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
        if (std::ranges::max(all_, {}, &Run::host).host > kMost ||
            all_.size() > static_cast<std::size_t>(kMost)) {
            std::sort(all_.begin(), all_.end(), is_before);
            return;
        }
        std::vector<std::uint64_t> keys;
        std::vector<std::uint64_t> scratch;
        std::vector<Run> sorted;
        sort_items(
            std::span<const Run>(all_), [](const Run& run) { return run.host; }, keys, scratch,
            sorted);
        for (auto first = sorted.begin(); first != sorted.end();) { // several places of an element
            const auto last = std::find_if(first + 1, sorted.end(),
                                           [&](const Run& run) { return run.host != first->host; });
            std::sort(first, last, is_before);
            first = last;
        }
        all_ = std::move(sorted);
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

/// The first run from `run` on that ends behind `host`; steps that double find it, as it is near.
std::vector<Run>::const_iterator first_behind(std::vector<Run>::const_iterator run,
                                              std::vector<Run>::const_iterator end,
                                              std::int64_t host) {
    const auto ends_before = [&](const Run& one) { return one.host + one.elements <= host; };
    std::ptrdiff_t step = 1;
    while (end - run > step && ends_before(run[step])) {
        run += step;
        step *= 2;
    }
    return std::partition_point(run, end - run > step ? run + step : end, ends_before);
}

} // namespace

template <typename Value> void AtomOrder::sort_again(Value value) {
    for (std::uint64_t& key : keys_) {
        key = sort_key(value(index_of_key(key)), index_of_key(key));
    }
    sort_keys(keys_, scratch_);
}

const std::vector<std::uint64_t>& AtomOrder::of(std::span<const Atom> atoms, At Atom::*end) {
    keys_.clear();
    for (std::uint32_t i = 0; i < atoms.size(); ++i) {
        keys_.push_back(sort_key((atoms[i].*end).offset, i));
    }
    sort_keys(keys_, scratch_);
    sort_again([&](std::uint32_t i) { return (atoms[i].*end).buffer; });
    sort_again([&](std::uint32_t i) { return static_cast<std::uint32_t>((atoms[i].*end).tile); });
    return keys_;
}

void AtomOrder::sort(std::vector<Atom>& atoms, At Atom::*end) {
    sorted_.clear();
    sorted_.reserve(atoms.size());
    for (const std::uint64_t key : of(atoms, end)) {
        sorted_.push_back(atoms[index_of_key(key)]);
    }
    atoms.swap(sorted_);
}

void match(const Tensor& from_tensor, const Tensor& to_tensor, const std::string& fault,
           const std::function<void(Matched&)>& found) {
    const Runs from(from_tensor, true);
    std::map<TileId, std::vector<const Piece*>> by_tile;
    for (const Piece& piece : to_tensor.pieces) {
        by_tile[piece.tile].push_back(&piece);
    }
    const auto bytes = bytes_of(to_tensor.type);
    std::optional<std::int64_t> missing;
    for (const auto& [tile, pieces] : by_tile) {
        Matched matched;
        const Runs to(to_tensor, pieces);
        auto first = from.all().begin();
        for (const Run& wanted : to.all()) {
            matched.covered.push_back(
                {wanted.at, wanted.at, static_cast<std::uint32_t>(wanted.elements * bytes)});
            std::int64_t at = wanted.host;
            const std::int64_t end = wanted.host + wanted.elements;
            first = first_behind(first, from.all().end(), at);
            for (auto run = first; at < end; ++run) {
                if (run == from.all().end() || run->host > at) {
                    missing = std::min(missing.value_or(at), at);
                    break;
                }
                const std::int64_t elements = std::min(run->host + run->elements, end) - at;
                const Atom atom{run->at + static_cast<std::uint32_t>((at - run->host) * bytes),
                                wanted.at + static_cast<std::uint32_t>((at - wanted.host) * bytes),
                                static_cast<std::uint32_t>(elements * bytes)};
                (atom.from == atom.to ? matched.in_place : matched.atoms).push_back(atom);
                at += elements;
            }
        }
        found(matched);
    }
    if (missing) {
        throw ProgramError(fmt::format("{}: element {} of '{}' stands on no tile", fault, *missing,
                                       from_tensor.name));
    }
}

} // namespace tessera::graph
