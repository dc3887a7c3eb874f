#include "diag/hangdetect/readers/recording_format.h"

#include <algorithm>

namespace ringside::recordings {
namespace {

bool is_inspector(std::string_view head) {
  return head.starts_with('{') && head.find("\"header\"") != std::string_view::npos &&
         (head.find("\"coll_perf\"") != std::string_view::npos ||
          head.find("\"p2p_perf\"") != std::string_view::npos ||
          head.find("\"dump_stats\"") != std::string_view::npos);
}

bool is_clog(std::string_view head) { return head.starts_with("V|1|base_timestamp="); }

bool is_kineto(std::string_view head) {
  if (!head.starts_with('{') && !head.starts_with('[')) return false;
  const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  // Our own export has the same shape.
  if (has("\"source\":\"ringside\"")) return false;
  return has("\"traceEvents\"") || has("\"distributedInfo\"") || has("\"baseTimeNanoseconds\"") ||
         has("\"deviceProperties\"") || has("\"ph\"");
}

bool is_sqlite(std::string_view head) {
  return head.starts_with(std::string_view("SQLite format 3\0", 16));
}

}  // namespace

const char* to_string(Format format) {
  switch (format) {
    case Format::Inspector:
      return "NCCL's Inspector";
    case Format::Clog:
      return "torchcomms' clog";
    case Format::Kineto:
      return "PyTorch's profiler";
    case Format::Nsys:
      break;
  }
  return "Nsight Systems";
}

std::optional<Format> format_of(std::string_view head) {
  if (is_sqlite(head)) return Format::Nsys;
  head.remove_prefix(std::min(head.size(), head.find_first_not_of(" \t\r\n")));
  if (is_clog(head)) return Format::Clog;
  if (is_inspector(head)) return Format::Inspector;
  if (is_kineto(head)) return Format::Kineto;
  return std::nullopt;
}

}  // namespace ringside::recordings
