#pragma once

#include <memory>
#include <optional>

#include "base/env.h"
#include "base/result.h"
#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/bootstrap_root.h"
#include "engine/runtime/bootstrap/launch.h"

namespace ringside {

/// What a launched process needs to join its job.
struct Rendezvous {
  UniqueId id;
  Secret ticket = {};  ///< for BootstrapOptions::ticket
  /// On rank 0, where its root is not elsewhere. Keep it until Bootstrap::join() has returned.
  std::unique_ptr<BootstrapRoot> root;
  /// For BootstrapOptions::listen.
  std::optional<SocketAddress> listen;
  const char* way =
      "";  ///< what brought the ranks together, for messages: "MASTER_ADDR", "PMIx", ...
};

/// Agrees with the other ranks on where to meet. The first method that is available is used:
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
/// (port, TORCHELASTIC_RUN_ID, Slurm's job and step). Without RINGSIDE_SECRET that prevents accidents:
/// another job's ranks, a port scanner, a stale process. It does not stop an attacker who can reach the port
/// and knows or guesses these ids; RINGSIDE_SECRET does, when it is long and random (openssl rand -hex 16). Rank 0 warns
/// where it is not set. A rank that has joined keeps its place all the same (BootstrapRoot).
///
/// The root listens at the address that the method names. Where that is no address of this host that others reach, it listens
/// at the interface that NCCL_SOCKET_IFNAME or else choose_interface() gives, never at all of them: the other hosts have to
/// resolve the name to that one.
///
/// join_timeout  for the root, and for what rank 0 publishes
/// clock         of both
/// errors  InvalidArgument: a variable cannot be read, or no method is available (the help names what to set).
///         System: a name does not resolve, a port is busy, an interface is missing.  Timeout: PMIx.
Result<Rendezvous> rendezvous(const LaunchInfo& info, Nanoseconds join_timeout = kJoinTimeout,
                              const Environment& environment = env_text,
                              Clock& clock = real_clock());

/// The port of the Slurm method for a job's step.
std::uint16_t slurm_port(std::string_view job, std::string_view step);

}  // namespace ringside
