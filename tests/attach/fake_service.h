#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "engine/transport/socket/wakeup.h"
#include "harness/attach/place.h"
#include "harness/attach/socket_reader.h"

namespace ringside::attach {

/// The service's side of one connection.
class FakeClient {
 public:
  FakeClient(int socket, const Wakeup& off);

  /// The next line; empty text where the client has gone or the service ends.
  std::string line();
  bool has_gone() const { return has_gone_; }
  void say(const std::string& text);
  /// Until the client closes or the service ends.
  void stay_silent();
  /// So many bytes; fewer where the client has gone.
  std::string bytes(std::size_t count);
  /// Sends the text again and again until the client has gone or the service ends.
  void say_forever(const std::string& text);

 private:
  const int socket_;
  const Patience patience_;
  SocketReader reader_;
  bool has_gone_ = false;
};

/// Listens on a port of loopback and gives each connection, one after the other, to the test's function.
class FakeService {
 public:
  using Serve = std::function<void(FakeClient& client)>;

  /// port  0: any that is free
  explicit FakeService(Serve serve, std::uint16_t port = 0);
  ~FakeService();
  FakeService(const FakeService&) = delete;
  FakeService& operator=(const FakeService&) = delete;

  [[nodiscard]] HostPort host() const { return {"127.0.0.1", port_}; }
  [[nodiscard]] Place place() const { return {host(), {}}; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  UniqueFd listener_;
  Wakeup off_;
  std::uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::jthread thread_;  // last: it uses all
};

/// A RAS service of one release of NCCL.
/// source  docs/formats 7.1
struct FakeRas {
  int release = 231;  ///< 224, 228, 229, 231: what it knows
  /// STATUS: the reports one after the other; the last one again and again.
  std::vector<std::string> json = {};
  std::vector<std::string> text = {};
  std::string events = {};  ///< of MONITOR
  bool is_busy = false;     ///< DIAGNOSTICS

  std::size_t asked = 0;  ///< reports that were given

  /// Serves one connection as that release does.
  void serve(FakeClient& client);
};

/// A report of NCCL's RAS as JSON: ranks that have launched so many all-reduces; -1: one that does not answer.
/// lacks_comma  as 2.28.7 to 2.28.9 print missing ranks
std::string ras_json(const std::vector<int>& launched, bool lacks_comma = false);

/// The same as text, as VERBOSE STATUS of 2.24 prints it.
std::string ras_text(const std::vector<int>& launched);

/// Answers one HTTP request for `path` with the body, and others with 404.
void serve_http(FakeClient& client, const std::string& path, const std::string& body);

/// A Flight Recorder dump as JSON: the rank has completed `completed` all-reduces of two ranks, and waits in one more or not.
/// Calls begin `pause` after each other, from the year 2023 on.
std::string dump_json(int completed, bool waits, const char* backend = "nccl",
                      std::chrono::nanoseconds pause = std::chrono::milliseconds(1));

}  // namespace ringside::attach
