#include "kernels/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/file.h"
#include "kernels/kernel.h"

namespace graft::kernels {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CompileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto toolchain = find_toolchain();
    if (!toolchain.ok()) GTEST_SKIP() << "skipped: " << toolchain.error().to_string();
    auto folder = TemporaryDirectory::create("graft-test");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(*folder));
    setenv("GRAFT_CACHE", folder_->path().c_str(), 1);
  }
  void TearDown() override { unsetenv("GRAFT_CACHE"); }

  CompileResult compile_source(const std::string& source, CompileOptions options = {}) {
    auto functions = callable_functions(source, "");
    EXPECT_TRUE(functions.ok());
    return compile(translation_unit(source, *functions), source, options);
  }
  size_t objects() {
    size_t count = 0;
    auto names = list_directory(join_path(folder_->path(), "kernels"));
    for (const std::string& name : names.value()) count += name.ends_with(".so") ? 1 : 0;
    return count;
  }

  std::optional<TemporaryDirectory> folder_;
};

TEST_F(CompileTest, TheSecondTimeItIsInTheCache) {
  auto first = compile_source("int one() { return 1; }");
  ASSERT_TRUE(first.ok()) << first.failure->to_string();
  EXPECT_FALSE(first.object.cached);
  auto second = compile_source("int one() { return 1; }");
  ASSERT_TRUE(second.ok());
  EXPECT_TRUE(second.object.cached);
  EXPECT_EQ(first.object.path, second.object.path);

  EXPECT_NE(compile_source("int one() { return 2; }").object.key, first.object.key);
  CompileOptions options;
  options.flags = {"-O1"};
  EXPECT_NE(compile_source("int one() { return 1; }", options).object.key, first.object.key);
  EXPECT_EQ(objects(), 3U);
}

TEST_F(CompileTest, ADamagedEntryIsMadeAgain) {
  auto first = compile_source("int one() { return 1; }");
  ASSERT_TRUE(first.ok());
  std::string record = first.object.path.substr(0, first.object.path.size() - 3) + ".json";
  auto good = read_file(first.object.path);
  for (const std::string& damaged :
       {std::string(), good->substr(0, good->size() / 2), std::string("not an object")}) {
    ASSERT_TRUE(write_file_atomic(first.object.path, damaged).ok());
    EXPECT_FALSE(compile_source("int one() { return 1; }").object.cached);
    EXPECT_TRUE(Library::load(first.object.path).ok());
  }
  ASSERT_TRUE(write_file_atomic(record, "{").ok());
  EXPECT_FALSE(compile_source("int one() { return 1; }").object.cached);
  ASSERT_EQ(unlink(first.object.path.c_str()), 0);
  EXPECT_FALSE(compile_source("int one() { return 1; }").object.cached);
  EXPECT_TRUE(compile_source("int one() { return 1; }").object.cached);
}

TEST_F(CompileTest, ProcessesThatAskTogetherCompileOnce) {
  ASSERT_TRUE(find_toolchain().ok());
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t pid = fork();
    if (pid == 0) {
      auto result = compile_source("double half(double x) { return x / 2; }");
      _exit(!result.ok() ? 2 : result.object.cached ? 1 : 0);
    }
    children.push_back(pid);
  }
  int compiled = 0, found = 0;
  for (pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    compiled += WEXITSTATUS(status) == 0;
    found += WEXITSTATUS(status) == 1;
  }
  EXPECT_EQ(compiled, 1);
  EXPECT_EQ(found, 3);
}

TEST_F(CompileTest, MessagesNameTheLinesOfTheSource) {
  CompileOptions options;
  auto plain = compile_source("int f() {\n  return missing;\n}\n", options);
  ASSERT_FALSE(plain.ok());
  EXPECT_EQ(plain.failure->error.kind, ErrorKind::kInput);
  EXPECT_THAT(plain.failure->output, HasSubstr("kernel.cpp:2:10: error: "));
  EXPECT_THAT(plain.failure->output, HasSubstr("return missing;")) << "the compiler can quote the line";
  EXPECT_EQ(plain.failure->error.place.line, 2);
  EXPECT_EQ(plain.failure->error.place.column, 10);

  options.origin = {"pass.py", 40};
  auto placed = compile_source("int f() {\n  return missing;\n}\n", options);
  EXPECT_THAT(placed.failure->output, HasSubstr("pass.py:41:10: error: "));
  EXPECT_THAT(placed.failure->output, Not(HasSubstr("kernel.cpp")));
  EXPECT_EQ(placed.failure->error.place.to_string(), "pass.py:41:10");
}

TEST_F(CompileTest, TheDeadlineEndsTheCompiler) {
  CompileOptions options;
  options.timeout = std::chrono::milliseconds(300);
  auto slow = compile_source(
      "template <int N> struct F { static constexpr int value = F<N - 1>::value + F<N - 2>::value; };\n"
      "template <> struct F<0> { static constexpr int value = 0; }; template <> struct F<1> { static "
      "constexpr int value = 1; };\n"
      "template <int A, int B> struct Tree { static constexpr int value = Tree<A - 1, B * 2>::value + Tree<A "
      "- 1, B * 2 + 1>::value; };\n"
      "template <int B> struct Tree<0, B> { static constexpr int value = B; };\n"
      "int f() { return Tree<22, 1>::value; }\n",
      options);
  ASSERT_FALSE(slow.ok());
  EXPECT_THAT(slow.failure->error.message, HasSubstr("took longer than"));
  EXPECT_EQ(objects(), 0U) << "nothing half-made is left in the cache";
}

TEST_F(CompileTest, AMissingCompilerIsSaidSo) {
  setenv("CXX", "/nowhere/c++", 1);
  auto result = compile_source("int f() { return 1; }");
  unsetenv("CXX");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.failure->error.kind, ErrorKind::kMissing);
}

TEST(TranslatePlaces, OnlyOurOwnTextIsTranslated) {
  EXPECT_EQ(
      translate_places("kernel.cpp:3:1: error: x\nunit.cpp:3: note\nkernel.cpp: In function", {"a.py", 10}),
      "a.py:12:1: error: x\nunit.cpp:3: note\na.py: In function");
  EXPECT_EQ(translate_places("kernel.cpp:3:1", {"", 10}), "kernel.cpp:3:1");
}

// Calls of a compiled kernel through its trampoline.
class KernelTest : public CompileTest {
 protected:
  struct Called {
    int code;
    Value result;
    std::string message;
  };
  Called call(const std::string& source, std::vector<Value> values) {
    auto kernel = CppSource::create(source, "", {});
    EXPECT_TRUE(kernel.ok()) << kernel.error().to_string();
    auto loaded = (*kernel)->load(0);
    EXPECT_FALSE(loaded.failure) << loaded.failure->to_string();
    Called called{-1, {}, {}};
    if (loaded.call == nullptr) return called;
    char message[64] = "";
    called.code =
        loaded.call(values.data(), static_cast<int>(values.size()), &called.result, message, sizeof message);
    called.message = message;
    return called;
  }
  static Value integer(int64_t value) { return {.integer = value}; }
  static Value real(double value) { return {.real = value}; }
  static Value pointer(void* value) { return {.pointer = value}; }
};

TEST_F(KernelTest, ArgumentsAndResultArrive) {
  float x[3] = {1, 2, 3};
  auto sum = call(
      "double f(const float* x, int n, float s, bool neg, uint64_t big) {\n"
      "  double t = 0; for (int i = 0; i < n; ++i) t += x[i] * s;\n"
      "  return (neg ? -t : t) + (big == ~0ull ? 0.5 : 0); }",
      {pointer(x), integer(3), real(2), integer(1), integer(-1)});
  EXPECT_EQ(sum.code, 0);
  EXPECT_EQ(sum.result.real, -11.5);
  EXPECT_EQ(call("int f(int a, int b = 40) { return a + b; }", {integer(2)}).result.integer, 42);
  EXPECT_EQ(call("bool f(int a) { return a > 1; }", {integer(2)}).result.integer, 1);
}

TEST_F(KernelTest, AnExceptionIsReportedAndCutToSize) {
  auto thrown = call(
      "#include <stdexcept>\n#include <string>\nvoid f() { throw std::runtime_error(std::string(100, 'x')); "
      "}",
      {});
  EXPECT_EQ(thrown.code, 1);
  EXPECT_EQ(thrown.message, std::string(63, 'x'));
  EXPECT_EQ(call("void f() { throw 1; }", {}).code, 1);
}

TEST_F(KernelTest, NanAndInfinityKeepTheirMeaning) {
  float x[4] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), -0.0F, 1};
  float out[4];
  EXPECT_EQ(
      call("void f(const float* x, float* o) { for (int i = 0; i < 4; ++i) o[i] = x[i] > 0 ? x[i] : 0.0f; }",
           {pointer(x), pointer(out)})
          .code,
      0);
  EXPECT_EQ(out[0], 0.0F) << "a comparison with NaN is false";
  EXPECT_EQ(out[1], x[1]);
  auto nan = call("bool f(const float* x) { return x[0] != x[0] && !(x[1] - x[1] == 0); }", {pointer(x)});
  EXPECT_EQ(nan.result.integer, 1);
}

TEST_F(KernelTest, TensorsOfAnyStrides) {
  float x[6] = {0, 1, 2, 3, 4, 5};
  int64_t sizes[2] = {3, 2}, strides[2] = {1, 3};
  TensorView view{x, sizes, strides, 2, kDlFloat, 32};
  auto picked = call(
      "float f(const graft::Tensor& x) { return x.data<float>()[2 * x.stride(0) + 1 * x.stride(-1)] +\n"
      "  100 * x.numel() + (x.kind == graft::Kind::real && x.bits == 32 ? 1000 : 0); }",
      {pointer(&view)});
  EXPECT_EQ(picked.result.real, 5 + 600 + 1000);
}

TEST_F(KernelTest, SixteenBitFloatsRoundToNearestEven) {
  // Every half converts to float and back to itself; the rounding of floats in between is checked at the
  // halfway points.
  auto result = call(R"text(
                       int f() {
                         int wrong = 0;
                         for (unsigned bits = 0; bits < 0x10000; ++bits) {
                           graft::half h;
                           h.bits = static_cast<std::uint16_t>(bits);
                           graft::bfloat16 b;
                           b.bits = static_cast<std::uint16_t>(bits);
                           float x = h, y = b;
                           if (x == x ? graft::half(x).bits != bits : !(graft::half(x) != graft::half(x))) ++wrong;
                           if (y == y ? graft::bfloat16(y).bits != bits : !(graft::bfloat16(y) != graft::bfloat16(y))) ++wrong;
                           if (bits < 0x7bff) {  // finite, and so is the next one
                             graft::half next;
                             next.bits = static_cast<std::uint16_t>(bits + 1);
                             float middle = (x + float(next)) / 2;
                             unsigned even = bits & 1 ? bits + 1 : bits;
                             if (graft::half(middle).bits != even) ++wrong;
                             if (graft::half(std::nextafterf(middle, 1e9f)).bits != bits + 1) ++wrong;
                             if (graft::half(std::nextafterf(middle, -1e9f)).bits != bits) ++wrong;
                           }
                         }
                         if (graft::half(65519.0f).bits != 0x7bff || graft::half(65520.0f).bits != 0x7c00) ++wrong;
                         if (graft::bfloat16(1.00390625f).bits != 0x3f80 || graft::bfloat16(1.01171875f).bits != 0x3f82) ++wrong;
                         return wrong;
                       }
                     )text",
                     {});
  EXPECT_EQ(result.result.integer, 0);
}

TEST(Mismatch, SaysWhatWasExpected) {
  int64_t shape[2] = {2, 3}, row_major[2] = {3, 1}, transposed[2] = {1, 2};
  DlTensor tensor{nullptr, {kDlCpu, 0}, 2, {kDlFloat, 32, 1}, shape, row_major, 0};
  auto functions = callable_functions(
      "void f(float* a, uint16_t* b, uint8_t* c, void* d, graft::Tensor e, int16_t* g) {}", "");
  ASSERT_TRUE(functions.ok());
  const auto& p = (*functions)[0].parameters;
  EXPECT_EQ(mismatch(tensor, p[0]), "");
  EXPECT_EQ(mismatch(tensor, p[1]), "expected uint16, got float32");
  EXPECT_EQ(mismatch(tensor, p[3]), "");
  tensor.dtype = {kDlBfloat, 16, 1};
  EXPECT_EQ(mismatch(tensor, p[1]), "");
  EXPECT_EQ(mismatch(tensor, p[5]), "expected int16, got bfloat16");
  tensor.dtype = {kDlBool, 8, 1};
  EXPECT_EQ(mismatch(tensor, p[2]), "");
  tensor.dtype = {kDlInt, 8, 1};
  EXPECT_EQ(mismatch(tensor, p[2]), "expected uint8, got int8");
  tensor.dtype = {kDlFloat, 32, 1};
  tensor.strides = transposed;
  EXPECT_THAT(mismatch(tensor, p[0]), HasSubstr("sizes (2, 3) with strides (1, 2)"));
  EXPECT_EQ(mismatch(tensor, p[4]), "");
  tensor.device.type = kDlCuda;
  EXPECT_EQ(mismatch(tensor, p[4]), "expected a CPU tensor");
}

TEST(Contiguous, SizesOfOneAndEmptyTensorsHaveNoOrder) {
  int64_t shape[3] = {2, 1, 3}, strides[3] = {3, 77, 1};
  DlTensor tensor{nullptr, {kDlCpu, 0}, 3, {kDlFloat, 32, 1}, shape, strides, 0};
  EXPECT_TRUE(is_contiguous(tensor));
  strides[2] = 2;
  EXPECT_FALSE(is_contiguous(tensor));
  shape[0] = 0;
  EXPECT_TRUE(is_contiguous(tensor));
  tensor.strides = nullptr;
  EXPECT_TRUE(is_contiguous(tensor));
}

}  // namespace
}  // namespace graft::kernels
