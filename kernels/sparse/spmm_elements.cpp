// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_elements.h"

#include "base/bytes.h"
#include "kernels/codelets/spmm_elementwise_cost.h"
#include "kernels/graph/halves.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/sparse/spmm_block_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::sparse {
namespace {

/// The fullest tile's share over the average one's.
constexpr double kUneven = 1.1;
/// Bytes of B that a column group has of a line.
constexpr Bytes kGroupBytes = 16;

std::int64_t group_columns(codelets::ProductTypes types) {
    return kGroupBytes / bytes_of(types.data);
}

/// Consecutive rows for each team, nearly equal work.
std::vector<Range> deal_rows(const Problem& problem, const Part& part, std::int64_t teams) {
    std::int64_t all = 0;
    for (const std::int32_t blocks : part.row_blocks) {
        all += problem.row_work(blocks);
    }
    std::vector<Range> rows(static_cast<std::size_t>(teams));
    std::int64_t done = 0;
    std::int64_t row = 0;
    for (std::size_t team = 0; team < rows.size(); ++team) {
        rows[team].first = row;
        const std::int64_t until = 2 * all * static_cast<std::int64_t>(team + 1) / teams;
        while (row < std::ssize(part.rows)) {
            const std::int64_t work =
                problem.row_work(part.row_blocks[static_cast<std::size_t>(row)]);
            if (team + 1 < rows.size() && 2 * done + work > until) {
                break;
            }
            done += work;
            ++row;
        }
        rows[team].last = row;
    }
    return rows;
}

/// Shares of `teams` teams of `team_workers` workers each.
std::vector<Share> shares_of(const Problem& problem, const Part& part, std::int64_t column_groups,
                             std::int64_t teams, std::int64_t team_workers) {
    std::vector<Share> shares;
    std::int64_t first_block = 0;
    for (const Range& rows : deal_rows(problem, part, teams)) {
        std::int64_t blocks = 0;
        for (std::int64_t row = rows.first; row < rows.last; ++row) {
            blocks += part.row_blocks[static_cast<std::size_t>(row)];
        }
        for (std::int64_t member = 0; member < team_workers; ++member) {
            shares.push_back({rows,
                              {member * column_groups / team_workers,
                               (member + 1) * column_groups / team_workers},
                              first_block,
                              blocks});
        }
        first_block += blocks;
    }
    return shares;
}

std::int64_t issues_of(const Problem& problem, const Share& share) {
    return codelets::elementwise_issues(problem.types, share.rows.size(), share.blocks,
                                        share.groups.size());
}

std::int64_t slowest_issues(const Problem& problem, const std::vector<Share>& shares) {
    std::int64_t most = 0;
    for (const Share& share : shares) {
        most = std::max(most, issues_of(problem, share));
    }
    return most;
}

program::WorkItem largest_row(const Problem& problem, const Part& part,
                              const std::vector<Share>& shares) {
    program::WorkItem largest;
    for (std::size_t worker = 0; worker < shares.size(); ++worker) {
        const Share& share = shares[worker];
        for (std::int64_t row = share.rows.first; row < share.rows.last; ++row) {
            const auto at = static_cast<std::size_t>(row);
            const std::int64_t amount =
                part.row_blocks[at] * share.groups.size() * group_columns(problem.types);
            if (amount > largest.amount) {
                largest = {part.rows[at], amount, static_cast<int>(worker)};
            }
        }
    }
    return largest;
}

/// Where each non-zero's line of B is, then how many non-zeros each row has.
PartLists lists_of_elements(graph::Graph& /*graph*/, const spec::MachineSpec& machine,
                            const Problem& problem, const Part& part, std::int64_t columns,
                            const VertexBuffers& buffers) {
    std::vector<std::uint16_t> offsets;
    for (const std::int32_t line : part.local_b) {
        const Bytes offset = line * problem.line_bytes_of(columns);
        offsets.push_back(static_cast<std::uint16_t>(
            program::pack_pointer(kLineOffset, {.address = offset}, "list of non-zeros")));
    }
    offsets.push_back(0);
    for (const std::int32_t blocks : part.row_blocks) {
        offsets.push_back(graph::half(blocks - 1, "non-zeros of a row"));
    }
    offsets.push_back(0);
    const Bytes row_bytes = problem.partial_line_bytes(columns);
    const Bytes group_bytes = problem.partial_line_bytes(group_columns(problem.types));
    const Bytes counts = 2 * (std::ssize(part.blocks) + 1);
    PartLists made{shared_bytes(offsets), nullptr, {}};
    made.state = {graph::word(row_bytes / 8 - (problem.types.sums_are_results() ? 1 : 3))};
    const std::vector<Share> shares =
        deal_work(problem, part, columns / group_columns(problem.types), machine.tile.workers);
    made.largest_row = largest_row(problem, part, shares);
    for (const Share& share : shares) {
        const Bytes offsets_done = 2 * share.first_block;
        const Bytes values_done = problem.value_bytes() * share.first_block;
        made.state.insert(made.state.end(),
                          {from(buffers.lists, offsets_done), from(buffers.values, values_done),
                           from(buffers.lists, counts + 2 * share.rows.first),
                           from(buffers.partials,
                                share.rows.first * row_bytes + share.groups.first * group_bytes),
                           graph::word(share.rows.size() - 1),
                           from(buffers.b, share.groups.first * kGroupBytes),
                           graph::word(share.groups.size() - 1)});
    }
    plan::counted_rounds(machine, *std::ranges::max_element(part.row_blocks) - 1,
                         "columns or non-zeros");
    return made;
}

double estimate_elements(const spec::MachineSpec& machine, const Problem& problem,
                         const PartMeans& means) {
    const auto workers = real(machine.tile.workers);
    const auto turn = real(machine.tile.round_cycles());
    const auto row_issues = real(codelets::elementwise_row_issues(problem.types));
    const auto non_zero_issues = real(codelets::kElementwiseNonZero);
    const double all = turn / workers * (non_zero_issues * means.blocks + row_issues * means.rows);
    // a row is never cut, neither between tiles nor between workers
    const double fullest =
        std::max(kUneven * all, turn * (non_zero_issues * means.longest_row + row_issues));
    return 40 + real(codelets::kElementwiseFrame) * turn +
           means.columns / real(group_columns(problem.types)) *
               (real(codelets::kElementwiseGroup) * turn + fullest);
}

void run_elements(plan::StubTimeline& stub, const Problem& problem, const Part& part,
                  std::int64_t columns, std::int64_t workers) {
    std::vector<std::int64_t> issues;
    for (const Share& share :
         deal_work(problem, part, columns / group_columns(problem.types), workers)) {
        issues.push_back(issues_of(problem, share));
    }
    stub.multi_worker(issues);
}

} // namespace

std::vector<Share> deal_work(const Problem& problem, const Part& part, std::int64_t column_groups,
                             std::int64_t workers) {
    std::vector<Share> best;
    for (std::int64_t team_workers = 1; team_workers <= std::min(workers, column_groups);
         ++team_workers) {
        std::vector<Share> shares =
            shares_of(problem, part, column_groups, workers / team_workers, team_workers);
        // Workers that make no whole team have no rows.
        shares.resize(static_cast<std::size_t>(workers));
        if (best.empty() || slowest_issues(problem, shares) < slowest_issues(problem, best)) {
            best = std::move(shares);
        }
    }
    return best;
}

/// Non-zeros one by one, in lists of offsets.
BlockKind elements(codelets::ProductTypes types) {
    return {.vertex = fmt::format("spmm_elementwise_{}", codelets::suffix(types)),
            .vertex_kind = program::VertexKind::MultiWorker,
            .codelets = {fmt::format("spmm_elementwise_{}", codelets::suffix(types))},
            .reach = program::largest_offset(kLineOffset),
            .column_grain = group_columns(types),
            .values_a_unit = group_columns(types), // 16 bytes, too
            .list_bytes = 2,
            .block_work = codelets::kElementwiseNonZero,
            .row_work = codelets::elementwise_row_issues({types.data, types.data}),
            .block_roundings = types.data == ElementType::F32 ? 1 : 0,
            .b = graph::Where::Region1,
            .partials_beyond = kReadAhead,
            .unit = "non-zeros",
            .lists = lists_of_elements,
            .estimate = estimate_elements,
            .run = run_elements};
}

} // namespace tessera::sparse
