#include "engine/topology/sources/xml_element.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "base/suggest.h"
#include "base/text.h"

namespace ringside {

XmlSource::XmlSource(std::string_view text, std::string where)
    : where_(std::move(where)), line_starts_{0} {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos;
       at = text.find('\n', at + 1)) {
    line_starts_.push_back(at + 1);
  }
}

int XmlSource::line_of(std::ptrdiff_t offset) const {
  const auto at = static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0));
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), at);
  return static_cast<int>(after - line_starts_.begin());
}

std::string XmlSource::place_of(std::ptrdiff_t offset) const {
  return fmt::format("{}:{}", where_, line_of(offset));
}

Error XmlSource::bad(std::ptrdiff_t offset, const std::string& what,
                     const std::string& help) const {
  return Error{ErrorCode::Corrupt, fmt::format("{}: {}", place_of(offset), what), help};
}

std::string XmlElement::place() const { return source_->place_of(node_.offset_debug()); }

Error XmlElement::bad(const std::string& what, const std::string& help) const {
  return source_->bad(node_.offset_debug(), what, help);
}

Result<std::vector<XmlElement>> XmlElement::children(
    std::span<const std::string_view> known) const {
  std::vector<XmlElement> found;
  for (const pugi::xml_node child : node_.children()) {
    const XmlElement element{child, *source_};
    if (child.type() != pugi::node_element) {
      return source_->bad(child.offset_debug(), fmt::format("text inside <{}>", name()),
                          "only elements and comments are allowed there");
    }
    if (std::find(known.begin(), known.end(), element.name()) == known.end()) {
      return element.bad(fmt::format("<{}> is not allowed inside <{}>", element.name(), name()),
                         known.empty() ? fmt::format("<{}> holds nothing", name())
                                       : suggestion(element.name(), known));
    }
    found.push_back(element);
  }
  return found;
}

Status XmlElement::check_attributes() const {
  std::set<std::string_view> seen;
  for (const pugi::xml_attribute attribute : node_.attributes()) {
    if (!seen.insert(attribute.name()).second)
      return bad(fmt::format("attribute {} appears twice", attribute.name()), "keep one of them");
    // Names are printed into tables and logs of one line each.
    const std::string_view value = attribute.value();
    const bool is_plain =
        std::ranges::none_of(value, [](unsigned char c) { return c < ' ' || c == 127; });
    if (!is_plain)
      return bad(fmt::format("attribute {} has a control character", attribute.name()),
                 "leave it out");
  }
  return {};
}

bool XmlElement::has(const char* key) const { return static_cast<bool>(node_.attribute(key)); }

Result<std::string> XmlElement::text(const char* key, const char* example) const {
  const pugi::xml_attribute attribute = node_.attribute(key);
  if (attribute && *attribute.value() != '\0') return std::string(attribute.value());
  return bad(fmt::format("<{}> lacks the attribute {}", name(), key),
             fmt::format("add {}=\"{}\"", key, example));
}

std::string XmlElement::text_or_empty(const char* key) const {
  return node_.attribute(key).value();
}

Result<std::int64_t> XmlElement::whole(const char* key, std::int64_t least, std::int64_t most,
                                       const char* example) const {
  RINGSIDE_TRY(const std::string given, text(key, example));
  const Result<std::int64_t> value = parse_int(given);
  if (value && *value >= least && *value <= most) return *value;
  return bad(fmt::format("{}=\"{}\" is not a whole number from {} to {}", key, given, least, most),
             fmt::format("such as {}=\"{}\"", key, example));
}

Result<std::int64_t> XmlElement::whole_or(const char* key, std::int64_t least, std::int64_t most,
                                          std::int64_t fallback) const {
  if (text_or_empty(key).empty()) return fallback;
  return whole(key, least, most, fmt::format("{}", fallback).c_str());
}

Result<double> XmlElement::number_or(const char* key, double least, double most,
                                     double fallback) const {
  if (text_or_empty(key).empty()) return fallback;
  const std::string given = text_or_empty(key);
  double value = 0;
  const char* const end = given.data() + given.size();
  const auto [stop, error] = std::from_chars(given.data(), end, value);
  if (error == std::errc{} && stop == end && value >= least && value <= most) return value;
  return bad(fmt::format("{}=\"{}\" is not a number from {} to {}", key, given, least, most),
             fmt::format("such as {}=\"{}\"", key, fallback));
}

Result<std::uint64_t> XmlElement::hex(const char* key, const char* example) const {
  RINGSIDE_TRY(const std::string given, text(key, example));
  std::string_view digits = given;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
  if (error == std::errc{} && stop == end) return value;
  return bad(fmt::format("{}=\"{}\" is not a hexadecimal number", key, given),
             fmt::format("such as {}=\"{}\"", key, example));
}

Result<XmlElement> open_xml(pugi::xml_document& document, std::string_view text,
                            const XmlSource& source, const char* root, const char* help,
                            XmlDoctype doctype) {
  if (text.size() > kMaxXmlBytes) {
    return source.bad(0, fmt::format("the file is larger than {} MiB", kMaxXmlBytes >> 20),
                      "one host takes some ten KiB");
  }
  const std::size_t zero = text.find('\0');
  if (zero != std::string_view::npos) {
    return source.bad(static_cast<std::ptrdiff_t>(zero), "a zero byte", "the file is not text");
  }
  const pugi::xml_parse_result parsed = document.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!parsed) {
    return source.bad(parsed.offset, fmt::format("not XML: {}", parsed.description()),
                      "is the file complete?");
  }
  pugi::xml_node found;
  for (const pugi::xml_node child : document.children()) {
    if (child.type() == pugi::node_doctype) {
      const bool declares = std::string_view(child.value()).find('[') != std::string_view::npos;
      if (doctype == XmlDoctype::Skipped && !declares) continue;
      return source.bad(child.offset_debug(), "a document type declaration",
                        "entities are not expanded; leave <!DOCTYPE ...> out");
    }
    if (child.type() != pugi::node_element || found) {
      return source.bad(child.offset_debug(), "more than one element",
                        fmt::format("the file is one <{0}> ... </{0}>", root));
    }
    found = child;
  }
  const XmlElement element{found, source};
  if (element.name() == root) return element;
  return source.bad(found ? found.offset_debug() : 0, fmt::format("no <{}> element", root), help);
}

}  // namespace ringside
