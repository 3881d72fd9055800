// SPDX-License-Identifier: MIT
#include "kernels/top_k/division.h"

#include "kernels/plan/exchange_cost.h"
#include "kernels/plan/lowest_fit.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/workload/top_k_workload.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace tessera::top_k {
namespace {

using codelets::TopKElement;
using codelets::TopKStage;

constexpr std::int64_t kMostWordIndices = 65'536;

std::int64_t power_of_two(std::int64_t at_least) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(at_least)));
}
std::int64_t quotient_up(std::int64_t value, std::int64_t by) {
    return (value + by - 1) / by;
}

/// Adds the stages that merge each `lists` neighbouring lists, until one is left that has at most `most` elements.
/// `length`, `elements`: of the lists before, then after.
void merge(std::vector<TopKStage>& stages, std::int64_t lists, std::int64_t most,
           std::int64_t& length, std::int64_t& elements) {
    for (; lists > 1; lists /= 2) {
        // the first element of a list meets the last one of the next list
        const bool halves = length >= most;
        stages.push_back({halves, length, 2 * length - 1, elements / 2});
        if (halves) {
            elements /= 2;
        }
        for (std::int64_t distance = length / 2; distance > 0; distance /= 2) {
            stages.push_back({false, distance, distance, elements / 2});
        }
        length *= halves ? 1 : 2;
    }
}

/// Issues of all workers for work that is dealt evenly in up to two loops.
template <class IssuesOf>
std::vector<std::int64_t> dealt(const spec::MachineSpec& machine, std::int64_t units,
                                std::int64_t others, const IssuesOf& issues_of) {
    const std::int64_t workers = machine.tile.workers;
    std::vector<std::int64_t> issues;
    for (std::int64_t worker = 0; worker < workers; ++worker) {
        issues.push_back(issues_of(units / workers + (worker < units % workers ? 1 : 0),
                                   others / workers + (worker < others % workers ? 1 : 0)));
    }
    return issues;
}

} // namespace

TopKElement Problem::element() const {
    return type == ElementType::F16 && columns <= kMostWordIndices ? TopKElement::Word
                                                                   : TopKElement::Pair;
}

Range bucket_of(const Problem& problem, std::int64_t bucket) {
    if (bucket >= problem.buckets) {
        return {problem.columns, 0};
    }
    const workload::TopKSizes sizes{problem.columns, problem.k, problem.buckets, problem.kept};
    return {sizes.first_of(bucket), sizes.first_of(bucket + 1) - sizes.first_of(bucket)};
}

std::int64_t Level::halved() const {
    std::int64_t most = 0;
    for (const TopKStage& stage : stages) {
        most = stage.halves ? std::max(most, stage.comparisons) : most;
    }
    return most;
}

bool Level::ends_in_second() const {
    const auto halvings = std::count_if(stages.begin(), stages.end(),
                                        [](const TopKStage& stage) { return stage.halves; });
    return in_second != (halvings % 2 == 1);
}

std::int64_t Division::tiles(const Problem& problem) const {
    return tiles_of_row > 1 ? problem.rows * tiles_of_row : quotient_up(problem.rows, rows_of_tile);
}

Range Division::values_of(const Problem& problem, std::int64_t tile, std::int64_t group) const {
    if (tiles_of_group == 1) {
        return bucket_of(problem, tile * groups + group);
    }
    const Range bucket = bucket_of(problem, tile / tiles_of_group);
    // whole units, so that runs of neighbouring elements are words
    const std::int64_t unit = kUnitBytes / tessera::bytes_of(problem.type);
    const std::int64_t most = quotient_up(problem.columns, problem.buckets);
    const std::int64_t share = quotient_up(quotient_up(most, tiles_of_group), unit) * unit;
    const std::int64_t begin = std::min(bucket.count, tile % tiles_of_group * share);
    return {bucket.first + begin, std::min(bucket.count - begin, share)};
}

Division divide(const Problem& problem, const spec::MachineSpec& machine, std::int64_t tiles_of_row,
                std::int64_t fan) {
    const std::int64_t buckets = power_of_two(problem.buckets);
    const std::int64_t kept = power_of_two(problem.kept);
    const std::int64_t most = power_of_two(problem.k);
    Division made;
    made.tiles_of_row = tiles_of_row;
    made.rows_of_tile = std::max<std::int64_t>(1, quotient_up(problem.rows, machine.chip.tiles));
    made.groups = std::max<std::int64_t>(1, buckets / tiles_of_row);
    made.tiles_of_group = std::max<std::int64_t>(1, tiles_of_row / buckets);
    for (std::int64_t tile = 0; tile < tiles_of_row; ++tile) {
        for (std::int64_t group = 0; group < made.groups; ++group) {
            made.values = std::max(made.values, made.values_of(problem, tile, group).count);
        }
    }
    made.slots = power_of_two(made.values);

    Level local;
    local.elements = made.rows_of_tile * made.groups * made.slots;
    std::int64_t length = 1;
    std::int64_t elements = local.elements;
    merge(local.stages, made.slots, kept, length, elements);
    if (made.tiles_of_group == 1) {
        merge(local.stages, made.groups, most, length, elements);
    }
    local.merged = length;
    bool in_second = local.ends_in_second();
    made.levels.push_back(std::move(local));

    const auto bring_together = [&](std::int64_t tiles, std::int64_t at_most) {
        for (std::int64_t left = tiles; left > 1;) {
            Level level;
            level.tiles = std::min(fan, left);
            level.length = length;
            level.in_second = in_second;
            level.elements = level.tiles * length;
            elements = level.elements;
            merge(level.stages, level.tiles, at_most, length, elements);
            level.merged = length;
            in_second = level.ends_in_second();
            left /= level.tiles;
            made.levels.push_back(std::move(level));
        }
    };
    bring_together(made.tiles_of_group, kept);
    bring_together(tiles_of_row / made.tiles_of_group, most);
    return made;
}

Bytes Division::bytes_on_tile(const Problem& problem) const {
    const Bytes element = codelets::bytes_of(problem.element());
    Bytes first = 0;
    Bytes second = 0;
    Bytes state = 0;
    for (const Level& level : levels) {
        const Bytes before = level.elements * element;
        const Bytes halved = level.halved() * element;
        first = std::max(first, level.in_second ? halved : before);
        second = std::max(second, level.in_second ? before : halved);
        state += static_cast<Bytes>(level.stages.size()) * 28;
    }
    const Bytes given = rows_of_tile * groups *
                        plan::round_up(values * tessera::bytes_of(problem.type), kUnitBytes);
    const Bytes results = rows_of_tile * problem.k * (tessera::bytes_of(problem.type) + 4);
    return given + first + second + state + results;
}

Cycles keys_cycles(const Problem& problem, const Division& division,
                   const spec::MachineSpec& machine) {
    plan::StubTimeline stub(machine, false);
    for (std::int64_t row = 0; row < division.rows_of_tile; ++row) {
        for (std::int64_t group = 0; group < division.groups; ++group) {
            const std::int64_t values = division.values_of(problem, 0, group).count;
            stub.multi_worker(dealt(machine, values, division.slots - values,
                                    [&](std::int64_t own, std::int64_t others) {
                                        return codelets::top_k_keys_issues(
                                            problem.element(), problem.type, own, others);
                                    }));
        }
    }
    return stub.finish();
}

Cycles level_cycles(const Problem& problem, const Level& level, bool is_last, std::int64_t lists,
                    const spec::MachineSpec& machine) {
    plan::StubTimeline stub(machine, !level.stages.empty());
    if (!level.stages.empty()) {
        stub.top_k_select(problem.element(), level.stages);
    }
    for (std::int64_t list = 0; is_last && list < lists; ++list) {
        const std::int64_t units =
            quotient_up(problem.k, codelets::top_k_results_in_unit(problem.type));
        stub.multi_worker(dealt(machine, units, 0, [&](std::int64_t own, std::int64_t) {
            return codelets::top_k_results_issues(problem.type, own);
        }));
    }
    return stub.finish();
}

Cycles Division::cycles(const Problem& problem, const spec::MachineSpec& machine) const {
    const Bytes element = codelets::bytes_of(problem.element());
    Cycles sum = keys_cycles(problem, *this, machine) + machine.sync.internal_cycles;
    for (const Level& level : levels) {
        sum += level_cycles(problem, level, &level == &levels.back(), rows_of_tile, machine) +
               machine.sync.internal_cycles;
        if (level.tiles > 1) {
            sum += plan::row_overhead(machine.exchange) + machine.sync.internal_cycles +
                   (level.tiles - 1) * level.length * element / 4;
        }
    }
    return sum;
}

Division choose(const Problem& problem, const spec::MachineSpec& machine) {
    const std::int64_t tiles = machine.chip.tiles;
    // code, vertex state and rows of exchanges have memory elements of their own
    const Bytes room = machine.memory.bytes() - 2 * machine.memory.element_bytes;
    std::optional<Division> best;
    std::optional<Division> smallest;
    Cycles least = 0;
    Bytes least_bytes = 0;
    const std::int64_t most_of_row =
        std::min(std::max<std::int64_t>(1, tiles / problem.rows),
                 power_of_two(problem.buckets) *
                     power_of_two(quotient_up(problem.columns, problem.buckets)));
    for (std::int64_t of_row = 1; of_row <= most_of_row; of_row *= 2) {
        for (std::int64_t fan = 2; fan <= 64 && (fan == 2 || fan <= of_row); fan *= 2) {
            Division made = divide(problem, machine, of_row, fan);
            const Bytes bytes = made.bytes_on_tile(problem);
            const Cycles cycles = made.cycles(problem, machine);
            if (!smallest || bytes < least_bytes) {
                smallest = made;
                least_bytes = bytes;
            }
            if (bytes <= room && (!best || cycles < least)) {
                best = std::move(made);
                least = cycles;
            }
        }
    }
    return best.value_or(*smallest);
}

} // namespace tessera::top_k
