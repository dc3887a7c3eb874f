#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diag/hangdetect/readers/call.h"
#include "diag/hangdetect/readers/names.h"

namespace ringside::hang {

/// Turns the values of a dump, as a pickle or a JSON document delivers them, into a RankDump.
///
/// The builder is a stack machine like pickle's: values and marks are pushed, and the values above a mark become the
/// items of the container below it. A filled dictionary is converted at once (to a call, a frame, a group), so the
/// document's tree is never built. Lists of numbers stay in one arena until the call that contains them is made.
///
/// Memory     bounded: a document is refused if the stack and the tables together have more than 16 M values. The texts
///            and lists that its dictionaries share count as empty once their sum is more than 16 times the document;
///            the first MiB is always allowed
/// Threads    one thread uses a builder; many builders share one Names
/// Ownership  texts are views: the document's bytes must stay valid until finish() returns
class DumpBuilder {
 public:
  enum class Kind : std::uint8_t {
    Mark,
    Null,
    Bool,
    Int,
    Real,
    Text,
    List,
    Dict,
    Call,
    Frame,
    Group,
    Status,
    Progress
  };
  /// A value on the stack. `at` is the number itself, or an index into the table of its kind.
  struct Value {
    std::int64_t at = 0;
    Kind kind = Kind::Null;
  };

  explicit DumpBuilder(Names& names) : names_(names) {}

  /// Begins a document of `size` bytes. finish() ends it.
  void begin(std::size_t size);

  void push(Value value) { stack_.push_back(value); }
  void push_null() { push({0, Kind::Null}); }
  void push_bool(bool value) { push({value ? 1 : 0, Kind::Bool}); }
  void push_int(std::int64_t value) { push({value, Kind::Int}); }
  void push_real(double value);
  void push_text(std::string_view text);
  void push_list();
  void push_dict();
  void push_mark() { push({0, Kind::Mark}); }

  /// Each of these four fails with Corrupt if there is no mark, an odd number of items, or no container below them.
  Status append_to_mark();  ///< appends the items above the mark to the list below it
  Status set_to_mark();     ///< adds the keys and values above the mark to the dictionary below it
  Status append_last();     ///< appends the top value to the list below it
  Status set_last();        ///< adds the top key and value to the dictionary below them
  /// Replaces the top `count` values by one list.  errors  Corrupt: the stack has fewer values
  Status list_of_last(std::size_t count);
  /// Replaces the mark and the values above it by one list.  errors  Corrupt: there is no mark
  Status list_of_mark();

  /// Returns the top value.  errors  Corrupt: the stack is empty
  Result<Value> top() const;
  [[nodiscard]] std::size_t depth() const { return stack_.size(); }

  /// Checks the bounds named under Memory.  errors  Corrupt: one of them is exceeded
  Status check_size() const;

  /// Returns the dump that was built so far and empties the builder.
  /// errors  Corrupt: the document has no part of a Flight Recorder dump
  Result<RankDump> finish();

 private:
  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };
  struct Made {
    Kind kind = Kind::Dict;  ///< what the dictionary turned out to be
    std::uint32_t number = 0;
    Range items;
  };
  struct Text {
    std::string_view text;
    std::uint64_t hash = 0;
    std::uint8_t key = 0;
  };
  struct Fields;

  Result<std::size_t> find_mark() const;
  Status extend(Range& range, std::size_t first);
  Status fill(std::size_t dict, std::size_t first);
  bool understand(Made& made, const Value* pairs, std::size_t count);
  void make_call(Made& made, const Fields& fields);
  void make_group(Made& made, const Fields& fields);
  void make_progress(Made& made, const Fields& fields);
  void note_completion(std::string_view backend, const Call& call);
  void mark_issued_calls();
  void take_parent(const Value* pairs, std::size_t count);
  void take_numbered_groups(const Value& groups);

  /// Counts the use of a value that a document may share among its dictionaries.
  /// size     its bytes or items
  /// returns  false once the document's allowance is used up: the value then counts as empty
  bool use(std::size_t size);

  [[nodiscard]] Value resolved(Value value) const;
  [[nodiscard]] std::string_view text_of(const Value& value);
  [[nodiscard]] std::uint64_t hash_of(const Value& value) const;
  [[nodiscard]] std::int64_t int_of(const Value& value, std::int64_t otherwise);
  [[nodiscard]] const Value* items_of(const Value& value, std::size_t& count);
  [[nodiscard]] std::uint64_t hash_of_lists(const Value& value, int depth);
  [[nodiscard]] std::string lists_as_text(const Value& value, std::uint64_t& elements);
  [[nodiscard]] std::string types_as_text(const Value& value);
  std::uint32_t signature_of(const Fields& fields);
  std::uint32_t stack_of(const Value& frames);
  std::uint32_t group_of(const Fields& fields);

  /// Numbers that Names has already given to this document: no lock on a repeated lookup.
  struct Seen {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> slots;
    std::size_t used = 0;
    std::uint32_t* find(std::uint64_t hash);
    void add(std::uint64_t hash, std::uint32_t number);
  };

  Names& names_;
  std::vector<Value> stack_;
  std::vector<Value> items_;
  std::vector<Range> lists_;
  std::vector<Made> dicts_;
  std::vector<Text> texts_;
  std::vector<Frame> frames_;
  std::vector<std::uint64_t> frame_hashes_;
  std::vector<GroupStatus> statuses_;
  std::uint64_t copied_ = 0;     ///< items moved because their container grew after another
  std::uint64_t used_ = 0;       ///< bytes and items of the values that dictionaries used
  std::uint64_t allowance_ = 0;  ///< for used_
  bool is_dump_ = false;
  RankDump dump_;
  /// State of a recorder hook (of any backend without a recorder of its own): its retired collectives as places in
  /// dump_.calls, and whether it sees completions.
  struct Hook {
    std::string backend;
    std::vector<std::size_t> retired;
    bool knows_completion = false;
  };
  std::vector<Hook> hooks_;
  Seen signatures_, stacks_, groups_;
};

}  // namespace ringside::hang
