# SPDX-License-Identifier: MIT
"""An architect asked what more tile memory would bring: beyond 1 MiB of address, which exchange rows of
the machine cannot say, a run works and says that it is a what-if; code beyond that is refused by name."""

LARGE = ["--set", "memory.region1_bytes=1376256"]
NOTE = "a what-if: exchanges reach addresses of 1048576 bytes and more"


def check(case):
    whole = ["run", "dense_4096_f16", "--mode", "timing", "--set", "chip.tiles=1024"]
    published = [*whole, "--set", "memory.region1_bytes=720896", "--plan", "published"]
    case.assertIn(NOTE, case.tessera(*published).stdout.replace("\n           ", " "))
    # with data, in both directions and as 8-byte items
    tiny = ["tiny_matmul", "--machine", "tiny", "--set", "memory.base=0", "--set",
            "memory.region0_bytes=16384", "--set", "memory.region1_bytes=2064384", "--set", "workload.m=512",
            "--set", "workload.k=512", "--set", "workload.n=1024", "--threads", "1"]
    for plan in ("fastest", "published"):
        result = case.result(*tiny, "--plan", plan)
        case.assertEqual(result["check"]["failed_elements"], 0)
        case.assertTrue(result["notes"][0].startswith(NOTE))
    # memory that is not used is no what-if
    case.assertEqual(case.result("tiny_matmul", "--machine", "tiny", *LARGE)["notes"], [])
    refused = case.tessera("run", "tiny_matmul", "--set", "memory.base=1040384", code=3)
    case.assertIn("memory.base + memory.region0_bytes", refused.stderr)
