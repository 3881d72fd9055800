// SPDX-License-Identifier: MIT
#include "sim/vertex/run.h"

#include "base/error.h"
#include "models/isa/assembler.h"
#include "models/isa/engine.h"
#include "models/isa/instruction.h"
#include "models/program/source_place.h"
#include "sim/vertex/call_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

namespace tessera::vertex {
namespace {

/// The code words of the image at an address: one, or two of a bundle; none outside code.
std::vector<std::uint32_t> words_at(const Bench& bench, Address address) {
    for (const auto& segment : bench.image.segments) {
        const auto offset = static_cast<std::size_t>(address - segment.address);
        if (segment.kind != program::SegmentKind::Code || address < segment.address ||
            offset + 4 > segment.data->size()) {
            continue;
        }
        std::vector<std::uint32_t> words(1);
        std::memcpy(words.data(), segment.data->data() + offset, 4);
        if ((words.front() & isa::kBundleBit) != 0 && offset + 8 <= segment.data->size()) {
            words.resize(2);
            std::memcpy(&words[1], segment.data->data() + offset + 4, 4);
        }
        return words;
    }
    return {};
}

std::string class_of(const isa::Operation& operation) {
    const auto& spec = isa::spec_of(operation.opcode);
    const bool loads = (spec.flags & isa::kLoad) != 0;
    const bool stores = (spec.flags & isa::kStore) != 0;
    const auto holds = [&](std::string_view part) {
        return spec.mnemonic.find(part) != std::string_view::npos;
    };
    if (isa::is_nop(operation)) {
        return "nop";
    }
    if (loads || stores) {
        return loads && stores ? "load_store" : loads ? "load" : "store";
    }
    if ((spec.flags & isa::kControl) != 0) {
        return "control";
    }
    if ((spec.flags & (isa::kSystem | isa::kSupervisor)) != 0) {
        return "system";
    }
    if (spec.lane == isa::Lane::Main) {
        return "main_arithmetic";
    }
    return holds("amp") || holds("slic") ? "matrix"
           : holds("acc")                ? "accumulate"
                                         : "aux_arithmetic";
}

/// Counts by address; what the addresses mean is found out once at the end.
class Counter final : public tile::LockstepObserver {
public:
    Counter(const Bench& bench, const tile::LockstepTile& tile, Cycles round, bool keep_log)
        : bench_(bench), round_(round), keep_log_(keep_log),
          registers_(
              [&tile](int context) -> const isa::Context& { return tile.context(context); }) {}

    void issue(const tile::IssueRecord& record) override {
        Issues& issues = issues_[{record.context >= 0, record.address}];
        ++issues.instructions;
        issues.workers |= record.context < 0 ? 0U : 1U << static_cast<unsigned>(record.context);
        issues.turns += record.issues > 0 ? 1 : 0;
        if (keep_log_) {
            auto shifted = record;
            shifted.cycle += phase_begin_;
            log_->issue(shifted);
        }
        if (record.context < 0) {
            watch_.issued(record.address, registers_);
            is_open_ = is_open_ && !is_sync(record.address);
        }
    }
    void stall(const tile::StallRecord& record) override {
        const bool of_worker = record.context >= 0;
        stalls_[of_worker][static_cast<std::size_t>(record.reason)] += record.cycles;
        if (record.reason == tile::StallReason::Launch) {
            watch_.launched(record.context);
            launches_ += is_open_ ? 0 : 1;
            is_open_ = true;
            launch_of_run_.push_back(launches_ - 1);
        } else {
            line_stalls_[record.address] += record.cycles;
        }
        if (keep_log_) {
            auto shifted = record;
            shifted.begin += phase_begin_;
            log_->stall(shifted);
        }
    }
    /// Records of the next phase stand behind those of the phases before it.
    void begin_phase(const BenchPhase& phase, Cycles begin) {
        phase_begin_ = begin;
        watch_.begin_phase(phase);
        launches_ = 0;
        is_open_ = false;
        launch_of_run_.clear();
    }
    /// The launch of each run of a worker in this phase.
    [[nodiscard]] const std::vector<std::size_t>& launch_of_run() const { return launch_of_run_; }
    [[nodiscard]] const CallWatch& watch() const { return watch_; }

    void finish(PointResult& result) const {
        result.log = log_;
        result.warnings = watch_.warnings();
        std::map<std::string, CodeLine> lines;
        std::map<std::string, std::uint32_t> workers;
        for (const auto& [key, issues] : issues_) {
            const auto& [of_worker, address] = key;
            Activity& activity = of_worker ? result.workers : result.supervisor;
            const Cycles cycles = issues.turns * (of_worker ? round_ : 1);
            activity.issues += issues.instructions;
            activity.issue_cycles += cycles;
            CodeLine& line = lines[source_line(bench_, address)];
            line.issues += issues.instructions;
            line.cycles += cycles;
            workers[source_line(bench_, address)] |= issues.workers;
            count_instruction(result, address, issues.instructions, of_worker);
        }
        for (const auto& [address, cycles] : line_stalls_) {
            lines[source_line(bench_, address)].cycles += cycles;
        }
        for (std::size_t reason = 0; reason < tile::kStallReasonWords.size(); ++reason) {
            const std::string name(tile::kStallReasonWords[reason]);
            for (const bool of_worker : {false, true}) {
                if (const Cycles cycles = stalls_[of_worker][reason]; cycles > 0) {
                    (of_worker ? result.workers : result.supervisor).stall_cycles[name] = cycles;
                }
            }
        }
        for (auto& [source, line] : lines) {
            result.lines.push_back(
                {source, line.issues, line.cycles, std::popcount(workers[source])});
        }
        std::stable_sort(result.lines.begin(), result.lines.end(),
                         [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
    }

private:
    bool is_sync(Address address) {
        const auto [known, is_new] = is_sync_.try_emplace(address, false);
        if (is_new) {
            const auto words = words_at(bench_, address);
            known->second =
                !words.empty() && isa::decode(words.front()).opcode == isa::Opcode::sync;
        }
        return known->second;
    }
    void count_instruction(PointResult& result, Address address, std::int64_t times,
                           bool of_worker) const {
        bool main = false;
        bool aux = false;
        for (const std::uint32_t word : words_at(bench_, address)) {
            const isa::Operation operation = isa::decode(word);
            if (operation.opcode == isa::Opcode::kNone) {
                continue;
            }
            const bool nop = isa::is_nop(operation);
            const bool is_aux = isa::spec_of(operation.opcode).lane == isa::Lane::Aux;
            main = main || (!is_aux && !nop);
            aux = aux || (is_aux && !nop);
            result.by_mnemonic[std::string(isa::shown_mnemonic(operation))] += times;
            result.by_class[class_of(operation)] += times;
        }
        if (of_worker) {
            result.by_lane[main && aux ? "both" : main ? "main" : aux ? "aux" : "none"] += times;
        }
    }

    struct Issues {
        std::int64_t instructions = 0;
        std::int64_t turns = 0;    ///< less, where steps of the matrix unit share some
        std::uint32_t workers = 0; ///< a bit for each that ran it
    };

    const Bench& bench_;
    Cycles round_;
    bool keep_log_;
    std::map<std::pair<bool, Address>, Issues> issues_;
    std::map<Address, Cycles> line_stalls_;
    std::array<std::array<Cycles, tile::kStallReasonWords.size()>, 2> stalls_{};
    Cycles phase_begin_ = 0;
    std::map<Address, bool> is_sync_; ///< of instructions of the supervisor
    std::size_t launches_ = 0;        ///< of the phase
    bool is_open_ = false;            ///< the last launch goes on
    std::vector<std::size_t> launch_of_run_;
    CallWatch watch_;
    CallWatch::Registers registers_;
    std::shared_ptr<tile::LockstepLog> log_ = std::make_shared<tile::LockstepLog>();
};

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

/// The cycles of each phase. A fault of the stub ends it: the lock-step model says whose it is.
std::vector<Cycles> run_fast(LoadedTile<tile::TileCore>& fast, const spec::MachineSpec& machine,
                             const Bench& bench, std::optional<tile::TileFault>& fault_of_stub) {
    std::vector<Cycles> cycles;
    for (const BenchPhase& phase : bench.phases) {
        set_registers(*fast, machine, phase);
        try {
            cycles.push_back(fast->run(phase.stub).cycles);
        } catch (const tile::TileFault& fault) {
            if (!is_of_stub(bench, fault)) {
                throw;
            }
            fault_of_stub = fault;
            break;
        }
    }
    return cycles;
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

using Memory = std::vector<std::uint64_t>;

/// Throws where two runs that must be the same are not.
void check_same(const std::string& what, const std::vector<Cycles>& cycles, const Memory& memory,
                const std::vector<Cycles>& other_cycles, const Memory& other_memory) {
    for (std::size_t i = 0; i < cycles.size(); ++i) {
        if (cycles[i] != other_cycles[i]) {
            throw std::logic_error(fmt::format("{} differ in phase {}: {} and {} cycles", what, i,
                                               cycles[i], other_cycles[i]));
        }
    }
    if (memory != other_memory) {
        throw std::logic_error(what + " leave different memory");
    }
}

/// What the races of a run change: the two models take contexts in different orders.
std::string race_effect(const spec::MachineSpec& machine, const std::vector<Cycles>& cycles,
                        const Memory& memory, const std::vector<Cycles>& other_cycles,
                        const Memory& other_memory) {
    std::int64_t words = 0;
    std::size_t first = 0;
    for (std::size_t i = memory.size(); i-- > 0;) {
        const std::uint64_t differing = memory[i] ^ other_memory[i];
        words += ((differing & 0xffffffffU) != 0 ? 1 : 0) + (differing >> 32U != 0 ? 1 : 0);
        first = differing == 0 ? first : 2 * i + ((differing & 0xffffffffU) != 0 ? 0 : 1);
    }
    std::string text;
    if (words > 0) {
        text = fmt::format("{} words of memory, the first at {:#x}", words,
                           machine.memory.region0_begin() + 4 * first);
    }
    for (std::size_t i = 0; i < cycles.size(); ++i) {
        if (cycles[i] != other_cycles[i]) {
            text += fmt::format("{}the cycles of phase {}, {} or {}", text.empty() ? "" : "; ", i,
                                cycles[i], other_cycles[i]);
        }
    }
    return text.empty() ? text : "the order of contexts that race changes " + text;
}

/// With races, the fast tile against the same order of contexts on the portable engine, one bundle
/// at a time.
void check_order_of_fast(const spec::MachineSpec& machine, const Bench& bench,
                         const std::vector<Cycles>& cycles, const Memory& memory) {
    LoadedTile<tile::TileCore> slow(machine, bench);
    slow->set_engine(isa::engines().front());
    slow->set_rows_at_once(false);
    std::optional<tile::TileFault> fault_of_stub;
    const auto slow_cycles = run_fast(slow, machine, bench, fault_of_stub);
    check_same("the engines of the tile", cycles, memory, slow_cycles, slow.memory());
}

PointResult run_both(const spec::MachineSpec& machine, const Bench& bench,
                     const RunSettings& settings) {
    PointResult result;
    std::vector<Cycles> fast_cycles;
    std::optional<tile::TileFault> fault_of_stub; // the lock-step model says whose it is
    LoadedTile<tile::TileCore> fast(machine, bench);
    if (!settings.lockstep_only) {
        fast_cycles = run_fast(fast, machine, bench, fault_of_stub);
    }
    tile::LockstepOptions options;
    options.on_conflict =
        settings.lockstep_only ? tile::OnConflict::Record : tile::OnConflict::Fault;
    LoadedTile<tile::LockstepTile> observed(machine, bench, options);
    Counter counter(bench, *observed, machine.tile.round_cycles(), settings.keep_log);
    observed->set_observer(&counter);
    std::vector<Cycles> cycles;
    bool races = false;
    for (const BenchPhase& phase : bench.phases) {
        counter.begin_phase(phase, result.tile_cycles);
        PhaseResult done = run_observed(observed, machine, bench, phase, counter);
        races = races || done.racing_accesses > 0;
        for (const Launch& launch : done.launches) {
            result.worker_cycles += launch.cycles;
        }
        cycles.push_back(done.outcome.cycles);
        result.tile_cycles += done.outcome.cycles;
        result.phases.push_back(std::move(done));
    }
    if (fault_of_stub) {
        throw tile::TileFault(*fault_of_stub);
    }
    counter.finish(result);
    if (settings.lockstep_only) {
        read_arrays(*observed, bench, result);
        return result;
    }
    read_arrays(*fast, bench, result);
    if (!races) {
        check_same("the two models of the tile", fast_cycles, fast.memory(), cycles,
                   observed.memory());
        return result;
    }
    check_order_of_fast(machine, bench, fast_cycles, fast.memory());
    const std::string effect =
        race_effect(machine, fast_cycles, fast.memory(), cycles, observed.memory());
    if (!effect.empty()) {
        result.warnings.push_back(effect);
    }
    return result;
}

} // namespace

PointResult run_bench(const spec::MachineSpec& machine, const Bench& bench,
                      const RunSettings& settings) {
    try {
        return run_both(machine, bench, settings);
    } catch (const tile::TileFault& fault) {
        if (fault.fault().not_modelled) {
            throw NotModelled(fault.what());
        }
        throw ProgramError(fault.what());
    }
}

std::string instruction_text(const Bench& bench, Address address) {
    const auto words = words_at(bench, address);
    return words.empty() ? std::string{} : isa::disassemble(words, address).front().text;
}

std::string source_line(const Bench& bench, Address address) {
    const program::Codelet& codelet = bench.codelets.front();
    if (address < codelet.address || address - codelet.address >= codelet.words.size() * 4) {
        return "stub";
    }
    const std::string place = program::source_place(codelet, address);
    return place.empty() ? fmt::format("{:#x}", address) : place;
}

std::string symbol_text(const Bench& bench, Address address) {
    std::string best;
    Address best_address = 0;
    for (const auto& [name, at] : bench.codelets.front().symbols) {
        if (at <= address && (best.empty() || at > best_address)) {
            best = name;
            best_address = at;
        }
    }
    if (best.empty()) {
        return fmt::format("{:#x}", address);
    }
    return address == best_address ? best : fmt::format("{}+{:#x}", best, address - best_address);
}

} // namespace tessera::vertex
