#include "diag/facts/catalogue.h"

#include "diag/logparse/message.h"

namespace ringside::facts {
namespace {

using Kind = CatalogueEntry::Kind;

constexpr CatalogueEntry kEntries[] = {
#include "diag/facts/catalogue/all.def"
};

std::vector<Row> make_rows() {
  std::vector<Row> rows;
  std::string_view program;
  Row row;
  for (std::size_t i = 0; i < std::size(kEntries); ++i) {
    const CatalogueEntry& entry = kEntries[i];
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

std::span<const CatalogueEntry> catalogue() { return kEntries; }

const std::vector<Row>& catalogue_rows() {
  static const std::vector<Row> kRows = make_rows();
  return kRows;
}

}  // namespace ringside::facts
