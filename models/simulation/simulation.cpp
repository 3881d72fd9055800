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

    [[nodiscard]] const program::Tensor& tensor(const std::string& name) const {
        for (const auto& candidate : program.tensors) {
            if (candidate.name == name) {
                return candidate;
            }
        }
        throw ProgramError(fmt::format("program {}: has no tensor '{}'", program.name, name));
    }

    /// The bytes of the remote buffer of that name, if there is one.
    [[nodiscard]] std::optional<std::span<std::byte>> buffer(const std::string& name) const {
        for (std::uint32_t index = 0; index < program.remote_buffers.size(); ++index) {
            if (program.remote_buffers[index].name == name) {
                return chip.remote_memory().buffer(index);
            }
        }
        return std::nullopt;
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

void Simulation::write(const std::string& tensor, std::span<const std::byte> host) {
    if (const auto buffer = implementation_->buffer(tensor)) {
        if (buffer->size() != host.size()) {
            throw ProgramError(fmt::format("remote buffer {}: got {} bytes, expected {}", tensor,
                                           host.size(), buffer->size()));
        }
        std::memcpy(buffer->data(), host.data(), host.size());
        return;
    }
    ipu::write_tensor(implementation_->tensor(tensor), host, implementation_->chip.memory());
}

std::vector<std::byte> Simulation::read(const std::string& tensor) const {
    if (const auto buffer = implementation_->buffer(tensor)) {
        return {buffer->begin(), buffer->end()};
    }
    const auto& wanted = implementation_->tensor(tensor);
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
