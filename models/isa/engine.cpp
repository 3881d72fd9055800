// SPDX-License-Identifier: MIT
#include "models/isa/engine.h"

#include "models/isa/stepped_engine.h"

#include <array>
#include <cpuid.h>
#include <xmmintrin.h>

namespace tessera::isa {

namespace portable {
extern const Engine kEngine;
}
namespace avx2 {
extern const Engine kEngine;
}
namespace avx512 {
extern const Engine kEngine;
}
namespace shadow {
extern const Engine kEngine;
extern const StretchEngine kStretchEngine;
extern const SteppedEngine kSteppedEngine;
} // namespace shadow
namespace observed {
extern const SteppedEngine kSteppedEngine;
}

namespace {

/// Asked by number, as not every compiler knows F16C by name.
bool host_has_avx2_fma_f16c() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    const bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    return f16c && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}

bool host_has_avx512() {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
}

/// A virtual host takes long to answer: asked once.
std::size_t runnable() {
    return !host_has_avx2_fma_f16c() ? 1 : !host_has_avx512() ? 2 : 3;
}

} // namespace

std::span<const Engine> engines() {
    static const std::array<Engine, 3> all = {portable::kEngine, avx2::kEngine, avx512::kEngine};
    static const std::size_t here = runnable();
    return {all.data(), here};
}

const Engine& engine() {
    return engines().back();
}

const Engine& shadow_engine() {
    return shadow::kEngine;
}

const StretchEngine& shadow_stretches() {
    return shadow::kStretchEngine;
}

const SteppedEngine& observed_engine() {
    return observed::kSteppedEngine;
}

const SteppedEngine& stepped_shadow_engine() {
    return shadow::kSteppedEngine;
}

namespace {
// FTZ (bit 15) and DAZ (bit 6), all exceptions masked, round to nearest.
constexpr std::uint32_t kMachineRounding = 0x1f80U | 0x8000U | 0x0040U;
} // namespace

FpEnvironment::FpEnvironment() : saved_(_mm_getcsr()) {
    _mm_setcsr(kMachineRounding);
}

FpEnvironment::~FpEnvironment() {
    _mm_setcsr(saved_);
}

} // namespace tessera::isa
