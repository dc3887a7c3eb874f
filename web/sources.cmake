# Which sources the web's program is made of. Two rules, and no #ifdef:
#
# - web/platform/ mirrors the tree: a source there takes the place of the one with the same path;
# - the sources that match one of these are absent, with the verbs that use them (web/platform/cli/all_verbs.cpp).
set(RINGSIDE_WEB_ABSENT
    "^cli/(attach|generate|probe|sweep)/" "^cli/bench/(bench|nccl)_" "^cli/(demo|gui)_verb" "^cli/hang/reproduce_verb"
    "^cli/sim/(run|scenario|validate)_"
    "^engine/flight/(dump_pipe|recorder|ring|stack)[.]cpp"
    "^sim/(find_worker|wire|wire_socket|worker)[.]cpp"
    "^study/(audit_replay|host_gpu)[.]cpp" "^study/sweep/" "^study/validate/(published|validation|bench_rows)"
    "^study/scenario/(scenario_(findings|real|run)|pytorch_script|reproduction)" "^study/interchange/(chakra_|import)")

# The folders that are compiled, lowest first; the others are libraries without anything in them.
set(RINGSIDE_WEB_FOLDERS
    base trace engine/releases engine/topology engine/channels engine/tuning engine/debuglog engine/collectives engine/faults
    engine/flight sim diag harness/hangs harness/scenario study cli)
set(RINGSIDE_WEB_EMPTY attach cuda harness logs probe reduce runtime sweep transport)

# ringside_let_catch(SOURCE PATH): a source that catches is compiled alone, so that an exception ends in it. All others
# are a third smaller without. These have a precompiled header of their own
# (web/CMakeLists.txt), and the -O that it was made with.
set(RINGSIDE_WEB_CATCHING_HEADER ${CMAKE_BINARY_DIR}/web/CMakeFiles/ringside_precompiled_catching.dir/cmake_pch.hxx.pch)
function(ringside_let_catch source path)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${path})
    return()
  endif()
  file(STRINGS ${PROJECT_SOURCE_DIR}/${path} catches REGEX " catch \\(|yaml_keys[.]h|<yaml-cpp/|<CLI/" LIMIT_COUNT 1)
  if(catches)
    set_source_files_properties(
      ${source}
      PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                 SKIP_PRECOMPILE_HEADERS ON
                 COMPILE_OPTIONS "${RINGSIDE_WEB_CATCHING};-Oz;-include-pch;${RINGSIDE_WEB_CATCHING_HEADER}"
                 OBJECT_DEPENDS ${RINGSIDE_WEB_CATCHING_HEADER})
  endif()
endfunction()

# ringside_choose_sources(VARIABLE): the sources in it, relative to the current folder, as this build takes them.
function(ringside_choose_sources variable)
  set(chosen "")
  foreach(source IN LISTS ${variable})
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    set(is_absent OFF)
    foreach(absent IN LISTS RINGSIDE_WEB_ABSENT)
      if(path MATCHES "${absent}")
        set(is_absent ON)
      endif()
    endforeach()
    if(EXISTS ${PROJECT_SOURCE_DIR}/web/platform/${path})
      list(APPEND chosen ${PROJECT_SOURCE_DIR}/web/platform/${path})
    elseif(NOT is_absent)
      list(APPEND chosen ${source})
      ringside_let_catch(${source} ${path})
    endif()
  endforeach()
  set(${variable} ${chosen} PARENT_SCOPE)
endfunction()
