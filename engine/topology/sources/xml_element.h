#pragma once

#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ringside {

/// source  a whole NVLink domain in NCCL's XML takes some hundred KiB
inline constexpr int kMaxXmlBytes = 16 << 20;

/// The text of an XML file, to find the line of a position in it.
class XmlSource {
 public:
  XmlSource(std::string_view text, std::string where);

  [[nodiscard]] int line_of(std::ptrdiff_t offset) const;
  [[nodiscard]] std::string place_of(std::ptrdiff_t offset) const;
  /// Returns a Corrupt error `where:line: what`.
  [[nodiscard]] Error bad(std::ptrdiff_t offset, const std::string& what,
                          const std::string& help) const;

 private:
  std::string where_;
  std::vector<std::size_t> line_starts_;
};

/// One element, read attribute by attribute. Each reader checks that the attribute exists and that its value is valid.
/// Attributes that no reader requests are ignored, as in NCCL.
/// errors  Corrupt, `where:line: what`, with the fix
class XmlElement {
 public:
  XmlElement(pugi::xml_node node, const XmlSource& source) : node_(node), source_(&source) {}

  [[nodiscard]] std::string_view name() const { return node_.name(); }
  [[nodiscard]] int line() const { return source_->line_of(node_.offset_debug()); }
  [[nodiscard]] std::string place() const;  ///< "host.xml:12"
  [[nodiscard]] Error bad(const std::string& what, const std::string& help) const;

  /// Returns the child elements. errors  text between them, an element that is not in `known`
  [[nodiscard]] Result<std::vector<XmlElement>> children(
      std::span<const std::string_view> known) const;

  /// errors  an attribute appears twice, or contains a control character
  [[nodiscard]] Status check_attributes() const;

  [[nodiscard]] bool has(const char* key) const;
  [[nodiscard]] Result<std::string> text(const char* key, const char* example) const;
  [[nodiscard]] std::string text_or_empty(const char* key) const;
  [[nodiscard]] Result<std::int64_t> whole(const char* key, std::int64_t least, std::int64_t most,
                                           const char* example) const;
  [[nodiscard]] Result<std::int64_t> whole_or(const char* key, std::int64_t least,
                                              std::int64_t most, std::int64_t fallback) const;
  [[nodiscard]] Result<double> number_or(const char* key, double least, double most,
                                         double fallback) const;
  [[nodiscard]] Result<std::uint64_t> hex(const char* key, const char* example) const;

 private:
  pugi::xml_node node_;
  const XmlSource* source_;
};

/// How `<!DOCTYPE ...>` is handled. Entities are never expanded.
enum class XmlDoctype : std::uint8_t {
  Refused,
  Skipped  ///< accepts one that names its grammar's file and declares nothing itself
};

/// Parses `text` into `document`, which the element refers to.
/// help    says where files with such a root element come from
/// errors  Corrupt: larger than kMaxXmlBytes, a zero byte, not XML, another root element, anything
///         next to it; entity declarations are refused, not expanded
Result<XmlElement> open_xml(pugi::xml_document& document, std::string_view text,
                            const XmlSource& source, const char* root, const char* help,
                            XmlDoctype doctype = XmlDoctype::Refused);

}  // namespace ringside
