// SPDX-License-Identifier: MIT
#include "models/ipu/core/control_cursor.h"

namespace tessera::ipu {
namespace {

bool is_leaf(const program::Step& step) {
    return step.kind != program::Step::Kind::Sequence && step.kind != program::Step::Kind::Repeat;
}

} // namespace

ControlCursor::ControlCursor(const program::Step& root) : root_(&root) {
    if (!is_leaf(root)) {
        enter(root);
        root_ = nullptr;
    }
}

void ControlCursor::enter(const program::Step& step) {
    const std::uint32_t rounds = step.kind == program::Step::Kind::Repeat ? step.count : 1;
    if (rounds > 0 && executed_steps(step) > 0) {
        levels_.push_back({&step, 0, rounds});
    }
}

const program::Step* ControlCursor::next() {
    if (root_ != nullptr) {
        const program::Step* only = root_;
        root_ = nullptr;
        return only;
    }
    while (!levels_.empty()) {
        Level& level = levels_.back();
        if (level.child == level.step->children.size()) {
            level.child = 0;
            if (--level.rounds_left == 0) {
                levels_.pop_back();
            }
            continue;
        }
        const program::Step& child = level.step->children[level.child++];
        if (is_leaf(child)) {
            return &child;
        }
        enter(child);
    }
    return nullptr;
}

std::int64_t executed_steps(const program::Step& root) {
    if (is_leaf(root)) {
        return 1;
    }
    std::int64_t steps = 0;
    for (const auto& child : root.children) {
        steps += executed_steps(child);
    }
    return root.kind == program::Step::Kind::Repeat ? steps * root.count : steps;
}

} // namespace tessera::ipu
