// SPDX-License-Identifier: MIT
#include "sim/pattern/pattern_command.h"

#include "base/config/json_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "kernels/pattern/blocks.h"
#include "kernels/pattern/matrix_file.h"
#include "kernels/pattern/summary.h"
#include "kernels/workload/value_type.h"
#include "sim/pattern/make.h"
#include "sim/pattern/report.h"
#include "sim/process/exit_code.h"
#include "sim/process/output.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::pattern {

using workload::CoordinateMatrix;

namespace {

/// What an .npz file stores, by the words of a command.
NpzForm form_of(const std::string& command, const std::string& as, int block,
                const workload::MatrixPlace& to) {
    if (!as.empty() && to.format != workload::MatrixFormat::Npz) {
        throw cli::UsageError(command + ": --as is of .npz files, and --out is none");
    }
    NpzForm form{block > 1 ? workload::Storage::Bsr : workload::Storage::Csr, block};
    for (const workload::Storage storage : {workload::Storage::Coo, workload::Storage::Csr,
                                            workload::Storage::Csc, workload::Storage::Bsr}) {
        if (as == workload::name_of(storage)) {
            form.storage = storage;
        }
    }
    return form;
}

/// An output that is open, and what it is to be.
class MatrixOutput {
public:
    MatrixOutput(const std::string& command, const std::string& name)
        : place_(workload::matrix_place(needed(command, "--out", name))),
          is_stdout_(process::check_outputs(command, {{"--out", place_.file}})),
          file_(place_.file) {}

    [[nodiscard]] const workload::MatrixPlace& place() const { return place_; }

    /// Returns a sentence about what was written. @throws as matrix_bytes()
    std::string write(const CoordinateMatrix& matrix, NpzForm form) {
        if (const std::int64_t lost = zeros(matrix); lost > 0 && is_dense(place_.format)) {
            process::tell_warning(fmt::format(
                "{}: {} entries have the value 0, which this format does not tell from elements "
                "without an entry; --type mask keeps them",
                place_.file, grouped(lost)));
        }
        file_.write(matrix_bytes(matrix, place_, form));
        return is_stdout_ ? ""
                          : fmt::format("{}: {} x {}, {} entries, {}\n", utf8_of(place_.file),
                                        matrix.rows, matrix.columns,
                                        grouped(static_cast<std::int64_t>(matrix.entries.size())),
                                        workload::facts_of(matrix.type).name);
    }

private:
    workload::MatrixPlace place_;
    bool is_stdout_;
    process::Output file_;
};

} // namespace

const std::string& needed(const std::string& command, const std::string& option,
                          const std::string& text) {
    if (text.empty()) {
        throw cli::UsageError(fmt::format("{}: expected {} FILE", command, option));
    }
    return text;
}

workload::Marks marks_of(const std::string& command, bool marks,
                         const workload::MatrixPlace& from) {
    if (marks && from.format != workload::MatrixFormat::Safetensors) {
        throw cli::UsageError(command + ": --marks is of .safetensors files");
    }
    return marks ? workload::Marks::Read : workload::Marks::Refused;
}

std::string make_text(const cli::PatternMakeCommand& command) {
    MatrixOutput out("pattern make", command.out);
    const NpzForm form = form_of("pattern make", command.as, command.block, out.place());
    return out.write(generated(command), form);
}

std::string show_text(const cli::PatternShowCommand& command, const Layout& layout) {
    const workload::MatrixPlace from = workload::matrix_place(command.file);
    const workload::Marks marks = marks_of("pattern show", command.marks, from);
    const bool to_stdout = process::check_outputs("pattern show", {{"--json", command.json}});
    const auto json_file = process::open_output(command.json);
    const CoordinateMatrix matrix =
        workload::read_pattern_file(from, workload::Duplicates::Error, marks);
    const Summary summary = summary_of(matrix, command.block);
    const std::string_view type = workload::facts_of(matrix.type).name;
    const std::string file = utf8_of(command.file);
    if (json_file != nullptr) {
        json_file->write(config::text_of_json(summary_json(summary, file, type), 2) + "\n");
    }
    const std::string text = command.quiet ? "" : summary_text(summary, file, type, layout);
    if (to_stdout) {
        process::tell(text);
        return "";
    }
    return text;
}

std::string convert_text(const cli::PatternConvertCommand& command) {
    const workload::MatrixPlace from = workload::matrix_place(command.file);
    const workload::Marks marks = marks_of("pattern convert", command.marks, from);
    MatrixOutput out("pattern convert", command.out);
    const NpzForm form = form_of("pattern convert", command.as, command.block, out.place());
    CoordinateMatrix matrix = workload::read_pattern_file(from, workload::Duplicates::Error, marks);
    if (command.transpose) {
        matrix = transposed(std::move(matrix));
    }
    if (!command.type.empty()) {
        matrix.type =
            workload::find_value_type(&workload::ValueTypeFacts::name, command.type)->type;
        if (!matrix.has_values()) {
            for (workload::CoordinateEntry& entry : matrix.entries) {
                entry.value = 1.0;
            }
        }
    }
    if (command.block > 1) {
        matrix = whole_blocks(matrix, command.block);
    }
    return out.write(matrix, form);
}

} // namespace tessera::pattern
