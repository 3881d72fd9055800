// SPDX-License-Identifier: MIT
#include "models/simulation/simulation.h"

#include "base/error.h"
#include "models/ipu/core/tensor_io.h"
#include "models/ipu/ipu.h"
#include "models/listeners/laws.h"

#include <fmt/format.h>

#include <cstring>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace tessera::simulation {
namespace {

std::string name_of(std::size_t chip) {
    return fmt::format("ipu_{}", chip);
}

/// Does `body`; what it throws begins with the name of the chip.
template <class Body> void named(std::size_t chip, const Body& body) {
    const auto text = [chip](const std::exception& error) {
        const std::string what = error.what();
        return what.starts_with(name_of(chip) + ".") ? what : name_of(chip) + ": " + what;
    };
    try {
        body();
    } catch (const ProgramError& error) {
        throw ProgramError(text(error));
    } catch (const NeedsData& error) {
        throw NeedsData(text(error));
    } catch (const NotModelled& error) {
        throw NotModelled(text(error));
    } catch (const DoesNotFit& error) {
        throw DoesNotFit(text(error));
    }
}

} // namespace

struct Simulation::Implementation {
    /// A chip with its account and its laws.
    struct RunningChip {
        RunningChip(const Chip& made_of, std::size_t number)
            : program(made_of.program), account(made_of.program, made_of.spec.chip.tiles),
              laws(made_of.program, account), chip(name_of(number).c_str(), made_of.spec,
                                                   made_of.program, options_of(made_of, number)) {}

        /// The account hears first: it may be asked by others.
        [[nodiscard]] ipu::RunOptions options_of(const Chip& made_of, std::size_t number) {
            ipu::RunOptions options = made_of.options;
            options.listeners.insert(options.listeners.begin(), {&account, &laws});
            options.chip = static_cast<std::int64_t>(number);
            return options;
        }

        const program::Program& program;
        listeners::Account account;
        listeners::Laws laws;
        ipu::Ipu chip;
    };

    explicit Implementation(const std::vector<Chip>& made_of) {
        for (const Chip& chip : made_of) {
            told(chips.size(), made_of.size(), [&] { chips.emplace_back(chip, chips.size()); });
        }
    }
    /// Does what concerns a chip of `all`: a message of one of several says which.
    template <class Body> static void told(std::size_t chip, std::size_t all, const Body& body) {
        if (all > 1) {
            named(chip, body);
        } else {
            body();
        }
    }
    /// Throws what stopped the run first, of several chips' in one cycle that of the lowest.
    void check_finished() const {
        std::optional<std::size_t> first;
        for (std::size_t chip = 0; chip < chips.size(); ++chip) {
            const auto failed_at = chips[chip].chip.failed_at();
            if (failed_at && (!first || *failed_at < *chips[*first].chip.failed_at())) {
                first = chip;
            }
        }
        if (first) {
            told(*first, chips.size(), [&] { chips[*first].chip.check_finished(); });
        }
    }
    /// As SystemC looks for objects from the youngest one on.
    ~Implementation() {
        while (!chips.empty()) {
            chips.pop_back();
        }
    }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    std::deque<RunningChip> chips;
};

Simulation::Simulation(std::vector<Chip> chips)
    : implementation_(std::make_unique<Implementation>(chips)) {}

Simulation::Simulation(const spec::MachineSpec& spec, const program::Program& program,
                       ipu::RunOptions options)
    : Simulation(std::vector<Chip>{{spec, program, std::move(options)}}) {}

Simulation::~Simulation() = default;

void Simulation::write(program::ArrayId array, std::span<const std::byte> host, std::size_t chip) {
    auto& to = implementation_->chips.at(chip);
    if (array.kind == program::ArrayId::Kind::Tensor) {
        const program::Tensor& tensor = to.program.tensors.at(array.index);
        ipu::write_tensor(tensor, host, to.chip.memory());
        if (to.chip.known_words() != nullptr && tensor.known) {
            ipu::learn_tensor(tensor, *to.chip.known_words());
        }
        return;
    }
    const auto rows = to.chip.remote_memory().buffer(array.index);
    if (rows.size() != host.size()) {
        throw ProgramError(fmt::format("remote buffer {}: got {} bytes, expected {}",
                                       to.program.remote_buffers.at(array.index).name, host.size(),
                                       rows.size()));
    }
    std::memcpy(rows.data(), host.data(), host.size());
}

std::vector<std::byte> Simulation::read(program::ArrayId array, std::size_t chip) const {
    auto& from = implementation_->chips.at(chip);
    if (array.kind == program::ArrayId::Kind::RemoteBuffer) {
        const auto rows = from.chip.remote_memory().buffer(array.index);
        return {rows.begin(), rows.end()};
    }
    const auto& wanted = from.program.tensors.at(array.index);
    std::vector<std::byte> host(
        static_cast<std::size_t>(ipu::elements_of(wanted) * bytes_of(wanted.type)));
    ipu::read_tensor(wanted, from.chip.memory(), host);
    return host;
}

void Simulation::read_part(const program::Tensor& part, std::span<std::byte> host,
                           std::size_t chip) const {
    ipu::read_tensor(part, implementation_->chips.at(chip).chip.memory(), host);
}

void Simulation::run() {
    sc_core::sc_start();
    implementation_->check_finished();
    const auto& chips = implementation_->chips;
    for (std::size_t number = 0; number < chips.size(); ++number) {
        const auto& one = chips[number];
        one.chip.check_finished();
        TESSERA_ASSERT(one.chip.finished_at() == one.account.cycles());
        Implementation::told(number, chips.size(), [&] { one.laws.check(); });
    }
}

std::optional<ipu::TimingFacts> Simulation::timing(std::size_t chip) const {
    return implementation_->chips.at(chip).chip.timing();
}

const listeners::Account& Simulation::account(std::size_t chip) const {
    return implementation_->chips.at(chip).account;
}

Cycles Simulation::systemc_cycles(std::size_t chip) const {
    return implementation_->chips.at(chip).chip.finished_at();
}

} // namespace tessera::simulation
