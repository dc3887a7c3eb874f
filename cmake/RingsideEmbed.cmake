# ringside_embed(embedded FOLDER data HEADER engine/releases/embedded.h TYPE EmbeddedRelease ARRAY kReleaseData)
#
# FOLDER/*.yaml (ENDING md: *.md) become one source file, so that an installed binary needs no data folder: the array that
# HEADER declares, a span of TYPE {name, text} sorted by name. Its path is put into ${embedded}.
function(ringside_embed result)
  cmake_parse_arguments(arg "" "FOLDER;HEADER;TYPE;ARRAY;ENDING" "" ${ARGN})
  if(NOT arg_ENDING)
    set(arg_ENDING yaml)
  endif()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${arg_ARRAY}.cpp)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}/*.${arg_ENDING})
  string(REPLACE ";" "," file_list "${files}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${arg_HEADER} -DTYPE=${arg_TYPE}
            -DARRAY=${arg_ARRAY} -DFILES=${file_list} -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    VERBATIM)
  set(${result} ${output} PARENT_SCOPE)
endfunction()
