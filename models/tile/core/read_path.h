// SPDX-License-Identifier: MIT
// A sequence of reads of timing mode. Values of known words that lie behind each other take four
// bytes each.
#pragma once

#include "models/isa/shadow.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::tile {

class ReadPath {
public:
    void append(const isa::ShadowRead& read);
    [[nodiscard]] std::size_t size() const { return size_; }
    /// What it takes in the host's memory.
    [[nodiscard]] std::size_t bytes() const {
        return runs_.size() * sizeof(Run) + values_.size() * sizeof(std::uint32_t);
    }

    /// Goes through the reads, one after the other.
    class Reader {
    public:
        explicit Reader(const ReadPath& path) : path_(path) {}

        [[nodiscard]] bool at_end() const { return run_ == path_.runs_.size(); }
        [[nodiscard]] isa::ShadowRead read() const;
        void advance();

    private:
        const ReadPath& path_;
        std::size_t run_ = 0;
        std::uint32_t inside_ = 0; ///< the run
        std::size_t value_ = 0;
    };

private:
    /// Known words one behind the other, whose values are in `values_`, or one other read.
    struct Run {
        isa::ShadowRead first;
        std::uint32_t known_words = 0; ///< 0: another read
    };
    std::vector<Run> runs_;
    std::vector<std::uint32_t> values_;
    std::size_t size_ = 0;
};

} // namespace tessera::tile
