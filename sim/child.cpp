// SPDX-License-Identifier: MIT
#include "sim/child.h"

#include "base/error.h"
#include "sim/interrupt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::sim {
namespace {

struct Child {
    std::size_t body = 0;
    pid_t process = 0;
    int pipe_end = -1;
    std::string text;
};

void write_all(int descriptor, const std::string& text) {
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t now = write(descriptor, text.data() + written, text.size() - written);
        if (now < 0 && errno != EINTR) {
            throw IoError(fmt::format("result pipe: {}", std::strerror(errno)));
        }
        written += now > 0 ? static_cast<std::size_t>(now) : 0;
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

Child start(std::size_t index, const ChildBody& body) {
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
        child_main(body, ends[1]);
    }
    remember_child(process);
    close(ends[1]);
    return {.body = index, .process = process, .pipe_end = ends[0], .text = {}};
}

/// Waits for the end of a child whose pipe has ended.
ChildOutcome finish(Child& child) {
    close(child.pipe_end);
    int status = 0;
    while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
    }
    forget_child(child.process);
    if (WIFEXITED(status)) {
        return {WEXITSTATUS(status), std::move(child.text), 0};
    }
    // Where memory runs out the system kills.
    const int signal_number = WTERMSIG(status);
    return {signal_number == SIGKILL ? kHostMemory : kBug, {}, signal_number};
}

/// Takes what the children have written; true for those whose pipe has ended.
std::vector<bool> collect(std::vector<Child>& children) {
    std::vector<pollfd> watched;
    for (const Child& child : children) {
        watched.push_back({.fd = child.pipe_end, .events = POLLIN, .revents = 0});
    }
    std::vector<bool> ended(children.size(), false);
    if (poll(watched.data(), watched.size(), -1) < 0) {
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

std::vector<ChildOutcome> run_children(const std::vector<ChildBody>& bodies, int at_once,
                                       const std::function<void(std::size_t)>& ended) {
    TESSERA_ASSERT(at_once >= 1);
    const std::size_t most =
        std::min<std::size_t>(static_cast<std::size_t>(at_once), kMostChildren);
    std::vector<ChildOutcome> outcomes(bodies.size());
    std::vector<Child> running;
    std::size_t next = 0;
    std::size_t done = 0;
    while (done < bodies.size()) {
        while (next < bodies.size() && running.size() < most) {
            running.push_back(start(next, bodies[next]));
            ++next;
        }
        const std::vector<bool> over = collect(running);
        for (std::size_t i = running.size(); i-- > 0;) {
            if (over[i]) {
                outcomes[running[i].body] = finish(running[i]);
                running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
                ++done;
                if (ended) {
                    ended(done);
                }
            }
        }
    }
    return outcomes;
}

} // namespace tessera::sim
