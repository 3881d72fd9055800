// SPDX-License-Identifier: MIT
#include "models/program/control_cursor.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::program {
namespace {

using Kind = Step::Kind;

/// Whether the walk of `step` meets anything but rounds of repeats.
bool does_something(const Program& program, const Step& step) {
    switch (step.kind) {
    case Kind::Call:
        return does_something(program, program.functions.at(step.index).body);
    case Kind::Sequence:
    case Kind::Repeat:
        return step.count > 0 &&
               std::any_of(step.children.begin(), step.children.end(),
                           [&](const Step& child) { return does_something(program, child); });
    default:
        return true;
    }
}

} // namespace

ControlCursor::ControlCursor(const Program& program, std::int64_t while_limit_rounds)
    : program_(program), while_limit_rounds_(while_limit_rounds) {}

Visit ControlCursor::next() {
    TESSERA_ASSERT(undecided_ == nullptr);
    Visit met;
    if (!begun_) {
        begun_ = true;
        met = visit(program_.control);
    }
    while (met.kind == Visit::Kind::End && !levels_.empty()) {
        Level& level = levels_.back();
        met = level.next < level.steps.size() ? visit(level.steps[level.next++]) : end_round();
    }
    return met;
}

const ControlCursor::Level* ControlCursor::innermost() const {
    const auto found = std::find_if(levels_.rbegin(), levels_.rend(), [](const Level& level) {
        return level.owner->kind == Kind::Repeat;
    });
    return found == levels_.rend() ? nullptr : &*found;
}

std::int64_t ControlCursor::round() const {
    const Level* const level = innermost();
    return level == nullptr ? 0 : level->rounds - 1;
}

const Step* ControlCursor::innermost_repeat() const {
    const Level* const level = innermost();
    return level == nullptr ? nullptr : level->owner;
}

std::vector<ControlCursor::Place> ControlCursor::position() const {
    std::vector<Place> places;
    for (const Level& level : levels_) {
        places.push_back({level.owner, level.next, level.rounds});
    }
    return places;
}

void ControlCursor::skip_rounds(const Step& repeat, std::int64_t rounds) {
    const auto level = std::find_if(levels_.rbegin(), levels_.rend(),
                                    [&](const Level& one) { return one.owner == &repeat; });
    TESSERA_ASSERT(level != levels_.rend() && level->rounds + rounds <= repeat.count);
    level->rounds += rounds;
}

bool ControlCursor::computes_next() const {
    if (undecided_ != nullptr) {
        return true; // perhaps
    }
    ControlCursor ahead = *this;
    for (Visit met = ahead.next();; met = ahead.next()) {
        if (met.kind == Visit::Kind::Run) {
            return met.step->kind != Kind::Exchange && met.step->kind != Kind::Sync &&
                   met.step->kind != Kind::LinkExchange;
        }
        if (met.kind == Visit::Kind::Decide || met.kind == Visit::Kind::End) {
            return false;
        }
    }
}

Visit ControlCursor::visit(const Step& step) {
    switch (step.kind) {
    case Kind::Sequence:
        if (!step.only || step.only->has(round())) {
            levels_.push_back({&step, step.children, 0, 1});
        }
        return step.only ? Visit{Visit::Kind::Chosen, &step} : Visit{};
    case Kind::Repeat:
        if (does_something(program_, step)) {
            levels_.push_back({&step, step.children, step.children.size(), 0});
        }
        return {};
    case Kind::While:
        levels_.push_back({&step, step.children, step.children.size(), 0});
        return {};
    case Kind::If:
        undecided_ = &step;
        return {Visit::Kind::Decide, &step};
    case Kind::Call:
        levels_.push_back({&step, {&program_.functions.at(step.index).body, 1}, 0, 1});
        return {Visit::Kind::Called, &step};
    default:
        return {Visit::Kind::Run, &step};
    }
}

Visit ControlCursor::end_round() {
    Level& level = levels_.back();
    if (level.owner->kind == Kind::While) {
        undecided_ = level.owner;
        return {Visit::Kind::Decide, level.owner};
    }
    if (level.owner->kind == Kind::Repeat && level.rounds < level.owner->count) {
        ++level.rounds;
        level.next = 0;
        return {Visit::Kind::Round, level.owner};
    }
    levels_.pop_back();
    return {};
}

void ControlCursor::decide(bool not_zero) {
    TESSERA_ASSERT(undecided_ != nullptr);
    const Step& step = *undecided_;
    undecided_ = nullptr;
    if (step.kind == Kind::If) {
        const std::size_t side = not_zero ? 0 : 1;
        if (side < step.children.size()) {
            levels_.push_back({&step, {&step.children[side], 1}, 0, 1});
        }
        return;
    }
    if (!not_zero) {
        levels_.pop_back();
        return;
    }
    Level& level = levels_.back();
    level.next = 0;
    if (++level.rounds > while_limit_rounds_) {
        throw ProgramError(
            fmt::format("program {}: a while on tile_{}, {:#x} goes on after {} rounds "
                        "(control.while_limit_rounds)",
                        program_.name, step.value->tile, step.value->address, while_limit_rounds_));
    }
}

} // namespace tessera::program
