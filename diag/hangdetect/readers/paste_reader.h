#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/log_facts.h"
#include "diag/logparse/line_parser.h"

namespace ringside::hang {

/// Reads texts of a paste's size, one after another: their lines go to a sink, their stacks and reports of ncclras to
/// the facts.
///
/// Ordering   read() for each text, finish() once
/// Ownership  sink and facts must outlive it
class PasteReader {
 public:
  PasteReader(logs::RecordSink& sink, LogFacts& facts) : facts_(facts), parser_(sink) {}

  void read(std::string_view text, const std::string& name);
  void finish();

  static bool is_of_paste(logs::Place place) { return place.piece >= kFirst; }
  [[nodiscard]] const std::string& name(logs::Place place) const {
    return names_[place.piece - kFirst];
  }

 private:
  static constexpr std::uint32_t kFirst = 1U << 31U;  ///< places from here on are of pastes

  LogFacts& facts_;
  logs::LineParser parser_;
  std::vector<std::string> names_;
};

}  // namespace ringside::hang
