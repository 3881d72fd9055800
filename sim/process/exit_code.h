// SPDX-License-Identifier: MIT
// The program's exit codes, and the one place that turns an error or a warning into text.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace tessera::process {

enum ExitCode : int {
    kOk = 0,
    kCheckFailed = 1,  ///< ran, but the answer is wrong
    kUsage = 2,        ///< UsageError
    kConfig = 3,       ///< ConfigError
    kDoesNotFit = 4,   ///< DoesNotFit
    kProgramFault = 5, ///< ProgramError, NotModelled
    kIo = 6,           ///< IoError
    kBug = 70,         ///< anything else
    kHostMemory = 71,  ///< OutOfHostMemory, and what the system says of that kind
};

/// An error as a run's outcome.
struct Failure {
    int exit_code = kBug;
    std::string message; ///< lines for people
    bool is_not_modelled = false;
};
[[nodiscard]] Failure failure_of(const std::exception_ptr& error);

/// What a child process failed with.
class ChildFailed : public std::runtime_error {
public:
    explicit ChildFailed(Failure failure)
        : std::runtime_error(failure.message), failure_(std::move(failure)) {}
    [[nodiscard]] const Failure& failure() const { return failure_; }

private:
    Failure failure_;
};

/// Prints to stderr behind all that stdout has got, so that lines stay whole where both go to one
/// place.
void tell(const std::string& text);

/// Prints a warning to stderr.
void tell_warning(const std::string& sentence);

/// Prints what failed though nothing was thrown, a wrong answer for example, to stderr.
void tell_failure(const std::string& sentence);

/// Prints the error to stderr and returns its exit code.
int report_error(const std::exception_ptr& error);

/// The worse of two exit codes, worst first: 70, 71, 6, 5, 3, 4, 1, 0.
[[nodiscard]] int worse(int left, int right);

} // namespace tessera::process
