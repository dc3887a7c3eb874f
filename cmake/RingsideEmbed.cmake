# ringside_embed(tuning_models FOLDER data HEADER engine/tuning/models.h TYPE EmbeddedModel ARRAY kTuningModels)
#
# FOLDER/*.yaml, or what PATTERN says instead of *.yaml, become one source file, so that an installed binary needs no data folder: the array that
# HEADER declares, a span of TYPE {name, text} sorted by name. Its path is put into ${tuning_models}.
function(ringside_embed result)
  cmake_parse_arguments(arg "" "FOLDER;PATTERN;HEADER;TYPE;ARRAY" "" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${arg_ARRAY}.cpp)
  if(NOT arg_PATTERN)
    set(arg_PATTERN *.yaml)
  endif()
  get_filename_component(folder ${arg_FOLDER} ABSOLUTE)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/${arg_PATTERN})
  string(REPLACE ";" "," file_list "${files}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${arg_HEADER} -DTYPE=${arg_TYPE}
            -DARRAY=${arg_ARRAY} -DFILES=${file_list} -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    VERBATIM)
  set(${result} ${output} PARENT_SCOPE)
endfunction()
