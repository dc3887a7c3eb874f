#include "base/report_error.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

namespace ringside {
namespace {

std::string printable(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool is_control = (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f;
    plain += is_control ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return plain;
}

std::string what_is_handled() {
  try {
    throw;
  } catch (const std::exception& thrown) {
    return thrown.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

}  // namespace

void print_error(const Error& error) {
  std::string text = fmt::format("error: {}\n", printable(error.message));
  if (!error.help.empty()) text += fmt::format("help:  {}\n", printable(error.help));
  std::fputs(text.c_str(), stderr);
}

int report_exception() noexcept {
  constexpr int kStatus = 3;
  try {
    print_error({ErrorCode::System, "unexpected exception: " + what_is_handled(),
                 "this is a defect of ringside: please report it with the command line"});
  } catch (...) {
    std::fputs("error: unexpected exception, and no memory to describe it\n", stderr);
  }
  return kStatus;
}

void report_exceptions_of_threads() {
  std::set_terminate([] {
    if (std::current_exception() == nullptr) std::abort();
    ::_exit(report_exception());
  });
}

}  // namespace ringside
