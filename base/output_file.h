#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ringside {

/// The kind of a file's content, by its first bytes.
enum class ContentKind {
  Trace,
  Png,
  Film,
  WebPage,
  Svg,
  TopologyXml,
  GraphXml,
  OtherXml,
  PerfettoJson,  ///< that ringside exported
  OtherJson,
  Scenario,
  OtherYaml,
  AccuracyTable,
  Pickle,
  Compressed,
  Empty,
  Text,
  Binary,
};

/// returns  such as "an .rtrace trace"
const char* to_string(ContentKind kind);

/// shape  the first bytes of a file, 4 KiB or all of it
ContentKind content_kind_of(std::string_view head);

/// A file or folder that a command is about to write.
struct OutputFile {
  std::string option = {};  ///< that names it, for messages
  std::string path = {};    ///< empty or "-": no file
  ContentKind kind = ContentKind::Text;
};

/// Returns whether the output may be written: refuses what would lose data. A file of the output's own kind, an empty
/// file, a pipe and a device may be overwritten.
///
/// inputs  files and folders that the command reads; an output never replaces one, nor a file of another kind in one
/// force   overwrites a file of any kind
/// errors  InvalidArgument: a file of another kind, an input, a folder, a path where nothing can be written
Status check_output(const OutputFile& output, std::span<const std::string> inputs, bool force);

}  // namespace ringside
