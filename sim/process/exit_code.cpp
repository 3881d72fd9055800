// SPDX-License-Identifier: MIT
#include "sim/process/exit_code.h"

#include "base/error.h"
#include "base/text.h"
#include "sim/cli/cli.h"
#include "sim/process/screen.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string_view>
#include <system_error>

namespace tessera::process {
namespace {

bool is_of_resources(const std::system_error& error) {
    return error.code() == std::errc::resource_unavailable_try_again ||
           error.code() == std::errc::not_enough_memory;
}

/// oneTBB tells so, and in no other way, of a thread that the system does not let it start.
bool is_of_threads(const std::exception& error) {
    return std::string_view(error.what()).starts_with("pthread_create has failed");
}

/// How bad: the place in the list, from the end.
std::ptrdiff_t badness(int code) {
    static constexpr std::array<int, 8> kWorstLast{
        kOk, kCheckFailed, kDoesNotFit, kConfig, kProgramFault, kIo, kHostMemory, kBug};
    return std::find(kWorstLast.begin(), kWorstLast.end(), code) - kWorstLast.begin();
}

/// Whose message it is, or the file, stands in front of the first colon.
std::string with_head_painted(const std::string& text) {
    const std::size_t head = std::min(text.find(": "), text.find('\n'));
    return head == std::string::npos
               ? text
               : painted(layout_of(stderr), Paint::Bad, text.substr(0, head)) + text.substr(head);
}

} // namespace

void tell(const std::string& text) {
    std::fflush(stdout); // what fails is found at the end, by the flag that it leaves
    std::fputs(text.c_str(), stderr);
}

void tell_warning(const std::string& sentence) {
    tell(painted(layout_of(stderr), Paint::Warning, "tessera: warning:") + " " + sentence + "\n");
}

void tell_failure(const std::string& sentence) {
    tell(with_head_painted("tessera: " + sentence) + "\n");
}

Failure failure_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const ChildFailed& child) {
        return child.failure();
    } catch (const cli::UsageError& usage) {
        return {kUsage, std::string("tessera: ") + usage.what()};
    } catch (const ConfigError& config) {
        return {kConfig, config.what()};
    } catch (const DoesNotFit& memory) {
        return {kDoesNotFit, std::string("tessera: does not fit: ") + memory.what()};
    } catch (const ProgramError& program) {
        return {kProgramFault, program.what()};
    } catch (const NotModelled& absent) {
        return {kProgramFault, absent.what(), true};
    } catch (const IoError& io) {
        return {kIo, std::string("tessera: ") + io.what()};
    } catch (const OutOfHostMemory& memory) {
        return {kHostMemory, std::string("tessera: ") + memory.what()};
    } catch (const std::bad_alloc&) {
        return {kHostMemory, "tessera: the host has not enough memory for this run"};
    } catch (const std::system_error& system) {
        return {is_of_resources(system) ? kHostMemory : kBug,
                std::string("tessera: of the system: ") + system.what()};
    } catch (const std::exception& bug) {
        return is_of_threads(bug)
                   ? Failure{kHostMemory, std::string("tessera: of the system: ") + bug.what()}
                   : Failure{kBug, std::string("tessera: internal error: ") + bug.what()};
    }
}

int report_error(const std::exception_ptr& error) {
    const Failure failure = failure_of(error);
    tell(with_head_painted(with_words_cut(failure.message)) + "\n");
    return failure.exit_code;
}

int worse(int left, int right) {
    return badness(left) >= badness(right) ? left : right;
}

} // namespace tessera::process
