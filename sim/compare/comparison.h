// SPDX-License-Identifier: MIT
// Two results beside each other: what was set differently, which figures moved, and what explains the
// change of cycles. Everything is computed from the two documents alone.
//
// Law: the reasons sum to the change of cycles, and those of a group of steps to the group's.
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::compare {

/// Why cycles became more (or fewer).
enum class Reason {
    StepsOnlyOfA,
    StepsOnlyOfB,
    Issues,
    IssueTime,
    UnusedTiles,
    UnevenSplits,
    UnequalWorkers,
    Words,
    WordTime,
    ExchangeOverhead,
    Barriers,
    BarrierTime,
    StreamBytes,
    StreamTime,
    LinkBytes,
    LinkTime,
    Control
};

struct ReasonSpec {
    const char* key;
    const char* more;  ///< where it adds cycles
    const char* fewer; ///< where it takes some away
};

inline constexpr std::array kReasons{
    ReasonSpec{"steps_only_of_a", "steps that only A has", "steps that only A has"},
    ReasonSpec{"steps_only_of_b", "steps that only B has", "steps that only B has"},
    ReasonSpec{"issues", "workers issue more", "workers issue less"},
    ReasonSpec{"issue_time", "an issue takes a tile longer", "an issue takes a tile less time"},
    ReasonSpec{"unused_tiles", "more tiles compute nothing", "fewer tiles compute nothing"},
    ReasonSpec{"uneven_splits", "work is split over tiles less evenly",
               "work is split over tiles more evenly"},
    ReasonSpec{"unequal_workers", "workers of a tile have less equal work",
               "workers of a tile have more equal work"},
    ReasonSpec{"words", "exchanges deliver more words", "exchanges deliver fewer words"},
    ReasonSpec{"word_time", "a word takes the busiest lane longer",
               "a word takes the busiest lane less time"},
    ReasonSpec{"exchange_overhead", "exchanges have more latency and gaps",
               "exchanges have less latency and fewer gaps"},
    ReasonSpec{"barriers", "more barriers", "fewer barriers"},
    ReasonSpec{"barrier_time", "a barrier takes longer", "a barrier takes less time"},
    ReasonSpec{"stream_bytes", "stream copies that are waited for move more",
               "stream copies that are waited for move less"},
    ReasonSpec{"stream_time", "a streamed byte is waited for longer",
               "a streamed byte is waited for less"},
    ReasonSpec{"link_bytes", "link exchanges move more", "link exchanges move less"},
    ReasonSpec{"link_time", "a byte between chips is waited for longer",
               "a byte between chips is waited for less"},
    ReasonSpec{"control", "the control program takes longer",
               "the control program takes less time"}};

/// Cycles by reason.
struct Cycles {
    std::array<double, kReasons.size()> by_reason{};

    [[nodiscard]] double& at(Reason reason) { return by_reason[static_cast<std::size_t>(reason)]; }
    [[nodiscard]] double at(Reason reason) const {
        return by_reason[static_cast<std::size_t>(reason)];
    }
    [[nodiscard]] double sum() const;
    void add(const Cycles& other);
    /// Reasons other than 0, the largest first.
    [[nodiscard]] std::vector<Reason> largest_first() const;
};

/// A value that the two were given, where it is not the same; null where one has none.
struct Setting {
    std::string path;
    nlohmann::json a;
    nlohmann::json b;
};

/// A number of both results.
struct Figure {
    std::string path;
    double a = 0;
    double b = 0;
};

/// Steps that are alike in both: of one kind, role and name but for the number of a chunk.
struct Group {
    std::string kind; ///< compute_set, exchange, stream or link_exchange
    std::string name;
    std::int64_t steps_a = 0;
    std::int64_t steps_b = 0;
    double a = 0; ///< cycles of the run
    double b = 0;
    Cycles change;
    std::vector<std::size_t> members_a; ///< numbers of its steps in the result's list of the kind
    std::vector<std::size_t> members_b;
};

struct Comparison {
    std::string name_a; ///< what ran on what
    std::string name_b;
    double a = 0; ///< cycles
    double b = 0;
    std::vector<Setting> settings;
    std::vector<Setting> plan; ///< what the planner chose differently
    std::vector<Figure> figures;
    std::vector<Group> groups; ///< the largest change first; of those that changed
    Cycles change;             ///< of all
    bool has_steps = false;    ///< without them `change` is 0
};

/// A result that is compared, and the file that it is from; of a store's point, STORE:KEY.
struct Operand {
    nlohmann::json result;
    std::filesystem::path source;
};

/// Both are results of runs or of estimates. Of estimates, and of points whose steps a store has not
/// kept, only settings and figures are compared.
[[nodiscard]] Comparison compare(const nlohmann::json& a, const nlohmann::json& b);

} // namespace tessera::compare
