// SPDX-License-Identifier: MIT
// Errors, told apart by who must act. Libraries throw them; only sim/ prints and chooses an exit
// code.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

/// One mistake in a user's file or option: `file:line:column: /pointer: message; hint`.
/// Fields that do not apply are empty or 0 (a `--set` mistake has file "--set" and no line).
struct Diagnostic {
    std::string file;
    int line = 0;
    int column = 0;
    std::string pointer; ///< JSON pointer, or empty
    std::string message; ///< what, got, expected: lower case, no full stop
    std::string hint;    ///< for example: did you mean 'sram_bytes'?

    /// One line, but for what the message itself has; words of it that are longer than any name are
    /// cut.
    [[nodiscard]] std::string text() const;
};

/// Mistakes that what() tells; the others it counts.
inline constexpr std::size_t kMostMistakesTold = 100;

/// The user's file or option is wrong; carries all the problems at once. Exit code 3.
class ConfigError : public std::runtime_error {
public:
    explicit ConfigError(std::vector<Diagnostic> diagnostics);
    explicit ConfigError(Diagnostic diagnostic)
        : ConfigError(std::vector<Diagnostic>{std::move(diagnostic)}) {}
    [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
    std::vector<Diagnostic> diagnostics_;
};

/// The workload does not fit in tile memory: an answer, not a crash. Exit code 4.
class DoesNotFit : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A tile program broke a rule of the machine. Exit code 5.
class ProgramError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Valid on the machine, knowingly absent here; the text names the page in docs/. Exit code 5.
class NotModelled : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Thrown in timing mode where the next step depends on tensor data, which it does not have.
class NeedsData : public NotModelled {
public:
    using NotModelled::NotModelled;
};

/// A file cannot be read or written. Exit code 6.
class IoError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The host has not the memory that is needed. Exit code 71.
class OutOfHostMemory : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

namespace detail {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
} // namespace detail

} // namespace tessera

/// A broken invariant is our bug: say where and abort.
#define TESSERA_ASSERT(expression)                                                                 \
    ((expression) ? static_cast<void>(0)                                                           \
                  : ::tessera::detail::assertion_failed(#expression, __FILE__, __LINE__))
