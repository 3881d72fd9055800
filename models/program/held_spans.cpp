// SPDX-License-Identifier: MIT
#include "models/program/held_spans.h"

#include <algorithm>

namespace tessera::program {
namespace {

using Kind = Step::Kind;

/// Spans of steps that are walked in a row.
struct Spans {
    bool has_barrier = false;
    double before = 0; ///< the first barrier; all of them where there is none
    double behind = 0; ///< the last barrier
    double most = 0;   ///< between any two, or before or behind them
};

Spans without_barrier(double spans) {
    return {false, spans, spans, spans};
}

Spans in_a_row(const Spans& first, const Spans& then) {
    Spans all;
    all.has_barrier = first.has_barrier || then.has_barrier;
    all.before = first.before + (first.has_barrier ? 0 : then.before);
    all.behind = then.behind + (then.has_barrier ? 0 : first.behind);
    all.most = std::max({first.most, then.most, first.behind + then.before});
    return all;
}

class Counter {
public:
    Counter(const Program& program, std::int64_t tiles, double most_rounds)
        : program_(program), tiles_(static_cast<double>(tiles)), most_rounds_(most_rounds) {}

    Spans of(const Step& step) const {
        switch (step.kind) {
        case Kind::Sequence: {
            const Spans spans = of_children(step);
            return step.only ? without_barrier(spans.most)
                             : spans; // rounds without it have no barrier
        }
        case Kind::Repeat:
            return of_rounds(step);
        case Kind::Call:
            return of(program_.functions.at(step.index).body);
        case Kind::ComputeSet:
            return without_barrier(taking_part(program_.compute_sets.at(step.index)));
        case Kind::While:
        case Kind::If: { // who decides meets the others
            Spans spans = of_children(step);
            spans.has_barrier = true;
            return spans;
        }
        case Kind::Exchange:
        case Kind::Sync:
        case Kind::StreamCopy:
        case Kind::StreamStart:
        case Kind::StreamWait:
        case Kind::LinkExchange:
            break;
        }
        return {.has_barrier = true};
    }

private:
    Spans of_children(const Step& step) const {
        Spans all;
        for (const Step& child : step.children) {
            all = in_a_row(all, of(child));
        }
        return all;
    }
    Spans of_rounds(const Step& step) const {
        if (step.count == 0) {
            return {}; // nothing meets there
        }
        const Spans round = in_a_row(without_barrier(tiles_), of_children(step));
        return round.has_barrier
                   ? in_a_row(round, step.count > 1 ? round : Spans{})
                   : without_barrier(round.most * std::min<double>(step.count, most_rounds_));
    }
    static double taking_part(const ComputeSet& set) {
        return static_cast<double>(
            std::count_if(set.tiles.begin(), set.tiles.end(),
                          [](const TileVertices& tile) { return tile.stub != 0; }));
    }

    const Program& program_;
    double tiles_;
    double most_rounds_;
};

} // namespace

double most_held_spans(const Program& program, std::int64_t tiles, double most_rounds) {
    return Counter(program, tiles, most_rounds).of(program.control).most;
}

} // namespace tessera::program
