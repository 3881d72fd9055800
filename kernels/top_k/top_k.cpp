// SPDX-License-Identifier: MIT
#include "kernels/top_k/top_k.h"

#include "kernels/family/numbers.h"
#include "kernels/family/options.h"
#include "kernels/plan/lowest_fit.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/top_k/division.h"
#include "kernels/workload/top_k_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::top_k {
namespace {

using codelets::TopKElement;
using codelets::TopKStage;
using family::TensorType;
using graph::Place;

constexpr Bytes kIndexBytes = 4;
constexpr std::int64_t kMostElements = std::int64_t{1} << 31;

/// An element of a row, as the host sees it.
struct Candidate {
    std::int64_t key = 0; ///< see kernels/codelets/top_k.inc
    std::int64_t index = 0;

    [[nodiscard]] bool is_before(const Candidate& other) const {
        return key != other.key ? key > other.key : index < other.index;
    }
};

std::int64_t key_of(const family::Value& value, std::int64_t element) {
    std::uint32_t bits = 0;
    const auto bytes = static_cast<std::size_t>(bytes_of(value.type.type));
    std::memcpy(&bits, value.bytes.data() + static_cast<std::size_t>(element) * bytes, bytes);
    const std::uint32_t sign = std::uint32_t{1} << (8 * bytes - 1);
    const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
    return (bits & sign) != 0 ? -magnitude : magnitude;
}

/// Leaves the first `count` of the candidates, in order.
void keep_first(std::vector<Candidate>& candidates, std::int64_t count) {
    const auto kept = std::min(candidates.size(), static_cast<std::size_t>(count));
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept),
                      candidates.end(), [](const Candidate& one, const Candidate& other) {
                          return one.is_before(other);
                      });
    candidates.resize(kept);
}

class TopK final : public family::Step {
public:
    TopK(TensorType x, Problem problem) : x_(std::move(x)), problem_(problem) {}

    [[nodiscard]] std::vector<TensorType> outputs() const override {
        std::vector<std::int64_t> shape = x_.shape;
        shape.back() = problem_.k;
        return {{x_.type, shape}, {ElementType::U32, shape}};
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> /*where*/) override {
        const Division division = choose(problem_, site.machine);
        graph.need_codelet(problem_.element() == TopKElement::Word ? "top_k_words" : "top_k_pairs");
        Lists lists{{graph.add_buffer({.name = "elements", .read_beyond = kUnitBytes}),
                     graph.add_buffer({.name = "larger elements", .read_beyond = kUnitBytes})}};
        std::vector<graph::Step> steps;
        const graph::TensorId x = add_keys(graph, site, division, lists, steps);
        std::int64_t between = 1; // tiles from a list to the next
        graph::ComputeSetId last;
        for (const Level& level : division.levels) {
            if (level.tiles > 1) {
                steps.push_back(bring(graph, site, division, level, between, lists));
                between *= level.tiles;
            }
            last = graph.add_compute_set({"select", program::Role::Work, site.owner, "elements"});
            for (std::int64_t tile = 0; !level.stages.empty() && tile < division.tiles(problem_);
                 tile += between) {
                add_select(graph, site, last, level, tile_of(site, tile), lists);
            }
            steps.push_back(graph::run(last));
        }
        const auto results = add_results(graph, site, division, last, lists);
        return {{x}, {results.begin(), results.end()}, graph::sequence(std::move(steps))};
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Checked checked;
        std::int64_t among_largest = 0;
        std::int64_t tied_rows = 0;
        for (std::int64_t row = 0; row < problem_.rows; ++row) {
            const std::vector<Candidate> expected = expected_of(*inputs[0], row);
            for (std::int64_t j = 0; j < problem_.k; ++j) {
                const Candidate& one = expected[static_cast<std::size_t>(j)];
                check_element(outputs, row * problem_.k + j, one, checked);
            }
            among_largest += recalled(*inputs[0], row, expected);
            tied_rows += leaves_out_equals(*inputs[0], row, expected) ? 1 : 0;
        }
        checked.passed = checked.failed_elements == 0;
        checked.sentence =
            checked.passed
                ? "exact" + recall_text(among_largest) + ties_text(tied_rows)
                : fmt::format("WRONG: {} of {} elements differ; first: {}", checked.failed_elements,
                              checked.elements, checked.sentence);
        return checked;
    }

    [[nodiscard]] double flops() const override { return 0; }

private:
    /// Two buffers of lists; a network that halves goes from one to the other.
    struct Lists {
        std::array<graph::BufferId, 2> buffers;
    };

    [[nodiscard]] Bytes element_bytes() const { return codelets::bytes_of(problem_.element()); }
    [[nodiscard]] Bytes value_bytes() const { return tessera::bytes_of(problem_.type); }
    [[nodiscard]] std::string symbol(const char* vertex) const {
        return fmt::format("top_k_{}_{}", vertex,
                           problem_.element() == TopKElement::Word ? "words" : "pairs");
    }
    [[nodiscard]] std::string typed_symbol(const char* vertex) const {
        return problem_.element() == TopKElement::Word
                   ? symbol(vertex)
                   : fmt::format("{}_{}", symbol(vertex), name_of(problem_.type));
    }
    [[nodiscard]] static TileId tile_of(const family::Site& site, std::int64_t number) {
        return site.first_tile + static_cast<TileId>(number);
    }
    /// The rows of which tile `number` has elements.
    [[nodiscard]] Range rows_of(const Division& division, std::int64_t number) const {
        if (division.tiles_of_row > 1) {
            return {number / division.tiles_of_row, 1};
        }
        const std::int64_t first = number * division.rows_of_tile;
        return {first, std::min(division.rows_of_tile, problem_.rows - first)};
    }
    /// Words of state that deal `units` to the workers.
    static void deal(std::vector<graph::Field>& state, const spec::MachineSpec& machine,
                     std::int64_t units, const char* what) {
        const std::int64_t workers = machine.tile.workers;
        static_cast<void>(
            plan::counted_rounds(machine, units / workers + (units % workers > 0 ? 1 : 0), what));
        state.push_back(graph::word(units / workers));
        state.push_back(graph::word(units % workers));
    }

    /// The input, and vertices that make elements of it, in the first buffer.
    graph::TensorId add_keys(graph::Graph& graph, const family::Site& site,
                             const Division& division, const Lists& lists,
                             std::vector<graph::Step>& steps) const {
        const graph::BufferId values = graph.add_buffer({.name = "x"});
        graph::Tensor x{.name = "x", .type = x_.type, .shape = x_.shape};
        const auto set =
            graph.add_compute_set({"make keys", program::Role::Work, site.owner, "elements"});
        const Bytes step = plan::round_up(division.values * value_bytes(), kUnitBytes);
        for (std::int64_t number = 0; number < division.tiles(problem_); ++number) {
            const TileId tile = tile_of(site, number);
            const std::int64_t all = division.rows_of_tile * division.groups;
            graph.hold(values, tile, kUnitBytes);
            graph.hold(lists.buffers[0], tile, all * division.slots * element_bytes());
            const Range rows = rows_of(division, number);
            for (std::int64_t group = 0; group < all; ++group) {
                const std::int64_t row = group / division.groups;
                const Range range =
                    row < rows.count ? division.values_of(problem_, number % division.tiles_of_row,
                                                          group % division.groups)
                                     : Range{};
                const Place from{values, group * step};
                if (range.count > 0) {
                    graph.hold(values, tile, (group + 1) * step);
                    x.pieces.push_back({tile,
                                        from,
                                        (rows.first + row) * problem_.columns + range.first,
                                        {{range.count, 1, value_bytes()}}});
                }
                add_key_vertex(graph, site.machine, set, tile, from,
                               {lists.buffers[0], group * division.slots * element_bytes()}, range,
                               division.slots);
            }
        }
        steps.push_back(graph::run(set));
        return graph.add_tensor(std::move(x));
    }

    void add_key_vertex(graph::Graph& graph, const spec::MachineSpec& machine,
                        graph::ComputeSetId set, TileId tile, Place from, Place to, Range range,
                        std::int64_t slots) const {
        const std::int64_t largest_index =
            problem_.element() == TopKElement::Word ? 0xffff : 0xffffffff;
        const std::int64_t others = slots - range.count;
        std::vector<graph::Field> state{graph::read(from, range.count * value_bytes()),
                                        graph::write(to, range.count * element_bytes()),
                                        graph::word(largest_index - range.first)};
        deal(state, machine, range.count, "values");
        state.push_back(graph::write(to + range.count * element_bytes(), others * element_bytes()));
        deal(state, machine, others, "elements without values");
        graph.add_work(set, tile, range.count);
        graph.add_vertex(set, tile, typed_symbol("keys"), program::VertexKind::MultiWorker, state);
    }

    /// Brings the lists of each level.tiles tiles with lists behind that of the first.
    graph::Step bring(graph::Graph& graph, const family::Site& site, const Division& division,
                      const Level& level, std::int64_t between, const Lists& lists) const {
        const auto exchange =
            graph.add_exchange({"bring lists", program::Role::Reduce, site.owner});
        const graph::BufferId buffer = lists.buffers[level.in_second ? 1 : 0];
        const Bytes bytes = level.length * element_bytes();
        for (std::int64_t first = 0; first < division.tiles(problem_);
             first += between * level.tiles) {
            const TileId to = tile_of(site, first);
            graph.hold(buffer, to, level.tiles * bytes);
            for (std::int64_t other = 1; other < level.tiles; ++other) {
                graph.add_message(exchange, tile_of(site, first + other * between), {buffer}, bytes,
                                  {to, {buffer, other * bytes}});
            }
        }
        return graph::run(exchange);
    }

    void add_select(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                    const Level& level, TileId tile, const Lists& lists) const {
        std::size_t now = level.in_second ? 1 : 0;
        const Bytes halved = level.halved() * element_bytes();
        graph.hold(lists.buffers[1 - now], tile, halved);
        // The words of a stage have pointers without bytes: these two say what is touched.
        std::vector<graph::Field> state{
            graph::word(static_cast<std::int64_t>(level.stages.size()) - 1),
            graph::use({lists.buffers[now]}, level.elements * element_bytes(),
                       graph::Access::Update),
            graph::use({lists.buffers[1 - now]}, halved, graph::Access::Write)};
        for (const TopKStage& stage : level.stages) {
            const std::size_t to = stage.halves ? 1 - now : now;
            state.push_back(graph::read({lists.buffers[now]}, 0));
            state.push_back(graph::read({lists.buffers[to]}, 0));
            state.push_back(graph::word(stage.distance * element_bytes()));
            state.push_back(graph::word(stage.partner * element_bytes()));
            deal(state, site.machine, stage.comparisons, "comparisons");
            state.push_back(graph::word(stage.halves ? 1 : 0));
            now = to;
        }
        graph.add_work(set, tile, level.elements);
        graph.add_vertex(set, tile, symbol("select"), program::VertexKind::Supervisor, state);
    }

    /// Values and indices, on the first tile of each row, by vertices of the last compute set.
    std::array<graph::TensorId, 2> add_results(graph::Graph& graph, const family::Site& site,
                                               const Division& division, graph::ComputeSetId set,
                                               const Lists& lists) const {
        const Level& level = division.levels.back();
        const graph::BufferId from = lists.buffers[level.ends_in_second() ? 1 : 0];
        const std::vector<TensorType> types = outputs();
        std::array<graph::Tensor, 2> made{
            graph::Tensor{.name = "values", .type = types[0].type, .shape = types[0].shape},
            graph::Tensor{.name = "indices", .type = types[1].type, .shape = types[1].shape}};
        const std::array<graph::BufferId, 2> to{graph.add_buffer({.name = "values"}),
                                                graph.add_buffer({.name = "indices"})};
        const std::int64_t in_unit = codelets::top_k_results_in_unit(problem_.type);
        const std::int64_t units = (problem_.k + in_unit - 1) / in_unit;
        const std::array<Bytes, 2> element{value_bytes(), kIndexBytes};
        for (std::int64_t number = 0; number < division.tiles(problem_);
             number += division.tiles_of_row) {
            const TileId tile = tile_of(site, number);
            const Range rows = rows_of(division, number);
            for (std::int64_t row = 0; row < rows.count; ++row) {
                std::vector<graph::Field> state{
                    graph::read({from, row * level.merged * element_bytes()},
                                std::min(units * in_unit, level.merged) * element_bytes())};
                for (std::size_t i = 0; i < to.size(); ++i) {
                    const Bytes bytes = units * in_unit * element[i];
                    const Bytes step = plan::round_up(bytes, kUnitBytes);
                    const Place place{to[i], row * step};
                    graph.hold(to[i], tile, rows.count * step);
                    state.push_back(graph::write(place, bytes));
                    made[i].pieces.push_back({tile,
                                              place,
                                              (rows.first + row) * problem_.k,
                                              {{problem_.k, 1, element[i]}}});
                }
                deal(state, site.machine, units, "results");
                graph.add_vertex(set, tile, typed_symbol("results"),
                                 program::VertexKind::MultiWorker, state);
            }
        }
        return {graph.add_tensor(std::move(made[0])), graph.add_tensor(std::move(made[1]))};
    }

    /// Elements of a row.
    [[nodiscard]] std::vector<Candidate> candidates_of(const family::Value& x, std::int64_t row,
                                                       Range range) const {
        std::vector<Candidate> candidates;
        for (std::int64_t i = range.first; i < range.first + range.count; ++i) {
            candidates.push_back({key_of(x, row * problem_.columns + i), i});
        }
        return candidates;
    }
    [[nodiscard]] std::vector<Candidate> expected_of(const family::Value& x,
                                                     std::int64_t row) const {
        std::vector<Candidate> kept;
        for (std::int64_t bucket = 0; bucket < problem_.buckets; ++bucket) {
            std::vector<Candidate> of_bucket = candidates_of(x, row, bucket_of(problem_, bucket));
            keep_first(of_bucket, problem_.kept);
            kept.insert(kept.end(), of_bucket.begin(), of_bucket.end());
        }
        keep_first(kept, problem_.k);
        return kept;
    }
    /// How many of `found` are no less than the k-th largest of the row.
    [[nodiscard]] std::int64_t recalled(const family::Value& x, std::int64_t row,
                                        const std::vector<Candidate>& found) const {
        if (problem_.buckets == 1) {
            return problem_.k;
        }
        std::vector<Candidate> all = candidates_of(x, row, {0, problem_.columns});
        keep_first(all, problem_.k);
        return std::count_if(found.begin(), found.end(),
                             [&](const Candidate& one) { return one.key >= all.back().key; });
    }
    [[nodiscard]] std::string recall_text(std::int64_t among_largest) const {
        return problem_.buckets == 1
                   ? std::string{}
                   : fmt::format("; recall {:.6f} of the {} largest",
                                 static_cast<double>(among_largest) /
                                     static_cast<double>(problem_.rows * problem_.k),
                                 problem_.k);
    }

    /// Whether elements of the row that are not chosen are as large as the last one that is.
    [[nodiscard]] bool leaves_out_equals(const family::Value& x, std::int64_t row,
                                         const std::vector<Candidate>& chosen) const {
        if (problem_.buckets > 1) {
            return false;
        }
        const auto is_as_last = [&](const Candidate& one) { return one.key == chosen.back().key; };
        const std::vector<Candidate> all = candidates_of(x, row, {0, problem_.columns});
        return std::ranges::count_if(all, is_as_last) > std::ranges::count_if(chosen, is_as_last);
    }
    [[nodiscard]] static std::string ties_text(std::int64_t rows) {
        return rows == 0 ? std::string{}
                         : fmt::format("; in {} {} elements as large as the last one are left out, "
                                       "the later ones",
                                       rows, rows == 1 ? "row" : "rows");
    }

    void check_element(std::span<const family::Value> outputs, std::int64_t at,
                       const Candidate& expected, family::Checked& checked) const {
        std::uint32_t index = 0;
        std::memcpy(&index, outputs[1].bytes.data() + at * kIndexBytes, sizeof index);
        const std::int64_t key = key_of(outputs[0], at);
        checked.elements += 2;
        const std::int64_t wrong =
            (key == expected.key ? 0 : 1) + (index == expected.index ? 0 : 1);
        if (wrong > 0 && checked.failed_elements == 0) {
            checked.sentence = fmt::format(
                "number {} of row {}: got {:g} at {}, expected the element at {}", at % problem_.k,
                at / problem_.k, family::element_of(outputs[0], at), index, expected.index);
        }
        checked.failed_elements += wrong;
    }

    TensorType x_;
    Problem problem_;
};

/// @throws Refused
Problem problem_of(const family::Request& request) {
    const TensorType& x = request.inputs[0];
    const auto whole = [&](const char* key) {
        return family::whole_number(family(), request, key, kMostElements);
    };
    Problem problem{.type = x.type, .columns = x.shape.back()};
    problem.rows = x.elements() / problem.columns;
    problem.k = whole("k");
    problem.buckets = whole("buckets");
    problem.kept = whole("kept");
    const workload::TopKSizes sizes{problem.columns, problem.k, problem.buckets, problem.kept};
    const std::vector<workload::Mistake> mistakes = sizes.mistakes();
    if (!mistakes.empty()) {
        throw family::Refused(-1, mistakes.front().key, mistakes.front().message);
    }
    if (problem.buckets == 1) {
        problem.kept = problem.k;
    }
    return problem;
}

std::unique_ptr<family::Step> make(const family::Request& request) {
    family::require_numbers(request, 0, "x");
    family::require_dense(request, 0, "x");
    const TensorType& x = request.inputs[0];
    if (x.shape.empty() || x.elements() > kMostElements) {
        throw family::Refused(0, "",
                              fmt::format("x: got {}, expected one size or more, and at most {} "
                                          "elements",
                                          family::shape_text(x), kMostElements));
    }
    return std::make_unique<TopK>(x, problem_of(request));
}

} // namespace

const family::Family& family() {
    static const family::Family family{
        .name = "top_k",
        .says = "the k largest elements along the last size, the largest first, and their numbers "
                "as u32; of equal ones the lower number first",
        .inputs = {"x"},
        .options = {{.key = "k", .says = "how many", .words = {}, .number = 1},
                    {.key = "buckets",
                     .says = "1: exact; else the row is cut into so many runs, and the result is "
                             "the largest of the largest of each",
                     .words = {},
                     .number = 1},
                    {.key = "kept",
                     .says = "with buckets: how many of each are kept, a power of two",
                     .words = {},
                     .number = 1}},
        .make = make,
        .outputs = {"values", "indices"}};
    return family;
}

} // namespace tessera::top_k
