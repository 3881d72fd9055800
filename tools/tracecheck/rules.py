# SPDX-License-Identifier: MIT
"""Rules about a whole trace, and about a trace beside the result of its run."""

from .model import EDGE, KINDS, PEER, PHASES

METADATA = ("workload", "machine", "clock_hz", "tessera", "trace_clock", "time_unit", "cycles")


def check(trace):
    machines = trace.of_role("machine")
    if not machines:
        trace.complain("0 machine tracks, expected 1")
        return
    machine = last_to_end(trace)
    alone = len(machines) == 1
    if alone and machine.cycles["idle"]:
        trace.complain(f"machine: {machine.cycles['idle']} cycles idle, expected none")
    check_metadata(trace, machine)
    if alone:
        check_slowest(trace, machine)
    for track in trace.of_role("tile") + trace.of_role("context") + trace.of_role("link") + \
            trace.of_role("peer"):
        if track.last > machine.last:
            trace.complain(f"{track.path()}: ends at {track.last}, after the machine's "
                           f"{machine.last}")
    for track in trace.of_role("tile"):
        if alone and track.last < machine.last and not trace.truncated:
            trace.complain(f"{track.path()}: ends at {track.last}, before the machine's "
                           f"{machine.last}")
    for number, points in trace.flows.items():
        if any(track.role == "peer" for track, _, _ in points):
            check_messages(trace, number, points)
        else:
            check_flow(trace, number, points)
    if trace.form != "vcd":  # which has no flows
        slices = sum(track.slices for track in trace.of_role("peer"))
        same(trace, "slices of messages between chips", slices, "flows of them", 2 * sum(
            any(track.role == "peer" for track, _, _ in points) for points in trace.flows.values()))


def check_metadata(trace, machine):
    for word in METADATA:
        if word not in trace.metadata:
            trace.complain(f"the metadata lacks '{word}'")
    clock = trace.metadata.get("trace_clock", "cycles")
    unit = trace.metadata.get("time_unit", "").replace("_", " ")
    if (clock, unit.strip()) not in (("cycles", "1 ns = 1 cycle"), ("machine", "machine time"),
                                     ("cycles", "")):
        trace.complain(f"the metadata says the clock '{clock}' and the unit '{unit}'")
    if trace.metadata.get("cycles", machine.last) != machine.last:
        trace.complain(f"the metadata says {trace.metadata['cycles']} cycles, the machine's track "
                       f"ends at {machine.last}")


def check_slowest(trace, machine):
    for track in trace.of_role("slowest"):
        for kind in KINDS:
            if kind != "sync":
                same(trace, f"the critical tile's {kind} cycles", track.cycles[kind],
                     "the machine's", machine.cycles[kind])


def check_flow(trace, number, points):
    """From the last slice before a barrier, of the critical tile, to the machine's barrier."""
    ends = [(track, told) for track, told, is_end in points if is_end]
    starts = [(track, told) for track, told, is_end in points if not is_end]
    if len(ends) != 1:
        trace.complain(f"flow {number}: ends {len(ends)} times, expected once")
        return
    where, barrier = ends[0]
    if where.role != "machine" or barrier.category != "sync":
        trace.complain(f"flow {number}: ends at a slice of kind {barrier.category} on {where.path()}, "
                       "expected a sync of the machine")
    roles = sorted(track.role for track, _ in starts)
    if roles not in (["slowest"], ["slowest", "tile"]):
        begins = ", ".join(track.path() for track, _ in starts) or "nowhere"
        trace.complain(f"flow {number}: begins on {begins}, expected slowest and at most one tile")
    for track, told in starts:
        if told.end != barrier.begin:
            trace.complain(f"flow {number}: the slice on {track.path()} ends at {told.end}, the "
                           f"barrier begins at {barrier.begin}")
        last = barrier.arguments.get("slowest_tile")
        tile = int(track.name[5:]) if track.role == "tile" else told.arguments.get("tile")
        if last is not None and tile is not None and tile != last:
            trace.complain(f"flow {number}: begins on {track.path()} with tile {tile}, and the "
                           f"barrier's slowest tile is {last}")


def check_messages(trace, number, points):
    """From what a chip sends another one to what comes there: the same bytes, later."""
    if [is_end for _, _, is_end in points].count(True) != 1 or len(points) != 2:
        trace.complain(f"flow {number}: has {len(points)} slices, expected one that begins and one that ends it")
        return
    (source, sent, _), (target, come, _) = sorted(points, key=lambda point: point[2])
    there, here = PEER.fullmatch(source.name), PEER.fullmatch(target.name)
    if not there or not here or there.groups() != ("to", str(target.chip())) or \
            here.groups() != ("from", str(source.chip())):
        trace.complain(f"flow {number}: leads from ipu_{source.chip()}.{source.path()} to "
                       f"ipu_{target.chip()}.{target.path()}")
    for word in ("bytes", "messages"):
        if sent.arguments.get(word) != come.arguments.get(word):
            trace.complain(f"flow {number}: {sent.arguments.get(word)} {word} are sent and "
                           f"{come.arguments.get(word)} come")
    if not (sent.begin < come.begin and sent.end < come.end):
        trace.complain(f"flow {number}: what is sent from {sent.begin} to {sent.end} comes from {come.begin} "
                       f"to {come.end}")


def compare_edges(trace, result):
    """Counters of edges sum to what went over them; all that is sent goes over edges at least once."""
    told = {(edge["from"], edge["to"]): edge["link_bytes"] for edge in result.get("edges", [])}
    shown = {(track.chip(), int(EDGE.fullmatch(track.name)[1])): track.sum
             for track in trace.of_role("counter") if EDGE.fullmatch(track.name)}
    for edge in sorted(told.keys() | shown.keys()):
        same(trace, f"bytes from ipu_{edge[0]} to ipu_{edge[1]}", shown.get(edge, 0), "edges", told.get(edge))


def last_to_end(trace):
    """The machine track whose chip a result is of: the one that ends last, the lowest number of equals."""
    return max(trace.of_role("machine"), key=lambda track: (track.last, -track.chip()))


def compare(trace, result):
    """Beside the result of the same run. @throws KeyError"""
    machine = last_to_end(trace)
    compare_edges(trace, result)
    cycles = result["cycles"]
    same(trace, "the machine's cycles", sum(machine.cycles.values()), "cycles", cycles)
    kinds = kinds_of(result["tiles"])
    for kind in PHASES:
        if kind not in kinds:
            continue
        same(trace, f"the machine's {kind} cycles", machine.cycles[kind], f"phases.{kind}",
             result["phases"][kind])
    compare_metadata(trace, result)
    tiles = [track for track in trace.of_role("tile") if track.chip() == machine.chip()]
    for track in tiles:
        if not trace.truncated:
            same(trace, f"{track.name}: its cycles", sum(track.cycles.values()), "cycles", cycles)
        for kind in kinds:
            within(trace, track, kind, result["tiles"][f"{kind}_cycles"])
    if trace.carries_roles:
        compare_roles(trace, result)
    told = result["trace"]
    same(trace, "slices", trace.slices(), "trace.slices", told["slices"])
    same(trace, "format", trace.form, "trace.format", told["format"])
    same(trace, "clock", trace.metadata.get("trace_clock"), "trace.clock", told["clock"])
    numbers = sorted({int(track.name[5:]) for track in trace.of_role("tile")})  # on whatever chip
    if numbers != sorted(told["tiles"]) and not trace.truncated:
        trace.complain(f"tiles: the trace shows {numbers}, trace.tiles says "
                       f"{sorted(told['tiles'])}")
    if tiles and result["machine"]["chip"]["tiles"] == len(tiles) and not trace.truncated:
        compare_all_tiles(trace, tiles, result["tiles"])


def compare_metadata(trace, result):
    for word, key, expected in (
            ("workload", "workload.name", result["workload"]["name"]),
            ("machine", "machine.name", result["machine"]["name"]),
            ("clock_hz", "machine.chip.clock_hz", result["machine"]["chip"]["clock_hz"])):
        if trace.form == "vcd" and isinstance(expected, str):
            expected = "_".join(expected.split(" "))
        if word in trace.metadata:
            same(trace, word, trace.metadata[word], key, expected)


def compare_roles(trace, result):
    steps = [step for kind in ("compute_sets", "exchanges", "streams", "link_exchanges")
             for step in result.get(kind, [])]

    def shown(name):
        return "_".join(name.split(" ")) if trace.form == "vcd" else name

    known = {(shown(step["name"]), step["role"]) for step in steps}
    for name, role in sorted(trace.roles - known):
        trace.complain(f"a slice '{name}' has the role '{role}', which no step of that name has")
    for step in steps:
        if step["cycles"] and (shown(step["name"]), step["role"]) not in trace.roles:
            trace.complain(f"the step '{step['name']}' of role '{step['role']}' has no slice that "
                           "says so")


def kinds_of(tiles):
    """Those that a result tells of: results of older versions have no links."""
    return [kind for kind in KINDS if kind != "link" or "link_cycles" in tiles]


def compare_all_tiles(trace, tiles, expected):
    for kind in kinds_of(expected):
        values = [track.cycles[kind] for track in tiles]
        bounds = expected[f"{kind}_cycles"]
        key = f"tiles.{kind}_cycles"
        same(trace, f"least {kind} cycles", min(values), f"{key}.min", bounds["min"])
        same(trace, f"most {kind} cycles", max(values), f"{key}.max", bounds["max"])
        mean = sum(values) / len(values)
        if abs(mean - bounds["mean"]) > 1e-6 * max(1.0, abs(mean)):
            trace.complain(f"mean {kind} cycles: the trace says {mean}, {key}.mean says "
                           f"{bounds['mean']}")


def same(trace, what, got, key, expected):
    if got != expected:
        trace.complain(f"{what}: the trace says {got}, {key} says {expected}")


def within(trace, track, kind, bounds):
    got = track.cycles[kind]
    if got > bounds["max"] or (got < bounds["min"] and not trace.truncated):
        trace.complain(f"{track.name}: {got} cycles {kind}, outside tiles.{kind}_cycles "
                       f"{bounds['min']}..{bounds['max']}")
