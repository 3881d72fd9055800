// SPDX-License-Identifier: MIT
// Hears a run for the sake of its check: shows the job what steps and copies have left on the tiles.
#pragma once

#include "kernels/job/job.h"
#include "models/events/events.h"
#include "models/program/array_id.h"
#include "models/program/program.h"
#include "models/simulation/simulation.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace tessera::run {

class Looks final : public events::Listener {
public:
    /// Both outlive the object. The job looks on `threads` host threads.
    Looks(job::Job& job, const program::Program& program, int threads);

    /// Where it reads; to be said before the run.
    void read_from(const simulation::Simulation& simulation) { simulation_ = &simulation; }
    /// The operands stand on the tiles, and nothing has run.
    void begin();
    /// Host seconds that looking has taken.
    [[nodiscard]] double seconds() const { return seconds_ + read_seconds_ / threads_; }

    [[nodiscard]] bool watches(program::Step::Kind kind, std::uint32_t index) const override;
    void passed(TileId tile, program::Step::Kind kind, std::uint32_t index,
                std::int64_t step) override;
    void released(const events::Release& release) override;
    void copy_ended(const events::Flight& flight) override;

private:
    /// A tensor that is to be looked at where a step has ended.
    struct Wanted {
        program::Step::Kind kind = program::Step::Kind::ComputeSet;
        std::uint32_t index = 0;
        program::ArrayId tensor;
        std::vector<program::Tensor> of_tile; ///< its pieces there
        std::size_t bytes = 0;
    };
    /// What an execution of a step has left, tile by tile as they pass it.
    struct Left {
        program::Step step;
        std::map<program::ArrayId, std::vector<std::byte>> tensors;
    };
    [[nodiscard]] Left& left(program::Step::Kind kind, std::uint32_t index, std::int64_t step);

    job::Job& job_;
    int threads_;
    const simulation::Simulation* simulation_ = nullptr;
    std::vector<Wanted> wanted_;
    std::mutex mutex_;                  ///< of what follows
    std::map<std::int64_t, Left> left_; ///< by the number of the step
    double read_seconds_ = 0;           ///< of all threads together
    double seconds_ = 0;
};

} // namespace tessera::run
