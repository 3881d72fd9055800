// SPDX-License-Identifier: MIT
// What is noted while a sweep file is read: its mistakes, the files that its values name, and the
// paths that change from point to point.
#pragma once

#include "base/config/document.h"
#include "sim/sweep/places.h"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace tessera::sweep {

/// Pointers are JSON pointers into the file.
class SweepNotes {
public:
    explicit SweepNotes(const config::Document& document) : document_(document) {}

    void fail(const std::string& pointer, std::string message, std::string hint = {});

    /// Whether `value` is plain, as --set has it; a mistake if it is not.
    bool is_value(const std::string& pointer, const nlohmann::json& value);

    /// Keeps where the file is that the value of `path` names, if it names one.
    void place(const std::string& pointer, const std::string& path, const nlohmann::json& value);

    /// Notes that `path` changes, which no other part of the file may change too.
    void change(const std::string& pointer, const std::string& path);

    std::vector<Diagnostic> mistakes;
    Places places;

private:
    const config::Document& document_;
    std::set<std::string> changed_; ///< by axes, or since they follow from others
};

} // namespace tessera::sweep
