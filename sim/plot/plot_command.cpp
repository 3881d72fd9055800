// SPDX-License-Identifier: MIT
#include "sim/plot/plot_command.h"

#include "base/error.h"
#include "base/text.h"
#include "sim/compare/compare_command.h"
#include "sim/plot/charts.h"
#include "sim/process/exit_code.h"
#include "sim/process/output.h"
#include "sim/recording/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

namespace tessera::plot {
namespace {

namespace fs = std::filesystem;

/// The command line takes the names of kCharts alone.
const ChartName& chart_called(const std::string& name) {
    const auto found = std::find_if(std::begin(kCharts), std::end(kCharts),
                                    [&](const ChartName& one) { return name == one.name; });
    TESSERA_ASSERT(found != std::end(kCharts));
    return *found;
}

std::string format_of(const std::string& file) {
    const std::string ending = fs::path(file).extension().string();
    if (ending != ".svg" && ending != ".pdf") {
        throw cli::UsageError(
            fmt::format("plot: --output: got {}, expected FILE.svg or FILE.pdf", in_quotes(file)));
    }
    return ending.substr(1);
}

Chart chart_of(const cli::PlotCommand& command) {
    const ChartName& name = chart_called(command.chart);
    if (name.is_of_stores) {
        return chart_of_store(name.name, command.what);
    }
    const nlohmann::json result = compare::result_of(command.what);
    const fs::path file = fs::path(command.what) / recording::kFile;
    std::unique_ptr<recording::Recording> recording;
    if (needs_recording(name.name) && fs::is_directory(command.what) && fs::exists(file)) {
        recording = std::make_unique<recording::Recording>(file);
        if (!recording->is_of(result)) {
            throw IoError(fmt::format("{} is of another run than the result beside it",
                                      in_quotes(file.string())));
        }
    }
    return chart_of_result(name.name, result, recording.get());
}

} // namespace

int plot_command(const cli::PlotCommand& command) {
    for (const auto& [option, text] :
         {std::pair{"chart", &command.chart}, {"output", &command.output}}) {
        if (text->empty()) {
            throw cli::UsageError(fmt::format("plot: expected --{}", option));
        }
    }
    const std::string format = format_of(command.output);
    process::Output output(command.output);
    output.write(picture_of(chart_of(command), format));
    return process::kOk;
}

} // namespace tessera::plot
