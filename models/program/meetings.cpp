// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "models/program/control_cursor.h"
#include "models/program/system_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <string>

namespace tessera::program {
namespace {

/// Longer programs are walked so far: what comes behind is told while they run.
constexpr std::int64_t kMostSteps = 20'000'000;

/// What a chip comes to next.
struct Next {
    enum class Kind { Meets, Decides, Ends };
    Kind kind = Kind::Ends;
    std::uint32_t zone = 0;
    std::string name; ///< of the link exchange; empty: a sync
};

std::string text_of(const Next& next, std::int64_t step) {
    switch (next.kind) {
    case Next::Kind::Meets:
        return next.name.empty()
                   ? fmt::format("is at a sync of zone {} in step {}", next.zone, step)
                   : fmt::format("is at link exchange {} of zone {} in step {}", next.name,
                                 next.zone, step);
    case Next::Kind::Decides:
        return fmt::format("decides behind step {}", step);
    case Next::Kind::Ends:
        break;
    }
    return fmt::format("has ended behind step {}", step);
}

/// A chip's way from meeting to meeting.
class Walk {
public:
    explicit Walk(const Program& program)
        : program_(&program), cursor_(program, std::numeric_limits<std::int64_t>::max()) {}

    void go_on(std::int64_t& walked) {
        while (walked < kMostSteps) {
            const Visit visit = cursor_.next();
            if (visit.kind == Visit::Kind::End) {
                next = {};
                return;
            }
            if (visit.kind == Visit::Kind::Decide) {
                next = {.kind = Next::Kind::Decides, .name = {}};
                return;
            }
            ++walked;
            if (visit.kind != Visit::Kind::Run) {
                continue;
            }
            ++step;
            const Step& met = *visit.step;
            if (met.kind == Step::Kind::LinkExchange) {
                const LinkExchange& exchange = program_->link_exchanges[met.index];
                next = {Next::Kind::Meets, exchange.zone.number, exchange.name};
                return;
            }
            if (met.kind == Step::Kind::Sync && met.zone.kind == SyncZone::Kind::Group) {
                next = {Next::Kind::Meets, met.zone.number, {}};
                return;
            }
        }
    }

    Next next;
    std::int64_t step = 0;

private:
    const Program* program_;
    ControlCursor cursor_;
};

class Meetings {
public:
    explicit Meetings(const SystemProgram& system) : system_(system) {
        for (std::size_t chip = 0; chip < system.chips(); ++chip) {
            walks_.emplace_back(system.of_chip(chip));
        }
    }

    void walk() {
        for (Walk& walk : walks_) {
            walk.go_on(walked_);
        }
        bool any = true;
        while (any && walked_ < kMostSteps) {
            any = false;
            for (std::size_t chip = 0; chip < walks_.size() && walked_ < kMostSteps; ++chip) {
                any = meet(chip) || any;
            }
        }
        const bool decides = std::ranges::any_of(
            walks_, [](const Walk& walk) { return walk.next.kind == Next::Kind::Decides; });
        const auto waits = std::ranges::find_if(
            walks_, [](const Walk& walk) { return walk.next.kind == Next::Kind::Meets; });
        if (walked_ < kMostSteps && !decides && waits != walks_.end()) {
            tell_who_waits(static_cast<std::size_t>(waits - walks_.begin()));
        }
    }

private:
    template <class Body> void for_each_member(std::size_t chip, const Body& body) const {
        const auto& groups = system_.zones[walks_[chip].next.zone];
        for (std::size_t other = 0; other < walks_.size(); ++other) {
            if (groups[other] == groups[chip]) {
                body(other);
            }
        }
    }

    /// Whether the chip's group has met, and goes on. @throws ProgramError where two of it meet for
    /// different things.
    bool meet(std::size_t chip) {
        const Next next = walks_[chip].next;
        if (next.kind != Next::Kind::Meets) {
            return false;
        }
        if (next.zone >= system_.zones.size()) {
            throw ProgramError(fmt::format("chip {} {}, expected a zone below {}", chip,
                                           text_of(next, walks_[chip].step), system_.zones.size()));
        }
        bool all = true;
        for_each_member(chip, [&](std::size_t other) {
            const Next& met = walks_[other].next;
            const bool here = met.kind == Next::Kind::Meets && met.zone == next.zone;
            if (here && met.name != next.name) {
                throw ProgramError(fmt::format("unbalanced zone {}: chip {} {}, chip {} {}",
                                               next.zone, chip, text_of(next, walks_[chip].step),
                                               other, text_of(met, walks_[other].step)));
            }
            all = all && here;
        });
        if (all) {
            for_each_member(chip, [&](std::size_t other) { walks_[other].go_on(walked_); });
        }
        return all;
    }

    /// From a chip that waits to one that it waits for, until one comes again or has ended.
    [[noreturn]] void tell_who_waits(std::size_t chip) const {
        std::vector<std::size_t> chain;
        while (walks_[chip].next.kind == Next::Kind::Meets &&
               std::ranges::find(chain, chip) == chain.end()) {
            chain.push_back(chip);
            const Next& next = walks_[chip].next;
            std::optional<std::size_t> awaited;
            for_each_member(chip, [&](std::size_t other) {
                const Next& met = walks_[other].next;
                if (!awaited && (met.kind != Next::Kind::Meets || met.zone != next.zone)) {
                    awaited = other;
                }
            });
            TESSERA_ASSERT(awaited);
            chip = *awaited;
        }
        const auto begin = std::ranges::find(chain, chip);
        std::string text =
            begin == chain.end() ? "chips would wait for ever: " : "chips would wait in a circle: ";
        for (auto link = begin == chain.end() ? chain.begin() : begin; link != chain.end();
             ++link) {
            text += fmt::format("chip {} {} and waits for chip {}; ", *link,
                                text_of(walks_[*link].next, walks_[*link].step),
                                link + 1 == chain.end() ? chip : *(link + 1));
        }
        if (begin == chain.end()) {
            text += fmt::format("chip {} {}", chip, text_of(walks_[chip].next, walks_[chip].step));
        } else {
            text.resize(text.size() - 2);
        }
        throw ProgramError(text);
    }

    const SystemProgram& system_;
    std::deque<Walk> walks_;
    std::int64_t walked_ = 0;
};

} // namespace

void check_meetings(const SystemProgram& system) {
    if (system.programs.size() > 1) { // chips of one program meet in the same order
        Meetings(system).walk();
    }
}

} // namespace tessera::program
