#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/model/state.h"

namespace ringside::gui {

/// One row of the timeline: a lane, or several folded into one.
struct LaneRow {
  enum class Kind : std::uint8_t { Communicator, Node, Rank, Channel };
  Kind kind = Kind::Channel;
  std::string label;
  int depth = 0;
  std::uint64_t key = 0;  ///< for State::turned
  bool can_fold = false;
  bool is_folded = false;
  std::int32_t rank = -1;     ///< of rows of one rank
  std::vector<LaneId> lanes;  ///< those that the row shows; none: a heading
};

/// The rows of a document, with their current folding.
class Rows {
 public:
  /// Does nothing if neither the document nor the folding has changed.
  void update(const Document& document, const State& state);

  [[nodiscard]] const std::vector<LaneRow>& rows() const { return rows_; }
  /// The row of a lane; -1: in no row.
  [[nodiscard]] int row_of(LaneId lane) const;

 private:
  const Document* document_ = nullptr;
  Grouping grouping_ = Grouping::ByRank;
  std::set<std::uint64_t> turned_;
  std::vector<LaneRow> rows_;
  std::vector<int> row_of_;  ///< [lane]
};

}  // namespace ringside::gui
