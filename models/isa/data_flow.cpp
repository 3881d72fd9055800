// SPDX-License-Identifier: MIT
#include "models/isa/data_flow.h"

#include "models/isa/csr_numbers.h"

#include <bit>

namespace tessera::isa {
namespace {

constexpr std::uint32_t bit(unsigned place) {
    return 1U << place;
}

constexpr std::uint32_t kEven =
    bit(place::kEvenFirst) | bit(place::kEvenSecond) | bit(place::kEvenRest);
constexpr std::uint32_t kOdd = bit(place::kOdd);
constexpr std::uint32_t kSecondSet = bit(place::kEvenOfSecondSet) | bit(place::kOddOfSecondSet);
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
            flow_.computed = sources_ | kEven | kOdd | kSecondSet;
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
    static std::uint32_t mask_of(unsigned base, unsigned number, unsigned count, unsigned limit) {
        return number >= limit ? 0 : ((1U << count) - 1U) << (base + number);
    }
    void read_main(unsigned number, unsigned count) {
        add_source(mask_of(place::kMain, number, count, kReadOnlyMain));
    }
    void read_aux(unsigned number, unsigned count) {
        add_source(mask_of(place::kAux, number, count, kZeroAux));
    }
    void add_source(std::uint32_t mask) {
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

    void put(const Registers& to, std::uint32_t from) {
        for (unsigned i = 0; to.is_kept && i < to.count; ++i) {
            flow_.results.push_back({static_cast<std::uint8_t>(to.first + i), from});
        }
    }
    void put_results(std::uint32_t from) {
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
            std::uint32_t from = 0;
            for (const std::uint32_t operand : operands_) {
                const bool is_pair = std::popcount(operand) == 2;
                from |=
                    is_pair ? bit(static_cast<unsigned>(std::countr_zero(operand)) + i) : operand;
            }
            flow_.results.push_back({static_cast<std::uint8_t>(to.first + i), from});
        }
    }

    void put(unsigned to, std::uint32_t from) {
        flow_.results.push_back({static_cast<std::uint8_t>(to), from});
    }
    void put_even(std::uint32_t from) {
        for (const unsigned part : {place::kEvenFirst, place::kEvenSecond, place::kEvenRest}) {
            put(part, from);
        }
    }
    void accumulate(Accumulation kind) {
        const std::uint32_t first = bit(place::kEvenFirst);
        const std::uint32_t second = bit(place::kEvenSecond);
        const bool is_odd = (static_cast<unsigned>(operation_.imm) & 1U) != 0;
        switch (kind) {
        case Accumulation::Into:
            put_even(kEven | sources_);
            break;
        case Accumulation::Get:
            put_results(first | second);
            break;
        case Accumulation::Drain:
            drain();
            break;
        case Accumulation::Axpy:
            put_results(first);
            put(place::kEvenFirst, sources_);
            break;
        case Accumulation::Mix:
            put_results(first | second);
            put(place::kEvenFirst, sources_);
            put(place::kEvenSecond, sources_);
            break;
        case Accumulation::IntoNetwork:
            put_results(kOdd);
            put_even(kEven | sources_);
            break;
        case Accumulation::OutOfNetwork:
            put_results(is_odd ? kOdd : kEven);
            put(place::kOdd, is_odd ? kOdd : kEven | kOdd);
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
    /// Reads and shifts the bank that the constant names; the operand enters it.
    void drain() {
        const auto select = static_cast<unsigned>(operation_.imm);
        if (select % 4 == 0) {
            put_results(kEven);
            put_even(kEven | sources_);
            return;
        }
        const unsigned bank = select % 4 == 1   ? place::kOdd
                              : select % 4 == 2 ? place::kEvenOfSecondSet
                                                : place::kOddOfSecondSet;
        put_results(bit(bank));
        put(bank, bit(bank) | sources_);
    }
    /// Inputs enter the sums, partials the odd bank; phase 0 exchanges the banks, or some units of
    /// them.
    void matrix() {
        const auto flag = static_cast<unsigned>(operation_.imm);
        const bool is_whole = flag >> 4U == 3;
        const bool swaps = (flag & 15U) == 0;
        const auto sums = [=](std::uint32_t even, std::uint32_t odd) {
            return !swaps ? even : is_whole ? odd : even | odd;
        };
        const auto moving = [=](std::uint32_t even, std::uint32_t odd) {
            return !swaps ? odd : is_whole ? even : even | odd;
        };
        const std::uint32_t even = bit(place::kEvenOfSecondSet);
        const std::uint32_t odd = bit(place::kOddOfSecondSet);
        const bool has_second = (spec_.flags & kTwoSets) != 0;
        put_results(moving(kEven, kOdd) | (has_second ? moving(even, odd) : 0));
        put_even(sums(kEven, kOdd) | operands_[0]);
        put(place::kOdd, moving(kEven, kOdd) | operands_[1]);
        if (has_second) {
            put(place::kEvenOfSecondSet, sums(even, odd) | operands_[0]);
            put(place::kOddOfSecondSet, moving(even, odd) | operands_[1]);
        }
    }
    void slic() {
        const std::uint32_t even = bit(place::kEvenOfSecondSet);
        const bool has_second = (spec_.flags & kTwoSets) != 0;
        put_results(kEven | (has_second ? even : 0));
        put_even(kEven | sources_);
        if (has_second) {
            put(place::kEvenOfSecondSet, even | sources_);
        }
    }

    const Operation& operation_;
    const OpcodeSpec& spec_;
    DataFlow flow_;
    std::uint32_t sources_ = 0;
    std::vector<std::uint32_t> operands_; ///< of each source, as written
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
