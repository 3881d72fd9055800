// SPDX-License-Identifier: MIT
// How text for people is laid out: lines of a limited width, tables with aligned columns, color.
// Nothing here knows of a terminal: whoever prints says what there is room for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

struct Layout {
    std::size_t columns = 100; ///< that a line may have
    bool color = false;
};

/// What a piece of text is; how that looks is decided in one place.
enum class Paint { Head, Good, Bad, Warning, Quiet };

[[nodiscard]] std::string painted(const Layout& layout, Paint paint, std::string_view text);

/// Characters of UTF-8 text, without what painted() puts round them.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// The words of `text` in lines of at most `layout.columns` characters, each line behind `indent`
/// blanks and with a newline at its end. A word that is longer than a line has a line of its own.
[[nodiscard]] std::string wrapped(const Layout& layout, std::size_t indent, std::string_view text);

/// The same with `head`, padded to `indent`, in front of the first line. A head that needs all of
/// the indent has a line of its own.
[[nodiscard]] std::string paragraph(const Layout& layout, std::string_view head, std::size_t indent,
                                    std::string_view text);

enum class Align { Left, Right };

/// Rows of equal numbers of cells, two blanks between columns, each line behind `indent` blanks.
/// The last column is wrapped where it is aligned to the left.
[[nodiscard]] std::string table(const Layout& layout, std::size_t indent,
                                const std::vector<Align>& columns,
                                const std::vector<std::vector<std::string>>& rows);

} // namespace tessera
