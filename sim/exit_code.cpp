// SPDX-License-Identifier: MIT
#include "sim/exit_code.h"

#include "base/error.h"
#include "sim/cli.h"
#include "sim/screen.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>

namespace tessera::sim {
namespace {

int tell(const std::string& text, ExitCode code) {
    // whose message it is, or the file: what stands in front of the first colon
    const std::size_t head = std::min(text.find(": "), text.find('\n'));
    const std::string shown =
        head == std::string::npos
            ? text
            : painted(layout_of(stderr), Paint::Bad, text.substr(0, head)) + text.substr(head);
    std::fputs((shown + "\n").c_str(), stderr);
    return code;
}

} // namespace

void tell_warning(const std::string& sentence) {
    const std::string head = painted(layout_of(stderr), Paint::Warning, "tessera: warning:") + " ";
    std::fputs((head + sentence + "\n").c_str(), stderr);
}

int report_error(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const UsageError& usage) {
        return tell(std::string("tessera: ") + usage.what(), kUsage);
    } catch (const ConfigError& config) {
        return tell(config.what(), kConfig);
    } catch (const DoesNotFit& memory) {
        return tell(std::string("tessera: does not fit: ") + memory.what(), kDoesNotFit);
    } catch (const ProgramError& program) {
        return tell(program.what(), kProgramFault);
    } catch (const NotModelled& absent) {
        return tell(absent.what(), kProgramFault);
    } catch (const IoError& io) {
        return tell(std::string("tessera: ") + io.what(), kIo);
    } catch (const std::bad_alloc&) {
        return tell("tessera: the host has not enough memory for this run", kBug);
    } catch (const std::exception& bug) {
        return tell(std::string("tessera: internal error: ") + bug.what(), kBug);
    }
}

} // namespace tessera::sim
