// SPDX-License-Identifier: MIT
// Keeps one copy of every name in the assembly sources. The text of a macro expansion can then be
// freed, although tokens still refer to its names.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

namespace tessera::isa::assembly {

class NamePool {
public:
    /// Returns the pool's copy of `text`. The copy is valid as long as the pool exists.
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
