# cmake -DOUTPUT=x.cpp -DARRAY=kHostPresets -DFILES=a.yaml,b.yaml -P embed_presets.cmake
# Writes the files' text into a C++ source that defines the array (presets.h).
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
constexpr Preset kAll[] = {
${entries}};
}  // namespace
const std::span<const Preset> ${ARRAY}{kAll};
}  // namespace ringside
")
