// SPDX-License-Identifier: MIT
// The steps that lifetimes count: leaves of the control program in tree order. A leaf in a repeat
// counts once.
#pragma once

#include "models/program/program.h"

#include <string>
#include <vector>

namespace tessera::program {

inline void append_leaf_steps(const Step& step, std::vector<const Step*>& leaves) {
    const bool groups = step.kind == Step::Kind::Sequence || step.kind == Step::Kind::Repeat;
    if (!groups && step.children.empty()) {
        leaves.push_back(&step);
    }
    for (const Step& child : step.children) {
        append_leaf_steps(child, leaves);
    }
}

[[nodiscard]] inline std::vector<const Step*> leaf_steps(const Step& control) {
    std::vector<const Step*> leaves;
    append_leaf_steps(control, leaves);
    return leaves;
}

/// The name of the compute set or exchange; a step of another kind is called by its kind.
[[nodiscard]] inline std::string step_name(const Program& program, const Step& leaf) {
    switch (leaf.kind) {
    case Step::Kind::ComputeSet:
        return program.compute_sets.at(leaf.index).name;
    case Step::Kind::Exchange:
        return program.exchanges.at(leaf.index).name;
    case Step::Kind::Sync:
        return "sync";
    case Step::Kind::Sequence:
    case Step::Kind::Repeat:
        break;
    }
    return "sequence";
}

} // namespace tessera::program
