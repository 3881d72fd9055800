# SPDX-License-Identifier: MIT
"""Sources as the vendor's own tools take them, among them what its tests of the assembler hold; and
what these tools refuse. Listings assemble to the same words."""


def check(case):
    done = case.tessera("asm", "good.S", "--listing", "--out", "good.bin")
    for line in ("read on\n", "adds $m0, $m1, 0x7fff", "subs $m0, 7, $m1", "run $m4, $m5, ",
                 "lds16step $m0, $mzero, $m0+=, 1", "ld64 $a2:3, $m0, $mzero, 0"):
        case.assertIn(line, done.stdout)
    words = (case.scratch / "good.bin").read_bytes()
    listing = case.tessera("disasm", "good.bin", "--machine", "bow")
    (case.scratch / "again.S").write_text(listing.stdout)
    done = case.tessera("asm", "again.S", "--out", "again.bin")
    case.assertEqual((case.scratch / "again.bin").read_bytes(), words)

    done = case.tessera("asm", "bad.S", "--machine", "bow", code=3)
    for message in (
            "bad.S:2:14: control register $COUNT_L: got supervisor code, expected worker code",
            "bad.S:3:9: control register $FP_INFMT: got architecture 2, expected 21, which has FP8",
            "bad.S:5:7: bundle: both halves write the same register, expected different ones",
            "bad.S:6:7: bundle: both halves write the same register, expected different ones",
            "bad.S:7:7: bundle: ldconst stands alone, expected it outside a bundle",
            "bad.S:8:19: sub: operand 3: got 32768, expected $m register or constant "
            "-32767..32767",
            "bad.S:9:19: sub: operand 3: got -32768, expected $m register or constant "
            "-32767..32767"):
        case.assertIn(message, done.stderr)
