// SPDX-License-Identifier: MIT
#include "models/isa/assembler.h"
#include "models/isa/assembler/source_text.h"
namespace tessera::isa::assembly {
std::vector<SourceLine> preprocess(const SourceFile& source, std::uint32_t file,
                                   const PreprocessOptions&, SourceMap&, Diagnostics&) {
    std::vector<SourceLine> lines;
    std::string text = source.text + "\n";
    bool in_comment = false;
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < text.size();) {
        std::size_t end = text.find('\n', i);
        SourceLine line;
        ++number;
        line.pieces.push_back({0, {{file, number, 1}, 0}, true});
        for (; i < end; ++i) {
            if (in_comment) {
                if (text.compare(i, 2, "*/") == 0) { in_comment = false; ++i; line.text += "  "; }
                else line.text += ' ';
            } else if (text.compare(i, 2, "/*") == 0) { in_comment = true; ++i; line.text += "  "; }
            else if (text.compare(i, 2, "//") == 0) { i = end; break; }
            else line.text += text[i];
        }
        i = end + 1;
        lines.push_back(line);
    }
    return lines;
}
}
