# cmake -DOUTPUT=models.cpp -DHEADER=engine/releases/embedded.h -DTYPE=EmbeddedRelease -DARRAY=kReleaseData
#       -DFILES=a.yaml,b.yaml -P embed_text.cmake
# Writes the files' text into a C++ source that defines the array which HEADER declares: a span of TYPE
# {name, text}, sorted by name.
string(REPLACE "," ";" files "${FILES}")
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WLE)
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"text(${text})text\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"${HEADER}\"

namespace ringside {
namespace {
constexpr ${TYPE} kAll[] = {
${entries}};
}  // namespace
const std::span<const ${TYPE}> ${ARRAY}{kAll};
}  // namespace ringside
")
