# SPDX-License-Identifier: MIT
"""Routes of four chips all turn round the same corner. With full buffers they could wait for each other for ever, so
every command that reads the machine refuses it and names the circle. With endless buffers the machine may be used."""

ENDLESS = "system.links.buffer_packets=0"


def check(case):
    told = r"machine\.json:7:23: /system/links/routes: packets can wait .* 0 -> 1 -> 3 -> 2 -> 0"
    for arguments in (["describe", "machine", "./machine.json"], ["check", "./machine.json"],
                      ["run", "tiny_matmul", "--machine", "./machine.json"]):
        case.assertRegex(case.tessera(*arguments, code=3).stderr, told)
    case.tessera("describe", "machine", "./machine.json", "--set", ENDLESS)
