// SPDX-License-Identifier: MIT
// Doing a matrix-unit loop with the code round it at once must leave exactly what bundle after
// bundle leaves, on every engine: memory, registers, accumulators, flags, cycles, or the same fault.
// So must code that is nearly a pass, whether it is taken for one or not.
#include "base/float16.h"
#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace tessera;

namespace {

/// A pass of one generation of values: fills, loops and drains as matmul_amp.S does.
struct Pass {
    bool half = true; ///< partials
    bool adds = true; ///< onto partials; else it starts from what the accumulators hold
    unsigned passes = 5;
    int fp_control = 0;
    Address x = 0;
    Address partials = 0;
    Address results = 0;
    Address saved = 0;   ///< where registers and accumulators are stored in the end
    Address weights = 0; ///< and, where the accumulators start from something, that
    bool clears = true;  ///< the accumulators first
};

using Lines = std::vector<std::string>;

std::string step(const Pass& pass, const std::string& result, bool input, unsigned phase) {
    return fmt::format("{} {}, {}, {}, TAMP_F16V4_E4_P{}",
                       pass.half ? "f16v4hihov4amp" : "f16v4sisoamp", result,
                       input ? "$a0:1" : "$azeros", pass.adds ? "$a2:3" : "$azeros", phase % 4);
}

std::string without_partials(std::string line) {
    return line.replace(line.find("$a2:3, TAMP"), 5, "$azeros");
}

Lines fill_and_loop(const Pass& pass) {
    Lines lines;
    const auto result = [](unsigned bundle) {
        return std::string(bundle % 2 == 0 ? "$a4:5" : "$a6:7");
    };
    if (pass.adds) {
        const auto load = [](unsigned stride) {
            return fmt::format("ld2x64pace $a0:1, $a2:3, $m4:5+=, $mzero, {}", stride);
        };
        lines.push_back(load(1));
        for (unsigned bundle = 0; bundle < 10; ++bundle) {
            lines.push_back(fmt::format(
                "{{ {} ; {} }}", load(bundle < 3 ? 1 : 0),
                step(pass, bundle < 8 ? "$azeros" : result(bundle), bundle >= 4, bundle)));
        }
    } else {
        lines.push_back("ld64 $a0:1, $m0, $mzero, 0");
        for (unsigned bundle = 0; bundle < 6; ++bundle) {
            lines.push_back(
                fmt::format("{{ ld64 $a0:1, $m0, $mzero, {} ; {} }}", bundle + 1,
                            step(pass, bundle < 4 ? "$azeros" : result(bundle), true, bundle)));
        }
    }
    lines.push_back("rpt $m3, 3"); // at 4 modulo 8, as the single load in front has it
    for (unsigned bundle = 0; bundle < 4; ++bundle) {
        lines.push_back(fmt::format("{{ {}, {}, $m4:5+=, $mzero, 0 ; {} }}",
                                    pass.adds ? "ld2xst64pace $a0:3" : "ldst64pace $a0:1",
                                    result(bundle), step(pass, result(bundle), true, bundle + 2)));
    }
    return lines;
}

Lines drain(const Pass& pass) {
    Lines lines;
    const auto result = [](unsigned bundle) {
        return std::string(bundle % 2 == 0 ? "$a4:5" : "$a6:7");
    };
    // Steps that still have inputs and partials, and the loads for the steps behind them.
    const unsigned inputs = pass.adds ? 6 : 2;
    const unsigned partials = pass.adds ? 2 : 0;
    for (unsigned bundle = 0; bundle < inputs + 4; ++bundle) {
        std::string access = fmt::format("st64pace {}, $m4:5+=, $mzero, 0", result(bundle));
        if (bundle + 1 < partials) {
            access = fmt::format("ld2xst64pace $a0:3, {}, $m4:5+=, $mzero, 0", result(bundle));
        } else if (bundle + 1 < inputs) {
            access = fmt::format("ldst64pace $a0:1, {}, $m4:5+=, $mzero, 0", result(bundle));
        }
        std::string product = step(pass, result(bundle), bundle < inputs, bundle + 2);
        if (pass.adds && bundle >= partials) {
            product = without_partials(product);
        }
        lines.push_back(fmt::format("{{ {} ; {} }}", access, product));
    }
    for (unsigned bundle = 0; bundle < 2; ++bundle) {
        lines.push_back(fmt::format("st64pace {}, $m4:5+=, $mzero, 0", result(bundle)));
    }
    return lines;
}

Lines lines_of(const Pass& pass) {
    Lines lines = fill_and_loop(pass);
    const Lines tail = drain(pass);
    lines.insert(lines.end(), tail.begin(), tail.end());
    return lines;
}

/// Rows of inputs: those of the loop, and what is filled before and drained behind.
unsigned rows_of(const Pass& pass) {
    return pass.passes + (pass.adds ? 3 : 2);
}

std::string program_text(const Pass& pass, const Lines& lines) {
    std::string text =
        fmt::format(R"(
        .supervisor
        .globl start
        start:
            setzi $m0, {control}
            put $FP_ICTL, $m0
            setzi $m0, {weights}
            put $CCCSLOAD, $m0
    )",
                    fmt::arg("control", pass.fp_control), fmt::arg("weights", pass.weights));
    for (int i = 0; i < 64; ++i) {
        text += fmt::format("ld64putcs {}\n", i);
    }
    text += fmt::format(
        R"(
            setzi $m1, worker
            run $m1, $mzero, 0
            sync TEXCH_SYNCZONE_LOCAL
            br $lr
        .worker
        .align 8
        worker:
            setzi $a0, {clears}
            uput $FP_CLR, $a0
            setzi $m0, {x}
            setzi $m1, {partials}
            setzi $m2, {results}
            setzi $m3, {passes}
            setzi $m6, {weights}
            ld64 $a0:1, $m6, $mzero, 0
            ld64 $a2:3, $m6, $mzero, 1
            ld64 $a4:5, $m6, $mzero, 2
            ld64 $a6:7, $m6, $mzero, 3
            f32v2aop $a0:1, $azeros, 0
            add $m7, $m0, {ahead}
            tapack $m4:5, $m7, $m1, $m2
            .align 8
            {lines}
            setzi $m6, {saved}
            st64step $a0:1, $mzero, $m6+=, 1
            st64step $a2:3, $mzero, $m6+=, 1
            st64step $a4:5, $mzero, $m6+=, 1
            st64step $a6:7, $mzero, $m6+=, 1
            st32step $m4, $mzero, $m6+=, 1
            st32step $m5, $mzero, $m6+=, 1
            uget $a0, $FP_STS
            st32step $a0, $mzero, $m6+=, 1
            st32step $m3, $mzero, $m6+=, 1
    )",
        fmt::arg("clears", pass.clears ? 8 : 0), fmt::arg("x", pass.x),
        fmt::arg("partials", pass.partials), fmt::arg("results", pass.results),
        fmt::arg("passes", pass.passes), fmt::arg("weights", pass.weights),
        fmt::arg("ahead", pass.adds ? 0 : 56), fmt::arg("saved", pass.saved),
        fmt::arg("lines", fmt::join(lines, "\n")));
    for (int bank = 0; bank < 4; ++bank) {
        for (int pair = 0; pair < 4; ++pair) {
            text += fmt::format("f32v2gina $a0:1, $azeros, {}\nst64step $a0:1, $mzero, $m6+=, 1\n",
                                bank);
        }
    }
    return text + "exitz $mzero\n";
}

std::size_t passes_found(const test::AssembledTile& tile) {
    const program::Codelet& codelet = tile.codelets().front();
    const isa::DecodedProgram program =
        isa::decode_program(codelet.words, codelet.address, isa::kDefaultTarget);
    return program.matrix_passes.size();
}

/// Data that a run starts from: a share of the halves is any pattern.
struct Data {
    unsigned seed = 1;
    int special_percent = 0;
};

/// Memory from one address on, filled with halves.
void fill(test::AssembledTile& tile, Address first, Address end, const Data& data) {
    std::mt19937 random(data.seed);
    std::vector<std::uint16_t> halves((end - first) / 2);
    for (auto& half : halves) {
        const auto draw = random();
        half = static_cast<int>(draw % 100) < data.special_percent
                   ? static_cast<std::uint16_t>(draw >> 16U)
                   : f32_to_f16(static_cast<float>(static_cast<int>(draw >> 8U) % 33 - 16) / 16.0F);
    }
    tile.write(first, halves);
}

struct Outcome {
    std::string end; ///< cycles and bundles, or the fault
    std::vector<std::uint32_t> memory;
    bool operator==(const Outcome&) const = default;
};

/// A small machine: two regions of eight elements of 1 KiB, code in the first four.
spec::MachineSpec small_machine() {
    spec::MachineSpec machine;
    machine.memory.base = 0x7c000;
    machine.memory.region0_bytes = 0x2000;
    machine.memory.region1_bytes = 0x4000;
    machine.memory.element_bytes = 1024;
    return machine;
}
constexpr Address kBegin = 0x7c000;
constexpr Address kData = kBegin + 0x1000;
constexpr Address kRegion1 = kBegin + 0x2000;
constexpr Address kEnd = kBegin + 0x6000;

Outcome run(const std::string& text, const Data& data, const isa::Engine& engine, bool at_once,
            const spec::MachineSpec& machine = small_machine()) {
    test::AssembledTile tile(text, machine);
    fill(tile, kData, kEnd, data);
    tile.core().set_engine(engine);
    tile.core().set_rows_at_once(at_once);
    Outcome outcome;
    try {
        const auto done = tile.run();
        outcome.end = fmt::format("{} cycles, {} bundles, {} steps", done.cycles,
                                  done.counts.worker_bundles(), done.counts.matrix_steps());
    } catch (const tile::TileFault& fault) {
        outcome.end = fault.what();
        return outcome; // what a fault leaves in memory is not defined
    }
    outcome.memory = tile.read<std::uint32_t>(kData, (kEnd - kData) / 4);
    return outcome;
}

void check_equal(const std::string& text, const Data& data) {
    const Outcome expected = run(text, data, isa::engines().front(), false);
    for (const isa::Engine& engine : isa::engines()) {
        INFO(engine.name);
        const Outcome found = run(text, data, engine, true);
        CHECK(found.end == expected.end);
        CHECK((found.memory == expected.memory));
    }
}

/// Streams apart from each other: no two in one pair of elements.
Pass apart(Pass pass) {
    pass.x = kRegion1;
    pass.partials = kRegion1 + 0x800;
    pass.results = kRegion1 + 0x1000;
    pass.weights = kRegion1 + 0x2000;
    pass.saved = kEnd - 0x200;
    return pass;
}

} // namespace

TEST_CASE("a pass at once leaves what bundle after bundle leaves", "[unit][tile]") {
    unsigned seed = 1;
    for (const bool half : {true, false}) {
        for (const bool adds : {true, false}) {
            for (const bool clears : {true, false}) {
                for (const unsigned passes : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 9U, 30U}) {
                    for (const int special_percent : {0, 1, 10}) {
                        CAPTURE(half, adds, clears, passes, special_percent);
                        const Pass pass =
                            apart({.half = half, .adds = adds, .passes = passes, .clears = clears});
                        const std::string text = program_text(pass, lines_of(pass));
                        REQUIRE(passes_found(test::AssembledTile(text, small_machine())) == 1);
                        check_equal(text, {seed++, special_percent});
                    }
                }
            }
        }
    }
}

TEST_CASE("the decoder tells what a pass does", "[unit][tile]") {
    for (const bool adds : {true, false}) {
        const Pass pass = apart({.adds = adds});
        const test::AssembledTile tile(program_text(pass, lines_of(pass)), small_machine());
        const program::Codelet& codelet = tile.codelets().front();
        const isa::DecodedProgram decoded =
            isa::decode_program(codelet.words, codelet.address, isa::kDefaultTarget);
        REQUIRE(decoded.matrix_passes.size() == 1);
        const isa::MatrixPass& found = decoded.matrix_passes.front();
        CHECK(found.reads_partials == adds);
        CHECK(found.row_in_front == adds);
        CHECK(found.more_rows == rows_of(pass) - pass.passes);
        CHECK(found.inputs_ahead == (adds ? 0 : 7));
        CHECK(found.directs.size() == (adds ? 0 : 7));
        const auto& end = decoded.operations[static_cast<std::size_t>(found.end)];
        CHECK(end.code == static_cast<std::uint16_t>(isa::Opcode::setzi_m));
    }
}

TEST_CASE("a pass keeps to FP_CTL", "[unit][tile]") {
    unsigned seed = 500;
    for (const int control : {0x1, 0x2, 0x4, 0x40, 0x80, 0x100, 0x180}) {
        for (const bool adds : {true, false}) {
            for (const int special_percent : {0, 5}) {
                const Pass pass = apart({.adds = adds, .fp_control = control, .clears = false});
                CAPTURE(control, adds, special_percent);
                check_equal(program_text(pass, lines_of(pass)), {seed++, special_percent});
            }
        }
    }
}

TEST_CASE("a pass beyond the limit of a phase is stopped where bundles are", "[unit][tile]") {
    spec::MachineSpec machine = small_machine();
    for (const bool adds : {true, false}) {
        const Pass pass = apart({.adds = adds, .passes = 30});
        const std::string text = program_text(pass, lines_of(pass));
        int stopped = 0;
        int ended = 0;
        // A worker counts its issues from where the code begins: 120 of the loop, less those of code in front.
        for (std::int64_t issues = 16; issues < 130; ++issues) {
            CAPTURE(adds, issues);
            machine.tile.phase_limit_cycles = issues * machine.tile.round_cycles();
            const isa::Engine& engine = isa::engines().back();
            const Outcome bundles = run(text, {}, engine, false, machine);
            CHECK(run(text, {}, engine, true, machine).end == bundles.end);
            const bool is_stopped = bundles.end.find("worker has not exited") != std::string::npos;
            (is_stopped ? stopped : ended) += 1;
        }
        CHECK(stopped > 0);
        CHECK(ended > 0);
    }
}

TEST_CASE("passes anywhere in memory end alike", "[unit][tile]") {
    int faults = 0;
    int ended = 0;
    for (unsigned seed = 0; seed < 500; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&random](unsigned limit) {
            return static_cast<unsigned>(random() % limit);
        };
        // near a border of elements, some words to either side
        const auto somewhere = [&](Address first) {
            const unsigned elements = (kEnd - first) / 1024;
            return first + 1024 * (1 + below(elements)) + 8 * below(20) - 8 * below(40);
        };
        Pass pass = apart({.half = below(2) == 0, .adds = below(2) == 0, .passes = below(9)});
        pass.x = below(3) == 0 ? somewhere(kData - 0x800) : somewhere(kRegion1);
        pass.partials = below(8) == 0 ? somewhere(kData) : somewhere(kRegion1);
        // mostly in place, as products have it, or near by
        pass.results = below(4) == 0 ? somewhere(kRegion1) : pass.partials + 8 * below(3) - 8;
        pass.weights = kRegion1 + 0x40;
        CAPTURE(seed, pass.half, pass.adds, pass.passes, pass.x - kBegin, pass.partials - kBegin,
                pass.results - kBegin);
        const std::string text = program_text(pass, lines_of(pass));
        check_equal(text, {seed, 0});
        const bool faulted =
            run(text, {seed, 0}, isa::engines().front(), true).end.starts_with("tile");
        (faulted ? faults : ended) += 1;
    }
    CHECK(ended > 50);
    CHECK(faults > 50);
}

TEST_CASE("code that is nearly a pass is taken for what it is", "[unit][tile]") {
    std::size_t still_passes = 0;
    std::size_t no_passes = 0;
    for (unsigned seed = 0; seed < 700; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&random](std::size_t limit) { return random() % limit; };
        const Pass pass = apart({.half = below(2) == 0, .adds = below(2) == 0, .clears = false});
        Lines lines = lines_of(pass);
        const std::size_t changes = 1 + below(2);
        for (std::size_t change = 0; change < changes; ++change) {
            const std::size_t at = below(lines.size());
            std::string& line = lines[at];
            const auto replace = [&line, &below](const std::string& from, Lines to) {
                if (const auto found = line.find(from); found != std::string::npos) {
                    line.replace(found, from.size(), to[below(to.size())]);
                }
            };
            switch (below(9)) {
            case 0:
                lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
                break;
            case 1:
                lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), line);
                break;
            case 2:
                std::swap(line, lines[below(lines.size())]);
                break;
            case 3:
                replace("$mzero", {"$m3", "$m15", "$m0"});
                break;
            case 4:
                replace(", 0 ", {", 1 ", ", 2 ", ", 4 "});
                break;
            case 5:
                replace("$a0:1, $a", {"$a6:7, $a", "$a4:5, $a", "$azeros, $a"});
                break;
            case 6:
                replace("$a4:5", {"$a6:7", "$a2:3"});
                break;
            case 7:
                replace("_P", {"_P1", "_P2", "_P3"});
                break;
            default:
                replace("$azeros", {"$a0:1", "$a6:7"});
                break;
            }
        }
        const std::string text = program_text(pass, lines);
        std::size_t found = 0;
        try {
            found = passes_found(test::AssembledTile(text, small_machine()));
        } catch (const std::exception&) {
            continue; // no program
        }
        CAPTURE(seed, fmt::format("{}", fmt::join(lines, "\n")));
        check_equal(text, {seed, 1});
        (found == 1 ? still_passes : no_passes) += 1;
    }
    CHECK(still_passes > 20);
    CHECK(no_passes > 200);
}
