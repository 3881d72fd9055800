// SPDX-License-Identifier: MIT
// The commands of `tessera sweep`.
#include "base/text.h"
#include "sim/cli/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tessera::cli {
namespace {

const std::vector<std::string> kStatuses{
    "check_failed", "does_not_fit", "fault", "not_modelled", "invalid", "time_limit",
    "memory_limit", "killed",       "crash", "error",        "failed"};
const std::vector<std::string> kFormats{"text", "csv", "json"};

/// Options of points, which `run`, `worker` and `submit` have.
std::vector<OptionSpec> of_points() {
    return {
        texts("machine", "M", "another machine than the sweep's, or several", Completes::Machine),
        texts("set", "PATH=VALUES",
              "a parameter of all points, or an axis of several values: tile.workers=4,6,8",
              Completes::Parameter),
        word("mode", "MODE", "instead of the sweep's", {"timing", "functional", "auto", "estimate"},
             ""),
        text("store", "DIR", "folder of results; NAME.sweep if not given", Completes::Directory),
        otherwise(default_threads(), number("jobs", "N", "points that run at a time"), "all cores"),
        number("time-limit", "S", "end a point after S seconds"),
        number("memory-limit", "MIB", "let a point take MIB of addresses besides what all share"),
        texts("retry", "STATUS", "run points again that ended so, as `failed` or time_limit"),
        texts("keep", "WHAT",
              "full: lists of steps too; with --screen how many of the points, as in 10%")};
}

int at_least_0(const std::string& command, const Given& given, const std::string& option) {
    const int number = given.has(option) ? given.number(option) : 0;
    if (number < 0) {
        throw UsageError(
            fmt::format("{}: --{}: got {}, expected 0 or more", command, option, number));
    }
    return number;
}

double percent_of(const std::string& command, const std::string& text) {
    double percent = 0;
    const char* const end = text.data() + text.size() - 1;
    const auto [stop, error] = std::from_chars(text.data(), end, percent);
    if (error != std::errc{} || stop != end || !(percent > 0 && percent <= 100)) {
        throw UsageError(fmt::format("{}: --keep: got {}, expected more than 0% to 100%", command,
                                     in_quotes(text)));
    }
    return percent;
}

/// "2/8" -> the third of eight.
void take_shard(const std::string& command, const std::string& text, SweepRunCommand& run) {
    const std::size_t slash = text.find('/');
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    bool right = slash != std::string::npos;
    if (right) {
        const auto first = std::from_chars(begin, begin + slash, run.shard);
        const auto second = std::from_chars(begin + slash + 1, end, run.shards);
        right = first.ec == std::errc{} && first.ptr == begin + slash && second.ec == std::errc{} &&
                second.ptr == end && run.shard >= 0 && run.shard < run.shards;
    }
    if (!right) {
        throw UsageError(fmt::format("{}: --shard: got {}, expected I/N, I from 0 to N - 1",
                                     command, in_quotes(text)));
    }
}

SweepRunCommand run_of(const std::string& command, const Given& given) {
    refuse_empty(command, given, {"store"});
    refuse_dash_folder(command, given.text("store"), "store");
    SweepRunCommand run;
    run.what = given.operands().at(0);
    run.machines = given.texts("machine");
    run.sets = given.texts("set");
    run.mode = given.text("mode");
    run.store = given.text("store");
    run.jobs = threads_of(command, given, "jobs");
    run.time_limit_s = at_least_0(command, given, "time-limit");
    run.memory_limit_mib = at_least_0(command, given, "memory-limit");
    run.retry = given.texts("retry");
    for (const std::string& status : run.retry) {
        if (std::find(kStatuses.begin(), kStatuses.end(), status) == kStatuses.end()) {
            throw UsageError(fmt::format("{}: --retry: got {}, expected one of {}", command,
                                         in_quotes(status), fmt::join(kStatuses, ", ")));
        }
    }
    bool has_percent = false;
    for (const std::string& keep : given.texts("keep")) {
        if (keep == "full") {
            run.keep_lists = true;
        } else if (!keep.empty() && keep.back() == '%') {
            run.keep_percent = percent_of(command, keep);
            has_percent = true;
        } else {
            throw UsageError(fmt::format("{}: --keep: got {}, expected full or a share as in 10%",
                                         command, in_quotes(keep)));
        }
    }
    run.screen = given.has("screen");
    if (has_percent && !run.screen) {
        throw UsageError(command + ": --keep of a share goes with --screen estimate");
    }
    return run;
}

Command make_sweep_run(const Given& given) {
    SweepRunCommand run = run_of("sweep run", given);
    run.dry_run = given.has("dry-run");
    run.quiet = given.has("quiet");
    return run;
}

Command make_sweep_worker(const Given& given) {
    SweepRunCommand run = run_of("sweep worker", given);
    run.from_stdin = given.has("stdin");
    run.quiet = given.has("quiet");
    if (given.has("shard") && run.from_stdin) {
        throw UsageError("sweep worker: --shard and --stdin do not go together");
    }
    if (given.has("shard")) {
        take_shard("sweep worker", given.text("shard"), run);
    }
    return run;
}

Command make_sweep_submit(const Given& given) {
    SweepSubmitCommand submit;
    submit.run = run_of("sweep submit", given);
    submit.run.shards = given.number("shards");
    if (submit.run.shards < 1 || submit.run.shards > 100'000) {
        throw UsageError(
            fmt::format("sweep submit: --shards: got {}, expected 1..100000", submit.run.shards));
    }
    submit.engine = given.text("engine");
    submit.engine_options.assign(given.operands().begin() + 1, given.operands().end());
    submit.print = given.has("print");
    return submit;
}

Command make_sweep_show(const Given& given) {
    refuse_empty("sweep show", given, {"sweep", "format", "base"});
    SweepShowCommand show;
    show.store = given.operands().at(0);
    show.sweep = given.text("sweep");
    show.columns = given.texts("columns");
    show.filters = given.texts("filter");
    show.sort = given.texts("sort");
    show.group = given.texts("group");
    show.objectives = given.texts("objective");
    show.format = given.text("format");
    show.limit = at_least_0("sweep show", given, "limit");
    show.base = given.text("base");
    show.look = "points";
    for (const char* look : {"pareto", "sensitivity", "best"}) {
        if (given.has(look)) {
            if (show.look != "points") {
                throw UsageError(
                    fmt::format("sweep show: --{} and --{} do not go together", show.look, look));
            }
            show.look = look;
        }
    }
    if (!show.base.empty() && show.look != "best") {
        throw UsageError("sweep show: --base says what --best is compared with");
    }
    return show;
}

Command make_sweep_status(const Given& given) {
    refuse_empty("sweep status", given, {"sweep"});
    return SweepStatusCommand{given.operands().at(0), given.text("sweep")};
}

Command make_sweep_collect(const Given& given) {
    refuse_empty("sweep collect", given, {"into", "sqlite", "csv"});
    refuse_dash_folder("sweep collect", given.text("into"), "into");
    SweepCollectCommand collect;
    collect.stores = given.operands();
    collect.into = given.text("into");
    collect.sqlite = given.text("sqlite");
    collect.csv = given.text("csv");
    collect.quiet = given.has("quiet");
    if (collect.into.empty() && collect.sqlite.empty() && collect.csv.empty()) {
        throw UsageError("sweep collect: expected --into, --sqlite or --csv");
    }
    return collect;
}

Command make_sweep_diff(const Given& given) {
    SweepDiffCommand diff;
    diff.before = given.operands().at(0);
    diff.after = given.operands().at(1);
    diff.path = given.text("path");
    diff.format = given.text("format");
    return diff;
}

std::vector<OptionSpec> joined(std::vector<OptionSpec> options, std::vector<OptionSpec> more) {
    for (OptionSpec& option : more) {
        options.push_back(std::move(option));
    }
    return options;
}

OptionSpec format_option() {
    return word("format", "FORMAT", "of what is printed", kFormats, "text");
}

CommandSpec run_spec() {
    return {
        .name = "sweep run",
        .usage = "SWEEP|WORKLOAD [options]",
        .sentence = "runs all points of a sweep that its store does not have yet",
        .operands = {"sweep", 1, 1, Completes::Sweep},
        .options = joined(
            of_points(),
            {word("screen", "HOW",
                  "run all points by closed forms first, then only the best in the sweep's mode",
                  {"estimate"}, ""),
             flag("dry-run", "only say how many points there are and are known, and how long the "
                             "others may take"),
             quiet()}),
        .examples = {{"tessera sweep run workers", "a machine with 4, 6 and 8 workers a tile"},
                     {"tessera sweep run tiny_matmul --set tile.workers=4,6 --set workload.n=32,64",
                      "four points without a file"}},
        .make = make_sweep_run};
}

CommandSpec show_spec() {
    return {
        .name = "sweep show",
        .usage = "STORE [options]",
        .sentence = "prints a store's points, or what follows from them",
        .operands = {"store", 1, 1, Completes::Directory},
        .options =
            {texts("columns", "PATHS", "numbers of results, with commas; cycles if not given"),
             texts("filter", "CONDITION",
                   "only points where it holds, as in 'tile.workers > 4 && cycles < 1e6'"),
             texts("sort", "PATH", "in the order of a column; -PATH: the largest first"),
             texts("group", "PATHS", "one row for all points that agree there: their mean"),
             number("limit", "N", "print at most N rows"),
             flag("pareto", "points that no other is better than in all objectives"),
             flag("best", "the best point of each objective, and how it differs from the first"),
             text("base", "NAME|KEY",
                  "with --best: the machine, or the point by its key, that it is compared with",
                  Completes::Machine),
             flag("sensitivity", "how much the objectives change with each path"),
             texts("objective", "PATH",
                   "what is good, instead of the sweep's: PATH is the smallest, "
                   "PATH:max the largest"),
             text("sweep", "SWEEP", "whose objectives and constraints; the store's if not given",
                  Completes::Sweep),
             format_option()},
        .examples = {{"tessera sweep show workers.sweep", "what came out, a line a point"},
                     {"tessera sweep show workers.sweep --best", "the fastest machine"}},
        .make = make_sweep_show};
}

CommandSpec status_spec() {
    return {
        .name = "sweep status",
        .usage = "STORE [options]",
        .sentence = "says how far a sweep is, and why points are not ok",
        .operands = {"store", 1, 1, Completes::Directory},
        .options = {text("sweep", "SWEEP", "which; the one that the store ran last if not given",
                         Completes::Sweep)},
        .examples = {{"tessera sweep status workers.sweep",
                      "also while it runs, here or on other machines"}},
        .make = make_sweep_status};
}

CommandSpec collect_spec() {
    return {.name = "sweep collect",
            .usage = "STORE... [options]",
            .sentence = "brings stores together: each point once, in a store, SQLite or CSV",
            .operands = {"store", 1, 100'000, Completes::Directory},
            .options = {text("into", "DIR", "add the points to a store", Completes::Directory),
                        text("sqlite", "FILE", "a table `points` with a column for every number"),
                        text("csv", "FILE", "the same as text; - for stdout"), quiet()},
            .examples = {{"tessera sweep collect a.sweep b.sweep --csv all.csv",
                          "the points of both as a table"}},
            .make = make_sweep_collect};
}

CommandSpec diff_spec() {
    return {
        .name = "sweep diff",
        .usage = "STORE STORE [options]",
        .sentence = "compares the points that two stores have in common",
        .operands = {"store", 2, 2, Completes::Directory},
        .options = {otherwise("cycles", text("path", "PATH", "the number that is compared",
                                             Completes::Nothing)),
                    format_option()},
        .examples = {{"tessera sweep diff before.sweep after.sweep",
                      "what another version of the program says; ends with 1 where that differs"}},
        .make = make_sweep_diff};
}

CommandSpec worker_spec() {
    return {.name = "sweep worker",
            .usage = "SWEEP|WORKLOAD [--shard I/N | --stdin] [options]",
            .sentence = "runs a part of a sweep, or points that come on stdin, a line each",
            .operands = {"sweep", 1, 1, Completes::Sweep},
            .options =
                joined(of_points(),
                       {text("shard", "I/N", "points I, I + N, I + 2 N, ...; all if not given",
                             Completes::Nothing),
                        flag("stdin", "read {\"PATH\": VALUE, ...} a line, answer a result a "
                                      "line; kept only with --store"),
                        quiet()}),
            .examples = {{"tessera sweep worker workers --shard 0/4 --store all.sweep",
                          "a quarter of the points"}},
            .make = make_sweep_worker};
}

CommandSpec submit_spec() {
    return {.name = "sweep submit",
            .usage = "SWEEP|WORKLOAD --shards N [options] -- SBATCH OPTIONS",
            .sentence = "gives a sweep to a cluster's scheduler: an array of N workers",
            .operands = {"sweep", 1, 1000, Completes::Sweep},
            .options = joined(
                of_points(),
                {word("engine", "ENGINE", "the scheduler (slurm if not given)", {"slurm"}, ""),
                 otherwise("1", number("shards", "N", "workers")),
                 flag("print", "only print the script")}),
            .examples = {{"tessera sweep submit workers --shards 8 -- --time=1:00:00 -c 4",
                          "eight tasks of four cores"}},
            .make = make_sweep_submit};
}

} // namespace

std::vector<CommandSpec> sweep_commands() {
    return {run_spec(),  show_spec(),   status_spec(), collect_spec(),
            diff_spec(), worker_spec(), submit_spec()};
}

} // namespace tessera::cli
