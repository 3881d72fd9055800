// SPDX-License-Identifier: MIT
#include "sim/sweep/keyed_line.h"

#include "sim/sweep/store.h"

namespace tessera::sweep {

std::optional<KeyedLine> keyed_line(const std::vector<std::string>& stores,
                                    const std::string& begin) {
    std::optional<PointKey> key;
    std::optional<KeyedLine> found;
    for (const std::string& store : stores) {
        static_cast<void>(for_each_point(store, [&](const PointLine& point) {
            if (point.key().text().starts_with(begin)) {
                const bool is_only = !found || (found->is_only && *key == point.key());
                key = point.key();
                found = {store, nlohmann::json::parse(point.text()), is_only};
            }
        }));
    }
    return found;
}

} // namespace tessera::sweep
