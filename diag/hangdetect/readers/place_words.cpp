#include "diag/hangdetect/readers/place_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "diag/job/job_words.h"
#include "diag/job/process_ranks.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/message.h"

namespace ringside::hang {
namespace {

/// The name of a host or a pod that a text begins with.
std::string_view leading_name(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (logs::is_host(text[end]) || text[end] == ':')) ++end;
  while (end > 0 && !logs::is_digit(text[end - 1]) && !logs::is_letter(text[end - 1])) --end;
  return text.substr(0, end);
}

std::string_view name_behind(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  return at == std::string_view::npos ? std::string_view{}
                                      : leading_name(text.substr(at + key.size()));
}

/// `sft-worker-2    0/1     OOMKilled`: the row of a pod.
std::string_view pod_of_row(std::string_view line) {
  const std::string_view name = leading_name(line);
  const bool is_pod = name.find('-') != std::string_view::npos && logs::is_digit(name.back()) &&
                      logs::is_letter(name.front());
  return is_pod && line.substr(name.size()).starts_with("  ") ? name : std::string_view{};
}

}  // namespace

std::string place_in(const logs::Record& record, std::string_view host) {
  const std::string_view line = record.line;
  // The node that it names is the one that the step was begun on.
  if (logs::is_message(record, logs::MessageId::SlurmCancelled)) return {};
  if (const auto node = logs::message_argument(record, "node"); !node.empty())
    return fmt::format("node {}", node);
  if (const auto pod = name_behind(line, "pod/"); !pod.empty()) return fmt::format("pod {}", pod);
  for (const std::string_view key : {"node name: ", "address: ", "IP: "}) {
    if (const auto node = name_behind(line, key); !node.empty())
      return fmt::format("node {}", node);
  }
  if (logs::is_message(record, logs::MessageId::KubernetesEnded)) {
    if (const auto pod = pod_of_row(line); !pod.empty()) return fmt::format("pod {}", pod);
  }
  std::int64_t pid = logs::message_number(record, "pid");
  if (pid < 0) pid = job::pid_in_kernel_line(line);
  const std::string_view name = job::killed_process(record);
  const std::string where = host.empty() ? "" : fmt::format(" on {}", host);
  if (pid >= 0)
    return fmt::format("process {}{}{}", pid, name.empty() ? "" : fmt::format(" ({})", name),
                       where);
  return host.empty() ? std::string{} : fmt::format("host {}", host);
}

}  // namespace ringside::hang
