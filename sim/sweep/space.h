// SPDX-License-Identifier: MIT
// Which points a sweep has: what each of them changes. Points are numbered and made one by one, so
// that a million of them take no memory and a shard makes its own.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sweep {

/// A path as `--set` has it, or `machine` or `workload`, and the value that a point has there.
struct Change {
    std::string path;
    nlohmann::json value;

    friend bool operator==(const Change&, const Change&) = default;
};
using Changes = std::vector<Change>;

/// Something that points differ in.
struct Axis {
    /// All numbers between two ends, of one path. A sample takes some of them.
    struct Stretch {
        double from = 0;
        double to = 0;            ///< more than `from`
        bool whole = false;       ///< whole numbers, both ends among them
        bool logarithmic = false; ///< as many from 1 to 10 as from 10 to 100; both ends more than 0
    };

    std::vector<std::string> paths;                   ///< whose values go together; one or more
    std::vector<std::vector<nlohmann::json>> choices; ///< each with a value for every path
    std::optional<Stretch> stretch;                   ///< instead of choices

    /// Numbers from `from` on in steps to `to`, which is one of them if a step meets it. Whole where
    /// `from` and `step` are. `step` is not 0 and leads to `to`.
    static std::vector<std::vector<nlohmann::json>>
    range(const nlohmann::json& from, const nlohmann::json& to, const nlohmann::json& step);
    /// How many those are; kEndless where the count is beyond any use.
    static std::int64_t range_count(double from, double to, double step);
    /// Powers of two from `from` to `to`, both powers of two.
    static std::vector<std::vector<nlohmann::json>> powers_of_two(std::int64_t from,
                                                                  std::int64_t to);
};

inline constexpr std::int64_t kEndless = std::int64_t{1} << 62U;

enum class Sampling {
    Grid,           ///< every combination; the last axis changes fastest
    Random,         ///< every axis by itself
    LatinHypercube, ///< the same, with each axis cut into as many parts as points, one point in each
    OneAtATime,     ///< nothing changed, then every axis by itself
};

struct Sample {
    Sampling kind = Sampling::Grid;
    std::int64_t points = 0; ///< of Random and LatinHypercube
    std::uint64_t seed = 1;
};

class Space {
public:
    /// Every axis has a choice or a stretch, a stretch only where the sample is Random or
    /// LatinHypercube, and size_of() is less than kEndless. Every choice of `all`, which have no
    /// stretch, goes with the whole sample: machines and workloads, which are judged by the same
    /// points. They change fastest, the last of them first: who has done half of the points has done
    /// all workloads on half of the machines.
    Space(std::vector<Axis> axes, const Sample& sample, std::vector<Axis> all = {});

    /// The number of points, kEndless where that is more.
    [[nodiscard]] static std::int64_t size_of(const std::vector<Axis>& axes, const Sample& sample,
                                              const std::vector<Axis>& all = {});

    [[nodiscard]] std::int64_t size() const { return size_ * repeats_; }
    /// What point `number` changes, by axis. The same point may come twice in a sample; what is the
    /// same is known by its key.
    [[nodiscard]] Changes at(std::int64_t number) const;
    /// Which point of the sample that is: the same for points that differ in choices of `all` alone.
    [[nodiscard]] std::int64_t sample_of(std::int64_t number) const { return number / repeats_; }

private:
    /// Where in an axis a point of a sample is, from 0 up to 1.
    [[nodiscard]] double place(std::size_t axis, std::int64_t number) const;

    [[nodiscard]] Changes sampled(std::int64_t number) const;

    std::vector<Axis> axes_;
    std::vector<Axis> all_;
    Sample sample_;
    std::int64_t size_;                             ///< of the sample
    std::int64_t repeats_;                          ///< choices of `all` together
    std::vector<std::vector<std::uint32_t>> parts_; ///< of LatinHypercube: [axis][point]
};

} // namespace tessera::sweep
