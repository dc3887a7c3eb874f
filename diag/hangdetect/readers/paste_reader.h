#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diag/hangdetect/readers/log_facts.h"
#include "diag/logparse/line_parser.h"

namespace ringside::hang {

/// Texts of a paste's size, one after another: their lines go to the sink, their stacks and reports to the facts.
///
/// Ownership  sink and facts must outlive it
class PasteReader {
 public:
  static constexpr std::uint32_t kFirstPiece = 1U << 31U;  ///< places from here on are of pastes

  PasteReader(logs::RecordSink& sink, LogFacts& facts) : facts_(facts), parser_(sink) {}

  void read(std::string_view text, const std::string& name);
  void finish();

  /// Of the text that a place is in.
  [[nodiscard]] const std::string& name(logs::Place place) const {
    return names_[place.piece - kFirstPiece];
  }

 private:
  LogFacts& facts_;
  logs::LineParser parser_;
  std::vector<std::string> names_;
};

}  // namespace ringside::hang
