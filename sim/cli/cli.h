// SPDX-License-Identifier: MIT
// The command line of `tessera` -> one command. Nothing is done here.
#pragma once

#include "base/layout.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::cli {

/// The command line is wrong. Exit code 2.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct RunCommand {
    std::vector<std::string> workloads; ///< names or paths, one or more
    std::string machine = "bow";        ///< of one run
    std::vector<std::string> machines;  ///< where there are several: each runs every workload
    std::vector<std::string> sets;      ///< path=value
    std::string json;                   ///< file, "-" for stdout, or empty
    std::string csv;                    ///< the same
    std::string out_directory;          ///< or empty
    std::string memory;                 ///< file, or empty
    std::string record;                 ///< file, or empty
    /// Cycles [first, second) whose single executions the recording has.
    std::optional<std::pair<std::int64_t, std::int64_t>> record_window;
    std::string edges;       ///< file, or empty
    std::string report;      ///< file, or empty
    std::string trace;       ///< file, or empty
    std::string trace_tiles; ///< as written, or empty
    std::string trace_level; ///< as written, or empty
    std::string trace_clock; ///< as written, or empty
    int threads = 1;
    std::optional<int> shuffle; ///< seed of another order of simultaneous events
    std::string mode; ///< as written: functional, timing, auto or estimate; empty: functional
    std::optional<int> audit;      ///< tiles, in timing mode
    std::optional<int> max_cycles; ///< the run ends with a mistake where it takes more
    std::string point;             ///< what a key of `store` begins with, or empty
    std::string store;             ///< folder of a sweep's results; empty: all *.sweep here
    bool check = true;
    bool quiet = false; ///< no summary
};

struct VertexCommand {
    std::string vertex;                           ///< name or path
    std::string machine;                          ///< empty: as the file says
    std::vector<std::string> sets;                ///< path=value
    std::vector<std::string> include_directories; ///< of -I
    std::vector<std::string> defines;             ///< of -D: X or X=Y
    std::string out_directory;                    ///< or empty
    std::string json;                             ///< file, "-" for stdout, or empty
    std::vector<std::string> expects;             ///< FILE.npy or array=FILE.npy
    std::vector<std::string> dumps;               ///< array=FILE.npy
    std::string fit;                              ///< formula, or empty
    std::string fit_of = "tile_cycles";           ///< or worker_cycles
    std::string trace;                            ///< file, or empty
    std::string konata;                           ///< file, or empty
    bool arrays = false;                          ///< values in the JSON
    bool lockstep = false;
    std::optional<std::int64_t> lockstep_limit; ///< cycles of a phase
    bool quiet = false;                         ///< no report
};

struct CalibrateCommand {
    std::string reference;    ///< folder of CSV files, or empty: the project's own
    std::string group;        ///< only this one, or empty
    std::string json;         ///< file, "-" for stdout, or empty
    std::string csv;          ///< file, "-" for stdout, or empty
    std::string store;        ///< folder that keeps results of runs, or empty
    int seeds = 1;            ///< patterns of each sparse row
    int threads = 1;          ///< runs at a time
    bool check = false;       ///< a target that is missed is a failure
    bool unexplained = false; ///< tell what measured cycles have over simulated ones
    bool quiet = false;       ///< no table
};

struct DiffCommand {
    std::string a; ///< a result: file, folder of --out, or STORE:KEY
    std::string b;
    std::string json;   ///< file, "-" for stdout, or empty
    std::string report; ///< page for the browser, or empty
    bool quiet = false;
};

struct ExplainCommand {
    std::string what; ///< a result, as of DiffCommand
    std::string step; ///< what its name begins with; empty: the run
};

struct ReportCommand {
    std::vector<std::string> inputs; ///< results, folders of --out, stores; one or more
    std::string output;              ///< file, or "-" for stdout
    bool quiet = false;              ///< no line on stdout
};

struct PlotCommand {
    std::string what; ///< a result, as of DiffCommand, or a store
    std::string chart;
    std::string output; ///< file; its ending says the format
};

struct ListCommand {
    std::string what;   ///< machines, workloads, vertices, instructions, parameters; empty: all
    bool names = false; ///< names alone
    bool paths = false; ///< files instead of descriptions
};

struct DescribeCommand {
    std::string what; ///< machine or workload
    std::string name; ///< name or path; empty: the list of parameters
    std::vector<std::string> sets;
    bool json = false;
    bool expanded = false; ///< a workload with all steps that are made of it
};

struct CheckCommand {
    std::vector<std::string> files;
};

struct SchemaCommand {
    std::string what; ///< machine, workload, result, memory, vertex, vertex_result, calibration,
                      ///< sweep
};

struct AssembleCommand {
    std::vector<std::string> files;
    std::vector<std::string> include_directories;
    std::vector<std::string> defines; ///< NAME or NAME=VALUE
    std::string machine = "bow";
    std::vector<std::string> sets;
    std::string address; ///< as written, or empty: the start of region 0
    std::string out;     ///< file for the words, or empty
    std::string json;    ///< file, "-" for stdout, or empty
    bool listing = false;
    bool summary = false;         ///< count instructions and the bytes of each section
    bool allow_undefined = false; ///< list symbols that nobody defines
    bool quiet = false;           ///< no list of symbols
};

struct DisassembleCommand {
    std::string file;
    std::string machine = "bow";
    std::string address; ///< as written, or empty: the start of region 0
    bool hex = false;    ///< the file is text of hexadecimal words
};

/// `tessera sweep run` and `tessera sweep worker`.
struct SweepRunCommand {
    std::string what; ///< a sweep's or workload's name or file
    std::vector<std::string> machines;
    std::vector<std::string> sets;  ///< path=value, or several values
    std::string mode;               ///< empty: the sweep's
    std::string store;              ///< folder, or empty: NAME.sweep; a worker's may be none
    int jobs = 1;                   ///< points at a time
    int time_limit_s = 0;           ///< of a point; 0: none
    int memory_limit_mib = 0;       ///< of a point; 0: none
    std::vector<std::string> retry; ///< statuses that count as not known
    bool screen = false;            ///< by estimates first
    double keep_percent = 10;       ///< of the points, then
    bool keep_lists = false;        ///< lists of steps too
    int shard = 0;
    int shards = 1;
    bool from_stdin = false; ///< points come a line each, and answers go
    bool dry_run = false;
    bool quiet = false;
};

struct SweepShowCommand {
    std::string store;
    std::string sweep;                   ///< whose objectives and constraints; empty: the store's
    std::vector<std::string> columns;    ///< besides what changes
    std::vector<std::string> filters;    ///< conditions on points
    std::vector<std::string> sort;       ///< paths, the first counts most; `-path`: largest first
    std::vector<std::string> group;      ///< paths: one row for the points that agree there
    std::vector<std::string> objectives; ///< `path` or `path:max`
    std::string look;                    ///< points, pareto, sensitivity, best
    std::string base;                    ///< machine or key that best is compared with, or empty
    std::string format;                  ///< text, csv, json
    int limit = 0;                       ///< rows; 0: all
};

struct SweepStatusCommand {
    std::string store;
    std::string sweep; ///< that is asked about; empty: the one that the store ran last
};

struct SweepCollectCommand {
    std::vector<std::string> stores;
    std::string into;   ///< a store, or empty
    std::string sqlite; ///< file, or empty
    std::string csv;    ///< file, "-" for stdout, or empty
    bool quiet = false;
};

struct SweepDiffCommand {
    std::string before;
    std::string after;
    std::string path; ///< that is compared
    std::string format;
};

struct SweepSubmitCommand {
    SweepRunCommand run;
    std::string engine;
    std::vector<std::string> engine_options; ///< of sbatch
    bool print = false;                      ///< what would be submitted
};

struct ImportCommand {
    std::string model;                  ///< file, or empty with `operators`
    std::string out;                    ///< the workload's file
    std::vector<std::string> sizes;     ///< NAME=NUMBER
    std::vector<std::string> constants; ///< NAME=FILE
    bool operators = false;             ///< list those that are translated
    bool quiet = false;                 ///< no report
};

struct PatternMakeCommand {
    std::string generator;
    std::string size;              ///< as written: ROWSxCOLUMNS
    std::vector<std::string> keys; ///< KEY=VALUE of the generator
    int block = 1;
    std::string as; ///< storage of an .npz file, or empty
    std::string out;
};

struct PatternShowCommand {
    std::string file;
    int block = 1;
    bool marks = false; ///< NaN is the mark of what is pruned
    std::string json;   ///< file, "-" for stdout, or empty
    bool quiet = false;
};

struct PatternConvertCommand {
    std::string file;
    int block = 1; ///< more: blocks are kept as a whole
    bool transpose = false;
    bool marks = false;
    std::string type; ///< of values, or empty: as they are
    std::string as;   ///< storage of an .npz file, or empty
    std::string out;
};

struct PatternSparsifyCommand {
    std::string file;
    std::string config;
    std::string out;
    bool quiet = false;
};

struct PatternFinalizeCommand {
    std::string file;
    std::string out;
    bool quiet = false;
};

struct PatternEvolveCommand {
    std::string file;
    std::string schedule;
    std::string gradients; ///< file, or empty
    int block = 1;
    bool marks = false;
    std::string out; ///< folder
    bool quiet = false;
};

struct PatternEncodeCommand {
    std::string file;
    std::string workload; ///< name or path
    std::string machine = "bow";
    std::vector<std::string> sets; ///< path=value
    std::string tensor;            ///< or empty: the only one
    std::string step;              ///< the same
    std::optional<int> bucket;     ///< to be shown
    bool marks = false;
    std::string out;  ///< .npz file, or empty
    std::string json; ///< file, "-" for stdout, or empty
    bool quiet = false;
};

struct CompletionCommand {
    std::string shell; ///< bash or zsh
};

struct ManualCommand {};

struct VersionCommand {};

struct HelpCommand {
    std::string topic; ///< a command, or empty
};

using Command = std::variant<
    RunCommand, VertexCommand, CalibrateCommand, DiffCommand, ExplainCommand, PlotCommand,
    ReportCommand, AssembleCommand, DisassembleCommand, ListCommand, DescribeCommand, CheckCommand,
    SchemaCommand, SweepRunCommand, SweepShowCommand, SweepStatusCommand, SweepCollectCommand,
    SweepDiffCommand, SweepSubmitCommand, ImportCommand, PatternMakeCommand, PatternShowCommand,
    PatternConvertCommand, PatternSparsifyCommand, PatternFinalizeCommand, PatternEvolveCommand,
    PatternEncodeCommand, CompletionCommand, ManualCommand, VersionCommand, HelpCommand>;

enum class ColorChoice { Auto, Always, Never };

struct CommandLine {
    Command command;
    ColorChoice color = ColorChoice::Auto;
};

/// The command of the arguments after the program's name. @throws UsageError, with the nearest name
/// where a command or option is unknown. Options may not be shortened.
[[nodiscard]] CommandLine parse_command_line(const std::vector<std::string>& arguments);

/// What `help`, or `help TOPIC`, prints. @throws UsageError for an unknown topic.
[[nodiscard]] std::string help_text(const std::string& topic, const Layout& layout = {});

/// The completion of the command line for a shell.
[[nodiscard]] std::string completion_text(const CompletionCommand& command);

/// The manual page, as troff with the macros of man.
[[nodiscard]] std::string manual_text();

} // namespace tessera::cli
