// SPDX-License-Identifier: MIT
#include "sim/sweep/space.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tessera::sweep {
namespace {

/// A sequence of random bits that any point can be asked for (the finaliser of splitmix64), so that
/// samples are the same on every host and in every shard.
std::uint64_t mixed(std::uint64_t bits) {
    bits += 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
}

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t axis, std::uint64_t number) {
    return mixed(mixed(mixed(seed) ^ axis) ^ number);
}

/// From 0 up to 1, without 1.
double unit(std::uint64_t bits) {
    return static_cast<double>(bits >> 11U) * 0x1p-53;
}

std::int64_t saturated_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? kEndless : std::min(product, kEndless);
}

void append(Changes& changes, const Axis& axis, std::size_t choice) {
    for (std::size_t path = 0; path < axis.paths.size(); ++path) {
        changes.push_back({axis.paths[path], axis.choices[choice][path]});
    }
}

nlohmann::json value_in(const Axis::Stretch& stretch, double place) {
    const double low = stretch.from;
    const double high = stretch.whole ? stretch.to + 1 : stretch.to;
    const double value =
        stretch.logarithmic ? low * std::pow(high / low, place) : low + (high - low) * place;
    if (!stretch.whole) {
        return std::clamp(value, stretch.from, stretch.to);
    }
    return static_cast<std::int64_t>(std::clamp(std::floor(value), stretch.from, stretch.to));
}

/// The numbers below `count` in an order of chance.
std::vector<std::uint32_t> shuffled(std::int64_t count, std::uint64_t seed, std::uint64_t axis) {
    std::vector<std::uint32_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t left = order.size(); left > 1; --left) {
        const double chance = unit(random_bits(~seed, axis, left));
        const auto other = static_cast<std::size_t>(chance * static_cast<double>(left));
        std::swap(order[left - 1], order[other]);
    }
    return order;
}

} // namespace

std::int64_t Axis::range_count(double from, double to, double step) {
    // A step that meets `to` but for its own rounding does.
    const double steps = std::floor((to - from) / step + 1e-9);
    return steps < 0                                   ? 0
           : steps < static_cast<double>(kEndless) - 1 ? static_cast<std::int64_t>(steps) + 1
                                                       : kEndless;
}

std::vector<std::vector<nlohmann::json>>
Axis::range(const nlohmann::json& from, const nlohmann::json& to, const nlohmann::json& step) {
    const bool whole = from.is_number_integer() && step.is_number_integer();
    const auto first = from.get<double>();
    const auto distance = step.get<double>();
    const std::int64_t count = range_count(first, to.get<double>(), distance);
    std::vector<std::vector<nlohmann::json>> choices;
    for (std::int64_t i = 0; i < count; ++i) {
        choices.push_back(
            {whole ? nlohmann::json(from.get<std::int64_t>() + i * step.get<std::int64_t>())
                   : nlohmann::json(first + static_cast<double>(i) * distance)});
    }
    return choices;
}

std::vector<std::vector<nlohmann::json>> Axis::powers_of_two(std::int64_t from, std::int64_t to) {
    std::vector<std::vector<nlohmann::json>> choices;
    for (std::int64_t value = from; value <= to; value *= 2) {
        choices.push_back({value});
        if (value > to / 2) {
            break;
        }
    }
    return choices;
}

std::int64_t Space::size_of(const std::vector<Axis>& axes, const Sample& sample,
                            const std::vector<Axis>& all) {
    const auto choices = [](const Axis& axis) {
        return static_cast<std::int64_t>(axis.choices.size());
    };
    if (!all.empty()) {
        return std::accumulate(all.begin(), all.end(), size_of(axes, sample),
                               [&](std::int64_t points, const Axis& axis) {
                                   return saturated_product(points, choices(axis));
                               });
    }
    switch (sample.kind) {
    case Sampling::Grid:
        return std::accumulate(axes.begin(), axes.end(), std::int64_t{1},
                               [&](std::int64_t points, const Axis& axis) {
                                   return saturated_product(points, choices(axis));
                               });
    case Sampling::OneAtATime:
        return std::accumulate(
            axes.begin(), axes.end(), std::int64_t{1},
            [&](std::int64_t points, const Axis& axis) { return points + choices(axis); });
    default:
        return sample.points;
    }
}

Space::Space(std::vector<Axis> axes, const Sample& sample, std::vector<Axis> all)
    : axes_(std::move(axes)), all_(std::move(all)), sample_(sample), size_(size_of(axes_, sample)),
      repeats_(size_of(all_, {})) {
    const bool samples = sample.kind == Sampling::Random || sample.kind == Sampling::LatinHypercube;
    TESSERA_ASSERT(size_ >= 0 && size_of(axes_, sample, all_) < kEndless);
    for (const Axis& axis : axes_) {
        TESSERA_ASSERT(axis.stretch ? samples && axis.paths.size() == 1 : !axis.choices.empty());
    }
    if (sample.kind == Sampling::LatinHypercube) {
        for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
            parts_.push_back(shuffled(size_, sample.seed, axis));
        }
    }
}

double Space::place(std::size_t axis, std::int64_t number) const {
    const double chance = unit(random_bits(sample_.seed, axis, static_cast<std::uint64_t>(number)));
    if (sample_.kind == Sampling::Random) {
        return chance;
    }
    const auto part = static_cast<double>(parts_[axis][static_cast<std::size_t>(number)]);
    return (part + chance) / static_cast<double>(size_);
}

Changes Space::at(std::int64_t number) const {
    TESSERA_ASSERT(number >= 0 && number < size());
    Changes changes;
    std::int64_t left = repeats_;
    std::int64_t rest = number % repeats_;
    for (const Axis& axis : all_) {
        left /= static_cast<std::int64_t>(axis.choices.size());
        append(changes, axis, static_cast<std::size_t>(rest / left));
        rest %= left;
    }
    for (Change& change : sampled(number / repeats_)) {
        changes.push_back(std::move(change));
    }
    return changes;
}

Changes Space::sampled(std::int64_t number) const {
    Changes changes;
    if (sample_.kind == Sampling::OneAtATime) {
        std::int64_t left = number - 1; // the first point changes nothing
        for (const Axis& axis : axes_) {
            const auto count = static_cast<std::int64_t>(axis.choices.size());
            if (left >= 0 && left < count) {
                append(changes, axis, static_cast<std::size_t>(left));
            }
            left -= count;
        }
        return changes;
    }
    std::int64_t combinations = size_; // of this axis and those behind it, in a grid
    std::int64_t rest = number;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
        const Axis& axis = axes_[i];
        if (sample_.kind == Sampling::Grid) {
            combinations /= static_cast<std::int64_t>(axis.choices.size());
            append(changes, axis, static_cast<std::size_t>(rest / combinations));
            rest %= combinations;
        } else if (axis.stretch) {
            changes.push_back({axis.paths.front(), value_in(*axis.stretch, place(i, number))});
        } else {
            const auto count = static_cast<double>(axis.choices.size());
            append(changes, axis,
                   std::min(static_cast<std::size_t>(place(i, number) * count),
                            axis.choices.size() - 1));
        }
    }
    return changes;
}

} // namespace tessera::sweep
