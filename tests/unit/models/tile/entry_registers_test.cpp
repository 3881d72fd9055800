// SPDX-License-Identifier: MIT
// Which main registers code needs, and which ones it may write.
#include "models/isa/decoded_program.h"
#include "models/isa/entry_registers.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>

#include <string>

using namespace tessera;

namespace {

isa::EntryRegisters registers_of(const std::string& code) {
    const spec::MachineSpec spec;
    const program::Codelet codelet =
        isa::assemble("test", {{"test.S", ".worker\n.align 8\nstart:\n" + code}},
                      spec.memory.region0_begin(), isa::options_for(isa::target_of(spec)));
    const isa::DecodedProgram program =
        isa::decode_program(codelet.words, codelet.address, isa::target_of(spec));
    return isa::entry_registers(
        program, static_cast<std::size_t>(program.index_of(codelet.symbols.at("start"))));
}

constexpr unsigned bits(std::initializer_list<unsigned> numbers) {
    unsigned all = 0;
    for (const unsigned number : numbers) {
        all |= 1U << number;
    }
    return all;
}

} // namespace

TEST_CASE("code needs what it reads before it writes it on some way", "[unit][tile]") {
    struct Case {
        const char* code;
        unsigned needed;
        unsigned written;
    };
    for (const Case& one : {
             Case{"add $m1, $m2, $m3\nexitz $m1\n", bits({2, 3}), bits({1})},
             Case{"setzi $m2, 1\nadd $m1, $m2, $m3\nexitz $mzero\n", bits({3}), bits({1, 2})},
             // one way writes it, the other one does not
             Case{"brz $m0, 1f\nsetzi $m1, 1\n1: add $m2, $m1, 1\nexitz $mzero\n", bits({0, 1}),
                  bits({1, 2})},
             // an exit before it is read
             Case{"brz $m0, 1f\nsetzi $m1, 1\nadd $m2, $m1, 1\n1: exitz $mzero\n", bits({0}),
                  bits({1, 2})},
             // the second pass needs what the first one has left
             Case{"1: add $m3, $m1, $m2\nmov $m1, $m4\nbrnzdec $m0, 1b\nexitz $mzero\n",
                  bits({0, 1, 2, 4}), bits({0, 1, 3})},
             // a repeat may have no pass
             Case{".align 8\n{ rpt $m0, 0 ; fnop }\n{ setzi $m1, 1 ; fnop }\nadd $m2, $m1, 1\n"
                  "exitz $mzero\n",
                  bits({0, 1}), bits({1, 2})},
             Case{".align 8\n{ rpt $m0, 1 ; fnop }\n{ add $m3, $m1, 1 ; fnop }\n"
                  "{ mov $m1, $m2 ; fnop }\nexitz $mzero\n",
                  bits({0, 1, 2}), bits({1, 3})},
             // nobody knows what comes then
             Case{"setzi $m1, 1\nbr $m2\n", 0xfffU & ~bits({1}), 0xfff},
         }) {
        CAPTURE(one.code);
        const isa::EntryRegisters found = registers_of(one.code);
        CHECK(found.needed == one.needed);
        CHECK(found.written == one.written);
    }
}
