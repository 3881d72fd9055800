// SPDX-License-Identifier: MIT
#include "kernels/dynamic/own_planner.h"

#include "base/ceil_div.h"
#include "kernels/dynamic/layout.h"
#include "kernels/dynamic/published/vertex_cycles.h"
#include "kernels/dynamic/travel.h"
#include "kernels/plan/exchange_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <utility>

namespace tessera::dynamic {
namespace {

constexpr std::int64_t kPatterns = 8;
/// Rooms that are tried: the least one that the operand wants, and multiples of it.
constexpr std::array<double, 5> kRooms{1, 1.25, 1.5, 2, 3};

constexpr std::int64_t kListEnd = 1; ///< word behind the last sub-group

/// A tile looks through a bucket that has nothing for it: supervisor of dynamic_blocks.inc and
/// dynamic_elements.inc.
constexpr Cycles kEmptyLook = 110;

/// Blocks of `places` places with `density` each: `many` values that stand for their distribution.
std::vector<std::int64_t> quantiles(std::int64_t places, double density, std::int64_t many) {
    std::vector<std::int64_t> found;
    found.reserve(static_cast<std::size_t>(many));
    const auto n = static_cast<double>(places);
    if (density >= 1) {
        found.assign(static_cast<std::size_t>(many), places);
        return found;
    }
    const double spread = std::sqrt(n * density * (1 - density));
    const auto first =
        static_cast<std::int64_t>(std::max(0.0, std::floor(n * density - 9 * spread)));
    const auto k = static_cast<double>(first);
    double share = std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                            k * std::log(density) + (n - k) * std::log1p(-density));
    double sum = share;
    for (std::int64_t blocks = first; std::ssize(found) < many;) {
        const double upto = (static_cast<double>(found.size()) + 0.5) / static_cast<double>(many);
        if (sum >= upto || blocks >= places) {
            found.push_back(blocks);
            continue;
        }
        share *= static_cast<double>(places - blocks) / static_cast<double>(blocks + 1) * density /
                 (1 - density);
        sum += share;
        ++blocks;
        if (share == 0) { // behind all that doubles tell apart
            sum = 1;
        }
    }
    return found;
}

/// Parts of one size, and the last ones, which may be smaller.
struct Cut {
    std::int64_t lines = 0;
    std::int64_t parts = 1;
    [[nodiscard]] std::int64_t of(std::int64_t part) const {
        const std::int64_t each = ceil_div(lines, parts);
        return std::clamp<std::int64_t>(lines - part * each, 0, each);
    }
};

/// Blocks as the product has them along a size of W.
std::int64_t lines_of(const Problem& problem, std::int64_t size) {
    return ceil_div(size, problem.block) * (problem.block / problem.product_block());
}

/// Blocks of all parts of some patterns: [pattern][x * parts of y + y].
std::vector<std::vector<std::int64_t>> drawn_parts(const Problem& problem, const Split& split) {
    const Cut rows{lines_of(problem, problem.m), split.x};
    const Cut columns{lines_of(problem, problem.k), split.y};
    std::map<std::int64_t, std::vector<std::size_t>> by_places;
    std::vector<std::vector<std::int64_t>> patterns(
        kPatterns, std::vector<std::int64_t>(static_cast<std::size_t>(split.x * split.y)));
    for (std::int64_t x = 0; x < split.x; ++x) {
        for (std::int64_t y = 0; y < split.y; ++y) {
            by_places[rows.of(x) * columns.of(y)].push_back(
                static_cast<std::size_t>(x * split.y + y));
        }
    }
    std::mt19937 random(1);
    for (const auto& [places, parts] : by_places) {
        auto values =
            quantiles(places, problem.density, kPatterns * static_cast<std::int64_t>(parts.size()));
        for (std::size_t i = values.size(); i > 1; --i) {
            std::swap(values[i - 1], values[random() % i]);
        }
        auto value = values.begin();
        for (auto& pattern : patterns) {
            for (const std::size_t part : parts) {
                pattern[part] = *value++;
            }
        }
    }
    return patterns;
}

/// Where blocks go that have no room at home: as deal() does, but in blocks of parts, without rows
/// and buckets.
struct Dealt {
    std::int64_t fullest = 0;
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> found; ///< most, by way in x, y

    [[nodiscard]] Ways ways() const {
        Ways ways;
        for (const auto& [way, blocks] : found) {
            ways.insert(way);
        }
        return ways;
    }
};
Dealt dealt(const Split& split, std::int64_t room, const std::vector<std::int64_t>& parts) {
    Dealt dealt;
    const auto many = std::ssize(parts);
    std::vector<std::int64_t> free(parts.size());
    std::vector<std::pair<std::int64_t, std::int64_t>> over; // less the blocks, part
    for (std::int64_t part = 0; part < many; ++part) {
        const std::int64_t blocks = parts[static_cast<std::size_t>(part)];
        dealt.fullest = std::max(dealt.fullest, std::min(blocks, room));
        free[static_cast<std::size_t>(part)] = std::max<std::int64_t>(0, room - blocks);
        if (blocks > room) {
            over.emplace_back(room - blocks, part);
        }
    }
    std::sort(over.begin(), over.end());
    for (const std::int64_t ring : {split.y, many}) {
        for (auto& [less, part] : over) {
            const std::int64_t first = part / ring * ring;
            for (std::int64_t back = 1; back < ring && less < 0; ++back) {
                const std::int64_t to = first + (part - first + ring - back) % ring;
                std::int64_t& there = free[static_cast<std::size_t>(to)];
                const std::int64_t taken = std::min(there, -less);
                if (taken > 0) {
                    there -= taken;
                    less += taken;
                    const std::int64_t x = (part / split.y - to / split.y + split.x) % split.x;
                    const std::int64_t y = (part % split.y - to % split.y + split.y) % split.y;
                    std::int64_t& most = dealt.found[{x, y}];
                    most = std::max(most, taken);
                }
            }
        }
    }
    return dealt;
}

/// Cycles of the phases, as the published planner has them where nothing else is known.
class Prices {
public:
    Prices(const Problem& problem, const spec::MachineSpec& machine)
        : problem_(problem), machine_(machine), knows_(published::dense_machine(machine)),
          exchange_(machine) {}

    /// With `excess`, and room for the metadata that a bucket can have: each of its blocks in a row of
    /// its own, or all rows of the part. Its compute phases are those of a part with the mean number
    /// of blocks.
    [[nodiscard]] Plan plan(const Split& split, double excess) const {
        Problem roomy = problem_;
        roomy.excess = excess;
        Plan plan = plan_of(roomy, knows_, split);
        Bucket& bucket = plan.bucket;
        const std::int64_t rows = std::min(bucket.blocks, plan.part.rows);
        const Bytes values = bucket.bytes - 2 * bucket.metadata;
        const std::int64_t words = 2 * layout_of(problem_, knows_, plan).header_words() + 2 * rows +
                                   bucket.blocks + kListEnd;
        bucket.metadata = ceil_div(words, kMetadataGrain) * kMetadataGrain;
        bucket.bytes = values + 2 * bucket.metadata;
        set_phases(plan, false);
        if (problem_.passes.input_gradient) {
            set_phases(plan, true);
        }
        const std::int64_t all = lines_of(problem_, problem_.m) * lines_of(problem_, problem_.k);
        set_compute(plan, problem_.density * static_cast<double>(all) /
                              static_cast<double>(split.x * split.y));
        return plan;
    }

    /// Without the travel.
    [[nodiscard]] Cycles at_home(const Plan& plan) const {
        const Cycles exchange =
            machine_.sync.internal_cycles + exchange_.to_all_over(plan.split.tiles());
        const std::int64_t sets = plan.split.z > 1 ? 4 : 3;
        const auto fixed = [&](const Phases& phases) {
            return (phases.partials > 0 ? 2 : 1) * exchange + sets * machine_.control.step_cycles;
        };
        return plan.cycles() + fixed(plan.forward) +
               (problem_.passes.input_gradient ? fixed(plan.input_gradient) : 0);
    }

    /// All of it; the compute phases become those of the part that is expected to be the fullest.
    [[nodiscard]] Cycles price(Plan& plan) const {
        const Expected likely = expected(problem_, plan.split, plan.bucket);
        set_compute(plan, likely.fullest_part);
        const std::int64_t z = plan.split.z;
        const Cycles barrier = machine_.sync.internal_cycles;
        const Cycles tell = machine_.control.branch_cycles + barrier +
                            exchange_.to_all_over(machine_.chip.tiles) + 1;
        const Cycles move = barrier + exchange_.to_neighbours(plan.split.tiles()) +
                            ceil_div(plan.bucket.bytes, knows_.exchange_bytes);
        const Cycles step = machine_.control.step_cycles;
        const double look = static_cast<double>(step) + vertex(plan, 1, 1, false);
        // words that the control program looks at: dynamic_next of travel.h
        const bool both = plan.split.x > 1 && plan.split.y > 1;
        const Cycles of_move = (both ? 5 : 4) * tell + move;
        const auto looks = static_cast<double>(z);
        const double finding = looks * likely.finding_scans;
        const double travel =
            likely.moves * static_cast<double>(of_move) +
            likely.scans * static_cast<double>(3 * tell + (z - 1) * move) + finding * look +
            (looks * likely.scans - finding) * static_cast<double>(step + kEmptyLook) +
            std::max(0.0, likely.moved_blocks - finding) *
                (vertex(plan, 1, 2, false) - vertex(plan, 1, 1, false));
        const auto once = static_cast<Cycles>(travel);
        return at_home(plan) + (problem_.passes.input_gradient ? 2 * once : once);
    }

    /// Whether the buffers of the fullest step fit: buckets and operand beside the partial results, or
    /// these beside the slices that are summed.
    [[nodiscard]] bool fits(const Plan& plan) const {
        const std::int64_t b = plan.block;
        const std::int64_t n = plan.part.n;
        const Bytes data = bytes_of(problem_.data);
        const Bytes partial = bytes_of(problem_.partials);
        const auto pass = [&](std::int64_t ins, std::int64_t outs, std::int64_t in_parts,
                              std::int64_t out_parts, bool turns) {
            const Bytes lines = ins * b * n * data;
            const Bytes home = out_parts > 1 ? ceil_div(lines, out_parts) : 0;
            const Bytes partials = outs * b * n * partial;
            const std::int64_t buckets =
                plan.split.z + (plan.split.x * plan.split.y > 1 ? 2 : 0) + (turns ? 1 : 0);
            const Bytes summed = in_parts > 1 ? partials + ceil_div(partials, in_parts) : 0;
            return lines + home + partials + std::max(buckets * plan.bucket.bytes, summed);
        };
        Bytes most = pass(plan.part.columns, plan.part.rows, plan.split.y, plan.split.x, false);
        if (problem_.passes.input_gradient) {
            most = std::max(
                most, pass(plan.part.rows, plan.part.columns, plan.split.x, plan.split.y, b > 1));
        }
        // code, rows of exchanges and what lies between memory elements
        constexpr double kForData = 0.85;
        return static_cast<double>(most) <= kForData * static_cast<double>(knows_.tile_bytes);
    }

    [[nodiscard]] const published::DenseMachine& knows() const { return knows_; }

private:
    /// A tile looks through `buckets` buckets with `blocks` blocks of its part in all.
    [[nodiscard]] double vertex(const Plan& plan, std::int64_t buckets, double blocks,
                                bool gradient) const {
        const std::int64_t n = plan.part.n;
        if (plan.block > 1) {
            const auto whole = static_cast<std::int64_t>(std::ceil(blocks));
            return static_cast<double>(block_cycles(knows_, plan.block, problem_.data,
                                                    problem_.partials, {1, whole, n, buckets}));
        }
        const Part& part = plan.part;
        const std::int64_t rows = gradient ? part.occupied_columns : part.occupied_rows;
        const double in_bucket = blocks / static_cast<double>(buckets);
        const double row_blocks =
            std::max(1.0, blocks / static_cast<double>(rows)); // of a row that is not cut
        const auto bucket_rows = std::clamp<std::int64_t>(
            static_cast<std::int64_t>(std::ceil(in_bucket / row_blocks)), 1, rows);
        const auto each =
            static_cast<std::int64_t>(std::ceil(in_bucket / static_cast<double>(bucket_rows)));
        const VertexWork work{bucket_rows, each, n, 1};
        const Cycles cycles = gradient ? element_transposed_cycles(knows_, problem_.data, work)
                                       : element_cycles(knows_, problem_.data, work);
        return static_cast<double>(buckets * cycles);
    }

    /// Sets the phases that this program does otherwise than the library's.
    void set_phases(Plan& plan, bool gradient) const {
        Phases& phases = gradient ? plan.input_gradient : plan.forward;
        const std::int64_t lines = gradient ? plan.part.columns : plan.part.rows;
        const Bytes partials = lines * plan.block * plan.part.n * bytes_of(problem_.partials);
        phases.zero = knows_.round_cycles * ceil_div(ceil_div(partials, Bytes{8}), knows_.workers);
        phases.buckets = ceil_div((plan.split.z - 1) * plan.bucket.bytes, knows_.exchange_bytes);
    }
    /// Sets the compute cycles of a part with so many blocks.
    void set_compute(Plan& plan, double blocks) const {
        const auto cycles = [&](bool gradient) {
            return static_cast<Cycles>(vertex(plan, plan.split.z, blocks, gradient));
        };
        plan.forward.compute = cycles(false);
        if (problem_.passes.input_gradient) {
            plan.input_gradient.compute = cycles(true);
        }
    }

    const Problem& problem_;
    const spec::MachineSpec& machine_;
    published::DenseMachine knows_;
    plan::ExchangeCost exchange_;
};

} // namespace

Expected expected(const Problem& problem, const Split& split, const Bucket& bucket) {
    Expected mean;
    const double share = 1.0 / static_cast<double>(kPatterns);
    for (const auto& parts : drawn_parts(problem, split)) {
        const Dealt one = dealt(split, split.z * bucket.blocks, parts);
        mean.fullest_part += share * static_cast<double>(one.fullest);
        for (const std::uint32_t code : travel_codes(split, travel_of(split, one.ways()))) {
            if ((code & TravelCode::kMore) != 0) {
                ((code & TravelCode::kScan) != 0 ? mean.scans : mean.moves) += share;
            }
        }
        mean.finding_scans += share * static_cast<double>(one.found.size());
        for (const auto& [way, blocks] : one.found) {
            mean.moved_blocks += share * static_cast<double>(blocks);
        }
    }
    return mean;
}

OwnPlan priced_plan(const Problem& problem, const spec::MachineSpec& machine, const Split& split) {
    const Prices prices(problem, machine);
    Plan plan = prices.plan(split, problem.excess);
    const Cycles predicted = prices.price(plan);
    return {plan, predicted};
}

std::optional<OwnPlan> own_plan(const Problem& problem, const spec::MachineSpec& machine) {
    const Prices prices(problem, machine);
    std::vector<OwnPlan> candidates; // at home
    for (const Split& split : encodable_splits(problem, prices.knows().tiles)) {
        std::int64_t room = 0;
        for (const double more : kRooms) {
            const Plan plan = prices.plan(split, (1 + problem.excess) * more - 1);
            if (plan.bucket.blocks != room && prices.fits(plan)) {
                candidates.push_back({plan, prices.at_home(plan)});
            }
            room = plan.bucket.blocks;
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& one, const auto& other) {
        return one.predicted < other.predicted;
    });
    std::optional<OwnPlan> best;
    for (OwnPlan& candidate : candidates) {
        if (best && candidate.predicted >= best->predicted) {
            break;
        }
        candidate.predicted = prices.price(candidate.plan);
        if (!best || candidate.predicted < best->predicted) {
            best = candidate;
        }
    }
    return best;
}

} // namespace tessera::dynamic
