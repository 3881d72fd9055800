// SPDX-License-Identifier: MIT
#include "sim/result/sentences.h"

#include "base/text.h"
#include "sim/result/result_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace tessera::result {

using listeners::PathShare;
using listeners::PathWork;
using listeners::StepRecord;

namespace {

/// Two figures behind the point are shown; what is nearer to 1 is no difference.
constexpr double kShown = 0.005;
/// Percent of a step that are worth a clause.
constexpr double kWorth = 1;
/// Percent of an exchange that have to be waiting for its critical tile to be spoken of.
constexpr double kUnevenExchange = 5;
/// An exchange that is so near to its bound is as good as there.
constexpr double kNearBound = 1.05;
/// Issue slots that are full enough not to be spoken of, in percent.
constexpr double kFullSlots = 95;
/// Of a worker's cycles, a row that takes so much is named.
constexpr double kMostOfWorker = 0.5;

double percent(double part, Cycles whole) {
    return 100 * ratio(part, static_cast<double>(whole));
}
double percent(Cycles part, Cycles whole) {
    return percent(static_cast<double>(part), whole);
}

/// The tile that is on a path longest, the lowest number of equals.
const PathShare& longest(const std::vector<PathShare>& path) {
    return *std::max_element(
        path.begin(), path.end(),
        [](const PathShare& left, const PathShare& right) { return left.cycles < right.cycles; });
}

std::string who(const StepRecord& record) {
    const PathShare& most = longest(record.path);
    return record.path.size() == 1
               ? fmt::format("tile {}", most.tile)
               : fmt::format("{} tiles in turn, tile {} most,", record.path.size(), most.tile);
}

/// "tile 3 takes 1.60 times", "2 tiles in turn, tile 3 most, take 1.60 times".
struct Grammar {
    const char* takes;
    const char* is;
    const char* it;
    const char* its;
};
const Grammar& grammar(const StepRecord& record) {
    static constexpr Grammar kOne{"takes", "is", "it", "its"};
    static constexpr Grammar kSeveral{"take", "are", "them", "their"};
    return record.path.size() == 1 ? kOne : kSeveral;
}

/// Why there is nothing to say of the critical tile, if so.
std::optional<std::string> off_the_path(const StepRecord& record) {
    if (record.executions == 0) {
        return "did not run";
    }
    if (record.cycles == 0) {
        return "nothing waits for it";
    }
    return std::nullopt;
}

/// What is waited for, and how many cycles of the waiting it accounts for; below 0 where the wait
/// would be longer without it.
struct Cause {
    double cycles = 0;
    std::string text;
};

/// ": 49 % for its worker 3, ...; 5 % for 1.17 times the mean non-zeros; less 2 % for ...", and how
/// much is left unnamed.
std::string causes_text(std::vector<Cause> causes, double waited, Cycles step) {
    std::stable_sort(causes.begin(), causes.end(), [](const Cause& left, const Cause& right) {
        return left.cycles > right.cycles;
    });
    std::string said;
    for (const Cause& cause : causes) {
        const double share = percent(cause.cycles, step);
        if (std::abs(share) >= kWorth) {
            said += fmt::format("{} {}{:.0f} % for {}", said.empty() ? ":" : ";",
                                share < 0 ? "less " : "", std::abs(share), cause.text);
            waited -= cause.cycles;
        }
    }
    const double rest = percent(waited, step);
    if (std::abs(rest) >= kWorth) {
        said += fmt::format("{} {}{:.0f} % for smaller differences", said.empty() ? ":" : ";",
                            rest < 0 ? "less " : "", std::abs(rest));
    }
    return said;
}

/// "; tile 818 takes longest, 6,470 cycles, but is not waited for": where another tile is critical for
/// what it does before or behind the step.
std::string slowest_text(const StepRecord& record) {
    const bool differ = record.executions == 1 && record.path.size() == 1 &&
                        record.slowest_tile != record.path.front().tile &&
                        record.slowest_cycles > record.cycles;
    return differ ? fmt::format("; tile {} takes longest, {} cycles, but is not waited for",
                                record.slowest_tile, grouped(record.slowest_cycles))
                  : "";
}

/// A tile's time in a compute set: its mean worker, what the busiest workers of its launches take
/// beyond that, and the rest, which is the supervisor's. They sum to the time.
struct TileTime {
    double mean_worker = 0;
    double unequal = 0;
    double supervisor = 0;
};

TileTime critical_time(const StepRecord& record) {
    const events::Work& work = record.critical.work;
    return {static_cast<double>(work.mean_worker_cycles),
            static_cast<double>(work.busiest_worker_cycles - work.mean_worker_cycles),
            static_cast<double>(record.cycles - work.busiest_worker_cycles)};
}

TileTime mean_time(const listeners::TileMeans& mean) {
    return {mean.mean_worker, mean.busiest_worker - mean.mean_worker,
            mean.cycles - mean.busiest_worker};
}

/// What a compute set's sentence is made from.
class ComputeSetText {
public:
    ComputeSetText(const StepRecord& record, const program::ComputeSet& set, std::int64_t workers)
        : record_(record), set_(set), workers_(workers), critical_(critical_time(record)),
          mean_(mean_time(record.mean)) {}

    std::string text() {
        const double mean = record_.mean.cycles;
        const auto cycles = static_cast<double>(record_.cycles);
        std::string said = against_the_mean(cycles / mean);
        const double waited = cycles - mean;
        if (record_.active_tiles > 1 && percent(waited, record_.cycles) >= kWorth) {
            said += fmt::format("; {:.0f} % of the step is waiting for {}",
                                percent(waited, record_.cycles), grammar(record_).it) +
                    causes_text(causes(), waited, record_.cycles);
        }
        return said + slots() + slowest_text(record_);
    }

private:
    [[nodiscard]] std::string against_the_mean(double time) const {
        const std::string subject = who(record_);
        if (record_.active_tiles == 1) {
            return subject + " alone has a part in it";
        }
        const std::string tiles = grouped(record_.active_tiles);
        if (time < 1 - kShown) {
            return fmt::format("{} {} {:.2f} of the mean of {} tiles, and {} last for what is done "
                               "elsewhere",
                               subject, grammar(record_).takes, time, tiles, grammar(record_).is);
        }
        if (time < 1 + kShown) {
            return fmt::format("{} {} as long as the mean of {} tiles", subject,
                               grammar(record_).takes, tiles);
        }
        return fmt::format("{} {} {:.2f} times the mean of {} tiles", subject,
                           grammar(record_).takes, time, tiles);
    }

    /// The work of the critical tiles over the mean of the tiles that have any; 1 if unknown.
    [[nodiscard]] double share_of_work() const {
        double critical = 0;
        std::int64_t parts = 0;
        for (const PathShare& share : record_.path) {
            if (share.tile < set_.work.size()) {
                critical += static_cast<double>(set_.work[share.tile] * share.parts);
            }
            parts += share.parts;
        }
        const auto sum = std::accumulate(set_.work.begin(), set_.work.end(), std::int64_t{0});
        const auto have = std::count_if(set_.work.begin(), set_.work.end(),
                                        [](std::int64_t work) { return work > 0; });
        return sum == 0 ? 1
                        : critical * static_cast<double>(have) /
                              (static_cast<double>(sum) * static_cast<double>(parts));
    }

    /// Launches of the critical tiles over the mean.
    [[nodiscard]] double share_of_launches() const {
        return ratio(static_cast<double>(record_.critical.work.counts.launches()),
                     record_.mean.launches);
    }

    /// They sum to the wait. More work makes a part of a tile's time longer, but by no more than in
    /// proportion, and unequal workers only where there are as many more launches of them: what is
    /// left of a part has another cause.
    std::vector<Cause> causes() {
        const double work = share_of_work();
        Cause of_work{0, fmt::format("{:.2f} times the mean {}", work, set_.work_unit)};
        const auto left = [&of_work](double critical, double mean, double share) {
            const double more = critical - mean;
            const double by_work = mean * (share - 1);
            const double least = std::min(std::abs(more), std::abs(by_work));
            const double of_part = (more > 0) == (by_work > 0) ? std::copysign(least, more) : 0;
            of_work.cycles += of_part;
            return more - of_part;
        };
        const double issues = left(critical_.mean_worker, mean_.mean_worker, work);
        const double unequal =
            left(critical_.unequal, mean_.unequal, std::min(work, share_of_launches()));
        const double supervisor = left(critical_.supervisor, mean_.supervisor, work);
        names_workers_ = percent(unequal, record_.cycles) >= kWorth;
        return {of_work,
                {issues, issues_text(work)},
                {unequal, names_workers_
                              ? "unequal workers, " + worker_text()
                              : std::string("workers that are more equal than elsewhere")},
                {supervisor, supervisor_text()}};
    }

    [[nodiscard]] std::string issues_text(double work) const {
        const double more = ratio(critical_.mean_worker, mean_.mean_worker);
        return set_.work.empty() || work == 0
                   ? fmt::format("{:.2f} times the mean issues of workers", more)
                   : fmt::format("{:.2f} times the mean issues for as many {}", more / work,
                                 set_.work_unit);
    }

    [[nodiscard]] std::string supervisor_text() const {
        return fmt::format("launches, syncs and the supervisor's own instructions, {} cycles where "
                           "the mean is {}",
                           grouped(std::llround(critical_.supervisor)),
                           grouped(std::llround(mean_.supervisor)));
    }

    /// "of which worker 3 is busy for 34,105 cycles, 96 % of them with row 0, and the mean worker
    /// for 7,000".
    [[nodiscard]] std::string worker_text() const {
        const PathWork& did = record_.critical;
        const events::UnevenLaunch& uneven = did.work.uneven;
        std::int64_t phases = 0;
        for (const PathShare& share : record_.path) {
            phases += share.parts;
        }
        const bool is_all =
            static_cast<double>(uneven.excess() * phases) >= kMostOfWorker * critical_.unequal;
        return fmt::format(
            "of which {}{}worker {}{} is busy for {} cycles{} and the mean worker for {}",
            is_all ? "" : "among others ",
            did.work.counts.launches() > phases ? fmt::format("in launch {} ", uneven.launch) : "",
            uneven.worker,
            record_.path.size() == 1 ? "" : fmt::format(" of tile {}", did.uneven_tile),
            grouped(uneven.busiest), row_text(), grouped(uneven.mean));
    }

    /// The row that keeps the busiest worker busy, if one does: at the tile's mean pace.
    [[nodiscard]] std::string row_text() const {
        const PathWork& did = record_.critical;
        const events::UnevenLaunch& uneven = did.work.uneven;
        const TileId tile = did.uneven_tile;
        if (tile >= set_.items.size() || set_.items[tile].worker != uneven.worker) {
            return "";
        }
        const program::WorkItem& item = set_.items[tile];
        const double all = static_cast<double>(uneven.mean) * static_cast<double>(workers_);
        const double share = ratio(all * static_cast<double>(item.amount),
                                   static_cast<double>(set_.work[tile] * uneven.busiest));
        return share < kMostOfWorker
                   ? ""
                   : fmt::format(", {:.0f} % of them with {} {},", 100 * std::min(share, 1.0),
                                 set_.item_word, item.number);
    }

    /// What keeps the critical tiles from issuing in every slot.
    [[nodiscard]] std::string slots() const {
        const Cycles bound = record_.critical.bound_cycles;
        if (bound == 0 || percent(bound, record_.cycles) >= kFullSlots) {
            return "";
        }
        const auto lost = static_cast<double>(record_.cycles - bound);
        const double unequal = std::min(lost, critical_.unequal);
        std::string said =
            fmt::format("; {} issues would fit into {:.0f} % of {} time", grammar(record_).its,
                        percent(bound, record_.cycles), grammar(record_).its);
        const char* lost_to = ": {:.0f} % is lost to {}";
        const auto add = [&](double cycles, const std::string& to) {
            if (percent(cycles, record_.cycles) >= kWorth) {
                said += fmt::format(fmt::runtime(lost_to), percent(cycles, record_.cycles), to);
                lost_to = ", {:.0f} % to {}";
            }
        };
        add(unequal, "unequal workers" + (names_workers_ ? "" : ", " + worker_text()));
        add(lost - unequal, "launches, syncs and the supervisor");
        return said;
    }

    const StepRecord& record_;
    const program::ComputeSet& set_;
    std::int64_t workers_;
    TileTime critical_;
    TileTime mean_;
    bool names_workers_ = false;
};

} // namespace

TileId critical_tile(const StepRecord& record) {
    return record.path.empty() ? 0 : longest(record.path).tile;
}

std::string compute_set_sentence(const StepRecord& record, const program::ComputeSet& set,
                                 std::int64_t workers) {
    const auto off = off_the_path(record);
    return off ? *off : ComputeSetText(record, set, workers).text();
}

std::string exchange_sentence(const StepRecord& record) {
    if (const auto off = off_the_path(record)) {
        return *off;
    }
    const auto bound = static_cast<double>(record.critical.bound_cycles);
    if (bound == 0) {
        return fmt::format("{} {} {} cycles in which none of {} words move", who(record),
                           grammar(record).takes, grouped(record.cycles), grammar(record).its);
    }
    const auto cycles = static_cast<double>(record.cycles);
    const double over = cycles / bound;
    const std::string lane = fmt::format(
        "{} lane", record.critical.lane_in >= record.critical.lane_out ? "incoming" : "outgoing");
    std::string said =
        over <= kNearBound
            ? fmt::format("{:.2f} times its bound: the {} of {} is full", over, lane,
                          record.path.size() == 1 ? who(record) : "each critical tile")
            : fmt::format("{} {} {:.2f} times what {} {} needs; {:.0f} % of the step is prologue, "
                          "latency and gaps in the schedule",
                          who(record), grammar(record).takes, over, grammar(record).its, lane,
                          100 * (over - 1) / over);
    const double waited = cycles - record.mean.cycles;
    if (percent(waited, record.cycles) >= kUnevenExchange) {
        const double mean_lane = record.mean.fuller_lane;
        said += fmt::format("; {:.0f} % is waiting for {}", percent(waited, record.cycles),
                            grammar(record).it) +
                causes_text({{bound - mean_lane,
                              fmt::format("{:.2f} times the mean of the tiles' fuller lanes",
                                          ratio(bound, mean_lane))},
                             {waited - (bound - mean_lane), "prologue, latency and gaps"}},
                            waited, record.cycles);
    }
    return said + slowest_text(record);
}

std::string stream_sentence(const StepRecord& record) {
    if (const auto off = off_the_path(record)) {
        return *off;
    }
    return fmt::format("{} {} waiting {:.0f} % of the time from its start to its end, in which "
                       "the link is busy for {:.0f} %",
                       who(record), grammar(record).is,
                       percent(record.cycles, record.transfer_cycles),
                       percent(record.bound_cycles, record.transfer_cycles));
}

std::string link_sentence(const StepRecord& record) {
    if (const auto off = off_the_path(record)) {
        return *off;
    }
    const std::string bound =
        record.bound_by == "barrier"
            ? fmt::format(
                  "; its bound is {:.0f} % of that time, and less than the barrier before it",
                  percent(record.bound_cycles, record.transfer_cycles))
        : record.bound_by.empty()
            ? std::string()
            : fmt::format("; its bound, of {}, is {:.0f} % of that time", record.bound_by,
                          percent(record.bound_cycles, record.transfer_cycles));
    return fmt::format("{} {} waiting {:.0f} % of the time from its release to its end{}",
                       who(record), grammar(record).is,
                       percent(record.cycles, record.transfer_cycles), bound);
}

CriticalPath critical_path(const listeners::Account& account) {
    CriticalPath path;
    const auto add = [&path](const std::vector<StepRecord>& records) {
        for (const StepRecord& record : records) {
            path.by_role.at(static_cast<std::size_t>(record.role)) += record.cycles;
        }
    };
    add(account.compute_sets());
    add(account.exchanges());
    add(account.streams());
    add(account.links());
    path.by_role[static_cast<std::size_t>(program::Role::Link)] += account.phases().idle;
    path.by_role[static_cast<std::size_t>(program::Role::Control)] += account.control_cycles();
    path.barriers = account.phases().sync;
    path.tiles = static_cast<std::int64_t>(account.path().size());
    if (path.tiles == 0) {
        path.sentence = "nothing but barriers";
        return path;
    }
    const PathShare& most = longest(account.path());
    path.tile = most.tile;
    path.tile_cycles = most.cycles;
    path.sentence =
        path.tiles == 1
            ? fmt::format("tile {} all the time", path.tile)
            : fmt::format("{} tiles in turn, tile {} for {:.1f} % of the run", path.tiles,
                          path.tile, percent(path.tile_cycles, account.cycles()));
    auto part = [&, mark = ":"](std::string_view word, Cycles cycles) mutable {
        if (cycles > 0) {
            path.sentence +=
                fmt::format("{} {} {:.1f} %", mark, word, percent(cycles, account.cycles()));
            mark = ",";
        }
    };
    for (std::size_t role = 0; role < program::kRoles.size(); ++role) {
        part(program::kRoles.at(role).word, path.by_role.at(role));
    }
    part("barriers", path.barriers);
    return path;
}

} // namespace tessera::result
