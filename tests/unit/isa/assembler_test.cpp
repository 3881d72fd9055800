// SPDX-License-Identifier: MIT
#include "tests/unit/isa/assemble_support.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;

TEST_CASE("a kernel with supervisor and worker code assembles", "[isa]") {
    const std::string text = R"(
#define m_rows m0
#define m_addr m4:5
#define a_in a0:1
    .section .text.kernel, "ax", @progbits
    .globl entry
    .type entry, @function
    .supervisor
entry:
    setzi $m1, worker
    put $CCCSLOAD, $m0
    ld128putcs 0
    runall $m1, $m0, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $lr
    .size entry, .-entry
    .worker
    .align 8
worker:
    get $m1, $WSR               // the worker's number
    and $m1, $m1, CSR_W_WSR__CTXTID_M1__MASK
    { ld32 $m_rows, $mvertex_base, $mzero, 0
      setzi $a7, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
    tapack $m_addr, $m2, $m3, $m2
    {brz $m_rows, .Lend; uput $FP_CLR, $a7}
    ldconst $m6, 0x12345678
    .align 8
    { rpt $ m_rows, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld2xst64pace $a0 : 3, $a4:5, $m_addr+=, $m6, 0b010101 ; f16v4hihov4amp $a4:5, $a_in, $a2:3, TAMP_F16V4_E4_P0 }
    { ld64step $a0:1, $mzero, $m2+=, 1 ; f16v4mul $a2:3, $a0:BU, $a4:5 }
2:
.Lend:
    exitz $mzero
)";
    CHECK(mistakes_of(text) == Lines{});
    const program::Codelet codelet = assembled(text);
    CHECK(codelet.symbols.at("entry") == kBase);
    CHECK(codelet.symbols.at("worker") == kBase + 24);
    CHECK(codelet.symbols.size() == 2);
    CHECK(listing_of(text) ==
          Lines{"setzi $m1, 0x4c018", "put $CCCSLOAD, $m0", "ld128putcs 0", "runall $m1, $m0, 0",
                "sync 2", "br $m10", "get $m1, 1", "and $m1, $m1, 7",
                "{ ld32 $m0, $m13, $mzero, 0 ; setzi $a7, 8 }", "tapack $m4:5, $m2, $m3, $m2",
                "{ brz $m0, 0x4c058 ; uput $FP_CLR, $a7 }", "setzi $m6, 0x45678",
                "or $m6, $m6, 0x12300000", "nop", "{ rpt $m0, 1 ; fnop }",
                "{ ld2xst64pace $a0:3, $a4:5, $m4:5+=, $m6, 21 ; f16v4hihov4amp $a4:5, $a0:1, "
                "$a2:3, 48 }",
                "{ ld64step $a0:1, $mzero, $m2+=, 1 ; f16v4mul $a2:3, $a0:BU, $a4:5 }",
                "exitz $mzero"});
}
