// SPDX-License-Identifier: MIT
#include "kernels/dynamic/travel.h"

#include "base/ceil_div.h"

#include <algorithm>
#include <utility>

namespace tessera::dynamic {
namespace {

/// Where all buckets are.
class Position {
public:
    explicit Position(const Split& split) : split_(split) {}

    void move(bool along_x) {
        codes_.push_back(TravelCode::kMore | (along_x ? TravelCode::kAlongX : 0) | here());
        (along_x ? x_ : y_) += 1;
        is_second_ = !is_at_home_ && !is_second_;
        is_at_home_ = false;
    }
    void scan() {
        codes_.push_back(TravelCode::kMore | TravelCode::kScan | here());
        is_second_ = is_second_ != (split_.z % 2 == 0); // z - 1 moves
        z_ += split_.z - 1;
    }
    [[nodiscard]] std::int64_t x() const { return x_; }
    [[nodiscard]] std::vector<std::uint32_t> take() {
        back(TravelCode::kAlongX, x_ % split_.x);
        back(0, y_ % split_.y);
        back(TravelCode::kAlongZ, (split_.z - z_ % split_.z) % split_.z);
        codes_.push_back(here());
        return std::move(codes_);
    }

private:
    void back(std::uint32_t along, std::int64_t moves) {
        for (std::int64_t move = 0; move < moves; ++move) {
            codes_.push_back(TravelCode::kBack | along | here());
            is_second_ = !is_second_;
        }
    }
    [[nodiscard]] std::uint32_t here() const {
        return is_at_home_ ? TravelCode::kAtHome : is_second_ ? TravelCode::kSecond : 0;
    }

    const Split& split_;
    std::vector<std::uint32_t> codes_;
    std::int64_t x_ = 0;
    std::int64_t y_ = 0;
    std::int64_t z_ = 0;
    bool is_at_home_ = true;
    bool is_second_ = false;
};

} // namespace

Travel travel_of(const Split& split, const Ways& ways) {
    Travel travel;
    travel.x_in_use.resize(static_cast<std::size_t>(ceil_div(split.x, 16)));
    for (const auto& [x, y] : ways) {
        travel.x_in_use[static_cast<std::size_t>(x / 16)] |=
            static_cast<std::uint16_t>(1U << static_cast<unsigned>(x % 16));
    }
    const auto [x, y] = ways.empty() ? Ways::value_type{} : *ways.rbegin();
    travel.end = {x + 1, x > 0 ? split.y : y + 1, split.z};
    return travel;
}

std::vector<std::uint32_t> travel_codes(const Split& split, const Travel& travel) {
    Position buckets(split);
    if (travel.steps(split) == 0) {
        return buckets.take();
    }
    buckets.move(split.y == 1);
    for (std::int64_t x = 0; x < travel.end.x; ++x) {
        while (buckets.x() < x) {
            buckets.move(true);
        }
        if (!travel.uses_x(x)) {
            continue;
        }
        // with x = 0 the distribution has seen the first of y
        const std::int64_t rounds = x == 0 ? travel.end.y - 1 : split.y;
        for (std::int64_t round = 0; round < rounds; ++round) {
            buckets.scan();
            if (round + 1 < rounds) {
                buckets.move(false);
            }
        }
    }
    return buckets.take();
}

std::vector<std::uint32_t> travel_words(const Split& split, const Travel& travel) {
    const std::vector<std::uint32_t> codes = travel_codes(split, travel);
    std::vector<std::uint32_t> words(
        static_cast<std::size_t>(kTravelWords + most_travel_codes(split)));
    for (std::size_t bit = 0; bit < TravelCode::kBits; ++bit) {
        words[bit] = codes.front() >> bit & 1U;
    }
    words[TravelCode::kBits] = (codes.front() & TravelCode::kMore) == 0 ? 0 : 1;
    std::copy(codes.begin(), codes.end(), words.begin() + kTravelWords);
    return words;
}

std::int64_t most_travel_codes(const Split& split) {
    const std::int64_t there = 1 + split.x * (2 * split.y + 1);
    return there + split.x + split.y + split.z;
}

} // namespace tessera::dynamic
