#pragma once

#include <memory>
#include <optional>

#include "base/env.h"
#include "base/result.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/bootstrap_root.h"
#include "engine/runtime/bootstrap/launch.h"

namespace ringside {

/// The values with which a launched process joins its job.
struct Rendezvous {
  UniqueId id;
  Secret ticket = {};  ///< for BootstrapOptions::ticket
  /// Set on rank 0, unless another process runs the root. Keep it until Bootstrap::join() has returned.
  std::unique_ptr<BootstrapRoot> root;
  /// For BootstrapOptions::listen.
  std::optional<SocketAddress> listen;
  const char* method = "";  ///< the method, as named in messages: "MASTER_ADDR", "PMIx", ...
};

/// Agrees with the other ranks on the root's address and secret. The first available method of this list is used:
///
///     RINGSIDE_COMM_ID   a whole id, `ringside:IP:PORT:SECRET`, of a root that runs already; or as:
///     NCCL_COMM_ID       HOST:PORT, where rank 0 listens
///     MASTER_ADDR, MASTER_PORT   the same; one port higher when torchrun's agent has MASTER_PORT itself
///                        (TORCHELASTIC_USE_AGENT_STORE=True)
///     PMIx               rank 0 publishes a fresh id through mpirun or srun --mpi=pmix
///     Slurm              the step's first host, which has rank 0 unless --distribution=arbitrary says
///                        otherwise; a port from 20000 to 29999 that follows from job and step
///
/// Secrets: a whole id and PMIx carry 128 random bits that only the job's processes see. The other methods have no
/// channel for one, so the secret is derived from RINGSIDE_SECRET and from properties of the job
/// (port, TORCHELASTIC_RUN_ID, Slurm's job and step). Without RINGSIDE_SECRET that only prevents accidents: another
/// job's ranks, a port scanner, a stale process. An attacker who can reach the port and knows or guesses these ids
/// needs a RINGSIDE_SECRET that is long and random (openssl rand -hex 16) to be stopped. Rank 0 warns if it is not set.
/// No process can replace a rank that has joined (BootstrapRoot).
///
/// The root listens at the address that the method names. If other hosts cannot reach that address, the root listens on
/// the interface of NCCL_SOCKET_IFNAME, or else of choose_interface(), but never on all interfaces. The other hosts
/// must resolve the name to that interface.
///
/// join_timeout  limit for joining at the root, and for waiting for the id that rank 0 publishes (PMIx)
/// clock         clock of these waits
/// errors  InvalidArgument: a variable cannot be read, or no method is available (the help names what to set).
///         System: a name does not resolve, a port is busy, an interface is missing.  Timeout: PMIx.
Result<Rendezvous> rendezvous(const LaunchInfo& info, Nanoseconds join_timeout = kJoinTimeout,
                              const Environment& environment = env_text,
                              Clock& clock = real_clock());

/// Returns the port that the Slurm method uses for a job's step.
std::uint16_t slurm_port(std::string_view job, std::string_view step);

}  // namespace ringside
