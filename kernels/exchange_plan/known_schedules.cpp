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

bool same_elements(const spec::MemorySpec& a, const spec::MemorySpec& b) {
    return a.base == b.base && a.region0_bytes == b.region0_bytes &&
           a.element_bytes == b.element_bytes;
}

/// Whether words may go when they go in the other list: on the tiles of `shared`, addresses are the same.
bool same_where_addresses_matter(const JobList& a, const JobList& b,
                                 const std::vector<std::uint8_t>& shared) {
    const auto same_job = [&](const Job& one, const Job& other) {
        return shared[one.source] == 0 || one.address == other.address;
    };
    const auto same_receiver = [&](const Receiver& one, const Receiver& other) {
        return shared[one.tile] == 0 || one.address == other.address;
    };
    return std::equal(a.jobs.begin(), a.jobs.end(), b.jobs.begin(), same_job) &&
           std::equal(a.receivers.begin(), a.receivers.end(), b.receivers.begin(), same_receiver);
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
    return bytes_of(list) + of_parts + shared.size() +
           schedule.placements.size() * sizeof(Placement) +
           schedule.rows.size() * sizeof(Schedule::Row);
}

std::optional<KnownSchedules::Found> KnownSchedules::find(const spec::MachineSpec& machine,
                                                          const JobList& list) {
    std::shared_ptr<const Known> one;
    {
        const std::lock_guard lock(mutex_);
        std::optional<std::vector<std::uint8_t>> shared;
        const auto at = std::find_if(known_.begin(), known_.end(), [&](const auto& known) {
            if (known->chip != machine.chip || known->exchange != machine.exchange ||
                !same_but_addresses(known->list, list)) {
                return false;
            }
            if (!shared) {
                shared = tiles_with_shared_elements(machine, list);
            }
            return same_elements(known->memory, machine.memory) && known->shared == *shared &&
                   same_where_addresses_matter(known->list, list, *shared);
        });
        if (at == known_.end())
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
    auto shared = tiles_with_shared_elements(machine, list);
    const auto known = std::make_shared<const Known>(
        Known{machine.chip, machine.exchange, machine.memory, std::move(list), std::move(shared),
              std::move(schedule), std::move(parts)});
    if (known->bytes() > most_bytes_)
        return;
    const std::lock_guard lock(mutex_);
    bytes_ += known->bytes();
    for (; bytes_ > most_bytes_; known_.pop_front())
        bytes_ -= known_.front()->bytes();
    known_.push_back(known);
}

} // namespace tessera::exchange_plan
