// SPDX-License-Identifier: MIT
#include "models/tile/core/read_path.h"

namespace tessera::tile {

using isa::ShadowRead;

void ReadPath::append(const ShadowRead& read) {
    ++size_;
    const auto value = static_cast<std::uint32_t>(read.value);
    const bool is_known_word =
        read.kind == ShadowRead::Kind::Word && read.value == isa::shadow_value(true, value);
    if (!is_known_word) {
        runs_.push_back({read, 0});
        return;
    }
    values_.push_back(value);
    if (!runs_.empty() && runs_.back().known_words != 0 &&
        runs_.back().first.word + runs_.back().known_words == read.word) {
        ++runs_.back().known_words;
    } else {
        runs_.push_back({read, 1});
    }
}

ShadowRead ReadPath::Reader::read() const {
    const Run& run = path_.runs_[run_];
    ShadowRead read = run.first;
    if (run.known_words != 0) {
        read.word += inside_;
        read.value = isa::shadow_value(true, path_.values_[value_]);
    }
    return read;
}

void ReadPath::Reader::advance() {
    const Run& run = path_.runs_[run_];
    value_ += run.known_words != 0 ? 1 : 0;
    if (++inside_ >= run.known_words) {
        inside_ = 0;
        ++run_;
    }
}

} // namespace tessera::tile
