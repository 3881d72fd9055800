// SPDX-License-Identifier: MIT
// What timing mode keeps of memory and of repeats, against plain models of it.
#include "models/isa/affine_body.h"
#include "models/isa/shadow.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

using namespace tessera;
using isa::Opcode;
using isa::Operation;
using isa::ShadowRead;
using program::WordRange;
namespace word_bits = program::word_bits;

namespace {

constexpr std::uint32_t kWords = 300;

/// A tile's words, some known.
struct Memory {
    std::vector<std::byte> bytes = std::vector<std::byte>(kWords * 4);
    std::vector<std::uint64_t> bits = std::vector<std::uint64_t>((kWords + 63) / 64);
    program::TileWords known{bits.data()};
    std::vector<program::SharedWords> shared;
    std::vector<std::uint32_t> rounds;
    isa::ShadowMemory shadow;

    void begin() { shadow.begin(kWords, 0, bytes.data(), known, &shared, &rounds); }
    void put(std::uint32_t word, std::uint32_t value) {
        std::memcpy(&bytes[word * std::size_t{4}], &value, 4);
        known.set(word);
    }
};

std::vector<std::uint32_t> words_of(const std::vector<WordRange>& ranges) {
    std::vector<std::uint32_t> words;
    for (const WordRange& range : ranges) {
        CHECK(range.count > 0);
        CHECK((words.empty() || words.back() + 1 < range.first)); // ascending, and joined
        for (std::uint32_t word = 0; word < range.count; ++word) {
            words.push_back(range.first + word);
        }
    }
    return words;
}

Operation of(Opcode opcode, unsigned d, unsigned a, unsigned b, unsigned c, std::int32_t imm) {
    Operation operation;
    operation.opcode = opcode;
    operation.d = static_cast<std::uint8_t>(d);
    operation.a = static_cast<std::uint8_t>(a);
    operation.b = static_cast<std::uint8_t>(b);
    operation.c = static_cast<std::uint8_t>(c);
    operation.imm = imm;
    return operation;
}

std::optional<isa::AffineBody> body_of(const std::vector<Operation>& mains) {
    std::vector<Operation> halves;
    for (const Operation& main : mains) {
        halves.push_back(main);
        halves.push_back(of(Opcode::f16v8acc, 0, 0, 0, 0, 0));
    }
    return isa::affine_body(halves);
}
bool is_affine(const std::vector<Operation>& mains) {
    const auto body = body_of(mains);
    return body && !body->gathers;
}
bool gathers(const std::vector<Operation>& mains) {
    const auto body = body_of(mains);
    return body && body->gathers;
}

} // namespace

TEST_CASE("bits of words are those that were filled", "[unit][isa]") {
    std::mt19937 random(1);
    std::vector<bool> model(kWords);
    std::vector<std::uint64_t> bits((kWords + 63) / 64);
    std::vector<std::uint64_t> of_tile(bits.size());
    program::TileWords tile(of_tile.data());
    for (int round = 0; round < 3000; ++round) {
        const auto first = static_cast<std::uint32_t>(random() % kWords);
        const auto count = static_cast<std::uint32_t>(random() % (kWords - first + 1));
        const bool value = random() % 2 == 0;
        bool any = false;
        for (std::uint32_t word = first; word < first + count; ++word) {
            any = any || model[word];
        }
        CHECK(word_bits::any(bits.data(), first, count) == any);
        CHECK(tile.any({first, count}) == any);
        const bool all = std::all_of(model.begin() + first, model.begin() + first + count,
                                     [](bool bit) { return bit; });
        CHECK(word_bits::all(bits.data(), first, count) == all);
        if (count > 0) {
            CHECK(tile.all({first, count}) == all);
        }
        word_bits::fill(bits.data(), first, count, value);
        if (value) {
            tile.set(WordRange{first, count});
        } else {
            tile.clear(WordRange{first, count});
        }
        std::fill_n(model.begin() + first, count, value);
        const auto probe = static_cast<std::uint32_t>(random() % kWords);
        CHECK(word_bits::get(bits.data(), probe) == model[probe]);
        CHECK(tile.get(probe) == model[probe]);
        if (round % 100 == 0) { // small stretches come too
            word_bits::fill(bits.data(), 0, kWords, false);
            tile.clear(WordRange{0, kWords});
            model.assign(kWords, false);
        }
    }
}

TEST_CASE("a phase's first reads are told once, and its stores are none", "[unit][isa]") {
    Memory memory;
    memory.put(3, 33);
    memory.put(70, 77);
    memory.begin();
    auto& shadow = memory.shadow;
    CHECK(shadow.read(3 * 4));
    CHECK(shadow.read(3 * 4 + 2)); // a half of it
    CHECK_FALSE(shadow.read(4 * 4));
    shadow.store(5 * 4, true);
    CHECK(shadow.read(5 * 4));
    shadow.store(70 * 4, false);
    CHECK_FALSE(shadow.read(70 * 4));
    shadow.store_data(8 * 4, 8);
    CHECK_FALSE(shadow.read(9 * 4));
    shadow.store(9 * 4, true);
    shadow.read_tile_number(12);
    shadow.read_tile_number(12);
    using Kind = ShadowRead::Kind;
    const std::vector<ShadowRead> expected{{Kind::Word, 3, isa::shadow_value(true, 33)},
                                           {Kind::Word, 4, isa::shadow_value(false, 0)},
                                           {Kind::TileNumber, 0, 12}};
    CHECK((shadow.reads() == expected));
    CHECK(words_of(shadow.lost()) == std::vector<std::uint32_t>{8, 70});
    CHECK(words_of(shadow.stored()) == std::vector<std::uint32_t>{5, 9});
    memory.begin();
    CHECK(shadow.reads().empty());
    CHECK(shadow.lost().empty());
    CHECK(memory.known.get(9));
    CHECK_FALSE(memory.known.get(8));
}

TEST_CASE("shared words are read as one", "[unit][isa]") {
    Memory memory;
    for (std::uint32_t word = 20; word < 30; ++word) {
        memory.put(word, word);
    }
    memory.shared.push_back({{20, 10}, 4711});
    memory.begin();
    memory.shadow.store(25 * 4, false);
    CHECK(memory.shadow.read(22 * 4));
    CHECK(memory.shadow.read(29 * 4));
    CHECK_FALSE(memory.shadow.read(25 * 4)); // lost before
    const std::vector<ShadowRead> expected{{ShadowRead::Kind::Shared, 20, 4711}};
    CHECK((memory.shadow.reads() == expected));
}

TEST_CASE("what a worker reads and leaves is told beside the phase, which stays as it is",
          "[unit][isa]") {
    using Kind = ShadowRead::Kind;
    constexpr std::uint32_t kUsed = 100; // words, few, so that most are met again
    std::mt19937 random(3);
    std::int64_t of_worker_alone = 0;
    for (int round = 0; round < 300; ++round) {
        Memory followed;
        Memory plain;
        for (std::uint32_t word = 0; word < kUsed; ++word) {
            if (random() % 4 != 0) {
                followed.put(word, word);
                plain.put(word, word);
            }
        }
        if (random() % 2 == 0) {
            followed.shared.push_back({{10, 20}, 4711});
            plain.shared = followed.shared;
        }
        followed.begin();
        plain.begin();
        for (int worker = 0; worker < 4; ++worker) {
            const std::vector<std::byte> bytes = followed.bytes;
            const std::vector<std::uint64_t> bits = followed.bits;
            std::vector<bool> read(kUsed);
            std::vector<bool> written(kUsed);
            followed.shadow.follow_worker();
            for (int access = 0; access < 40; ++access) {
                const auto word = static_cast<std::uint32_t>(random() % kUsed);
                const auto count =
                    static_cast<std::uint32_t>(1 + random() % std::min(kUsed - word, 8U));
                switch (random() % 4) {
                case 0:
                    CHECK(followed.shadow.read(word * 4) == plain.shadow.read(word * 4));
                    read[word] = read[word] || !written[word];
                    break;
                case 1: {
                    const bool known = random() % 2 == 0;
                    const auto value = static_cast<std::uint32_t>(random());
                    for (Memory* const memory : {&followed, &plain}) {
                        std::memcpy(&memory->bytes[word * std::size_t{4}], &value, 4);
                        memory->shadow.store(word * 4, known);
                    }
                    written[word] = true;
                    break;
                }
                case 2:
                    followed.shadow.lose(WordRange{word, count});
                    plain.shadow.lose(WordRange{word, count});
                    std::fill_n(written.begin() + word, count, true);
                    break;
                default:
                    CHECK(followed.shadow.are_known({word, count}) ==
                          plain.shadow.are_known({word, count}));
                }
            }
            const auto told = followed.shadow.worker_followed();
            std::vector<bool> told_read(kUsed);
            for (const ShadowRead& one : told.reads) {
                if (one.kind == Kind::AreKnown) {
                    continue;
                }
                REQUIRE(one.kind == Kind::Word);
                CHECK_FALSE(told_read[one.word]); // once
                told_read[one.word] = true;
                std::uint32_t value = 0; // as it was when the worker began
                std::memcpy(&value, &bytes[one.word * std::size_t{4}], 4);
                CHECK(one.value == isa::shadow_value(word_bits::get(bits.data(), one.word), value));
            }
            CHECK((told_read == read));
            std::vector<bool> told_written(kUsed);
            for (const auto* const ranges : {&told.lost, &told.stored}) {
                for (const std::uint32_t word : words_of(*ranges)) {
                    CHECK_FALSE(told_written[word]);
                    told_written[word] = true;
                    CHECK(followed.known.get(word) == (ranges == &told.stored));
                }
            }
            CHECK((told_written == written));
            of_worker_alone += std::ssize(told.reads);
        }
        CHECK((followed.shadow.reads() == plain.shadow.reads()));
        CHECK((followed.shadow.lost() == plain.shadow.lost()));
        CHECK((followed.shadow.stored() == plain.shadow.stored()));
        CHECK((followed.bits == plain.bits));
        of_worker_alone -= std::ssize(plain.shadow.reads());
    }
    CHECK(of_worker_alone > 1000); // workers read what others have read before
}

TEST_CASE("of a word that has a round it is told whether it is known", "[unit][isa]") {
    for (const bool known : {true, false}) {
        Memory memory;
        memory.rounds = {5};
        if (known) {
            memory.put(5, 77);
        }
        memory.put(6, 78);
        memory.begin();
        CHECK(memory.shadow.read(5 * 4) == known);
        CHECK(memory.shadow.read(5 * 4) == known);
        CHECK(memory.shadow.read(6 * 4));
        const ShadowRead round{
            .kind = ShadowRead::Kind::Round, .word = 5, .value = known ? 1U : 0U};
        const ShadowRead word{
            .kind = ShadowRead::Kind::Word, .word = 6, .value = isa::shadow_value(true, 78)};
        REQUIRE(memory.shadow.reads().size() >= 2);
        CHECK((memory.shadow.reads().front() == round));
        CHECK((memory.shadow.reads().back() == word));
        if (known) {
            CHECK(memory.shadow.reads().size() == 2);
        }
    }
}

TEST_CASE("first reads of a worker are ranges of words with the values that they had",
          "[unit][isa]") {
    using Kind = ShadowRead::Kind;
    constexpr std::uint32_t kUsed = 60;
    constexpr std::uint32_t kGap = 8; ///< words between two that were read come along
    std::mt19937 random(11);
    int told = 0;
    int refused = 0;
    for (int round = 0; round < 2000; ++round) {
        CAPTURE(round);
        Memory memory;
        for (std::uint32_t word = 0; word < kUsed; ++word) {
            if (random() % 8 != 0) {
                memory.put(word, 1000 + word);
            }
        }
        const std::vector<std::uint64_t> bits = memory.bits;
        memory.begin();
        memory.shadow.follow_worker();
        std::vector<bool> written(kUsed);
        for (int access = 0; access < 12; ++access) {
            const auto word = static_cast<std::uint32_t>(random() % kUsed);
            const auto count =
                static_cast<std::uint32_t>(1 + random() % std::min(kUsed - word, 4U));
            const auto choice = random() % 16;
            if (choice < 10) {
                static_cast<void>(memory.shadow.read(word * 4));
            } else if (choice < 13) {
                const std::uint32_t value = 7;
                std::memcpy(&memory.bytes[word * std::size_t{4}], &value, 4);
                memory.shadow.store(word * 4, choice != 10);
                written[word] = true;
            } else if (choice < 15) {
                memory.shadow.lose(WordRange{word, count});
                std::fill_n(written.begin() + word, count, true);
            } else {
                static_cast<void>(memory.shadow.are_known({word, count}));
            }
        }
        isa::ShadowMemory::FirstReads found;
        const bool is_told = memory.shadow.first_reads(found);
        std::vector<bool> needed(kUsed);
        std::vector<std::uint32_t> unknown;
        bool words_say_all = true;
        for (const ShadowRead& read : memory.shadow.worker_followed().reads) {
            if (read.kind == Kind::Word && read.value == 0) {
                unknown.push_back(read.word);
                continue;
            }
            for (std::uint32_t word = read.word; word < read.word + read.count; ++word) {
                needed[word] = true;
                words_say_all = words_say_all && (read.kind == Kind::Word || !written[word]);
            }
            words_say_all = words_say_all && (read.kind == Kind::Word ||
                                              (read.kind == Kind::AreKnown && read.value != 0));
        }
        REQUIRE(is_told == words_say_all);
        (is_told ? told : refused) += 1;
        if (!is_told) {
            continue;
        }
        CHECK(found.unknown == unknown);
        const auto is_as_it_was = [&](std::uint32_t word) {
            return word_bits::get(bits.data(), word) && !written[word];
        };
        std::vector<std::uint32_t> values;
        std::uint32_t next = 0; // word behind the range before
        std::uint32_t between = 0;
        for (const WordRange& range : found.ranges) {
            REQUIRE(range.count > 0);
            REQUIRE((next == 0 || range.first > next));
            // two ranges are apart for a reason
            bool may_join = next != 0 && range.first - next <= kGap;
            for (std::uint32_t word = next; word < range.first; ++word) {
                CHECK_FALSE(needed[word]);
                may_join = may_join && is_as_it_was(word);
            }
            CHECK_FALSE(may_join);
            next = range.first + range.count;
            for (std::uint32_t word = range.first; word < next; ++word) {
                values.push_back(1000 + word);
                between = needed[word] ? 0 : between + 1;
                CHECK(between <= kGap);
                CHECK((needed[word] || is_as_it_was(word)));
            }
            CHECK(between == 0);
        }
        for (std::uint32_t word = next; word < kUsed; ++word) {
            CHECK_FALSE(needed[word]);
        }
        CHECK(found.values == values);
    }
    CHECK(told > 200);
    CHECK(refused > 200);
}

TEST_CASE("passes that are skipped lose what they would have stored", "[unit][isa]") {
    std::mt19937 random(2);
    for (int round = 0; round < 500; ++round) {
        const auto stores = 1 + random() % 4;
        const auto passes = static_cast<std::uint32_t>(1 + random() % 8);
        std::vector<isa::ShadowMemory::Access> first;
        std::vector<isa::ShadowMemory::Access> second;
        for (unsigned store = 0; store < stores; ++store) {
            const bool pair = random() % 2 == 0;
            const std::uint32_t unit = pair ? 8 : 4;
            const auto stride =
                (static_cast<std::int32_t>(random() % 9) - 4) * static_cast<std::int32_t>(unit);
            const auto at = static_cast<std::int32_t>(600 / unit * unit + random() % 8 * unit);
            const bool writes = random() % 4 != 0;
            const auto bytes = static_cast<std::uint8_t>(unit);
            first.push_back({static_cast<std::uint32_t>(at), bytes, writes});
            second.push_back({static_cast<std::uint32_t>(at + stride), bytes, writes});
        }
        std::vector<bool> lost(kWords);
        for (std::size_t store = 0; store < first.size(); ++store) {
            const auto stride = static_cast<std::int32_t>(second[store].offset) -
                                static_cast<std::int32_t>(first[store].offset);
            for (std::int32_t pass = 1; pass <= static_cast<std::int32_t>(passes); ++pass) {
                const auto word = static_cast<std::uint32_t>(
                    (static_cast<std::int32_t>(second[store].offset) + stride * pass) / 4);
                for (std::uint32_t part = 0; part < second[store].access_bytes / 4U; ++part) {
                    lost[word + part] = lost[word + part] || second[store].writes;
                }
            }
        }
        Memory memory;
        memory.known.set(WordRange{0, kWords});
        memory.begin();
        memory.shadow.first_trail = first;
        memory.shadow.trail = second;
        CHECK(memory.shadow.straight(passes));
        memory.shadow.skip_stores(passes);
        std::vector<bool> found(kWords);
        for (const std::uint32_t word : words_of(memory.shadow.lost())) {
            found[word] = true;
        }
        CHECK((found == lost));
        for (std::uint32_t word = 0; word < kWords; ++word) {
            CHECK(memory.known.get(word) == !lost[word]);
        }
    }
    Memory memory;
    memory.begin();
    memory.shadow.first_trail = {{0, 8, false}};
    memory.shadow.trail = {{8 * 64, 8, false}};
    CHECK(memory.shadow.straight(2046));
    CHECK_FALSE(memory.shadow.straight(2047)); // as far as a packed address can tell
}

TEST_CASE("only bodies that move addresses by constants are skipped", "[unit][isa]") {
    const Operation paced = of(Opcode::ld2xst64pace, 0, 4, 3, 6, 0);
    const Operation stepped = of(Opcode::ld64step_i, 0, 2, 7, 0, 1);
    const Operation by_register = of(Opcode::st64step_r, 0, 2, 8, 9, 0);
    const Operation fixed = of(Opcode::ld64_i, 0, 2, 8, 0, 1);
    CHECK(is_affine({paced}));
    CHECK(is_affine({stepped}));
    CHECK(is_affine({by_register}));
    CHECK(is_affine({fixed, by_register}));
    CHECK(is_affine({paced, stepped, of(Opcode::add_z, 9, 9, 0, 0, 4)}));
    CHECK(is_affine({of(Opcode::add_rr, 9, 9, 10, 0, 0), stepped}));
    // a stride that moves
    CHECK_FALSE(is_affine({paced, of(Opcode::add_z, 3, 3, 0, 0, 4)}));
    CHECK_FALSE(is_affine({by_register, of(Opcode::add_z, 9, 9, 0, 0, 4)}));
    CHECK_FALSE(
        is_affine({of(Opcode::add_rr, 9, 9, 10, 0, 0), of(Opcode::add_z, 10, 10, 0, 0, 4)}));
    CHECK_FALSE(is_affine({of(Opcode::add_rr, 9, 9, 9, 0, 0)}));
    // a packed address taken for a plain one
    CHECK_FALSE(is_affine({paced, of(Opcode::ld64_i, 0, 5, 15, 0, 1)}));
    CHECK_FALSE(is_affine({paced, of(Opcode::add_z, 4, 4, 0, 0, 4)}));
    // what memory or another register says
    CHECK_FALSE(body_of({of(Opcode::ldd16v2a32, 0, 2, 3, 5, 0)}));
    CHECK_FALSE(is_affine({of(Opcode::ldb16b16, 0, 2, 3, 5, 0)}));
    CHECK_FALSE(is_affine({of(Opcode::ldz16step_i, 1, 2, 7, 0, 1)}));
    CHECK_FALSE(is_affine({of(Opcode::add_z, 9, 8, 0, 0, 4)}));
    CHECK_FALSE(is_affine({of(Opcode::shl_u, 9, 9, 0, 0, 1)}));
    // a known word may be stored
    CHECK_FALSE(is_affine({of(Opcode::st32step_m_i, 1, 2, 7, 0, 1)}));
}

TEST_CASE("bodies that load along a list take distances from it alone", "[unit][isa]") {
    constexpr unsigned kBase = 3;
    constexpr unsigned kList = 2;
    constexpr unsigned kDistance = 5;
    const Operation pair = of(Opcode::ldd16a64, 0, kList, kBase, kDistance, 0);
    const Operation half = of(Opcode::ldd16b16, 2, kList, kBase, kDistance, 0);
    const Operation also = of(Opcode::ld64_i, 4, kBase, kDistance, 0, 1);
    const Operation along = of(Opcode::ldb16_i, 2, kList, 7, 0, 0);
    const auto body = body_of({also, pair, along});
    REQUIRE(body);
    CHECK(body->gathers);
    CHECK(body->list == kList);
    CHECK(body->distance == kDistance);
    CHECK(body->addresses == (1U << kBase | 1U << kList | 1U << kDistance | 1U << 7U));
    CHECK(gathers({pair, half}));
    CHECK(gathers({pair, of(Opcode::add_z, kBase, kBase, 0, 0, 4)}));
    // another list or distance, or one register for both
    CHECK_FALSE(gathers({pair, of(Opcode::ldd16b16, 2, kList, kBase, 6, 0)}));
    CHECK_FALSE(gathers({pair, of(Opcode::ldd16b16, 2, 6, kBase, kDistance, 0)}));
    CHECK_FALSE(gathers({of(Opcode::ldd16a64, 0, kList, kBase, kList, 0)}));
    // which also change in another way, or say by how much something moves
    CHECK_FALSE(gathers({pair, of(Opcode::add_z, kList, kList, 0, 0, 4)}));
    CHECK_FALSE(gathers({pair, of(Opcode::add_z, kDistance, kDistance, 0, 0, 4)}));
    CHECK_FALSE(gathers({pair, of(Opcode::add_rr, 9, 9, kDistance, 0, 0)}));
    // what is stored depends on every distance
    CHECK_FALSE(gathers({pair, of(Opcode::st64step_i, 0, 6, 7, 0, 1)}));
}

TEST_CASE("what timing mode must know of an operation follows from its row", "[unit][isa]") {
    constexpr unsigned kKnowable = 0x0fff;
    for (unsigned number = 1; number < static_cast<unsigned>(Opcode::kCount); ++number) {
        const auto opcode = static_cast<Opcode>(number);
        const auto& spec = isa::spec_of(opcode);
        if (spec.lane != isa::Lane::Main) {
            continue;
        }
        const Operation operation = of(opcode, 0, 2, 4, 6, 0);
        INFO(spec.mnemonic);
        const isa::MainRegisters registers = isa::main_registers(operation);
        const isa::ShadowRule rule = isa::shadow_rule(operation);
        CHECK(rule.written == (registers.written & kKnowable));
        CHECK((rule.loaded & ~rule.written) == 0);
        const auto read = static_cast<unsigned>(registers.read & kKnowable);
        if ((spec.flags & isa::kSolo) == 0 || (spec.flags & isa::kControl) == 0) {
            CHECK((rule.used | rule.address | rule.sources) ==
                  read); // but of an exit, whose condition is nothing
        }
        if ((spec.flags & isa::kLoad) != 0) {
            CHECK(rule.address == read);
            CHECK(rule.used == 0);
        } else if ((spec.flags & (isa::kControl | isa::kSystem)) != 0 &&
                   (spec.flags & isa::kSolo) == 0) {
            CHECK(rule.used == read);
        }
    }
    // stored, and where
    const isa::ShadowRule store = isa::shadow_rule(of(Opcode::st32_m_i, 1, 2, 3, 0, 0));
    CHECK(store.sources == 1U << 1U);
    CHECK(store.address == ((1U << 2U) | (1U << 3U)));
    const isa::ShadowRule itself = isa::shadow_rule(of(Opcode::st32_m_i, 2, 2, 15, 0, 0));
    CHECK(itself.address == 1U << 2U);
}
