# RINGSIDE_BUNDLE: programs that run on other distributions than the one that built them. The libraries that Debian 12 and 13 have
# under different names come along, in lib/ringside, where programs look first. Everything else is taken from the system, but in the
# archive (component `archive`), which holds all but the C library, the drivers of displays and what belongs to them.

set(bundle lib/ringside)
# ringside_look_in_bundle(TARGET FOLDER ALSO...): the folder that it is installed in; folders below the bundle to look in.
function(ringside_look_in_bundle target folder)
  file(RELATIVE_PATH up /${folder} /${bundle})
  set(places "\$ORIGIN/${up}")
  foreach(below IN LISTS ARGN)
    list(APPEND places "\$ORIGIN/${up}/${below}")
  endforeach()
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${places}")
  # RPATH, which holds for the libraries of a library too; RUNPATH does not.
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endfunction()
ringside_look_in_bundle(ringside ${CMAKE_INSTALL_BINDIR} language)
ringside_look_in_bundle(ringside_simgrid ${CMAKE_INSTALL_LIBEXECDIR}/ringside language)
# Not in `language`: a program of others, or a driver of OpenGL, may need a newer library of C++ than that one.
ringside_look_in_bundle(ringside_library ${CMAKE_INSTALL_LIBDIR})
if(TARGET ringside_gui)
  ringside_look_in_bundle(ringside_gui ${CMAKE_INSTALL_BINDIR})
endif()

set(differing "/lib(fmt|yaml-cpp|flatbuffers|hwy|simgrid|boost_[a-z_]+)\\.so")
install(RUNTIME_DEPENDENCY_SET ringside_needs
        POST_INCLUDE_REGEXES ${differing} POST_EXCLUDE_REGEXES ".*"
        LIBRARY DESTINATION ${bundle})
install(RUNTIME_DEPENDENCY_SET ringside_needs
        PRE_EXCLUDE_REGEXES "^(ld-linux|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libmvec)[-.]"
                            "^lib(GL|EGL|OpenGL|GLX|GLdispatch|X|xcb|wayland|drm|gbm)" "^lib(stdc\\+\\+|gcc_s)\\."
        POST_EXCLUDE_REGEXES ${differing}
        LIBRARY DESTINATION ${bundle} COMPONENT archive)
install(RUNTIME_DEPENDENCY_SET ringside_needs
        POST_INCLUDE_REGEXES "/lib(stdc\\+\\+|gcc_s)\\.so" POST_EXCLUDE_REGEXES ".*"
        LIBRARY DESTINATION ${bundle}/language COMPONENT archive)

# Their licences, as Debian's packages have them.
foreach(package libfmt-dev libyaml-cpp-dev libflatbuffers-dev libhwy-dev libsimgrid-dev)
  install(FILES /usr/share/doc/${package}/copyright RENAME ${package} OPTIONAL
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses)
endforeach()
