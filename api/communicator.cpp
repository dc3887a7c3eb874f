#include "ringside/communicator.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "base/result.h"
#include "engine/capi/handles.h"
#include "engine/capi/init.h"
#include "engine/runtime/call_group.h"
#include "ringside/ringside.h"
#include "ringside/vocabulary.h"
#include "trace/clock.h"

namespace ringside {
namespace {

static_assert(sizeof(CommunicatorId::bytes) == RS_UNIQUE_ID_BYTES);

Result<CollectiveCall> engine_call(const Call& call, int nranks) {
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max() / 4096);
  if (call.collective == Collective::SendRecv) {
    return Error{ErrorCode::Unsupported, "send_recv as one call",
                 "start() a send and a recv together"};
  }
  if (call.count > kMost) {
    return Error{ErrorCode::InvalidArgument, fmt::format("count {}", call.count),
                 "pass the number of elements"};
  }
  CollectiveCall made;
  made.collective = call.collective;
  made.input = call.input;
  made.output = call.output;
  made.count = static_cast<std::int64_t>(call.count);
  made.type = call.type;
  made.op = call.options.op;
  made.site = call.options.site;
  if (call.options.scalar != nullptr) {
    made.scalar.emplace();
    std::memcpy(&*made.scalar, call.options.scalar, size_of(call.type).value);
  } else if (made.op == RedOp::PreMulSum) {
    return Error{ErrorCode::InvalidArgument, "premul_sum without a factor",
                 "set CallOptions::scalar"};
  }
  if (call.collective == Collective::AllGatherV) {
    if (call.options.counts.size() != static_cast<std::size_t>(nranks)) {
      return Error{ErrorCode::InvalidArgument,
                   fmt::format("{} counts for {} ranks", call.options.counts.size(), nranks),
                   "set CallOptions::counts to one for each rank"};
    }
    made.counts = call.options.counts;
  }
  const Transfer transfer{Rank{call.options.root}, 0, made.count};
  if (call.collective == Collective::Send) {
    made.sends.push_back(transfer);
  } else if (call.collective == Collective::Recv) {
    made.recvs.push_back(transfer);
  } else {
    made.root = Rank{call.options.root};
  }
  return made;
}

}  // namespace

struct Communicator::Impl {
  rsComm* comm = nullptr;
  HostStream queue;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    queue.synchronize();
    if (comm != nullptr) rsCommDestroy(comm);
  }

  /// Returns what broke the communicator, or was refused, so far.
  [[nodiscard]] Status status() const {
    RINGSIDE_TRY(const CommunicatorInUse use, communicator_of(comm));
    const auto error = use->async_error();
    return error ? Status(*error) : Status();
  }

  Status enqueue(const std::vector<Call>& calls) {
    RINGSIDE_TRY(const CommunicatorInUse use, communicator_of(comm));
    CallGroup group;
    for (const Call& call : calls) {
      RINGSIDE_TRY(CollectiveCall made, engine_call(call, comm->nranks));
      group.add(*use, &queue, std::move(made));
    }
    return group.launch();
  }
};

struct MessageRecord::Impl {
  std::shared_ptr<FlightRecorder> recorder;
  FlightRecorder::Ticket ticket;
};

MessageRecord::MessageRecord(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MessageRecord::MessageRecord(MessageRecord&&) noexcept = default;
MessageRecord& MessageRecord::operator=(MessageRecord&&) noexcept = default;
MessageRecord::~MessageRecord() = default;
void MessageRecord::end(bool is_done) {
  if (impl_->ticket.count > 0) impl_->recorder->end(impl_->ticket, is_done, trace_now());
}

void MessageRecord::report_unreceived(const std::string& why) {
  if (impl_->ticket.count == 0) return;
  if (impl_->ticket.collective == Collective::Send) {
    impl_->recorder->reopen(impl_->ticket, why);
  } else {
    impl_->recorder->failed(why, impl_->ticket.group);
  }
}

Communicator::Communicator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

Result<CommunicatorId> CommunicatorId::make(Seconds join_timeout) {
  rsUniqueId made{};
  RINGSIDE_TRY(make_unique_id(&made, join_timeout));
  CommunicatorId id;
  std::memcpy(id.bytes.data(), made.internal, sizeof made.internal);
  return id;
}

Result<Communicator> Communicator::join(const CommunicatorId& id, int nranks, int rank,
                                        const CommunicatorConfig& config) {
  rsUniqueId c_id{};
  std::memcpy(c_id.internal, id.bytes.data(), sizeof c_id.internal);
  rsConfig_t c_config = RS_CONFIG_INITIALIZER;
  c_config.connectTimeout = config.connect_timeout.count();
  c_config.opTimeout = config.op_timeout.count();
  c_config.commName = config.name.empty() ? nullptr : config.name.c_str();
  c_config.device = "host";
  auto impl = std::make_unique<Impl>();
  RINGSIDE_TRY(init_communicator(&impl->comm, nranks, c_id, rank, &c_config,
                                 {.description = config.description,
                                  .family = config.fault_name,
                                  .is_recorded = config.is_recorded,
                                  .when_left = config.when_left}));
  return Communicator(std::move(impl));
}

int Communicator::rank() const { return impl_->comm->rank; }
int Communicator::nranks() const { return impl_->comm->nranks; }

Status Communicator::run(Collective collective, const void* input, void* output, std::size_t count,
                         DataType type, CallOptions options) {
  RINGSIDE_TRY(impl_->enqueue({{collective, input, output, count, type, std::move(options)}}));
  wait(impl_->queue.push([] {}));
  return impl_->status();
}

std::uint64_t Communicator::start(const std::vector<Call>& calls, WhenDone when_done) {
  if (const Status begun = impl_->enqueue(calls); !begun) {
    when_done(begun);
    return 0;
  }
  return impl_->queue.push(
      [impl = impl_.get(), when_done = std::move(when_done)] { when_done(impl->status()); });
}

void Communicator::wait(std::uint64_t number) { impl_->queue.finish(number); }

MessageRecord Communicator::record_message(const Call& message) {
  auto record = std::make_unique<MessageRecord::Impl>();
  record->recorder = impl_->comm->recorder;
  const auto count = static_cast<std::int64_t>(message.count);
  const Result<CommunicatorInUse> use = communicator_of(impl_->comm);
  if (use) {
    record->ticket = (*use)->record_message({.collective = message.collective,
                                             .type = message.type,
                                             .input = count,
                                             .output = count,
                                             .root = -1,
                                             .peer = message.options.root,
                                             .site = message.options.site});
  }
  return MessageRecord(std::move(record));
}

void Communicator::abort(const Error& why) {
  if (const Result<CommunicatorInUse> use = communicator_of(impl_->comm)) (*use)->abort(why);
}

Status Communicator::status() const { return impl_->status(); }

Status Communicator::finish() {
  RINGSIDE_TRY(const CommunicatorInUse use, communicator_of(impl_->comm));
  impl_->queue.synchronize();
  {
    const std::lock_guard lock(impl_->comm->mutex);
    impl_->comm->is_finalized = true;
  }
  return use->finish();
}

}  // namespace ringside
