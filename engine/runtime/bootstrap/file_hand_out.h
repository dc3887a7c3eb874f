#pragma once

#include <cstddef>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/address.h"
#include "engine/transport/socket/patience.h"

namespace ringside {

class Bootstrap;

/// Sends an open file from one rank to other ranks of its host before they have connections: the sender listens at a
/// name that all ranks know, and accepts peers that prove the job's secret.
///
/// shape  the ranks have the same host_identity(); the name is fresh_name()

/// Sends the file to `others` ranks, in the order in which they connect. The file stays open here.
/// errors  System: no sockets.  Timeout, Aborted, PeerGone: another rank did not connect, or left
Status hand_out_file(int file, const AbstractName& at, std::size_t others,
                     const Bootstrap& bootstrap, const Patience& patience);

/// Waits for and receives the file of hand_out_file().
/// errors  Timeout: no process listens there.  As connect_authenticated() and recv_fd()
Result<UniqueFd> fetch_file(const AbstractName& at, const Bootstrap& bootstrap,
                            const Patience& patience);

}  // namespace ringside
