// SPDX-License-Identifier: MIT
#include "kernels/job/chips_job.h"

#include "base/error.h"
#include "kernels/chips/chips.h"
#include "kernels/job/compared.h"
#include "kernels/lower/lower.h"
#include "kernels/workload/of_chips.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace tessera::job {
namespace {

template <class Kind> class ChipsJob final : public Job {
public:
    explicit ChipsJob(Kind given) : workload_(std::move(given)) {}

    const program::Program& plan(const spec::MachineSpec& machine, Operands operands) override {
        auto emitted = chips::emit(machine, workload_);
        sentence_ = emitted.graphs.front().name;
        useful_bytes_ = emitted.useful_bytes;
        choices_ = std::move(emitted.choices);
        system_ = {};
        for (graph::Graph& graph : emitted.graphs) {
            system_.programs.push_back(std::make_shared<const program::Program>(
                lower::lower(machine, std::move(graph)).program));
        }
        system_.program_of_chip = std::move(emitted.graph_of_chip);
        system_.peers = std::move(emitted.peers);
        system_.zones = std::move(emitted.zones);
        system_.ranks = std::move(emitted.ranks);
        values_ = {};
        if (operands == Operands::Made) {
            values_ = emitted.values();
        }
        return system_.of_chip(0);
    }
    const program::SystemProgram* system() const override { return &system_; }
    std::vector<HostArray> operands() const override {
        std::vector<HostArray> arrays;
        for (const auto& operand : values_.given) {
            arrays.push_back({operand.array, operand.bytes, operand.chip});
        }
        return arrays;
    }
    CheckOutcome check(const ReadArray& /*read*/, int /*threads*/) override {
        TESSERA_ASSERT(!"check_chips");
        return {};
    }
    CheckOutcome check_chips(const ReadChip& read, int /*threads*/) override {
        Compared compared;
        for (const auto& expected : values_.expected) {
            const std::string& name =
                system_.of_chip(expected.chip).tensors.at(expected.array.index).name;
            compare(fmt::format("{} of chip {}", name, expected.chip),
                    read(expected.chip, expected.array), expected.bytes, compared);
        }
        return outcome_of(compared);
    }
    std::vector<Result> results() const override {
        std::vector<Result> results;
        for (const auto& expected : values_.expected) {
            if (expected.chip == 0) {
                const program::Tensor& tensor = system_.of_chip(0).tensors.at(expected.array.index);
                results.push_back({tensor.name, expected.array, tensor.type, tensor.shape});
            }
        }
        return results;
    }
    nlohmann::json plan_json() const override { return choices_; }
    std::optional<ProductWork> product() const override { return std::nullopt; }
    Bytes useful_bytes() const override { return useful_bytes_; }
    std::string sentence() const override { return sentence_; }

private:
    Kind workload_;
    program::SystemProgram system_;
    chips::ChipValues values_;
    std::string sentence_;
    std::map<std::string, std::int64_t> choices_;
    Bytes useful_bytes_ = 0;
};

} // namespace

std::unique_ptr<Job> make_chips_job(const workload::Workload& workload) {
    return std::visit(
        [](const auto& kind) -> std::unique_ptr<Job> {
            using Kind = std::decay_t<decltype(kind)>;
            if constexpr (workload::kIsOfChips<Kind>) {
                return std::make_unique<ChipsJob<Kind>>(kind);
            } else {
                return nullptr;
            }
        },
        workload.kind);
}

} // namespace tessera::job
