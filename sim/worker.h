#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace ringside {

/// A handle to a ringside-simgrid process. The process has no other file of ours open. It ends when
/// its socket is closed, so at the latest when this process ends.
///
/// Threads    lease() and give_back(): any; one thread at a time uses a worker
class SimWorker {
 public:
  /// Returns an idle worker, or starts one and waits up to 10 s (by `clock`) for its greeting.
  /// errors  Unsupported: the program is missing; Corrupt: another version, or not a worker;
  ///         Timeout: no greeting; System: no process or socket available, or the process ended
  static Result<SimWorker> lease(Clock& clock = real_clock());

  ~SimWorker() { end(); }  ///< kills the process
  SimWorker(SimWorker&& other) noexcept
      : socket_(std::move(other.socket_)),
        pid_(std::exchange(other.pid_, -1)),
        path_(std::move(other.path_)) {}
  SimWorker& operator=(SimWorker&&) = delete;

  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Returns the worker to the pool for the next lease().  shape  it has answered and waits for a
  /// job
  void give_back() &&;

  /// Returns the Error that explains why a worker closed its end of the socket. Kills the worker if
  /// it still runs.
  Error cause_of_end() &&;

 private:
  SimWorker(UniqueFd socket, pid_t pid, std::string path)
      : socket_(std::move(socket)), pid_(pid), path_(std::move(path)) {}
  static Result<SimWorker> spawn(std::string path);
  static Result<SimWorker> start(std::string path, Clock& clock);
  [[nodiscard]] bool is_idle() const;
  int end();

  UniqueFd socket_;
  pid_t pid_ = -1;  ///< -1: ended or moved from
  std::string path_;

  struct Idle;
};

/// Returns an Error about a message that breaks the protocol, with the path of the program and the
/// fix.
Error not_a_worker(const std::string& path, const Error& said);

/// Returns an Error about a simulating process that a signal killed.
Error died_of(int signal);

}  // namespace ringside
