#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/model/state.h"

namespace ringside::gui {

/// A row of the timeline: one lane, or several folded lanes.
struct LaneRow {
  enum class Kind : std::uint8_t { Communicator, Node, Rank, Channel };
  Kind kind = Kind::Channel;
  std::string label;
  int depth = 0;
  std::uint64_t key = 0;  ///< for State::turned
  bool can_fold = false;
  bool is_folded = false;
  std::int32_t rank = -1;              ///< rank of the row; -1: several ranks
  std::vector<LaneId> lanes;           ///< lanes shown in the row; empty: a heading
  std::optional<LaneId> compute = {};  ///< other kernels, shown below the calls of a folded rank
};

/// The rows of a document with their current folding.
class Rows {
 public:
  /// Updates the rows if the document or the folding has changed.
  void update(const Document& document, const State& state);

  [[nodiscard]] const std::vector<LaneRow>& rows() const { return rows_; }
  /// Returns the row of a lane; -1: not shown.
  [[nodiscard]] int row_of(LaneId lane) const;

 private:
  const Document* document_ = nullptr;
  Grouping grouping_ = Grouping::ByRank;
  std::set<std::uint64_t> turned_;
  std::vector<LaneRow> rows_;
  std::vector<int> row_of_;  ///< [lane]
};

}  // namespace ringside::gui
