# cmake -DOUTPUT=presets.cpp -DFILES=a.yaml,b.yaml -P embed_presets.cmake
# Writes the files' text into a C++ source that defines kNodePresets (presets.h).
string(REPLACE "," ";" files "${FILES}")
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"yaml(${text})yaml\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"engine/topology/presets.h\"

namespace ringside {
namespace {
constexpr NodePreset kAll[] = {
${entries}};
}  // namespace
const std::span<const NodePreset> kNodePresets{kAll};
}  // namespace ringside
")
