#pragma once

#include <sys/types.h>

#include <string>
#include <utility>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"

namespace ringside {

/// A ringside-simgrid process, this end of it. It has no other file of ours open, and ends when its socket
/// is closed: with this process at the latest, whatever the reason.
///
/// Threads    lease() and give_back(): any; one at a time uses a worker
class SimWorker {
 public:
  /// An idle worker, or a new one that has said hello: within 10 s of `clock`.
  /// errors  Unsupported: no such program; Corrupt: it is of another version, or no worker; Timeout: it says
  ///         nothing; System: no process or socket to be had, or it ended
  static Result<SimWorker> lease(Clock& clock = real_clock());

  ~SimWorker() { end(); }  ///< kills it, whatever it is at
  SimWorker(SimWorker&& other) noexcept
      : socket_(std::move(other.socket_)),
        pid_(std::exchange(other.pid_, -1)),
        path_(std::move(other.path_)) {}
  SimWorker& operator=(SimWorker&&) = delete;

  [[nodiscard]] int socket() const { return socket_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// For the next lease().  shape  it has answered, and waits for a job
  void give_back() &&;

  /// The Error of a worker that has closed its end of the socket. A worker that runs on is killed.
  Error cause_of_end() &&;

 private:
  SimWorker(UniqueFd socket, pid_t pid, std::string path)
      : socket_(std::move(socket)), pid_(pid), path_(std::move(path)) {}
  static Result<SimWorker> spawn(std::string path);
  static Result<SimWorker> start(std::string path, Clock& clock);
  [[nodiscard]] bool is_idle() const;
  int end();

  UniqueFd socket_;
  pid_t pid_ = -1;  ///< -1: ended, moved from, or another process's
  std::string path_;

  struct Idle;
};

/// The program at `path` sent a message outside the protocol. returns  an Error with the program's name, and the fix
Error not_a_worker(const std::string& path, const Error& said);

/// The simulation's process died of a signal.
Error died_of(int signal);

}  // namespace ringside
