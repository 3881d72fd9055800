// SPDX-License-Identifier: MIT
#include "models/ipu/core/counted_repeats.h"

#include <algorithm>
#include <utility>

namespace tessera::ipu {
namespace {

using program::Program;
using program::Step;
using Kind = Step::Kind;

/// What the tiles do in a round.
struct Round {
    bool meets = false;                ///< for more than a copy that the whole round waits for
    std::vector<std::uint32_t> copies; ///< that the round itself has, in order
    std::set<TileId> tiles;            ///< that do anything
};

class Finder {
public:
    Finder(const Program& program, std::span<const std::vector<TileId>> tiles_of_copy)
        : program_(program), tiles_of_copy_(tiles_of_copy) {}

    void note(const Step& step) {
        if (step.kind == Kind::Repeat) {
            Round round;
            if (has_other_rounds(step)) {
                made_.uneven.insert(&step);
                round.meets = true;
            }
            for (const Step& child : step.children) {
                add(child, round, true);
            }
            if (!round.meets && round.copies.empty()) {
                made_.lone.insert(&step);
            } else if (!round.meets) {
                const auto common = std::ranges::find_if(round.copies, [&](std::uint32_t copy) {
                    return std::ranges::count(round.copies, copy) == 1 &&
                           std::ranges::includes(tiles_of_copy_[copy], round.tiles);
                });
                if (common != round.copies.end()) {
                    made_.by_copy[&step] = *common;
                }
            }
        }
        for (const Step& child : step.children) {
            note(child);
        }
    }

    CountedRepeats made_;

private:
    /// Whether it has steps for some rounds. Those of a repeat inside count too.
    static bool has_other_rounds(const Step& step) {
        return step.only || std::ranges::any_of(step.children, has_other_rounds);
    }

    /// `own`: not in a repeat inside.
    void add(const Step& step, Round& round, bool own) const {
        switch (step.kind) {
        case Kind::ComputeSet: {
            const auto& tiles = program_.compute_sets[step.index].tiles;
            for (TileId tile = 0; tile < tiles.size(); ++tile) {
                if (tiles[tile].stub != 0) {
                    round.tiles.insert(tile);
                }
            }
            return;
        }
        case Kind::StreamCopy:
            round.meets = round.meets || !own || step.value;
            round.copies.push_back(step.index);
            round.tiles.insert(tiles_of_copy_[step.index].begin(),
                               tiles_of_copy_[step.index].end());
            return;
        case Kind::Call:
            add(program_.functions.at(step.index).body, round, own);
            return;
        case Kind::Sequence:
        case Kind::Repeat:
            for (const Step& child : step.children) {
                add(child, round, own && step.kind == Kind::Sequence);
            }
            return;
        default:
            round.meets = true;
            return;
        }
    }

    const Program& program_;
    std::span<const std::vector<TileId>> tiles_of_copy_;
};

} // namespace

CountedRepeats find_counted_repeats(const Program& program,
                                    std::span<const std::vector<TileId>> tiles_of_copy) {
    Finder finder(program, tiles_of_copy);
    finder.note(program.control);
    for (const program::Function& function : program.functions) {
        finder.note(function.body);
    }
    return std::move(finder.made_);
}

} // namespace tessera::ipu
