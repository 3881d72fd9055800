// SPDX-License-Identifier: MIT
#include "models/isa/counted_loop.h"

#include <algorithm>
#include <cstddef>

namespace tessera::isa {
namespace {

constexpr unsigned kOfLoop = 12; ///< $m0..$m11; the others do not change

/// Says how a main register changes from one pass to the next.
struct Moves {
    enum class Kind : std::uint8_t { Same, By, Otherwise };
    Kind kind = Kind::Same;
    std::uint8_t as = 0; ///< By: it moves as what this register holds when a pass begins

    friend bool operator==(const Moves&, const Moves&) = default;
};
constexpr Moves kSame{};
constexpr Moves kOtherwise{Moves::Kind::Otherwise, 0};

class LoopAnalysis {
public:
    explicit LoopAnalysis(std::span<const LoopInstruction> body) : body_(body) {}

    std::optional<CountedLoop> run() {
        std::uint16_t written = 0;
        for (const LoopInstruction& one : body_) {
            written |= static_cast<std::uint16_t>(main_registers(one.operation).written);
        }
        std::array<Moves, kOfLoop> begin{};
        for (unsigned number = 0; number < kOfLoop; ++number) {
            if (((written >> number) & 1U) != 0) {
                begin[number] = by(number);
            }
        }
        // The second pass begins as the first one ends. Each time a register changes its kind, at most
        // twice.
        for (unsigned time = 0; time <= 2 * kOfLoop; ++time) {
            now_ = begin;
            loop_ = CountedLoop{};
            is_fine_ = true;
            pass();
            bool settled = true;
            for (unsigned number = 0; number < kOfLoop; ++number) {
                const Moves& end = now_[number];
                if (end == begin[number]) {
                    continue;
                }
                const Moves before = begin[number];
                begin[number] = end == kSame && before != kOtherwise ? kSame : kOtherwise;
                settled = settled && begin[number] == before;
            }
            if (settled) {
                const bool all_known =
                    std::ranges::none_of(now_, [](const Moves& one) { return one == kOtherwise; });
                for (unsigned number = 0; number < kOfLoop; ++number) {
                    const bool moves = now_[number].kind == Moves::Kind::By;
                    loop_.moving |= static_cast<std::uint16_t>(moves ? 1U << number : 0U);
                }
                return is_fine_ && all_known ? std::optional(loop_) : std::nullopt;
            }
        }
        return std::nullopt;
    }

private:
    static Moves by(unsigned number) {
        return {Moves::Kind::By, static_cast<std::uint8_t>(number)};
    }
    [[nodiscard]] Moves of(unsigned number) const {
        return number < kOfLoop ? now_[number] : kSame;
    }
    void set(unsigned number, Moves moves) {
        if (number < kOfLoop) {
            now_[number] = moves;
        }
    }
    [[nodiscard]] bool is_same(unsigned number) const { return of(number) == kSame; }

    void pass() {
        for (std::size_t at = 0; at < body_.size(); ++at) {
            const Operation& operation = body_[at].operation;
            const bool is_last = at + 1 == body_.size();
            if ((spec_of(operation.opcode).flags & kControl) == 0) {
                instruction(operation, body_[at].in_repeat);
            } else if (is_last) {
                is_fine_ = is_fine_ && operation.opcode == Opcode::brnzdec &&
                           of(operation.d) == by(operation.d);
            } else if (operation.opcode == Opcode::rpt_r || operation.opcode == Opcode::rpt_i) {
                is_fine_ = is_fine_ && !body_[at].in_repeat &&
                           (operation.opcode == Opcode::rpt_i || is_same(operation.a));
                // A pass of the repeat finds what the one before has left.
                for (std::size_t next = at + 1; next < body_.size() && body_[next].in_repeat;
                     ++next) {
                    if ((spec_of(body_[next].operation.opcode).flags & kControl) == 0) {
                        instruction(body_[next].operation, true);
                    }
                }
            } else {
                is_fine_ = false;
            }
        }
    }

    void instruction(const Operation& operation, bool in_repeat) {
        const OpcodeSpec& spec = spec_of(operation.opcode);
        if (operation.opcode == Opcode::kNone || operation.opcode == Opcode::atom ||
            spec.lane != Lane::Main || (spec.flags & (kSystem | kSupervisor | kSolo)) != 0) {
            is_fine_ = false;
        } else if ((spec.flags & (kLoad | kStore)) != 0) {
            access(operation, in_repeat);
        } else {
            compute(operation);
        }
    }

    void compute(const Operation& operation) {
        const MainRegisters registers = main_registers(operation);
        Moves result = kSame;
        unsigned moving = 0;
        for (unsigned number = 0; number < kOfLoop; ++number) {
            if (((registers.read >> number) & 1U) != 0 && !is_same(number)) {
                result = of(number);
                ++moving;
            }
        }
        const Opcode opcode = operation.opcode;
        const bool keeps = opcode == Opcode::add_z || opcode == Opcode::add_s ||
                           (opcode == Opcode::add_rr && operation.a != operation.b) ||
                           (opcode == Opcode::or_rr && (operation.a == 15 || operation.b == 15)) ||
                           (opcode == Opcode::or_u && operation.imm == 0);
        if (moving > 1 || (moving == 1 && !keeps)) {
            result = kOtherwise;
        }
        for (unsigned number = 0; number < kOfLoop; ++number) {
            if (((registers.written >> number) & 1U) != 0) {
                set(number, result);
            }
        }
    }

    void access(const Operation& operation, bool in_repeat) {
        const OpcodeSpec& spec = spec_of(operation.opcode);
        const bool stores = (spec.flags & kStore) != 0;
        std::vector<std::uint8_t> places; // the address is the sum of these registers
        std::vector<unsigned> loaded;
        bool is_first = true;
        for (const OperandSpec& operand : spec_of(spec.form).list()) {
            const auto number = static_cast<unsigned>(operand_value(operation, operand.slot)) & 15U;
            switch (operand.kind) {
            case OperandKind::MainDst:
                loaded.push_back(number);
                break;
            case OperandKind::MainSrc:
            case OperandKind::MainDelta:
            case OperandKind::MainStep:
                if (operand.slot == Slot::C) { // a count of accesses, as offset or as step
                    is_fine_ = is_fine_ && is_same(number);
                } else {
                    is_fine_ = is_fine_ && !(stores && is_first); // a main register is stored
                    places.push_back(static_cast<std::uint8_t>(number));
                }
                break;
            case OperandKind::MainInc: // the list of distances
                is_fine_ = is_fine_ && is_same(number);
                break;
            case OperandKind::MainAt: // the distance in use, then the next one
                is_fine_ = is_fine_ && is_same(number);
                places.push_back(static_cast<std::uint8_t>(number));
                break;
            case OperandKind::MainBoth:
            case OperandKind::MainShift:
            case OperandKind::MainPairDst:
            case OperandKind::MainPairStep:
                is_fine_ = false;
                break;
            default:
                break;
            }
            is_first = false;
        }
        unsigned moving = 0;
        for (std::uint8_t& number : places) {
            const Moves moves = of(number);
            is_fine_ = is_fine_ && moves != kOtherwise;
            number = kStill;
            if (moves.kind == Moves::Kind::By) {
                ++moving;
                number = moves.as;
                loop_.addresses |= static_cast<std::uint16_t>(1U << number);
            }
        }
        for (const unsigned number : loaded) {
            is_fine_ = is_fine_ && moving == 0;
            set(number, kSame);
        }
        if (stores) {
            is_fine_ = is_fine_ && !in_repeat && places.size() == 2;
            if (is_fine_) {
                loop_.stores.push_back({places[0], places[1]});
            }
        }
    }

    static constexpr std::uint8_t kStill = 15; ///< a register that never moves

    std::span<const LoopInstruction> body_;
    std::array<Moves, kOfLoop> now_{};
    CountedLoop loop_;
    bool is_fine_ = true;
};

} // namespace

std::optional<CountedLoop> counted_loop(std::span<const LoopInstruction> body) {
    return LoopAnalysis(body).run();
}

} // namespace tessera::isa
