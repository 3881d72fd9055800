// SPDX-License-Identifier: MIT
#include "kernels/collective/check.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tessera::collective {
namespace {

/// The members whose values are in a fragment; none: nothing is there.
using Symbol = std::set<std::int32_t>;

class Run {
public:
    explicit Run(const Schedule& schedule)
        : schedule_(schedule), members_(schedule.members),
          holds_(static_cast<std::size_t>(members_),
                 std::vector<Symbol>(static_cast<std::size_t>(members_))) {
        for (std::int32_t member = 0; member < members_; ++member) {
            for (std::int32_t fragment = 0; fragment < members_; ++fragment) {
                if (schedule.kind != Kind::AllGather || fragment == member) {
                    at(member, fragment).insert(member);
                }
            }
        }
    }

    std::optional<std::string> mistake() {
        for (std::size_t number = 0; number < schedule_.steps.size(); ++number) {
            if (auto found = step(schedule_.steps[number])) {
                return fmt::format("step {}: {}", number, *found);
            }
        }
        return at_end();
    }

private:
    Symbol& at(std::int32_t member, std::int32_t fragment) {
        return holds_[static_cast<std::size_t>(member)][static_cast<std::size_t>(fragment)];
    }
    [[nodiscard]] bool is_member(std::int32_t number) const {
        return number >= 0 && number < members_;
    }

    /// Makes `after` what it is behind one send; says why the send cannot be.
    std::optional<std::string> send(const Send& send, const Symbol& sent, Symbol& after) const {
        if (sent.empty()) {
            return fmt::format("member {} sends fragment {}, which it does not have", send.from,
                               send.fragment);
        }
        if (!send.adds) {
            after = sent;
            return std::nullopt;
        }
        if (after.empty()) {
            return fmt::format("member {} adds to fragment {}, which it does not have", send.to,
                               send.fragment);
        }
        for (const auto member : sent) {
            if (!after.insert(member).second) {
                return fmt::format(
                    "the value of member {} is added twice to fragment {} of member {}", member,
                    send.fragment, send.to);
            }
        }
        return std::nullopt;
    }

    std::optional<std::string> step(const Step& step) {
        std::set<std::pair<std::int32_t, std::int32_t>> written;
        for (const auto& one : step.sends) {
            if (!is_member(one.from) || !is_member(one.to) || !is_member(one.fragment) ||
                one.from == one.to) {
                return fmt::format(
                    "member {} cannot send fragment {} to member {} in a group of {}", one.from,
                    one.fragment, one.to, members_);
            }
            if (!written.emplace(one.to, one.fragment).second) {
                return fmt::format("fragment {} of member {} has two writers", one.fragment,
                                   one.to);
            }
        }
        auto after = holds_;
        for (const auto& one : step.sends) {
            if (written.count({one.from, one.fragment}) != 0) {
                return fmt::format("fragment {} of member {} is sent and written", one.fragment,
                                   one.from);
            }
            auto& target =
                after[static_cast<std::size_t>(one.to)][static_cast<std::size_t>(one.fragment)];
            if (auto found = send(one, at(one.from, one.fragment), target)) {
                return found;
            }
        }
        holds_ = std::move(after);
        return std::nullopt;
    }

    std::optional<std::string> at_end() {
        for (std::int32_t member = 0; member < members_; ++member) {
            for (std::int32_t fragment = 0; fragment < members_; ++fragment) {
                if (schedule_.kind == Kind::ReduceScatter && fragment != member) {
                    continue;
                }
                const std::size_t wanted =
                    schedule_.kind == Kind::AllGather ? 1 : static_cast<std::size_t>(members_);
                const auto& symbol = at(member, fragment);
                const bool is_its_own =
                    schedule_.kind != Kind::AllGather || symbol.count(fragment) == 1;
                if (symbol.size() != wanted || !is_its_own) {
                    return fmt::format("member {} ends with {} of {} values in fragment {}", member,
                                       is_its_own ? symbol.size() : 0, wanted, fragment);
                }
            }
        }
        return std::nullopt;
    }

    const Schedule& schedule_;
    std::int32_t members_;
    std::vector<std::vector<Symbol>> holds_; ///< by member and fragment
};

} // namespace

std::optional<std::string> mistake_of(const Schedule& schedule) {
    return Run{schedule}.mistake();
}

std::vector<EdgeLoad> busiest_edges(const Schedule& schedule, std::span<const std::int32_t> chips,
                                    const Route& route) {
    TESSERA_ASSERT(chips.size() == static_cast<std::size_t>(schedule.members));
    std::vector<EdgeLoad> out;
    for (const auto& step : schedule.steps) {
        std::map<std::int32_t, std::int64_t> fragments;
        for (const auto& send : step.sends) {
            for (const auto edge : route(chips[static_cast<std::size_t>(send.from)],
                                         chips[static_cast<std::size_t>(send.to)])) {
                ++fragments[edge];
            }
        }
        EdgeLoad busiest;
        for (const auto& [edge, count] : fragments) {
            if (count > busiest.fragments) {
                busiest = {edge, count};
            }
        }
        out.push_back(busiest);
    }
    return out;
}

} // namespace tessera::collective
