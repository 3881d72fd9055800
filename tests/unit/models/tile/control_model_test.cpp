// SPDX-License-Identifier: MIT
// Random control programs, written out beforehand beside the walk that goes through them.
#include "models/program/control_check.h"
#include "models/program/control_cursor.h"
#include "models/program/held_spans.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace tessera;
using program::Program;
using program::Step;
using Kind = Step::Kind;

namespace {

constexpr std::int64_t kTiles = 5;

class RandomProgram {
public:
    /// `chooses`: whether some sequences are for some rounds.
    RandomProgram(unsigned seed, bool decides, bool chooses = false)
        : random_(seed), decides_(decides), chooses_(chooses) {}

    Program make() {
        Program made;
        made.compute_sets.resize(3);
        for (std::size_t set = 0; set < 3; ++set) {
            made.compute_sets[set].tiles.resize(kTiles);
            for (std::size_t tile = 0; tile <= set; ++tile) {
                made.compute_sets[set].tiles[tile].stub = 0x4c000;
            }
        }
        made.exchanges.resize(3);
        made.functions.push_back({"f", step(2, false)});
        made.control = step(4, true);
        return made;
    }

private:
    std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>(random_() % limit);
    }
    Step step(int depth, bool calls) {
        Step made;
        const std::uint32_t drawn = depth > 0 ? below(9) : 4 + below(3);
        if (drawn < 4) {
            constexpr Kind kPlain[] = {Kind::Sequence, Kind::Repeat};
            constexpr Kind kDeciding[] = {Kind::Sequence, Kind::Repeat, Kind::While, Kind::If};
            made.kind = decides_ ? kDeciding[drawn] : kPlain[drawn % 2];
            made.count = made.kind == Kind::Repeat ? below(4) : 1;
            if (made.kind == Kind::While || made.kind == Kind::If) {
                made.value = program::TileValue{0, 0x80000};
            }
            if (chooses_ && made.kind == Kind::Sequence && below(2) == 0) {
                made.only = program::SomeRounds{below(2), 1 + below(2), below(4)};
            }
            const bool is_if = made.kind == Kind::If;
            for (std::uint32_t many = is_if ? 1 + below(2) : below(4); many > 0; --many) {
                made.children.push_back(step(depth - 1, calls));
            }
        } else if (drawn == 7 && calls) {
            made.kind = Kind::Call;
        } else {
            constexpr Kind kLeaves[] = {Kind::ComputeSet, Kind::Exchange, Kind::Sync};
            made.kind = kLeaves[drawn % 3];
            made.index = below(3);
        }
        return made;
    }

    std::mt19937 random_;
    bool decides_;
    bool chooses_;
};

bool is_leaf(const Step& step) {
    return step.kind == Kind::ComputeSet || step.kind == Kind::Exchange || step.kind == Kind::Sync;
}

struct Met {
    char what = 0; ///< like the kinds of Visit: . run, r round, c call, o choice, ? decision
    const Step* step = nullptr;

    bool operator==(const Met&) const = default;
};

/// All that is met, in order; answers come as they are needed.
class WrittenOut {
public:
    WrittenOut(const Program& program, unsigned seed) : program_(program), random_(seed) {
        write(program.control);
    }
    std::vector<Met> met;
    std::vector<bool> answers;

private:
    bool write_all(const Step& step) {
        bool any = false;
        for (const Step& child : step.children) {
            any = write(child) || any;
        }
        return any;
    }
    bool decided(const Step& step) {
        met.push_back({'?', &step});
        answers.push_back(random_() % 3 != 0);
        return answers.back();
    }
    /// Whether anything but rounds was met.
    bool write(const Step& step) {
        switch (step.kind) {
        case Kind::Sequence:
            if (!step.only) {
                return write_all(step);
            }
            met.push_back({'o', &step});
            if (step.only->has(round_)) {
                write_all(step);
            }
            return may_do(step);
        case Kind::Repeat: {
            bool any = false;
            const std::size_t before = met.size();
            const std::int64_t around = round_;
            for (std::uint32_t round = 0; round < step.count; ++round) {
                round_ = round;
                met.push_back({'r', &step});
                any = write_all(step) || any;
            }
            round_ = around;
            if (!any) {
                met.resize(before); // rounds of nothing take no time
            }
            return any;
        }
        case Kind::While:
            for (int round = 0; round < 4 && decided(step); ++round) {
                write_all(step);
                if (round == 3) { // enough
                    met.push_back({'?', &step});
                    answers.push_back(false);
                }
            }
            return true;
        case Kind::If:
            if (decided(step)) {
                write(step.children[0]);
            } else if (step.children.size() > 1) {
                write(step.children[1]);
            }
            return true;
        case Kind::Call: {
            // A call of nothing is one, but in a repeat of nothing else.
            met.push_back({'c', &step});
            return write(program_.functions[step.index].body);
        }
        default:
            met.push_back({'.', &step});
            return true;
        }
    }

    /// Whether anything but rounds and choices may be met, in some round.
    [[nodiscard]] bool may_do(const Step& step) const {
        if (step.kind == Kind::Call) {
            return may_do(program_.functions[step.index].body);
        }
        const bool is_list = step.kind == Kind::Sequence || step.kind == Kind::Repeat;
        return !is_list ||
               (step.count > 0 && std::any_of(step.children.begin(), step.children.end(),
                                              [this](const Step& child) { return may_do(child); }));
    }

    const Program& program_;
    std::mt19937 random_;
    std::int64_t round_ = 0; ///< of the innermost repeat
};

} // namespace

TEST_CASE("a control program is walked as it would be written out") {
    std::size_t decisions = 0;
    for (unsigned seed = 0; seed < 1500; ++seed) {
        CAPTURE(seed);
        const Program program = RandomProgram(seed, seed % 2 == 0, seed % 3 == 0).make();
        const WrittenOut expected(program, seed);
        std::vector<Met> met;
        std::vector<bool> computes; ///< by number of what was met: told before it
        program::ControlCursor cursor(program, 10);
        std::size_t decided = 0;
        while (met.size() <= expected.met.size()) {
            computes.push_back(cursor.computes_next());
            const program::Visit visit = cursor.next();
            if (visit.kind == program::Visit::Kind::End) {
                break;
            }
            const char* const kinds = "E.rco?";
            met.push_back({kinds[static_cast<std::size_t>(visit.kind)], visit.step});
            if (visit.kind == program::Visit::Kind::Decide) {
                CHECK(cursor.computes_next()); // perhaps
                REQUIRE(decided < expected.answers.size());
                cursor.decide(expected.answers[decided++]);
            }
        }
        CHECK(met == expected.met);
        CHECK(decided == expected.answers.size());
        decisions += decided;
        // Before the next barrier something is computed, or not.
        for (std::size_t at = 0; at < computes.size(); ++at) {
            const auto next = std::find_if(
                met.begin() + static_cast<std::ptrdiff_t>(at), met.end(), [](const Met& one) {
                    return one.what != 'r' && one.what != 'c' && one.what != 'o';
                });
            CHECK(computes[at] ==
                  (next != met.end() && next->what == '.' && next->step->kind == Kind::ComputeSet));
        }
    }
    CHECK(decisions > 500);
}

TEST_CASE("steps of a program without decisions are those that are run, and held spans too") {
    for (unsigned seed = 0; seed < 1000; ++seed) {
        CAPTURE(seed);
        Program program = RandomProgram(seed, false).make();
        const WrittenOut expected(program, seed);
        const auto run = std::count_if(expected.met.begin(), expected.met.end(),
                                       [](const Met& one) { return one.what == '.'; });
        CHECK(program::expected_steps(program) == run);
        // Spans between barriers, one of each tile for a round, one of each that computes.
        double most = 0;
        double now = 0;
        for (const Met& one : expected.met) {
            if (one.what == 'r') {
                now += kTiles;
            } else if (one.what == '.' && one.step->kind == Kind::ComputeSet) {
                now += one.step->index + 1;
            } else if (one.what == '.') {
                now = 0;
            }
            most = std::max(most, now);
        }
        // Exact but for what takes no time at all: a repeat of nothing, or one of no rounds.
        const double held = program::most_held_spans(program, kTiles);
        CHECK(held >= most);
        const auto plain = [](const auto& self, const Step& step) -> bool {
            return is_leaf(step) || step.kind == Kind::Call ||
                   (!step.children.empty() && step.count > 0 &&
                    std::all_of(step.children.begin(), step.children.end(),
                                [&](const Step& child) { return self(self, child); }));
        };
        if (plain(plain, program.control) && plain(plain, program.functions[0].body)) {
            CHECK(held == most);
        }
    }
}
