// SPDX-License-Identifier: MIT
#include "models/simulation/simulation.h"

#include "base/error.h"
#include "models/ipu/core/tensor_io.h"
#include "models/ipu/ipu.h"
#include "models/listeners/laws.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>

namespace tessera::simulation {

struct Simulation::Implementation {
    Implementation(const spec::MachineSpec& spec, const program::Program& the_program,
                   ipu::RunOptions options)
        : program(the_program), account(the_program, spec.chip.tiles), laws(the_program, account),
          chip("ipu_0", spec, the_program, with(options)) {}

    /// The account hears first: it may be asked by others.
    [[nodiscard]] ipu::RunOptions with(ipu::RunOptions options) {
        options.listeners.insert(options.listeners.begin(), {&account, &laws});
        return options;
    }

    const program::Program& program;
    listeners::Account account;
    listeners::Laws laws;
    ipu::Ipu chip;
};

Simulation::Simulation(const spec::MachineSpec& spec, const program::Program& program,
                       ipu::RunOptions options)
    : implementation_(std::make_unique<Implementation>(spec, program, std::move(options))) {}

Simulation::~Simulation() = default;

void Simulation::write(program::ArrayId array, std::span<const std::byte> host) {
    if (array.kind == program::ArrayId::Kind::Tensor) {
        ipu::write_tensor(implementation_->program.tensors.at(array.index), host,
                          implementation_->chip.memory());
        return;
    }
    const auto rows = implementation_->chip.remote_memory().buffer(array.index);
    if (rows.size() != host.size()) {
        throw ProgramError(fmt::format("remote buffer {}: got {} bytes, expected {}",
                                       implementation_->program.remote_buffers.at(array.index).name,
                                       host.size(), rows.size()));
    }
    std::memcpy(rows.data(), host.data(), host.size());
}

std::vector<std::byte> Simulation::read(program::ArrayId array) const {
    if (array.kind == program::ArrayId::Kind::RemoteBuffer) {
        const auto rows = implementation_->chip.remote_memory().buffer(array.index);
        return {rows.begin(), rows.end()};
    }
    const auto& wanted = implementation_->program.tensors.at(array.index);
    std::vector<std::byte> host(
        static_cast<std::size_t>(ipu::elements_of(wanted) * bytes_of(wanted.type)));
    ipu::read_tensor(wanted, implementation_->chip.memory(), host);
    return host;
}

void Simulation::read_part(const program::Tensor& part, std::span<std::byte> host) const {
    ipu::read_tensor(part, implementation_->chip.memory(), host);
}

void Simulation::run() {
    sc_core::sc_start();
    implementation_->chip.check_finished();
    TESSERA_ASSERT(systemc_cycles() == account().cycles());
    implementation_->laws.check();
}

std::optional<ipu::TimingFacts> Simulation::timing() const {
    return implementation_->chip.timing();
}

const listeners::Account& Simulation::account() const {
    return implementation_->account;
}

Cycles Simulation::systemc_cycles() const {
    return implementation_->chip.finished_at();
}

} // namespace tessera::simulation
