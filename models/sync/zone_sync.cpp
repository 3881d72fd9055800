// SPDX-License-Identifier: MIT
#include "models/sync/zone_sync.h"

#include "base/error.h"
#include "models/ports/clock.h"
#include "models/timing/port_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tessera::sync {

using events::Meeting;
using ports::Clock;

ZoneSync::ZoneSync(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                   const program::SystemProgram& system, std::size_t zone)
    : sc_module(name), chips("chips"), witnesses("witnesses"), spec_(spec), system_(system),
      zone_(zone), group_of_(system.chips()), arrived_(system.chips()), meetings_(system.chips()) {
    std::map<std::uint32_t, std::size_t> places;
    for (std::size_t chip = 0; chip < system.chips(); ++chip) {
        const auto [place, is_new] =
            places.try_emplace(system.zones.at(zone).at(chip), groups_.size());
        if (is_new) {
            groups_.emplace_back();
        }
        group_of_[chip] = place->second;
        groups_[place->second].push_back(chip);
    }
    told_.resize(groups_.size());
    SC_HAS_PROCESS(ZoneSync);
    SC_METHOD(on_settled);
    sensitive << ev_settled_;
    dont_initialize();
    SC_METHOD(on_release);
    sensitive << ev_release_;
    dont_initialize();
}

void ZoneSync::arrive(std::int64_t chip, const Meeting& meeting) {
    const auto number = static_cast<std::size_t>(chip);
    TESSERA_ASSERT(!arrived_.at(number));
    arrived_[number] = true;
    meetings_[number] = meeting;
    if (touched_.empty()) {
        ev_settled_.notify(Clock::until_settled());
    }
    touched_.push_back(group_of_[number]);
}

void ZoneSync::on_settled() {
    auto touched = std::exchange(touched_, {});
    std::ranges::sort(touched);
    const auto rest = std::ranges::unique(touched);
    touched.erase(rest.begin(), rest.end());
    for (const std::size_t group : touched) {
        if (!told_[group]) {
            settle(groups_[group]);
        }
    }
}

void ZoneSync::settle(const std::vector<std::size_t>& group) {
    const auto first = std::ranges::find_if(group, [&](auto chip) { return arrived_[chip]; });
    for (const std::size_t chip : group) {
        if (arrived_[chip] && (meetings_[chip].purpose != meetings_[*first].purpose ||
                               name_of(chip) != name_of(*first))) {
            told_[group_of_[chip]] = true;
            const ProgramError error(fmt::format("unbalanced zone {} at cycle {}: {}, {}", zone_,
                                                 Clock::now(), text_of(*first), text_of(chip)));
            witnesses[static_cast<int>(*first)]->failed(ports::Witness::kNoTile,
                                                        std::make_exception_ptr(error));
            return;
        }
    }
    if (!std::ranges::all_of(group, [&](auto chip) { return arrived_[chip]; })) {
        return;
    }
    const Cycles release = Clock::now() + barrier_cycles(group.front());
    releases_[release].push_back(group_of_[group.front()]);
    ev_release_.notify(Clock::until(releases_.begin()->first));
}

Cycles ZoneSync::barrier_cycles(std::size_t chip) const {
    const auto boards = static_cast<Cycles>(groups_[group_of_[chip]].back() / 2);
    constexpr double kUsOfNs = 1e-3;
    const Cycles hop = timing::cycles_of_us(spec_, spec_.sync.hop_ns * kUsOfNs);
    return std::max<Cycles>(1, spec_.sync.external_cycles + 2 * boards * hop);
}

void ZoneSync::on_release() {
    const auto due = releases_.extract(releases_.begin());
    TESSERA_ASSERT(due.key() == Clock::now());
    if (!releases_.empty()) {
        ev_release_.notify(Clock::until(releases_.begin()->first));
    }
    std::vector<std::size_t> woken;
    for (const std::size_t group : due.mapped()) {
        for (const std::size_t chip : groups_[group]) {
            arrived_[chip] = false;
            woken.push_back(chip);
        }
    }
    if (shuffle_) {
        std::ranges::shuffle(woken, *shuffle_);
    }
    for (const std::size_t chip : woken) {
        chips[static_cast<int>(chip)]->wake();
    }
}

std::string ZoneSync::name_of(std::size_t chip) const {
    const Meeting& meeting = meetings_[chip];
    return meeting.purpose == Meeting::Purpose::Link
               ? system_.of_chip(chip).link_exchanges.at(meeting.exchange).name
               : std::string();
}

std::string ZoneSync::text_of(std::size_t chip) const {
    const Meeting& meeting = meetings_[chip];
    return meeting.purpose == Meeting::Purpose::Link
               ? fmt::format("ipu_{} is at link exchange {} of zone {} in step {}", chip,
                             name_of(chip), zone_, meeting.step)
               : fmt::format("ipu_{} is at a sync of zone {} in step {}", chip, zone_,
                             meeting.step);
}

std::vector<std::size_t> ZoneSync::awaited_by(std::size_t chip) const {
    std::vector<std::size_t> awaited;
    for (const std::size_t other : groups_[group_of_[chip]]) {
        if (!arrived_[other]) {
            awaited.push_back(other);
        }
    }
    return awaited;
}

} // namespace tessera::sync
