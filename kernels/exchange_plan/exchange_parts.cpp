// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_parts.h"

#include "kernels/exchange_plan/exchange_groups.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace tessera::exchange_plan {

namespace {

/// Adds `job`, of job `number`, to some of its receivers.
void add_part(Parts& parts, Job job, std::uint32_t number, std::span<const Receiver> to) {
    auto& list = parts.list;
    job.first_receiver = static_cast<std::uint32_t>(list.receivers.size());
    job.receivers = static_cast<std::uint32_t>(to.size());
    list.jobs.push_back(job);
    list.receivers.insert(list.receivers.end(), to.begin(), to.end());
    parts.of_job.push_back(number);
}

/// Adds `words` words of job `number` from word `first` on, to some of its receivers. They go by single words.
void add_part(Parts& parts, Job job, std::uint32_t number, std::uint32_t first, std::uint32_t words,
              std::span<const Receiver> to) {
    const auto offset = static_cast<Address>(first * Job::item_bytes(false));
    job.address += offset;
    job.words = words;
    job.wide = false;
    add_part(parts, job, number, to);
    for (auto& receiver : std::span(parts.list.receivers).last(to.size()))
        receiver.address += offset;
}

/// How the pairs of one group are divided, and in which part each of its senders begins.
struct Division {
    std::vector<TileId> ring; ///< the group's pairs, neighbours on the grid beside each other
    std::vector<TileId> senders;
    std::size_t parts = 1;
};

class Divider {
public:
    Divider(const JobList& list, const timing::TileGrid& grid, std::size_t most_parts)
        : list_(list), grid_(grid), groups_(find_groups(list, grid.pair_bit(), GroupBy::AllTiles)),
          divisions_(groups_.pairs.size()),
          part_of_pair_(static_cast<std::size_t>(grid.tiles())), parts_{
                                                                     JobList{list.lane}, {}, {}} {
        std::vector<std::size_t> most_pairs(divisions_.size()); // that one job of the group has
        for (std::uint32_t job = 0; job < list.jobs.size(); ++job) {
            const auto group = groups_.group_of_job[job];
            divisions_[group].senders.push_back(list.jobs[job].source);
            most_pairs[group] = std::max(most_pairs[group], pairs_of(list.jobs[job]));
        }
        for (std::size_t group = 0; group < divisions_.size(); ++group) {
            auto& division = divisions_[group];
            division.ring = groups_.pairs[group];
            sort_into_ring(division.ring, grid_);
            auto& senders = division.senders;
            sort_into_ring(senders, grid_);
            senders.erase(std::unique(senders.begin(), senders.end()), senders.end());
            division.parts = most_pairs[group] <= most_parts ? division.ring.size() : most_parts;
        }
    }

    Parts divide() {
        for (std::uint32_t job = 0; job < list_.jobs.size(); ++job)
            divide(job, groups_.group_of_job[job]);
        parts_.order.resize(parts_.list.jobs.size());
        std::iota(parts_.order.begin(), parts_.order.end(), 0U);
        std::ranges::stable_sort(parts_.order, {}, [&](auto job) { return round_of_job_[job]; });
        return std::move(parts_);
    }

private:
    [[nodiscard]] std::size_t pairs_of(const Job& job) {
        pairs_.clear();
        for (const auto& to : list_.of(job))
            pairs_.push_back(to.tile & ~grid_.pair_bit());
        std::sort(pairs_.begin(), pairs_.end());
        return static_cast<std::size_t>(std::unique(pairs_.begin(), pairs_.end()) - pairs_.begin());
    }

    void divide(std::uint32_t number, std::size_t group) {
        const Job& job = list_.jobs[number];
        const auto& [ring, senders, parts] = divisions_[group];
        for (std::size_t i = 0; i < ring.size(); ++i)
            part_of_pair_[ring[i]] = i * parts / ring.size();
        const auto part_of = [&](const Receiver& to) {
            return part_of_pair_[to.tile & ~grid_.pair_bit()];
        };
        const auto sender = static_cast<std::size_t>(
            std::find(senders.begin(), senders.end(), job.source) - senders.begin());
        const auto first_part = sender * parts / senders.size();
        receivers_.assign(list_.of(job).begin(), list_.of(job).end());
        std::ranges::stable_sort(receivers_, {}, part_of);
        for (auto from = receivers_.begin(); from != receivers_.end();) {
            const auto part = part_of(*from);
            const auto to = std::find_if(from, receivers_.end(), [&](const auto& receiver) {
                return part_of(receiver) != part;
            });
            add_part(parts_, job, number, {from, to});
            round_of_job_.push_back((part + parts - first_part) % parts);
            from = to;
        }
    }

    const JobList& list_;
    const timing::TileGrid& grid_;
    Groups groups_;
    std::vector<Division> divisions_; ///< of each group
    std::vector<std::size_t> part_of_pair_;
    std::vector<std::size_t> round_of_job_;
    Parts parts_;
    std::vector<Receiver> receivers_; ///< scratch
    std::vector<TileId> pairs_;       ///< scratch
};

/// Messages whose far receivers get their first words before the near ones.
class FarFirst {
public:
    FarFirst(const JobList& list, const timing::ExchangeTiming& timing)
        : list_(list), timing_(timing), parts_{JobList{list.lane}, {}, {}, 0} {}

    std::optional<Parts> divide(const JobOrder& order) {
        bool gains = false;
        for (const auto index : order)
            gains = divide(index) || gains;
        if (!gains)
            return std::nullopt;
        parts_.order.resize(parts_.list.jobs.size());
        std::iota(parts_.order.begin(), parts_.order.end(), 0U);
        return std::move(parts_);
    }

private:
    /// Event before which a message to this receiver alone cannot leave.
    [[nodiscard]] static Cycles start(const Receiver& to) {
        return std::max<Cycles>(-to.offset(false), 0);
    }
    [[nodiscard]] Cycles latency(const Receiver& to) const {
        return to.offset(false) + timing_.mux_to_pointer(to.tile);
    }

    /// Of receivers by ascending start: how many are far, so that the last word arrives soonest;
    /// all of them where dividing gains nothing.
    [[nodiscard]] std::size_t best_cut() const {
        std::vector<Cycles> farthest_behind(receivers_.size() + 1); // of [i, end)
        for (auto i = receivers_.size(); i-- > 0;)
            farthest_behind[i] = std::max(farthest_behind[i + 1], latency(receivers_[i]));
        const auto last_start = start(receivers_.back());
        auto best = receivers_.size();
        auto least = last_start + farthest_behind[0];
        Cycles farthest = 0;
        for (std::size_t cut = 1; cut < receivers_.size(); ++cut) {
            farthest = std::max(farthest, latency(receivers_[cut - 1]));
            const auto end =
                std::max(start(receivers_[cut - 1]) + farthest, last_start + farthest_behind[cut]);
            if (end < least) {
                least = end;
                best = cut;
            }
        }
        return best;
    }

    /// Adds the message in up to three parts; whether there are more than one.
    bool divide(std::uint32_t number) {
        const Job& job = list_.jobs[number];
        receivers_.assign(list_.of(job).begin(), list_.of(job).end());
        std::ranges::stable_sort(receivers_, {}, start);
        const auto cut = best_cut();
        if (cut == receivers_.size()) {
            add_part(parts_, job, number, receivers_);
            return false;
        }
        const auto early = start(receivers_.back()) - start(receivers_[cut - 1]);
        const auto words =
            std::min(static_cast<std::uint32_t>(early * list_.lane.items()), job.words);
        const std::span<const Receiver> all{receivers_};
        add_part(parts_, job, number, 0, words, all.first(cut));
        if (words < job.words)
            add_part(parts_, job, number, words, job.words - words, all);
        add_part(parts_, job, number, 0, words, all.subspan(cut));
        return true;
    }

    const JobList& list_;
    const timing::ExchangeTiming& timing_;
    std::vector<Receiver> receivers_; ///< scratch
    Parts parts_;
};

} // namespace

std::optional<Parts> divide_receivers(const JobList& list, const timing::TileGrid& grid,
                                      const timing::ExchangeBound& bound) {
    const auto most_parts = bound.cycles() / std::max<Cycles>(bound.events_out, 1);
    if (most_parts < 2)
        return std::nullopt;
    return Divider{list, grid, static_cast<std::size_t>(most_parts)}.divide();
}

std::optional<Parts> far_first(const JobList& list, const JobOrder& order,
                               const timing::ExchangeTiming& timing) {
    if (std::any_of(list.jobs.begin(), list.jobs.end(), [](const Job& job) { return job.wide; }))
        return std::nullopt;
    return FarFirst{list, timing}.divide(order);
}

Parts late_alone(const JobList& list, const JobOrder& order, std::span<const Aside> aside) {
    Parts parts{list, {}, given_order(list), 0};
    JobOrder alone;
    std::vector<bool> late(list.jobs.size());
    for (const auto& [number, first] : aside) {
        const Job& job = list.jobs[number];
        const auto receivers = list.of(job);
        for (std::size_t i = 0; i < receivers.size(); ++i) {
            alone.push_back(static_cast<std::uint32_t>(parts.list.jobs.size()));
            add_part(parts, job, number, first, job.words - first, receivers.subspan(i, 1));
        }
        if (first > 0) {
            parts.list.jobs[number].words = first;
            parts.list.jobs[number].wide = false;
            continue;
        }
        // The last part takes the job's own place.
        late[number] = true;
        parts.list.jobs[number] = parts.list.jobs.back();
        parts.list.jobs.pop_back();
        parts.of_job.pop_back();
        alone.back() = number;
    }
    std::ranges::copy_if(order, std::back_inserter(parts.order),
                         [&](auto number) { return !late[number]; });
    parts.order.insert(parts.order.end(), alone.begin(), alone.end());
    parts.late = alone.size();
    return parts;
}

JobList moved(const Parts& parts, const JobList& whole, const JobList& elsewhere) {
    JobList list = parts.list;
    std::vector<std::size_t> number; // by tile, of the receiver that it is of the whole message
    for (std::size_t part = 0; part < list.jobs.size(); ++part) {
        Job& job = list.jobs[part];
        const Job& before = whole.jobs[parts.of_job[part]];
        const Job& now = elsewhere.jobs[parts.of_job[part]];
        const Address offset = job.address - before.address;
        const auto all = whole.of(before);
        for (std::size_t i = 0; i < all.size(); ++i) {
            number.resize(std::max<std::size_t>(number.size(), all[i].tile + std::size_t{1}));
            number[all[i].tile] = i;
        }
        job.address = now.address + offset;
        for (Receiver& to : std::span(list.receivers).subspan(job.first_receiver, job.receivers)) {
            to.address = elsewhere.of(now)[number[to.tile]].address + offset;
        }
    }
    return list;
}

} // namespace tessera::exchange_plan
