// SPDX-License-Identifier: MIT
// One copy of every name that the sources use, so that the texts of expansions need not be kept.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace tessera::isa::assembly {

class NamePool {
public:
    /// The same text, good as long as the pool.
    std::string_view intern(std::string_view text) {
        const auto found = names_.find(text);
        return found == names_.end() ? *names_.emplace(text).first : *found;
    }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    std::unordered_set<std::string, Hash, std::equal_to<>> names_;
};

} // namespace tessera::isa::assembly
