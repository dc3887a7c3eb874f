#pragma once

#include <ringside/export.h>

#include <string>

namespace RINGSIDE_API ringside {

/// The kind of a failure. It determines the exit status; the message is for people.
enum class ErrorCode {
  InvalidArgument,   ///< an option, name, number or combination that is invalid
  Corrupt,           ///< a file or message that violates its format
  NotFound,          ///< a file, preset or name that does not exist
  Unsupported,       ///< valid, but not supported by this build or machine
  System,            ///< the operating system refused: busy port, missing interface, full disk
  Timeout,           ///< a peer did not join, or nothing progressed, before the deadline
  PeerGone,          ///< the other end closed or died
  Aborted,           ///< abort() was called, here or elsewhere
  PermissionDenied,  ///< a peer did not prove the secret
  Unreachable,       ///< no answer from the other end, which may be alive: a network failure
};

/// A failure: what failed and where in `message`, what to do about it in `help`.
struct Error {
  ErrorCode code = ErrorCode::InvalidArgument;
  std::string message;
  std::string help = {};
  /// Another rank of the job reports the error to the user; this rank only exits with its status.
  bool is_reported_elsewhere = false;
};

/// returns  2 for bad usage or bad input, 3 for what failed at run time
/// source   design.md, "The command line"
int exit_status(ErrorCode code);

const char* to_string(ErrorCode code);

/// Returns an Error for a failed system call: `what` + ": " + strerror(number).
Error system_error(const std::string& what, int error_number, std::string help = {});

}  // namespace ringside
