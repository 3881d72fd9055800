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

namespace tessera::sweep {

/// A row for each point. `shown` outlives the listing, here and below.
[[nodiscard]] Listing points_of(Shown& shown);
/// One row for all that agree in what they are grouped by: means of what else is shown.
[[nodiscard]] Listing groups_of(const Shown& shown);

/// Candidates of a sweep beside each other.
class Judgement {
public:
    explicit Judgement(Shown& shown);
    Judgement(const Judgement&) = delete; // the judged refer to the candidates
    Judgement& operator=(const Judgement&) = delete;

    [[nodiscard]] Listing pareto() const;
    [[nodiscard]] Listing best() const;
    [[nodiscard]] Listing sensitivity();
    [[nodiscard]] const std::vector<Judged>& judged() const { return judged_; }
    /// The best in an objective; null where none can be compared.
    [[nodiscard]] const Judged* winner(std::size_t objective) const;
    /// What --base names; else the point that changes nothing, or the first; there is one.
    [[nodiscard]] const Judged& base() const;
    /// How an objective is called: "geometric mean of cycles".
    [[nodiscard]] std::string text_of(const Objective& objective) const;

private:
    [[nodiscard]] Listing listed(const std::vector<std::size_t>& some) const;
    [[nodiscard]] bool has_one_workload() const;
    /// That of a machine, or of a key. @throws UsageError where there is none
    [[nodiscard]] const Judged& base_called(const std::string& name) const;
    [[nodiscard]] std::string difference(const Judged& one, const Judged& base) const;
    /// What a path is in the sweep's first machine and workload.
    [[nodiscard]] std::optional<double> base_number(const std::string& path) const;
    [[nodiscard]] const std::map<std::string, double>& base_numbers() const;

    Shown& shown_; ///< columns of its table are filled as they are asked for
    std::vector<Candidate> candidates_;
    std::vector<Judged> judged_;
    mutable std::optional<std::map<std::string, double>> bases_; ///< asked for once
};

} // namespace tessera::sweep
