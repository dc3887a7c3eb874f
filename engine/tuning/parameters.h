#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/result.h"
#include "base/vocabulary.h"

namespace ringside {

/// NCCL's tuner decides on broadcast, reduce, all_gather, reduce_scatter and all_reduce. NCCL runs the other
/// collectives as sends and receives.
inline constexpr int kTunedCollectives = 5;
inline constexpr int kAlgorithms = kNcclAlgorithms;
inline constexpr int kProtocols = 3;

/// The effect of NCCL_ALGO or NCCL_PROTO on one algorithm or protocol.
enum class Permission : std::uint8_t {
  No,       ///< switched off
  Yes,      ///< requested by name, or not excluded by a list with ^; skips the safety rule of LL128
  Default,  ///< not mentioned
};

/// The environment variables that affect the choice.
/// source  NCCL 2.30.7: graph/tuning.cc
struct TuningParameters {
  /// [collective][algorithm]: NCCL_ALGO; [collective][protocol]: NCCL_PROTO
  std::array<std::array<Permission, kAlgorithms>, kTunedCollectives> algorithms;
  std::array<std::array<Permission, kProtocols>, kTunedCollectives> protocols;
  bool names_collectives = false;  ///< a list of NCCL_ALGO or NCCL_PROTO names a collective
  std::optional<int> nthreads;     ///< NCCL_NTHREADS: threads of ring and tree with LL and Simple
  std::optional<int> ll128_nthreads;  ///< NCCL_LL128_NTHREADS
  /// NCCL_THREAD_THRESHOLDS: bytes per thread: tree, then ring, by protocol; empty: the default
  std::array<std::optional<int>, 6> thread_thresholds;
  int pat_enable = 2;                     ///< NCCL_PAT_ENABLE: 0 off, 1 on, 2 if it is worthwhile
  bool ll128_c2c = true;                  ///< NCCL_LL128_C2C
  std::optional<double> net_overhead_us;  ///< NCCL_NET_OVERHEAD, which is in ns

  /// Makes parameters as if no variable were set.
  TuningParameters();
};

/// Reads the variables. The grammar of NCCL_ALGO and NCCL_PROTO is:
///   value = entry { ";" entry }    entry = [collective ":"] list    list = ["^"] word { "," word }
/// with NCCL's words, in any case. Only the first entry may omit the collective, and then applies to all. A later entry
/// replaces earlier settings of its collectives.
/// errors  InvalidArgument: a value that NCCL rejects or would ignore; with the variable's grammar and
///         the nearest known word
Result<TuningParameters> parse_tuning_parameters(const Environment& environment);

/// Returns the variables that parse_tuning_parameters() reads.
std::span<const std::string_view> tuning_variables();

/// Returns all variables of topology, channels and tuning, in alphabetical order.
std::vector<std::string_view> known_variables();

}  // namespace ringside
