// SPDX-License-Identifier: MIT
// Names of files are bytes, and JSON is text: a name that is no UTF-8 is written so that nothing of
// it is lost.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

[[nodiscard]] bool is_utf8(std::string_view bytes);

/// The same in UTF-8: a byte that is part of no character is `\xe9`, and so is a backslash before an
/// x, `\x5cx`. What has neither stays as it is.
[[nodiscard]] std::string utf8_of(std::string_view bytes);

/// The longest beginning of `text` of at most so many bytes that ends with a whole character.
[[nodiscard]] std::string_view beginning(std::string_view text, std::size_t most);

/// `text`, or of one with more than `most` bytes its beginning and "...", together at most so many. A
/// character stays whole. `most`: 3 at least.
[[nodiscard]] std::string clipped(std::string_view text, std::size_t most);

/// The bytes of which that is made: bytes_of(utf8_of(b)) == b.
[[nodiscard]] std::string bytes_of(std::string_view text);

} // namespace tessera
