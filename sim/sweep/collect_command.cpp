// SPDX-License-Identifier: MIT
#include "base/activity.h"
#include "base/text.h"
#include "sim/exit_code.h"
#include "sim/progress_line.h"
#include "sim/sweep/collect.h"
#include "sim/sweep/commands.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/need_store.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

namespace tessera::sim {

int sweep_collect(const SweepCollectCommand& command) {
    std::string text;
    {
        const ActivityWatch watch("collect", !command.quiet);
        const Activity reading("reading stores");
        const sweep::Merged merged({command.stores.begin(), command.stores.end()});
        text = fmt::format("{} points of {} lines",
                           grouped(static_cast<std::int64_t>(merged.points())),
                           grouped(static_cast<std::int64_t>(merged.lines())));
        tell_damage(merged.damage());
        if (!command.into.empty()) {
            const std::size_t added = sweep::merge_into(merged, command.into);
            for (const std::string& store : command.stores) {
                sweep::copy_frozen(store, command.into);
            }
            text += fmt::format(", {} added to {}", grouped(static_cast<std::int64_t>(added)),
                                command.into);
        }
        if (!command.sqlite.empty()) {
            sweep::write_sqlite(merged, command.sqlite);
            text += ", written to " + command.sqlite;
        }
        if (!command.csv.empty()) {
            sweep::write_csv(merged, command.csv);
            text += command.csv == "-" ? "" : ", written to " + command.csv;
        }
    }
    if (!command.quiet) {
        std::fputs((text + "\n").c_str(), command.csv == "-" ? stderr : stdout);
    }
    return kOk;
}

} // namespace tessera::sim
