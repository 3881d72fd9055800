// SPDX-License-Identifier: MIT
// The tiles that hold B and the values of a partition before they are sent: their homes.
#pragma once

#include "kernels/plan/homes.h"
#include "kernels/sparse/spmm_partition.h"
#include "kernels/sparse/spmm_reduction.h"
#include "models/spec/machine_spec.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::sparse {

using plan::HomeRun; // its group: number of the run of lines, or of the part whose values they are

class Homes {
public:
    Homes(const spec::MachineSpec& machine, const Partition& partition);

    [[nodiscard]] const Partition& partition() const { return partition_; }
    /// Bytes of a unit, in which the values of a part are sent.
    [[nodiscard]] Bytes value_unit_bytes() const {
        return partition_.problem().value_bytes() * values_a_unit();
    }
    [[nodiscard]] std::int64_t values_a_unit() const {
        return partition_.problem().kind->values_a_unit;
    }
    [[nodiscard]] bool values_stay() const { return partition_.split().parts_n == 1; }
    /// Values go to pairs at double width.
    [[nodiscard]] bool values_wide() const { return values_wide_; }

    /// Consecutive lines of B that the same parts need.
    [[nodiscard]] const std::vector<Range>& runs() const { return runs_; }
    [[nodiscard]] const std::vector<std::int32_t>& users(const Range& run) const {
        return partition_.users_of_line(run.first);
    }
    /// Lines that one part alone needs are at home there, unless what stands there changes with each pass.
    [[nodiscard]] bool stays(const Range& run) const {
        return partition_.split().passes == 1 && users(run).size() == 1;
    }
    /// Receivers of one message of a run's lines.
    [[nodiscard]] std::size_t together(const Range& run) const;
    [[nodiscard]] const std::vector<HomeRun>& b(std::int64_t in) const {
        return b_[static_cast<std::size_t>(in)];
    }
    /// In the order of sending: the first message of every part, then the second.
    [[nodiscard]] const std::vector<HomeRun>& values() const { return values_; }
    [[nodiscard]] Bytes most_b_bytes() const { return std::ranges::max(filled_b_); }
    [[nodiscard]] Bytes most_values_bytes() const { return std::ranges::max(filled_values_); }
    /// Upper bound on the messages of both.
    [[nodiscard]] std::size_t messages() const;

private:
    void deal_b();
    void deal_values();

    const spec::MachineSpec& machine_;
    const Partition& partition_;
    std::size_t gathered_;
    std::vector<Range> runs_;
    std::vector<std::vector<HomeRun>> b_; ///< by slice
    std::vector<HomeRun> values_;
    bool values_wide_ = false;
    std::vector<Bytes> filled_b_; ///< by tile
    std::vector<Bytes> filled_values_;
};

/// Receivers of one message of a line that not all parts need.
[[nodiscard]] std::size_t gathered(const spec::MachineSpec& machine, const Partition& partition);

/// In which a line comes to so many parts, `gathered` at a time.
[[nodiscard]] std::size_t messages_to(std::size_t users, std::size_t gathered);

/// Upper bound on the messages of both exchanges, operands and reduction.
[[nodiscard]] std::size_t messages(const Homes& homes, const Reduction& reduction);

/// A lower bound of messages() that holds for any homes, for callers that have not assigned them.
[[nodiscard]] std::size_t least_messages(const spec::MachineSpec& machine,
                                         const Partition& partition, const Reduction& reduction);

} // namespace tessera::sparse
