#include "cli/attach/attach_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/local_time.h"
#include "base/one_line.h"
#include "base/text.h"
#include "base/write_file.h"
#include "cli/attach/attach_answer.h"
#include "cli/verb.h"
#include "diag/report/sentences/hang_sentences.h"
#include "harness/attach/metrics.h"
#include "harness/attach/ras_client.h"

namespace ringside::cli {
namespace {

using attach::JobState;

/// Where metrics go: a file that is replaced, or a port.
class MetricsOutput {
 public:
  static Result<MetricsOutput> open(const std::string& where) {
    MetricsOutput output;
    if (where.starts_with(':')) {
      const auto port = parse_int(where.substr(1));
      if (!port || *port < 0 || *port > 65535) {
        return Error{ErrorCode::InvalidArgument, fmt::format("--metrics {}", where),
                     "give a file, or a port of loopback from 1 to 65535: --metrics :9400"};
      }
      RINGSIDE_TRY(output.port_, attach::MetricsPort::open(static_cast<std::uint16_t>(*port)));
      fmt::print(stderr, "note: metrics are on http://127.0.0.1:{}/metrics\n",
                 output.port_->port());
    } else {
      output.file_ = where;
    }
    return output;
  }

  Status publish(const attach::JobMetrics& metrics) {
    if (port_ == nullptr && file_.empty()) return {};
    std::string text = attach::metrics_text(metrics);
    if (!file_.empty()) return write_file(file_, text);
    port_->publish(std::move(text));
    return {};
  }

 private:
  std::string file_;
  std::unique_ptr<attach::MetricsPort> port_;
};

/// Queries the RAS service of a job at an interval, and prints what changes.
class WatchedJob {
 public:
  WatchedJob(const WatchSettings& settings, MetricsOutput metrics)
      : settings_(settings),
        metrics_(std::move(metrics)),
        movement_(settings.request.reports),
        pauses_(2 * settings.request.reports) {}

  Result<int> run() {
    const Clock& clock = real_clock();
    const Clock::Time began = clock.now();
    RINGSIDE_TRY(wait_for_service(began));
    note_progress();
    while (state_ != JobState::Gone) {
      const Clock::Time asked = clock.now();
      RINGSIDE_TRY(look());
      if (settings_.longest.count() > 0 && clock.now() - began >= settings_.longest) break;
      if (state_ != JobState::Gone) {
        wait_until(asked + std::chrono::duration_cast<Nanoseconds>(settings_.request.interval));
      }
    }
    return hang_ ? kFinding : kFine;
  }

 private:
  [[nodiscard]] Patience patience() const {
    return {deadline_in(std::chrono::duration_cast<Nanoseconds>(settings_.request.timeout))};
  }

  void note_progress() {
    changed_ = real_clock().now();
    changed_at_ = local_time("%H:%M:%S");
  }

  /// Waits until a service answers, because a watch may begin before its job does.
  /// errors  as RasClient::status(): no service answered before the watch ends, or one is not a RAS service
  Status wait_for_service(Clock::Time began) {
    for (bool is_first = true;; is_first = false) {
      const Clock::Time asked = real_clock().now();
      const Status found = find_service();
      if (found) return {};
      const bool is_absent =
          found.error().code == ErrorCode::PeerGone || found.error().code == ErrorCode::Timeout;
      const bool is_over = settings_.longest.count() > 0 && asked - began >= settings_.longest;
      if (!is_absent || is_over) return found;
      if (is_first) {
        fmt::print(stderr, "note: {}; waiting for the job (Ctrl-C ends)\n",
                   one_line(found.error().message));
      }
      RINGSIDE_TRY(metrics_.publish({}));
      real_clock().sleep_until(asked +
                               std::chrono::duration_cast<Nanoseconds>(settings_.request.interval));
    }
  }

  /// Connects to the first service that answers. All later queries go to it.
  Status find_service() {
    std::optional<Error> first;
    for (const HostPort& host : settings_.request.services) {
      client_.emplace(attach::Place{host, {}});
      const auto answer = client_->status(patience());
      if (answer) return {};
      if (!first) first = answer.error();
    }
    return first ? *first : Error{ErrorCode::InvalidArgument, "nothing to watch"};
  }

  /// Requests one report, prints what it changes, and publishes the metrics.
  Status look() {
    auto answer = client_->status(patience());
    auto report = answer ? attach::JobReport::read(*std::move(answer))
                         : Result<attach::JobReport>(answer.error());
    const bool is_gone = !report && report.error().code == ErrorCode::PeerGone;
    if (report) {
      const bool is_same = movement_.same() > 0 && report->fingerprint == newest_.fingerprint;
      if (!is_same) {
        if (has_moved_) pauses_.add(movement_.same());
        has_moved_ = has_moved_ || movement_.same() > 0;
        note_progress();
      }
      movement_.add(*report);
      newest_ = *std::move(report);
      RINGSIDE_TRY(enter(state_now()));
    } else if (is_gone) {
      RINGSIDE_TRY(enter(JobState::Gone));
    } else {
      fmt::print(stderr, "note: no report: {}\n", one_line(report.error().message));
    }
    attach::JobMetrics metrics;
    metrics.is_answering = !is_gone && report.has_value();
    metrics.state = state_;
    metrics.since_progress = real_clock().now() - changed_;
    metrics.report = newest_.parsed ? &*newest_.parsed : nullptr;
    if (hang_) {
      metrics.hang = hang::to_string(hang_->kind);
      metrics.culprits = hang_->culprits;
      metrics.confidence = hang_->confidence;
    }
    return metrics_.publish(metrics);
  }

  /// Returns the state that the reports show. A job that has moved and is still for no longer than usual moves.
  [[nodiscard]] JobState state_now() const {
    const JobState seen = movement_.state();
    const bool is_early = seen == JobState::Still && movement_.same() <= pauses_.limit();
    if (is_early && has_moved_) return JobState::Moves;
    return seen == JobState::Unknown || is_early ? state_ : seen;
  }

  /// Prints a change of the job's state. Does nothing if the state is the same.
  Status enter(JobState state) {
    if (state == state_) return {};
    const bool goes_on = state_ == JobState::Still && state == JobState::Moves;
    state_ = state;
    if (state != JobState::Gone) hang_.reset();
    switch (state) {
      case JobState::Moves:
        print(state, goes_on ? "the job moves again" : "the job moves");
        return {};
      case JobState::Gone:
        print(state, "the job has ended: nothing listens any more");
        return {};
      case JobState::Still:
        return judge();
      case JobState::Unknown:
        break;
    }
    return {};
  }

  /// Prints why the job does not move: the verdict on its dumps and stacks.
  Status judge() {
    const auto answer = ask_job(settings_.request, {});
    if (!answer) {
      print(JobState::Still, "the job is still; " + one_line(answer.error().message));
      return {};
    }
    if ((*answer)->gathered.state == JobState::Moves) {
      state_ = JobState::Moves;  // it moved while its processes were asked
      return {};
    }
    const hang::Explanation& best = (*answer)->examined.verdict.best;
    if (best.kind != hang::Kind::NotAHang) {
      hang_ = Hang{best.kind, best.culprits, best.confidence};
    }
    if (settings_.is_json) {
      Json line = answer_json(**answer);
      line["time"] = local_time("%H:%M:%S");
      line["since"] = changed_at_;
      line["progress"] = progress();
      print_line(line);
    } else {
      print(JobState::Still, one_line(hang::why_of(best)));
    }
    return {};
  }

  /// Prints the service's events until then. If the service has no events, only waits.
  void wait_until(Clock::Time until) {
    const Nanoseconds wait = until - real_clock().now();
    if (wait <= Nanoseconds{0}) return;
    if (has_events_) {
      const auto events = client_->monitor(wait, patience());
      if (events) print_events(*events);
      // The next report finds out that a service is gone.
      if (!events && events.error().code != ErrorCode::PeerGone) has_events_ = false;
    }
    real_clock().sleep_until(until);
  }

  void print_events(std::string_view events) {
    constexpr std::size_t kMost =
        20;  // a screen: when a host is lost, each of its peers reports each of its ranks
    std::size_t count = 0;
    while (!events.empty()) {
      const std::string_view line = events.substr(0, events.find('\n'));
      events.remove_prefix(std::min(events.size(), line.size() + 1));
      // Each connection lists all ranks that do not answer: known ones are not printed again.
      const std::string text = event_text(line);
      if (text.empty() || text == last_event_ || ++count > kMost) continue;
      last_event_ = text;
      if (settings_.is_json) {
        print_line(
            {{"schema", "ringside.attach/1"}, {"time", local_time("%H:%M:%S")}, {"event", text}});
      } else {
        fmt::print("{} {}\n", local_time("%H:%M:%S"), text);
      }
    }
    std::fflush(stdout);
  }

  /// Returns an event as text: `PEER_DEAD node7 pid 4711 rank 3`.
  static std::string event_text(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return one_line(line.substr(0, 200));
    const auto text_in = [](const Json& object, const char* key) {
      const auto found = object.find(key);
      return found != object.end() && found->is_string() ? found->get<std::string>()
                                                         : std::string();
    };
    std::string text = text_in(json, "event");
    if (const auto peer = json.find("peer"); peer != json.end() && peer->is_object()) {
      text += " " + text_in(*peer, "host") + text_in(*peer, "addr");
      const auto pid = peer->find("pid");
      if (pid != peer->end() && pid->is_number_integer()) {
        text += fmt::format(" pid {}", pid->get<std::int64_t>());
      }
    }
    const std::string details = text_in(json, "details");
    return one_line((details.empty() ? text : text + " " + details).substr(0, 200));
  }

  void print(JobState state, const std::string& text) const {
    if (settings_.is_json) {
      print_line({{"schema", "ringside.attach/1"},
                  {"time", local_time("%H:%M:%S")},
                  {"state", attach::to_string(state)},
                  {"since", changed_at_},
                  {"progress", progress()},
                  {"said", text}});
      return;
    }
    fmt::print("{} {}\n", local_time("%H:%M:%S"), text);
    const std::string indent(9, ' ');
    if (state == JobState::Still) fmt::print("{}no progress since {}\n", indent, changed_at_);
    if (state != JobState::Gone && newest_.parsed) fmt::print("{}{}\n", indent, progress());
    std::fflush(stdout);
  }

  /// Returns how far the ranks are, by the newest report.
  [[nodiscard]] std::string progress() const {
    return newest_.parsed ? attach::progress_text(*newest_.parsed) : "";
  }

  static void print_line(const Json& line) {
    fmt::print("{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::fflush(stdout);
  }

  struct Hang {
    hang::Kind kind = hang::Kind::Unknown;
    std::vector<int> culprits;
    double confidence = 0;
  };

  const WatchSettings& settings_;
  MetricsOutput metrics_;
  std::optional<attach::RasClient> client_;
  attach::Movement movement_;
  attach::Pauses pauses_;
  bool has_moved_ = false;  ///< a change was seen: the time before the first one is no whole pause
  attach::JobReport newest_;
  JobState state_ = JobState::Unknown;
  std::optional<Hang> hang_;
  Clock::Time changed_{};   ///< when a count last changed
  std::string changed_at_;  ///< the same in local time, for people
  bool has_events_ = true;
  std::string last_event_;
};

}  // namespace

Result<int> watch_job(const WatchSettings& settings) {
  RINGSIDE_TRY(MetricsOutput metrics, MetricsOutput::open(settings.metrics));
  return WatchedJob(settings, std::move(metrics)).run();
}

}  // namespace ringside::cli
