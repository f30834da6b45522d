# Sources that are compiled together, some of one folder at a time: half and more of what a file takes to compile is its
# headers, and a whole build, on whose end each check waits, takes half as long.
#
# What stands in an anonymous namespace is then known to the neighbours, too. Where a name is taken, give it one that says
# more, or name the file behind APART. -DSELVAGE_TOGETHER=1 compiles each file by itself.
set(SELVAGE_TOGETHER 6 CACHE STRING "How many sources of a folder are compiled at once")

# selvage_together(OUT NAME SOURCES file.. [APART file..]): sets OUT to what is to be compiled in place of the sources.
# NAME tells the lists of one folder of the build apart. Files are given as seen from the list's own CMakeLists.txt.
function(selvage_together out name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;APART")
  set(apart)
  foreach(file ${arg_APART})
    get_filename_component(file ${file} ABSOLUTE)
    list(APPEND apart ${file})
  endforeach()
  set(result)
  set(batches)
  foreach(file ${arg_SOURCES})
    get_filename_component(file ${file} ABSOLUTE)
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR number "${count_${folder}} / ${SELVAGE_TOGETHER}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    if(SELVAGE_TOGETHER LESS 2 OR file IN_LIST apart)
      list(APPEND result ${file})
      continue()
    endif()
    set(batch ${folder}_${number})
    list(APPEND batches ${batch})
    file(RELATIVE_PATH file ${PROJECT_SOURCE_DIR} ${file})
    string(APPEND content_${batch} "#include \"${file}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES batches)
  foreach(batch ${batches})
    set(path ${CMAKE_CURRENT_BINARY_DIR}/together/${name}/${batch}.cc)
    file(CONFIGURE OUTPUT ${path} CONTENT "${content_${batch}}" @ONLY)
    list(APPEND result ${path})
  endforeach()
  set(${out} ${result} PARENT_SCOPE)
endfunction()
