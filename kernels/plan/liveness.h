// SPDX-License-Identifier: MIT
// From which step to which a buffer is kept: steps are told in tree order, each with what it reads
// and writes.
//
//     Liveness steps;                                   partials  x  slices
//     steps.step("bring").writes({"x"});                          |
//     steps.step("multiply").reads({"x"})                   |     |
//          .writes({"partials"});
//     steps.step("reduce").reads({"partials", "slices"})    |
//
// A buffer has one lifetime, from its first use to its last. In a loop it is kept all over the loop
// if it is used outside too, or if the first use of an iteration is not a write of all of it: then
// its content crosses iterations. A loop that is told here runs at least once.
#pragma once

#include "models/program/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera::plan {

class Liveness {
public:
    using Names = std::vector<std::string>;

    /// Opens the next step; reads, writes and updates are those of the step opened last.
    Liveness& step(const std::string& name);
    Liveness& reads(const Names& buffers);
    /// All that is read of the buffers later is written here.
    Liveness& writes(const Names& buffers);
    /// Written in part, or under a condition: what was there before still counts.
    Liveness& updates(const Names& buffers) { return reads(buffers); }
    /// The host fills the buffers before the run.
    Liveness& given(const Names& buffers);
    /// The host reads the buffers after the run.
    Liveness& wanted(const Names& buffers);

    void begin_loop();
    void end_loop();

    /// Always, for a buffer that no step names.
    [[nodiscard]] program::Lifetime lifetime(const std::string& buffer) const;
    [[nodiscard]] const std::vector<std::string>& steps() const { return steps_; }

private:
    struct Use {
        std::uint32_t step = 0;
        bool write = false;
    };
    struct Buffer {
        std::vector<Use> uses; ///< ascending steps
        bool given = false;
        bool wanted = false;
    };
    struct Loop {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };

    void use(const Names& buffers, bool write);
    static void keep_over(const Loop& loop, const Buffer& buffer, program::Lifetime& lifetime);

    std::vector<std::string> steps_;
    std::map<std::string, Buffer> buffers_;
    std::vector<std::uint32_t> open_; ///< first steps of loops that have not ended
    std::vector<Loop> loops_;         ///< ended ones, inner before outer
};

/// The program runs the steps that were told, in their order.
[[nodiscard]] bool tells_steps_of(const Liveness& told, const program::Program& program);

} // namespace tessera::plan
