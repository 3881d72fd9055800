// SPDX-License-Identifier: MIT
// A chart as plain data, and its picture.
#pragma once

#include <string>
#include <vector>

namespace tessera::plot {

/// Bars lie, one a label, the series stacked. Lines and points have x and y.
enum class Form { Bars, Lines, Points };

struct Series {
    std::string name;
    std::vector<double> x; ///< of bars: their lengths
    std::vector<double> y; ///< of bars: empty
    bool has_line = false; ///< of points: joined, as a front or a ceiling is
};

struct Chart {
    std::string title;
    std::string x_label; ///< with its unit
    std::string y_label;
    Form form = Form::Bars;
    std::vector<std::string> labels; ///< of bars, the first on top
    std::vector<Series> series;
    bool has_log_x = false;
    bool has_log_y = false;
};

/// The script by which gnuplot draws it: `terminal` is svg or pdfcairo. Texts stand in data and in
/// single quotes only, so that none of them is read as a command.
[[nodiscard]] std::string script_of(const Chart& chart, const std::string& terminal);

/// The bytes of a picture: `format` is svg or pdf. @throws IoError where gnuplot is not there, or fails
[[nodiscard]] std::string picture_of(const Chart& chart, const std::string& format);

} // namespace tessera::plot
