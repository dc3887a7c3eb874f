#include "base/warning.h"

#include <unistd.h>

#include <atomic>
#include <span>

#include "base/fd.h"

namespace ringside {
namespace {

void write_warning(const WarningPlace& /*place*/, const std::string& text) {
  const std::string line = "warning: " + text + "\n";
  // A line that cannot be written has nowhere to be reported.
  static_cast<void>(write_all(STDERR_FILENO, std::as_bytes(std::span(line))));
}

std::atomic<WarningHandler> handler{write_warning};

}  // namespace

void report_warning(const WarningPlace& place, const std::string& text) {
  handler.load()(place, text);
}

void set_warning_handler(WarningHandler wanted) { handler.store(wanted); }

}  // namespace ringside
