#include "sim/simgrid/caller.h"

#include <fmt/format.h>

namespace ringside {
namespace {

class SocketSink : public TraceSink {
 public:
  explicit SocketSink(int socket) : socket_(socket) {}
  Status write(std::span<const std::byte> block) override {
    return send_wire(socket_, encode_trace(block));
  }

 private:
  int socket_;
};

template <typename Expected>
Result<Expected> receive(int socket) {
  RINGSIDE_TRY(WireMessage message, receive_wire(socket));
  if (auto* const expected = std::get_if<Expected>(&message)) return std::move(*expected);
  return Error{ErrorCode::Corrupt, "a message of the simulation is out of order"};
}

}  // namespace

Result<WireJob> Caller::job() {
  RINGSIDE_TRY(WireJob job, receive<WireJob>(socket_));
  if (job.caller.version != RINGSIDE_VERSION) {
    return Error{ErrorCode::Corrupt,
                 fmt::format("ringside-simgrid is of ringside {}, its caller is {}",
                             RINGSIDE_VERSION, job.caller.version),
                 "install both from one build"};
  }
  return job;
}

Result<WireRoutes> Caller::ask(WireQuestion question) {
  RINGSIDE_TRY(send_wire(socket_, encode(std::move(question))));
  return receive<WireRoutes>(socket_);
}

void Caller::answer(Result<SimResult> result) {
  const WireMessage message =
      result ? WireMessage{*result} : WireMessage{WireFailure{std::move(result).error()}};
  static_cast<void>(send_wire(socket_, encode(message)));
}

std::shared_ptr<TraceSink> Caller::sink() { return std::make_shared<SocketSink>(socket_); }

}  // namespace ringside
