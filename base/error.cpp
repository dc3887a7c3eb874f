#include "ringside/error.h"

#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace ringside {

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument:
    case ErrorCode::Corrupt:
    case ErrorCode::NotFound:
      return 2;
    case ErrorCode::Unsupported:
    case ErrorCode::System:
    case ErrorCode::Timeout:
    case ErrorCode::PeerGone:
    case ErrorCode::Aborted:
    case ErrorCode::PermissionDenied:
    case ErrorCode::Unreachable:
      return 3;
  }
  return 3;
}

const char* to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidArgument:
      return "invalid argument";
    case ErrorCode::Corrupt:
      return "corrupt";
    case ErrorCode::NotFound:
      return "not found";
    case ErrorCode::Unsupported:
      return "unsupported";
    case ErrorCode::System:
      return "system";
    case ErrorCode::Timeout:
      return "timeout";
    case ErrorCode::PeerGone:
      return "peer gone";
    case ErrorCode::Aborted:
      return "aborted";
    case ErrorCode::PermissionDenied:
      return "permission denied";
    case ErrorCode::Unreachable:
      return "unreachable";
  }
  return "unknown";
}

Error system_error(const std::string& what, int error_number, std::string help) {
  return {ErrorCode::System, what + ": " + std::generic_category().message(error_number),
          std::move(help)};
}

namespace detail {

void bad_result(const char* what, const Error* held) {
  std::fprintf(stderr, "ringside: broken invariant: %s%s\n", what,
               held != nullptr ? held->message.c_str() : "");
  std::abort();
}

}  // namespace detail

}  // namespace ringside
