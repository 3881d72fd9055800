// SPDX-License-Identifier: MIT
// libFuzzer: whatever stands in a tile's code, memory and registers, a phase ends in an outcome or
// in a fault of the machine, and each engine does the same.
#include "tests/support/random_code.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

/// The input's words, then a generator that they seed.
class Words {
public:
    Words(const std::uint8_t* data, std::size_t bytes) : data_(data), left_bytes_(bytes) {}

    std::uint32_t next() {
        std::uint32_t word = 0;
        if (left_bytes_ >= sizeof word) {
            std::memcpy(&word, data_, sizeof word);
            data_ += sizeof word;
            left_bytes_ -= sizeof word;
            state_ = state_ * 31 + word;
            return word;
        }
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::uint32_t>(state_ >> 32U);
    }

private:
    const std::uint8_t* data_;
    std::size_t left_bytes_;
    std::uint64_t state_ = 1;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
    using namespace tessera;
    Words words(data, bytes);
    const test::RandomProgram program([&words] { return words.next(); });
    const test::RandomOutcome first = program.run(isa::engines().front());
    if (!(first == program.run(isa::engines().back()))) {
        std::abort();
    }
    return 0;
}
