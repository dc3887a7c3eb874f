#pragma once

#include <cstdint>
#include <string_view>

#include "diag/logparse/record.h"

/// Records of the kernel log and of Python tracebacks.
/// source  docs/formats 5.1, 8.1
namespace ringside::logs {

/// A GPU or NVSwitch fault line of the kernel log.
struct Xid {
  static constexpr RecordKind kKind = RecordKind::Xid;
  bool is_switch = false;  ///< SXid
  bool is_fatal = false;   ///< as an SXid states
  std::int32_t code = -1;
  std::int32_t pid = -1;
  std::int64_t bus_id = -1;  ///< as CommEvent::bus_id
  std::string_view process;  ///< name=
  std::string_view text;
};

/// A line of a Python traceback: its head, or `File "x.py", line 7, in step`.
struct Traceback {
  static constexpr RecordKind kKind = RecordKind::Traceback;
  bool is_head = false;
  std::int32_t line = -1;
  std::string_view file;
  std::string_view function;
};

/// `torch.distributed.DistBackendError: text`, at the end of a traceback.
struct PythonError {
  static constexpr RecordKind kKind = RecordKind::PythonError;
  std::string_view type;  ///< `torch.distributed.DistBackendError`
  std::string_view text;
};

}  // namespace ringside::logs
