#include "diag/logparse/rows.h"

#include "diag/logparse/message.h"

namespace ringside::logs {
namespace {

using Kind = RowEntry::Kind;

constexpr RowEntry kEntries[] = {
#include "diag/logparse/rows/all.def"
};

std::vector<Row> make_rows() {
  std::vector<Row> rows;
  std::string_view program;
  Row row;
  for (std::size_t i = 0; i < std::size(kEntries); ++i) {
    const RowEntry& entry = kEntries[i];
    if (entry.kind == Kind::Program) program = entry.id;
    if (entry.kind == Kind::Row) {
      row.program = program == "any" ? std::string_view() : program;
      row.is_general = program == "any";
      row.id = entry.id;
      row.spec = entry.spec;
    }
    if (entry.kind != Kind::Row && entry.kind != Kind::Form) continue;
    row.pattern = entry.pattern;
    row.entry = i;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::span<const RowEntry> row_entries() { return kEntries; }

const std::vector<Row>& catalogue_rows() {
  static const std::vector<Row> kRows = make_rows();
  return kRows;
}

}  // namespace ringside::logs
