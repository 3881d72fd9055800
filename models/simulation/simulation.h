// SPDX-License-Identifier: MIT
// One run of one chip with SystemC out of sight, accounted for and held to the laws. SystemC
// elaborates once a process: so does this.
//
// Contract:
// - Inside sc_main: construct, write() the operands, run() once, read() the results.
// - Nothing depends on the number of host threads, on the listeners or on the order of what happens
//   in one cycle but the time that it takes.
#pragma once

#include "models/ipu/run_options.h"
#include "models/listeners/account.h"
#include "models/program/array_id.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tessera::simulation {

class Simulation {
public:
    /// Elaborates the chip `ipu_0` and loads the images. `spec` and `program` outlive it. @throws
    /// ProgramError
    Simulation(const spec::MachineSpec& spec, const program::Program& program,
               ipu::RunOptions options);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// The row-major array of a tensor of the program, or all rows of a remote buffer. @throws
    /// ProgramError if the size is wrong.
    void write(program::ArrayId array, std::span<const std::byte> host);
    [[nodiscard]] std::vector<std::byte> read(program::ArrayId array) const;
    /// Gathers the pieces of `part`, which need not be all of a tensor's, into a row-major array of
    /// its shape. May be called on several threads. @throws as read()
    void read_part(const program::Tensor& part, std::span<std::byte> host) const;

    /// Runs the control program to its end and checks the laws of listeners/laws.h. @throws
    /// ProgramError, NotModelled
    void run();

    /// Of timing mode; nothing otherwise.
    [[nodiscard]] std::optional<ipu::TimingFacts> timing() const;
    [[nodiscard]] const listeners::Account& account() const;
    /// Cycles that SystemC's clock has counted; equals account().cycles() after run().
    [[nodiscard]] Cycles systemc_cycles() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

} // namespace tessera::simulation
