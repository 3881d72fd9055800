// SPDX-License-Identifier: MIT
// The packer makes a recipe of a draft. Values of a draft are sums of several terms, those of a recipe are
// one number plus a constant: what has more terms is summed up once, under a number of its own.
#include "models/isa/stretch_recipe.h"

#include <algorithm>

namespace tessera::isa {

class StretchRecipe::Packer {
public:
    explicit Packer(const StretchDraft& draft) : draft_(draft) {}

    std::unique_ptr<const StretchRecipe> pack() {
        for (const StretchDraft::Check& check : draft_.checks) {
            add(check);
        }
        for (const StretchDraft::Extent& one : draft_.extents) {
            recipe_->extents_.push_back({packed(one.base), one.recorded, one.low, one.high,
                                         one.alignment, one.in_region0, one.stores,
                                         one.first_fetched, one.last_fetched});
        }
        for (const StretchDraft::Stored& one : draft_.stored) {
            recipe_->stored_.push_back({packed(one.address), packed(one.value), one.known});
        }
        for (const StretchDraft::Register& one : draft_.registers) {
            recipe_->registers_.push_back({one.number, packed(one.value)});
        }
        for (const StretchDraft::Triple& one : draft_.triples) {
            recipe_->triples_.push_back(
                {one.number,
                 {packed(one.addresses[0]), packed(one.addresses[1]), packed(one.addresses[2])}});
        }
        recipe_->unknown_before_ = draft_.unknown_before;
        recipe_->unknown_after_ = draft_.unknown_after;
        recipe_->begins_with_ = draft_.begins_with;
        recipe_->lost_ = draft_.lost;
        recipe_->gone_ = draft_.gone;
        recipe_->next_ = draft_.next;
        recipe_->issues_ = draft_.issues;
        return recipe_->sums_.size() <= kMostSums ? std::move(recipe_) : nullptr;
    }

private:
    void add(const StretchDraft::Check& from) {
        Check check;
        check.kind = from.kind;
        check.access_bytes = from.access_bytes;
        check.is_signed = from.is_signed;
        check.known = from.known;
        check.value = from.value;
        check.left = from.kind == Kind::Equal ? Value{0, from.found} : packed(from.left);
        check.right = packed(from.right);
        check.operation = from.operation;
        check.sums = static_cast<std::uint32_t>(recipe_->sums_.size());
        recipe_->checks_.push_back(check);
    }
    Value packed(const StretchSum& sum) {
        if (sum.is_constant()) {
            return {sum.constant, kZero};
        }
        const auto* const begin = sum.terms.data();
        const auto* const end = begin + sum.count;
        if (sum.count == 1 && begin->factor == 1) {
            return {sum.constant, begin->found};
        }
        std::vector<Sum>& sums = recipe_->sums_;
        std::vector<StretchSum::Term>& terms = recipe_->terms_;
        auto same = std::find_if(sums.begin(), sums.end(), [&](const Sum& one) {
            const auto first = terms.begin() + one.first;
            return std::equal(begin, end, first, first + one.count);
        });
        if (same == sums.end()) {
            same = sums.insert(same, {static_cast<std::uint32_t>(terms.size()), sum.count});
            terms.insert(terms.end(), begin, end);
        }
        return {sum.constant,
                StretchDraft::kMostFound + static_cast<std::uint32_t>(same - sums.begin())};
    }

    const StretchDraft& draft_;
    std::unique_ptr<StretchRecipe> recipe_ = std::make_unique<StretchRecipe>();
};

std::unique_ptr<const StretchRecipe> StretchRecipe::make(const StretchDraft& draft) {
    return Packer(draft).pack();
}

} // namespace tessera::isa
