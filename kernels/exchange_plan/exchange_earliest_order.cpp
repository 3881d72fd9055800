// SPDX-License-Identifier: MIT
// The order of a list schedule: a quick one that only appends, on the first free event of each lane
// and each input.
#include "kernels/exchange_plan/exchange_orders.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace tessera::exchange_plan {

namespace {

class ListSchedule {
public:
    ListSchedule(const JobList& list, std::size_t tiles, std::size_t most_looks)
        : list_(list), looks_left_(most_looks), lane_free_(tiles), input_free_(tiles, 1),
          to_take_(tiles), waiting_(tiles) {
        for (std::uint32_t index = 0; index < list.jobs.size(); ++index) {
            const auto& job = list.jobs[index];
            waiting_[job.source].push_back(index);
            for (const auto& to : list.of(job))
                to_take_[to.tile] += job.words;
        }
    }

    std::optional<JobOrder> order() {
        using Entry = std::pair<Cycles, TileId>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> senders;
        for (TileId tile = 0; tile < waiting_.size(); ++tile)
            if (!waiting_[tile].empty())
                senders.push({0, tile});
        JobOrder order;
        order.reserve(list_.jobs.size());
        while (!senders.empty()) {
            const auto tile = senders.top().second;
            senders.pop();
            const auto found = first_of(tile);
            if (!found)
                return std::nullopt;
            // What was known of the others only grows.
            if (!senders.empty() && senders.top().first < found->start) {
                senders.push({found->start, tile});
                continue;
            }
            order.push_back(send(tile, *found));
            if (!waiting_[tile].empty())
                senders.push({lane_free_[tile], tile});
        }
        return order;
    }

private:
    struct Choice {
        std::size_t place = 0; ///< in the sender's waiting messages
        Cycles start = 0;
        std::int64_t to_take = 0;
    };

    /// The sender's message that can start first, or nothing when there were too many looks.
    std::optional<Choice> first_of(TileId tile) {
        std::optional<Choice> best;
        for (std::size_t place = 0; place < waiting_[tile].size(); ++place) {
            const auto& job = list_.jobs[waiting_[tile][place]];
            if (looks_left_ < job.receivers)
                return std::nullopt;
            looks_left_ -= job.receivers;
            Choice choice{place, lane_free_[tile], 0};
            for (const auto& to : list_.of(job)) {
                choice.start =
                    std::max(choice.start, input_free_[to.tile] - 1 - to.offset(job.wide));
                choice.to_take = std::max(choice.to_take, to_take_[to.tile]);
            }
            if (!best || choice.start < best->start ||
                (choice.start == best->start && choice.to_take > best->to_take))
                best = choice;
        }
        return best;
    }

    std::uint32_t send(TileId tile, const Choice& choice) {
        auto& waiting = waiting_[tile];
        const auto index = waiting[choice.place];
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(choice.place));
        const auto& job = list_.jobs[index];
        lane_free_[tile] = choice.start + list_.events(job, job.wide);
        for (const auto& to : list_.of(job)) {
            input_free_[to.tile] = lane_free_[tile] + 1 + to.offset(job.wide);
            to_take_[to.tile] -= job.words;
        }
        return index;
    }

    const JobList& list_;
    std::size_t looks_left_;
    std::vector<Cycles> lane_free_;
    std::vector<Cycles> input_free_; ///< first event at which the mux may turn
    std::vector<std::int64_t> to_take_;
    std::vector<std::vector<std::uint32_t>> waiting_;
};

} // namespace

std::optional<JobOrder> earliest_order(const JobList& list, const timing::TileGrid& grid,
                                       std::size_t most_looks) {
    return ListSchedule{list, static_cast<std::size_t>(grid.tiles()), most_looks}.order();
}

} // namespace tessera::exchange_plan
