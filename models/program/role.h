// SPDX-License-Identifier: MIT
// What a step is for. Reports read roles; names are for people.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera::program {

enum class Role : std::uint8_t { Work, Bring, Reduce, Rearrange, Stream, Control, Link };

struct RoleWord {
    Role role;
    std::string_view word; ///< in results and traces
    const char* sentence;
};
/// In the order of Role.
inline constexpr std::array<RoleWord, 7> kRoles{{
    {Role::Work, "work", "computes what the kernel is there for"},
    {Role::Bring, "bring", "words go to tiles that need them"},
    {Role::Reduce, "reduce", "partial results become one, or go where they become one"},
    {Role::Rearrange, "rearrange", "what stands on a tile gets another place or layout there"},
    {Role::Stream, "stream", "rows come from outside the chip, or go there"},
    {Role::Control, "control", "finds out what the control program goes on with"},
    {Role::Link, "link", "words go to other chips and come from them"},
}};

[[nodiscard]] constexpr std::string_view word(Role role) {
    return kRoles[static_cast<std::size_t>(role)].word;
}
/// Nothing for a word that is no role's.
[[nodiscard]] constexpr std::optional<Role> role_of(std::string_view word) {
    for (const RoleWord& entry : kRoles) {
        if (entry.word == word) {
            return entry.role;
        }
    }
    return std::nullopt;
}

} // namespace tessera::program
