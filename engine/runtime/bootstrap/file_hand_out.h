#pragma once

#include <cstddef>

#include "base/fd.h"
#include "base/result.h"
#include "engine/transport/socket/address.h"
#include "engine/transport/socket/patience.h"

namespace ringside {

class Bootstrap;

/// How one rank of a host sends an open file to others there, before there are connections between them: it listens at a
/// name that all know, and accepts peers that prove the job's secret.
///
/// shape  the ranks share a host, as host_identity() has it

/// A name that no other process uses.
/// for_what  a part of the name, for a user who lists the host's sockets (ss -xl)
AbstractName hand_out_name(const char* for_what);

/// Sends the file to so many others, in the order in which they come; it stays open here.
/// errors  System: no sockets.  Timeout, Aborted, PeerGone: another process did not come, or left
Status hand_out_file(int file, const AbstractName& at, std::size_t others,
                     const Bootstrap& bootstrap, const Patience& patience);

/// Receives the file that hand_out_file() sends; waits for it.
/// errors  Timeout: no process listens there.  As connect_authenticated() and recv_fd()
Result<UniqueFd> fetch_file(const AbstractName& at, const Bootstrap& bootstrap,
                            const Patience& patience);

}  // namespace ringside
