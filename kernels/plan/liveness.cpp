// SPDX-License-Identifier: MIT
#include "kernels/plan/liveness.h"

#include "base/error.h"
#include "models/program/leaf_steps.h"

#include <algorithm>

namespace tessera::plan {

Liveness& Liveness::step(const std::string& name) {
    steps_.push_back(name);
    return *this;
}

void Liveness::use(const Names& buffers, bool write) {
    TESSERA_ASSERT(!steps_.empty());
    const auto step = static_cast<std::uint32_t>(steps_.size() - 1);
    for (const std::string& name : buffers) {
        buffers_[name].uses.push_back({step, write});
    }
}

Liveness& Liveness::reads(const Names& buffers) {
    use(buffers, false);
    return *this;
}

Liveness& Liveness::writes(const Names& buffers) {
    use(buffers, true);
    return *this;
}

Liveness& Liveness::given(const Names& buffers) {
    for (const std::string& name : buffers) {
        buffers_[name].given = true;
    }
    return *this;
}

Liveness& Liveness::wanted(const Names& buffers) {
    for (const std::string& name : buffers) {
        buffers_[name].wanted = true;
    }
    return *this;
}

void Liveness::begin_loop() {
    open_.push_back(static_cast<std::uint32_t>(steps_.size()));
}

void Liveness::end_loop() {
    TESSERA_ASSERT(!open_.empty());
    if (open_.back() < steps_.size()) {
        loops_.push_back({open_.back(), static_cast<std::uint32_t>(steps_.size() - 1)});
    }
    open_.pop_back();
}

void Liveness::keep_over(const Loop& loop, const Buffer& buffer, program::Lifetime& lifetime) {
    const auto inside = [&](const Use& use) {
        return loop.first <= use.step && use.step <= loop.last;
    };
    const auto begin = std::find_if(buffer.uses.begin(), buffer.uses.end(), inside);
    if (begin == buffer.uses.end()) {
        return;
    }
    const bool outside = lifetime.first < loop.first || lifetime.last > loop.last;
    const bool crosses = std::any_of(begin, buffer.uses.end(), [&](const Use& use) {
        return use.step == begin->step && !use.write;
    });
    if (outside || crosses) {
        lifetime.first = std::min(lifetime.first, loop.first);
        lifetime.last = std::max(lifetime.last, loop.last);
    }
}

program::Lifetime Liveness::lifetime(const std::string& buffer) const {
    TESSERA_ASSERT(open_.empty());
    const auto found = buffers_.find(buffer);
    if (found == buffers_.end()) {
        return {};
    }
    const Buffer& known = found->second;
    program::Lifetime lifetime;
    if (!known.uses.empty()) {
        lifetime = {known.uses.front().step, known.uses.back().step};
    }
    lifetime.first = known.given ? 0 : lifetime.first;
    lifetime.last = known.wanted ? program::Lifetime::kEnd : lifetime.last;
    for (const Loop& loop : loops_) {
        keep_over(loop, known, lifetime);
    }
    return lifetime;
}

bool tells_steps_of(const Liveness& told, const program::Program& program) {
    const auto leaves = program::leaf_steps(program);
    return std::equal(leaves.begin(), leaves.end(), told.steps().begin(), told.steps().end(),
                      [&](const program::Step* leaf, const std::string& name) {
                          return program::step_name(program, *leaf) == name;
                      });
}

} // namespace tessera::plan
