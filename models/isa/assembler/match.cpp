// SPDX-License-Identifier: MIT
#include "models/isa/assembler/match.h"

#include "models/isa/assembler/operand.h"

#include <algorithm>

namespace tessera::isa::assembly {
namespace {

constexpr std::uint8_t kZeroRegister = 15; ///< of either file
constexpr std::int64_t kMostStrides = 63;  ///< of three addresses, as ld2xst64pace has
constexpr std::int64_t kUCsrBase = 0x100;

/// How a register operand of a form is written; width 0 for operands that are no register.
struct RegisterShape {
    RegisterFile file = RegisterFile::Main;
    std::uint8_t width = 0;
    Suffix suffix = Suffix::None;
    bool may_broadcast = false;
};

RegisterShape shape_of(OperandKind kind) {
    switch (kind) {
    case OperandKind::MainDst:
    case OperandKind::MainSrc:
    case OperandKind::MainBoth:
    case OperandKind::MainDelta:
        return {RegisterFile::Main, 1, Suffix::None, false};
    case OperandKind::MainStep:
        return {RegisterFile::Main, 1, Suffix::Step, false};
    case OperandKind::MainInc:
        return {RegisterFile::Main, 1, Suffix::Increment, false};
    case OperandKind::MainAt:
        return {RegisterFile::Main, 1, Suffix::At, false};
    case OperandKind::MainShift:
        return {RegisterFile::Main, 1, Suffix::Shift, false};
    case OperandKind::MainPairDst:
        return {RegisterFile::Main, 2, Suffix::None, false};
    case OperandKind::MainPairStep:
        return {RegisterFile::Main, 2, Suffix::Step, false};
    case OperandKind::AuxDst:
    case OperandKind::AuxSrc:
        return {RegisterFile::Aux, 1, Suffix::None, false};
    case OperandKind::AuxSrcB:
        return {RegisterFile::Aux, 1, Suffix::None, true};
    case OperandKind::AuxPairDst:
    case OperandKind::AuxPairSrc:
        return {RegisterFile::Aux, 2, Suffix::None, false};
    case OperandKind::AuxPairSrcB:
        return {RegisterFile::Aux, 2, Suffix::None, true};
    case OperandKind::AuxQuadDst:
    case OperandKind::AuxQuadSrc:
        return {RegisterFile::Aux, 4, Suffix::None, false};
    default:
        return {};
    }
}

bool broadcast_fits(const RegisterShape& shape, std::uint16_t flags, Broadcast broadcast) {
    const bool is_half = broadcast == Broadcast::Lower || broadcast == Broadcast::Upper;
    return shape.may_broadcast && (flags & kBroadcast) != 0 &&
           !(is_half && (flags & kWordOnly) != 0);
}

/// `:BL` of whole words: an even register names its pair, whose lower word is broadcast.
bool is_lower_word(std::uint16_t flags, const Operand& operand) {
    return (flags & kWordOnly) != 0 && operand.broadcast == Broadcast::Lower &&
           operand.first % 2 == 0;
}

/// How well a written operand fits one of a form.
enum class Fit : std::uint8_t { None, Loose, Exact };

/// `$azero` as what a load adds to its base: register 15 of either file is zero there.
bool is_zero_offset(const OperandSpec& spec, std::uint16_t flags, const Operand& operand) {
    const bool is_offset = spec.kind == OperandKind::MainDelta ||
                           (spec.kind == OperandKind::MainSrc && spec.slot == Slot::C);
    return is_offset && (flags & kLoad) != 0 && operand.file == RegisterFile::Aux &&
           operand.first == kZeroRegister && operand.width == 1;
}

/// A register of the other file is a loose fit: its number is taken.
Fit register_fit(const OperandSpec& spec, std::uint16_t flags, const Operand& operand) {
    const RegisterShape shape = shape_of(spec.kind);
    const bool is_broadcast = operand.broadcast != Broadcast::None;
    const std::uint8_t width = is_broadcast ? 1 : shape.width;
    if (operand.shape != OperandShape::Register || operand.width != width ||
        operand.first % width != 0 || operand.suffix != shape.suffix ||
        (is_broadcast && !broadcast_fits(shape, flags, operand.broadcast) &&
         !(shape.may_broadcast && is_lower_word(flags, operand)))) {
        return Fit::None;
    }
    const bool is_exact = operand.file == shape.file || is_zero_offset(spec, flags, operand);
    return is_exact ? Fit::Exact : Fit::Loose;
}

bool is_between(std::int64_t value, std::int64_t least, std::int64_t most) {
    return value >= least && value <= most;
}

bool constant_fits(const OperandSpec& spec, std::int64_t value) {
    const std::int64_t range = std::int64_t{1} << spec.bits;
    switch (spec.kind) {
    case OperandKind::SImm:
        return is_between(value, -range / 2, range / 2 - 1);
    case OperandKind::TopImm:
        return is_between(value, -0x80000000LL, 0xffffffffLL) && (value & 0xfffff) == 0;
    case OperandKind::CodeAddr:
        return is_between(value, 0, range * 4 - 1) && value % 4 == 0;
    case OperandKind::Events:
    case OperandKind::EventsSplit:
        return is_between(value, 1, range);
    case OperandKind::Strides:
        return is_between(value, 0, kMostStrides);
    case OperandKind::UCsr:
        return is_between(value, 0, range - 1) ||
               is_between(value, kUCsrBase, kUCsrBase + range - 1);
    default:
        return is_between(value, 0, range - 1);
    }
}

/// Whether a constant that is too wide may lose its upper bits where operands are not checked.
bool may_be_cut(OperandKind kind) {
    return kind == OperandKind::UImm || kind == OperandKind::SImm || kind == OperandKind::AmpFlag ||
           kind == OperandKind::Strides;
}

/// The number that an operand of this kind holds of what is written.
std::int64_t constant_of(const OperandSpec& spec, const Operand& operand) {
    const bool is_multiple = operand.address % 4 == 0;
    if (spec.kind == OperandKind::VertexOffset && operand.is_address) {
        return is_multiple ? operand.address / 4 : -1;
    }
    if (spec.kind == OperandKind::CodeAddr) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(operand.value)
                                         << operand.field_shift);
    }
    return operand.value;
}

Fit fit_of(const OperandSpec& spec, std::uint16_t flags, const Operand& operand) {
    const auto exact = [](bool fits) { return fits ? Fit::Exact : Fit::None; };
    if (shape_of(spec.kind).width != 0) {
        return register_fit(spec, flags, operand);
    }
    if (operand.shape == OperandShape::Csr) {
        if (operand.csr->context == CsrContext::Weights) {
            return exact(spec.kind == OperandKind::WeightIndex);
        }
        return exact((spec.kind == OperandKind::Csr && operand.csr->number < kUCsrBase) ||
                     (spec.kind == OperandKind::UCsr && operand.csr->number >= kUCsrBase));
    }
    if (operand.shape != OperandShape::Expression) {
        return Fit::None;
    }
    return constant_fits(spec, constant_of(spec, operand)) ? Fit::Exact
           : may_be_cut(spec.kind)                         ? Fit::Loose
                                                           : Fit::None;
}

std::string range_text(std::int64_t least, std::int64_t most) {
    return "constant " + std::to_string(least) + ".." + std::to_string(most);
}

std::string constant_text(const OperandSpec& spec) {
    const std::int64_t range = std::int64_t{1} << spec.bits;
    switch (spec.kind) {
    case OperandKind::SImm:
        return range_text(-range / 2, range / 2 - 1);
    case OperandKind::TopImm:
        return "constant whose low 20 bits are zero";
    case OperandKind::CodeAddr:
        return "code address (a multiple of 4, 0.." + std::to_string(range * 4 - 4) + ")";
    case OperandKind::VertexOffset:
        return range_text(0, range - 1) + " or address (a multiple of 4, at most " +
               std::to_string(range * 4 - 4) + " behind the start of memory)";
    case OperandKind::Csr:
        return "control register 0..255";
    case OperandKind::Events:
    case OperandKind::EventsSplit:
        return range_text(1, range);
    case OperandKind::UCsr:
        return "aux control register 256..511";
    case OperandKind::Strides:
        return range_text(0, kMostStrides) + ", whose low " + std::to_string(spec.bits) +
               " bits count";
    default:
        return range_text(0, range - 1);
    }
}

std::string expectation(const OperandSpec& spec, std::uint16_t flags) {
    const RegisterShape shape = shape_of(spec.kind);
    if (shape.width == 0) {
        return constant_text(spec);
    }
    std::string text = shape.file == RegisterFile::Main ? "$m" : "$a";
    text += shape.width == 1 ? " register" : shape.width == 2 ? " pair" : " quad";
    switch (shape.suffix) {
    case Suffix::None:
        break;
    case Suffix::Step:
        text += " with +=";
        break;
    case Suffix::Increment:
        text += " with ++";
        break;
    case Suffix::At:
        text += " with @";
        break;
    case Suffix::Shift:
        text += " with >>";
        break;
    }
    if (shape.may_broadcast && (flags & kBroadcast) != 0) {
        const std::string suffixes =
            (flags & kWordOnly) != 0 ? ":B, or :BL if even" : ":BL, :BU or :B";
        text +=
            shape.width == 1 ? " (" + suffixes + " may follow)" : " or register with " + suffixes;
    }
    return text;
}

/// What a field of so many bits holds of a value.
std::int64_t cut(const OperandSpec& spec, std::int64_t value) {
    const unsigned unused = 64U - spec.bits;
    const std::uint64_t top = static_cast<std::uint64_t>(value) << unused;
    return spec.kind == OperandKind::SImm ? static_cast<std::int64_t>(top) >> unused
                                          : static_cast<std::int64_t>(top >> unused);
}

void store(const OperandSpec& spec, std::uint16_t flags, const Operand& operand,
           Operation& operation) {
    if (shape_of(spec.kind).width != 0) {
        set_operand(operation, spec.slot, operand.first);
        if (operand.broadcast != Broadcast::None) {
            operation.broadcast =
                is_lower_word(flags, operand) ? Broadcast::Word : operand.broadcast;
        }
        return;
    }
    std::int64_t value =
        operand.shape == OperandShape::Csr ? operand.csr->number : constant_of(spec, operand);
    if (spec.kind == OperandKind::UCsr) {
        value &= 0xff;
    } else if (may_be_cut(spec.kind)) {
        value = cut(spec, value);
    }
    set_operand(operation, spec.slot, static_cast<std::int32_t>(static_cast<std::uint32_t>(value)));
}

/// How a list of operands fits a row.
struct RowFit {
    std::size_t exact = 0;   ///< operands before the first that does not fit exactly
    std::size_t loose = 0;   ///< operands that fit loosely
    bool is_possible = true; ///< all fit, exactly or loosely
    Operation operation;
};

RowFit fit_row(Opcode opcode, std::span<const Operand> operands) {
    const OpcodeSpec& row = spec_of(opcode);
    const auto list = spec_of(row.form).list();
    const bool is_short = operands.size() + 1 == list.size();
    RowFit result;
    result.operation.opcode = opcode;
    std::size_t next = 0;
    for (const OperandSpec& spec : list) {
        if (is_short && spec.kind == OperandKind::MainDelta) {
            set_operand(result.operation, spec.slot, kZeroRegister);
            continue;
        }
        const Operand& operand = operands[next];
        const Fit fit = fit_of(spec, row.flags, operand);
        result.is_possible = result.is_possible && fit != Fit::None;
        result.loose += fit == Fit::Loose ? 1 : 0;
        result.exact += fit == Fit::Exact && result.exact == next ? 1 : 0;
        if (fit != Fit::None) {
            store(spec, row.flags, operand, result.operation);
        }
        ++next;
    }
    return result;
}

bool takes(const FormSpec& form, std::size_t operand_count) {
    const auto list = form.list();
    const bool has_delta = std::any_of(list.begin(), list.end(), [](const OperandSpec& spec) {
        return spec.kind == OperandKind::MainDelta;
    });
    return operand_count == list.size() || (has_delta && operand_count + 1 == list.size());
}

/// The spec of written operand `index`, which skips a delta that is left out.
const OperandSpec& written_spec(const FormSpec& form, std::size_t index, std::size_t written) {
    const auto list = form.list();
    for (const OperandSpec& spec : list) {
        if (written < list.size() && spec.kind == OperandKind::MainDelta) {
            continue;
        }
        if (index == 0) {
            return spec;
        }
        --index;
    }
    return list.back();
}

std::string join(const std::vector<std::string>& choices) {
    std::string text;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        text += (i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i];
    }
    return text;
}

void add_once(std::vector<std::string>& list, std::string text) {
    if (std::find(list.begin(), list.end(), text) == list.end()) {
        list.push_back(std::move(text));
    }
}

Mismatch wrong_number(std::string_view mnemonic, std::size_t got) {
    std::vector<std::string> numbers;
    for (std::size_t number = 0; number <= std::tuple_size_v<decltype(FormSpec::operands)>;
         ++number) {
        for (const Opcode opcode : opcodes_named(mnemonic)) {
            if (takes(spec_of(spec_of(opcode).form), number)) {
                add_once(numbers, std::to_string(number));
            }
        }
    }
    return {std::nullopt,
            std::string(mnemonic) + ": got " + std::to_string(got) + " operands, expected " +
                join(numbers),
            std::nullopt};
}

std::uint16_t main_written(const OperandSpec& spec, unsigned number) {
    switch (spec.kind) {
    case OperandKind::MainDst:
    case OperandKind::MainBoth:
    case OperandKind::MainStep:
    case OperandKind::MainInc:
    case OperandKind::MainAt:
    case OperandKind::MainShift:
        return static_cast<std::uint16_t>(1U << number);
    case OperandKind::MainPairDst:
    case OperandKind::MainPairStep:
        return static_cast<std::uint16_t>(3U << number);
    default:
        return 0;
    }
}

std::uint16_t aux_written(const OperandSpec& spec, unsigned number) {
    switch (spec.kind) {
    case OperandKind::AuxDst:
        return static_cast<std::uint16_t>(1U << number);
    case OperandKind::AuxPairDst:
        return static_cast<std::uint16_t>(3U << number);
    case OperandKind::AuxQuadDst:
        return static_cast<std::uint16_t>(15U << number);
    default:
        return 0;
    }
}

std::uint16_t aux_written(const Operation& operation) {
    std::uint16_t mask = 0;
    for (const OperandSpec& spec : spec_of(spec_of(operation.opcode).form).list()) {
        mask |= aux_written(spec, static_cast<unsigned>(operand_value(operation, spec.slot)));
    }
    return mask;
}

} // namespace

std::variant<Operation, Mismatch> match(std::string_view mnemonic,
                                        std::span<const Operand> operands) {
    std::vector<std::string> expected;
    Mismatch mismatch;
    std::size_t furthest = 0;
    std::size_t least_loose = operands.size() + 1;
    bool is_number_right = false;
    for (const Opcode opcode : opcodes_named(mnemonic)) {
        const OpcodeSpec& row = spec_of(opcode);
        const FormSpec& form = spec_of(row.form);
        if (!takes(form, operands.size())) {
            continue;
        }
        is_number_right = true;
        const RowFit fit = fit_row(opcode, operands);
        if (fit.exact == operands.size()) {
            return fit.operation;
        }
        if (fit.is_possible && fit.loose < least_loose) {
            least_loose = fit.loose;
            mismatch.loose = fit.operation;
        }
        if (fit.exact > furthest) {
            furthest = fit.exact;
            expected.clear();
        }
        if (fit.exact == furthest) {
            add_once(expected,
                     expectation(written_spec(form, fit.exact, operands.size()), row.flags));
        }
    }
    if (!is_number_right) {
        return wrong_number(mnemonic, operands.size());
    }
    if (std::string more = pseudo_constant(mnemonic, furthest); !more.empty()) {
        add_once(expected, std::move(more));
    }
    mismatch.operand = furthest;
    mismatch.message = std::string(mnemonic) + ": operand " + std::to_string(furthest + 1) +
                       ": got " + text_of(operands[furthest]) + ", expected " + join(expected);
    return mismatch;
}

std::vector<Operand> operands_of(const Operation& operation, CsrContext context) {
    std::vector<Operand> operands;
    for (const OperandSpec& spec : spec_of(spec_of(operation.opcode).form).list()) {
        const RegisterShape shape = shape_of(spec.kind);
        const std::int32_t value = operand_value(operation, spec.slot);
        Operand operand;
        if (shape.width == 0) {
            operand.value =
                spec.kind == OperandKind::TopImm ? std::int64_t{value} & 0xffffffffLL : value;
            const std::int64_t number = spec.kind == OperandKind::UCsr ? kUCsrBase + value : value;
            if (spec.kind == OperandKind::Csr || spec.kind == OperandKind::UCsr) {
                operand.csr = find_csr(csr_name(static_cast<std::uint16_t>(number), context));
                operand.shape =
                    operand.csr == nullptr ? OperandShape::Expression : OperandShape::Csr;
                operand.value = number;
            }
        } else {
            operand.shape = OperandShape::Register;
            operand.file = shape.file;
            operand.first = static_cast<std::uint8_t>(value);
            operand.width = shape.width;
            operand.suffix = shape.suffix;
            if (shape.may_broadcast && operation.broadcast != Broadcast::None) {
                operand.broadcast = operation.broadcast;
                operand.width = 1;
            }
        }
        operands.push_back(operand);
    }
    return operands;
}

std::string refused_mnemonic(std::string_view mnemonic) {
    if (mnemonic == "movz") {
        return "not modelled: its published name and formula contradict each other, expected movnz";
    }
    return {};
}

std::string operation_problem(const Operation& operation) {
    std::uint16_t main_so_far = 0;
    std::uint16_t aux_so_far = 0;
    constexpr std::uint16_t kReadOnly = 0xf000; // $m12..$m15: writes are discarded
    for (const OperandSpec& spec : spec_of(spec_of(operation.opcode).form).list()) {
        const auto number = static_cast<unsigned>(operand_value(operation, spec.slot)) & 15U;
        const std::uint16_t main = main_written(spec, number);
        const std::uint16_t aux = aux_written(spec, number);
        // Sources of the machine name one register as result and as what steps; what stays in it is
        // not published (docs/deviations.md, result-steps), so only running it is refused.
        const bool may_meet = spec.kind == OperandKind::MainStep;
        if (((main & main_so_far & ~kReadOnly) != 0 && !may_meet) || (aux & aux_so_far) != 0) {
            return "two results go to the same register, expected different ones";
        }
        main_so_far |= main;
        aux_so_far |= aux;
    }
    return {};
}

std::string bundle_problem(const Operation& first, const Operation& second) {
    const OpcodeSpec& main = spec_of(first.opcode);
    const OpcodeSpec& aux = spec_of(second.opcode);
    for (const OpcodeSpec* half : {&main, &aux}) {
        if ((half->flags & kSolo) != 0) {
            return std::string(half->mnemonic) + " stands alone, expected it outside a bundle";
        }
    }
    if (main.lane != Lane::Main || aux.lane != Lane::Aux) {
        const auto name = [](Lane lane) { return lane == Lane::Main ? "main" : "aux"; };
        return std::string("got ") + name(main.lane) + " then " + name(aux.lane) +
               ", expected main then aux";
    }
    // $azeros is where results go that nobody wants, also two at once.
    constexpr std::uint16_t kZeros = 0xc000;
    const std::uint16_t by_main = aux_written(first);
    const std::uint16_t by_aux = aux_written(second);
    if ((by_main & by_aux) != 0 && !(by_main == kZeros && by_aux == kZeros)) {
        return "both halves write the same register, expected different ones";
    }
    return {};
}

} // namespace tessera::isa::assembly
