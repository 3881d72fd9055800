// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/source_path.h"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace tessera::test {

using CsvRow = std::map<std::string, std::string>;

/// Rows of a file of configs/reference by the names of its columns; no quotes.
[[nodiscard]] inline std::vector<CsvRow> read_reference(const std::string& name) {
    std::ifstream in(source_path("configs/reference/" + name));
    std::vector<std::string> columns;
    std::vector<CsvRow> rows;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with('#')) {
            continue;
        }
        std::istringstream cells(line);
        CsvRow row;
        std::size_t column = 0;
        const bool heading = columns.empty();
        for (std::string cell; std::getline(cells, cell, ','); ++column) {
            if (heading) {
                columns.push_back(cell);
            } else {
                row[columns.at(column)] = cell;
            }
        }
        if (!heading) {
            rows.push_back(row);
        }
    }
    return rows;
}

} // namespace tessera::test
