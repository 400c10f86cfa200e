#include "kernels/signature.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace graft::kernels {
namespace {

// The declarations of what can be called, or the error's text.
std::vector<std::string> offered(std::string_view source, std::string_view wanted = {}) {
  auto functions = callable_functions(source, wanted);
  if (!functions.ok()) return {functions.error().to_string()};
  std::vector<std::string> result;
  for (const Function& function : *functions) result.push_back(function.declaration());
  return result;
}

using Texts = std::vector<std::string>;

TEST(Signature, PointersAndNumbersInTheirSpellings) {
  EXPECT_EQ(offered("void f(const float* x, float *__restrict__ out, int64_t n, double eps, bool flag) {}"),
            Texts{"void f(const float* x, float* out, int64_t n, double eps, bool flag)"});
  EXPECT_EQ(offered("void f(float const * const x, std::int64_t const n, const float& s, unsigned k, "
                    "std::size_t m) {}"),
            Texts{"void f(const float* x, int64_t n, float s, uint32_t k, uint64_t m)"});
  EXPECT_EQ(
      offered(
          "float f(const uint16_t x[], const unsigned char y[16], long long n, unsigned long long m) { }"),
      Texts{"float f(const uint16_t* x, const uint8_t* y, long long n, unsigned long long m)"});
  EXPECT_EQ(
      offered(
          "auto f(graft::bfloat16* x, const graft::half*, std::complex<float>* z) -> int64_t { return 0; }"),
      Texts{"int64_t f(graft::bfloat16* x, const graft::half*, std::complex<float>* z)"});
  EXPECT_EQ(offered("int f(void) { return 1; } bool g() { return true; }"), (Texts{"int f()", "bool g()"}));
  EXPECT_EQ(offered("void f(const graft::Tensor& x, graft::Tensor out, void* any) {}"),
            Texts{"void f(graft::Tensor x, graft::Tensor out, void* any)"});
}

TEST(Signature, OnlyDefinitionsAtNamespaceScopeCount) {
  EXPECT_EQ(offered(R"text(
#include <algorithm>
#define BODY void macro(int) { \
  }
extern "C" void f(float* x);           // a declaration only
extern "C" { void g(float* x) { if (x) { x[0] = 1; } } }
extern "C" [[gnu::flatten]] __attribute__((noinline)) void h(int n) noexcept { (void)n; }
struct S { void method(float* x) { x[0] = 1; } S() {} int a = 0; } instance;
void S_other(S s);
enum class Color : int { red, green };
static float helper(float x) { return x; }
inline float inlined(float x) { return x; }
constexpr int kTable[] = {1, 2, 3};
const float kOther{2};
auto lambda = [](float x) { return x * 2; };
template <class T, int N = (3 > 2)> void generic(T* x, int n) {}
template <class T> struct Holder { T value; void set(T v) { value = v; } };
namespace { void hidden(float* x) {} }
namespace a::b { void inside(float* x) {} namespace c = std; }
/* void commented(int) {} */ // void also(int) {}
const char* text = "void quoted(int) {}"; const char* raw = R"x(void raw(int) { ")x";
int digits = 1'000'000; char brace = '{';
using Real = float; typedef const double Wide;
void aliased(const Real* x, Wide* y) {}
)text"),
            (Texts{"void g(float* x)", "void h(int n)", "void a::b::inside(float* x)",
                   "void aliased(const float* x, double* y)"}));
}

TEST(Signature, AHelperCanBeAskedForByName) {
  const char* source = "static float sq(float x) { return x * x; }\nvoid f(float* x) {}";
  EXPECT_EQ(offered(source), Texts{"void f(float* x)"});
  EXPECT_EQ(offered(source, "sq"), Texts{"float sq(float x)"});
}

TEST(Signature, DefaultsMakeArgumentsOptional) {
  auto functions = callable_functions("void f(float* x, int n = g(1, 2), double s = 1.0f) {}", "");
  ASSERT_TRUE(functions.ok());
  EXPECT_EQ((*functions)[0].parameters.size(), 3U);
  EXPECT_EQ((*functions)[0].required(), 1U);
}

TEST(Signature, TheSameFunctionInTwoBranchesIsOne) {
  EXPECT_EQ(offered("#ifdef __AVX512F__\nvoid f(float* x) { }\n#else\nvoid f(float* y) { }\n#endif\n").size(),
            1U);
  EXPECT_EQ(offered("void f(float* x) {}\nvoid f(double* x) {}")[0].substr(0, 35),
            "line 2: two functions are called 'f");
}

TEST(Signature, SaysWhyNothingCanBeCalled) {
  EXPECT_EQ(offered("#include <vector>\nvoid f(std::vector<float> x) {}")[0].substr(0, 90),
            "line 2: 'f' cannot be called from Python because its parameter 1 is 'std::vector<float> x'");
  EXPECT_NE(offered("void f(float** x) {}")[0].find("its parameter 1 is 'float** x'"), std::string::npos);
  EXPECT_NE(offered("void f(float& x) {}")[0].find("its parameter 1 is"), std::string::npos);
  EXPECT_NE(offered("void f(void (*callback)(int)) {}")[0].find("its parameter 1 is"), std::string::npos);
  EXPECT_NE(offered("void f(const char* name, ...) {}")[0].find("its parameter 2 is"), std::string::npos);
  EXPECT_NE(offered("float* f(float* x) { return x; }")[0].find("it returns 'float*'"), std::string::npos);
  EXPECT_NE(offered("void f(int) {}", "g")[0].find("one of: f"), std::string::npos);
  EXPECT_NE(offered("")[0].find("defines no function"), std::string::npos);
}

TEST(Signature, BrokenTextIsAnErrorWithItsPlace) {
  auto place = [](std::string_view source) {
    auto functions = callable_functions(source, "");
    EXPECT_FALSE(functions.ok());
    return std::pair(functions.error().place.line, functions.error().place.column);
  };
  EXPECT_EQ(place("void f(int) {\n  (1 + 2\n}"), std::pair(3, 1));
  EXPECT_EQ(place("void f() {\n"), std::pair(1, 10));
  EXPECT_EQ(place("  /* never closed"), std::pair(1, 3));
  EXPECT_EQ(place("const char* s = \"open;\n"), std::pair(1, 17));
  EXPECT_EQ(place("auto s = R\"x(open)y\";"), std::pair(1, 10));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "namespace a {";
  EXPECT_FALSE(callable_functions(deep + std::string(100000, '}'), "").ok()) << "and no stack overflow";
}

TEST(Signature, EveryPrefixOfATextIsReadOrRefused) {
  const std::string source =
      "#define A(x) \\\n x\nnamespace n { template <class T> void g(T<int, (1>2)> a) {} }\n"
      "extern \"C\" [[x]] void f(const float* a[3], int b = (1, 2), graft::Tensor t) { R\"(})\"; 'a'; 1'0; "
      "/**/ }\n"
      "using T = unsigned long; typedef float F; auto h(T* x) -> F { return 1e-3f; } struct S { int "
      "operator()(); } s{};";
  ASSERT_TRUE(read_functions(source).ok());
  for (size_t size = 0; size < source.size(); ++size) (void)read_functions(source.substr(0, size)).ok();
  for (size_t start = 0; start < source.size(); ++start) (void)read_functions(source.substr(start)).ok();
}

}  // namespace
}  // namespace graft::kernels
