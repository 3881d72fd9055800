// SPDX-License-Identifier: MIT
// The program `tessera`. libsystemc exports a main of its own; this one starts SystemC only for
// what simulates.
#include "base/heap.h"
#include "base/host_memory.h"
#include "sim/assemble/assemble.h"
#include "sim/calibrate/calibrate_command.h"
#include "sim/cli/cli.h"
#include "sim/compare/compare_command.h"
#include "sim/explain/explain.h"
#include "sim/importer/import_command.h"
#include "sim/inquire/inquire.h"
#include "sim/pattern/checkpoint.h"
#include "sim/pattern/encode.h"
#include "sim/pattern/evolve.h"
#include "sim/pattern/pattern_command.h"
#include "sim/plot/plot_command.h"
#include "sim/process/exit_code.h"
#include "sim/process/interrupt.h"
#include "sim/process/screen.h"
#include "sim/report/command/report_command.h"
#include "sim/run/batch.h"
#include "sim/sweep/command/commands.h"
#include "sim/sweep/command/stored_point.h"
#include "sim/vertex/command/vertex_command.h"

#include <systemc>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace tessera;

/// What sc_main runs, and what it threw.
const std::function<void()>* body_of_sc_main = nullptr;
std::exception_ptr failure_of_sc_main;

void elaborate(const std::function<void()>& body) {
    setenv("SC_COPYRIGHT_MESSAGE", "DISABLE", 1);
    // What SystemC says of itself goes to stdout, which is the result's.
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
    // A SystemC complaint is a bug of ours: it must not become a line on stderr and a wrong result.
    for (const auto severity : {sc_core::SC_WARNING, sc_core::SC_ERROR, sc_core::SC_FATAL}) {
        sc_core::sc_report_handler::set_actions(severity, sc_core::SC_THROW);
    }
    body_of_sc_main = &body;
    std::string name = "tessera";
    std::vector<char*> arguments{name.data(), nullptr};
    sc_core::sc_elab_and_sim(1, arguments.data());
    if (failure_of_sc_main != nullptr) {
        std::rethrow_exception(failure_of_sc_main);
    }
}

struct Execute {
    int operator()(const cli::RunCommand& command) const {
        return run::run_command(command.point.empty() ? command : sweep::of_stored_point(command),
                                elaborate);
    }
    int operator()(const cli::VertexCommand& command) const {
        return vertex::vertex_command(command);
    }
    int operator()(const cli::CalibrateCommand& command) const {
        return calibrate::calibrate_command(command, elaborate);
    }
    int operator()(const cli::ReportCommand& command) const {
        return say(report::report_text(command));
    }
    int operator()(const cli::SweepRunCommand& command) const {
        return command.from_stdin ? sweep::sweep_answer(command, elaborate)
                                  : sweep::sweep_run(command, elaborate);
    }
    int operator()(const cli::SweepShowCommand& command) const {
        return sweep::sweep_show(command);
    }
    int operator()(const cli::SweepStatusCommand& command) const {
        return sweep::sweep_status(command);
    }
    int operator()(const cli::SweepCollectCommand& command) const {
        return sweep::sweep_collect(command);
    }
    int operator()(const cli::SweepDiffCommand& command) const {
        return sweep::sweep_diff(command);
    }
    int operator()(const cli::SweepSubmitCommand& command) const {
        return sweep::sweep_submit(command);
    }
    int operator()(const cli::DiffCommand& command) const { return compare::diff_command(command); }
    int operator()(const cli::ExplainCommand& command) const {
        return say(explain::explain_text(command, process::layout_of(stdout)));
    }
    int operator()(const cli::PlotCommand& command) const { return plot::plot_command(command); }
    int operator()(const cli::ListCommand& command) const {
        return say(inquire::list_text(command, process::layout_of(stdout)));
    }
    int operator()(const cli::DescribeCommand& command) const {
        return say(inquire::describe_text(command, process::layout_of(stdout)));
    }
    int operator()(const cli::CheckCommand& command) const {
        return say(inquire::check_text(command));
    }
    int operator()(const cli::SchemaCommand& command) const {
        return say(inquire::schema_text(command));
    }
    int operator()(const cli::AssembleCommand& command) const {
        return say(assemble::assemble_text(command));
    }
    int operator()(const cli::DisassembleCommand& command) const {
        return say(assemble::disassemble_text(command));
    }
    int operator()(const cli::ImportCommand& command) const {
        return say(importer::import_text(command, process::layout_of(stdout)));
    }
    int operator()(const cli::PatternMakeCommand& command) const {
        return say(pattern::make_text(command));
    }
    int operator()(const cli::PatternShowCommand& command) const {
        return say(pattern::show_text(command, process::layout_of(stdout)));
    }
    int operator()(const cli::PatternConvertCommand& command) const {
        return say(pattern::convert_text(command));
    }
    int operator()(const cli::PatternSparsifyCommand& command) const {
        return say(pattern::sparsify_text(command, process::layout_of(stdout)));
    }
    int operator()(const cli::PatternFinalizeCommand& command) const {
        return say(pattern::finalize_text(command));
    }
    int operator()(const cli::PatternEvolveCommand& command) const {
        return say(pattern::evolve_text(command, process::layout_of(stdout)));
    }
    int operator()(const cli::PatternEncodeCommand& command) const {
        return say(pattern::encode_text(command, process::layout_of(stdout)));
    }
    int operator()(const cli::VersionCommand&) const { return say(inquire::version_text()); }
    int operator()(const cli::CompletionCommand& command) const {
        return say(cli::completion_text(command));
    }
    int operator()(const cli::ManualCommand&) const { return say(cli::manual_text()); }
    int operator()(const cli::HelpCommand& command) const {
        return say(cli::help_text(command.topic, process::layout_of(stdout)));
    }

    static int say(const std::string& text) {
        std::fputs(text.c_str(), stdout);
        return process::kOk;
    }
};

} // namespace

int sc_main(int /*argc*/, char* /*argv*/[]) {
    try {
        (*body_of_sc_main)();
    } catch (...) {
        failure_of_sc_main = std::current_exception();
    }
    return 0;
}

int main(int argc, char* argv[]) {
    tessera::keep_freed_memory();
    if (tessera::are_addresses_limited()) {
        tessera::spare_addresses();
    }
    process::install_signal_handlers();
    int code = process::kBug;
    try {
        const cli::CommandLine line = cli::parse_command_line({argv + 1, argv + argc});
        process::choose_color(line.color);
        code = std::visit(Execute{}, line.command);
    } catch (...) {
        code = process::report_error(std::current_exception());
    }
    // a write that failed before, when the buffer was full, leaves the flag
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        process::tell("tessera: standard output cannot be written\n");
        return code == process::kOk ? process::kIo : code;
    }
    return code;
}
