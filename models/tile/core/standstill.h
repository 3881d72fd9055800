// SPDX-License-Identifier: MIT
// Finds out that contexts go round loops for nothing: a context that branches back to where it was
// with the same registers, while no word of memory has changed, does the same again until another
// context changes one.
//
// Not found: loops that also count their rounds, or look at a clock; a limit of cycles ends them.
#pragma once

#include "base/units.h"
#include "models/isa/context.h"
#include "models/tile/core/tile_core.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::tile {

class Standstill {
public:
    /// What a context looks at in its loop.
    struct Look {
        Address pc = 0;
        Address word = 0;
        bool awaits = false; ///< a wait loop reads it, or it is named as synchronising

        bool operator==(const Look&) const = default;
    };

    explicit Standstill(std::size_t workers) : rounds_(workers + 1) {}

    void start_phase();
    /// Call it when a word of memory, or the set of running contexts, has changed.
    void changed() { ++version_; }
    void read(int context, const Look& look);
    /// A context goes on at `target`, at or before the branch. Whether it is known to go round for
    /// nothing.
    bool branched_back(const isa::Context& context, Address target);

    [[nodiscard]] bool goes_round(int context) const {
        const Rounds& rounds = rounds_[index_of(context)];
        return rounds.goes_round && rounds.version == version_;
    }

    /// Of a context that goes round: what tells most of what it waits for; null where it does not look at memory.
    [[nodiscard]] const Look* first_look(int context) const;
    /// "worker_0 for the word at 0x50000 (spin.S:8)", of all its looks or of those that await.
    [[nodiscard]] std::string text(int context, bool only_awaited, const CodeCache& code) const;

private:
    static constexpr std::size_t kMostLooks = 16;

    /// A state that a context has been in, and what it has done since.
    struct Rounds {
        Address target = 0;
        std::uint64_t version = 0;
        std::int64_t branches = 0;
        std::int64_t until = 1; ///< branches after which another state is kept
        bool is_kept = false;
        bool goes_round = false;
        isa::Context state;
        std::vector<Look> looks;
    };
    static std::size_t index_of(int context) { return static_cast<std::size_t>(context + 1); }

    std::uint64_t version_ = 0;
    std::vector<Rounds> rounds_; ///< of the supervisor, then the workers
};

} // namespace tessera::tile
