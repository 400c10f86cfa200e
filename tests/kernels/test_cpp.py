"""graft.kernels.cpp from Python: arguments, results, threads, messages, the cost of a call."""

import os
import subprocess
import sys
import threading
import time

import pytest

import graft
from graft.kernels import CompileError, cpp

torch = pytest.importorskip("torch")

ADD = r"""
void add(const float* a, const float* b, float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
"""


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    old = os.environ.get("GRAFT_CACHE")
    os.environ["GRAFT_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield os.environ["GRAFT_CACHE"]
    if old is None:
        del os.environ["GRAFT_CACHE"]
    else:
        os.environ["GRAFT_CACHE"] = old


def test_a_kernel_works_on_the_tensors_memory():
    add = cpp(ADD)
    a, b = torch.randn(1000), torch.randn(1000)
    out = torch.empty(1000)
    assert add(a, b, out, 1000) is None
    assert torch.equal(out, a + b)
    add(a, b, a, 500)
    assert torch.equal(a[:500], out[:500])
    # A view starts where it starts.
    add(out[10:20], b[20:30], a[30:40], 10)
    assert torch.equal(a[30:40], out[10:20] + b[20:30])


def test_parameters_that_want_gradients_and_tensors_of_numpy():
    numpy = pytest.importorskip("numpy")
    add = cpp(ADD)
    weight = torch.nn.Parameter(torch.randn(8))
    out = numpy.zeros(8, dtype=numpy.float32)
    add(weight, torch.ones(8), out, 8)
    assert (out == weight.detach().numpy() + 1).all()


def test_every_dtype_reaches_its_pointer():
    kernel = cpp(
        r"""
        #include <complex>
        float f16(const graft::half* x) { return x[1]; }
        float bf16(const graft::bfloat16* x) { return x[1]; }
        int bits(const uint16_t* x) { return x[1]; }
        double f64(const double* x) { return x[1]; }
        int i8(const int8_t* x) { return x[1]; }
        int u8(const uint8_t* x) { return x[1]; }
        int i16(const short* x) { return x[1]; }
        int i32(const int* x) { return x[1]; }
        int64_t i64(const int64_t* x) { return x[1]; }
        int64_t ll(const long long* x) { return x[1]; }
        bool b(const bool* x) { return x[1]; }
        float c64(const std::complex<float>* x) { return x[1].imag(); }
        int any(const void* x) { return static_cast<const unsigned char*>(x)[8]; }
        uint64_t top() { return ~0ull; }
        """
    )
    assert kernel.f16(torch.tensor([0.0, 0.5], dtype=torch.float16)) == 0.5
    assert kernel.bf16(torch.tensor([0.0, -3.0], dtype=torch.bfloat16)) == -3.0
    assert kernel.bits(torch.tensor([0.0, 1.0], dtype=torch.float16)) == 0x3C00
    assert kernel.bits(torch.tensor([0.0, 1.0], dtype=torch.bfloat16)) == 0x3F80
    assert kernel.f64(torch.tensor([0.0, 0.1], dtype=torch.float64)) == 0.1
    assert kernel.i8(torch.tensor([0, -7], dtype=torch.int8)) == -7
    assert kernel.u8(torch.tensor([0, 200], dtype=torch.uint8)) == 200
    assert kernel.u8(torch.tensor([False, True])) == 1
    assert kernel.i16(torch.tensor([0, -300], dtype=torch.int16)) == -300
    assert kernel.i32(torch.tensor([0, -70000], dtype=torch.int32)) == -70000
    assert kernel.i64(torch.tensor([0, 2**40])) == 2**40
    assert kernel.ll(torch.tensor([0, 2**40])) == 2**40
    assert kernel.b(torch.tensor([False, True])) is True
    assert kernel.c64(torch.tensor([0j, 2 + 3j])) == 3.0
    assert kernel.any(torch.tensor([0, 9])) == 9
    assert kernel.top() == 2**64 - 1


def test_strided_tensors_through_the_view():
    kernel = cpp(
        r"""
        double total(const graft::Tensor& x) {
          double sum = 0;
          for (int64_t i = 0; i < x.size(0); ++i)
            for (int64_t j = 0; j < x.size(1); ++j) sum += x.data<float>()[i * x.stride(0) + j * x.stride(1)] * (1 + i);
          return sum;
        }
        """
    )
    x = torch.arange(12.0).reshape(3, 4)
    for view in (x, x.t(), x[:, ::2], x[1:, 1:3], x.expand(3, 4)):
        expected = sum((1 + i) * float(value) for i, row in enumerate(view) for value in row)
        assert kernel(view) == expected


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (lambda x: (x, x, x), TypeError, "takes 4 arguments, got 3"),
        (lambda x: (x, x, x, 4, 4), TypeError, "takes 4 arguments, got 5"),
        (lambda x: (x, x.double(), x, 4), ValueError, r"argument 2 \(b\): expected float32, got float64"),
        (lambda x: (x, x, x.reshape(2, 2).t(), 4), ValueError, r"argument 3 \(out\): expected a contiguous tensor"),
        (lambda x: (x, None, x, 4), TypeError, r"argument 2 \(b\): expected a tensor, got NoneType"),
        (lambda x: (x, x.to("meta"), x, 4), ValueError, r"argument 2 \(b\)"),
        (lambda x: (x, x, x, 4.0), TypeError, r"argument 4 \(n\): expected an integer, got 4.0"),
        (lambda x: (x, x, x, 2**63), TypeError, "expected an integer from -9223372036854775808 to 9223372036854775807"),
        (lambda x: (x.to_sparse(), x, x, 4), ValueError, r"argument 1 \(a\)"),
    ],
)
def test_wrong_arguments_are_refused_before_the_call(arguments, error, text):
    x = torch.zeros(4)
    with pytest.raises(error, match=text):
        cpp(ADD)(*arguments(x))


def test_numbers_are_checked_against_their_width():
    kernel = cpp("int64_t f(int a, unsigned char b, bool c, float d) { return a + b + c + (int)d; }")
    assert kernel(-(2**31), 255, True, 0.0) == -(2**31) + 256
    assert kernel(1, 2, False, 3) == 6
    for wrong in [(2**31, 0, True, 0), (0, 256, True, 0), (0, -1, True, 0), (0, 0, 2, 0), (0, 0, True, "x")]:
        with pytest.raises(TypeError, match="expected"):
            kernel(*wrong)


def test_functions_of_one_text():
    kernel = cpp("int one() { return 1; }\nint two() { return 2; }\nnamespace n { int three() { return 3; } }")
    assert (kernel.one(), kernel.two(), kernel["n::three"]()) == (1, 2, 3)
    assert kernel.functions == ["int one()", "int two()", "int n::three()"]
    with pytest.raises(TypeError, match="several functions"):
        kernel()
    with pytest.raises(AttributeError, match="it has: one, two"):
        kernel["four"]
    chosen = cpp("int one() { return 1; }\nint two() { return 2; }", "two")
    assert chosen() == 2 and chosen.__name__ == "two"


def test_a_text_without_a_function_is_refused_at_once():
    with pytest.raises(ValueError, match="defines no function"):
        cpp("int x = 3;")
    with pytest.raises(ValueError, match="std::string"):
        cpp("#include <string>\nvoid f(std::string s) {}")
    with pytest.raises(TypeError, match="flags"):
        cpp("void f() {}", flags="-O1")


def test_the_compilers_messages_name_this_file():
    kernel = cpp(
        r"""
        void f(float* x) {
          x[0] = not_there;  // LINE OF THE MISTAKE
        }
        """
    )
    with open(__file__, encoding="utf-8") as file:
        line = next(i for i, text in enumerate(file, 1) if "// LINE OF THE MISTAKE" in text)
    with pytest.raises(CompileError) as caught:
        kernel.compile()
    assert f"{__file__}:{line}:" in str(caught.value) and "not_there" in str(caught.value)
    with pytest.raises(CompileError):
        kernel(torch.zeros(1))


def test_a_cpp_exception_is_a_python_exception():
    kernel = cpp('#include <stdexcept>\nvoid f(int n) { if (n > 1) throw std::out_of_range("too big"); }')
    kernel(1)
    with pytest.raises(RuntimeError, match="kernel f: too big"):
        kernel(2)


def test_a_second_process_finds_the_compiled_kernel(cache):
    program = f"import graft; k = graft.kernels.cpp({ADD!r} + '// only here'); k.compile(); print(k.cached)"
    answers = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=dict(os.environ)).stdout
        for _ in range(2)
    ]
    assert answers == ["False\n", "True\n"]


def test_compile_all_compiles_what_was_not_called():
    kernels = [cpp(f"int f() {{ return {i} * 1000 + 7; }}") for i in range(3)]
    assert not any(kernel.compiled for kernel in kernels)
    graft.kernels.compile_all(kernels)
    assert all(kernel.compiled for kernel in kernels)
    assert [kernel() for kernel in kernels] == [7, 1007, 2007]
    with pytest.raises(CompileError, match="not_there"):
        graft.kernels.compile_all([*kernels, cpp("int f() { return not_there; }"), cpp("int f() { return 5; }")])


def test_compile_all_knows_every_kernel_of_the_process():
    program = "import graft\nks = [graft.kernels.cpp(f'int f() {{ return {i} + 77; }}') for i in range(2)]\n"
    program += "graft.kernels.compile_all(); print([k.compiled for k in ks])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout == "[True, True]\n"


THREADS = r"""
#include <omp.h>
int team() {
  int size = 0;
  #pragma omp parallel
  {
    #pragma omp single
    size = omp_get_num_threads();
  }
  return size;
}
"""


def test_openmp_uses_torchs_threads():
    kernel = cpp(THREADS)
    old = torch.get_num_threads()
    try:
        for count in (1, 2, 3, 5):
            torch.set_num_threads(count)
            assert kernel() == torch.get_num_threads() == count
    finally:
        torch.set_num_threads(old)
    with open("/proc/self/maps") as maps:
        runtimes = {line.split()[-1] for line in maps if "libgomp" in line or "libomp" in line or "libiomp" in line}
    assert len(runtimes) == 1, "one OpenMP runtime in the process"


def test_a_call_lets_other_threads_run():
    kernel = cpp("#include <unistd.h>\nvoid nap(int ms) { usleep(ms * 1000); }")
    kernel.compile()
    kernel(1)
    started = time.perf_counter()
    threads = [threading.Thread(target=kernel, args=(300,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.perf_counter() - started < 0.9


def test_a_call_with_five_tensors_costs_little():
    kernel = cpp("void f(const float* a, const float* b, const float* c, float* d, float* e, int64_t n) { d[0] = a[0]; }")
    tensors = [torch.zeros(4) for _ in range(5)]
    kernel(*tensors, 4)
    best = 1e9
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(2000):
            kernel(*tensors, 4)
        best = min(best, (time.perf_counter() - started) / 2000)
    print(f"\n{best * 1e6:.2f} microseconds a call with five tensors")
    assert best < 4e-6  # 1.1 where this was written


def test_importing_graft_is_cheap_and_leaves_torch_out():
    program = (
        "import sys, time; start = time.perf_counter(); import graft; took = time.perf_counter() - start;"
        "print(took, 'torch' in sys.modules, 'numpy' in sys.modules)"
    )
    answers = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(5)
    ]
    assert all(answer[1:] == ["False", "False"] for answer in answers)
    assert min(float(answer[0]) for answer in answers) < 0.05
