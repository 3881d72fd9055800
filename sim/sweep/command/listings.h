// SPDX-License-Identifier: MIT
// The tables of `tessera sweep show`.
#pragma once

#include "sim/sweep/command/shown.h"
#include "sim/sweep/judge.h"
#include "sim/sweep/listing.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sim {

/// A row for each point. `shown` outlives the listing, here and below.
[[nodiscard]] sweep::Listing points_of(Shown& shown);
/// One row for all that agree in what they are grouped by: means of what else is shown.
[[nodiscard]] sweep::Listing groups_of(const Shown& shown);

/// Candidates of a sweep beside each other.
class Judgement {
public:
    explicit Judgement(Shown& shown);
    Judgement(const Judgement&) = delete; // the judged refer to the candidates
    Judgement& operator=(const Judgement&) = delete;

    [[nodiscard]] sweep::Listing pareto() const;
    [[nodiscard]] sweep::Listing best() const;
    [[nodiscard]] sweep::Listing sensitivity();
    [[nodiscard]] const std::vector<sweep::Judged>& judged() const { return judged_; }

private:
    [[nodiscard]] sweep::Listing listed(const std::vector<std::size_t>& some) const;
    [[nodiscard]] bool has_one_workload() const;
    [[nodiscard]] std::string text_of(const sweep::Objective& objective) const;
    /// The point that changes nothing, or the first that there is; null where there is none.
    [[nodiscard]] const sweep::Judged* base() const;
    [[nodiscard]] std::string difference(const sweep::Judged& one, const sweep::Judged* base) const;
    /// What a path is in the sweep's first machine and workload.
    [[nodiscard]] std::optional<double> base_number(const std::string& path) const;
    [[nodiscard]] const std::map<std::string, double>& base_numbers() const;

    Shown& shown_; ///< columns of its table are filled as they are asked for
    std::vector<sweep::Candidate> candidates_;
    std::vector<sweep::Judged> judged_;
    mutable std::optional<std::map<std::string, double>> bases_; ///< asked for once
};

} // namespace tessera::sim
