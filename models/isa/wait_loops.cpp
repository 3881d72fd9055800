// SPDX-License-Identifier: MIT
#include "models/isa/wait_loops.h"

#include "models/isa/csr_numbers.h"
#include "models/isa/data_flow.h"

#include <algorithm>
#include <array>
#include <optional>

namespace tessera::isa {
namespace {

using place::Mask;

/// A place beside the others: what differs from round to round whatever stands in the registers.
constexpr Mask kClock = Mask{1} << 63U;

/// What a value inside one round of the loop depends on.
struct Value {
    Mask entry = 0;          ///< places, as the round finds them
    std::uint32_t loads = 0; ///< instructions of the round that have read memory, as bits

    void join(const Value& other) {
        entry |= other.entry;
        loads |= other.loads;
    }
};
static_assert(kLongestWaitLoop <= 32, "an instruction is a bit of Value::loads");

struct Instruction {
    std::size_t at = 0; ///< its first word
    Operation main;     ///< or the only half
    std::optional<Operation> aux;
    DataFlow flow;
};

bool is_branch_to_constant(const Operation& operation) {
    switch (operation.opcode) {
    case Opcode::brz:
    case Opcode::brnz:
    case Opcode::brneg:
    case Opcode::brpos:
    case Opcode::brnzdec:
    case Opcode::bri:
        return true;
    default:
        return false;
    }
}

class Round {
public:
    Round(std::span<const std::uint32_t> words, Address base) : words_(words), base_(base) {}

    /// The loop whose branch back is word `branch`, if a context waits there.
    std::optional<WaitLoop> waits(std::size_t head, std::size_t branch) {
        if (!take(head, branch) || !std::all_of(code_.begin(), code_.end(), may_wait)) {
            return std::nullopt;
        }
        walk();
        const Mask varying = varying_places();
        Value deciding;
        for (const Value& condition : conditions_) {
            if ((condition.entry & varying) != 0) {
                return std::nullopt;
            }
            deciding.join(condition);
            for (unsigned from = 0; from < place::kCount; ++from) {
                if (((condition.entry & written_) >> from & 1U) != 0) {
                    deciding.join(places_[from]); // read in the round before
                }
            }
        }
        if (deciding.loads == 0 || has_own_store(deciding.loads)) {
            return std::nullopt;
        }
        WaitLoop loop;
        loop.head = head;
        for (std::size_t i = 0; i < code_.size(); ++i) {
            if ((deciding.loads >> i & 1U) != 0) {
                loop.loads.push_back(code_[i].at);
            }
        }
        return loop;
    }

private:
    /// The instructions from `head` to the branch, if they lie so.
    bool take(std::size_t head, std::size_t branch) {
        code_.clear();
        std::size_t at = head;
        while (at <= branch && code_.size() < kLongestWaitLoop) {
            const bool has_second = (words_[at] & kBundleBit) != 0 && at + 1 < words_.size();
            Instruction next;
            next.at = at;
            next.main = decode(words_[at], has_second ? words_[at + 1] : 0);
            if (next.main.opcode == Opcode::kNone) {
                return false;
            }
            if (has_second && !has_two_words(next.main.opcode)) {
                next.aux = decode(words_[at + 1]);
                if (next.aux->opcode == Opcode::kNone) {
                    return false;
                }
            }
            next.flow = next.aux ? data_flow(next.main, *next.aux) : data_flow(next.main);
            code_.push_back(std::move(next));
            at += has_second ? 2 : 1;
        }
        return !code_.empty() && code_.back().at == branch;
    }

    /// Whether it is clear where control goes behind it, and that no launch is part of the loop.
    static bool may_wait(const Instruction& one) {
        const std::uint16_t flags = spec_of(one.main.opcode).flags;
        switch (one.main.opcode) {
        case Opcode::br:
        case Opcode::call:
        case Opcode::run:
        case Opcode::runall:
        case Opcode::sync:
        case Opcode::trap:
            return false;
        default:
            return (flags & kExchange) == 0;
        }
    }

    /// Follows values through one round, in the order of addresses.
    void walk() {
        for (unsigned from = 0; from < place::kCount; ++from) {
            places_[from] = {Mask{1} << from, 0};
        }
        written_ = 0;
        conditions_.clear();
        joins_until_ = 0;
        for (std::size_t i = 0; i < code_.size(); ++i) {
            step(i);
        }
    }

    void step(std::size_t index) {
        const Instruction& one = code_[index];
        const std::uint16_t flags = spec_of(one.main.opcode).flags;
        const Value used = value_of(one.flow.used);
        if (is_branch_to_constant(one.main)) {
            if (one.main.opcode != Opcode::bri) {
                conditions_.push_back(used);
            }
            const auto target =
                static_cast<std::size_t>((static_cast<Address>(one.main.imm) - base_) / 4);
            if (target > one.at && target <= code_.back().at) {
                joins_until_ = std::max(joins_until_, target);
            }
        }
        std::vector<std::pair<unsigned, Value>> results;
        const bool steers = (flags & (kLoad | kStore | kControl | kSystem | kSupervisor)) != 0;
        for (const DataFlow::Result& result : one.flow.results) {
            Value value = value_of(result.from);
            if (steers && result.from == 0) { // data_flow does not follow what steps on
                value.join(own_step(one, result.to));
            }
            results.emplace_back(result.to, value);
        }
        for (const std::uint8_t to : one.flow.loaded) {
            if (to < place::kCount) {
                Value value = used;
                value.loads |= 1U << index;
                results.emplace_back(to, value);
            }
        }
        for (const auto& [to, value] : results) {
            Value& kept = places_[to];
            if (one.at < joins_until_) { // perhaps jumped over
                kept.join(value);
            } else {
                kept = value;
            }
            written_ |= Mask{1} << to;
        }
    }

    [[nodiscard]] Value value_of(Mask mask) const {
        Value value;
        for (unsigned from = 0; mask >> from != 0; ++from) {
            if ((mask >> from & 1U) != 0) {
                value.join(places_[from]);
            }
        }
        return value;
    }

    /// What an address that moves on, a counter or a control register depends on.
    [[nodiscard]] Value own_step(const Instruction& one, unsigned to) const {
        if ((one.flow.used >> to & 1U) != 0) {
            return places_[to];
        }
        const bool reads_clock = (one.main.opcode == Opcode::get &&
                                  (one.main.imm == kCsrCountL || one.main.imm == kCsrCountU)) ||
                                 one.main.opcode == Opcode::uget;
        return {reads_clock ? kClock : 0, 0};
    }

    /// Places that each round leaves otherwise than it found them, by what it found in them.
    [[nodiscard]] Mask varying_places() const {
        Mask varying = written_ | kClock;
        for (bool again = true; again;) {
            again = false;
            for (unsigned at = 0; at < place::kCount; ++at) {
                const Mask bit = Mask{1} << at;
                if ((varying & bit) != 0 && (places_[at].entry & varying) == 0) {
                    varying &= ~bit;
                    again = true;
                }
            }
        }
        return varying;
    }

    /// Whether the loop itself writes where one of the loads reads: it is its own counter.
    [[nodiscard]] bool has_own_store(std::uint32_t loads) const {
        for (std::size_t i = 0; i < code_.size(); ++i) {
            const Operation& load = code_[i].main;
            for (const Instruction& other : code_) {
                const Operation& store = other.main;
                if ((loads >> i & 1U) != 0 && (spec_of(store.opcode).flags & kStore) != 0 &&
                    same_address(load, store)) {
                    return true;
                }
            }
        }
        return false;
    }

    static bool same_address(const Operation& a, const Operation& b) {
        return a.a == b.a && a.b == b.b && a.c == b.c && a.imm == b.imm;
    }

    std::span<const std::uint32_t> words_;
    Address base_;
    std::vector<Instruction> code_;
    std::array<Value, place::kCount> places_{};
    Mask written_ = 0;
    std::vector<Value> conditions_;
    std::size_t joins_until_ = 0; ///< words before that may be jumped over
};

} // namespace

std::vector<WaitLoop> wait_loops(std::span<const std::uint32_t> words, Address base) {
    std::vector<WaitLoop> loops;
    Round round(words, base);
    for (std::size_t at = 0; at < words.size(); ++at) {
        const Operation operation = decode(words[at]);
        if (!is_branch_to_constant(operation)) {
            continue;
        }
        const std::uint32_t offset = static_cast<Address>(operation.imm) - base;
        const std::size_t head = offset / 4;
        if (offset % 4 == 0 && head <= at && at - head < 2 * kLongestWaitLoop) {
            if (auto loop = round.waits(head, at)) {
                loops.push_back(std::move(*loop));
            }
        }
    }
    return loops;
}

} // namespace tessera::isa
