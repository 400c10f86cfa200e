#include "base/python_environment.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <string>

#include "base/file.h"

namespace graft {
namespace {

class PythonEnvironmentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::create("graft-test");
    ASSERT_TRUE(made.ok());
    folder_.emplace(std::move(*made));
    keep("GRAFT_PYTHON", &old_python_);
    keep("PATH", &old_path_);
    keep("PYTHONPATH", &old_pythonpath_);
    unsetenv("GRAFT_PYTHON");
    unsetenv("PYTHONPATH");
    setenv("PATH", at("path").c_str(), 1);
  }
  void TearDown() override {
    restore("GRAFT_PYTHON", old_python_);
    restore("PATH", old_path_);
    restore("PYTHONPATH", old_pythonpath_);
  }
  static void keep(const char* name, std::optional<std::string>* into) {
    if (const char* value = std::getenv(name)) *into = value;
  }
  static void restore(const char* name, const std::optional<std::string>& value) {
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  }
  std::string at(const std::string& name) { return join_path(folder_->path(), name); }
  // An executable file below the test's folder.
  std::string program(const std::string& name) {
    std::string path = at(name);
    EXPECT_TRUE(make_directories(path.substr(0, path.rfind('/'))).ok());
    EXPECT_TRUE(write_file_atomic(path, "#!/bin/sh\n").ok());
    chmod(path.c_str(), 0755);
    return path;
  }

  std::optional<TemporaryDirectory> folder_;
  std::optional<std::string> old_python_, old_path_, old_pythonpath_;
};

TEST_F(PythonEnvironmentTest, EachRuleInItsTurn) {
  std::string graft = program("clone/build/graft");
  auto none = find_python_environment(graft);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kMissing);

  std::string on_path = program("path/python3");
  EXPECT_EQ(find_python_environment(graft)->executable, on_path);

  std::string venv = program("clone/.venv/bin/python");
  EXPECT_EQ(find_python_environment(graft)->executable, venv);
  EXPECT_EQ(find_python_environment(at("clone/build/asan/graft"))->executable, venv)
      << "from a build folder inside the build folder too";

  std::string beside = program("clone/build/python3");
  EXPECT_EQ(find_python_environment(graft)->executable, beside);

  std::string chosen = program("elsewhere/python3.12");
  setenv("GRAFT_PYTHON", chosen.c_str(), 1);
  auto environment = find_python_environment(graft);
  EXPECT_EQ(environment->executable, chosen);
  EXPECT_EQ(environment->origin, "$GRAFT_PYTHON");

  setenv("GRAFT_PYTHON", at("nothing").c_str(), 1);
  auto wrong = find_python_environment(graft);
  ASSERT_FALSE(wrong.ok()) << "a wrong choice is not replaced by another interpreter";
  EXPECT_EQ(wrong.error().kind, ErrorKind::kInput);
}

TEST_F(PythonEnvironmentTest, ThePackageBesideTheProgramComesFirst) {
  program("path/python3");
  std::string installed = program("prefix/bin/graft");
  EXPECT_TRUE(find_python_environment(installed)->variables().empty());

  program("build/python/graft/__init__.py");
  program("bundle/python/graft/__init__.py");
  EXPECT_EQ(find_python_environment(at("build/graft"))->package_path, at("build/python"));
  EXPECT_EQ(find_python_environment(at("bundle/bin/graft"))->package_path, at("bundle/python"));

  setenv("PYTHONPATH", "/mine", 1);
  auto variables = find_python_environment(at("build/graft"))->variables();
  ASSERT_EQ(variables.size(), 1U);
  EXPECT_EQ(variables[0].first, "PYTHONPATH");
  EXPECT_EQ(variables[0].second, at("build/python") + ":/mine");
}

}  // namespace
}  // namespace graft
