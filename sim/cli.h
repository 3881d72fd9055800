// SPDX-License-Identifier: MIT
// The command line of `tessera` -> one command. Nothing is done here.
#pragma once

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace tessera::sim {

/// The command line is wrong. Exit code 2.
class UsageError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct RunCommand {
    std::vector<std::string> workloads; ///< names or paths, one or more
    std::string machine = "bow";
    std::vector<std::string> sets; ///< path=value
    std::string json;              ///< file, "-" for stdout, or empty
    std::string out_directory;     ///< or empty
    std::string trace;             ///< file, or empty
    std::string trace_tiles;       ///< as written, or empty
    std::string trace_level;       ///< as written, or empty
    int threads = 1;
    bool check = true;
};

struct ListCommand {
    std::string what; ///< machines, workloads, instructions, or empty for all
};

struct DescribeCommand {
    std::string what; ///< machine or workload
    std::string name; ///< name or path; empty: the list of parameters
    std::vector<std::string> sets;
    bool json = false;
};

struct CheckCommand {
    std::vector<std::string> files;
};

struct SchemaCommand {
    std::string what; ///< machine, workload, result
};

struct VersionCommand {};

struct HelpCommand {
    std::string topic; ///< a command, or empty
};

using Command = std::variant<RunCommand, ListCommand, DescribeCommand, CheckCommand, SchemaCommand,
                             VersionCommand, HelpCommand>;

/// The command of the arguments after the program's name. @throws UsageError, with the nearest name
/// where a command or option is unknown. Options may not be shortened.
[[nodiscard]] Command parse_command_line(const std::vector<std::string>& arguments);

/// What `help`, or `help TOPIC`, prints. @throws UsageError for an unknown topic.
[[nodiscard]] std::string help_text(const std::string& topic);

} // namespace tessera::sim
