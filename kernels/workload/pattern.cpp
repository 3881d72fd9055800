// SPDX-License-Identifier: MIT
#include "kernels/workload/pattern.h"

#include "base/error.h"
#include "kernels/workload/random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace tessera::workload {
namespace {

constexpr std::uint64_t kPatternStream = 0x7061747465726eU;

/// Draws of distinct numbers, one after the other from one random sequence.
class DistinctDraws {
public:
    explicit DistinctDraws(std::uint64_t seed) : random_(seed, kPatternStream) {}

    /// Uniform in 0 .. bound-1.
    std::int64_t below(std::int64_t bound) {
        return static_cast<std::int64_t>(
            random_.below(static_cast<std::uint64_t>(bound), drawn_++));
    }

    /// Puts `wanted` distinct numbers of first .. first+population-1 behind `out`, ascending, every
    /// such set equally likely.
    void append(std::int64_t first, std::int64_t population, std::int64_t wanted,
                std::vector<std::int64_t>& out) {
        if (wanted <= population / 2) {
            draw(first, population, wanted, out);
            return;
        }
        // Nearly all of them: choose what to leave out.
        left_out_.clear();
        draw(first, population, population - wanted, left_out_);
        auto next_out = left_out_.begin();
        for (std::int64_t number = first; number < first + population; ++number) {
            if (next_out != left_out_.end() && *next_out == number) {
                ++next_out;
            } else {
                out.push_back(number);
            }
        }
    }

private:
    /// The first `wanted` distinct values of the sequence. Drawing only as many as are missing
    /// never overshoots, so no choice among the drawn is needed and the set is uniform.
    /// wanted <= population / 2, so each round at least halves what is missing, on average.
    void draw(std::int64_t first, std::int64_t population, std::int64_t wanted,
              std::vector<std::int64_t>& out) {
        constexpr std::int64_t kFewBits = 64; // for each number: as many as the number itself has
        if (population <= wanted * kFewBits) {
            draw_among_few(first, population, wanted, out);
            return;
        }
        const auto begin = static_cast<std::ptrdiff_t>(out.size());
        const auto end = begin + static_cast<std::ptrdiff_t>(wanted);
        while (static_cast<std::ptrdiff_t>(out.size()) < end) {
            const auto sorted_part = static_cast<std::ptrdiff_t>(out.size());
            for (std::ptrdiff_t missing = end - sorted_part; missing > 0; --missing) {
                out.push_back(first + below(population));
            }
            std::sort(out.begin() + sorted_part, out.end());
            std::inplace_merge(out.begin() + begin, out.begin() + sorted_part, out.end());
            out.erase(std::unique(out.begin() + begin, out.end()), out.end());
        }
    }
    /// The same, with a bit for each of the population instead of a sort.
    void draw_among_few(std::int64_t first, std::int64_t population, std::int64_t wanted,
                        std::vector<std::int64_t>& out) {
        constexpr std::size_t kBits = 64;
        is_drawn_.assign(static_cast<std::size_t>(population) / kBits + 1, 0);
        for (std::int64_t missing = wanted; missing > 0;) {
            const auto number = static_cast<std::size_t>(below(population));
            std::uint64_t& bits = is_drawn_[number / kBits];
            const std::uint64_t bit = std::uint64_t{1} << (number % kBits);
            missing -= (bits & bit) == 0 ? 1 : 0;
            bits |= bit;
        }
        for (std::size_t word = 0; word < is_drawn_.size(); ++word) {
            for (std::uint64_t left = is_drawn_[word]; left != 0; left &= left - 1) {
                const std::size_t number =
                    word * kBits + static_cast<std::size_t>(std::countr_zero(left));
                out.push_back(first + static_cast<std::int64_t>(number));
            }
        }
    }

    CounterRandom random_;
    std::uint64_t drawn_ = 0;
    std::vector<std::int64_t> left_out_;
    std::vector<std::uint64_t> is_drawn_;
};

/// Block (r, c) has its centre at ((r + 1/2) / rows, (c + 1/2) / columns) of the unit square.
/// Distances are those along the row, times 2 * rows * columns: whole numbers.
class Band {
public:
    explicit Band(BlockGrid grid) : grid_(grid) {}

    [[nodiscard]] std::int64_t distance(std::int64_t row, std::int64_t column) const {
        return std::abs((2 * row + 1) * grid_.columns - (2 * column + 1) * grid_.rows);
    }

    struct Run {
        std::int64_t first = 0;
        std::int64_t end = 0;
    };

    /// The columns of a row whose distance is at most `width`.
    [[nodiscard]] Run run(std::int64_t row, std::int64_t width) const {
        const std::int64_t centre = (2 * row + 1) * grid_.columns;
        const std::int64_t step = 2 * grid_.rows;
        // (2 column + 1) rows >= centre - width, rounded up; and <= centre + width, rounded down.
        const std::int64_t low = centre - width - grid_.rows;
        const std::int64_t high = centre + width - grid_.rows;
        const std::int64_t first = low <= 0 ? 0 : (low + step - 1) / step;
        const std::int64_t end = high < 0 ? 0 : high / step + 1;
        return {std::min(first, grid_.columns), std::min(std::max(first, end), grid_.columns)};
    }

    [[nodiscard]] std::int64_t blocks_within(std::int64_t width) const {
        std::int64_t total = 0;
        for (std::int64_t row = 0; row < grid_.rows; ++row) {
            const Run kept = run(row, width);
            total += kept.end - kept.first;
        }
        return total;
    }

    [[nodiscard]] std::int64_t largest_distance() const { return 2 * grid_.rows * grid_.columns; }

private:
    BlockGrid grid_;
};

__extension__ using Wide = unsigned __int128;

/// rank^-exponent of ranks 1, 2, ... in whole numbers: std::pow may differ from host to host in its
/// last bits, and the counts of rows must not.
class PowerLaw {
public:
    static constexpr unsigned kWeightBits = 38; ///< weight of the rank that others are told beside

    PowerLaw(std::int64_t ranks, double exponent) {
        make_powers();
        const auto fixed =
            static_cast<std::uint64_t>(std::llround(std::ldexp(exponent, kFractionBits)));
        steepness_.reserve(static_cast<std::size_t>(ranks));
        for (std::int64_t rank = 1; rank <= ranks; ++rank) {
            const Wide product = Wide{fixed} * log2_of(static_cast<std::uint64_t>(rank));
            steepness_.push_back(static_cast<std::uint64_t>(product >> kFractionBits));
        }
    }

    [[nodiscard]] std::size_t ranks() const { return steepness_.size(); }

    /// Of a rank (from 0), times 2^38, when that of `beside`, a rank before it or itself, is 1.
    [[nodiscard]] std::uint64_t weight(std::size_t rank, std::size_t beside) const {
        const std::uint64_t fall = steepness_[rank] - steepness_[beside];
        const std::uint64_t halvings = fall >> kFractionBits;
        if (halvings > kWeightBits) {
            return 0;
        }
        std::uint64_t power = kOne;
        for (std::size_t digit = 0; digit < kDigits; ++digit) {
            const std::uint64_t part =
                (fall >> (kFractionBits - kDigitBits * (digit + 1))) % kDigitValues;
            power = times(power, powers_[digit * kDigitValues + part]);
        }
        return power >> (kPowerBits - kWeightBits + halvings);
    }

    /// The weights of this rank and all behind it.
    [[nodiscard]] std::uint64_t weights_from(std::size_t rank) const {
        std::uint64_t sum = 0;
        for (std::size_t other = rank; other < ranks(); ++other) {
            sum += weight(other, rank);
        }
        return sum;
    }

private:
    static constexpr unsigned kFractionBits = 32; ///< of logarithms
    static constexpr unsigned kPowerBits = 62;
    static constexpr std::uint64_t kOne = std::uint64_t{1} << kPowerBits;
    static constexpr unsigned kDigitBits = 8;
    static constexpr std::size_t kDigits = kFractionBits / kDigitBits;
    static constexpr std::size_t kDigitValues = std::size_t{1} << kDigitBits;

    static std::uint64_t times(std::uint64_t a, std::uint64_t b) {
        return static_cast<std::uint64_t>((Wide{a} * b) >> kPowerBits);
    }

    /// The largest whole number whose square is at most `square`, below 2^126.
    static std::uint64_t root_of(Wide square) {
        std::uint64_t root = 0;
        for (std::uint64_t bit = kOne; bit > 0; bit >>= 1U) {
            const std::uint64_t more = root | bit;
            root = Wide{more} * more <= square ? more : root;
        }
        return root;
    }

    /// 2^-(part / 256^(digit + 1)), for the digits of a fraction.
    void make_powers() {
        std::array<std::uint64_t, kFractionBits> of_bits{}; // 2^-1/2, 2^-1/4, ...
        std::uint64_t power = kOne / 2;
        for (std::uint64_t& one : of_bits) {
            power = root_of(Wide{power} << kPowerBits);
            one = power;
        }
        for (std::size_t digit = 0; digit < kDigits; ++digit) {
            for (std::size_t part = 0; part < kDigitValues; ++part) {
                std::uint64_t& made = powers_[digit * kDigitValues + part];
                made = kOne;
                for (unsigned bit = 0; bit < kDigitBits; ++bit) {
                    const bool is_set = ((part >> (kDigitBits - 1 - bit)) & 1U) != 0;
                    made = is_set ? times(made, of_bits[digit * kDigitBits + bit]) : made;
                }
            }
        }
    }

    /// Times 2^32, rounded down. The fraction is found bit by bit: squaring doubles a logarithm.
    static std::uint64_t log2_of(std::uint64_t number) {
        const auto whole = static_cast<unsigned>(std::bit_width(number)) - 1;
        std::uint64_t log2 = whole;
        std::uint64_t rest = number << (kPowerBits - whole); // 1 .. 2
        for (unsigned bit = 0; bit < kFractionBits; ++bit) {
            rest = times(rest, rest);
            const bool is_two = rest >= 2 * kOne;
            log2 = log2 << 1U | (is_two ? 1U : 0U);
            rest >>= is_two ? 1U : 0U;
        }
        return log2;
    }

    std::array<std::uint64_t, kDigits * kDigitValues> powers_{};
    std::vector<std::uint64_t> steepness_; ///< -log2 of the weight beside rank 1, times 2^32
};

/// The blocks of the rank'th fullest row, rank by rank: as many as the grid is wide for the first
/// ones, then as the law has it.
std::vector<std::int64_t> power_law_counts(BlockGrid grid, std::int64_t kept, double exponent) {
    const PowerLaw law(grid.rows, exponent);
    // The first rank whose share of what the full rows before it leave is no more than the width.
    const auto is_narrow = [&](std::size_t rank) {
        const Wide full =
            Wide{static_cast<std::uint64_t>(grid.columns)} * (Wide{rank} << PowerLaw::kWeightBits);
        const Wide shared = Wide{static_cast<std::uint64_t>(grid.columns)} * law.weights_from(rank);
        return Wide{static_cast<std::uint64_t>(kept)} << PowerLaw::kWeightBits <= full + shared;
    };
    std::size_t first = 0;
    for (std::size_t end = law.ranks() - 1; first < end;) {
        const std::size_t middle = first + (end - first) / 2;
        if (is_narrow(middle)) {
            end = middle;
        } else {
            first = middle + 1;
        }
    }
    std::vector<std::int64_t> counts(law.ranks(), grid.columns);
    const std::int64_t shared = kept - static_cast<std::int64_t>(first) * grid.columns;
    const std::uint64_t weights = law.weights_from(first);
    std::int64_t left = shared;
    std::vector<std::uint64_t> remainders;
    std::vector<std::size_t> order; // of the ranks, those that are cut most first
    for (std::size_t rank = first; rank < law.ranks(); ++rank) {
        const Wide share = Wide{static_cast<std::uint64_t>(shared)} * law.weight(rank, first);
        counts[rank] = static_cast<std::int64_t>(share / weights);
        left -= counts[rank];
        remainders.push_back(static_cast<std::uint64_t>(share % weights));
        order.push_back(rank);
    }
    const auto cut_more = [&](std::size_t a, std::size_t b) {
        const std::uint64_t of_a = remainders[a - first];
        const std::uint64_t of_b = remainders[b - first];
        return of_a != of_b ? of_a > of_b : a < b;
    };
    const auto last = order.begin() + static_cast<std::ptrdiff_t>(left);
    std::nth_element(order.begin(), last, order.end(), cut_more);
    std::for_each(order.begin(), last, [&](std::size_t rank) { ++counts[rank]; });
    return counts;
}

} // namespace

std::int64_t kept_blocks(BlockGrid grid, double density) {
    TESSERA_ASSERT(density >= 0.0 && density <= 1.0);
    const std::int64_t all = grid.rows * grid.columns;
    return std::min<std::int64_t>(std::llround(density * static_cast<double>(all)), all);
}

std::vector<std::int64_t> uniform_blocks(BlockGrid grid, std::int64_t kept, std::uint64_t seed) {
    const std::int64_t all = grid.rows * grid.columns;
    TESSERA_ASSERT(kept >= 0 && kept <= all);
    std::vector<std::int64_t> blocks;
    blocks.reserve(static_cast<std::size_t>(kept));
    DistinctDraws(seed).append(0, all, kept, blocks);
    return blocks;
}

std::vector<std::int64_t> banded_blocks(BlockGrid grid, std::int64_t kept) {
    const Band band(grid);
    TESSERA_ASSERT(kept >= 0 && kept <= grid.rows * grid.columns);
    // The narrowest band that holds `kept` blocks; the ring at exactly its width may be kept in
    // part.
    std::int64_t too_narrow = -1;
    std::int64_t width = band.largest_distance();
    while (width - too_narrow > 1) {
        const std::int64_t middle = too_narrow + (width - too_narrow) / 2;
        (band.blocks_within(middle) >= kept ? width : too_narrow) = middle;
    }
    std::int64_t from_ring = kept - (width > 0 ? band.blocks_within(width - 1) : 0);
    std::vector<std::int64_t> blocks;
    blocks.reserve(static_cast<std::size_t>(kept));
    for (std::int64_t row = 0; row < grid.rows; ++row) {
        const Band::Run run = band.run(row, width);
        for (std::int64_t column = run.first; column < run.end; ++column) {
            if (band.distance(row, column) == width && from_ring-- <= 0) {
                continue;
            }
            blocks.push_back(row * grid.columns + column);
        }
    }
    return blocks;
}

std::vector<std::int64_t> power_law_blocks(BlockGrid grid, std::int64_t kept, double exponent,
                                           std::uint64_t seed) {
    TESSERA_ASSERT(kept >= 0 && kept <= grid.rows * grid.columns && exponent > 0.0);
    const std::vector<std::int64_t> counts = power_law_counts(grid, kept, exponent);
    DistinctDraws draws(seed);
    std::vector<std::int64_t> ranks(counts.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    for (std::size_t row = ranks.size() - 1; row > 0; --row) {
        const auto other = draws.below(static_cast<std::int64_t>(row) + 1);
        std::swap(ranks[row], ranks[static_cast<std::size_t>(other)]);
    }
    std::vector<std::int64_t> blocks;
    blocks.reserve(static_cast<std::size_t>(kept));
    std::int64_t first = 0;
    for (const std::int64_t rank : ranks) {
        draws.append(first, grid.columns, counts[static_cast<std::size_t>(rank)], blocks);
        first += grid.columns;
    }
    return blocks;
}

std::int64_t NOfM::of(std::int64_t blocks) const {
    return (2 * blocks * kept + group) / (2 * group);
}

std::int64_t NOfM::of_row(std::int64_t columns) const {
    return columns / group * kept + of(columns % group);
}

std::optional<NOfM> n_of_m(double density, std::int64_t group) {
    // A density has as many digits as people write: 0.333333 is a third.
    constexpr double kTolerance = 1e-5;
    const double share = density * static_cast<double>(group);
    const std::int64_t kept = std::llround(share);
    const bool is_whole =
        std::fabs(share - static_cast<double>(kept)) <= kTolerance * static_cast<double>(kept);
    return kept >= 1 && kept <= group && is_whole ? std::optional<NOfM>{{kept, group}}
                                                  : std::nullopt;
}

std::string n_of_m_mistake(double density, std::int64_t group) {
    const auto text = [](double number) {
        std::array<char, 32> digits{};
        const auto end =
            std::to_chars(digits.begin(), digits.end(), number, std::chars_format::general, 6);
        return std::string(digits.begin(), end.ptr);
    };
    const auto groups = static_cast<double>(group);
    const double below = std::max(1.0, std::floor(density * groups));
    const double above = std::min(groups, std::max(1.0, std::ceil(density * groups)));
    const std::string of_below = text(below / groups);
    return "got " + text(density) + ", " + text(density * groups) + " of each " +
           std::to_string(group) + " blocks, expected a whole number of them: " +
           (above > below ? of_below + " or " + text(above / groups) : of_below);
}

std::vector<std::int64_t> n_of_m_blocks(BlockGrid grid, NOfM share, std::uint64_t seed) {
    TESSERA_ASSERT(share.kept >= 1 && share.kept <= share.group);
    DistinctDraws draws(seed);
    std::vector<std::int64_t> blocks;
    blocks.reserve(static_cast<std::size_t>(grid.rows * share.of_row(grid.columns)));
    for (std::int64_t row = 0; row < grid.rows; ++row) {
        for (std::int64_t column = 0; column < grid.columns; column += share.group) {
            const std::int64_t group = std::min(share.group, grid.columns - column);
            draws.append(row * grid.columns + column, group, share.of(group), blocks);
        }
    }
    return blocks;
}

} // namespace tessera::workload
