// SPDX-License-Identifier: MIT
// One run of chips side by side with SystemC out of sight, each accounted for and held to the laws. They
// have nothing to do with each other, or are the chips of a system. SystemC elaborates once a process:
// so does this.
//
// Contract:
// - Inside sc_main: construct, write() the operands, run() once, read() the results.
// - Nothing depends on the number of host threads, on the listeners or on the order of what happens
//   in one cycle but the time that it takes.
#pragma once

#include "models/events/link_events.h"
#include "models/ipu/run_options.h"
#include "models/listeners/account.h"
#include "models/program/array_id.h"
#include "models/program/program.h"
#include "models/program/system_program.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tessera::simulation {

/// A chip of a simulation. What is referred to outlives the simulation.
struct Chip {
    const spec::MachineSpec& spec;
    const program::Program& program;
    ipu::RunOptions options; ///< `chip` follows from the place in the list
};

/// What went over an edge between two chips.
struct EdgeRecord {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t links = 1;
    Bytes payload_bytes = 0;
    Bytes bytes = 0;               ///< with what packets have besides
    Cycles busy_cycles = 0;        ///< of all its links together
    std::int64_t most_waiting = 0; ///< packets
};

/// What began to go over an edge in [begin, end).
struct EdgePart {
    std::int64_t from = 0;
    std::int64_t to = 0;
    Cycles begin = 0;
    Cycles end = 0;
    Bytes payload_bytes = 0;
    Bytes bytes = 0; ///< with what packets have besides
};

class Simulation {
public:
    /// Elaborates the chips `ipu_0`, `ipu_1` .. and loads their images. @throws ProgramError
    explicit Simulation(std::vector<Chip> chips);
    /// The same of one chip.
    Simulation(const spec::MachineSpec& spec, const program::Program& program,
               ipu::RunOptions options);
    /// The chips of a system; `options` are by chip. @throws ProgramError also as program::bind() and
    /// program::check_meetings().
    Simulation(const spec::MachineSpec& spec, const program::SystemProgram& system,
               std::vector<ipu::RunOptions> options);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// The row-major array of a tensor of the program, or all rows of a remote buffer. In timing mode
    /// those that are known are all that the run looks at. @throws ProgramError if the size is wrong.
    void write(program::ArrayId array, std::span<const std::byte> host, std::size_t chip = 0);
    [[nodiscard]] std::vector<std::byte> read(program::ArrayId array, std::size_t chip = 0) const;
    /// Gathers the pieces of `part`, which need not be all of a tensor's, into a row-major array of
    /// its shape. May be called on several threads. @throws as read()
    void read_part(const program::Tensor& part, std::span<std::byte> host,
                   std::size_t chip = 0) const;

    /// Before run(), of a system: `listener`, where there is one, hears what goes between chips, and
    /// edges_by_time() is kept. The listener outlives the run.
    void watch_links(events::LinkListener* listener);

    /// Runs the control programs of all chips to their ends and checks the laws of listeners/laws.h.
    /// Of several chips' faults the earliest is told, and it names its chip. @throws ProgramError, also
    /// where nobody can go on or `max_cycles` are over before the programs have ended; NotModelled
    void run(std::optional<Cycles> max_cycles = {});

    /// The facts of timing mode; nothing otherwise.
    [[nodiscard]] std::optional<ipu::TimingFacts> timing(std::size_t chip = 0) const;
    [[nodiscard]] const listeners::Account& account(std::size_t chip = 0) const;
    /// Cycles that SystemC's clock has counted up to the end of the chip's program; equals
    /// account().cycles() after run().
    [[nodiscard]] Cycles systemc_cycles(std::size_t chip = 0) const;
    [[nodiscard]] std::size_t chips() const;
    /// What went over the edges of a system's links, by edge. Empty where there is none.
    [[nodiscard]] std::vector<EdgeRecord> edges() const;

    /// The same by time, after watch_links(): by edge all intervals of one length, from cycle 0 to the
    /// last in which a packet began.
    [[nodiscard]] std::vector<EdgePart> edges_by_time() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

} // namespace tessera::simulation
