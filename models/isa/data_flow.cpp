// SPDX-License-Identifier: MIT
#include "models/isa/data_flow.h"

#include "models/isa/csr_numbers.h"

#include <bit>

namespace tessera::isa {
namespace {

using place::Bank;
using place::Mask;

constexpr Mask bit(unsigned place) {
    return Mask{1} << place;
}

constexpr Mask kAllAccumulators = bit(place::kCount) - bit(place::kAccumulators);
constexpr unsigned kReadOnlyMain = 12; ///< $m12..$m15 come from a launch, or are zero
constexpr unsigned kZeroAux = 8;       ///< $a8..$a15 are zero

/// What an instruction does to the accumulators.
enum class Accumulation : std::uint8_t {
    None,
    Into,        ///< adds to the even bank
    Get,         ///< takes the first four of the even bank
    Drain,       ///< shifts the bank that its constant names
    Axpy,        ///< through the first two of the even bank
    Mix,         ///< through the first four of the even bank
    IntoNetwork, ///< that transposes
    OutOfNetwork,
    Matrix,
    Slic,
};

Accumulation accumulation_of(Opcode opcode) {
    switch (opcode) {
    case Opcode::f32mac:
    case Opcode::f32v2mac:
    case Opcode::f16v2cmac:
    case Opcode::f16v4cmac:
    case Opcode::f32v4acc:
    case Opcode::f16v8acc:
    case Opcode::f16v4acc:
    case Opcode::f32v4absacc:
    case Opcode::f16v8absacc:
    case Opcode::f16v4absacc:
    case Opcode::f32v4sqacc:
    case Opcode::f16v8sqacc:
    case Opcode::f32v2aop:
        return Accumulation::Into;
    case Opcode::f16v4gacc:
        return Accumulation::Get;
    case Opcode::f16v2gina:
    case Opcode::f32v2gina:
        return Accumulation::Drain;
    case Opcode::f32v2axpy:
        return Accumulation::Axpy;
    case Opcode::f16v4mix:
        return Accumulation::Mix;
    case Opcode::f16v4istacc:
        return Accumulation::IntoNetwork;
    case Opcode::f16v4stacc:
        return Accumulation::OutOfNetwork;
    case Opcode::f16v4hihov4amp:
    case Opcode::f16v4sisoamp:
    case Opcode::f16v4hihoamp:
    case Opcode::f16v4sihoamp:
    case Opcode::f32sisoamp:
    case Opcode::f32sisov2amp:
    case Opcode::f8v8hihov4amp:
        return Accumulation::Matrix;
    case Opcode::f16v4hihov4slic:
    case Opcode::f16v4sisoslic:
    case Opcode::f16v4hihoslic:
    case Opcode::f16v4sihoslic:
    case Opcode::f32sisoslic:
    case Opcode::f32sisov2slic:
    case Opcode::f8v8hihov4slic:
        return Accumulation::Slic;
    default:
        return Accumulation::None;
    }
}

/// Pairs whose registers are computed each from those of the same place in the sources.
bool is_by_register(const Operation& operation) {
    switch (operation.opcode) {
    case Opcode::sort4x32lo:
    case Opcode::sort4x32hi:
    case Opcode::roll32:
    case Opcode::f32v2clamp: // the bounds are a pair for both
    case Opcode::f16v4sum:
        return false;
    default:
        break;
    }
    const Form form = spec_of(operation.opcode).form;
    return form == Form::ApApAp || form == Form::ApApA || form == Form::ApAp;
}

class Analysis {
public:
    explicit Analysis(const Operation& operation)
        : operation_(operation), spec_(spec_of(operation.opcode)) {}

    DataFlow run() {
        for (const OperandSpec& operand : spec_of(spec_.form).list()) {
            take(operand);
        }
        constexpr std::uint16_t kSteers = kControl | kSystem | kSupervisor;
        if ((spec_.flags & (kLoad | kStore)) != 0) {
            memory_access();
        } else if ((spec_.flags & kSteers) != 0) {
            flow_.used |= sources_;
            put_results(0);
            note_clear();
        } else if (const Accumulation kind = accumulation_of(operation_.opcode);
                   kind != Accumulation::None) {
            flow_.computed = sources_ | kAllAccumulators;
            accumulate(kind);
        } else {
            flow_.computed = spec_.lane == Lane::Aux ? sources_ : 0;
            compute();
        }
        return std::move(flow_);
    }

private:
    struct Registers {
        unsigned first = 0; ///< place
        unsigned count = 0;
        bool is_kept = true; ///< false: what is written there is thrown away
    };

    void take(const OperandSpec& operand) {
        const auto number = static_cast<unsigned>(operand_value(operation_, operand.slot));
        switch (operand.kind) {
        case OperandKind::MainDst:
            main_destination(number, 1);
            break;
        case OperandKind::MainPairDst:
            main_destination(number, 2);
            break;
        case OperandKind::MainSrc:
        case OperandKind::MainDelta:
            read_main(number, 1);
            break;
        case OperandKind::MainBoth:
        case OperandKind::MainStep:
        case OperandKind::MainInc:
        case OperandKind::MainAt:
        case OperandKind::MainShift:
            read_main(number, 1);
            stepped(operand.kind, number, 1);
            break;
        case OperandKind::MainPairStep:
            read_main(number, 2);
            stepped(operand.kind, number, 2);
            break;
        case OperandKind::AuxDst:
            aux_destination(number, 1);
            break;
        case OperandKind::AuxPairDst:
            aux_destination(number, 2);
            break;
        case OperandKind::AuxQuadDst:
            aux_destination(number, 4);
            break;
        case OperandKind::AuxSrc:
        case OperandKind::AuxSrcB:
            read_aux(number, 1);
            break;
        case OperandKind::AuxPairSrc:
            read_aux(number, 2);
            break;
        case OperandKind::AuxPairSrcB:
            read_aux(number, operation_.broadcast == Broadcast::None ? 2 : 1);
            break;
        case OperandKind::AuxQuadSrc:
            read_aux(number, 4);
            break;
        default:
            break;
        }
    }
    static Mask mask_of(unsigned base, unsigned number, unsigned count, unsigned limit) {
        return number >= limit ? 0 : (bit(count) - 1U) << (base + number);
    }
    void read_main(unsigned number, unsigned count) {
        add_source(mask_of(place::kMain, number, count, kReadOnlyMain));
    }
    void read_aux(unsigned number, unsigned count) {
        add_source(mask_of(place::kAux, number, count, kZeroAux));
    }
    void add_source(Mask mask) {
        sources_ |= mask;
        operands_.push_back(mask);
    }
    void main_destination(unsigned number, unsigned count) {
        destinations_.push_back({place::kMain + number, count, number < kReadOnlyMain});
    }
    void aux_destination(unsigned number, unsigned count) {
        destinations_.push_back({place::kAux + number, count, number < kZeroAux});
    }
    /// A register that is read and written: of a delta that the list gives, loaded; else computed.
    void stepped(OperandKind kind, unsigned number, unsigned count) {
        if (kind == OperandKind::MainAt) {
            list_ = {place::kMain + number, count, number < kReadOnlyMain};
        } else {
            steps_.push_back({place::kMain + number, count, number < kReadOnlyMain});
        }
    }

    void put(const Registers& to, Mask from) {
        for (unsigned i = 0; to.is_kept && i < to.count; ++i) {
            flow_.results.push_back({static_cast<std::uint8_t>(to.first + i), from});
        }
    }
    void put_results(Mask from) {
        for (const auto* list : {&destinations_, &steps_}) {
            for (const Registers& to : *list) {
                put(to, from);
            }
        }
    }
    void load(const Registers& to, unsigned first, unsigned count) {
        for (unsigned i = first; i < first + count; ++i) {
            flow_.loaded.push_back(to.is_kept ? static_cast<std::uint8_t>(to.first + i)
                                              : place::kNowhere);
        }
    }

    /// Addresses, strides and stored data are used; so what steps on from them need not be
    /// followed.
    void memory_access() {
        flow_.used |= sources_;
        for (const Registers& to : steps_) {
            put(to, 0);
        }
        if ((spec_.flags & kSupervisor) != 0) { // weights
            flow_.loaded.assign(4, place::kOutside);
        } else if (operation_.opcode ==
                   Opcode::ld64a32) { // the pair first; register 0 of the quad stays
            load(destinations_[0], 2, 2);
            load(destinations_[0], 1, 1);
        } else {
            for (const Registers& to : destinations_) {
                load(to, 0, to.count);
            }
        }
        if (list_.count != 0) {
            load(list_, 0, 1);
        }
    }

    void note_clear() {
        if (operation_.opcode == Opcode::uput && operation_.imm == kCsrFpClear - kCsrAuxFirst) {
            flow_.clears_by = operation_.a;
        }
    }

    void compute() {
        if (!is_by_register(operation_)) {
            put_results(sources_);
            return;
        }
        const Registers& to = destinations_.front();
        for (unsigned i = 0; to.is_kept && i < to.count; ++i) {
            Mask from = 0;
            for (const Mask operand : operands_) {
                const bool is_pair = std::popcount(operand) == 2;
                from |=
                    is_pair ? bit(static_cast<unsigned>(std::countr_zero(operand)) + i) : operand;
            }
            flow_.results.push_back({static_cast<std::uint8_t>(to.first + i), from});
        }
    }

    void put(unsigned to, Mask from) {
        flow_.results.push_back({static_cast<std::uint8_t>(to), from});
    }
    /// A register of the result, where that is kept.
    void put_result(unsigned number, Mask from) {
        const Registers& to = destinations_.front();
        if (to.is_kept && number < to.count) {
            put(to.first + number, from);
        }
    }
    static constexpr unsigned pair_place(Bank bank, unsigned pair) {
        return place::accumulators(bank, pair);
    }
    static constexpr Mask pair_of(Bank bank, unsigned pair) { return bit(pair_place(bank, pair)); }
    /// Pairs [first, last) move down by one, the last is what enters.
    void shift(Bank to, Bank from, unsigned pairs, Mask entering, Mask added = 0) {
        for (unsigned pair = 0; pair + 1 < pairs; ++pair) {
            put(pair_place(to, pair), pair_of(from, pair + 1) | added);
        }
        put(pair_place(to, pairs - 1), entering | added);
    }
    void accumulate(Accumulation kind) {
        switch (kind) {
        case Accumulation::Into:
            into_pairs();
            break;
        case Accumulation::Get:
            put_results(pair_of(Bank::Even, 0) | pair_of(Bank::Even, 1));
            break;
        case Accumulation::Drain:
            drain();
            break;
        case Accumulation::Axpy:
            put_results(pair_of(Bank::Even, 0));
            put(pair_place(Bank::Even, 0), sources_);
            break;
        case Accumulation::Mix:
            put_results(pair_of(Bank::Even, 0) | pair_of(Bank::Even, 1));
            put(pair_place(Bank::Even, 0), sources_);
            put(pair_place(Bank::Even, 1), sources_);
            break;
        case Accumulation::IntoNetwork:
            put_results(pair_of(Bank::Odd, 0));
            if (!has_odd_constant()) {
                put(pair_place(Bank::Odd, 0), pair_of(Bank::Odd, 1));
            }
            into_pairs();
            break;
        case Accumulation::OutOfNetwork:
            out_of_network();
            break;
        case Accumulation::Matrix:
            matrix();
            break;
        case Accumulation::Slic:
            slic();
            break;
        case Accumulation::None:
            break;
        }
    }
    [[nodiscard]] bool has_odd_constant() const {
        return (static_cast<unsigned>(operation_.imm) & 1U) != 0;
    }
    /// Each pair of the even bank takes what it needs of the sources, and keeps the rest of itself.
    void into_pairs() {
        for (unsigned pair = 0; pair < place::kPairs; ++pair) {
            put(pair_place(Bank::Even, pair), pair_of(Bank::Even, pair) | sources_);
        }
    }
    /// Reads and shifts the bank that the constant names; the operand enters it.
    void drain() {
        constexpr Bank kBanks[] = {Bank::Even, Bank::Odd, Bank::EvenOfSecondSet,
                                   Bank::OddOfSecondSet};
        const Bank bank = kBanks[static_cast<unsigned>(operation_.imm) % 4];
        put_results(pair_of(bank, 0));
        shift(bank, bank, place::kPairs, sources_);
    }
    /// Phase 0 reads the even bank and moves the rest of it into the odd one; phase 1 goes on there.
    void out_of_network() {
        const bool goes_on = has_odd_constant();
        const Bank from = goes_on ? Bank::Odd : Bank::Even;
        put_results(pair_of(from, 0));
        for (unsigned pair = 0; pair < (goes_on ? 2U : 3U); ++pair) {
            put(pair_place(Bank::Odd, pair), pair_of(from, pair + 1));
        }
    }

    /// Of the constant of a matrix-unit or SLIC step: pairs of a set that take part.
    [[nodiscard]] unsigned pairs_taking_part() const {
        return (static_cast<unsigned>(operation_.imm) >> 4U) + 1U;
    }
    [[nodiscard]] bool has_two_sets() const { return (spec_.flags & kTwoSets) != 0; }
    /// The register that feeds a set: FP16 partials of both sets are a register for each.
    [[nodiscard]] Mask of_set(Mask operand, unsigned set) const {
        return is_register_by_set() && operand != 0
                   ? bit(static_cast<unsigned>(std::countr_zero(operand)) + set)
                   : operand;
    }
    [[nodiscard]] bool is_register_by_set() const {
        return has_two_sets() && spec_.form == Form::AmpPPP;
    }
    /// Whether partials enter a set and results leave it in this phase.
    [[nodiscard]] bool moves(unsigned set) const {
        const unsigned phase = static_cast<unsigned>(operation_.imm) & 15U;
        switch (operation_.opcode) {
        case Opcode::f32sisoamp:
            return phase % 2 == 0;
        case Opcode::f32sisov2amp:
            return phase % 2 == set;
        default:
            return true;
        }
    }
    /// The pair of results that leaves a set, or nothing.
    void leave(unsigned set, Mask from) {
        if (is_register_by_set()) {
            put_result(set, from);
        } else {
            put_results(from);
        }
    }
    /// A step of the matrix unit: inputs enter the sums, partials one end of the odd bank, results
    /// leave its other end. Phase 0 exchanges the banks first.
    void matrix() {
        const bool swaps = (static_cast<unsigned>(operation_.imm) & 15U) == 0;
        const unsigned pairs = pairs_taking_part();
        bool leaves = false;
        for (unsigned set = 0; set < (has_two_sets() ? 2U : 1U); ++set) {
            const Bank even = set == 0 ? Bank::Even : Bank::EvenOfSecondSet;
            const Bank odd = set == 0 ? Bank::Odd : Bank::OddOfSecondSet;
            const Bank sums = swaps ? odd : even;
            const Bank moving = swaps ? even : odd;
            for (unsigned pair = 0; pair < pairs; ++pair) {
                put(pair_place(even, pair), pair_of(sums, pair) | operands_[0]);
            }
            if (moves(set)) {
                leaves = true;
                leave(set, pair_of(moving, 0));
                shift(odd, moving, pairs, of_set(operands_[1], set));
            } else if (swaps) {
                for (unsigned pair = 0; pair < pairs; ++pair) {
                    put(pair_place(odd, pair), pair_of(moving, pair));
                }
            }
        }
        if (!leaves) {
            put_results(0);
        }
    }
    /// A step of the systolic convolution: sums move down as inputs enter them.
    void slic() {
        for (unsigned set = 0; set < (has_two_sets() ? 2U : 1U); ++set) {
            const Bank even = set == 0 ? Bank::Even : Bank::EvenOfSecondSet;
            leave(set, pair_of(even, 0));
            shift(even, even, pairs_taking_part(), of_set(operands_[1], set), operands_[0]);
        }
    }

    const Operation& operation_;
    const OpcodeSpec& spec_;
    DataFlow flow_;
    Mask sources_ = 0;
    std::vector<Mask> operands_; ///< of each source, as written
    std::vector<Registers> destinations_;
    std::vector<Registers> steps_;
    Registers list_; ///< what the next delta of a list goes to
};

} // namespace

DataFlow data_flow(const Operation& operation) {
    return Analysis(operation).run();
}

DataFlow data_flow(const Operation& main, const Operation& aux) {
    DataFlow flow = data_flow(main);
    const DataFlow other = data_flow(aux);
    flow.used |= other.used;
    flow.computed |= other.computed;
    flow.results.insert(flow.results.end(), other.results.begin(), other.results.end());
    flow.clears_by = other.clears_by;
    return flow;
}

bool reads_sticky_flags(const Operation& operation) {
    return operation.opcode == Opcode::uget && operation.imm == kCsrFpStatus - kCsrAuxFirst;
}

} // namespace tessera::isa
