#include "diag/logparse/source_text.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "diag/logparse/cursor.h"
#include "diag/logparse/text_search.h"

namespace ringside::logs {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }

/// Returns the length of a call such as `dist.all_reduce(` or `print(`, in lower case, as functions of Python are.
/// returns  0: none
std::size_t call_at_start(std::string_view text) {
  std::size_t at = 0;
  if (text.empty() || (!is_lower(text[0]) && text[0] != '_')) return 0;
  while (at < text.size() && (is_lower(text[at]) || is_digit(text[at]) || text[at] == '_' ||
                              (text[at] == '.' && at + 1 < text.size() && text[at + 1] != '.'))) {
    ++at;
  }
  return at < text.size() && text[at] == '(' ? at + 1 : 0;
}

/// Returns the line without its comment.
std::string_view without_comment(std::string_view text) {
  const std::size_t comment = text.find("  # ");
  return trimmed_right(text.substr(0, comment));
}

/// `os.environ["X"] = `, `loss = `, `a, b = `: the length of an assignment's left side.  returns  0: there is none
std::size_t assignment(std::string_view text) {
  if (text.empty() || (!is_letter(text[0]) && text[0] != '_')) return 0;
  const std::size_t at = text.find(" = ");
  constexpr std::size_t kLongestName = 60;
  if (at == std::string_view::npos || at > kLongestName) return 0;
  const std::string_view name = text.substr(0, at);
  const bool is_name = std::all_of(name.begin(), name.end(), [](char c) {
    return is_word(c) || contains(std::string_view(".,[]\"' "), c);
  });
  // Two words in a row are part of a sentence, or a type and a name.
  const std::size_t blank = name.find(' ');
  const bool is_sentence = blank != std::string_view::npos && blank > 0 && name[blank - 1] != ',';
  return is_name && !is_sentence ? at + 3 : 0;
}

/// Returns whether an expression follows the keyword of a block; a sentence that ends with a colon has a comma, and no
/// operators.
bool is_condition(std::string_view text) {
  const std::size_t word = text.find(' ');
  if (word == std::string_view::npos) return true;  // `else:`
  return text.find(' ', word + 1) == std::string_view::npos ||
         text.find_first_of("()=<>_[.") != std::string_view::npos ||
         find_text(text, " as ") != text.npos || find_text(text, " in ") != text.npos ||
         find_text(text, " not ") != text.npos || find_text(text, " is ") != text.npos;
}

bool is_python(std::string_view whole) {
  static constexpr auto kBlocks = std::to_array<std::string_view>(
      {"if ", "elif ", "else:", "for ", "while ", "with ", "try:", "except", "finally:", "def ",
       "class ", "async def ", "elif(", "match "});
  const std::string_view text = without_comment(whole);
  if (text.starts_with(">>> ") || text.starts_with("#!/")) return true;
  if (text.ends_with(':') && starts_with_any(text, kBlocks) && is_condition(text)) return true;
  if (text.starts_with("def ") && contains(text, '(')) return true;
  if (text.starts_with("import ") || text.starts_with("from ")) {
    const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
      return is_word(c) || contains(std::string_view("., *()"), c);
    });
    const std::size_t module = text.find(' ') + 1;
    if (module >= text.size() || is_digit(text[module])) return false;
    const bool has_import = text.starts_with("import ") || find_text(text, " import ") != text.npos;
    const bool is_sentence = text.starts_with("import ") &&
                             std::count(text.begin(), text.end(), ' ') > 3 && !contains(text, ',');
    return is_plain && has_import && !is_sentence;
  }
  if (text.starts_with("raise ") || text.starts_with("return ") || text.starts_with("assert ")) {
    const std::size_t word = text.find(' ') + 1;
    const std::size_t open = text.find_first_of("(.[");
    return open != std::string_view::npos && open > word &&
           !contains(text.substr(word, open - word), ' ');
  }
  const bool is_closed = !text.empty() && contains(std::string_view("(),[]{}"), text.back());
  if (call_at_start(text) > 0 && is_closed) return true;
  if (const std::size_t value = assignment(text); value > 0) {
    const std::string_view given = text.substr(value);
    const bool is_text = given.size() > 1 && (given.front() == '"' || given.front() == '\'') &&
                         given.back() == given.front();
    return is_text || (is_closed &&
                       (call_at_start(given) > 0 || given.front() == '[' || given.front() == '{'));
  }
  return false;
}

/// `NCCL_DEBUG=INFO torchrun train.py`: variables, and a command after them.
bool is_command_with_variables(std::string_view text) {
  Cursor cursor(text);
  bool has_variable = false;
  for (;;) {
    const char* const begin = cursor.at();
    while (is_upper(cursor.peek()) || is_digit(cursor.peek()) || cursor.peek() == '_')
      cursor.skip(1);
    const auto size = static_cast<std::size_t>(cursor.at() - begin);
    constexpr std::size_t kShortest = 4;
    if (size < kShortest || !cursor.eat('=')) break;
    while (!cursor.is_done() && cursor.peek() != ' ') cursor.skip(1);
    has_variable = true;
    if (!cursor.eat(' ')) return false;
    cursor.skip_blanks();
  }
  static constexpr auto kCommands =
      std::to_array<std::string_view>({"python", "torchrun", "srun", "mpirun", "./", "/", "vllm",
                                       "bash", "accelerate", "uv ", "deepspeed"});
  return has_variable && starts_with_any(cursor.rest(), kCommands);
}

bool is_shell(std::string_view text) {
  static constexpr auto kCommands = std::to_array<std::string_view>(
      {"#SBATCH ",   "srun -",     "torchrun -",   "mpirun -",     "mpiexec -",
       "docker run", "python -",   "python3 -",    "deepspeed --", "accelerate launch",
       "kubectl ",   "vllm serve", "unset ",       "source ",      "RUN ",
       "ENV ",       "CMD [",      "ENTRYPOINT [", "WORKDIR /",    "COPY ",
       "-e NCCL_",   "--env ",     "- name: ",     "-x NCCL_"});
  return text.ends_with(" \\") || starts_with_any(text, kCommands) ||
         is_command_with_variables(text);
}

/// Returns whether quoted text contains `%s`, `%d` or `%lx`: a program has not printed it yet.
bool has_format(std::string_view text) {
  if (!contains(text, '"')) return false;
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    std::size_t end = at + 1;
    while (end < text.size() && std::string_view("lzhj0123456789.").find(text[end]) != text.npos)
      ++end;
    const bool is_share = at > 0 && is_digit(text[at - 1]);
    if (!is_share && end < text.size() && std::string_view("sdupxi").find(text[end]) != text.npos)
      return true;
  }
  return false;
}

bool is_c(std::string_view text) {
  if (has_format(text)) return true;
  if (text.starts_with("#include ") || text.starts_with("//") || text.starts_with("/*"))
    return true;
  if (text.ends_with(") {") || find_text(text, "printf(") != text.npos) return true;
  if (text.ends_with('(') && contains(text, "::") && find_text(text, " = ") != text.npos)
    return true;
  if (text.ends_with(';') && find_text(text, ") << ") != text.npos) return true;
  // `NCCLCHECK(ncclCommDestroy(comm));`, `ncclComm_t comms[2];`; a sentence ends with a semicolon, too.
  if (!text.ends_with(';') || !is_letter(text.front()) || find_text(text, ": ") != text.npos)
    return false;
  return text.ends_with(");") || text.starts_with("return ") ||
         (text.ends_with("];") && std::count(text.begin(), text.end(), ' ') < 3);
}

/// Returns whether the line begins like a line that a program printed.
bool is_tagged(std::string_view text) {
  if (has_format(text)) return false;
  return find_text(text, "CCL INFO") != text.npos || find_text(text, "CCL WARN") != text.npos ||
         text.starts_with("[rank") || text.starts_with("[Rank") || text.starts_with("[default") ||
         text.starts_with("[E") || text.starts_with("[W") || text.starts_with("[I") ||
         find_text(text, "WorkNCCL(SeqNum=") != text.npos;
}

bool is_fence(std::string_view text) { return text.starts_with("```") || text.starts_with("~~~"); }

/// Returns whether the line is a rule such as `|---|:--:|`: a table's header is above it, and the rows are below.
bool is_table_rule(std::string_view text) {
  return text.size() > 2 && text.front() == '|' && find_text(text, "--") != text.npos &&
         text.find_first_not_of("|-: ") == std::string_view::npos;
}

/// Returns whether the header belongs to a table of advice about messages: no program printed the text in its rows.
bool advises(std::string_view header) {
  return contains_any(header, {"olution", "eaning", "emedy", "ix |", "likely", "xplanation",
                               "ymptom", "What to", "what to"});
}

/// Returns whether the header belongs to a table of explanations.
bool explains(std::string_view header) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"meaning", "escription", "explanation", "efault", "what it", "What it", "ix |", "olution",
       "likely", "Meaning", "urpose", "emedy", "Variable", "variable", "Setting", "setting",
       "ymptom", "Explanation"});
  return contains_any(header, kWords);
}

/// `NCCL_IB_TIMEOUT` of `` | `NCCL_IB_TIMEOUT` | timeout of ... | ``
bool begins_with_variable(std::string_view row) {
  std::string_view cell = row.substr(row.starts_with('|') ? 1 : 0);
  cell = trimmed(cell.substr(0, cell.find('|')));
  while (!cell.empty() && (cell.front() == '`' || cell.front() == '*')) cell.remove_prefix(1);
  cell = cell.substr(0, cell.find_first_of("`*= "));
  return cell.size() > 4 && contains(cell, '_') &&
         std::all_of(cell.begin(), cell.end(),
                     [](char c) { return is_upper(c) || is_digit(c) || c == '_'; });
}

/// `` - `NCCL_IB_DISABLE=1`: falls back to sockets ``: an item of a list that explains.
bool explains_variable(std::string_view text) {
  if (text.starts_with("- ") || text.starts_with("* ")) text.remove_prefix(2);
  if (!text.starts_with('`')) return false;
  const std::size_t end = text.find('`', 1);
  constexpr std::size_t kShortest = 16;  // characters of the explanation
  return end != std::string_view::npos && text.size() - end > kShortest &&
         begins_with_variable(text.substr(0, end));
}

void mark_tables(const std::vector<std::string>& lines, const std::vector<std::string>& dressed,
                 std::vector<bool>& is_source) {
  for (std::size_t rule = 1; rule < lines.size(); ++rule) {
    // A collector's columns may surround the table; otherwise a row may have lost its bars.
    const bool is_inside = is_table_rule(trimmed(lines[rule])) && lines[rule] != dressed[rule];
    const std::vector<std::string>& rows = is_inside ? lines : dressed;
    if (!is_table_rule(trimmed(rows[rule]))) continue;
    const std::string_view header = trimmed(rows[rule - 1]);
    const bool is_explaining = header.starts_with('|') && explains(header);
    const bool is_advising = header.starts_with('|') && advises(header);
    for (std::size_t row = rule + 1; row < lines.size(); ++row) {
      const std::string_view text = trimmed(rows[row]);
      if (!text.starts_with('|')) break;
      // A row that was turned into a rank's line is evidence of that rank.
      if (trimmed(lines[row]).starts_with("rank")) continue;
      is_source[row] =
          is_advising || (!is_tagged(text) && (is_explaining || begins_with_variable(text)));
    }
  }
}

/// Marks the comments and other plain lines of a block that consists mostly of source.
void mark_blocks(const std::vector<std::string>& lines, const std::vector<std::string>& dressed,
                 std::vector<bool>& is_source) {
  std::size_t begin = 0;
  bool is_inside = false;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (!is_fence(trimmed(lines[at])) && !is_fence(trimmed(dressed[at]))) continue;
    if (is_inside) {
      std::size_t all = 0;
      std::size_t source = 0;
      for (std::size_t i = begin; i < at; ++i) {
        all += trimmed(lines[i]).empty() ? 0U : 1U;
        source += is_source[i] ? 1U : 0U;
      }
      for (std::size_t i = begin; i < at && source * 2 >= all && source > 1; ++i)
        is_source[i] = is_source[i] || !is_tagged(trimmed(lines[i]));
    }
    is_inside = !is_inside;
    begin = at + 1;
  }
}

/// Returns whether the text is in the first person, so describes what happened.
bool is_of_first_person(std::string_view text) {
  return text.starts_with("I ") || text.starts_with("We ") || text.starts_with("My ") ||
         contains_any(text, {" I ", " I'm", " I've", " we ", " my ", " our ", " me "});
}

/// Returns whether the text is conditional, so about any job: `If you see`, `when the job fails with`.
bool is_conditional(std::string_view text) {
  if (is_of_first_person(text)) return false;
  const bool is_when = text.starts_with("If ") || text.starts_with("When ") ||
                       text.starts_with("Whenever ") ||
                       contains_any(text, {" if ", " when ", " whenever ", ". If ", ", if "});
  return is_when &&
         contains_any(text, {" see", " get", " print", " fail", " report", " show", " hit",
                             " error", " message", " log", " receive", " encounter"});
}

/// ``If you see `NCCL WARN ...`, then ...``: a page that explains messages.
bool explains_message(std::string_view text) {
  const std::size_t open = text.find('`');
  if (open == std::string_view::npos || text.find('`', open + 1) == std::string_view::npos)
    return false;
  if (contains_any(text, {"f you see", "hen you see", "f you get", "hen you get", "` means", "` - ",
                          "` indicates"}))
    return true;
  return is_conditional(text);
}

/// `` - When the job prints `NCCL WARN ...`, check ...``: a sentence, with any message in it.
bool is_sentence_of_page(std::string_view text) {
  if (text.starts_with("- ") || text.starts_with("* ")) text = trimmed_left(text.substr(2));
  const bool is_sentence =
      text.starts_with("If ") || text.starts_with("When ") || text.starts_with("Whenever ");
  return is_sentence && explains_message(text);
}

/// ``If you see:``, and the messages in a fence below it.
void mark_explained_blocks(const std::vector<std::string>& lines,
                           const std::vector<std::string>& dressed, std::vector<bool>& is_source) {
  std::size_t before = lines.size();  // last line of prose
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const bool begins = is_fence(trimmed(lines[at])) || is_fence(trimmed(dressed[at]));
    if (!begins) {
      if (!trimmed(lines[at]).empty()) before = at;
      continue;
    }
    const std::string_view prose = before < lines.size() ? trimmed(lines[before]) : "";
    const bool is_explained = prose.ends_with(':') && is_conditional(prose);
    for (++at; at < lines.size(); ++at) {
      if (is_fence(trimmed(lines[at])) || is_fence(trimmed(dressed[at]))) break;
      is_source[at] = is_source[at] || is_explained;
    }
    before = lines.size();
  }
}

/// Returns whether the text introduces output, so that the text below is not a script: `slurm-77.out:`, `and then I
/// get:`.
bool is_heading(std::string_view text) {
  return text.ends_with(':') && text.find_first_of("(){}=$[;") == std::string_view::npos &&
         !is_python(text);
}

/// `[n01:4711] `, as Open MPI and NCCL begin their lines.
bool has_process(std::string_view text) {
  if (!text.starts_with('[')) return false;
  const std::size_t end = text.find("] ");
  const std::size_t colon = text.find(':');
  if (end == std::string_view::npos || colon > end || colon + 1 == end) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(colon) + 1,
                     text.begin() + static_cast<std::ptrdiff_t>(end), is_digit);
}

/// `  3: `, as srun labels what a task writes.
bool has_task_label(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  return end != std::string_view::npos && end > 0 && text.substr(end).starts_with(": ");
}

/// Returns whether the stack or its launcher wrote the line, so that a script ends and its output begins.
bool begins_output(std::string_view text) {
  if (text.starts_with('#')) return false;
  if (is_heading(text) || has_process(text) || has_task_label(text)) return true;
  // `grep "NCCL WARN" log` searches for the text and does not print it.
  const bool is_quoted = text.find_first_of("\"'") < find_text(text, "CCL ");
  return (is_tagged(text) && !is_quoted) || text.starts_with("Traceback (") ||
         text.starts_with("srun: ") || text.starts_with("slurmstepd: ") || text.starts_with("+ ") ||
         text.starts_with("$ ");
}

/// Marks scripts. A script begins with its interpreter, or with options for a scheduler, and ends where output begins
/// or a fence closes. What it would print, and what its comments quote, has not happened.
void mark_scripts(const std::vector<std::string>& lines, const std::vector<std::string>& dressed,
                  std::vector<bool>& is_source) {
  bool is_inside = false;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string_view text = trimmed(lines[at]);
    const bool ends = is_fence(text) || is_fence(trimmed(dressed[at])) || begins_output(text);
    const bool begins = text.starts_with("#!/") || text.starts_with("#SBATCH ") ||
                        text.starts_with("#PBS ") || text.starts_with("#BSUB ");
    is_inside = begins || (is_inside && !ends);
    if (is_inside && !text.empty()) is_source[at] = true;
  }
}

/// `image: x`, `- name: y`, `resources:`
bool is_yaml(std::string_view text) {
  if (text.starts_with('#')) return true;
  if (text.starts_with("- ") || text.starts_with('{')) return true;
  const std::size_t end = text.find(':');
  if (end == std::string_view::npos || end == 0) return false;
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end),
                     [](char c) { return is_word(c) || contains(std::string_view("-./\""), c); }) &&
         (end + 1 == text.size() || text[end + 1] == ' ');
}

/// Marks manifests of Kubernetes and docker compose, which describe what should run. The output of `kubectl get -o
/// yaml` has a status, which shows what has happened.
void mark_manifests(const std::vector<std::string>& lines, std::vector<bool>& is_source) {
  static constexpr auto kKeys = std::to_array<std::string_view>(
      {"apiVersion:", "kind:", "services:", "metadata:", "spec:", "image:", "containers:",
       "volumes:", "environment:", "resources:"});
  std::size_t keys = 0;
  for (const std::string& line : lines) {
    const std::string_view text = trimmed(line);
    if (text.starts_with("status:") || text.starts_with("lastState:")) return;
    keys += starts_with_any(text, kKeys) ? 1U : 0U;
  }
  constexpr std::size_t kSeveral = 3;
  if (keys < kSeveral) return;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = trimmed(lines[i]);
    if (!text.empty() && is_yaml(text)) is_source[i] = true;
  }
}

/// In a text that is mostly source, marks the other lines: comments and pieces of strings.
void mark_rest(const std::vector<std::string>& lines, std::vector<bool>& is_source) {
  std::size_t all = 0;
  std::size_t source = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (trimmed(lines[i]).empty()) continue;
    ++all;
    source += is_source[i] ? 1U : 0U;
  }
  constexpr std::size_t kSeveral = 3;
  if (source < kSeveral || source * 2 < all) return;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = trimmed(lines[i]);
    if (text.starts_with('#') || text.starts_with('"') || text.starts_with("//"))
      is_source[i] = true;
  }
}

/// Text between double backquotes is a literal in reStructuredText: `` ``unhandled system error`` ``. Chats and issues
/// use one backquote, and fences three.
bool has_literal(std::string_view text) {
  std::size_t marks = 0;
  for (std::size_t at = text.find("``"); at != std::string_view::npos; at = text.find("``", at)) {
    const std::size_t end = std::min(text.find_first_not_of('`', at), text.size());
    marks += end - at == 2 ? 1U : 0U;
    at = end;
  }
  return marks >= 2;
}

/// `- fix: "NCCL WARN ..." when`, of a list of changes.
bool is_change(std::string_view text) {
  if (!text.starts_with("- ") && !text.starts_with("* ")) return false;
  static constexpr auto kKinds = std::to_array<std::string_view>(
      {"fix:", "fix(", "feat:", "feat(", "perf:", "docs:", "Fix ", "Fixes ", "Fixed "});
  return starts_with_any(trimmed_left(text.substr(2)), kKinds);
}

}  // namespace

bool is_source_line(std::string_view text) {
  if (text.empty()) return false;
  if (is_sentence_of_page(text)) return true;
  if (is_tagged(text)) return false;
  // A row that has lost its first bar; not an echo of a value.
  const bool is_row = text.ends_with('|') && begins_with_variable(text);
  return is_python(text) || is_shell(text) || is_c(text) || is_row || explains_variable(text) ||
         explains_message(text);
}

std::vector<bool> source_lines(const std::vector<std::string>& lines,
                               const std::vector<std::string>& dressed) {
  std::vector<bool> is_source(lines.size());
  bool is_quoted_next = false;  // by a traceback
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = trimmed(lines[i]);
    if (text.empty()) continue;
    const std::string_view whole = trimmed(dressed[i]);
    is_source[i] =
        has_literal(whole) || is_change(whole) || (!is_quoted_next && is_source_line(text));
    is_quoted_next = find_text(text, "File \"") != std::string_view::npos &&
                     find_text(text, "\", line ") != std::string_view::npos;
  }
  mark_tables(lines, dressed, is_source);
  mark_blocks(lines, dressed, is_source);
  mark_explained_blocks(lines, dressed, is_source);
  mark_scripts(lines, dressed, is_source);
  mark_manifests(lines, is_source);
  mark_rest(lines, is_source);
  return is_source;
}

}  // namespace ringside::logs
