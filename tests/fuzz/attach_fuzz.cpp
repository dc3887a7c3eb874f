// Feeds what attach reads from the processes of a job: a RAS service, a control plane over HTTP, a TCPStore. The first
// byte chooses one of them; the rest is all that the peer sends before it closes the connection.

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/transport/socket/socket.h"
#include "harness/attach/http_client.h"
#include "harness/attach/job_state.h"
#include "harness/attach/place.h"
#include "harness/attach/process.h"
#include "harness/attach/ras_client.h"
#include "harness/attach/store_client.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  using namespace ringside::attach;
  if (size == 0 || size > 60'000) return 0;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return 0;
  UniqueFd mine(ends[0]);
  UniqueFd peer(ends[1]);
  // The kernel keeps what fits the socket; the peer has closed its side before anything is read.
  static_cast<void>(send_some(peer.get(), std::as_bytes(std::span(data + 1, size - 1))));
  ::shutdown(peer.get(), SHUT_WR);
  const Patience patience(deadline_in(std::chrono::milliseconds(200)));
  const RasClient::Limits limits;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 8) {
    case 0: {
      const auto answer = ask_status_on(mine.get(), limits, patience);
      if (answer) static_cast<void>(JobReport::read(*answer));
      break;
    }
    case 1:
      static_cast<void>(ask_diagnostics_on(mine.get(), limits, patience));
      break;
    case 2:
      static_cast<void>(
          ask_monitor_on(mine.get(), limits, std::chrono::milliseconds(10), patience));
      break;
    case 3:
      static_cast<void>(http_get_on(mine.get(), "host", "/handler/ping", 10'000, patience));
      break;
    case 4: {
      auto store = StoreClient::greet(std::move(mine), patience);
      if (store) static_cast<void>(store->get("key", patience));
      break;
    }
    case 5:
      static_cast<void>(parse_place(text));
      static_cast<void>(parse_host(text, 1));
      break;
    case 7:
      static_cast<void>(python_stack_in(text, 71));
      break;
    default:
      static_cast<void>(JobReport::read({text, size % 2 == 0, 2}));
  }
  return 0;
}
