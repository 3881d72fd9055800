// SPDX-License-Identifier: MIT
// Which ways of sending the messages of an exchange are tried, in which order and until when:
// written down once more, one attempt after the other.
#include "kernels/exchange_plan/exchange_late_first.h"
#include "kernels/exchange_plan/exchange_orders.h"
#include "kernels/exchange_plan/exchange_parts.h"
#include "kernels/exchange_plan/exchange_planner.h"
#include "kernels/exchange_plan/exchange_schedule.h"
#include "kernels/exchange_plan/exchange_timelines.h"
#include "kernels/exchange_plan/search_effort.h"
#include "tests/unit/models/exchange/random_transfers.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::exchange_test;
using exchange_plan::JobList;
using exchange_plan::JobOrder;

namespace {

/// Attempts at one exchange, and the best of them. Nothing ends early.
class Search {
public:
    /// `less`: an exchange is good from so many events below those of the rule on.
    Search(const spec::MachineSpec& machine, const std::vector<program::Transfer>& transfers,
           const exchange_plan::SearchEffort& effort = {}, Cycles less = 0)
        : effort_(effort), machine_(machine), timing_(machine),
          runs_(timing::transfer_runs(machine, transfers)),
          bound_(timing::exchange_bound(machine, transfers, runs_)),
          list_(exchange_plan::make_jobs(timing_, transfers, runs_)) {
        // Within 3 % of the bound and the latency of a message an exchange is good, and also where
        // it is no longer than its longest message by itself.
        near_ = static_cast<Cycles>(1.03 * static_cast<double>(bound_.cycles())) + 100;
        good_ = near_;
        for (const auto& job : list_.jobs) {
            Cycles latency = 0;
            Cycles start = 0;
            for (const auto& to : list_.of(job)) {
                const Cycles offset = to.offset(job.wide);
                latency = std::max(latency, offset + timing_.mux_to_pointer(to.tile));
                start = std::max(start, -offset);
            }
            good_ = std::max(good_, start + latency + list_.events(job, job.wide) +
                                        machine.exchange.row_tail_cycles);
        }
        good_ -= less;
        run();
    }

    [[nodiscard]] std::vector<program::ExchangeRow> rows() const {
        return exchange_plan::Timelines{machine_, timing_, *best_list_, *best_}.rows();
    }
    [[nodiscard]] const exchange_plan::Schedule& schedule() const { return *best_; }
    [[nodiscard]] const JobList& list() const { return *best_list_; }
    /// Receivers of the exchange's messages as they are given.
    [[nodiscard]] std::size_t receivers() const { return list_.receivers.size(); }
    [[nodiscard]] const timing::ExchangeBound& bound() const { return bound_; }
    /// An exchange is good where it is no longer than its longest message by itself, which is more than
    /// the bound allows.
    [[nodiscard]] bool is_good_alone() const { return good_ > near_; }
    /// Attempts by the name of what they try.
    [[nodiscard]] const std::map<std::string, int>& tried() const { return tried_; }
    /// That of the best.
    [[nodiscard]] const std::string& won() const { return won_; }

private:
    void run() {
        const auto& grid = timing_.grid();
        const bool multicasts = std::any_of(list_.jobs.begin(), list_.jobs.end(),
                                            [](const auto& job) { return job.receivers > 1; });
        const bool wide = std::any_of(list_.jobs.begin(), list_.jobs.end(),
                                      [](const auto& job) { return job.wide; });
        if (multicasts) {
            const auto grouped = exchange_plan::grouped_order(list_, grid);
            if (2 * list_.receivers.size() > effort_.attempts) {
                late_alone("groups, late alone", list_, grouped, {});
            } else {
                attempt("groups", list_, grouped, {});
            }
            if (wide && wanted()) {
                attempt("groups in words", list_, grouped, {.wide = false});
            }
            if (wanted()) {
                if (auto parts = exchange_plan::divide_receivers(list_, grid, bound_)) {
                    attempt("divided", std::move(*parts));
                }
            }
            if (wanted()) {
                late_alone("late alone", *best_list_, best_order_, best_rules_);
            }
            if (wanted() && best_rules_.least_piece != 2) {
                auto rules = best_rules_;
                rules.least_piece = 2;
                late_alone("in pieces, late alone", *best_list_, best_order_, rules);
            }
        }
        if (wanted()) {
            attempt("shift", list_, exchange_plan::shift_order(list_, grid), {});
        }
        if (wanted()) {
            attempt("busiest", list_, exchange_plan::busiest_order(list_, grid), {});
        }
        if (wanted()) {
            attempt("rounds", list_, exchange_plan::round_order(list_, grid), {});
        }
        for (const std::uint32_t least : {2U, 1U}) {
            if (wanted() && best_rules_.least_piece != least) {
                auto rules = best_rules_;
                rules.least_piece = least;
                attempt("pieces of " + std::to_string(least), *best_list_, best_order_, rules);
            }
        }
        if (wanted()) {
            if (const auto order = exchange_plan::earliest_order(list_, grid, effort_.looks)) {
                attempt("earliest", list_, *order, {});
            }
        }
        late_first();
        if (multicasts && machine_.exchange.far_first && best_->longest_row_events > near_ &&
            best_rules_.least_piece == 0) {
            if (auto parts = exchange_plan::far_first(*best_list_, best_order_, timing_)) {
                attempt("far first", std::move(*parts));
            }
        }
    }

    /// As often as the effort says, each after what the one before came to.
    void late_first() {
        if (best_->longest_row_events <= near_) {
            return;
        }
        const JobList& list = *best_list_;
        auto rules = best_rules_;
        rules.least_piece = 2;
        std::size_t most = 0; // a single one is not worth it
        while (most < effort_.most_late_first &&
               (most + 1) * list_.receivers.size() <= effort_.late_first) {
            ++most;
        }
        if (most == 1) {
            return;
        }
        exchange_plan::LateFirst orders{list, best_order_, best_->rows.size()};
        auto order = orders.next(*best_);
        std::vector<Cycles> came_to;
        for (std::size_t i = 0; i < most && best_->longest_row_events > near_; ++i) {
            if (i == 3 && list_.receivers.size() >= effort_.settled_from) {
                const auto [least, longest] = std::ranges::minmax(came_to);
                if (longest - least < longest / 200) { // 0.5 %
                    ++tried_["settled"];
                    return;
                }
            }
            const auto made = attempt("late first", list, order, rules);
            came_to.push_back(made.longest_row_events);
            order = orders.next(made);
        }
    }

    /// A further attempt at the whole exchange.
    [[nodiscard]] bool wanted() const {
        return !best_ || (best_->longest_row_events > good_ &&
                          spent_ + list_.receivers.size() <= effort_.attempts);
    }

    exchange_plan::Schedule attempt(const std::string& name, const JobList& list,
                                    const JobOrder& order,
                                    const exchange_plan::PlacementRules& rules) {
        ++tried_[name];
        spent_ += list_.receivers.size();
        exchange_plan::MessagePlacer placer{machine_, timing_, list};
        CHECK(placer.place_all(order, rules));
        keep_if_shorter(name, list, order, rules, placer.schedule());
        return placer.take_schedule();
    }
    void keep_if_shorter(const std::string& name, const JobList& list, const JobOrder& order,
                         const exchange_plan::PlacementRules& rules,
                         const exchange_plan::Schedule& made) {
        if (!best_ || made.longest_row_events < best_->longest_row_events) {
            best_ = made;
            best_list_ = &list;
            best_order_ = order;
            best_rules_ = rules;
            won_ = name;
        }
    }
    /// What would end behind 97 % of the bound and the latency of a message goes to each receiver by itself, behind all
    /// that is placed as `rules` say, in pieces of two events.
    void late_alone(const std::string& name, const JobList& list, const JobOrder& order,
                    const exchange_plan::PlacementRules& rules) {
        ++tried_[name];
        spent_ += list_.receivers.size();
        auto with_late = rules;
        with_late.late = static_cast<Cycles>(0.97 * static_cast<double>(bound_.cycles())) + 100;
        exchange_plan::MessagePlacer first{machine_, timing_, list};
        CHECK(first.place_all(order, with_late));
        if (first.aside().empty()) {
            keep_if_shorter(name, list, order, rules, first.schedule());
            return;
        }
        const auto& parts =
            parts_.emplace_back(exchange_plan::late_alone(list, order, first.aside()));
        auto in_pieces = rules;
        in_pieces.least_piece = 2;
        exchange_plan::MessagePlacer again{machine_, timing_, parts.list};
        const std::span<const std::uint32_t> all = parts.order;
        CHECK(again.place_all(all.first(all.size() - parts.late), rules));
        CHECK(again.place_all(all.last(parts.late), in_pieces));
        keep_if_shorter(name, parts.list, parts.order, in_pieces, again.schedule());
    }
    void attempt(const std::string& name, exchange_plan::Parts made) {
        const auto& parts = parts_.emplace_back(std::move(made));
        static_cast<void>(attempt(name, parts.list, parts.order, {}));
    }

    exchange_plan::SearchEffort effort_;
    std::size_t spent_ = 0; ///< receivers that all attempts so far have placed
    const spec::MachineSpec& machine_;
    timing::ExchangeTiming timing_;
    std::vector<timing::TransferRun> runs_;
    timing::ExchangeBound bound_;
    JobList list_;
    Cycles near_ = 0;
    Cycles good_ = 0;
    std::list<exchange_plan::Parts> parts_;
    std::optional<exchange_plan::Schedule> best_;
    const JobList* best_list_ = nullptr;
    JobOrder best_order_;
    exchange_plan::PlacementRules best_rules_;
    std::map<std::string, int> tried_;
    std::string won_;
};

void check_stats(const exchange_plan::PlannedExchange& planned, const Search& search) {
    std::int64_t sent = 0;
    std::int64_t received = 0;
    std::int64_t wide = 0;
    std::int64_t lowered = 0;
    const JobList& list = search.list();
    for (std::size_t i = 0; i < list.jobs.size(); ++i) {
        const bool is_wide = search.schedule().placements[i].wide;
        sent += list.jobs[i].words;
        received += std::int64_t{list.jobs[i].words} * list.jobs[i].receivers;
        wide += is_wide ? 1 : 0;
        lowered += list.jobs[i].paired && !is_wide ? 1 : 0;
    }
    Bytes bytes = 0;
    Bytes longest = 0;
    for (const auto& row : planned.exchange.rows) {
        bytes += static_cast<Bytes>(4 * row.words.size());
        longest = std::max(longest, static_cast<Bytes>(4 * row.words.size()));
    }
    const auto& stats = planned.stats;
    CHECK(stats.longest_row_events == search.schedule().longest_row_events);
    CHECK(stats.bound.cycles() == search.bound().cycles());
    CHECK(stats.words_sent == sent);
    CHECK(stats.words_received == received);
    CHECK(stats.wide_messages == wide);
    CHECK(stats.lowered_messages == lowered);
    CHECK(stats.row_bytes == bytes);
    CHECK(stats.longest_row_bytes == longest);
    CHECK(stats.active_tiles == static_cast<std::int64_t>(planned.exchange.rows.size()));
}

} // namespace

TEST_CASE("the rows of an exchange are those of the shortest attempt, made until one is good",
          "[exchange][attempts]") {
    std::map<std::string, int> tried;
    std::map<std::string, int> won;
    int exchanges = 0;
    for (unsigned seed = 0; seed < 270; ++seed) {
        spec::MachineSpec machine;
        Pattern pattern;
        const auto one_of = [](const auto& some, unsigned number) {
            return some[number % some.size()];
        };
        pattern.tiles = one_of(std::vector{6, 16, 40, 1472}, seed);
        pattern.transfers = static_cast<int>(4 + seed * 7 % 70);
        pattern.max_receivers = one_of(std::vector{1, 3, 12}, seed / 4);
        pattern.max_words = one_of(std::vector{3, 40, 400, 2000}, seed / 12);
        pattern.paired_percent = seed / 48 % 2 == 0 ? 0 : 40;
        machine.chip.tiles = pattern.tiles;
        machine.exchange.far_first = seed / 96 % 2 == 0;
        const auto transfers = RandomTransfers{machine, pattern, seed}.make();
        if (transfers.empty()) {
            continue;
        }
        CAPTURE(seed);
        ++exchanges;
        exchange_plan::SearchEffort effort;
        effort.settled_from = seed / 2 % 2 == 0 ? effort.settled_from : 0;
        const auto planned =
            exchange_plan::plan_exchange_with_stats(machine, "x", transfers, nullptr, effort);
        const Search search(machine, transfers, effort);
        for (const auto& [name, times] : search.tried()) {
            tried[name] += times;
        }
        ++won[search.won()];
        CAPTURE(search.won());
        check_stats(planned, search);
        const auto rows = search.rows();
        REQUIRE(planned.exchange.rows.size() == rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            CHECK(planned.exchange.rows[i].tile == rows[i].tile);
            CHECK(planned.exchange.rows[i].words == rows[i].words);
        }
    }
    CHECK(exchanges > 250);
    // every way is tried and wins somewhere
    for (const char* name : {"groups", "groups in words", "divided", "late alone",
                             "in pieces, late alone", "shift", "busiest", "rounds", "pieces of 2",
                             "pieces of 1", "earliest", "late first", "far first"}) {
        CAPTURE(name);
        CHECK(tried[name] > 0);
        CHECK(won[name] > 0);
    }
    CHECK(tried["earliest"] < exchanges);
    CHECK(tried["settled"] > 0);
    CHECK(tried["settled"] < exchanges);
}

TEST_CASE("a search ends where its effort does", "[exchange][attempts]") {
    // Messages whose first order is seldom good, each of its own number of receivers.
    std::map<std::string, std::map<std::size_t, int>> matters; // by what is limited, by how much
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        spec::MachineSpec machine;
        Pattern pattern;
        pattern.tiles = machine.chip.tiles = seed % 2 == 0 ? 16 : 40;
        pattern.transfers = static_cast<int>(20 + seed % 30);
        pattern.max_receivers = seed % 3 == 0 ? 1 : 6;
        pattern.max_words = 1000;
        pattern.paired_percent = seed % 4 == 0 ? 40 : 0;
        const auto transfers = RandomTransfers{machine, pattern, seed}.make();
        const auto rows_of = [&](const exchange_plan::SearchEffort& effort) {
            const auto planned =
                exchange_plan::plan_exchange_with_stats(machine, "x", transfers, nullptr, effort);
            const Search search(machine, transfers, effort);
            const auto rows = search.rows();
            REQUIRE(planned.exchange.rows.size() == rows.size());
            std::vector<std::vector<std::uint32_t>> words;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                CHECK(planned.exchange.rows[i].words == rows[i].words);
                words.push_back(rows[i].words);
            }
            return words;
        };
        const std::size_t size = Search(machine, transfers).receivers();
        // that many attempts, and one fewer
        for (std::size_t times = 1; times <= 8; ++times) {
            CAPTURE(times);
            exchange_plan::SearchEffort effort{.attempts = times * size, .late_first = 0};
            const auto enough = rows_of(effort);
            --effort.attempts;
            matters["attempts"][times] += rows_of(effort) != enough ? 1 : 0;
        }
        for (std::size_t times = 1; times <= 4; ++times) {
            CAPTURE(times);
            exchange_plan::SearchEffort effort{.attempts = size, .late_first = times * size};
            const auto enough = rows_of(effort);
            --effort.late_first;
            matters["late first"][times] += rows_of(effort) != enough ? 1 : 0;
            effort = {.attempts = size, .most_late_first = times};
            CHECK(rows_of(effort) == enough);
        }
        CHECK(rows_of({.attempts = 0, .late_first = 0}) ==
              rows_of({.attempts = size, .late_first = 0}));
        static_cast<void>(rows_of({.looks = 1}));
    }
    CHECK(matters["attempts"][1] == 0); // the first is always made
    for (std::size_t times = 2; times <= 8; ++times) {
        CAPTURE(times);
        CHECK(matters["attempts"][times] > 0);
    }
    CHECK(matters["late first"][1] == 0); // one by itself is not made
    for (std::size_t times = 2; times <= 4; ++times) {
        CAPTURE(times);
        CHECK(matters["late first"][times] > 0);
    }
}

TEST_CASE("an exchange that is as long as its longest message by itself is good",
          "[exchange][attempts]") {
    std::map<Cycles, int> matters; // by how many events less
    int alone = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        spec::MachineSpec machine;
        Pattern pattern;
        pattern.tiles = machine.chip.tiles = seed % 3 == 0 ? 600 : 1472;
        pattern.transfers = static_cast<int>(1 + seed % 4);
        pattern.max_receivers = seed % 2 == 0 ? 40 : 5;
        pattern.max_words = seed % 5 == 0 ? 30 : 3;
        pattern.paired_percent = seed % 7 == 0 ? 40 : 0;
        machine.exchange.far_first = false;
        const auto transfers = RandomTransfers{machine, pattern, seed}.make();
        if (transfers.empty()) {
            continue;
        }
        const Search search(machine, transfers);
        if (!search.is_good_alone()) {
            continue;
        }
        ++alone;
        const auto planned = exchange_plan::plan_exchange_with_stats(machine, "x", transfers);
        const auto rows = search.rows();
        REQUIRE(planned.exchange.rows.size() == rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            CHECK(planned.exchange.rows[i].words == rows[i].words);
        }
        for (const Cycles less : {1, 10}) {
            const auto events = Search(machine, transfers, {}, less).schedule().longest_row_events;
            matters[less] += events != search.schedule().longest_row_events ? 1 : 0;
        }
    }
    CHECK(alone > 0);
    CHECK(matters[1] > 0);
    CHECK(matters[10] > 0);
}
