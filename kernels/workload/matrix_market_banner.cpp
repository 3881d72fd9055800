// SPDX-License-Identifier: MIT
#include "kernels/workload/matrix_market_banner.h"

#include "base/error.h"
#include "kernels/workload/text.h"

#include <algorithm>

namespace tessera::workload {
namespace {

constexpr const char* kSupported =
    "read are matrices, coordinate or array; real, integer or pattern; "
    "general, symmetric or skew-symmetric";

bool same_word(std::string_view word, std::string_view lower) {
    return std::equal(word.begin(), word.end(), lower.begin(), lower.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

class BannerReader {
public:
    BannerReader(std::span<const Word> words, const std::string& file)
        : words_(words), file_(file) {}

    MatrixMarketBanner read() {
        check_start();
        MatrixMarketBanner banner;
        banner.is_array = is(2, "array");
        if (!banner.is_array && !is(2, "coordinate")) {
            reject(2, "format", "coordinate or array");
        }
        if (is(3, "integer")) {
            banner.field = MatrixField::Integer;
        } else if (is(3, "pattern") && !banner.is_array) {
            banner.field = MatrixField::Pattern;
        } else if (!is(3, "real")) {
            reject(3, "field", banner.is_array ? "real or integer" : "real, integer or pattern");
        }
        const bool may_be_skew = banner.field != MatrixField::Pattern; // a pattern has no signs
        if (is(4, "symmetric")) {
            banner.symmetry = MatrixSymmetry::Symmetric;
        } else if (is(4, "skew-symmetric") && may_be_skew) {
            banner.symmetry = MatrixSymmetry::Skew;
        } else if (!is(4, "general")) {
            reject(4, "symmetry",
                   may_be_skew ? "general, symmetric or skew-symmetric" : "general or symmetric");
        }
        return banner;
    }

private:
    void check_start() const {
        constexpr std::size_t kBannerWords = 5;
        if (words_.empty() || !is(0, "%%matrixmarket")) {
            fail(1, "not a Matrix Market file: expected a first line '%%MatrixMarket matrix ...'");
        }
        if (words_.size() != kBannerWords) {
            fail(1, "banner: got " + std::to_string(words_.size()) + " words, expected 5",
                 kSupported);
        }
        if (!is(1, "matrix")) {
            reject(1, "object", "matrix");
        }
    }
    [[nodiscard]] bool is(std::size_t word, std::string_view lower) const {
        return same_word(words_[word].text, lower);
    }
    [[noreturn]] void reject(std::size_t word, const char* what, const char* expected) const {
        fail(words_[word].column,
             std::string(what) + ": got " + quoted_word(words_[word].text) + ", expected " +
                 expected,
             kSupported);
    }
    [[noreturn]] void fail(int column, std::string message, std::string hint = "") const {
        throw ConfigError(Diagnostic{file_, 1, column, "", std::move(message), std::move(hint)});
    }

    std::span<const Word> words_;
    const std::string& file_;
};

} // namespace

MatrixMarketBanner read_matrix_market_banner(std::span<const Word> words, const std::string& file) {
    return BannerReader(words, file).read();
}

} // namespace tessera::workload
