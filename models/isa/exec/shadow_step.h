// SPDX-License-Identifier: MIT
// The end of engine_loop.cpp where that is compiled as the shadow engine (models/isa/shadow.h): the
// main lane on known values, repeats that only move addresses in constant time.
#pragma once

#include "models/isa/shadow.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace {

[[gnu::noinline, noreturn]] void fault_unknown(const Context& c, const MicroOperation& op,
                                               unsigned used) {
    std::string which;
    for (unsigned number = 0; number < 12; ++number) {
        if ((used & c.unknown & (1U << number)) != 0) {
            which += (which.empty() ? "$m" : ", $m") + std::to_string(number);
        }
    }
    throw ExecutionFault{"what happens here depends on tensor data (" + which +
                             "), which timing mode does not have",
                         true, &op, true};
}

const ShadowRule& rule_of(const Context& c, const MicroOperation& op) {
    return c.program->shadow_rules[static_cast<std::size_t>(&op - c.program->operations.data())];
}

constexpr bool is_access(std::uint16_t flags) {
    return (flags & (kLoad | kStore)) != 0;
}

/// The phase has to know the rounds where something follows from them.
[[gnu::noinline]] void meet_rounds(Context& c, const ShadowRule& rule, std::uint16_t flags) {
    ShadowMemory& shadow = *c.shadow;
    unsigned follows = rule.used;
    if ((flags & kStore) != 0) {
        follows |= rule.sources | (shadow.may_scatter() ? 0U : rule.address);
    }
    if (rule.loaded != 0) {
        follows |= rule.address;
    }
    if (!shadow.knows_rounds() && (c.by_round & follows) != 0) {
        shadow.know_rounds();
    }
    if (shadow.knows_rounds()) {
        c.by_round = 0;
    }
}

TESSERA_INLINE void before(Context& c, const MicroOperation& op, const ShadowRule& rule,
                           std::uint16_t flags) {
    if ((c.unknown & rule.used) != 0) [[unlikely]] {
        fault_unknown(c, op, rule.used);
    }
    if (c.by_round != 0) [[unlikely]] {
        meet_rounds(c, rule, flags);
    }
    if ((flags & kStore) != 0) {
        c.shadow->stores_unknown = (c.unknown & rule.sources) != 0;
    }
}

/// A load or a store at an address that is unknown or follows from a round. Whether it is carried out
/// all the same, with the round that there is.
[[gnu::noinline]] bool open_access(Context& c, const MicroOperation& op, const ShadowRule& rule,
                                   std::uint16_t flags) {
    ShadowMemory& shadow = *c.shadow;
    const bool stores = (flags & kStore) != 0;
    if (stores && !shadow.may_scatter()) {
        fault_unknown(c, op, rule.address);
    }
    ++shadow.unknown_addresses;
    if (stores) {
        shadow.scatter();
    }
    if ((c.unknown & rule.address) != 0) {
        c.unknown |= rule.written;
        c.by_round &= ~std::uint32_t{rule.written};
        for (unsigned number = 0; number < kMainReadOnly; ++number) {
            c.main[number] = ((rule.written >> number) & 1U) != 0 ? 0 : c.main[number];
        }
        return false;
    }
    shadow.scatters = stores;
    return true;
}

/// What follows from unknown values and from rounds; addresses that step, from addresses alone.
TESSERA_INLINE void behind(Context& c, const ShadowRule& rule, std::uint16_t flags) {
    const unsigned sources = is_access(flags) ? rule.address : rule.sources;
    const bool unknown = (c.unknown & sources) != 0;
    c.unknown = unknown ? c.unknown | rule.written : c.unknown & ~std::uint32_t{rule.written};
    if ((c.by_round & (sources | rule.written)) != 0) [[unlikely]] {
        c.by_round = !unknown && (c.by_round & sources) != 0
                         ? c.by_round | rule.written
                         : c.by_round & ~std::uint32_t{rule.written};
    }
}

/// Registers that a memory or an aux register has filled.
TESSERA_INLINE void loaded(Context& c, const ShadowRule& rule, bool unknown, bool by_round) {
    if (unknown) {
        c.unknown |= rule.loaded;
    }
    c.by_round = by_round ? c.by_round | rule.loaded : c.by_round & ~std::uint32_t{rule.loaded};
}

/// Cycle counters and what debugging leaves; the others follow from the program and the launch.
bool is_unknown_register(std::int32_t number) {
    return number == kCsrCountL || number == kCsrCountU || number == kCsrDebugData ||
           number == kCsrDebugBreak;
}

constexpr bool is_jump(std::uint16_t flags) {
    return (flags & kControl) != 0;
}

/// An operation of the main lane with what it makes known.
#define TESSERA_SHADOW_OPERATION(id, flags)                                                        \
    {                                                                                              \
        const ShadowRule& rule = rule_of(c, op);                                                   \
        before(c, op, rule, flags);                                                                \
        if (!is_access(flags) || ((c.unknown | c.by_round) & rule.address) == 0 ||                 \
            open_access(c, op, rule, flags)) {                                                     \
            if constexpr (((flags)&kLoad) != 0) {                                                  \
                c.shadow->loaded_by_round = false;                                                 \
            }                                                                                      \
            id(c, op);                                                                             \
            behind(c, rule, flags);                                                                \
            if constexpr (Opcode::id == Opcode::atom) {                                            \
                loaded(c, rule, true, false);                                                      \
            } else if constexpr (Opcode::id == Opcode::get) {                                      \
                if (is_unknown_register(op.imm)) {                                                 \
                    c.unknown |= rule.written;                                                     \
                }                                                                                  \
            } else if constexpr (((flags)&kLoad) != 0) {                                           \
                loaded(c, rule, c.shadow->loaded_unknown, c.shadow->loaded_by_round);              \
            }                                                                                      \
            if constexpr (((flags)&kStore) != 0) {                                                 \
                c.shadow->scatters = false;                                                        \
            }                                                                                      \
        }                                                                                          \
    }

/// Behind the first or second of a repeat's passes: how far each address moves. Behind the second
/// all passes but the last are skipped, if nothing stands against it.
[[gnu::noinline]] void end_pass(Context& c, const AffineBody& body) {
    ShadowMemory& shadow = *c.shadow;
    if (++shadow.passes_watched == 1) {
        std::copy(std::begin(c.main), std::end(c.main), shadow.first_registers.begin());
        shadow.first_trail.swap(shadow.trail);
        shadow.trail.clear();
        shadow.unknown_before = shadow.unknown_addresses;
        return;
    }
    shadow.watching = false;
    const std::uint32_t passes = c.repeat_count - 1;
    if (!shadow.straight(c.repeat_count)) {
        return;
    }
    for (unsigned number = 0; number < std::size(c.main); ++number) {
        if (number + 1 < 16 && ((body.triples >> number) & 1U) != 0) {
            const auto first = AddressTriple::unpack(&shadow.first_registers[number]);
            AddressTriple now = AddressTriple::unpack(c.main + number);
            now.a0 += (now.a0 - first.a0) * passes;
            now.a1 += (now.a1 - first.a1) * passes;
            now.a2 += (now.a2 - first.a2) * passes;
            now.pack(c.main + number);
            ++number;
        } else {
            c.main[number] += (c.main[number] - shadow.first_registers[number]) * passes;
        }
    }
    shadow.skip_stores(passes);
    shadow.unknown_addresses += (shadow.unknown_addresses - shadow.unknown_before) * passes;
    c.issues += c.repeat_issues * passes;
    c.repeat_count = 1;
}

/// The distance in use is the last one that came from the list.
void note_distance(Context& c, const AffineBody& body) {
    ShadowMemory& shadow = *c.shadow;
    static_cast<void>(shadow.read(c.main[body.list] - 2 - c.memory->base));
    if (shadow.loaded_by_round) {
        c.by_round |= 1U << body.distance;
    }
}

/// Behind a pass of a repeat that loads along a list. Behind the first one all but the last are
/// skipped if their distances are known; an audit runs them.
[[gnu::noinline]] void end_gathering_pass(Context& c, const AffineBody& body) {
    ShadowMemory& shadow = *c.shadow;
    if (shadow.silent) {
        if (c.repeat_count == 1) {
            shadow.silent = false;
            shadow.gathering = false;
            note_distance(c, body);
        }
        return;
    }
    const std::uint32_t passes = c.repeat_count - 1;
    const std::uint32_t step = c.main[body.list] - shadow.first_registers[body.list];
    const std::uint32_t first = c.main[body.list] - c.memory->base;
    const std::uint64_t last = first + std::uint64_t{step} * passes;
    if (last > c.memory->span_bytes ||
        !shadow.are_known({first / 4, static_cast<std::uint32_t>((last + 3) / 4) - first / 4})) {
        shadow.gathering = false;
        return;
    }
    if (shadow.every_pass) {
        shadow.silent = true;
        return;
    }
    shadow.gathering = false;
    for (unsigned number = 0; number < std::size(c.main); ++number) {
        if (number != body.distance) {
            c.main[number] += (c.main[number] - shadow.first_registers[number]) * passes;
        }
    }
    std::uint16_t distance = 0;
    std::memcpy(&distance, c.memory->bytes + last - sizeof distance, sizeof distance);
    c.main[body.distance] = distance;
    note_distance(c, body);
    c.issues += c.repeat_issues * passes;
    c.repeat_count = 1;
}

/// The body that ends at the operation, where passes of it can be skipped.
const AffineBody* skippable(const Context& c, const MicroOperation& body_end) {
    constexpr std::uint32_t kFewest = 4;
    if (body_end.imm2 == 0 || c.repeat_count < kFewest) {
        return nullptr;
    }
    const AffineBody& body = c.program->affine_bodies[static_cast<std::size_t>(body_end.imm2) - 1];
    const bool same = c.program->base + body.first_word * 4 == c.repeat_first;
    return same && !(body.has_steps && c.machine->steps_sharing > 1) ? &body : nullptr;
}

/// The first pass of a repeat begins.
void begin_passes(Context& c) {
    ShadowMemory& shadow = *c.shadow;
    const AffineBody* const body = skippable(c, *c.repeat_end_operation);
    if (body == nullptr) {
        return;
    }
    if (!body->gathers) {
        if (!shadow.every_pass) {
            shadow.watch_pass();
        }
    } else if (c.by_round == 0 && (c.unknown & body->addresses) == 0) {
        std::copy(std::begin(c.main), std::end(c.main), shadow.first_registers.begin());
        shadow.gathering = true;
    }
}

/// Behind a branch back that is taken, and counts down a loop whose passes do the same. The pass that begins is
/// followed; behind it all passes but the last are skipped, if nothing stands against it.
[[gnu::noinline]] void begin_counted_pass(Context& c, const MicroOperation& branch) {
    constexpr std::uint32_t kFewest = 2;     // passes behind the one that begins
    constexpr std::uint32_t kAlignment = 16; // of the widest access
    constexpr std::int64_t kFar = std::int64_t{1} << 20U;
    ShadowMemory& shadow = *c.shadow;
    ShadowMemory::CountedPass& pass = shadow.counted;
    const CountedLoop& loop = c.program->counted_loops[static_cast<std::size_t>(branch.c) - 1];
    const std::uint32_t left = c.main[branch.d];
    const bool is_followed = pass.branch == &branch && pass.worker == c.number;
    shadow.forget_counted_pass();
    if (shadow.every_pass || c.by_round != 0 || shadow.may_scatter()) {
        return;
    }
    if (!is_followed) {
        if (left >= kFewest) {
            pass.branch = &branch;
            pass.worker = c.number;
            std::copy(std::begin(c.main), std::end(c.main), pass.registers.begin());
            pass.unknown = c.unknown;
            pass.issues = c.issues;
            pass.unknown_addresses = shadow.unknown_addresses;
            pass.jumps.clear();
            for (const std::uint32_t jump : loop.jumps) {
                pass.jumps.push_back(c.jumps[jump]);
            }
            shadow.notes_stores = true;
            shadow.stores_noted.clear();
        }
        return;
    }
    const std::int64_t issues = (c.issues - pass.issues) * left;
    if (c.unknown != pass.unknown || shadow.stores_noted.size() != loop.stores.size() ||
        c.issues + issues > c.issue_limit) {
        return;
    }
    std::array<std::uint32_t, 20> steps{};
    for (unsigned number = 0; number < kMainReadOnly; ++number) {
        const std::uint32_t step = c.main[number] - pass.registers[number];
        steps[number] = step;
        const bool is_address = ((loop.addresses >> number) & 1U) != 0;
        const std::int64_t way = std::int64_t{static_cast<std::int32_t>(step)} * (left + 1);
        if ((((loop.moving >> number) & 1U) == 0 && step != 0) ||
            (is_address && (step % kAlignment != 0 || way >= kFar || way <= -kFar))) {
            return;
        }
    }
    thread_local std::vector<std::int32_t> strides;
    strides.clear();
    for (const auto& [first, second] : loop.stores) {
        strides.push_back(static_cast<std::int32_t>(steps[first] + steps[second]));
    }
    if (!shadow.repeat_stores(strides, left)) {
        return;
    }
    for (unsigned number = 0; number < kMainReadOnly; ++number) {
        c.main[number] += steps[number] * left;
    }
    for (std::size_t jump = 0; jump < loop.jumps.size(); ++jump) {
        std::int64_t& times = c.jumps[loop.jumps[jump]];
        times += (times - pass.jumps[jump]) * left;
    }
    shadow.unknown_addresses += (shadow.unknown_addresses - pass.unknown_addresses) * left;
    c.issues += issues;
}

/// The first operation of a worker.
const MicroOperation* enter_stretches(Context& c) {
    c.shadow->watching = false;
    c.shadow->gathering = false;
    c.shadow->forget_counted_pass();
    return enter(c);
}

/// From the begin of a stretch to that of the next one; null behind an exit.
const MicroOperation* run_stretch(Context& c, const MicroOperation* running) {
    static const void* const kLabels[] = {
        &&label_none,
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, counts, source) &&label_##id,
#include "models/isa/opcodes.def"
#undef TESSERA_OP
        &&label_skip,    &&label_skip,       &&label_skip,     &&label_body_end,
        &&label_invalid, &&label_bad_repeat, &&label_continue, &&label_end_of_code,
        &&label_copy,    &&label_copy,       &&label_step,     &&label_skip,
        &&label_wait,
    };
    static_assert(std::size(kLabels) == static_cast<std::size_t>(Internal::kCount));

    bool repeated = false;

#define TESSERA_DISPATCH() goto* kLabels[running->code]

    TESSERA_DISPATCH();

#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, counts, source)                  \
    label_##id : {                                                                                 \
        const MicroOperation& op = *running;                                                       \
        if constexpr (Lane::lane == Lane::Aux) {                                                   \
            ++running;                                                                             \
        } else {                                                                                   \
            if constexpr (is_jump(flags)) {                                                        \
                c.taken = false;                                                                   \
            }                                                                                      \
            if constexpr (is_repeat(Opcode::id)) {                                                 \
                if (repeated) {                                                                    \
                    return running;                                                                \
                }                                                                                  \
                repeated = true;                                                                   \
            }                                                                                      \
            TESSERA_SHADOW_OPERATION(id, flags)                                                    \
            if constexpr (is_repeat(Opcode::id)) {                                                 \
                running = enter_repeat(c, op);                                                     \
                if (c.repeat_count != 0) {                                                         \
                    begin_passes(c);                                                               \
                }                                                                                  \
            } else if constexpr (is_jump(flags)) {                                                 \
                if constexpr (((flags)&kSolo) != 0) {                                              \
                    goto exited;                                                                   \
                } else if (c.taken) {                                                              \
                    running =                                                                      \
                        has_constant_target(Form::form) ? follow_constant(c, op) : follow(c, op);  \
                    check_limit(c, *running, c.issues);                                            \
                    if (has_constant_target(Form::form) && goes_back(op)) {                        \
                        if (Opcode::id == Opcode::brnzdec && op.c != 0) {                          \
                            begin_counted_pass(c, op);                                             \
                        }                                                                          \
                        return running;                                                            \
                    }                                                                              \
                } else {                                                                           \
                    ++running;                                                                     \
                }                                                                                  \
            } else {                                                                               \
                ++running;                                                                         \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
    TESSERA_DISPATCH();
#include "models/isa/opcodes.def"
#undef TESSERA_OP

exited:
    leave(c, *running);
    return nullptr;

label_body_end:
    if (c.repeat_count == 0 || c.repeat_end_operation != running || --c.repeat_count == 0) {
        ++running;
        TESSERA_DISPATCH();
    }
    c.issues += c.repeat_issues;
    if (c.shadow->watching) {
        end_pass(c, c.program->affine_bodies[static_cast<std::size_t>(running->imm2) - 1]);
    } else if (c.shadow->gathering) {
        end_gathering_pass(c,
                           c.program->affine_bodies[static_cast<std::size_t>(running->imm2) - 1]);
    }
    running = c.repeat_first_operation;
    TESSERA_DISPATCH();

label_skip:
    ++running;
    TESSERA_DISPATCH();
label_copy:
    execute_known(c, *running);
    ++running;
    TESSERA_DISPATCH();
label_step:
    count_step(c, *running);
    ++running;
    TESSERA_DISPATCH();
label_wait:
    throw ContextsMeet{};
label_continue:
    running = continued(c, *running);
    TESSERA_DISPATCH();
label_bad_repeat:
    bad_repeat(*running);
label_none:
label_invalid:
    invalid(*running);
label_end_of_code:
    fault(*running, "execution runs past the end of the code");

#undef TESSERA_DISPATCH
}

void run_worker(Context& c) {
    for (const MicroOperation* op = enter_stretches(c); op != nullptr;) {
        op = run_stretch(c, op);
    }
}

void execute(Context& c, const MicroOperation& op) {
    switch (op.code) {
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, counts, source)                  \
    case static_cast<std::uint16_t>(Opcode::id):                                                   \
        if constexpr (Lane::lane == Lane::Main) {                                                  \
            TESSERA_SHADOW_OPERATION(id, flags)                                                    \
        }                                                                                          \
        break;
#include "models/isa/opcodes.def"
#undef TESSERA_OP
    case static_cast<std::uint16_t>(Internal::CommitSingle):
    case static_cast<std::uint16_t>(Internal::CommitPair):
    case static_cast<std::uint16_t>(Internal::CommitQuad):
        break;
    default:
        execute_known(c, op);
    }
}

#undef TESSERA_SHADOW_OPERATION

} // namespace

extern const StretchEngine kStretchEngine;
const StretchEngine kStretchEngine = {enter_stretches, run_stretch};

} // namespace tessera::isa::TESSERA_ENGINE
