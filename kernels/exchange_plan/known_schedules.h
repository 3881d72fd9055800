// SPDX-License-Identifier: MIT
// A cache of schedules for messages that recur with their data at other addresses. A pipeline reuses what the search
// for a step has found, and placing again, with more room for rows, reuses the schedules of the first try.
#pragma once

#include "kernels/exchange_plan/exchange_jobs.h"
#include "kernels/exchange_plan/exchange_parts.h"
#include "kernels/exchange_plan/exchange_schedule.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace tessera::exchange_plan {

/// Thread-safe.
class KnownSchedules {
public:
    /// `most_bytes`: limit on the host memory of all schedules.
    explicit KnownSchedules(std::size_t most_bytes = std::size_t{256} << 20)
        : most_bytes_(most_bytes) {}

    /// A schedule; of `parts` of the messages where they are sent in parts.
    struct Found {
        std::shared_ptr<const Schedule> schedule;
        std::optional<JobList> parts;
    };

    /// The schedule of the same messages; nothing if none is known. Addresses may differ, but not on tiles that send
    /// from and receive into one memory element: there they decide when words may go.
    [[nodiscard]] std::optional<Found> find(const spec::MachineSpec& machine, const JobList& list);

    /// Stores a schedule, and drops the oldest ones beyond the limit. Where there are `parts`, the schedule is that of
    /// the parts.
    void keep(const spec::MachineSpec& machine, JobList list, Schedule schedule,
              std::optional<Parts> parts = std::nullopt);

    [[nodiscard]] std::size_t bytes() const {
        const std::lock_guard lock(mutex_);
        return bytes_;
    }
    /// The number of successful find() calls.
    [[nodiscard]] std::size_t found() const {
        const std::lock_guard lock(mutex_);
        return found_;
    }

private:
    struct Known {
        spec::ChipSpec chip;
        spec::ExchangeSpec exchange;
        spec::MemorySpec memory;
        JobList list;
        std::vector<std::uint8_t> shared; ///< tiles on which addresses decide when words may go
        Schedule schedule;
        std::optional<Parts> parts; ///< that the schedule is of, if it is not of the list itself

        [[nodiscard]] std::size_t bytes() const;
    };

    mutable std::mutex mutex_;                      ///< of all below
    std::list<std::shared_ptr<const Known>> known_; ///< the oldest first
    std::size_t most_bytes_;
    std::size_t bytes_ = 0; ///< of all
    std::size_t found_ = 0;
};

} // namespace tessera::exchange_plan
