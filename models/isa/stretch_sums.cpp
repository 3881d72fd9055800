// SPDX-License-Identifier: MIT
#include "models/isa/stretch_recorder_implementation.h"

#include <algorithm>

namespace tessera::isa {

StretchRecorder::StretchRecorder(Context& worker) : c_(worker), shadow_(*worker.shadow) {
    std::copy_n(c_.main, StretchDraft::kRegisters, found_.begin());
    for (unsigned number = 0; number < kFile; ++number) {
        if (number < 14) {
            const bool unknown = number < 12 && ((c_.unknown >> number) & 1U) != 0;
            held_[number] = {unknown ? Held::Kind::Unknown : Held::Kind::Sum, term(number), {}};
        } else {
            hold(number, constant(number < 16 ? 0 : c_.main[number]));
        }
    }
    draft_.unknown_before = c_.unknown;
}

std::uint32_t StretchRecorder::find(std::uint32_t found_value, bool is_distance) {
    if (next_ == StretchDraft::kMostFound) {
        refuse();
        return 0;
    }
    found_[next_] = found_value;
    is_distance_[next_] = is_distance;
    return next_++;
}

StretchSum StretchRecorder::term(std::uint32_t found) const {
    Sum sum;
    sum.count = 1;
    sum.terms[0] = {found, 1};
    return sum;
}

/// left + factor * right.
StretchSum StretchRecorder::added(const Sum& left, const Sum& right, std::uint32_t factor) {
    Sum sum = constant(left.constant + factor * right.constant);
    std::size_t l = 0;
    std::size_t r = 0;
    while (l < left.count || r < right.count) {
        const bool takes_left =
            l < left.count && (r == right.count || left.terms[l].found <= right.terms[r].found);
        const bool takes_right =
            r < right.count && (l == left.count || right.terms[r].found <= left.terms[l].found);
        Sum::Term next{takes_left ? left.terms[l].found : right.terms[r].found, 0};
        if (takes_left) {
            next.factor += left.terms[l++].factor;
        }
        if (takes_right) {
            next.factor += factor * right.terms[r++].factor;
        }
        if (is_pinned_[next.found]) {
            sum.constant += next.factor * found_[next.found];
        } else if (next.factor != 0) {
            if (sum.count == Sum::kMostTerms) {
                const Sum all = pinned(left);
                return constant(all.constant + factor * pinned(right).constant);
            }
            sum.terms[sum.count++] = next;
        }
    }
    return sum;
}

/// What it is made of has to be the same the next time.
StretchSum StretchRecorder::pinned(const Sum& sum) {
    for (std::uint32_t n = 0; n < sum.count; ++n) {
        const std::uint32_t found = sum.terms[n].found;
        if (!is_pinned_[found]) {
            is_pinned_[found] = true;
            if (found < StretchDraft::kRegisters) {
                draft_.begins_with.push_back({found, found_[found]});
                continue;
            }
            Check check;
            check.kind = Check::Kind::Equal;
            check.found = found;
            check.value = found_[found];
            draft_.checks.push_back(check);
        }
    }
    return constant(value(sum));
}

StretchSum StretchRecorder::held(unsigned number) {
    const Held& register_held = held_[number];
    switch (register_held.kind) {
    case Held::Kind::Sum:
        return added(register_held.sum, Sum{}, 0); // without what is pinned by now
    case Held::Kind::TripleLow:
    case Held::Kind::TripleHigh: {
        const Held& low =
            register_held.kind == Held::Kind::TripleLow ? register_held : held_[number - 1];
        for (const Sum& address : low.addresses) {
            pinned(address);
        }
        return constant(before_.main[number]);
    }
    case Held::Kind::Unknown:
    case Held::Kind::Distance:
        break;
    }
    refuse();
    return {};
}

void StretchRecorder::touch(const Sum& address, const ShadowMemory::Access& access,
                            bool moves_data) {
    const std::uint32_t at = value(address);
    if (at - c_.memory->base != access.offset) {
        refuse();
        return;
    }
    const bool in_region0 = access.offset < c_.memory->region0_bytes;
    auto extent = std::find_if(
        draft_.extents.begin(), draft_.extents.end(), [&](const StretchDraft::Extent& one) {
            return one.base.count == address.count && one.base.terms == address.terms &&
                   one.in_region0 == in_region0 && one.stores == access.writes;
        });
    if (extent == draft_.extents.end()) {
        if (draft_.extents.size() == StretchDraft::kMostFound) {
            refuse();
            return;
        }
        StretchDraft::Extent made;
        made.base = address;
        made.recorded = at;
        made.in_region0 = in_region0;
        made.stores = access.writes;
        made.first_fetched = before_.first_fetched;
        made.last_fetched = before_.last_fetched;
        extent = draft_.extents.insert(draft_.extents.end(), made);
    }
    const auto offset = static_cast<std::int32_t>(address.constant - extent->base.constant);
    const auto end = offset + std::int32_t{access.access_bytes};
    const bool is_first = extent->low == extent->high;
    extent->low = is_first ? offset : std::min(extent->low, offset);
    extent->high = is_first ? end : std::max(extent->high, end);
    extent->alignment = std::max<std::uint32_t>(extent->alignment, access.access_bytes);
    extent->first_fetched = std::min(extent->first_fetched, before_.first_fetched);
    extent->last_fetched = std::max(extent->last_fetched, before_.last_fetched);
    if (access.writes && moves_data) {
        const auto number = static_cast<std::uint32_t>(extent - draft_.extents.begin());
        draft_.lost.push_back({number, offset, access.access_bytes / 4U});
    }
}

/// A main register takes a word or a part of one.
void StretchRecorder::load(unsigned number, const Sum& address, unsigned access_bytes,
                           bool is_signed) {
    if (shadow_.loaded_by_round) {
        refuse();
    }
    Check check;
    check.kind = Check::Kind::Load;
    check.left = address;
    check.access_bytes = static_cast<std::uint8_t>(access_bytes);
    check.is_signed = is_signed;
    check.known = !shadow_.loaded_unknown;
    const std::uint32_t found =
        find(check.known ? c_.main[number] : 0, access_bytes == 2 && !is_signed);
    draft_.checks.push_back(check);
    hold(number, term(found));
    if (!check.known) {
        held_[number].kind = Held::Kind::Unknown;
    }
}

void StretchRecorder::store(const Sum& address, unsigned number) {
    const bool known = !is_unknown(number);
    draft_.stored.push_back({address, known ? held(number) : Sum{}, known});
}

} // namespace tessera::isa
