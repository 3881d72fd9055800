// SPDX-License-Identifier: MIT
// What a chip tells while a round of a repeat runs, to be told again for rounds that do the same.
#pragma once

#include "models/events/events.h"
#include "models/events/slow_motion.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

namespace tessera::ipu {

class RoundRecord final : public events::Listener {
public:
    void segment(const events::Segment& segment) override;
    void released(const events::Release& release) override;
    void moved(const events::Moved& moved) override;
    void copy_begun(const events::Flight& flight) override;
    void copy_ended(const events::Flight& flight) override;

    /// Of spans, of which most of it is.
    [[nodiscard]] std::size_t size() const { return size_; }
    /// Stream copies that have ended.
    [[nodiscard]] std::vector<std::uint32_t> ended() const;
    /// Tells `to` all of it in slow motion. A release that is the last event is behind all steps of all
    /// rounds.
    void tell(const events::SlowMotion& motion,
              const std::function<void(const std::function<void(events::Listener&)>&)>& to) const;

private:
    struct HeldSegment {
        events::Segment segment; ///< without its spans
        std::vector<events::Span> spans;
        std::vector<events::ContextSpan> contexts;
    };
    struct HeldRelease {
        events::Release release; ///< without its path
        std::vector<events::PathSpan> path;
    };
    struct Begun {
        events::Flight flight;
    };
    struct Ended {
        events::Flight flight;
    };
    std::vector<std::variant<HeldSegment, HeldRelease, events::Moved, Begun, Ended>> events_;
    std::size_t size_ = 0;
};

} // namespace tessera::ipu
