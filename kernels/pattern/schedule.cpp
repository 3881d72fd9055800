// SPDX-License-Identifier: MIT
#include "kernels/pattern/schedule.h"

#include "base/error.h"
#include "kernels/pattern/draw.h"
#include "kernels/workload/pattern.h"
#include "kernels/workload/random.h"

#include <iterator>
#include <limits>
#include <numbers>
#include <utility>

namespace tessera::pattern {

using workload::SparsePattern;

namespace {

constexpr std::uint64_t kPruneStream = 0x676fU;
constexpr std::uint64_t kRegrowStream = 0x636f6d65U;
constexpr std::uint64_t kAgainStream = 0x616761696eU;

/// Numbers of the blocks in the grid, ascending.
std::vector<std::int64_t> grid_numbers(const SparsePattern& pattern) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(pattern.block_column.size());
    for (std::int64_t row = 0; row < pattern.block_rows(); ++row) {
        for (std::int64_t at = pattern.first_block(row); at < pattern.first_block(row + 1); ++at) {
            numbers.push_back(row * pattern.block_columns() + pattern.column_of(at));
        }
    }
    return numbers;
}

SparsePattern pattern_of(const SparsePattern& like, const std::vector<std::int64_t>& numbers) {
    SparsePattern pattern{like.rows, like.columns, like.block, {0}, {}};
    pattern.block_column.reserve(numbers.size());
    auto number = numbers.begin();
    for (std::int64_t row = 0; row < like.block_rows(); ++row) {
        const std::int64_t first = row * like.block_columns();
        for (; number != numbers.end() && *number < first + like.block_columns(); ++number) {
            pattern.block_column.push_back(static_cast<std::int32_t>(*number - first));
        }
        pattern.row_start.push_back(pattern.blocks());
    }
    return pattern;
}

double rank_of(double norm) {
    return std::isnan(norm) ? -std::numeric_limits<double>::infinity() : norm;
}

/// Puts the `wanted` first ones by `is_before` in front and drops the others; ascending.
template <class Before>
void keep_first(std::vector<std::int64_t>& numbers, std::int64_t wanted, const Before& is_before) {
    const auto end = numbers.begin() + wanted;
    std::nth_element(numbers.begin(), end, numbers.end(), is_before);
    numbers.erase(end, numbers.end());
    std::sort(numbers.begin(), numbers.end());
}

/// All numbers below `all` that are not among `sorted`.
std::vector<std::int64_t> others(std::int64_t all, const std::vector<std::int64_t>& sorted) {
    std::vector<std::int64_t> rest;
    rest.reserve(static_cast<std::size_t>(all) - sorted.size());
    auto next = sorted.begin();
    for (std::int64_t number = 0; number < all; ++number) {
        if (next != sorted.end() && *next == number) {
            ++next;
        } else {
            rest.push_back(number);
        }
    }
    return rest;
}

/// `wanted` of the numbers below `all` that are not among `sorted`, every set equally likely. Memory
/// is that of `sorted` and of what is drawn.
std::vector<std::int64_t> drawn_others(std::int64_t all, const std::vector<std::int64_t>& sorted,
                                       std::int64_t wanted, std::uint64_t seed) {
    const std::int64_t rest = all - static_cast<std::int64_t>(sorted.size());
    const std::uint64_t own = workload::CounterRandom(seed, kRegrowStream).bits(0);
    std::vector<std::int64_t> numbers = workload::uniform_blocks({1, rest}, wanted, own);
    auto passed = sorted.begin();
    for (std::int64_t& number : numbers) { // the n-th of the rest
        while (passed != sorted.end() && *passed <= number + (passed - sorted.begin())) {
            ++passed;
        }
        number += passed - sorted.begin();
    }
    return numbers;
}

/// One change, part by part.
class Change {
public:
    Change(const SparsePattern& now, const BlockNorms& norms, const Schedule& schedule,
           std::int64_t number)
        : now_(now), norms_(norms), schedule_(schedule),
          seed_(workload::CounterRandom(schedule.seed, static_cast<std::uint64_t>(number)).bits(0)),
          kept_(grid_numbers(now)), all_(now.block_rows() * now.block_columns()),
          moves_(std::llround(share_of(schedule, number) * static_cast<double>(now.blocks()))) {
        TESSERA_ASSERT(!norms.kept || norms.kept->size() == kept_.size());
        TESSERA_ASSERT(!norms.gradients ||
                       norms.gradients->size() == static_cast<std::size_t>(all_));
    }

    PatternChange made() {
        PatternChange change;
        const std::vector<std::int64_t> places = pruned();
        std::vector<std::int64_t> stay;
        auto next = places.begin();
        for (std::int64_t place = 0; place < now_.blocks(); ++place) {
            const bool goes = next != places.end() && *next == place;
            (goes ? change.went : stay).push_back(goes ? number_at(place) : place);
            next += goes ? 1 : 0;
        }
        change.came = regrown(change.went, stay);
        change.is_drawn_instead = moves_ > 0 && is_drawn_instead();
        put_together(change, stay);
        return change;
    }

private:
    [[nodiscard]] std::int64_t number_at(std::int64_t place) const {
        return kept_[static_cast<std::size_t>(place)];
    }
    [[nodiscard]] bool is_drawn_instead() const {
        return (schedule_.prune == Schedule::Prune::Magnitude && !norms_.kept) ||
               (schedule_.regrow == Schedule::Regrow::Gradient && !norms_.gradients);
    }

    /// Places in the pattern, ascending.
    [[nodiscard]] std::vector<std::int64_t> pruned() const {
        if (schedule_.prune == Schedule::Prune::Random || !norms_.kept) {
            const std::uint64_t own = workload::CounterRandom(seed_, kPruneStream).bits(0);
            return workload::uniform_blocks({1, now_.blocks()}, moves_, own);
        }
        std::vector<std::int64_t> places = others(now_.blocks(), {});
        keep_first(places, moves_, [&](std::int64_t a, std::int64_t b) {
            const double of_a = rank_of((*norms_.kept)[static_cast<std::size_t>(a)]);
            const double of_b = rank_of((*norms_.kept)[static_cast<std::size_t>(b)]);
            return of_a != of_b ? of_a < of_b : a > b;
        });
        return places;
    }

    /// Numbers in the grid, ascending.
    [[nodiscard]] std::vector<std::int64_t> regrown(const std::vector<std::int64_t>& went,
                                                    const std::vector<std::int64_t>& stay) const {
        if (schedule_.regrow == Schedule::Regrow::Gradient && norms_.gradients) {
            std::vector<std::int64_t> taken;
            taken.reserve(stay.size());
            for (const std::int64_t place : stay) {
                taken.push_back(number_at(place));
            }
            std::vector<std::int64_t> numbers = others(all_, taken);
            keep_first(numbers, moves_, [&](std::int64_t a, std::int64_t b) {
                const double of_a = rank_of((*norms_.gradients)[static_cast<std::size_t>(a)]);
                const double of_b = rank_of((*norms_.gradients)[static_cast<std::size_t>(b)]);
                return of_a != of_b ? of_a > of_b : a < b;
            });
            return numbers;
        }
        const std::int64_t rest = all_ - now_.blocks();
        if (moves_ <= rest) {
            return drawn_others(all_, kept_, moves_, seed_);
        }
        const std::vector<std::int64_t> others_all = others(all_, kept_);
        const std::vector<std::int64_t> again = drawn(went, moves_ - rest, seed_, kAgainStream);
        std::vector<std::int64_t> numbers;
        std::merge(others_all.begin(), others_all.end(), again.begin(), again.end(),
                   std::back_inserter(numbers));
        return numbers;
    }

    void put_together(PatternChange& change, const std::vector<std::int64_t>& stay) const {
        std::vector<std::int64_t> numbers;
        numbers.reserve(kept_.size());
        change.from.reserve(kept_.size());
        auto place = stay.begin();
        const auto take_until = [&](std::int64_t end) {
            for (; place != stay.end() && number_at(*place) < end; ++place) {
                numbers.push_back(number_at(*place));
                change.from.push_back(*place);
            }
        };
        for (const std::int64_t number : change.came) {
            take_until(number);
            numbers.push_back(number);
            change.from.push_back(-1);
        }
        take_until(all_);
        change.pattern = pattern_of(now_, numbers);
    }

    const SparsePattern& now_;
    const BlockNorms& norms_;
    const Schedule& schedule_;
    std::uint64_t seed_;
    std::vector<std::int64_t> kept_;
    std::int64_t all_;
    std::int64_t moves_;
};

} // namespace

double share_of(const Schedule& schedule, std::int64_t change) {
    if (schedule.decay == Schedule::Decay::None) {
        return schedule.fraction;
    }
    const double angle =
        std::numbers::pi * static_cast<double>(change) / static_cast<double>(schedule.patterns);
    return schedule.fraction * (1 + std::cos(angle)) / 2;
}

PatternChange next_pattern(const SparsePattern& now, const BlockNorms& norms,
                           const Schedule& schedule, std::int64_t change) {
    TESSERA_ASSERT(change >= 0 && schedule.fraction >= 0.0 && schedule.fraction <= 1.0);
    return Change(now, norms, schedule, change).made();
}

} // namespace tessera::pattern
