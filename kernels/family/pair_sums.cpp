// SPDX-License-Identifier: MIT
#include "kernels/family/pair_sums.h"

#include "base/error.h"
#include "kernels/function/constants.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace tessera::family {
namespace {

constexpr Bytes kPairBytes = 8;
/// So many tiles send to one at once.
constexpr std::size_t kFewTiles = 32;

/// Pairs that a tile sums up next.
struct Part {
    TileId tile = 0;
    graph::Place pairs;
    std::int64_t count = 0;
};

class PairSums {
public:
    PairSums(graph::Graph& graph, const Site& site, graph::Place to, std::optional<double> factor)
        : graph_(graph), site_(site), to_(to), factor_(factor) {
        graph.need_codelet("sum_pairs");
    }

    PairSum add(graph::ComputeSetId set, std::vector<Part> parts) {
        PairSum made{parts.front().tile, 0, {}};
        std::vector<graph::Step> steps;
        while (true) {
            made.additions += std::ranges::max(parts, {}, &Part::count).count;
            if (parts.size() == 1) {
                add_sum(set, parts.front(), to_, true);
                made.steps = graph::sequence(std::move(steps));
                return made;
            }
            parts = to_groups(set, parts, steps);
            set = graph_.add_compute_set({"sum", program::Role::Reduce, site_.owner, "pairs"});
            steps.push_back(graph::run(set));
        }
    }

private:
    void add_sum(graph::ComputeSetId set, const Part& part, graph::Place to, bool is_last) {
        const bool is_total = is_last && factor_;
        std::vector<graph::Field> state{graph::read(part.pairs, part.count * kPairBytes),
                                        graph::write(to, is_total ? 4 : kPairBytes),
                                        graph::word(part.count)};
        if (is_total) {
            state.push_back(function::single(*factor_));
        }
        graph_.add_vertex(set, part.tile, is_total ? "sum_pairs_total" : "sum_pairs",
                          program::VertexKind::Worker, state);
    }

    /// Every part is summed up in `set`, and sent to the first of its group.
    std::vector<Part> to_groups(graph::ComputeSetId set, const std::vector<Part>& parts,
                                std::vector<graph::Step>& steps) {
        const std::size_t group =
            parts.size() <= kFewTiles
                ? parts.size()
                : static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(parts.size()))));
        const auto sums = graph_.add_buffer({.name = "sum"});
        const auto gathered = graph_.add_buffer({.name = "sums of a group", .apart = {sums}});
        const auto exchange =
            graph_.add_exchange({"bring sums", program::Role::Reduce, site_.owner});
        std::vector<Part> groups;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i % group == 0) {
                groups.push_back({parts[i].tile, {gathered}, 0});
            }
            Part& whole = groups.back();
            const graph::Place there{gathered, whole.count++ * kPairBytes};
            if (parts[i].tile == whole.tile) {
                add_sum(set, parts[i], there, false);
                continue;
            }
            graph_.hold(sums, parts[i].tile, kPairBytes);
            add_sum(set, parts[i], {sums}, false);
            graph_.add_message(exchange, parts[i].tile, {sums}, kPairBytes, {whole.tile, there});
        }
        for (const Part& whole : groups) {
            graph_.hold(gathered, whole.tile, whole.count * kPairBytes);
        }
        steps.push_back(graph::run(exchange));
        return groups;
    }

    graph::Graph& graph_;
    const Site& site_;
    graph::Place to_;
    std::optional<double> factor_;
};

} // namespace

PairSum add_pair_sum(graph::Graph& graph, const Site& site, graph::ComputeSetId set,
                     const PairsOnTiles& from, graph::Place to, std::optional<double> factor) {
    TESSERA_ASSERT(!from.count.empty());
    std::vector<Part> parts;
    for (const auto& [tile, count] : from.count) {
        parts.push_back({tile, {from.pairs}, count});
    }
    return PairSums(graph, site, to, factor).add(set, std::move(parts));
}

} // namespace tessera::family
