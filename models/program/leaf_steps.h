// SPDX-License-Identifier: MIT
// The steps that lifetimes count: leaves of the control program in tree order. A leaf in a repeat
// counts once, one in a function once for each call that is written.
#pragma once

#include "models/program/program.h"

#include <string>
#include <vector>

namespace tessera::program {

inline void append_leaf_steps(const Program& program, const Step& step,
                              std::vector<const Step*>& leaves) {
    switch (step.kind) {
    case Step::Kind::Sequence:
    case Step::Kind::Repeat:
    case Step::Kind::While:
    case Step::Kind::If:
        for (const Step& child : step.children) {
            append_leaf_steps(program, child, leaves);
        }
        return;
    case Step::Kind::Call:
        append_leaf_steps(program, program.functions.at(step.index).body, leaves);
        return;
    case Step::Kind::ComputeSet:
    case Step::Kind::Exchange:
    case Step::Kind::Sync:
    case Step::Kind::StreamCopy:
    case Step::Kind::StreamStart:
    case Step::Kind::StreamWait:
    case Step::Kind::LinkExchange:
        leaves.push_back(&step);
    }
}

/// Functions do not call themselves, directly or not.
[[nodiscard]] inline std::vector<const Step*> leaf_steps(const Program& program) {
    std::vector<const Step*> leaves;
    append_leaf_steps(program, program.control, leaves);
    return leaves;
}

/// The name of the compute set, exchange, stream copy or link exchange; a step of another kind is called by its
/// kind.
[[nodiscard]] inline std::string step_name(const Program& program, const Step& leaf) {
    switch (leaf.kind) {
    case Step::Kind::ComputeSet:
        return program.compute_sets.at(leaf.index).name;
    case Step::Kind::Exchange:
        return program.exchanges.at(leaf.index).name;
    case Step::Kind::StreamCopy:
    case Step::Kind::StreamStart:
    case Step::Kind::StreamWait:
        return program.stream_copies.at(leaf.index).name;
    case Step::Kind::LinkExchange:
        return program.link_exchanges.at(leaf.index).name;
    case Step::Kind::Sync:
        return "sync";
    case Step::Kind::Sequence:
    case Step::Kind::Repeat:
    case Step::Kind::While:
    case Step::Kind::If:
    case Step::Kind::Call:
        break;
    }
    return "sequence";
}

} // namespace tessera::program
