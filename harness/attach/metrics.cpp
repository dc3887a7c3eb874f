#include "harness/attach/metrics.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "base/append.h"
#include "base/one_line.h"
#include "engine/transport/socket/socket.h"
#include "engine/transport/socket/wakeup.h"
#include "harness/attach/socket_reader.h"

namespace ringside::attach {
namespace {

constexpr std::size_t kMostSeries = 20'000;

/// A label's value: foreign text on one line, with `\` and `"` escaped.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : one_line(text)) {
    if (letter == '\\' || letter == '"') safe += '\\';
    safe += letter;
  }
  return safe;
}

void begin_family(std::string& text, const char* name, const char* help) {
  append(text, "# TYPE {} gauge\n# HELP {} {}\n", name, name, help);
}

std::string labels_of(const hang::RasCommunicator& communicator, const hang::RasMember& member) {
  return fmt::format(
      "comm_hash=\"{:#x}\",nranks=\"{}\",rank=\"{}\",node=\"{}\",pid=\"{}\",gpu=\"{}\"",
      communicator.hash, communicator.size, member.place, escaped(member.host), member.pid,
      member.gpu);
}

/// Calls `add` for each rank of each communicator, as far as a scrape may be long.
template <typename Add>
void for_each_member(const hang::RasReport& report, const Add& add) {
  std::size_t series = 0;
  for (const hang::RasCommunicator& communicator : report.communicators) {
    for (const hang::RasMember& member : communicator.members) {
      if (++series > kMostSeries) return;
      add(communicator, member);
    }
  }
}

void append_ranks(std::string& text, const hang::RasReport& report) {
  begin_family(text, "ringside_rank_answers",
               "Whether the rank answered: 1 yes, 0 no, -1 its process has ended.");
  for_each_member(report, [&](const auto& communicator, const auto& member) {
    append(text, "ringside_rank_answers{{{}}} {}\n", labels_of(communicator, member),
           member.is_dead      ? -1
           : member.is_missing ? 0
                               : 1);
  });
  begin_family(text, "ringside_calls_launched",
               "Calls that the rank has launched, by collective, since the communicator was made.");
  for_each_member(report, [&](const auto& communicator, const auto& member) {
    if (member.is_missing) return;
    for (std::size_t i = 0; i < member.counts.size(); ++i) {
      append(text, "ringside_calls_launched{{{},collective=\"{}\"}} {}\n",
             labels_of(communicator, member), hang::kRasCounts[i], member.counts[i]);
    }
  });
  begin_family(text, "ringside_calls_completed",
               "Calls that the rank has completed. NCCL's own service does not count them.");
  for_each_member(report, [&](const auto& communicator, const auto& member) {
    if (member.is_missing || member.completed < 0) return;
    append(text, "ringside_calls_completed{{{}}} {}\n", labels_of(communicator, member),
           member.completed);
  });
}

}  // namespace

std::string metrics_text(const JobMetrics& metrics) {
  std::string text;
  begin_family(text, "ringside_up", "Whether the job's RAS service answered: 1 yes, 0 no.");
  append(text, "ringside_up {}\n", metrics.is_answering ? 1 : 0);
  begin_family(text, "ringside_job_state", "1 for the state that the job is in.");
  for (const JobState state :
       {JobState::Unknown, JobState::Moves, JobState::Still, JobState::Gone}) {
    append(text, "ringside_job_state{{state=\"{}\"}} {}\n", to_string(state),
           state == metrics.state ? 1 : 0);
  }
  begin_family(text, "ringside_seconds_since_progress",
               "Seconds since a rank last launched or completed a call.");
  append(text, "ringside_seconds_since_progress {:.3f}\n", metrics.since_progress.count());
  begin_family(text, "ringside_hang", "1 while the job hangs, by the kind of the verdict.");
  if (metrics.hang) append(text, "ringside_hang{{kind=\"{}\"}} 1\n", escaped(*metrics.hang));
  begin_family(text, "ringside_hang_confidence", "Confidence of the verdict, 0 to 1.");
  if (metrics.hang) append(text, "ringside_hang_confidence {:.3f}\n", metrics.confidence);
  begin_family(text, "ringside_hang_culprit", "1 for each rank that the verdict names.");
  for (const int rank : metrics.culprits) {
    append(text, "ringside_hang_culprit{{rank=\"{}\"}} 1\n", rank);
  }
  if (metrics.report != nullptr) append_ranks(text, *metrics.report);
  return text + "# EOF\n";
}

class MetricsPort::Impl {
 public:
  Impl(UniqueFd listener, Wakeup off) : listener_(std::move(listener)), off_(std::move(off)) {
    serves_ = std::jthread([this] { serve(); });
  }
  ~Impl() { off_.signal(); }

  void publish(std::string text) {
    const std::scoped_lock lock(mutex_);
    text_ = std::move(text);
  }

  [[nodiscard]] std::uint16_t port() const {
    const auto endpoint = local_endpoint(listener_.get());
    return endpoint ? std::get<SocketAddress>(*endpoint).port : std::uint16_t{0};
  }

 private:
  void serve() {
    for (;;) {
      const auto waited =
          Patience(Deadline::never(real_clock()), off_).wait_for(listener_.get(), POLLIN);
      if (!waited) return;
      const auto client = accept_one(listener_.get());
      // A client that fails or is slow goes without an answer.
      if (client && *client) static_cast<void>(answer(client->get()));
    }
  }

  Status answer(int client) {
    const Patience patience(deadline_in(std::chrono::seconds(2)), off_);
    constexpr std::size_t kMostRequest = 64 * 1024;
    SocketReader reader(client, kMostRequest);
    for (;;) {
      RINGSIDE_TRY(const std::string line, reader.line(patience));
      if (line.empty()) break;
    }
    std::string body;
    {
      const std::scoped_lock lock(mutex_);
      body = text_;
    }
    const std::string text = fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; "
        "charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
        body.size(), body);
    return send_all(client, std::as_bytes(std::span(text)), patience);
  }

  const UniqueFd listener_;
  const Wakeup off_;
  std::mutex mutex_;
  std::string text_ = "# EOF\n";  ///< under mutex_
  std::jthread serves_;           // last: it uses all
};

Result<std::unique_ptr<MetricsPort>> MetricsPort::open(std::uint16_t port) {
  RINGSIDE_TRY(UniqueFd listener, listen_tcp(loopback_address(port)));
  RINGSIDE_TRY(Wakeup off, Wakeup::make());
  return std::unique_ptr<MetricsPort>(
      new MetricsPort(std::make_unique<Impl>(std::move(listener), std::move(off))));
}

MetricsPort::MetricsPort(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MetricsPort::~MetricsPort() = default;
void MetricsPort::publish(std::string text) { impl_->publish(std::move(text)); }
std::uint16_t MetricsPort::port() const { return impl_->port(); }

}  // namespace ringside::attach
