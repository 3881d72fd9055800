// SPDX-License-Identifier: MIT
#include "base/activity.h"
#include "base/output_place.h"
#include "base/text.h"
#include "sim/cli/cli.h"
#include "sim/process/exit_code.h"
#include "sim/process/output.h"
#include "sim/process/progress_line.h"
#include "sim/sweep/collect.h"
#include "sim/sweep/command/commands.h"
#include "sim/sweep/command/tell_damage.h"
#include "sim/sweep/frozen.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::sweep {

namespace {

/// Where tables go: a file each, and none of them is the store. True where one is standard output.
bool check_tables(const cli::SweepCollectCommand& command) {
    const bool to_stdout = process::check_outputs(
        "sweep collect", {{"--sqlite", command.sqlite}, {"--csv", command.csv}});
    if (!command.sqlite.empty() && output_place(command.sqlite).kind != OutputPlace::Kind::File) {
        throw cli::UsageError("sweep collect: --sqlite: got " + in_quotes(command.sqlite) +
                              ", expected a file: a database is not written in a row");
    }
    if (command.into.empty()) {
        return to_stdout;
    }
    std::error_code ignored;
    const auto into =
        std::filesystem::weakly_canonical(std::filesystem::absolute(command.into), ignored);
    for (const auto& [option, path] :
         {std::pair{"--sqlite", command.sqlite}, {"--csv", command.csv}}) {
        if (!path.empty() && output_place(path).path == into) {
            throw cli::UsageError(
                fmt::format("sweep collect: --into {} and {} {} are one path, expected "
                            "different ones",
                            in_quotes(command.into), option, in_quotes(path)));
        }
    }
    return to_stdout;
}

} // namespace

int sweep_collect(const cli::SweepCollectCommand& command) {
    const bool to_stdout = check_tables(command);
    std::unique_ptr<traces::OutputFile> csv;
    if (!command.csv.empty()) {
        csv = std::make_unique<traces::OutputFile>(command.csv);
    }
    std::string text;
    {
        const process::ActivityWatch watch("collect", !command.quiet);
        const Activity reading("reading stores");
        const Merged merged({command.stores.begin(), command.stores.end()});
        text = fmt::format("{} points of {} lines",
                           grouped(static_cast<std::int64_t>(merged.points())),
                           grouped(static_cast<std::int64_t>(merged.lines())));
        tell_damage(merged.damage());
        if (!command.into.empty()) {
            const std::size_t added = merge_into(merged, command.into);
            for (const std::string& store : command.stores) {
                copy_frozen(store, command.into);
            }
            text += fmt::format(", {} added to {}", grouped(static_cast<std::int64_t>(added)),
                                command.into);
        }
        if (!command.sqlite.empty()) {
            write_sqlite(merged, command.sqlite);
            text += ", written to " + command.sqlite;
        }
        if (csv != nullptr) {
            write_csv(merged, *csv);
            text += to_stdout ? "" : ", written to " + command.csv;
        }
    }
    if (!command.quiet) {
        std::fputs((text + "\n").c_str(), to_stdout ? stderr : stdout);
    }
    return process::kOk;
}

} // namespace tessera::sweep
