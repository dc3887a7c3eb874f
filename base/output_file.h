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
  Film,  ///< a video: WebM, MP4 or GIF
  WebPage,
  Svg,
  TopologyXml,
  GraphXml,
  OtherXml,
  PerfettoJson,  ///< a Perfetto trace exported by ringside
  OtherJson,
  Scenario,
  ReproducedScript,  ///< a script of PyTorch that `ringside reproduce` wrote
  OtherYaml,
  AccuracyTable,
  Pickle,
  Compressed,
  Empty,
  Text,
  Binary,
};

/// Returns the kind with an article, such as "an .rtrace trace".
const char* to_string(ContentKind kind);

/// Determines the kind of a file.
/// head  the first 4 KiB of the file, or all of it
ContentKind content_kind_of(std::string_view head);

/// A file or folder that a command is about to write.
struct OutputFile {
  std::string option = {};  ///< option that names it, for messages
  std::string path = {};    ///< empty or "-": no file
  ContentKind kind = ContentKind::Text;
};

/// Checks that writing the output loses no other data. It may overwrite a file of its own kind, an empty file, a pipe or
/// a device.
///
/// inputs  files and folders that the command reads. The output must not replace such a file, nor a file of another kind
///         in such a folder
/// force   permits overwriting a file of any kind
/// errors  InvalidArgument: the path is an input, a folder, a file of another kind, or cannot be written
Status check_output(const OutputFile& output, std::span<const std::string> inputs, bool force);

}  // namespace ringside
