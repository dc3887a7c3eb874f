#pragma once

#include "base/vocabulary.h"
#include "ringside/units.h"

namespace ringside {

/// Returns the data bytes of a slot on GPUs: its share of NCCL's buffer for the protocol, without flags. Hosts use
/// smaller slots, which stay in a core's caches.
/// source  NCCL 2.30: NCCL_BUFFSIZE 4 MiB, NCCL_LL_BUFFSIZE 512 KiB, NCCL_LL128_BUFFSIZE 4915200 bytes
constexpr Bytes nccl_slot_size(Protocol protocol) {
  switch (protocol) {
    case Protocol::LL:
      return Bytes{524288 / kSlots / 2};
    case Protocol::LL128:
      return Bytes{4915200 / kSlots / 16 * 15};
    case Protocol::Simple:
      break;
  }
  return Bytes{4194304 / kSlots};
}

}  // namespace ringside
