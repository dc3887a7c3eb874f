#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "harness/attach/job_state.h"
#include "ringside/units.h"

namespace ringside::attach {

/// The metrics of a job at one moment.
struct JobMetrics {
  bool is_answering = false;  ///< whether the RAS service answered
  JobState state = JobState::Unknown;
  Seconds since_progress{0};                ///< since a count last changed
  const hang::RasReport* report = nullptr;  ///< the newest one in JSON; null: none
  std::optional<std::string> hang;          ///< the kind of the verdict, while the job hangs
  std::vector<int> culprits = {};           ///< of that verdict
  double confidence = 0;                    ///< of that verdict
};

/// Formats metrics as OpenMetrics 1.0. Labels are those of NCCL's Inspector if it has them (node, gpu, nranks,
/// collective). Only the first 20,000 ranks of communicators have series: Prometheus stores each of them.
/// source  https://prometheus.io/docs/specs/om/open_metrics_spec/; docs/reference/attach.md lists the names
std::string metrics_text(const JobMetrics& metrics);

/// Serves the newest metrics over HTTP, on loopback, to one client after the other.
///
/// Threads  any thread may call publish()
class MetricsPort {
 public:
  /// Listens on a port of the loopback interface; 0: the kernel chooses one.
  /// errors  System: the port is taken, or there are no descriptors left
  static Result<std::unique_ptr<MetricsPort>> open(std::uint16_t port);
  ~MetricsPort();
  MetricsPort(const MetricsPort&) = delete;
  MetricsPort& operator=(const MetricsPort&) = delete;

  /// Replaces the text that is served.
  void publish(std::string text);
  [[nodiscard]] std::uint16_t port() const;

 private:
  class Impl;
  explicit MetricsPort(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside::attach
