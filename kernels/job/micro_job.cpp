// SPDX-License-Identifier: MIT
#include "kernels/job/micro_job.h"

#include "base/error.h"
#include "kernels/job/compared.h"
#include "kernels/lower/lower.h"
#include "kernels/micro/micro.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <variant>

namespace tessera::job {
namespace {

template <class Kind> class MicroJob final : public Job {
public:
    explicit MicroJob(Kind given) : workload_(std::move(given)) {}

    const program::Program& plan(const spec::MachineSpec& machine, Operands operands) override {
        auto emitted = micro::emit(machine, workload_);
        sentence_ = emitted.graph.name;
        arrivals_ = std::move(emitted.arrivals);
        useful_bytes_ = emitted.useful_bytes;
        choices_ = std::move(emitted.choices);
        auto lowered = lower::lower(machine, std::move(emitted.graph));
        if (emitted.expected_cycles) {
            choices_["predicted_cycles"] =
                *emitted.expected_cycles + lower::predicted_exchanges(machine, lowered).total();
        }
        program_ = std::move(lowered.program);
        if (operands == Operands::Made) {
            values_ = emitted.values();
        }
        return program_;
    }
    std::vector<HostArray> operands() const override {
        std::vector<HostArray> arrays;
        for (const auto& operand : values_.given) {
            arrays.push_back({operand.array, operand.bytes});
        }
        return arrays;
    }
    void arrived(std::uint32_t /*copy*/, const ReadArray& read) override {
        if (!arrivals_) {
            return;
        }
        const std::span all(values_.given.front().bytes);
        const auto chunk = static_cast<std::size_t>(arrivals_->bytes);
        const std::size_t first = static_cast<std::size_t>(arrived_) * chunk % all.size();
        compare(fmt::format("{} after copy {}", name_of(arrivals_->tensor), arrived_ + 1),
                read(arrivals_->tensor), all.subspan(first, chunk), while_running_);
        ++arrived_;
    }
    CheckOutcome check(const ReadArray& read, int /*threads*/) override {
        Compared compared = while_running_;
        for (const auto& expected : values_.expected) {
            if (arrivals_ && arrivals_->tensor == expected.array) {
                continue; // what it holds at the end has arrived last
            }
            compare(name_of(expected.array), read(expected.array), expected.bytes, compared);
        }
        if (arrivals_ && arrived_ != arrivals_->copies && compared.wrong.empty()) {
            compared.wrong = fmt::format("WRONG: tensor {}: {} copies arrived, expected {}",
                                         name_of(arrivals_->tensor), arrived_, arrivals_->copies);
        }
        return outcome_of(compared);
    }
    std::vector<Result> results() const override {
        std::vector<Result> results;
        for (const auto& expected : values_.expected) {
            if (expected.array.kind == program::ArrayId::Kind::Tensor) {
                const program::Tensor& tensor = program_.tensors.at(expected.array.index);
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
    [[nodiscard]] const std::string& name_of(program::ArrayId array) const {
        return array.kind == program::ArrayId::Kind::Tensor
                   ? program_.tensors.at(array.index).name
                   : program_.remote_buffers.at(array.index).name;
    }

    Kind workload_;
    program::Program program_;
    micro::Values values_;
    std::string sentence_;
    std::map<std::string, std::int64_t> choices_;
    Bytes useful_bytes_ = 0;
    std::optional<micro::Arrivals> arrivals_;
    std::int64_t arrived_ = 0; ///< copies
    Compared while_running_;
};

/// The kinds for which micro::emit exists.
template <class Kind>
constexpr bool kIsMicro = requires(const spec::MachineSpec& machine, const Kind& kind) {
    micro::emit(machine, kind);
};

} // namespace

std::unique_ptr<Job> make_micro_job(const workload::Workload& workload) {
    return std::visit(
        [](const auto& kind) -> std::unique_ptr<Job> {
            using Kind = std::decay_t<decltype(kind)>;
            if constexpr (kIsMicro<Kind>) {
                return std::make_unique<MicroJob<Kind>>(kind);
            } else {
                TESSERA_ASSERT(!"a micro-workload");
                return nullptr;
            }
        },
        workload.kind);
}

} // namespace tessera::job
