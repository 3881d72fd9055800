// SPDX-License-Identifier: MIT
#include "sim/process/child.h"

#include "base/error.h"
#include "base/heap.h"
#include "sim/process/interrupt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::process {
namespace {

using Clock = std::chrono::steady_clock;

void write_all(int descriptor, const std::string& text) {
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t now = write(descriptor, text.data() + written, text.size() - written);
        if (now < 0 && errno != EINTR) {
            throw IoError(fmt::format("result pipe: {}", std::strerror(errno)));
        }
        written += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
    }
}

/// The child's part: everything but returning.
[[noreturn]] void child_main(const ChildBody& body, int pipe_end) {
    int code = kOk;
    try {
        const ChildOutcome outcome = body();
        code = outcome.exit_code;
        write_all(pipe_end, outcome.text);
    } catch (...) {
        code = report_error(std::current_exception());
    }
    // a full buffer was written, and may have failed, before
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        code = kIo;
    }
    // No destructors of the parent's objects: they would remove its unfinished outputs.
    _exit(code);
}

/// Of this process: what its addresses span.
std::size_t address_bytes() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void limit_memory(std::size_t more_bytes) {
    rlimit limit{};
    if (more_bytes == 0 || getrlimit(RLIMIT_AS, &limit) != 0) {
        return;
    }
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, address_bytes() + more_bytes);
    setrlimit(RLIMIT_AS, &limit);
    spare_addresses();
}

/// A child has none of its parent's other threads: what they hold at that moment, a lock of the heap
/// for one, stays held.
[[maybe_unused]] bool has_one_thread() {
    constexpr int kMostTries = 1000;
    for (int i = 0; i < kMostTries; ++i) {
        std::size_t threads = 0;
        std::error_code unknown; // where the system has no more descriptors
        for (const auto& thread [[maybe_unused]] :
             std::filesystem::directory_iterator("/proc/self/task", unknown)) {
            ++threads;
        }
        if (threads <= 1) {
            return true;
        }
        usleep(1000); // one that has been joined is still listed for a moment
    }
    return false;
}

Child start_child(std::size_t index, const ChildBody& body, const ChildLimits& limits) {
    TESSERA_ASSERT(has_one_thread());
    std::array<int, 2> ends{};
    std::fflush(stdout);
    std::fflush(stderr);
    if (pipe(ends.data()) != 0) {
        throw IoError(fmt::format("a pipe to a child process: {}", std::strerror(errno)));
    }
    const pid_t parent = getpid();
    const pid_t process = fork();
    if (process < 0) {
        close(ends[0]);
        close(ends[1]);
        throw IoError(fmt::format("a child process: {}", std::strerror(errno)));
    }
    if (process == 0) {
        begin_child(parent);
        close(ends[0]);
        limit_memory(limits.memory_bytes);
        child_main(body, ends[1]);
    }
    remember_child(process);
    close(ends[1]);
    const auto late = limits.seconds > 0
                          ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                               std::chrono::duration<double>(limits.seconds))
                          : Clock::time_point::max();
    return {.body = index, .process = process, .pipe_end = ends[0], .text = {}, .late = late};
}

/// Waits for the end of a child whose pipe has ended.
ChildOutcome finish(Child& child) {
    close(child.pipe_end);
    int status = 0;
    while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
    }
    forget_child(child.process);
    if (WIFEXITED(status)) {
        return {WEXITSTATUS(status), std::move(child.text), 0, false};
    }
    // Where memory runs out the system kills.
    const int signal_number = WTERMSIG(status);
    const bool out_of_memory = signal_number == SIGKILL && !child.was_late;
    return {out_of_memory ? kHostMemory : kBug, {}, signal_number, child.was_late};
}

/// Ends those that are late; milliseconds until the next one is, -1: never.
int end_late(std::vector<Child>& children) {
    const auto now = Clock::now();
    auto next = Clock::time_point::max();
    for (Child& child : children) {
        if (child.late <= now && !child.was_late) {
            child.was_late = true;
            kill(child.process, SIGKILL);
        } else if (!child.was_late) {
            next = std::min(next, child.late);
        }
    }
    if (next == Clock::time_point::max()) {
        return -1;
    }
    constexpr std::int64_t kLongest = 1'000'000;
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(next - now).count() + 1;
    return static_cast<int>(std::min<std::int64_t>(wait, kLongest));
}

/// Takes what the children have written; true for those whose pipe has ended.
std::vector<bool> collect(std::vector<Child>& children, bool each_second) {
    std::vector<pollfd> watched;
    watched.reserve(children.size());
    for (const Child& child : children) {
        watched.push_back({.fd = child.pipe_end, .events = POLLIN, .revents = 0});
    }
    std::vector<bool> ended(children.size(), false);
    // What had ended before anybody looked was not late.
    int ready = poll(watched.data(), watched.size(), 0);
    if (ready == 0) {
        constexpr int kSecond = 1000;
        const int late = end_late(children);
        const bool is_longer = late < 0 || late > kSecond;
        ready = poll(watched.data(), watched.size(), each_second && is_longer ? kSecond : late);
    }
    if (ready < 0) {
        return ended; // a signal came
    }
    std::array<char, 65536> buffer{};
    for (std::size_t i = 0; i < children.size(); ++i) {
        if (watched[i].revents == 0) {
            continue;
        }
        const ssize_t now = read(children[i].pipe_end, buffer.data(), buffer.size());
        if (now > 0) {
            children[i].text.append(buffer.data(), static_cast<std::size_t>(now));
        }
        ended[i] = now == 0 || (now < 0 && errno != EINTR);
    }
    return ended;
}

} // namespace

Children::Children(int at_once, std::function<void(const ChildEnd&)> ended,
                   const ChildLimits& limits)
    : at_once_(std::min<std::size_t>(static_cast<std::size_t>(at_once), kMostChildren)),
      ended_(std::move(ended)), limits_(limits) {
    TESSERA_ASSERT(at_once >= 1);
}

void Children::start(std::size_t number, const ChildBody& body) {
    while (running_.size() == at_once_) {
        wait_for_one();
    }
    running_.push_back(start_child(number, body, limits_));
}

void Children::wait() {
    while (!running_.empty()) {
        wait_for_one();
    }
}

/// Or several, or none where a signal came.
void Children::wait_for_one() {
    const std::vector<bool> over = collect(running_, limits_.each_second != nullptr);
    if (limits_.each_second) {
        limits_.each_second();
    }
    for (std::size_t i = running_.size(); i-- > 0;) {
        if (over[i]) {
            const std::size_t body = running_[i].body;
            const ChildOutcome outcome = finish(running_[i]);
            running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
            ++done_;
            if (ended_) {
                ended_({done_, body, outcome});
            }
        }
    }
}

std::vector<ChildOutcome> run_children(const std::vector<ChildBody>& bodies, int at_once,
                                       const std::function<void(const ChildEnd&)>& ended,
                                       const ChildLimits& limits) {
    std::vector<ChildOutcome> outcomes(bodies.size());
    Children children(
        at_once,
        [&](const ChildEnd& end) {
            outcomes[end.body] = end.outcome;
            if (ended) {
                ended(end);
            }
        },
        limits);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        children.start(i, bodies[i]);
    }
    children.wait();
    return outcomes;
}

} // namespace tessera::process
