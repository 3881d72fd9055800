// SPDX-License-Identifier: MIT
#include "sim/vertex/run.h"

#include "base/error.h"
#include "models/isa/engine.h"
#include "models/isa/wait_loops.h"
#include "sim/vertex/code_text.h"
#include "sim/vertex/counter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

namespace tessera::vertex {
namespace {

std::vector<WorkerRun> worker_runs(const Bench& bench, Cycles round,
                                   const std::vector<tile::ContextSpan>& spans,
                                   const std::vector<std::size_t>& launch_of_run) {
    std::vector<WorkerRun> runs;
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const tile::ContextSpan& span = spans[i];
        runs.push_back({span.context, launch_of_run[i], symbol_text(bench, span.entry), span.begin,
                        span.end, span.end - span.begin - 1 + round});
    }
    return runs;
}

/// The runs of one launch together.
Launch launch_of(std::span<const WorkerRun> runs) {
    Launch launch;
    launch.begin = runs.front().begin;
    std::map<int, Cycles> cycles;
    std::vector<std::string> entries;
    for (const WorkerRun& run : runs) {
        cycles[run.worker] += run.cycles;
        launch.begin = std::min(launch.begin, run.begin);
        launch.end = std::max(launch.end, run.end);
        launch.cycles = std::max(launch.cycles, cycles[run.worker]);
        if (std::find(entries.begin(), entries.end(), run.entry) == entries.end()) {
            entries.push_back(run.entry);
        }
    }
    launch.workers = static_cast<int>(cycles.size());
    launch.entry = fmt::format("{}", fmt::join(entries, ", "));
    return launch;
}

std::vector<Launch> launches_of(const std::vector<WorkerRun>& runs) {
    std::vector<Launch> launches;
    for (std::size_t first = 0; first < runs.size();) {
        std::size_t end = first;
        while (end < runs.size() && runs[end].launch == runs[first].launch) {
            ++end;
        }
        launches.push_back(launch_of(std::span(runs).subspan(first, end - first)));
        first = end;
    }
    return launches;
}

/// A tile of either model with its memory, loaded, with the scratch of its workers set.
template <class Tile> class LoadedTile {
public:
    template <class... Options>
    LoadedTile(const spec::MachineSpec& machine, const Bench& bench, Options... options)
        : memory_(static_cast<std::size_t>(machine.memory.bytes()) / 8), code_(bench.codelets),
          tile_(machine, 0, reinterpret_cast<std::byte*>(memory_.data()), options...) {
        tile_.load(bench.image, code_);
        static_cast<void>(tile_.run(bench.setup));
    }
    Tile& operator*() { return tile_; }
    Tile* operator->() { return &tile_; }
    [[nodiscard]] const std::vector<std::uint64_t>& memory() const { return memory_; }

private:
    std::vector<std::uint64_t> memory_;
    tile::CodeCache code_;
    Tile tile_;
};

template <class Tile> void read_arrays(Tile& tile, const Bench& bench, PointResult& result) {
    for (const auto& array : bench.arrays) {
        const auto bytes = tile.memory(array.address, array.bytes);
        result.arrays.emplace_back(bytes.begin(), bytes.end());
    }
}

/// A fault of the supervisor outside the sources: what a vertex left undone shows there.
bool is_of_stub(const Bench& bench, const tile::TileFault& fault) {
    const tile::Fault& found = fault.fault();
    return found.context < 0 && !found.not_modelled && source_line(bench, found.address) == "stub";
}

/// Sets what the first call of a phase is to find.
template <class Tile>
void set_registers(Tile& tile, const spec::MachineSpec& machine, const BenchPhase& phase) {
    const Kind kind = phase.calls.front().kind;
    const int first = kind == Kind::Supervisor ? -1 : 0;
    const int end = kind == Kind::MultiWorker ? static_cast<int>(machine.tile.workers) : first + 1;
    for (int context = first; context < end; ++context) {
        for (const InitialRegister& given : phase.registers) {
            tile.set_register(context, given.place, given.value);
        }
    }
}

using Memory = std::vector<std::uint64_t>;

/// What a run one context after the other came to.
struct OtherOrder {
    std::vector<Cycles> cycles; ///< of each phase that ended
    Memory memory;
    std::optional<tile::TileFault> fault;
};

OtherOrder run_fast(LoadedTile<tile::TileCore>& fast, const spec::MachineSpec& machine,
                    const Bench& bench) {
    OtherOrder done;
    try {
        for (const BenchPhase& phase : bench.phases) {
            set_registers(*fast, machine, phase);
            done.cycles.push_back(fast->run(phase.stub).cycles);
        }
    } catch (const tile::TileFault& fault) {
        done.fault = fault;
    }
    done.memory = fast.memory();
    return done;
}

PhaseResult run_observed(LoadedTile<tile::LockstepTile>& observed, const spec::MachineSpec& machine,
                         const Bench& bench, const BenchPhase& phase, Counter& counter) {
    PhaseResult done;
    std::vector<tile::ContextSpan> spans;
    set_registers(*observed, machine, phase);
    try {
        done.outcome = observed->run(phase.stub, &spans);
    } catch (const tile::TileFault& fault) {
        if (is_of_stub(bench, fault)) {
            throw ProgramError(counter.watch().culprit() + fault.what());
        }
        throw;
    }
    counter.watch().end_phase();
    done.workers = worker_runs(bench, machine.tile.round_cycles(), spans, counter.launch_of_run());
    done.launches = launches_of(done.workers);
    done.races.assign(observed->races().begin(), observed->races().end());
    done.racing_accesses = observed->racing_accesses();
    done.unused_reads = observed->unused_reads();
    done.conflicts.assign(observed->conflicts().begin(), observed->conflicts().end());
    done.conflicts_found = observed->conflicts_found();
    return done;
}

/// Throws where two runs that must be the same are not.
void check_same(const std::string& what, const OtherOrder& one, const OtherOrder& other) {
    for (std::size_t i = 0; i < one.cycles.size(); ++i) {
        if (one.cycles[i] != other.cycles[i]) {
            throw std::logic_error(fmt::format("{} differ in phase {}: {} and {} cycles", what, i,
                                               one.cycles[i], other.cycles[i]));
        }
    }
    if (one.memory != other.memory) {
        throw std::logic_error(what + " leave different memory");
    }
}

OrderEffect effect_of(const spec::MachineSpec& machine, const OtherOrder& other,
                      const Memory& memory) {
    OrderEffect effect;
    if (other.fault) {
        effect.other_fault = other.fault->fault().reason;
        return effect;
    }
    effect.other_cycles = std::accumulate(other.cycles.begin(), other.cycles.end(), Cycles{0});
    for (std::size_t i = memory.size(); i-- > 0;) {
        const std::uint64_t differing = memory[i] ^ other.memory[i];
        const bool low = (differing & 0xffffffffU) != 0;
        effect.words += (low ? 1 : 0) + (differing >> 32U != 0 ? 1 : 0);
        if (differing != 0) {
            effect.first_word =
                static_cast<Address>(machine.memory.region0_begin() + 8 * i + (low ? 0U : 4U));
        }
    }
    return effect;
}

/// With races, the fast tile against the same order of contexts on the portable engine, one bundle
/// at a time.
void check_order_of_fast(const spec::MachineSpec& machine, const Bench& bench,
                         const OtherOrder& fast) {
    LoadedTile<tile::TileCore> slow(machine, bench);
    slow->set_engine(isa::engines().front());
    slow->set_rows_at_once(false);
    check_same("the engines of the tile", fast, run_fast(slow, machine, bench));
}

/// The machine as the lock-step tile has it, which takes long.
spec::MachineSpec limited(const spec::MachineSpec& machine, Cycles limit) {
    spec::MachineSpec shorter = machine;
    shorter.tile.phase_limit_cycles = std::min(machine.tile.phase_limit_cycles, limit);
    return shorter;
}

/// A fault of the lock-step tile, or what says more: the fault of the fast one where that has gone
/// further, or the limit that was met.
[[noreturn]] void fail(const tile::TileFault& found, const std::optional<tile::TileFault>& of_fast,
                       const spec::MachineSpec& machine, const Bench& bench,
                       const RunSettings& settings) {
    check_defined(bench, found.fault().address);
    if (!found.fault().endless) {
        throw found;
    }
    if (of_fast) {
        throw *of_fast;
    }
    if (settings.lockstep_limit_cycles < machine.tile.phase_limit_cycles &&
        found.fault().cycle >= settings.lockstep_limit_cycles - machine.tile.round_cycles()) {
        throw ProgramError(fmt::format("got a phase of more than {} cycles, the limit up to which "
                                       "one is followed slot by slot; --lockstep-limit gives "
                                       "another",
                                       settings.lockstep_limit_cycles));
    }
    throw found;
}

class BothOrders {
public:
    BothOrders(const spec::MachineSpec& machine, const Bench& bench, const RunSettings& settings)
        : machine_(machine), bench_(bench), settings_(settings),
          limited_(limited(machine, settings.lockstep_limit_cycles)) {}

    PointResult run() {
        if (!settings_.lockstep_only && bench_.synchronising.empty()) {
            const program::Codelet& code = bench_.codelets.front();
            // else the fast tile may have to go slot by slot itself
            const bool is_fast = isa::wait_loops(code.words, code.address).empty();
            LoadedTile<tile::TileCore> fast(is_fast ? machine_ : limited_, bench_);
            other_ = run_fast(fast, machine_, bench_);
        }
        follow();
        if (!other_) {
            return std::move(result_);
        }
        if (races_) {
            if (!other_->fault) {
                check_order_of_fast(machine_, bench_, *other_);
            }
            result_.order = effect_of(machine_, *other_, followed_.memory);
        } else if (other_->fault) {
            throw *other_->fault;
        } else {
            check_same("the two models of the tile", *other_, followed_);
        }
        return std::move(result_);
    }

private:
    void follow() {
        tile::LockstepOptions options;
        options.end_standstills = true;
        options.on_conflict =
            settings_.lockstep_only ? tile::OnConflict::Record : tile::OnConflict::Fault;
        LoadedTile<tile::LockstepTile> observed(limited_, bench_, options);
        for (const auto& [address, bytes] : bench_.synchronising) {
            observed->synchronise_by(address, bytes);
        }
        const Cycles expected =
            other_ && !other_->fault
                ? std::accumulate(other_->cycles.begin(), other_->cycles.end(), Cycles{0})
                : 0;
        Counter counter(bench_, *observed, machine_.tile.round_cycles(), settings_.keep_log,
                        expected);
        observed->set_observer(&counter);
        try {
            for (const BenchPhase& phase : bench_.phases) {
                counter.begin_phase(phase, result_.tile_cycles);
                take(run_observed(observed, machine_, bench_, phase, counter));
            }
        } catch (const tile::TileFault& fault) {
            fail(fault, other_ ? other_->fault : std::nullopt, machine_, bench_, settings_);
        }
        counter.finish(result_);
        read_arrays(*observed, bench_, result_);
        followed_.memory = observed.memory();
    }
    void take(PhaseResult done) {
        races_ = races_ || done.racing_accesses > 0;
        for (const Launch& launch : done.launches) {
            result_.worker_cycles += launch.cycles;
        }
        followed_.cycles.push_back(done.outcome.cycles);
        result_.tile_cycles += done.outcome.cycles;
        result_.phases.push_back(std::move(done));
    }

    const spec::MachineSpec& machine_;
    const Bench& bench_;
    const RunSettings& settings_;
    spec::MachineSpec limited_;
    std::optional<OtherOrder> other_;
    OtherOrder followed_;
    bool races_ = false;
    PointResult result_;
};

} // namespace

PointResult run_bench(const spec::MachineSpec& machine, const Bench& bench,
                      const RunSettings& settings) {
    try {
        return BothOrders(machine, bench, settings).run();
    } catch (const tile::TileFault& fault) {
        if (fault.fault().not_modelled) {
            throw NotModelled(fault.what());
        }
        throw ProgramError(fault.what());
    }
}

} // namespace tessera::vertex
