// SPDX-License-Identifier: MIT
#include "sim/pattern/checkpoint.h"

#include "base/activity.h"
#include "base/text.h"
#include "base/utf8.h"
#include "kernels/pattern/matrix_file.h"
#include "kernels/pattern/sparsify.h"
#include "kernels/pattern/sparsity_section.h"
#include "kernels/workload/safetensors.h"
#include "sim/pattern/pattern_command.h"
#include "sim/process/output.h"
#include "traces/output_file.h"

#include <fmt/format.h>

#include <vector>

namespace tessera::pattern {
namespace {

/// Copies a checkpoint. `change` may write other values into the bytes of each tensor.
template <class Change>
void copy(const char* what, workload::SafetensorsReader& reader, traces::OutputFile& out,
          const Change& change) {
    out.write(reader.head_bytes());
    const Activity copying(what, static_cast<std::int64_t>(reader.tensors().size()));
    for (const workload::TensorHead& tensor : reader.tensors()) {
        std::string bytes = reader.next();
        change(tensor, bytes);
        out.write(bytes);
        copying.step();
    }
    reader.expect_end();
    out.commit();
}

std::string share_text(std::int64_t pruned, std::int64_t elements) {
    return fmt::format("{:.4g} %", elements == 0 ? 0
                                                 : 100 * static_cast<double>(pruned) /
                                                       static_cast<double>(elements));
}

} // namespace

const std::string& checkpoint_of(const std::string& command, const std::string& name) {
    if (!name.ends_with(".safetensors")) {
        throw cli::UsageError(
            fmt::format("{}: got {}, expected a .safetensors file", command, in_quotes(name)));
    }
    return name;
}

std::string sparsify_text(const cli::PatternSparsifyCommand& command, const Layout& layout) {
    constexpr const char* kCommand = "pattern sparsify";
    process::check_outputs(kCommand, {{"--out", command.out}});
    traces::OutputFile out(checkpoint_of(kCommand, needed(kCommand, "--out", command.out)));
    const SparsitySection section(needed(kCommand, "--config", command.config));
    workload::SafetensorsReader reader(checkpoint_of(kCommand, command.file));
    std::vector<std::vector<std::string>> rows{
        {"tensor", "elements", "pruned before", "after", ""}};
    std::size_t dense = 0;
    copy("pruning, tensor", reader, out,
         [&](const workload::TensorHead& tensor, std::string& bytes) {
             const auto rule = section.rule_of(tensor, command.file);
             if (!rule) {
                 ++dense;
                 if (tensor.type && marks_in(bytes, *tensor.type) > 0) {
                     workload::MatrixSource{command.file, tensor.name}.fail(
                         "has elements that are NaN, the mark of pruned ones, and the `sparsity` "
                         "section leaves it dense",
                         "name it in param_name_patterns, or make its marks 0 by `tessera pattern "
                         "finalize`");
                 }
                 return;
             }
             const Pruned pruned = sparsify(bytes, *tensor.type, rule->level, rule->init_method,
                                            seed_of(rule->seed, tensor.name));
             rows.push_back({utf8_of(tensor.name), grouped(pruned.elements), grouped(pruned.before),
                             grouped(pruned.after), share_text(pruned.after, pruned.elements)});
         });
    if (command.quiet) {
        return "";
    }
    const std::string left = fmt::format("{} left dense\n", counted(dense, "tensor"));
    return rows.size() == 1
               ? left
               : table(layout, 0,
                       {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right},
                       rows) +
                     left;
}

std::string finalize_text(const cli::PatternFinalizeCommand& command) {
    constexpr const char* kCommand = "pattern finalize";
    process::check_outputs(kCommand, {{"--out", command.out}});
    traces::OutputFile out(checkpoint_of(kCommand, needed(kCommand, "--out", command.out)));
    workload::SafetensorsReader reader(checkpoint_of(kCommand, command.file));
    std::int64_t marks = 0;
    std::size_t tensors = 0;
    copy("finalizing, tensor", reader, out,
         [&](const workload::TensorHead& tensor, std::string& bytes) {
             const std::int64_t found = tensor.type ? finalize(bytes, *tensor.type) : 0;
             marks += found;
             tensors += found > 0 ? 1 : 0;
         });
    return command.quiet ? ""
                         : fmt::format("{}: {} pruned elements of {} are 0\n", utf8_of(command.out),
                                       grouped(marks), counted(tensors, "tensor"));
}

} // namespace tessera::pattern
