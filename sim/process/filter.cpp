// SPDX-License-Identifier: MIT
#include "sim/process/filter.h"

#include "base/error.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace tessera::process {
namespace {

constexpr int kNoCommand = 127;

class Pipe {
public:
    Pipe() {
        std::array<int, 2> ends{};
        if (pipe2(ends.data(), O_CLOEXEC) != 0) {
            throw IoError(std::string("a pipe to another program: ") + std::strerror(errno));
        }
        read_end = ends[0];
        write_end = ends[1];
    }
    ~Pipe() {
        close_end(read_end);
        close_end(write_end);
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    static void close_end(int& end) {
        if (end >= 0) {
            close(end);
            end = -1;
        }
    }

    int read_end = -1;
    int write_end = -1;
};

/// Reads what is there; false at the end.
bool read_some(int from, std::string& to) {
    std::array<char, 1U << 16U> part{};
    const ssize_t got = read(from, part.data(), part.size());
    if (got > 0) {
        to.append(part.data(), static_cast<std::size_t>(got));
    }
    return got > 0 || (got < 0 && errno == EINTR);
}

void exchange(Pipe& in, Pipe& out, Pipe& error, std::string_view input, Filtered& result) {
    while (out.read_end >= 0 || error.read_end >= 0) {
        std::array<pollfd, 3> ends{{{input.empty() ? -1 : in.write_end, POLLOUT, 0},
                                    {out.read_end, POLLIN, 0},
                                    {error.read_end, POLLIN, 0}}};
        if (poll(ends.data(), ends.size(), -1) < 0) {
            if (errno == EINTR) {
                continue;
            }
            return;
        }
        if ((ends[0].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) {
            const ssize_t now = write(in.write_end, input.data(), input.size());
            if (now > 0) {
                input.remove_prefix(static_cast<std::size_t>(now));
            } else if (errno != EINTR && errno != EAGAIN) {
                input = {}; // it has ended; its exit code tells
            }
            if (input.empty()) {
                Pipe::close_end(in.write_end);
            }
        }
        if (ends[1].revents != 0 && !read_some(out.read_end, result.out)) {
            Pipe::close_end(out.read_end);
        }
        if (ends[2].revents != 0 && !read_some(error.read_end, result.error)) {
            Pipe::close_end(error.read_end);
        }
    }
}

} // namespace

Filtered filtered_by(std::vector<std::string> words, const std::string& input) {
    Pipe in;
    Pipe out;
    Pipe error;
    std::fflush(stdout);
    const pid_t process = fork();
    if (process < 0) {
        throw IoError(std::string("a process for another program: ") + std::strerror(errno));
    }
    if (process == 0) {
        dup2(in.read_end, STDIN_FILENO);
        dup2(out.write_end, STDOUT_FILENO);
        dup2(error.write_end, STDERR_FILENO);
        std::vector<char*> arguments;
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        execvp(arguments[0], arguments.data());
        _exit(kNoCommand);
    }
    Pipe::close_end(in.read_end);
    Pipe::close_end(out.write_end);
    Pipe::close_end(error.write_end);
    const auto before = std::signal(SIGPIPE, SIG_IGN); // it may end before it reads
    fcntl(in.write_end, F_SETFL, O_NONBLOCK);
    if (input.empty()) {
        Pipe::close_end(in.write_end);
    }
    Filtered result;
    exchange(in, out, error, input, result);
    std::signal(SIGPIPE, before);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kNoCommand + 1;
    result.is_there = result.exit_code != kNoCommand;
    return result;
}

} // namespace tessera::process
