#include "diag/logparse/host_records.h"

#include "diag/logparse/cursor.h"
#include "diag/logparse/parsers.h"

namespace ringside::logs {
namespace {

/// `0000:1b:00`, `0000:1b:00.0`, `PCI:0000:1b:00`
bool take_bus_id(Cursor& cursor, std::int64_t& bus_id) {
  cursor.eat("PCI:");
  std::uint64_t domain = 0;
  std::uint64_t bus = 0;
  std::uint64_t device = 0;
  std::uint64_t function = 0;
  if (!cursor.hex(domain) || !cursor.eat(':') || !cursor.hex(bus) || !cursor.eat(':') ||
      !cursor.hex(device)) {
    return false;
  }
  if (cursor.eat('.')) cursor.hex(function);
  bus_id = static_cast<std::int64_t>((domain << 20) | ((bus & 0xFF) << 12) |
                                     ((device & 0xFF) << 4) | (function & 0xF));
  return true;
}

}  // namespace

/// `NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.`
Parsed parse_xid(std::string_view text, Record& record) {
  const std::size_t at = text.find("Xid (");
  if (at == std::string_view::npos) return Parsed::No;
  Xid xid;
  xid.is_switch = at > 0 && text[at - 1] == 'S';
  Cursor cursor(text.substr(at + 5));
  if (!take_bus_id(cursor, xid.bus_id) || !cursor.eat("): ") || !cursor.number(xid.code))
    return Parsed::No;
  cursor.eat(", ");
  if (cursor.eat("pid=")) {
    std::string_view pid;
    if (!cursor.until(", ", pid)) {
      pid = cursor.rest();
      cursor.skip(cursor.left());
    }
    Cursor number(pid);
    number.eat('\'');
    number.number(xid.pid);
  }
  if (cursor.eat("name=") && !cursor.until(", ", xid.process)) {
    xid.process = cursor.rest();
    cursor.skip(cursor.left());
  }
  xid.text = trimmed(cursor.rest());
  xid.is_fatal = xid.text.starts_with("Fatal");
  record.make<Xid>() = xid;
  return Parsed::Open;
}

Parsed parse_python(std::string_view text, Record& record) {
  if (text.starts_with("Traceback (most recent call last)")) {
    record.make<Traceback>().is_head = true;
    return Parsed::Open;
  }
  Cursor cursor(text);
  if (cursor.eat("File \"")) {
    Traceback frame;
    if (!cursor.until('"', frame.file) || !cursor.eat(", line ") || !cursor.number(frame.line)) {
      return Parsed::No;
    }
    if (cursor.eat(", in ")) frame.function = trimmed(cursor.rest());
    record.make<Traceback>() = frame;
    return Parsed::Open;
  }
  const char* const begin = cursor.at();
  while (is_letter(cursor.peek()) || is_digit(cursor.peek()) || cursor.peek() == '_' ||
         cursor.peek() == '.') {
    cursor.skip(1);
  }
  PythonError error;
  error.type = {begin, static_cast<std::size_t>(cursor.at() - begin)};
  const bool is_error = error.type.ends_with("Error") || error.type.ends_with("Exception") ||
                        error.type.ends_with("Interrupt") || error.type.ends_with("SystemExit");
  if (!is_error || !is_letter(text.front())) return Parsed::No;
  if (!cursor.is_done() && !cursor.eat(':')) return Parsed::No;
  error.text = trimmed(cursor.rest());
  record.make<PythonError>() = error;
  return Parsed::Open;
}

}  // namespace ringside::logs
