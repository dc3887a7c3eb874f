#pragma once

#include <ringside/export.h>

#include <string>
#include <vector>

namespace RINGSIDE_API ringside {

/// A line of a program.
struct CallFrame {
  std::string function;
  std::string file;
  int line = 0;
};

/// Where a program makes a call, for dumps.
struct CallSite {
  std::vector<CallFrame> frames;  ///< innermost first
};

}  // namespace ringside
