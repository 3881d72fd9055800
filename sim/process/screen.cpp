// SPDX-License-Identifier: MIT
#include "sim/process/screen.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tessera::process {
namespace {

constexpr std::size_t kLeastColumns = 80;
constexpr std::size_t kMostColumns = 160;

cli::ColorChoice chosen = cli::ColorChoice::Auto;

std::string_view variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

} // namespace

void choose_color(cli::ColorChoice choice) {
    chosen = choice;
}

Layout layout_of(std::FILE* stream) {
    const int descriptor = fileno(stream);
    const bool terminal = isatty(descriptor) != 0;
    Layout layout;
    layout.color = chosen == cli::ColorChoice::Always ||
                   (chosen == cli::ColorChoice::Auto && terminal && variable("NO_COLOR").empty() &&
                    variable("TERM") != "dumb");
    winsize size{};
    if (terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        layout.columns = std::clamp<std::size_t>(size.ws_col, kLeastColumns, kMostColumns);
    }
    return layout;
}

} // namespace tessera::process
