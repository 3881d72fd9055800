// SPDX-License-Identifier: MIT
// Why points are not what was hoped for: reasons of one kind are counted, and one of them is told.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace tessera::sweep {

class Reasons {
public:
    /// `message` may have several lines; `point` is which one it is. Messages of one `what` that differ
    /// in their numbers alone are of one kind.
    void add(const std::string& what, const std::string& message, const std::string& point);

    [[nodiscard]] std::size_t count() const { return count_; }
    /// "60 does_not_fit, as bow dense tile.workers=4: tile 3: got 700000 bytes": the most frequent
    /// first, and how many more there are than `most` kinds.
    [[nodiscard]] std::vector<std::string> lines(std::size_t most = 5) const;

private:
    struct Kind {
        std::size_t count = 0;
        std::string what;
        std::string message; ///< of the first
        std::string point;   ///< the first
    };
    std::map<std::string, Kind> kinds_;
    std::size_t count_ = 0;
};

} // namespace tessera::sweep
