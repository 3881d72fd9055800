// SPDX-License-Identifier: MIT
#include "models/program/control_check.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tessera::program {
namespace {

using Kind = Step::Kind;

/// What `index` of a step counts in; nothing where it has no meaning.
struct Indexed {
    const char* what = nullptr;
    std::size_t items = 0;
};

Indexed indexed_by(const Step& step, const Program& program) {
    switch (step.kind) {
    case Kind::ComputeSet:
        return {"compute set", program.compute_sets.size()};
    case Kind::Exchange:
        return {"exchange", program.exchanges.size()};
    case Kind::LinkExchange:
        return {"link exchange", program.link_exchanges.size()};
    case Kind::Call:
        return {"function", program.functions.size()};
    case Kind::StreamCopy:
    case Kind::StreamStart:
    case Kind::StreamWait:
        return {"stream copy", program.stream_copies.size()};
    default:
        return {};
    }
}

class Checker {
public:
    explicit Checker(const Program& program) : program_(program) {}

    void check(const Step& step) {
        if (++depth_ > kDeepestStep) {
            fail(fmt::format("got steps more than {} levels deep", kDeepestStep));
        }
        check_index(step);
        check_value(step);
        check_rounds(step);
        check_children(step);
        for (const Step& child : step.children) {
            check(child);
        }
        if (step.kind == Kind::Call) {
            check_call(step);
        }
        --depth_;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw ProgramError(fmt::format("program {}: {}", program_.name, what));
    }

    void check_index(const Step& step) const {
        const Indexed indexed = indexed_by(step, program_);
        if (indexed.what != nullptr && step.index >= indexed.items) {
            fail(fmt::format("a control step names {} {}, expected a number below {}", indexed.what,
                             step.index, indexed.items));
        }
    }

    void check_value(const Step& step) const {
        const bool decides = step.kind == Kind::While || step.kind == Kind::If;
        const bool may_have = step.kind == Kind::StreamCopy || step.kind == Kind::StreamStart;
        if (decides && !step.value) {
            fail(step.kind == Kind::If ? "an if has no value" : "a while has no value");
        }
        if (step.value && !decides && !may_have) {
            fail("a control step has a value, expected one only for while, if and stream copies");
        }
        if (step.value && step.value->address % 4 != 0) {
            fail(fmt::format("a control step looks at tile_{}, {:#x}, expected a multiple of 4",
                             step.value->tile, step.value->address));
        }
    }

    void check_rounds(const Step& step) const {
        const bool copies = step.kind == Kind::StreamCopy || step.kind == Kind::StreamStart;
        if (step.row_a_round != 0 && (!copies || step.value)) {
            fail("a control step has rows for each round, expected them only for stream copies "
                 "without a value");
        }
        if (step.only && (step.kind != Kind::Sequence || step.only->every < 1)) {
            fail("a control step is for some rounds, expected a sequence, and every first or later "
                 "round");
        }
        if (!step.rounds.empty() && step.kind != Kind::Repeat) {
            fail("a control step has words for its rounds, expected them only for repeats");
        }
        for (std::size_t i = 0; i < step.rounds.size(); ++i) {
            const TileValue& word = step.rounds[i];
            if (word.address % 4 != 0) {
                fail(fmt::format("a repeat writes its round to tile_{}, {:#x}, expected a multiple "
                                 "of 4",
                                 word.tile, word.address));
            }
            if (i > 0 && word.tile < step.rounds[i - 1].tile) {
                fail(fmt::format("a repeat writes its round to tile_{} behind tile_{}, expected "
                                 "ascending tiles",
                                 word.tile, step.rounds[i - 1].tile));
            }
        }
    }

    void check_children(const Step& step) const {
        const bool many =
            step.kind == Kind::Sequence || step.kind == Kind::Repeat || step.kind == Kind::While;
        const std::size_t children = step.children.size();
        if (step.kind == Kind::If && (children < 1 || children > 2)) {
            fail(fmt::format("an if has {} steps, expected 1 or 2", children));
        }
        if (step.kind != Kind::If && !many && children > 0) {
            fail(fmt::format("a control step that does something itself has {} steps below it, "
                             "expected none",
                             children));
        }
    }

    void check_call(const Step& step) {
        const auto called = std::find(calls_.begin(), calls_.end(), step.index);
        if (called != calls_.end()) {
            std::string chain;
            for (auto call = called; call != calls_.end(); ++call) {
                chain += program_.functions[*call].name + " calls ";
            }
            fail(fmt::format("a function calls itself: {}{}", chain,
                             program_.functions[step.index].name));
        }
        calls_.push_back(step.index);
        check(program_.functions[step.index].body);
        calls_.pop_back();
    }

    const Program& program_;
    int depth_ = 0;
    std::vector<std::uint32_t> calls_; ///< functions that are entered
};

bool holds_steps(const Step& step) {
    return step.kind == Kind::Sequence || step.kind == Kind::Repeat || step.kind == Kind::While ||
           step.kind == Kind::If;
}

std::int64_t expected_steps(const Program& program, const Step& step) {
    if (step.kind == Kind::Call) {
        return expected_steps(program, program.functions.at(step.index).body);
    }
    if (!holds_steps(step)) {
        return 1;
    }
    std::int64_t sum = 0;
    std::int64_t most = 0;
    for (const Step& child : step.children) {
        const std::int64_t steps = expected_steps(program, child);
        sum += steps;
        most = std::max(most, steps);
    }
    return step.kind == Kind::If ? most : step.kind == Kind::Repeat ? sum * step.count : sum;
}

} // namespace

void check_control(const Program& program) {
    Checker(program).check(program.control);
}

std::int64_t expected_steps(const Program& program) {
    return expected_steps(program, program.control);
}

} // namespace tessera::program
