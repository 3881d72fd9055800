// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/known_schedules.h"

#include <algorithm>
#include <utility>

namespace tessera::exchange_plan {

namespace {

bool same_but_addresses(const Job& a, const Job& b) {
    return a.source == b.source && a.words == b.words && a.receivers == b.receivers &&
           a.paired == b.paired && a.wide == b.wide;
}

bool same_but_addresses(const Receiver& a, const Receiver& b) {
    return a.tile == b.tile && a.mux_offset == b.mux_offset && a.early_offset == b.early_offset &&
           a.direction == b.direction;
}

bool same_but_addresses(const JobList& a, const JobList& b) {
    const auto same = [](const auto& one, const auto& other) {
        return same_but_addresses(one, other);
    };
    return std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), b.jobs.end(), same) &&
           std::equal(a.receivers.begin(), a.receivers.end(), b.receivers.begin(),
                      b.receivers.end(), same);
}

bool addresses_matter(const spec::MachineSpec& machine, const JobList& list) {
    const auto shared = tiles_with_shared_elements(machine, list);
    return std::find(shared.begin(), shared.end(), 1) != shared.end();
}

} // namespace

std::size_t KnownSchedules::Known::bytes() const {
    const auto bytes_of = [](const JobList& of) {
        return of.jobs.size() * sizeof(Job) + of.receivers.size() * sizeof(Receiver);
    };
    const std::size_t of_parts =
        parts ? bytes_of(parts->list) +
                    (parts->order.size() + parts->of_job.size()) * sizeof(std::uint32_t)
              : 0;
    return bytes_of(list) + of_parts + schedule.placements.size() * sizeof(Placement) +
           schedule.rows.size() * sizeof(Schedule::Row);
}

std::optional<KnownSchedules::Found> KnownSchedules::find(const spec::MachineSpec& machine,
                                                          const JobList& list) {
    std::shared_ptr<const Known> one;
    {
        const std::lock_guard lock(mutex_);
        const auto at = std::find_if(known_.begin(), known_.end(), [&](const auto& known) {
            return known->chip == machine.chip && known->exchange == machine.exchange &&
                   same_but_addresses(known->list, list);
        });
        if (at == known_.end() || addresses_matter(machine, list))
            return std::nullopt;
        ++found_;
        one = *at;
    }
    Found found{{one, &one->schedule}, std::nullopt};
    if (one->parts)
        found.parts = moved(*one->parts, one->list, list);
    return found;
}

void KnownSchedules::keep(const spec::MachineSpec& machine, JobList list, Schedule schedule,
                          std::optional<Parts> parts) {
    const auto known = std::make_shared<const Known>(Known{
        machine.chip, machine.exchange, std::move(list), std::move(schedule), std::move(parts)});
    if (known->bytes() > most_bytes_ || addresses_matter(machine, known->list))
        return;
    const std::lock_guard lock(mutex_);
    bytes_ += known->bytes();
    for (; bytes_ > most_bytes_; known_.pop_front())
        bytes_ -= known_.front()->bytes();
    known_.push_back(known);
}

} // namespace tessera::exchange_plan
