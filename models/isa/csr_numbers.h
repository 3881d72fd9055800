// SPDX-License-Identifier: MIT
// Numbers and bits of the control and status registers that have a function here. Names for the
// assembler stand in csr.h. Source: docs/evidence.md#instruction-set
#pragma once

#include <cstdint>

namespace tessera::isa {

inline constexpr std::int32_t kCsrPc = 0x00;
inline constexpr std::int32_t kCsrStatus =
    0x01; ///< WSR in a worker (bits 2:0 worker number), SSR in the supervisor
inline constexpr std::int32_t kCsrVertexBase = 0x02; ///< worker
inline constexpr std::int32_t kCsrCommand = 0x02;    ///< CR, supervisor
// CR's commands: LC_CLR (1) and LC_SET (2) act on the local consensus, which nothing here reads.
inline constexpr std::uint32_t kCommandZeroWeights = 4U; ///< ZCWEI
inline constexpr std::int32_t kCsrWorkerBase = 0x03;     ///< worker
inline constexpr std::int32_t kCsrRepeatCount = 0x04;    ///< worker, as the next two
inline constexpr std::int32_t kCsrRepeatFirst = 0x05;
inline constexpr std::int32_t kCsrRepeatEnd = 0x06;
inline constexpr std::int32_t kCsrTileId = 0x03;          ///< supervisor
inline constexpr std::int32_t kCsrFpInitial = 0x20;       ///< FP_ICTL, supervisor
inline constexpr std::int32_t kCsrWorker0Base = 0x21;     ///< supervisor; one for each worker
inline constexpr std::int32_t kCsrFpInitialFormat = 0x31; ///< FP_INFMT, supervisor, ipu21
inline constexpr std::int32_t kCsrFpInitialScale = 0x33;  ///< FP_ISCL, supervisor, ipu21
inline constexpr std::int32_t kCsrWeightAddress = 0x50;   ///< CCCSLOAD
inline constexpr std::int32_t kCsrCountL = 0x60;
inline constexpr std::int32_t kCsrCountU = 0x61;
inline constexpr std::int32_t kCsrDebugData = 0x70;
inline constexpr std::int32_t kCsrDebugBreak = 0x71;
inline constexpr std::int32_t kCsrContextStatus = 0x72; ///< CTXT_STS, supervisor: 2 bits a context
inline constexpr std::int32_t kCsrExchangeFirst = 0xa0; ///< INCOMING_MUX, supervisor
inline constexpr std::int32_t kCsrExchangeLast = 0xab;  ///< EXCHANGE_ADJ
inline constexpr std::int32_t kCsrAuxFirst =
    0x100; ///< numbers from here on are reached by uget and uput
inline constexpr std::int32_t kCsrFpStatus = 0x100;
inline constexpr std::int32_t kCsrFpClear = 0x101;
inline constexpr std::int32_t kCsrFpControl = 0x102;
inline constexpr std::int32_t kCsrRandom = 0x103; ///< PRNG_0_0, then PRNG_0_1, PRNG_1_0, PRNG_1_1
inline constexpr std::int32_t kCsrRandomSeed = 0x107;
inline constexpr std::int32_t kCsrTas = 0x108;
inline constexpr std::int32_t kCsrFpFormat = 0x109;       ///< FP_NFMT, ipu21
inline constexpr std::int32_t kCsrFpScale = 0x10a;        ///< FP_SCL, ipu21
inline constexpr std::uint32_t kFpClearAccumulators = 8U; ///< FP_CLR.ZAACC
// Sticky flags of FP_STS; the same bits of FP_CTL enable their traps, of FP_CLR clear them.
inline constexpr std::uint32_t kFpInvalid = 1U;
inline constexpr std::uint32_t kFpDivideByZero = 2U;
inline constexpr std::uint32_t kFpOverflow = 4U;
inline constexpr std::uint32_t kFpFlags = 7U;
inline constexpr std::uint32_t kFpStochastic = 1U << 19U;    ///< FP_CTL.ESR
inline constexpr std::uint32_t kFpNanOnOverflow = 1U << 20U; ///< FP_CTL.NANOO
/// What FP_CTL and FP_ICTL hold: the trap enables, RND (18:16, without effect: rounding is to
/// nearest even or stochastic), ESR and NANOO.
inline constexpr std::uint32_t kFpControlBits =
    kFpFlags | (7U << 16U) | kFpStochastic | kFpNanOnOverflow;

} // namespace tessera::isa
