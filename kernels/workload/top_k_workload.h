// SPDX-License-Identifier: MIT
// The largest elements of rows: what the workload kind and the kernels' family `top_k` are told alike.
#pragma once

#include "base/element_type.h"
#include "kernels/workload/mistake.h"
#include "kernels/workload/operand_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::workload {

/// The k largest of each n elements or, with buckets, of the `kept` largest of each bucket.
struct TopKSizes {
    std::int64_t n = 0;
    std::int64_t k = 1;
    std::int64_t buckets = 1; ///< 1: none
    std::int64_t kept = 1;

    /// A row is cut into buckets of neighbouring elements, whose lengths differ by at most one.
    [[nodiscard]] std::int64_t first_of(std::int64_t bucket) const { return n * bucket / buckets; }
    /// Elements that all buckets keep.
    [[nodiscard]] std::int64_t kept_of_all() const {
        const std::int64_t longer = n % buckets;
        return longer * std::min(kept, n / buckets + 1) +
               (buckets - longer) * std::min(kept, n / buckets);
    }

    [[nodiscard]] std::vector<Mistake> mistakes() const {
        std::vector<Mistake> found;
        const auto check = [&](const char* key, std::int64_t told) {
            if (told > n) {
                found.push_back({key, fmt::format("got {}, expected at most {}, the elements of a "
                                                  "row",
                                                  told, n)});
            }
        };
        check("k", k);
        check("buckets", buckets);
        check("kept", kept);
        if (!found.empty()) {
            return found;
        }
        if (!std::has_single_bit(static_cast<std::uint64_t>(kept))) {
            found.push_back({"kept", fmt::format("got {}, expected a power of two", kept)});
        } else if (buckets == 1 && kept > 1) {
            found.push_back({"kept", fmt::format("got {} without buckets, expected none", kept)});
        } else if (buckets > 1 && kept_of_all() < k) {
            found.push_back({"kept", fmt::format("got {} of each of {} buckets, which are {} "
                                                 "elements, expected at least {}, which is k",
                                                 kept, buckets, kept_of_all(), k)});
        }
        return found;
    }
};

/// Values and indices of the largest elements of each of `rows` rows.
struct TopKWorkload : TopKSizes {
    std::int64_t rows = 1;
    ElementType dtype = ElementType::F16; ///< or F32
    std::uint64_t seed = 1;
    ValuesSpec values;

    /// Of the rows.
    [[nodiscard]] std::vector<std::int64_t> shape() const {
        return rows == 1 ? std::vector<std::int64_t>{n} : std::vector<std::int64_t>{rows, n};
    }
};

} // namespace tessera::workload
