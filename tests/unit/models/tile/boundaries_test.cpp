// SPDX-License-Identifier: MIT
// Where the tile's rules begin and end: fetch windows, memory elements, slots, links of calls,
// faults beside the end of a phase. Tables round each border, in both models of a tile.
#include "base/error.h"
#include "models/isa/context.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;

namespace {

constexpr Bytes kElement = 1024;

/// Small elements, so that code and data reach their borders.
spec::MachineSpec small_elements() {
    spec::MachineSpec machine;
    machine.memory.base = 0x78000;
    machine.memory.region0_bytes = 0x8000;
    machine.memory.region1_bytes = 0x8000;
    machine.memory.element_bytes = kElement;
    return machine;
}

template <class Tile> std::string end_of(test::BasicAssembledTile<Tile>& tile) {
    try {
        tile.run();
        return "no fault";
    } catch (const tile::TileFault& fault) {
        return fault.what();
    }
}

/// The cycles of both models, or their fault.
std::string course_of(const std::string& text, const spec::MachineSpec& machine) {
    CAPTURE(text);
    const auto course = [](auto tile) {
        try {
            return fmt::format("{} cycles", tile.run().cycles);
        } catch (const tile::TileFault& fault) {
            return fmt::format("{} at {:#x} in cycle {}", fault.what(), fault.fault().address,
                               fault.fault().cycle);
        }
    };
    const std::string fast = course(test::AssembledTile(text, machine));
    CHECK(course(test::AssembledLockstepTile(text, machine)) == fast);
    return fast;
}

/// The fault of both models, or "no fault".
std::string fault_of(const std::string& text, const spec::MachineSpec& machine = small_elements()) {
    CAPTURE(text);
    test::AssembledTile fast(text, machine);
    test::AssembledLockstepTile lockstep(text, machine);
    const std::string fault = end_of(fast);
    CHECK(end_of(lockstep) == fault);
    return fault;
}

bool conflicts(const std::string& text, const spec::MachineSpec& machine = small_elements()) {
    const std::string fault = fault_of(text, machine);
    const bool fetched = fault.find("element of the code being fetched") != std::string::npos;
    CHECK((fetched || fault == "no fault"));
    return fetched;
}

const std::string kLaunch = ".supervisor\n.globl start\nstart: setzi $m0, worker\n"
                            "run $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\nbr $lr\n";

/// Code whose instruction `probe` stands `distance` bytes before the element of its data, behind
/// which nothing else is fetched.
std::string probe_before_border(const std::string& context, const std::string& before,
                                const std::string& probe, Bytes distance) {
    const std::string end = context == "worker" ? "exitz $mzero" : "br $lr";
    const std::string head =
        context == "worker" ? kLaunch + ".worker\n" : ".supervisor\n.globl start\n";
    return head +
           fmt::format("{}: setzi $m2, 0x78000 + {}\n{}bri 1f\n.align {}\n.space {}\n1: {}\n{}\n",
                       context == "worker" ? "worker" : "start", 2 * kElement, before, kElement,
                       kElement - distance, probe, end);
}

} // namespace

TEST_CASE("data conflict with fetch up to the end of the context's window", "[unit][tile]") {
    struct Row {
        std::string context;
        std::string before;
        std::string probe;
    };
    const Row rows[] = {
        {"worker", "", "ld32 $m3, $m2, $mzero, 1"},
        {"start", "", "ld32 $m3, $m2, $mzero, 1"},
        {"start", "put $CCCSLOAD, $m2\n", "ld64putcs 0"},
    };
    for (const Bytes supervisor_window : {64, 36}) {
        for (const Bytes worker_window : {16, 28}) {
            spec::MachineSpec machine = small_elements();
            machine.tile.fetch_window_bytes = supervisor_window;
            machine.tile.worker_fetch_window_bytes = worker_window;
            for (const Row& row : rows) {
                const Bytes window = row.context == "worker" ? worker_window : supervisor_window;
                for (Bytes distance = 8; distance <= 72; distance += 4) {
                    CAPTURE(row.probe, window, distance);
                    CHECK(
                        conflicts(probe_before_border(row.context, row.before, row.probe, distance),
                                  machine) == (distance <= window));
                }
                // fetched from is what stands behind the instruction, not the instruction itself
                for (const Bytes distance : {4, 8}) {
                    const std::string text =
                        probe_before_border(row.context, "setzi $m2, 0x78000 + 1024\n" + row.before,
                                            row.probe, distance);
                    CHECK(conflicts(text, machine) == (distance > 4));
                }
                machine.tile.fetch_conflict = spec::FetchConflict::Ignore;
                CHECK_FALSE(
                    conflicts(probe_before_border(row.context, row.before, row.probe, 8), machine));
                machine.tile.fetch_conflict = spec::FetchConflict::Error;
            }
        }
    }
}

TEST_CASE("data conflict with the body of a running repeat and no word beyond it", "[unit][tile]") {
    // the body fills the second element of region 0 to `short_by` bundles
    const auto body_beside = [](int element, int short_by, bool at_end, unsigned passes) {
        const int bundles = static_cast<int>(kElement / 8) - short_by;
        std::string text =
            kLaunch + fmt::format(".worker\nworker: setzi $m2, 0x78000 + {}\nbri 1f\n",
                                  element * kElement + (at_end ? kElement - 4 : 0));
        text += fmt::format(".align {}\n.space {}\n1: rpt {}, {}\n", kElement, kElement - 4, passes,
                            bundles - 1);
        text += "{ ld32 $m3, $m2, $mzero, 0 ; fnop }\n";
        for (int i = 1; i < bundles; ++i) {
            text += "{ nop ; fnop }\n";
        }
        return text + "exitz $mzero\n";
    };
    // .align 1024 leads to the second element, .space to its end: the body stands in the third
    CHECK_FALSE(conflicts(body_beside(1, 0, true, 2)));
    CHECK(conflicts(body_beside(2, 0, false, 2)));
    CHECK(conflicts(body_beside(2, 0, true, 2)));
    CHECK_FALSE(conflicts(body_beside(3, 0, false, 2)));
    CHECK(conflicts(body_beside(3, -1, false, 2))); // one bundle reaches into the fourth
    CHECK_FALSE(conflicts(body_beside(3, 1, false, 2)));
    // behind the last pass the window is a worker's again
    const std::string behind = kLaunch + fmt::format(".worker\nworker: setzi $m2, 0x78000 + {}\n"
                                                     "bri 1f\n.align {}\n.space {}\n1: rpt 3, 0\n"
                                                     "{{ nop ; fnop }}\nld32 $m3, $m2, $mzero, 0\n"
                                                     "exitz $mzero\n",
                                                     2 * kElement, kElement, kElement - 20);
    CHECK(conflicts(behind));
}

TEST_CASE("two accesses of one instruction conflict in one memory element and not beside it",
          "[unit][tile]") {
    for (const Bytes element : {kElement, Bytes{0x4000}}) {
        spec::MachineSpec machine;
        machine.memory.base = 0x70000;
        machine.memory.region0_bytes = 0x10000;
        machine.memory.region1_bytes = 0x20000;
        machine.memory.element_bytes = element;
        const auto conflict = [&](Address first, Address second) {
            const std::string text =
                kLaunch + fmt::format(".worker\nworker: setzi $m1, {}\nsetzi $m2, {}\n"
                                      "tapack $m4:5, $m1, $m2, $m2\n"
                                      "ld2x64pace $a0:1, $a2:3, $m4:5+=, $mzero, 0\nexitz $mzero\n",
                                      first, second);
            const std::string fault = fault_of(text, machine);
            const bool met = fault.find("in one memory element") != std::string::npos;
            CHECK((met || fault == "no fault"));
            return met;
        };
        const auto unit = static_cast<Address>(element);
        const Address region0 = 0x70000 + unit; // not where the code is
        const Address region1 = 0x80000;
        for (const Address offset : {0U, 8U, unit - 8, unit, unit + 8, 2 * unit - 16, 2 * unit - 8,
                                     2 * unit, 2 * unit + 8, 3 * unit}) {
            for (const Address other : {0U, 8U, unit - 16, unit, 2 * unit - 8}) {
                CAPTURE(element, offset, other);
                const auto pair = [&](Address at) { return at / (2 * unit); };
                CHECK(conflict(region1 + offset, region1 + other) ==
                      (pair(offset) == pair(other) && (offset & 8U) == (other & 8U)));
                if (region0 + offset < region1 && region0 + other < region1) {
                    CHECK(conflict(region0 + offset, region0 + other) ==
                          (offset / unit == other / unit));
                    CHECK_FALSE(conflict(region0 + offset, region1 + other));
                }
            }
        }
    }
}

TEST_CASE("a call links what stands behind it or its bundle", "[unit][tile]") {
    for (const bool supervisor : {true, false}) {
        for (const bool bundle : {false, true}) {
            if (supervisor && bundle) {
                continue; // supervisors issue single instructions
            }
            const std::string call =
                bundle ? "{ call $m7, leaf ; setzi $a0, 1 }" : "call $m7, leaf";
            const std::string store = supervisor ? "" : "exitz $mzero\n";
            const std::string body =
                fmt::format("{}\n.globl behind\nbehind: nop\n{}", call,
                            supervisor ? "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n" : store);
            const std::string leaf = "leaf: setzi $m2, 0x80000\nst32 $m7, $m2, $mzero, 0\nbr $m7\n";
            test::AssembledTile tile(supervisor
                                         ? ".supervisor\n.globl start\nstart: " + body + leaf
                                         : kLaunch + ".worker\n.align 8\nworker: " + body + leaf);
            tile.run();
            CHECK(tile.read<std::uint32_t>(0x80000, 1).front() == tile.symbol("behind"));
        }
    }
}

TEST_CASE("a worker's fault is told where it comes before the end of the phase and only there",
          "[unit][tile]") {
    // no sync: the supervisor returns after `count` instructions while the worker goes on to its
    // fault
    const Cycles pipeline = spec::MachineSpec{}.tile.pipeline_cycles;
    const Cycles fault_cycle = 2 * pipeline + 2 * pipeline; // setzi, launch, two issues before
    for (Cycles count = 0; count <= 20; ++count) {
        std::string text =
            ".supervisor\n.globl start\nstart: setzi $m0, worker\nrun $m0, $mzero, 0\n";
        for (Cycles i = 0; i < count; ++i) {
            text += "nop\n";
        }
        text += "br $lr\n.worker\n.align 8\nworker: nop\nnop\nld32 $m3, $mzero, 0\nexitz $mzero\n";
        CAPTURE(count);
        const std::string fault = fault_of(text, spec::MachineSpec{});
        // of the clocks from the launch on the worker's slot, every sixth, is not the supervisor's
        Cycles end = pipeline;
        for (Cycles issued = 0; issued <= count;) {
            ++end;
            issued += end % pipeline == 0 ? 0 : 1;
        }
        end += pipeline; // the return
        if (fault_cycle < end) {
            CHECK(fault.starts_with(fmt::format("tile_0.worker_0 @ {}:", fault_cycle)));
        } else {
            CHECK_THAT(fault, Catch::Contains("the phase ends while a worker is active"));
        }
    }
}

TEST_CASE("a worker holds its slot, its base and the weights until a pipeline behind its exit",
          "[unit][tile]") {
    // the worker exits with its third issue; the supervisor's instruction issues in cycle after
    // cycle
    const spec::MachineSpec machine;
    const Cycles pipeline = machine.tile.pipeline_cycles;
    const Cycles free = 2 * pipeline + 2 * machine.tile.round_cycles() + pipeline;
    struct Row {
        std::string instruction;
        std::string reason; // while the worker is active
    };
    const Row rows[] = {
        {"put $WORKER0_BASE, $m1", "a worker's base is set while it is active"},
        {"put $WORKER1_BASE, $m1", "no fault"},
        {"put $CR, $m2", "zeroed while a worker is active"},
        {"ld64putcs 0", "sync first"},
        {"runall $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL", "runall while a worker is active"},
        {"get $m4, $CTXT_STS\nst32 $m4, $m5, $mzero, 0", "no fault"},
    };
    for (const Row& row : rows) {
        for (int waits = 8; waits <= 30; ++waits) {
            std::string text = ".supervisor\n.globl start\nstart: setzi $m0, worker\n"
                               "setzi $m1, 0x80000\nput $CCCSLOAD, $m1\nsetzi $m2, 7\n"
                               "setzi $m5, 0x80000\nrun $m0, $mzero, 0\n";
            for (int i = 0; i < waits; ++i) {
                text += "nop\n";
            }
            text += row.instruction + "\nget $m3, $SCOUNT_L\nst32 $m3, $m5, $mzero, 1\n"
                                      "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n"
                                      ".worker\n.align 8\nworker: nop\nnop\nexitz $mzero\n";
            CAPTURE(row.instruction, waits);
            test::AssembledTile tile(text, machine);
            test::AssembledLockstepTile lockstep(text, machine);
            std::vector<tile::ContextSpan> spans;
            std::string fault = "no fault";
            Cycles issue = 0;
            Cycles exit = 0;
            try {
                tile.run("start", &spans);
            } catch (const tile::TileFault& found) {
                fault = found.what();
                issue = found.fault().cycle;
            }
            CHECK(end_of(lockstep) == fault);
            REQUIRE(!spans.empty());
            exit = spans.front().end - 1;
            if (fault != "no fault") {
                CHECK_THAT(fault, Catch::Contains(row.reason));
                CHECK(issue < exit + pipeline);
            } else if (row.reason != "no fault" && row.instruction.find("runall") != 0) {
                const auto behind = tile.read<std::uint32_t>(0x80004, 1).front();
                CHECK(static_cast<Cycles>(behind) > exit + pipeline); // issued one clock earlier
            } else if (row.instruction.starts_with("get")) {
                const auto status = tile.read<std::uint32_t>(0x80000, 1).front();
                const auto behind =
                    static_cast<Cycles>(tile.read<std::uint32_t>(0x80004, 1).front());
                CHECK((status == 1 || behind < exit + 3 * pipeline));
                CHECK((status == 1 || status == 5));
            }
        }
    }
    CHECK(free > 0);
}

TEST_CASE("a code segment at address 0 is refused, as a branch there ends the phase",
          "[unit][tile]") {
    spec::MachineSpec machine = small_elements();
    machine.memory.base = 0;
    CHECK(machine.memory.code_begin() == 8);
    CHECK(small_elements().memory.code_begin() == small_elements().memory.region0_begin());
    CHECK_THROWS_WITH(test::AssembledTile(".supervisor\n.globl start\nstart: br $lr\n", machine),
                      Catch::Contains("not at 0, a branch to which ends the phase"));
}

TEST_CASE("segments stand in tile memory, and code in its region 0", "[unit][tile]") {
    const spec::MachineSpec machine = small_elements();
    const auto begin = machine.memory.region0_begin();
    const auto region1 = static_cast<Address>(machine.memory.region1_begin());
    const auto end = static_cast<Address>(machine.memory.end());
    std::vector<std::byte> memory(static_cast<std::size_t>(machine.memory.bytes()));
    std::vector<program::Codelet> codelets(1);
    codelets[0].words.assign(static_cast<std::size_t>(machine.memory.region0_bytes / 4), 0);
    const auto loaded = [&](program::SegmentKind kind, Address address, Bytes bytes) {
        codelets[0].address = address;
        tile::CodeCache cache(codelets);
        tile::TileCore core(machine, 3, memory.data());
        program::Image image;
        program::Segment& segment = image.segments.emplace_back();
        segment.address = address;
        segment.bytes = bytes;
        segment.kind = kind;
        segment.name = "it";
        segment.data = std::make_shared<std::vector<std::byte>>(memory.size());
        try {
            core.load(image, cache);
        } catch (const ProgramError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const auto outside = [](Address address, Bytes bytes) {
        return fmt::format("tile_3: segment 'it' at {:#x} of {} bytes is outside tile memory",
                           address, bytes);
    };
    const auto no_code = [](Address address, Bytes bytes) {
        return fmt::format(
            "tile_3: code segment 'it' at {:#x} of {} bytes: code lies in region 0 at "
            "multiples of 4 bytes, not at 0, a branch to which ends the phase",
            address, bytes);
    };
    using Kind = program::SegmentKind;
    CHECK(loaded(Kind::Tensor, begin, machine.memory.bytes()).empty());
    CHECK(loaded(Kind::Tensor, end - 8, 8).empty());
    CHECK(loaded(Kind::Tensor, end, 0).empty());
    CHECK(loaded(Kind::Tensor, begin, 0).empty());
    CHECK(loaded(Kind::Tensor, begin, machine.memory.bytes() + 1) ==
          outside(begin, machine.memory.bytes() + 1));
    CHECK(loaded(Kind::Tensor, end - 8, 9) == outside(end - 8, 9));
    CHECK(loaded(Kind::Tensor, end, 1) == outside(end, 1));
    CHECK(loaded(Kind::Tensor, end + 4, 0) == outside(end + 4, 0));
    CHECK(loaded(Kind::Tensor, begin - 4, 4) == outside(begin - 4, 4));
    CHECK(loaded(Kind::Tensor, begin, -1) == outside(begin, -1));
    CHECK(loaded(Kind::Code, begin, machine.memory.region0_bytes).empty());
    CHECK(loaded(Kind::Code, region1 - 8, 8).empty());
    CHECK(loaded(Kind::Code, region1 - 8, 12) == no_code(region1 - 8, 12));
    CHECK(loaded(Kind::Code, region1, 4) == no_code(region1, 4));
    CHECK(loaded(Kind::Code, begin + 2, 4) == no_code(begin + 2, 4));

    tile::TileCore core(machine, 3, memory.data());
    CHECK(core.memory(begin, machine.memory.bytes()).size() == memory.size());
    CHECK(core.memory(end, 0).empty());
    CHECK(core.memory(end - 4, 4).data() == memory.data() + memory.size() - 4);
    for (const auto& [address, bytes] :
         {std::pair{end - 4, Bytes{5}}, std::pair{end + 1, Bytes{0}},
          std::pair{begin - 1, Bytes{1}}, std::pair{begin, Bytes{-1}}}) {
        CHECK_THROWS_WITH(
            core.memory(address, bytes),
            fmt::format("tile_3: {} bytes at {:#x} are outside tile memory", bytes, address));
    }
}

TEST_CASE("an element is a power of two of bytes to the tile", "[unit][tile]") {
    // borders of elements of several sizes: the last word of one, the first of the next
    for (const Bytes element : {Bytes{1024}, Bytes{2048}, Bytes{0x4000}}) {
        spec::MachineSpec machine;
        machine.memory.base = 0x70000;
        machine.memory.region0_bytes = 0x10000;
        machine.memory.element_bytes = element;
        const auto text = [&](Bytes at) {
            return kLaunch + fmt::format(".worker\nworker: setzi $m2, 0x70000 + {}\n"
                                         "ld32 $m3, $m2, $mzero, 0\nexitz $mzero\n",
                                         at);
        };
        CHECK(conflicts(text(element - 4), machine));
        CHECK_FALSE(conflicts(text(element), machine));
    }
}

TEST_CASE("loads of weights behind each other end where one of them does", "[unit][tile]") {
    // TileCore carries them out at once, the lock-step model one by one.
    const spec::MachineSpec machine = small_elements();
    const isa::Target target = isa::target_of(machine);
    const auto end = static_cast<Address>(machine.memory.base + machine.memory.bytes());
    const auto region1 = static_cast<Address>(machine.memory.base + machine.memory.region0_bytes);
    const auto existing =
        static_cast<int>(isa::WeightStore{}.registers.size() / 2 * target.accumulator_sets());
    std::set<std::string> ends;
    for (const int each : {1, 2}) {
        const auto loads = [&](int first, int count) {
            std::string text;
            for (int n = 0; n < count; ++n) {
                text += fmt::format("{} {}\n", each == 1 ? "ld64putcs" : "ld128putcs",
                                    first + n * each);
            }
            return text;
        };
        const auto from = [](Address address, const std::string& loading) {
            return fmt::format(".supervisor\n.globl start\nstart: setzi $m2, {:#x}\n"
                               "put $CCCSLOAD, $m2\n{}br $lr\n",
                               address, loading);
        };
        const auto bytes = static_cast<Address>(8 * each);
        for (int count = 1; count <= 6; ++count) {
            for (Address before = 0; before <= 8; ++before) {
                CAPTURE(each, count, before);
                // up to the end of memory, and over the begin of region 1
                const std::string last =
                    course_of(from(end - before * bytes, loads(0, count)), machine);
                const bool fits = static_cast<Address>(count) <= before;
                CHECK((last.find("outside tile memory") == std::string::npos) == fits);
                const std::string over =
                    course_of(from(region1 - before * bytes, loads(0, count)), machine);
                CHECK((over.find("outside the interleaved region") != std::string::npos) ==
                      (each == 2 && before > 0));
                ends.insert(last);
                ends.insert(over);
            }
            // registers that do not exist, and an address that is no multiple
            for (int first = existing - 8; first < existing; first += each) {
                CAPTURE(each, count, first);
                const std::string last = course_of(from(region1, loads(first, count)), machine);
                CHECK((last.find("does not exist") == std::string::npos) ==
                      (first + count * each <= existing));
            }
            CHECK(course_of(from(region1 + 4, loads(0, count)), machine).find("misaligned") !=
                  std::string::npos);
            // a phase that is too long
            for (Cycles limit = 10; limit <= 40; ++limit) {
                spec::MachineSpec shorter = machine;
                shorter.tile.phase_limit_cycles = limit;
                ends.insert(course_of(from(region1, loads(0, count)), shorter));
            }
            // with a worker that runs still
            ends.insert(course_of(fmt::format(".supervisor\n.globl start\nstart: setzi $m2, {:#x}\n"
                                              "put $CCCSLOAD, $m2\nsetzi $m0, worker\n"
                                              "run $m0, $mzero, 0\n{}br $lr\n"
                                              ".worker\n.align 8\nworker: exitz $mzero\n",
                                              region1, loads(0, count)),
                                  machine));
        }
    }
    for (Bytes distance = 8; distance <= 120; distance += 4) {
        for (int count = 1; count <= 6; ++count) {
            CAPTURE(distance, count);
            std::string loads = "ld64putcs 0\n";
            for (int n = 1; n < count; ++n) {
                loads += fmt::format("ld64putcs {}\n", n);
            }
            for (const int above : {0, 8, 16}) { // data that begin in the element before
                ends.insert(course_of(
                    probe_before_border(
                        "start", fmt::format("add $m2, $m2, -{}\nput $CCCSLOAD, $m2\n", above),
                        loads, distance),
                    machine));
            }
        }
    }
    CHECK(ends.size() > 20);
}
