// SPDX-License-Identifier: MIT
// The schedules that a search has found, for messages that come again with their data elsewhere: what was tried for
// a step of a pipeline comes again in the whole, and what was placed once may be placed again with more room for rows.
#pragma once

#include "kernels/exchange/exchange_jobs.h"
#include "kernels/exchange/exchange_parts.h"
#include "kernels/exchange/exchange_schedule.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace tessera::plan {

/// Several threads may ask and tell at once.
class KnownSchedules {
public:
    /// `most_bytes`: of host memory for all that is kept.
    explicit KnownSchedules(std::size_t most_bytes = std::size_t{128} << 20)
        : most_bytes_(most_bytes) {}

    /// What is known of messages: when they go, and where they go in parts, these.
    struct Found {
        std::shared_ptr<const Schedule> schedule;
        std::optional<JobList> parts;
    };

    /// The schedule of the same messages, wherever they stood; nothing: none is known, or addresses decide when they
    /// may go.
    [[nodiscard]] std::optional<Found> find(const spec::MachineSpec& machine, const JobList& list);

    /// Keeps what was planned last; what is older goes when there is too much. With `parts` of the messages the
    /// schedule is theirs.
    void keep(const spec::MachineSpec& machine, JobList list, Schedule schedule,
              std::optional<Parts> parts = std::nullopt);

    [[nodiscard]] std::size_t bytes() const {
        const std::lock_guard lock(mutex_);
        return bytes_;
    }
    /// How many were found.
    [[nodiscard]] std::size_t found() const {
        const std::lock_guard lock(mutex_);
        return found_;
    }

private:
    struct Known {
        spec::ChipSpec chip;
        spec::ExchangeSpec exchange;
        JobList list;
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

} // namespace tessera::plan
