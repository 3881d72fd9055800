// SPDX-License-Identifier: MIT
#include "kernels/pattern/schedule_file.h"

#include "base/config/describe.h"
#include "base/config/read.h"
#include "base/config/suggest.h"
#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tessera::pattern {
namespace detail {

/// The keys as they are written.
struct ScheduleKeys : Schedule {
    nlohmann::json param_name_patterns;

    template <class Description> static void describe(Description& d) {
        Schedule::describe<ScheduleKeys>(d);
        d.field(kNamePatternsKey, &ScheduleKeys::param_name_patterns)
            .json({"string", "array"})
            .says("expressions for names of tensors whose patterns change")
            .from("docs/patterns.md#sequences");
    }
};

} // namespace detail

using detail::ScheduleKeys;

namespace {

bool is_matrix(const workload::TensorHead& tensor) {
    return tensor.shape.size() == 2;
}

std::vector<std::string> names_of(const std::vector<workload::TensorHead>& tensors) {
    std::vector<std::string> names;
    names.reserve(tensors.size());
    for (const workload::TensorHead& tensor : tensors) {
        names.push_back(tensor.name);
    }
    return names;
}

} // namespace

ScheduleFile::ScheduleFile(const std::string& path) : document_(config::read_document(path)) {
    ScheduleKeys keys;
    config::throw_if_any(config::read(*config::shape_of<ScheduleKeys>(), document_, &keys));
    schedule_ = keys;
    if (document_.root.contains(kNamePatternsKey)) {
        std::vector<Diagnostic> mistakes;
        names_ = read_name_patterns(document_, std::string("/") + kNamePatternsKey,
                                    keys.param_name_patterns, mistakes);
        config::throw_if_any(std::move(mistakes));
    }
}

const NamePattern* ScheduleFile::pattern_of(const workload::TensorHead& tensor) const {
    const auto found = std::find_if(names_->begin(), names_->end(), [&](const NamePattern& named) {
        return named.names(tensor.name);
    });
    return found == names_->end() ? nullptr : &*found;
}

std::vector<bool> ScheduleFile::named(const std::vector<workload::TensorHead>& tensors,
                                      const std::string& checkpoint) const {
    std::vector<Diagnostic> mistakes;
    for (const NamePattern& named : names_.value_or(std::vector<NamePattern>{})) {
        if (std::none_of(tensors.begin(), tensors.end(), [&](const workload::TensorHead& tensor) {
                return named.names(tensor.name);
            })) {
            mistakes.push_back(document_.at_value(
                named.pointer,
                fmt::format("{} matches no tensor of {}", in_quotes(named.text()), checkpoint),
                config::did_you_mean(named.text(), names_of(tensors))));
        }
    }
    config::throw_if_any(std::move(mistakes));
    std::vector<bool> is_named;
    for (const workload::TensorHead& tensor : tensors) {
        const NamePattern* const found = names_ ? pattern_of(tensor) : nullptr;
        if (found != nullptr) {
            expect_marks(tensor, *found, checkpoint);
            if (!is_matrix(tensor)) {
                workload::MatrixSource{checkpoint, tensor.name}.fail(
                    fmt::format("shape: got [{}], expected two sizes, since {} names it",
                                fmt::join(tensor.shape, ", "), in_quotes(found->text())));
            }
        }
        is_named.push_back(names_ ? found != nullptr : is_matrix(tensor) && is_weight(tensor));
    }
    if (std::none_of(is_named.begin(), is_named.end(), [](bool is) { return is; })) {
        workload::MatrixSource{checkpoint, ""}.fail(
            "no tensor is named",
            std::string("without ") + kNamePatternsKey +
                " those are whose names have none of embedding, norm and lm_head, that have two "
                "sizes, and that are of F16, BF16 or F32");
    }
    return is_named;
}

nlohmann::json schedule_schema() {
    return config::json_schema(*config::shape_of<ScheduleKeys>(), "tessera pattern schedule");
}

} // namespace tessera::pattern
