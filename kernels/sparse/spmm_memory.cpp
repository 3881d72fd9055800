// SPDX-License-Identifier: MIT
// What a layout keeps in tile memory, for how long, and where.
#include "kernels/sparse/spmm_layout.h"

#include <algorithm>

namespace tessera::spmm {
namespace {

/// Vertices read up to one access behind their data.
constexpr Bytes kReadAhead = 16;

constexpr std::int64_t kReduceStateBytes = 28;
constexpr std::int64_t kCopyStateBytes = 16;

template <typename T> T most(const std::vector<T>& values) {
    return values.empty() ? T{} : *std::max_element(values.begin(), values.end());
}

} // namespace

Bytes Layout::empty_rows_bytes() const {
    const Problem& problem = partition_.problem();
    const auto all = static_cast<std::int64_t>(reduction_.empty_rows.size());
    return ceil_div(all, partition_.split().parts()) *
           problem.result_line_bytes(problem.widest_slice(partition_.split()));
}

Bytes Layout::metadata_bytes(const Part& part) const {
    const auto blocks = static_cast<Bytes>(part.blocks.size());
    const auto rows = static_cast<Bytes>(part.rows.size());
    if (partition_.problem().block == 1) {
        return 2 * (blocks + 1) + 2 * (rows + 1);
    }
    return 12 * blocks * (partition_.problem().partials == ElementType::F16 ? 1 : 2);
}

Bytes Layout::state_bytes() const {
    std::size_t jobs = 0;
    for (const std::vector<std::size_t>& of_part : reduction_.jobs_of_part) {
        jobs = std::max(jobs, of_part.size());
    }
    const Bytes multiply = partition_.problem().block == 1 ? 4 + 28 * machine_.tile.workers : 20;
    return multiply + kReduceStateBytes * static_cast<Bytes>(jobs) +
           kCopyStateBytes * most(copies_of_tile_);
}

bool Layout::brings() const {
    return !homes_values_.empty() ||
           std::any_of(homes_x_.begin(), homes_x_.end(), [this](const auto& homes) {
               return std::any_of(homes.begin(), homes.end(), [this](const HomeRun& run) {
                   return !users(runs_[run.home.group]).empty();
               });
           });
}

void Layout::find_steps() {
    // A line of X that one tile needs is at home in its buffer `x`.
    steps_.given({"x", "home of x", "lists", "empty rows"});
    steps_.given({values_stay() ? "values" : "home of values"});
    const plan::Liveness::Names homes{"home of x", "home of values"};
    if (brings()) {
        steps_.step("bring operands").reads(homes).updates({"x"});
        steps_.writes(values_stay() ? plan::Liveness::Names{} : plan::Liveness::Names{"values"});
    }
    steps_.step("multiply").reads({"x", "values", "lists"}).writes({"partials"});
    steps_.reads(most(copies_of_tile_) > 0 ? homes : plan::Liveness::Names{});
    if (std::any_of(reduction_.jobs.begin(), reduction_.jobs.end(),
                    [](const SumJob& job) { return !job.others.empty(); })) {
        steps_.step("reduce: bring partial rows").reads({"partials"}).writes({"slices"});
    }
    if (reduces()) {
        steps_.step("reduce").reads({"partials", "slices"}).writes({"result"});
    }
    steps_.wanted({"partials", "result", "empty rows"});
}

TileId Layout::fullest_tile() const {
    const Problem& problem = partition_.problem();
    const Split& split = partition_.split();
    TileId fullest = 0;
    Bytes most_bytes = 0;
    for (std::int64_t number = 0; number < split.parts(); ++number) {
        const Part& part = partition_.part(number);
        for (std::int64_t in = 0; in < split.parts_n; ++in) {
            const TileId tile = partition_.tile(number, in);
            const std::int64_t columns = problem.slice(split, in).length();
            const Bytes bytes =
                filled_x_[tile] + filled_values_[tile] +
                static_cast<Bytes>(part.x_lines.size()) * problem.x_line_bytes(columns) +
                static_cast<Bytes>(part.rows.size()) * problem.partial_line_bytes(columns) +
                static_cast<Bytes>(part.blocks.size()) * problem.value_bytes() +
                metadata_bytes(part);
            if (bytes > most_bytes) {
                most_bytes = bytes;
                fullest = tile;
            }
        }
    }
    return fullest;
}

bool Layout::place(plan::CodeRoom code) {
    using plan::Where;
    using Kind = program::SegmentKind;
    const Problem& problem = partition_.problem();
    const std::int64_t columns = problem.widest_slice(partition_.split());
    memory_.emplace(machine_, code);
    Bytes metadata = 0;
    for (std::int64_t part = 0; part < partition_.split().parts(); ++part) {
        metadata = std::max(metadata, metadata_bytes(partition_.part(part)));
    }
    const auto lines = static_cast<Bytes>(partition_.most_x_lines());
    const Bytes x = lines * problem.x_line_bytes(columns);
    const Bytes partials =
        static_cast<Bytes>(partition_.most_rows()) * problem.partial_line_bytes(columns);
    const Bytes values = ceil_div(static_cast<Bytes>(partition_.most_blocks()), values_a_unit()) *
                         value_unit_bytes();
    const Bytes slices = most(reduction_.slices_lines) * problem.partial_line_bytes(columns);
    const Bytes result = most(reduction_.result_lines) * problem.result_line_bytes(columns);
    std::vector<plan::BufferRequest> requests;
    const auto one = [&](const char* name, Kind kind, Bytes bytes, Where where,
                         const std::vector<std::string>& apart_from) {
        requests.push_back({name, kind, bytes, 16, where, apart_from, steps_.lifetime(name)});
    };
    // Paced accesses keep x and partials apart, delta lists x and metadata, an exchange what it
    // sends and receives.
    const Where by_elements = problem.block == 1 ? Where::Region1 : Where::Any;
    const Where by_blocks = problem.block == 1 ? Where::Any : Where::Region1;
    one("partials", Kind::Tensor, partials + kReadAhead, Where::Region1, {});
    one("x", Kind::Tensor, x, by_elements, {"partials"});
    one("values", Kind::Tensor, values + kReadAhead, by_blocks, {});
    one("slices", Kind::Tensor, slices, Where::Region1, {"partials"});
    one("home of x", Kind::Tensor, most(filled_x_), Where::Any, {"x", "values"});
    one("home of values", Kind::Tensor, most(filled_values_), Where::Any, {"x", "values"});
    one("lists", Kind::Metadata, metadata, Where::Any, {"x"});
    one("result", Kind::Tensor, result, Where::Any, {});
    one("empty rows", Kind::Tensor, empty_rows_bytes(), Where::Any, {});
    one("vertex state", Kind::VertexState, state_bytes(), Where::Any, {});
    const bool fits = memory_->place_all(requests);
    const Bytes last_line = x - problem.x_line_bytes(columns);
    const Bytes furthest = program::largest_offset(kLineOffset);
    if (problem.block == 1 && last_line > furthest) {
        memory_->refuse("x", last_line - furthest);
        return false;
    }
    return fits;
}

} // namespace tessera::spmm
