// SPDX-License-Identifier: MIT
#include "kernels/gather/one_hot.h"

#include "base/error.h"
#include "kernels/codelets/one_hot_cost.h"
#include "kernels/family/numbers.h"
#include "kernels/gather/parts.h"
#include "kernels/graph/rows.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

namespace tessera::gather {
namespace {

using family::TensorType;

std::int64_t words_of(ElementType type, std::int64_t classes) {
    return largest(classes * bytes_of(type), kUnitBytes);
}

class OneHot final : public family::Step {
public:
    OneHot(const family::Request& request, ElementType type, std::int64_t classes)
        : ids_(request.inputs[0]), output_{type, {ids_.shape[0], classes}} {}

    [[nodiscard]] std::vector<TensorType> outputs() const override { return {output_}; }
    [[nodiscard]] double flops() const override { return 0; }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> /*where*/) override {
        const std::int64_t words = words_of(output_.type, classes());
        if (words > plan::most_rounds(site.machine)) {
            throw NotModelled(fmt::format(
                "one_hot: not modelled: {} classes, expected at most {}; see docs/kernels.md",
                classes(), plan::most_rounds(site.machine) * kUnitBytes / bytes_of(output_.type)));
        }
        const graph::InRows y = graph::add_rows(
            graph, {.name = site.owner + ": y", .type = output_.type, .shape = output_.shape},
            {site.first_tile, site.machine.chip.tiles});
        const graph::InRows ids = graph::add_rows_beside(
            graph, {.name = site.owner + ": ids", .type = ids_.type, .shape = ids_.shape},
            y.blocks);
        graph.tensors[ids.tensor.index].known = ids_.known;
        graph.need_codelet("one_hot");
        const auto set =
            graph.add_compute_set({"one hot", program::Role::Work, site.owner, "rows"});
        for (std::size_t i = 0; i < y.blocks.size(); ++i) {
            const graph::RowBlock& rows = y.blocks[i];
            graph.add_work(set, rows.tile, rows.rows);
            graph.add_vertex(set, rows.tile, fmt::format("one_hot_{}", name_of(output_.type)),
                             program::VertexKind::MultiWorker,
                             {graph::read(ids.blocks[i].place, rows.rows * kIdBytes),
                              graph::write(rows.place, rows.rows * rows.step),
                              graph::word(rows.rows), graph::word(words), graph::word(classes())});
        }
        return {{ids.tensor}, {y.tensor}, graph::run(set)};
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        return family::compare(outputs[0], [&](std::int64_t element) {
            std::uint32_t id = 0;
            std::memcpy(&id, inputs[0]->bytes.data() + element / classes() * kIdBytes, sizeof id);
            return family::Expected{id == element % classes() ? 1.0 : 0.0, 0};
        });
    }

private:
    [[nodiscard]] std::int64_t classes() const { return output_.shape[1]; }

    TensorType ids_;
    TensorType output_;
};

std::unique_ptr<family::Step> make_one_hot(const family::Request& request) {
    const TensorType& ids = request.inputs[0];
    if (!is_row_number(ids) || ids.shape.size() != 1 || ids.elements() == 0) {
        throw family::Refused(
            0, "",
            fmt::format("got {} of {}, expected a list of numbers of type u32 or i32",
                        family::shape_text(ids), name_of(ids.type)));
    }
    const double classes = family::number_of(one_hot(), request, "classes");
    if (!(classes >= 1 && classes < 0x1p31 && classes == std::floor(classes))) {
        throw family::Refused(-1, "classes",
                              fmt::format("got {}, expected a whole number from 1 on", classes));
    }
    const bool half = family::word_of(one_hot(), request, "type") == "f16";
    return std::make_unique<OneHot>(request, half ? ElementType::F16 : ElementType::F32,
                                    static_cast<std::int64_t>(classes));
}

} // namespace

Cycles one_hot_cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
                      std::int64_t classes) {
    return dealt(machine, rows, [&](std::int64_t own) {
        return codelets::one_hot_issues(type, own, words_of(type, classes));
    });
}

const family::Family& one_hot() {
    static const family::Family family{
        "one_hot",
        "y[i, j] = 1 where j = ids[i], else 0",
        {"ids"},
        {{.key = "classes", .says = "how many columns y has", .words = {}, .number = 1},
         {.key = "type", .says = "the type of y", .words = {"f16", "f32"}, .word = "f16"}},
        make_one_hot};
    return family;
}

} // namespace tessera::gather
