// SPDX-License-Identifier: MIT
#include "sim/pattern/evolve.h"

#include "base/activity.h"
#include "base/ceil_div.h"
#include "base/config/suggest.h"
#include "base/text.h"
#include "base/utf8.h"
#include "kernels/pattern/blocks.h"
#include "kernels/pattern/dense.h"
#include "kernels/pattern/npz.h"
#include "kernels/pattern/schedule.h"
#include "kernels/pattern/schedule_file.h"
#include "kernels/pattern/sparsify.h"
#include "kernels/workload/safetensors.h"
#include "sim/pattern/checkpoint.h"
#include "sim/pattern/pattern_command.h"
#include "sim/process/output.h"
#include "traces/output_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

namespace tessera::pattern {

using workload::ValueType;

namespace {

constexpr const char* kCommand = "pattern evolve";

/// Norms of all blocks of gradients, by the tensors' names.
using Gradients = std::map<std::string, std::vector<double>>;

std::vector<double> grid_norms(const std::string& bytes, const workload::TensorHead& tensor,
                               std::int64_t block, const workload::MatrixSource& from) {
    const std::int64_t rows = tensor.shape[0];
    const std::int64_t columns = tensor.shape[1];
    const std::int64_t block_columns = ceil_div(columns, block);
    std::vector<double> norms(static_cast<std::size_t>(ceil_div(rows, block) * block_columns));
    const char* at = bytes.data();
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns;
             ++column, at += workload::facts_of(*tensor.type).bytes) {
            const double value = workload::decoded(*tensor.type, at);
            if (!std::isfinite(value)) {
                from.fail(workload::element_text(row, column) +
                          " is not finite, expected a finite number");
            }
            norms[static_cast<std::size_t>(row / block * block_columns + column / block)] +=
                std::fabs(value);
        }
    }
    return norms;
}

/// "[64, 32] of F16"
std::string shape_text(const workload::TensorHead& tensor) {
    return fmt::format("[{}] of {}", fmt::join(tensor.shape, ", "), cut(tensor.dtype));
}

/// Those of the tensors that are named.
Gradients read_gradients(const std::string& path, const std::vector<workload::TensorHead>& tensors,
                         const std::vector<bool>& is_named, std::int64_t block) {
    std::map<std::string, const workload::TensorHead*> wanted;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (is_named[i]) {
            wanted[tensors[i].name] = &tensors[i];
        }
    }
    workload::SafetensorsReader reader(path);
    Gradients gradients;
    std::vector<std::string> names;
    for (const workload::TensorHead& tensor : reader.tensors()) {
        names.push_back(tensor.name);
        const std::string bytes = reader.next();
        const auto found = wanted.find(tensor.name);
        if (found == wanted.end()) {
            continue;
        }
        const workload::MatrixSource from{path, tensor.name};
        if (tensor.shape != found->second->shape || !tensor.type || !has_marks(*tensor.type)) {
            from.fail(fmt::format("got {}, expected a gradient of the shape of {}, of F16, BF16 or "
                                  "F32",
                                  shape_text(tensor), shape_text(*found->second)));
        }
        gradients[tensor.name] = grid_norms(bytes, tensor, block, from);
    }
    reader.expect_end();
    for (const auto& [name, tensor] : wanted) {
        if (gradients.count(name) == 0) {
            workload::MatrixSource{path, ""}.fail("has no gradient of tensor " + in_quotes(name),
                                                  config::did_you_mean(name, names));
        }
    }
    return gradients;
}

/// The folder of a tensor's patterns. @throws ConfigError where the name is no file name
void expect_file_name(const workload::TensorHead& tensor, const std::string& checkpoint) {
    const std::string& name = tensor.name;
    const bool is_one = !name.empty() && name != "." && name != ".." && name.size() <= NAME_MAX &&
                        name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
    if (!is_one) {
        workload::MatrixSource{checkpoint, name}.fail(
            "its name is no name of a folder, expected one without '/'",
            "the patterns of a tensor are in a folder of its name");
    }
}

/// The patterns of one tensor.
class Sequence {
public:
    Sequence(const workload::CoordinateMatrix& matrix, std::int64_t block, Schedule schedule,
             const std::string& tensor)
        : now_(blocked(matrix, block)),
          type_(matrix.type == ValueType::BF16 ? ValueType::F32 : matrix.type),
          schedule_(schedule) {
        schedule_.seed = seed_of(schedule.seed, tensor);
        const bool is_bsr = block > 1 && matrix.rows % block == 0 && matrix.columns % block == 0;
        storage_ = is_bsr ? workload::Storage::Bsr : workload::Storage::Csr;
    }

    [[nodiscard]] const workload::SparsePattern& pattern() const { return now_; }

    [[nodiscard]] std::string file_bytes(const workload::MatrixSource& to) const {
        return npz_bytes(elements_of(now_, now_.values, type_), storage_, now_.block, to);
    }

    /// Returns how many blocks went.
    std::int64_t change(std::int64_t number, const std::vector<double>* gradients) {
        const std::vector<double> kept = block_norms(now_.values, now_.block);
        BlockNorms norms{kept, std::nullopt};
        if (gradients != nullptr) {
            norms.gradients = *gradients;
        }
        PatternChange change = next_pattern(now_, norms, schedule_, number);
        now_.values = moved_values(change, now_.values);
        static_cast<workload::SparsePattern&>(now_) = std::move(change.pattern);
        return static_cast<std::int64_t>(change.went.size());
    }

private:
    workload::Sparse<double> now_;
    ValueType type_;
    Schedule schedule_;
    workload::Storage storage_ = workload::Storage::Csr;
};

/// Writes the patterns of a tensor into `folder`; returns how many blocks each change moved.
std::vector<std::int64_t> write_sequence(Sequence& sequence, std::int64_t patterns,
                                         const std::vector<double>* gradients,
                                         const std::filesystem::path& folder,
                                         const Activity& writing) {
    std::vector<std::int64_t> moved;
    for (std::int64_t number = 0; number < patterns; ++number) {
        if (number > 0) {
            moved.push_back(sequence.change(number - 1, gradients));
        }
        traces::OutputFile file((folder / fmt::format("{:06}.npz", number)).string());
        file.write(sequence.file_bytes({file.path(), ""}));
        file.commit();
        writing.step();
    }
    return moved;
}

} // namespace

std::string evolve_text(const cli::PatternEvolveCommand& command, const Layout& layout) {
    const std::string& out = needed(kCommand, "--out", command.out);
    const ScheduleFile file(needed(kCommand, "--schedule", command.schedule));
    const Schedule& schedule = file.schedule();
    const bool by_gradient = schedule.regrow == Schedule::Regrow::Gradient;
    if (by_gradient == command.gradients.empty()) {
        throw cli::UsageError(fmt::format("{}: {}", kCommand,
                                          by_gradient ? "expected --gradients FILE, since the "
                                                        "schedule regrows by gradient"
                                                      : "got --gradients, and the schedule does "
                                                        "not regrow by gradient"));
    }
    process::NewFolder folder(out);
    workload::SafetensorsReader reader(checkpoint_of(kCommand, command.file));
    const std::vector<workload::TensorHead>& tensors = reader.tensors();
    const std::vector<bool> is_named = file.named(tensors, command.file);
    Gradients gradients;
    if (by_gradient) {
        gradients = read_gradients(checkpoint_of(kCommand, command.gradients), tensors, is_named,
                                   command.block);
    }
    std::vector<std::vector<std::string>> rows{
        {"tensor", "size", "blocks", "kept", "patterns", "first change moves", "last"}};
    const Activity writing("writing patterns, pattern",
                           schedule.patterns * std::count(is_named.begin(), is_named.end(), true));
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const workload::TensorHead& tensor = tensors[i];
        if (!is_named[i]) {
            static_cast<void>(reader.next());
            continue;
        }
        expect_file_name(tensor, command.file);
        Sequence sequence(
            workload::next_matrix(reader, tensor,
                                  command.marks ? workload::Marks::Read : workload::Marks::Refused),
            command.block, schedule, tensor.name);
        const workload::SparsePattern& pattern = sequence.pattern();
        const std::vector<std::int64_t> moved = write_sequence(
            sequence, schedule.patterns, by_gradient ? &gradients.at(tensor.name) : nullptr,
            folder.add(tensor.name), writing);
        rows.push_back({utf8_of(tensor.name), fmt::format("{} x {}", pattern.rows, pattern.columns),
                        grouped(pattern.block_rows() * pattern.block_columns()),
                        grouped(pattern.blocks()), grouped(schedule.patterns),
                        moved.empty() ? "" : grouped(moved.front()),
                        moved.empty() ? "" : grouped(moved.back())});
    }
    reader.expect_end();
    folder.put_in_place();
    return command.quiet ? ""
                         : table(layout, 0,
                                 {Align::Left, Align::Left, Align::Right, Align::Right,
                                  Align::Right, Align::Right, Align::Right},
                                 rows);
}

} // namespace tessera::pattern
