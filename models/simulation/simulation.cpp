// SPDX-License-Identifier: MIT
#include "models/simulation/simulation.h"

#include "base/error.h"
#include "models/ipu/core/tensor_io.h"
#include "models/ipu/ipu.h"
#include "models/listeners/laws.h"
#include "models/ports/clock.h"
#include "models/program/system_binding.h"
#include "models/system/system.h"

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
        system.reset();
        while (!chips.empty()) {
            chips.pop_back();
        }
    }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    /// Joins the chips.
    void join(const spec::MachineSpec& spec, const program::SystemProgram& program,
              std::optional<std::uint64_t> shuffle) {
        std::vector<ipu::Ipu*> all;
        for (RunningChip& one : chips) {
            all.push_back(&one.chip);
        }
        system = std::make_unique<system::System>(spec, program, *binding, all, shuffle);
    }
    /// @throws ProgramError where a chip has not ended its program.
    void check_ended(std::optional<Cycles> max_cycles) const {
        const bool all = std::ranges::all_of(
            chips, [](const RunningChip& one) { return one.chip.has_finished(); });
        if (all) {
            return;
        }
        const std::string where =
            system != nullptr ? system->waiting() : "tiles wait for each other";
        const bool limited = max_cycles && sc_core::sc_pending_activity();
        throw ProgramError(limited ? fmt::format("not over after {} cycles: {}", *max_cycles, where)
                                   : fmt::format("nobody can go on: {}", where));
    }

    std::unique_ptr<const program::SystemBinding> binding;
    std::deque<RunningChip> chips;
    std::unique_ptr<system::System> system;
};

Simulation::Simulation(std::vector<Chip> chips)
    : implementation_(std::make_unique<Implementation>(chips)) {}

Simulation::Simulation(const spec::MachineSpec& spec, const program::Program& program,
                       ipu::RunOptions options)
    : Simulation(std::vector<Chip>{{spec, program, std::move(options)}}) {}

Simulation::Simulation(const spec::MachineSpec& spec, const program::SystemProgram& system,
                       std::vector<ipu::RunOptions> options) {
    TESSERA_ASSERT(options.size() == system.chips());
    if (static_cast<std::int64_t>(system.chips()) != spec.system.chips) {
        throw ProgramError(fmt::format("got programs for {} chips, expected {} (system.chips)",
                                       system.chips(), spec.system.chips));
    }
    if (static_cast<std::int64_t>(system.zones.size()) > spec.system.zones) {
        throw ProgramError(fmt::format("got {} zones, expected at most {} (system.zones)",
                                       system.zones.size(), spec.system.zones));
    }
    auto binding = std::make_unique<program::SystemBinding>(
        program::bind(system, static_cast<TileId>(spec.chip.tiles)));
    program::check_meetings(system);
    const auto shuffle = options.front().shuffle;
    std::vector<Chip> chips;
    for (std::size_t chip = 0; chip < system.chips(); ++chip) {
        chips.push_back({spec, system.of_chip(chip), std::move(options[chip])});
        chips.back().options.links = binding->exchanges[chip];
    }
    implementation_ = std::make_unique<Implementation>(chips);
    implementation_->binding = std::move(binding);
    implementation_->join(spec, system, shuffle);
    for (const program::Ranks& ranks : system.ranks) {
        for (std::size_t chip = 0; chip < system.chips(); ++chip) {
            const auto& tensors = system.of_chip(chip).tensors;
            const auto found = std::ranges::find(tensors, ranks.tensor, &program::Tensor::name);
            if (found == tensors.end()) {
                throw ProgramError(fmt::format("ranks of chip {}: its program has no tensor {}",
                                               chip, ranks.tensor));
            }
            write({program::ArrayId::Kind::Tensor,
                   static_cast<std::uint32_t>(found - tensors.begin())},
                  std::as_bytes(std::span(ranks.words_of_chip.at(chip))), chip);
        }
    }
}

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

void Simulation::run(std::optional<Cycles> max_cycles) {
    if (max_cycles) {
        sc_core::sc_start(ports::Clock::until(*max_cycles + 1)); // what happens then is not run
    } else {
        sc_core::sc_start();
    }
    implementation_->check_finished();
    implementation_->check_ended(max_cycles);
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

std::size_t Simulation::chips() const {
    return implementation_->chips.size();
}

std::vector<EdgeRecord> Simulation::edges() const {
    std::vector<EdgeRecord> records;
    if (implementation_->system == nullptr) {
        return records;
    }
    const link::LinkFabric& links = implementation_->system->links();
    for (std::size_t edge = 0; edge < links.edges().size(); ++edge) {
        const link::Edge& joins = links.topology().edges[edge];
        const auto& use = links.edges()[edge];
        records.push_back({joins.from, joins.to, joins.links, use.payload_bytes, use.bytes,
                           use.busy_cycles, use.most_waiting});
    }
    return records;
}

void Simulation::watch_links(events::LinkListener* listener) {
    if (implementation_->system == nullptr) {
        return;
    }
    link::LinkFabric& links = implementation_->system->links();
    links.record_edges();
    if (listener != nullptr) {
        links.listen(*listener);
    }
}

std::vector<EdgePart> Simulation::edges_by_time() const {
    std::vector<EdgePart> all;
    const auto* const system = implementation_->system.get();
    const link::EdgeSeries* const series =
        system == nullptr ? nullptr : std::as_const(*system).links().edges_by_time();
    if (series == nullptr) {
        return all;
    }
    const auto& edges = system->links().topology().edges;
    for (std::size_t edge = 0; edge < edges.size(); ++edge) {
        Cycles begin = 0;
        for (const link::EdgeSeries::Part& part : series->of(edge)) {
            const Cycles end = begin + series->interval();
            all.push_back(
                {edges[edge].from, edges[edge].to, begin, end, part.payload_bytes, part.bytes});
            begin = end;
        }
    }
    return all;
}

Cycles Simulation::systemc_cycles(std::size_t chip) const {
    return implementation_->chips.at(chip).chip.finished_at();
}

} // namespace tessera::simulation
