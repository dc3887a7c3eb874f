#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/runtime/calls/call.h"

namespace ringside {

/// Another library, which runs the calls of a benchmark. Each is a plugin of its own, so that the program needs none of
/// their libraries.
///
/// Threads  one at a time
class PeerLibrary {
 public:
  virtual ~PeerLibrary() = default;

  /// Returns the library with its version.
  [[nodiscard]] virtual std::string name() const = 0;
  /// errors  Unsupported: the library lacks the collective, type or operation, or takes fewer elements; before any rank
  ///         begins
  [[nodiscard]] virtual Status check(const CollectiveCall& call) const = 0;
  /// Runs a call, whose input and output do not overlap, and returns when this rank's part is done.
  /// errors  System: the library's own error
  virtual Status run(const CollectiveCall& call) = 0;
};

/// What a plugin needs to join the ranks.
struct PeerSetup {
  int rank = 0;
  int nranks = 1;
  /// A folder that all ranks share, empty at first.
  std::string folder = {};
  /// What follows the colon of `--backend torch:NAME`; empty: nothing
  std::string detail = {};
};

/// The function that each plugin exports: `ringside_make_peer`.
/// errors  System: the library cannot be started
using MakePeerLibrary = Result<std::unique_ptr<PeerLibrary>> (*)(const PeerSetup& setup);

}  // namespace ringside
