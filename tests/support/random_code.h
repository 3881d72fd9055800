// SPDX-License-Identifier: MIT
// Random tile programs: valid instructions with random operands, mixed with random words, in a tile
// whose memory and registers are random too. Whatever comes out, a run ends, in an outcome or in a
// fault of the machine.
#pragma once

#include "models/isa/context.h"
#include "models/isa/engine.h"
#include "models/isa/instruction.h"
#include "models/isa/stretch_recipes.h"
#include "models/program/known_words.h"
#include "models/tile/core/lockstep.h"
#include "models/tile/core/tile_classes.h"
#include "models/tile/core/tile_core.h"
#include "models/tile/core/worker_classes.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// Where random numbers come from: a generator, or a fuzzer's bytes.
using Draw = std::function<std::uint32_t()>;

namespace random_code {

constexpr std::uint32_t kWords = 96;

inline std::uint32_t below(const Draw& draw, std::uint32_t limit) {
    return draw() % limit;
}

inline std::int32_t constant(const isa::OperandSpec& operand, const Draw& draw, Address base) {
    if (operand.kind == isa::OperandKind::CodeAddr) {
        return static_cast<std::int32_t>(base + 4 * below(draw, kWords + 2));
    }
    if (operand.slot == isa::Slot::Imm2) {
        return static_cast<std::int32_t>(below(draw, 6)); // short rpt bodies, or none would fit
    }
    const std::uint32_t bits = draw() & ((1U << operand.bits) - 1U);
    switch (operand.kind) {
    case isa::OperandKind::TopImm:
        return static_cast<std::int32_t>(bits << 20U);
    case isa::OperandKind::Csr:
        return static_cast<std::int32_t>(1 + bits % 3);
    case isa::OperandKind::UCsr:
        return static_cast<std::int32_t>(1 + bits % 2); // FP_CLR and FP_CTL
    case isa::OperandKind::UImm:
        return static_cast<std::int32_t>(operand.bits == 12 ? bits % 32 : bits);
    default:
        return static_cast<std::int32_t>(bits);
    }
}

/// A register that the operand may name. Mostly $m1..$m3 and $m6..$m8 stay addresses, $m9..$m11
/// small numbers and strides, $m4:5 three addresses, so that a program gets somewhere before it
/// faults.
inline std::int32_t register_number(const isa::OperandSpec& operand, isa::Lane lane, bool steps,
                                    const Draw& draw) {
    static constexpr std::int32_t kAddresses[] = {1, 2, 3, 6, 7, 8};
    static constexpr std::int32_t kScratch[] = {0, 0, 12, 14, 15, 15};
    static constexpr std::int32_t kSmall[] = {9, 9, 10, 15, 15, 15};
    const std::uint32_t pick = below(draw, 6);
    if (below(draw, 24) != 0) {
        switch (operand.kind) {
        case isa::OperandKind::MainDst:
            return kScratch[pick];
        case isa::OperandKind::MainSrc:
            return operand.slot != isa::Slot::A ? kSmall[pick] : steps ? 15 : kAddresses[pick];
        case isa::OperandKind::MainDelta:
        case isa::OperandKind::MainAt:
            return kSmall[pick];
        case isa::OperandKind::MainStep:
        case isa::OperandKind::MainInc:
            return kAddresses[pick];
        case isa::OperandKind::MainBoth:
            return kSmall[pick % 3];
        case isa::OperandKind::MainPairDst:
            return 12;
        // loads to $a0..$a3 and results to $a4..$a7 do not meet in a bundle
        case isa::OperandKind::AuxDst:
        case isa::OperandKind::AuxPairDst:
        case isa::OperandKind::AuxQuadDst: {
            const bool second = operand.slot == isa::Slot::C;
            const std::int32_t within = operand.kind == isa::OperandKind::AuxDst ? 3 : 0;
            return (lane == isa::Lane::Main ? 0 : 4) + (second ? 2 : 0) +
                   (static_cast<std::int32_t>(pick) & within);
        }
        case isa::OperandKind::MainPairStep:
            return 4;
        default:
            break;
        }
    }
    const auto number = static_cast<std::int32_t>(below(draw, 16));
    switch (operand.kind) {
    case isa::OperandKind::MainPairStep:
    case isa::OperandKind::MainPairDst:
    case isa::OperandKind::AuxPairDst:
    case isa::OperandKind::AuxPairSrc:
    case isa::OperandKind::AuxPairSrcB:
        return number & 14;
    case isa::OperandKind::AuxQuadDst:
    case isa::OperandKind::AuxQuadSrc:
        return number & 12;
    default:
        return number;
    }
}

/// Whether the instruction always faults in a worker, or ends it.
inline bool is_terminal(const isa::OpcodeSpec& spec) {
    return (spec.flags & (isa::kSolo | isa::kSupervisor)) != 0 || spec.mnemonic == "put" ||
           spec.mnemonic == "br" || spec.mnemonic == "rpt" || spec.mnemonic == "uget";
}

inline std::uint32_t instruction(isa::Lane lane, const Draw& draw, Address base) {
    isa::Operation operation;
    do {
        operation.opcode = static_cast<isa::Opcode>(
            1 + below(draw, static_cast<std::uint32_t>(isa::Opcode::kCount) - 1));
    } while (isa::spec_of(operation.opcode).lane != lane ||
             (is_terminal(isa::spec_of(operation.opcode)) && below(draw, 32) != 0));
    const isa::OpcodeSpec& spec = isa::spec_of(operation.opcode);
    const auto operands = isa::spec_of(spec.form).list();
    const bool steps = std::any_of(operands.begin(), operands.end(), [](const auto& operand) {
        return operand.kind == isa::OperandKind::MainStep;
    });
    for (const isa::OperandSpec& operand : operands) {
        const bool is_constant = operand.slot == isa::Slot::Imm || operand.slot == isa::Slot::Imm2;
        isa::set_operand(operation, operand.slot,
                         is_constant ? constant(operand, draw, base)
                                     : register_number(operand, lane, steps, draw));
    }
    if ((spec.flags & isa::kBroadcast) != 0 && below(draw, 2) == 0) {
        operation.broadcast = static_cast<isa::Broadcast>(below(draw, 4));
    }
    return isa::encode(operation);
}

inline void bundle(std::vector<std::uint32_t>& words, const Draw& draw, Address base) {
    words.push_back(instruction(isa::Lane::Main, draw, base) | isa::kBundleBit);
    words.push_back(instruction(isa::Lane::Aux, draw, base));
}

/// An rpt with a body that starts where it must and mostly holds what it may.
inline void repeat(std::vector<std::uint32_t>& words, const Draw& draw, Address base) {
    constexpr std::uint16_t kBarred = isa::kControl | isa::kSystem;
    if (words.size() % 2 == 0) {
        words.push_back(instruction(isa::Lane::Aux, draw, base));
    }
    isa::Operation rpt;
    rpt.opcode = isa::Opcode::rpt_i;
    rpt.imm = static_cast<std::int32_t>(below(draw, 8));
    rpt.imm2 = static_cast<std::int32_t>(below(draw, 4));
    words.push_back(isa::encode(rpt));
    for (std::int32_t bundles = 0; bundles <= rpt.imm2; ++bundles) {
        const std::size_t at = words.size();
        do {
            words.resize(at);
            bundle(words, draw, base);
        } while (((isa::spec_of(isa::decode(words[at]).opcode).flags |
                   isa::spec_of(isa::decode(words[at + 1]).opcode).flags) &
                  kBarred) != 0 &&
                 below(draw, 64) != 0);
    }
}

/// Code of kWords words: bundles, solo instructions, repeats that may fit, and now and then any
/// word.
inline std::vector<std::uint32_t> code(const Draw& draw, Address base) {
    std::vector<std::uint32_t> words;
    while (words.size() < kWords) {
        if (below(draw, 12) == 0) {
            words.push_back(isa::spec_of(isa::Opcode::exitz).code);
        }
        const std::uint32_t kind = 1 + below(draw, 15);
        if (below(draw, 256) == 0) {
            words.push_back(draw());
        } else if (kind < 3) {
            words.push_back(instruction(isa::Lane::Aux, draw, base));
        } else if (kind < 5) {
            words.push_back(instruction(isa::Lane::Main, draw, base));
        } else if (kind == 5) {
            repeat(words, draw, base);
        } else {
            bundle(words, draw, base);
        }
    }
    words.resize(kWords);
    words.back() = isa::spec_of(isa::Opcode::exitz).code;
    return words;
}

} // namespace random_code

/// What a program left behind, in words; NaN payloads and the order of doing things do not show.
struct RandomOutcome {
    std::vector<std::uint32_t> registers;
    std::vector<std::byte> memory;
    Cycles cycles = 0;
    counts::Counts counts;
    std::string fault;  ///< empty if the phase ended
    bool raced = false; ///< only the lock-step model knows
    bool read_unused =
        false; ///< .. nor whether registers may hold what was read in a race without effect

    bool operator==(const RandomOutcome&) const = default;
};

/// A machine of 1 KiB elements and 16 KiB a tile, so that random addresses often hit and memory is
/// quick to compare.
inline spec::MachineSpec random_machine(bool fetch_conflict_faults) {
    spec::MachineSpec machine;
    machine.memory.element_bytes = 1024;
    machine.memory.region0_bytes = 8192;
    machine.memory.region1_bytes = 8192;
    machine.tile.phase_limit_cycles = 20'000;
    machine.tile.fetch_conflict =
        fetch_conflict_faults ? spec::FetchConflict::Error : spec::FetchConflict::Ignore;
    return machine;
}

/// One random program: supervisor code that loads registers, launches the workers and goes on at
/// random.
class RandomProgram {
public:
    explicit RandomProgram(const Draw& draw)
        : machine_(random_machine(random_code::below(draw, 2) == 0)),
          base_(machine_.memory.region0_begin()), words_(prologue(draw)) {
        const std::vector<std::uint32_t> body = random_code::code(draw, base_ + 4 * kPrologueWords);
        words_.insert(words_.end(), body.begin(), body.end());
        memory_.resize(static_cast<std::size_t>(machine_.memory.bytes()) / 8);
        std::uint64_t state = (static_cast<std::uint64_t>(draw()) << 32U) | 1U;
        for (std::uint64_t& word : memory_) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            // mostly ordinary halves and words, some NaN and infinities
            word = (state >> 8U) % 8 == 0 ? state : state & 0x3fff3fff3fff3fffULL;
        }
    }

    [[nodiscard]] RandomOutcome run(const isa::Engine& engine, bool rows_at_once = true) const {
        std::vector<std::uint64_t> memory = memory_;
        tile::TileCore core(machine_, 3, reinterpret_cast<std::byte*>(memory.data()));
        core.set_engine(engine);
        core.set_rows_at_once(rows_at_once);
        return loaded_outcome_of(core, memory);
    }

    [[nodiscard]] const spec::MachineSpec& machine() const { return machine_; }
    [[nodiscard]] const std::vector<std::uint32_t>& words() const { return words_; }

    /// What timing mode makes of it.
    struct Timed {
        RandomOutcome outcome;
        bool needs_data = false;
        /// Of each word, whether it is known behind the phase.
        std::vector<bool> known;
        std::int64_t classes = 0;
    };
    /// `memory_known`: all that stands in memory is metadata, else tensor data. Run `times` times.
    [[nodiscard]] Timed run_timing(bool memory_known, int times = 1, bool audited = false) const {
        std::vector<std::uint64_t> memory = memory_;
        const auto tile_bytes = machine_.memory.bytes();
        constexpr TileId kTile = 3;
        program::KnownWords known(kTile + 1, base_, tile_bytes);
        tile::TileClasses classes;
        tile::TimingMode mode{known, classes};
        const std::vector<program::Codelet> codelets;
        tile::CodeCache cache(codelets); // of one chip: code has its identity there
        const program::Image image = make_image();
        Timed timed;
        for (int time = 0; time < times; ++time) {
            memory = memory_;
            known.forget(kTile, base_, tile_bytes);
            tile::TileCore core(machine_, kTile, reinterpret_cast<std::byte*>(memory.data()));
            core.set_timing(mode);
            core.set_audited(audited);
            if (memory_known) {
                known.learn(kTile, base_, tile_bytes);
            }
            core.load(image, cache);
            timed.outcome = outcome_of(core, memory, &timed.needs_data);
        }
        for (std::uint32_t word = 0; word < known.words_of_tile(); ++word) {
            timed.known.push_back(known.of_tile(kTile).get(word));
        }
        timed.classes = classes.classes();
        return timed;
    }

    /// Timing mode with recipes of stretches, on `times` tiles whose memories differ in some words:
    /// how many stretches went by a recipe, and on how many tiles an audit, which runs every
    /// instruction, had read or left something else.
    struct ByRecipes {
        std::int64_t met = 0;
        std::int64_t alike = 0; ///< workers that took over what another did, if they are compared
        int wrong = 0;
    };
    [[nodiscard]] ByRecipes run_by_recipes(int times, bool compares_workers) const {
        const auto tile_bytes = machine_.memory.bytes();
        constexpr TileId kTile = 3;
        program::KnownWords known(kTile + 1, base_, tile_bytes);
        isa::StretchRecipes recipes{isa::StretchRecipes::All{}};
        tile::WorkerClasses workers{tile::WorkerClasses::All{}};
        const std::vector<program::Codelet> codelets;
        tile::CodeCache cache(codelets);
        const program::Image image = make_image();
        std::mt19937_64 random(1);
        ByRecipes found;
        for (int time = 0; time < times; ++time) {
            std::vector<std::uint64_t> start = memory_;
            for (int change = 0; change < time; ++change) {
                start[random() % start.size()] = random() & 0x00003fff00003fffULL;
            }
            tile::TileClasses classes;
            tile::TimingMode mode{known, classes,  nullptr,
                                  true,  &recipes, compares_workers ? &workers : nullptr};
            std::vector<std::uint64_t> memory;
            std::vector<std::uint64_t> memory_before;
            std::string fault_before;
            for (const bool audited : {false, true}) {
                memory = start;
                known.forget(kTile, base_, tile_bytes);
                tile::TileCore core(machine_, kTile, reinterpret_cast<std::byte*>(memory.data()));
                core.set_timing(mode);
                core.set_audited(audited);
                known.learn(kTile, base_, tile_bytes);
                core.load(image, cache);
                std::string fault;
                try {
                    fault = outcome_of(core, memory).fault;
                    fault.resize(std::min(fault.size(), fault.find("; $m0"))); // some are unknown
                } catch (const std::logic_error& error) {
                    fault = error.what();
                }
                auto* const words = reinterpret_cast<std::uint32_t*>(memory.data());
                for (std::uint32_t word = 0; word < known.words_of_tile(); ++word) {
                    words[word] = known.of_tile(kTile).get(word) ? words[word] : 0;
                }
                if (audited) {
                    found.wrong +=
                        fault != fault_before || memory != memory_before || classes.classes() > 1
                            ? 1
                            : 0;
                }
                fault_before = fault;
                memory_before = memory;
            }
        }
        found.met = recipes.met();
        found.alike = workers.alike();
        return found;
    }

    /// The same, clock by clock.
    [[nodiscard]] RandomOutcome run_lockstep(tile::LockstepObserver* observer = nullptr) const {
        std::vector<std::uint64_t> memory = memory_;
        tile::LockstepTile lockstep(machine_, 3, reinterpret_cast<std::byte*>(memory.data()));
        lockstep.set_observer(observer);
        RandomOutcome outcome = loaded_outcome_of(lockstep, memory);
        outcome.raced = lockstep.racing_accesses() > 0;
        outcome.read_unused = lockstep.unused_reads() > 0;
        return outcome;
    }

private:
    [[nodiscard]] program::Image make_image() const {
        auto bytes = std::make_shared<std::vector<std::byte>>(words_.size() * 4);
        std::memcpy(bytes->data(), words_.data(), bytes->size());
        program::Image image;
        image.segments.push_back({base_, static_cast<Bytes>(bytes->size()),
                                  program::SegmentKind::Code, "random", bytes});
        return image;
    }

    template <class Tile>
    RandomOutcome loaded_outcome_of(Tile& core, const std::vector<std::uint64_t>& memory) const {
        const std::vector<program::Codelet> codelets;
        tile::CodeCache cache(codelets);
        core.load(make_image(), cache);
        return outcome_of(core, memory);
    }

    /// Of a tile that holds the code.
    template <class Tile>
    RandomOutcome outcome_of(Tile& core, const std::vector<std::uint64_t>& memory,
                             bool* needs_data = nullptr) const {
        RandomOutcome outcome;
        try {
            const tile::ComputeOutcome phase = core.run(base_);
            outcome.cycles = phase.cycles;
            outcome.counts = phase.counts;
        } catch (const tile::TileFault& fault) {
            outcome.fault = fault.what();
            outcome.cycles = fault.fault().cycle;
            if (needs_data != nullptr) {
                *needs_data = fault.fault().needs_data;
            }
        }
        for (int context = -1; context < machine_.tile.workers; ++context) {
            const isa::Context& state = core.context(context);
            outcome.registers.insert(outcome.registers.end(), state.main, state.main + 12);
            outcome.registers.insert(outcome.registers.end(), state.aux, state.aux + 16);
        }
        const auto* first = reinterpret_cast<const std::byte*>(memory.data());
        outcome.memory.assign(first, first + memory.size() * 8);
        return outcome;
    }

    static constexpr std::uint32_t kPrologueWords = 24;

    /// Worker code that gives registers values of use follows the launch; the random code stands
    /// behind it.
    [[nodiscard]] std::vector<std::uint32_t> prologue(const Draw& draw) const {
        using isa::Opcode;
        std::vector<std::uint32_t> words;
        const auto add = [&words](Opcode opcode, std::uint8_t d, std::uint8_t a, std::uint8_t b,
                                  std::uint8_t c, std::int64_t imm) {
            isa::Operation operation;
            operation.opcode = opcode;
            operation.d = d;
            operation.a = a;
            operation.b = b;
            operation.c = c;
            operation.imm = static_cast<std::int32_t>(imm);
            words.push_back(isa::encode(operation));
        };
        const auto data = [&] { return base_ + 2048 + 8 * random_code::below(draw, 1024); };
        constexpr Address kWorkerWord = 6;
        add(Opcode::setzi_m, 0, 0, 0, 0, base_ + 4 * kWorkerWord);
        add(Opcode::setzi_m, 1, 0, 0, 0, data());
        add(Opcode::put, 0, 1, 0, 0, 0x50); // CCCSLOAD
        add(random_code::below(draw, 4) == 0 ? Opcode::run : Opcode::runall, 0, 0, 15, 0, 0);
        add(Opcode::sync, 0, 0, 0, 0, 2);
        if (random_code::below(draw, 2) == 0) {
            add(Opcode::br, 0, 10, 0, 0, 0);
        } else {
            add(Opcode::bri, 0, 0, 0, 0, base_ + 4 * (kPrologueWords + 8));
        }
        // $m1, $m2 and $m3 in elements of their own, for paced access
        const Address second = base_ + 8192 + 8 * random_code::below(draw, 768);
        add(Opcode::setzi_m, 1, 0, 0, 0, base_ + 1024 + 8 * random_code::below(draw, 768));
        add(Opcode::setzi_m, 2, 0, 0, 0, second);
        add(Opcode::setzi_m, 3, 0, 0, 0,
            second + 16 * random_code::below(draw, 16) + 8 - 2 * (second & 8));
        for (const int number : {6, 7, 8}) {
            add(Opcode::setzi_m, static_cast<std::uint8_t>(number), 0, 0, 0, data());
        }
        add(Opcode::tapack, 4, 1, 2, 3, 0);
        add(Opcode::setzi_m, 9, 0, 0, 0, random_code::below(draw, 4) * 8);
        add(Opcode::setzi_m, 10, 0, 0, 0, random_code::below(draw, 4));
        add(Opcode::setzi_m, 11, 0, 0, 0, random_code::below(draw, 4) | (1023U << 10U));
        add(Opcode::ld64_i, 0, 6, 15, 0, 0);
        add(Opcode::ld64_i, 2, 7, 15, 0, 0);
        add(Opcode::ld64_i, 4, 1, 15, 0, 0);
        add(Opcode::ld64_i, 6, 2, 15, 0, 0);
        while (words.size() < kPrologueWords) {
            add(Opcode::setzi_m, 14, 0, 0, 0, 0); // nop
        }
        return words;
    }

    spec::MachineSpec machine_;
    Address base_;
    std::vector<std::uint32_t> words_;
    std::vector<std::uint64_t> memory_;
};

} // namespace tessera::test
