// SPDX-License-Identifier: MIT
#include "sim/plot/chart.h"

#include "base/error.h"
#include "base/utf8.h"
#include "sim/process/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::plot {
namespace {

/// Colours that people tell apart who see fewer of them (Okabe and Ito 2008).
constexpr std::array<const char*, 8> kColours{"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                              "#56B4E9", "#D55E00", "#F0E442", "#000000"};

/// In single quotes, in which gnuplot reads nothing but a doubled quote.
std::string quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        const bool is_control = static_cast<unsigned char>(c) < ' ' || c == '\x7f';
        out += is_control ? " " : c == '\'' ? "''" : std::string(1, c);
    }
    return out + "'";
}

/// A field of a data block. Quotes would end it.
std::string field(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        const bool ends = c == '"' || c == '\\' || static_cast<unsigned char>(c) < ' ';
        out += ends ? '\'' : c;
    }
    return out + "\"";
}

constexpr std::size_t kMostOfLabel = 44; ///< leaves room for bars

std::string colour(std::size_t number) {
    return kColours.at(number % kColours.size());
}

/// Bars that lie: a box for each part, from where the one before ended.
std::string bars_of(const Chart& chart) {
    std::string script = "$data << END_OF_DATA\n";
    double most = 0;
    for (std::size_t bar = 0; bar < chart.labels.size(); ++bar) {
        double from = 0;
        std::string line = fmt::format("{} {}", chart.labels.size() - bar,
                                       field(clipped(chart.labels[bar], kMostOfLabel)));
        for (const Series& series : chart.series) {
            line += fmt::format(" {} {}", from, from + series.x[bar]);
            from += series.x[bar];
        }
        most = std::max(most, from);
        script += line + "\n";
    }
    script += "END_OF_DATA\n";
    script +=
        fmt::format("set yrange [0.3:{}]\nset xrange [0:{}]\nset ytics scale 0\n",
                    static_cast<double>(chart.labels.size()) + 0.7, most > 0 ? 1.05 * most : 1.0);
    script += "plot ";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const std::size_t from = 3 + 2 * i;
        script +=
            fmt::format("{}$data using {}:1:{}:{}:($1-0.36):($1+0.36){} with boxxyerror fs "
                        "solid noborder lc rgb '{}' title {}",
                        i == 0 ? "" : ", ", from, from, from + 1, i == 0 ? ":ytic(2)" : "",
                        colour(i), chart.series.size() == 1 ? "''" : quoted(chart.series[i].name));
    }
    return script + "\n";
}

std::string curves_of(const Chart& chart) {
    std::string script;
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        script += fmt::format("$data{} << END_OF_DATA\n", i);
        const Series& series = chart.series[i];
        for (std::size_t point = 0; point < series.x.size(); ++point) {
            if (std::isfinite(series.x[point]) && std::isfinite(series.y[point])) {
                script += fmt::format("{} {}\n", series.x[point], series.y[point]);
            }
        }
        script += "END_OF_DATA\n";
    }
    if (!chart.has_log_y) {
        script += "set yrange [0:*]\n";
    }
    script += "plot ";
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const char* const style = chart.form == Form::Lines  ? "lines lw 2"
                                  : chart.series[i].has_line ? "linespoints lw 2 pt 6"
                                                             : "points pt 7 ps 0.6";
        script +=
            fmt::format("{}$data{} using 1:2 with {} lc rgb '{}' title {}", i == 0 ? "" : ", ", i,
                        style, colour(i), quoted(chart.series[i].name));
    }
    return script + "\n";
}

bool is_empty(const Chart& chart) {
    return chart.series.empty() ||
           std::all_of(chart.series.begin(), chart.series.end(),
                       [](const Series& series) { return series.x.empty(); });
}

} // namespace

std::string script_of(const Chart& chart, const std::string& terminal) {
    const std::size_t bars = chart.form == Form::Bars ? chart.labels.size() : 0;
    const std::size_t height = std::max<std::size_t>(bars > 0 ? 160 + 26 * bars : 460, 200);
    constexpr std::size_t kWidth = 800;
    constexpr double kPointsOfAnInch = 100;
    std::string script =
        terminal == "svg"
            ? fmt::format("set terminal svg noenhanced size {},{} font 'sans-serif,13' background "
                          "rgb 'white'\n",
                          kWidth, height)
            : fmt::format("set terminal pdfcairo noenhanced size {}in,{}in font 'sans-serif,10'\n",
                          kWidth / kPointsOfAnInch, static_cast<double>(height) / kPointsOfAnInch);
    script += fmt::format("set encoding utf8\nset title {}\nset xlabel {}\nset ylabel {}\n"
                          "set key below center\nset grid {} lc rgb '#dddddd'\nset border 3\n"
                          "set tics nomirror out\nset format '%.10g'\n",
                          quoted(chart.title), quoted(chart.x_label), quoted(chart.y_label),
                          chart.form == Form::Bars ? "x" : "x y");
    if (chart.has_log_x) {
        script += "set logscale x\n";
    }
    if (chart.has_log_y) {
        script += "set logscale y\n";
    }
    if (is_empty(chart)) {
        return script + "unset grid\nset xrange [0:1]\nset yrange [0:1]\nunset tics\nset label 1 "
                        "'there is nothing to show' at graph 0.5,0.5 center\nplot -1 notitle\n";
    }
    return script + (chart.form == Form::Bars ? bars_of(chart) : curves_of(chart));
}

std::string picture_of(const Chart& chart, const std::string& format) {
    const process::Filtered drawn =
        process::filtered_by({"gnuplot"}, script_of(chart, format == "svg" ? "svg" : "pdfcairo"));
    if (!drawn.is_there) {
        throw IoError("plot: there is no gnuplot here, which draws the charts: install the package "
                      "gnuplot-nox, or use `tessera report`");
    }
    if (drawn.exit_code != 0 || drawn.out.empty()) {
        throw IoError("plot: gnuplot failed: " + drawn.error);
    }
    return drawn.out;
}

} // namespace tessera::plot
