#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/vocabulary.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/recordings/formats.h"

namespace ringside::recordings {
namespace {

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == '_') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase_if(words, [](const std::string& word) { return word.empty(); });
  return words;
}

/// Up to 2.7 the words are not separated: `AllReduceRingLLKernel`.
void read_joined(std::string_view word, KernelName& made) {
  if (word.ends_with("Kernel")) word.remove_suffix(6);
  for (const std::string_view protocol : {"LL128", "LL", "Simple"}) {
    if (made.protocol || !word.ends_with(protocol)) continue;
    made.protocol = *parse_protocol(lower_case(protocol));
    word.remove_suffix(protocol.size());
  }
  for (const std::string_view algorithm : {"Ring", "Tree"}) {
    if (made.algorithm || !word.ends_with(algorithm)) continue;
    made.algorithm = *parse_algorithm(lower_case(algorithm));
    word.remove_suffix(algorithm.size());
  }
  made.op = word;
}

}  // namespace

std::optional<KernelName> parse_kernel(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  name = name.substr(0, name.find_first_of("(< "));
  if (!name.starts_with("nccl")) return std::nullopt;
  const std::vector<std::string> words = words_of(name);
  const bool is_joined =
      words[0].size() > 10 && words[0].ends_with("Kernel") && !words[0].ends_with("DevKernel");
  if (!is_joined && !words[0].ends_with("Kernel")) return std::nullopt;
  KernelName made;
  std::size_t next = 1;
  if (is_joined) {
    read_joined(std::string_view(words[0]).substr(4), made);
  } else if (words.size() > 1) {
    made.op = words[next++];
  }
  for (; next < words.size(); ++next) {
    const std::string word = lower_case(words[next]);
    const std::string pair =
        next + 1 < words.size() ? word + "_" + lower_case(words[next + 1]) : "";
    if (const auto algorithm = parse_algorithm(pair); algorithm && !made.algorithm) {
      made.algorithm = *algorithm;
      ++next;
    } else if (const auto single = parse_algorithm(word); single && !made.algorithm) {
      made.algorithm = *single;
    } else if (const auto protocol = parse_protocol(word); protocol && !made.protocol) {
      made.protocol = *protocol;
    } else if (element_bytes(word) > 0) {
      made.type = type_of(word);
    }
  }
  return made;
}

namespace {

struct TypeName {
  std::string_view name;
  std::string_view torch;
  std::uint64_t bytes;
};

/// Names of element types in NCCL's kernels (f32), in PyTorch (Float), and in C++ (float, c10::Half, long int). Of
/// NumPy's names only float32 and bfloat16 occur in recordings.
constexpr std::array kTypes{TypeName{"Float", "Float", 4},
                            TypeName{"float", "Float", 4},
                            TypeName{"f32", "Float", 4},
                            TypeName{"float32", "Float", 4},
                            TypeName{"Double", "Double", 8},
                            TypeName{"double", "Double", 8},
                            TypeName{"f64", "Double", 8},
                            TypeName{"Half", "Half", 2},
                            TypeName{"c10::Half", "Half", 2},
                            TypeName{"f16", "Half", 2},
                            TypeName{"half", "Half", 2},
                            TypeName{"BFloat16", "BFloat16", 2},
                            TypeName{"c10::BFloat16", "BFloat16", 2},
                            TypeName{"bf16", "BFloat16", 2},
                            TypeName{"bfloat16", "BFloat16", 2},
                            TypeName{"Int", "Int", 4},
                            TypeName{"int", "Int", 4},
                            TypeName{"i32", "Int", 4},
                            TypeName{"u32", "Int", 4},
                            TypeName{"Long", "Long", 8},
                            TypeName{"long", "Long", 8},
                            TypeName{"long int", "Long", 8},
                            TypeName{"i64", "Long", 8},
                            TypeName{"u64", "Long", 8},
                            TypeName{"Short", "Short", 2},
                            TypeName{"short", "Short", 2},
                            TypeName{"short int", "Short", 2},
                            TypeName{"i16", "Short", 2},
                            TypeName{"Char", "Char", 1},
                            TypeName{"signed char", "Char", 1},
                            TypeName{"i8", "Char", 1},
                            TypeName{"Byte", "Byte", 1},
                            TypeName{"unsigned char", "Byte", 1},
                            TypeName{"u8", "Byte", 1},
                            TypeName{"Bool", "Bool", 1},
                            TypeName{"bool", "Bool", 1},
                            TypeName{"Float8_e4m3fn", "Float8_e4m3fn", 1},
                            TypeName{"f8e4m3", "Float8_e4m3fn", 1},
                            TypeName{"Float8_e5m2", "Float8_e5m2", 1},
                            TypeName{"f8e5m2", "Float8_e5m2", 1}};

}  // namespace

std::string type_of(std::string_view text) {
  const auto found = std::ranges::find(kTypes, text, &TypeName::name);
  return std::string(found == kTypes.end() ? text : found->torch);
}

std::uint64_t element_bytes(std::string_view type) {
  const auto found = std::ranges::find(kTypes, type.substr(0, type.find('-')), &TypeName::name);
  return found == kTypes.end() ? 0 : found->bytes;
}

std::uint64_t bytes_of(const Call& call) {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(std::max(call.in_count, call.out_count), element_bytes(call.type),
                                &bytes)
             ? 0
             : bytes;
}

std::uint64_t whole_bytes(hang::Op op, std::uint64_t bytes, int ranks) {
  using hang::Op;
  const bool is_part = op == Op::AllGather || op == Op::ReduceScatter || op == Op::AllToAll ||
                       op == Op::Gather || op == Op::Scatter;
  std::uint64_t whole = 0;
  if (!is_part || ranks < 2) return bytes;
  return __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(ranks), &whole) ? bytes : whole;
}

}  // namespace ringside::recordings
