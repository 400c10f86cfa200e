// Where the reference data for tests lies, and reading it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/json.h"

namespace graft::bench {

// A path below the folder "shared" beside the source tree; that is where data too large for the tree is kept.
inline std::string shared_path(const std::string& path) {
  return GRAFT_SOURCE_DIR "/../shared/" + path;
}

// A JSON document that must be readable.
inline Json read_json(const std::string& path) {
  auto text = read_file(path);
  EXPECT_TRUE(text.ok()) << path;
  if (!text.ok()) return {};
  auto json = Json::parse(*text, path);
  EXPECT_TRUE(json.ok()) << json.error().to_string();
  return json.ok() ? *json : Json();
}

#define GRAFT_NEEDS_SHARED(path)                             \
  if (!graft::is_directory(graft::bench::shared_path(path))) \
  GTEST_SKIP() << "no reference data at " << graft::bench::shared_path(path)

}  // namespace graft::bench
