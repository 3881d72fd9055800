// SPDX-License-Identifier: MIT
// What TileCore and LockstepTile have in common: a tile's state and what its supervisor's
// instructions do. They differ in how time passes: virtual functions. Only the .cpp files of this
// folder include it.
#pragma once

#include "models/isa/context.h"
#include "models/isa/engine.h"
#include "models/isa/jump_log.h"
#include "models/tile/core/supervisor_registers.h"
#include "models/tile/core/tile_classes.h"
#include "models/tile/core/tile_core.h"
#include "models/tile/core/worker_slots.h"

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace tessera::tile {

/// When the slot of a worker that has not exited is free.
inline constexpr Cycles kNever = std::numeric_limits<Cycles>::max() / 2;

struct Section;
struct SectionDraft;

struct TileCore::Implementation {
    Implementation(const spec::MachineSpec& machine, TileId tile_id, std::byte* bytes);
    virtual ~Implementation() = default;
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    void attach(isa::Context& context) {
        context.machine = &machine_target;
        context.memory = &memory;
        context.weights = &weights;
    }

    void load(const program::Image& image, CodeCache& cache);
    /// Gives `programs` to the contexts and their logs.
    void take_programs();
    [[nodiscard]] const isa::Context& context(int number) const;
    void set_register(int number, unsigned place, std::uint32_t value);
    [[nodiscard]] std::span<std::byte> bytes_at(Address address, Bytes bytes) const;
    ComputeOutcome run(Address stub, std::vector<ContextSpan>* spans);
    virtual ComputeOutcome run_phase(Address stub, std::vector<ContextSpan>* to) {
        return run(stub, to);
    }
    /// `run` of this, or slot by slot from the start where contexts wait for each other. Then `run` is
    /// called again, and what it has done but for the tile's state is its own to take back.
    template <class Run> void run_in_order(Address stub, const Run& run);
    ComputeOutcome run_ordered(Address stub, std::vector<ContextSpan>* to);
    /// The same tile on the lock-step model, without races (lockstep.cpp).
    static std::unique_ptr<Implementation> make_slot_by_slot(const spec::MachineSpec& machine,
                                                             TileId tile, std::byte* bytes);
    void take_code_from(const Implementation& other);
    void take_state_from(const Implementation& other);
    /// In timing mode: the outcome of a tile that did the same, or by running what is known.
    ComputeOutcome run_known(Address stub, std::vector<ContextSpan>* spans,
                             std::span<const program::Vertex> vertices);
    void run_shadow(Address stub, isa::ShadowMemory& shadow, PhaseResult& result);
    void take_over(const PhaseResult& result);
    /// What timing mode has to know of an operation that the tile carries out.
    void check_known(const isa::MicroOperation& op);
    // Sections of the supervisor's way (section_classes.h), in timing mode.

    /// The supervisor is behind a taken branch back, or into other code. Where it goes on: behind the section if another one
    /// did the same.
    const isa::MicroOperation* begin_section(const isa::MicroOperation* op);
    /// Nothing is under way: no worker, no result.
    [[nodiscard]] bool is_at_rest() const;
    [[nodiscard]] bool may_begin_section() const;
    [[nodiscard]] std::uint64_t section_hash(const isa::MicroOperation* op) const;
    [[nodiscard]] bool begins_as(const Section& section, const isa::MicroOperation* op) const;
    bool pass_time_of(const Section& section);
    bool take_over_time_of(const Section& section);
    void take_over(const Section& section);
    void record_section(const isa::MicroOperation* op, std::uint64_t hash);
    void note_loads(const isa::MicroOperation& op);
    void note_step(const isa::MicroOperation& op);
    void note_issues(std::int64_t issues);
    void hide_registers(std::size_t number, Address entry);
    void show_registers(std::size_t number);
    void end_section(const isa::MicroOperation* next);
    void end_draft();
    void drop_section();

    /// In timing mode: the vertex with this entry and state runs, if there is one.
    void take_up_vertex(Address entry, Address state);

    /// The supervisor's instructions until it returns; sets outcome.cycles.
    virtual void supervise();
    /// Takes up a worker whose registers and `start_cycle` are set.
    virtual void start(std::size_t number);
    /// To its exit.
    void run_worker(isa::Context& worker);
    /// The supervisor goes on when no worker is active.
    virtual void wait_for_workers();
    /// The supervisor comes to a wait loop.
    virtual void await(const isa::MicroOperation& op);

    /// The operation that comes next: past what takes no time.
    [[nodiscard]] const isa::MicroOperation* settle(const isa::MicroOperation* op);
    void note_results(const isa::MicroOperation& op, Cycles issue);
    void check_phase_limit(const isa::MicroOperation& op, Cycles issue) const;
    const isa::MicroOperation* jump(Address target, const isa::MicroOperation* from);
    [[nodiscard]] Cycles earliest_issue(const isa::MicroOperation& op) const;
    [[nodiscard]] bool in_fetch_window(const isa::MicroOperation& op, std::uint32_t offset) const;
    bool conflict_goes_on(Address address);
    void supervisor_operation(const isa::MicroOperation& op, Cycles issue);
    [[nodiscard]] std::uint32_t get(const isa::MicroOperation& op, Cycles issue) const;
    void put(const isa::MicroOperation& op, Cycles issue);
    void zero_weights(const isa::MicroOperation& op, Cycles issue);
    void check_launch(const isa::MicroOperation& op, Address vertex_base) const;
    void load_weights(const isa::MicroOperation& op, Cycles issue, unsigned registers);
    std::size_t load_weights_at_once(const isa::MicroOperation& op, Cycles issue);
    void launch(const isa::MicroOperation& op, std::size_t number, Address vertex_base,
                Cycles issue);
    /// When a worker that is launched in this clock issues for the first time.
    [[nodiscard]] Cycles first_issue_of(std::size_t number, Cycles launched) const {
        const Cycles earliest = launched + spec->tile.pipeline_cycles;
        return earliest + ((static_cast<Cycles>(number) - earliest) % round + round) % round;
    }
    /// Counts issues of a worker that has exited to the launch.
    void exited(std::size_t number, std::int64_t issues);
    /// Counts the launch that ends here, if any worker was started since the last one ended.
    void end_launch();
    void launch_all(const isa::MicroOperation& op, Address vertex_base, Address stride,
                    Cycles issue);
    /// The supervisor is behind a taken branch.
    void leave(const isa::MicroOperation& op) {
        ++supervisor.jumps[supervisor.program->jump_of(op) + isa::kLeave];
    }
    /// Into the outcome, from the logs of jumps.
    void count_instructions();
    [[nodiscard]] Fault report_of(const isa::Context& context, const isa::ExecutionFault& fault,
                                  Cycles cycle) const;
    [[noreturn]] void fault_of(const isa::Context& context, const isa::ExecutionFault& fault,
                               Cycles cycle) const;

    const spec::MachineSpec* spec;
    isa::Target machine_target;
    const isa::Engine* engine = &isa::engine();
    TileId tile;
    Cycles round; ///< slots of a round
    isa::MemoryView memory;
    isa::WeightStore weights;
    isa::Context supervisor;
    std::vector<isa::Context> workers;
    std::vector<const isa::DecodedProgram*> programs;
    isa::JumpLog supervisor_jumps;
    isa::JumpLog worker_jumps;
    CodeCache* code = nullptr;
    Address stack_end = 0; ///< of the image's stack segment; 0 = a push faults

    SupervisorRegisters registers;

    bool has_wait_loops = false;                  ///< in its code
    std::unique_ptr<Implementation> slot_by_slot; ///< made for the first phase of such code
    std::vector<Address> met_in;                  ///< stubs of phases in which contexts have waited

    TimingMode* timing = nullptr; ///< null: with all data
    bool audited = false;
    std::span<const program::Vertex> vertices; ///< of the phase, in timing mode, if any scatters
    KnownFacts known_facts;                    ///< but for the registers
    std::uint32_t code_number = 0;
    std::uint32_t registers_number = 0;

    // the running phase
    Address phase_stub = 0;
    Cycles now = 0;                 ///< earliest next issue of the supervisor
    std::array<Cycles, 20> ready{}; ///< when each $m of the supervisor may be read
    Cycles weight_address_ready = 0;
    WorkerSlots slots;
    std::optional<Fault> worker_fault; ///< the first in time that is known of
    ComputeOutcome outcome;
    std::int64_t worker_issues = 0;
    std::vector<std::int64_t> launch_issues; ///< by worker, since the last sync
    std::vector<ContextSpan>* spans = nullptr;
    bool by_sections = false;        ///< of the phase, sections are looked for
    std::int64_t sections_begun = 0; ///< in the phase, by_sections or not
    SectionDraft* draft = nullptr;   ///< the section that is being recorded
};

} // namespace tessera::tile
