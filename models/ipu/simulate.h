// SPDX-License-Identifier: MIT
// One run of one chip, with SystemC out of sight. SystemC elaborates once a process: so does this.
//
// Contract:
// - Inside sc_main: construct, write() the operands, run() once, read() the results.
// - Nothing depends on the number of host threads or on the trace sink but the time that it takes.
#pragma once

#include "models/ipu/core/account.h"
#include "models/ipu/run_options.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::ipu {

class Simulation {
public:
    /// Elaborates the chip `ipu_0` and loads the images. `spec` and `program` outlive it. @throws
    /// ProgramError
    Simulation(const spec::MachineSpec& spec, const program::Program& program, RunOptions options);
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// The row-major array of a tensor of the program, or all rows of a remote buffer. @throws
    /// ProgramError if name or size is wrong.
    void write(const std::string& tensor, std::span<const std::byte> host);
    [[nodiscard]] std::vector<std::byte> read(const std::string& tensor) const;

    /// Runs the control program to its end and checks the laws of core/laws.h. @throws
    /// ProgramError, NotModelled
    void run();

    [[nodiscard]] const Account& account() const;
    /// Cycles that SystemC's clock has counted; equals account().cycles() after run().
    [[nodiscard]] Cycles systemc_cycles() const;

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

} // namespace tessera::ipu
