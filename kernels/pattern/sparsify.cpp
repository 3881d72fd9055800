// SPDX-License-Identifier: MIT
#include "kernels/pattern/sparsify.h"

#include "base/error.h"
#include "kernels/pattern/draw.h"
#include "kernels/workload/random.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

namespace tessera::pattern {

using workload::ValueType;

namespace {

constexpr std::uint64_t kPruneStream = 0x7072756e65U;
constexpr std::uint64_t kRegrowStream = 0x726567726f77U;

/// A tensor's values by their numbers.
class Values {
public:
    Values(std::string& bytes, ValueType type)
        : bytes_(bytes), type_(type), width_(workload::facts_of(type).bytes),
          count_(static_cast<std::int64_t>(bytes.size() / width_)) {}

    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] double at(std::int64_t number) const {
        return workload::decoded(type_, bytes_.data() + place(number));
    }
    /// The positive quiet NaN without a payload.
    void mark(std::int64_t number) {
        constexpr std::uint32_t kF32 = 0x7fc00000U;
        constexpr std::uint16_t kF16 = 0x7e00U;
        constexpr std::uint16_t kBF16 = 0x7fc0U;
        if (type_ == ValueType::F32) {
            std::memcpy(bytes_.data() + place(number), &kF32, sizeof(kF32));
        } else {
            const std::uint16_t bits = type_ == ValueType::F16 ? kF16 : kBF16;
            std::memcpy(bytes_.data() + place(number), &bits, sizeof(bits));
        }
    }
    void clear(std::int64_t number) { std::memset(bytes_.data() + place(number), 0, width_); }

private:
    [[nodiscard]] std::size_t place(std::int64_t number) const {
        return static_cast<std::size_t>(number) * width_;
    }

    std::string& bytes_;
    ValueType type_;
    std::size_t width_;
    std::int64_t count_;
};

/// The `wanted` numbers whose values are the least in magnitude; of equal ones the last.
std::vector<std::int64_t> least(const Values& values, std::vector<std::int64_t> numbers,
                                std::int64_t wanted) {
    const auto is_less = [&](std::int64_t a, std::int64_t b) {
        const double of_a = std::fabs(values.at(a));
        const double of_b = std::fabs(values.at(b));
        return of_a != of_b ? of_a < of_b : a > b;
    };
    const auto end = numbers.begin() + wanted;
    std::nth_element(numbers.begin(), end, numbers.end(), is_less);
    numbers.erase(end, numbers.end());
    return numbers;
}

} // namespace

std::uint64_t seed_of(std::uint64_t base, std::string_view name) {
    // FNV-1a, 64 bits (G. Fowler, L. C. Noll, K.-P. Vo)
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char letter : name) {
        hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    }
    return workload::CounterRandom(base, hash).bits(0);
}

Pruned sparsify(std::string& bytes, ValueType type, double level, InitMethod method,
                std::uint64_t seed) {
    TESSERA_ASSERT(has_marks(type) && level >= 0.0 && level <= 1.0);
    Values values(bytes, type);
    std::vector<std::int64_t> kept;
    std::vector<std::int64_t> pruned;
    for (std::int64_t number = 0; number < values.count(); ++number) {
        (std::isnan(values.at(number)) ? pruned : kept).push_back(number);
    }
    const std::int64_t wanted = std::min<std::int64_t>(
        std::llround(level * static_cast<double>(values.count())), values.count());
    const auto before = static_cast<std::int64_t>(pruned.size());
    if (wanted > before) {
        const std::int64_t more = wanted - before;
        if (method == InitMethod::TopK) {
            for (const std::int64_t number : least(values, std::move(kept), more)) {
                values.mark(number);
            }
        } else {
            for (const std::int64_t number : drawn(kept, more, seed, kPruneStream)) {
                values.mark(number);
            }
        }
    } else {
        for (const std::int64_t number : drawn(pruned, before - wanted, seed, kRegrowStream)) {
            values.clear(number);
        }
    }
    return {values.count(), before, wanted};
}

std::int64_t marks_in(std::string_view bytes, ValueType type) {
    if (type == ValueType::Mask || workload::is_whole(type)) {
        return 0;
    }
    const std::size_t width = workload::facts_of(type).bytes;
    std::int64_t marks = 0;
    for (std::size_t at = 0; at < bytes.size(); at += width) {
        marks += std::isnan(workload::decoded(type, bytes.data() + at)) ? 1 : 0;
    }
    return marks;
}

std::int64_t finalize(std::string& bytes, ValueType type) {
    if (type == ValueType::Mask || workload::is_whole(type)) {
        return 0;
    }
    Values values(bytes, type);
    std::int64_t marks = 0;
    for (std::int64_t number = 0; number < values.count(); ++number) {
        if (std::isnan(values.at(number))) {
            values.clear(number);
            ++marks;
        }
    }
    return marks;
}

} // namespace tessera::pattern
