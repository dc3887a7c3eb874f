#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/log_facts.h"
#include "diag/logparse/line_parser.h"

namespace ringside::hang {

/// Reads small texts (pastes) one after the other. Passes their lines to a sink and adds their stacks and ncclras
/// reports to the facts.
///
/// Ordering   call read() for each text, then finish() once
/// Ownership  `sink` and `facts` must outlive the reader
class PasteReader {
 public:
  PasteReader(logs::RecordSink& sink, LogFacts& facts) : facts_(facts), parser_(sink) {}

  /// Reads a text; evidence names it `name`.
  void read(std::string_view text, const std::string& name);
  /// Passes the last records to the sink.
  void finish();

  /// Returns whether a place is in a text that a PasteReader read.
  static bool is_of_paste(logs::Place place) { return place.piece >= kFirst; }
  /// Returns the name of the text that contains a place.  shape  is_of_paste(place)
  [[nodiscard]] const std::string& name(logs::Place place) const {
    return names_[place.piece - kFirst];
  }

 private:
  static constexpr std::uint32_t kFirst = 1U << 31U;  ///< pieces from this number on are pastes

  LogFacts& facts_;
  logs::LineParser parser_;
  std::vector<std::string> names_;
};

}  // namespace ringside::hang
