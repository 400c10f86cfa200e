// graft._core.Doorbell: a worker's side of the doorbell it shares with the host.
#include "base/doorbell.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "core.h"

namespace graft::bindings {
namespace {

namespace nb = nanobind;

class Doorbell {
 public:
  explicit Doorbell(int descriptor) {
    page_ = mmap(nullptr, kDoorbellBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (page_ == MAP_FAILED)
      raise(input_error(std::string("cannot map the doorbell: ") + std::strerror(errno)));
    bell_ = WorkerBell(std::launder(static_cast<DoorbellPage*>(page_)));
  }
  ~Doorbell() {
    if (page_ != MAP_FAILED) munmap(page_, kDoorbellBytes);
  }
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  // None when the time is over, which lets Python look at its signals.
  nb::object wait(int64_t spin_us, int64_t timeout_ms) {
    std::optional<WorkerBell::Request> request;
    {
      nb::gil_scoped_release unlocked;
      request = bell_.wait(spin_us * 1000, timeout_ms * 1'000'000);
    }
    if (!request) return nb::none();
    return nb::make_tuple(request->command, request->argument);
  }

  void answer(bool done) { bell_.answer(done ? BellOutcome::kDone : BellOutcome::kFailed); }

 private:
  void* page_ = MAP_FAILED;
  WorkerBell bell_;
};

}  // namespace

void bind_doorbell(nb::module_& module) {
  nb::enum_<BellCommand>(module, "BellCommand", "What the host asks for when it rings.")
      .value("PREPARE", BellCommand::kPrepare)
      .value("RUN", BellCommand::kRun)
      .value("CALIBRATE", BellCommand::kCalibrate)
      .value("EXPORT", BellCommand::kExport)
      .value("QUIT", BellCommand::kQuit);
  nb::class_<Doorbell>(module, "Doorbell", "The worker's side of the doorbell it shares with the host.")
      .def(nb::init<int>(), nb::arg("descriptor"), "Maps the page; the descriptor may be closed afterwards.")
      .def("wait", &Doorbell::wait, nb::arg("spin_us"), nb::arg("timeout_ms"),
           "Waits for the next ring: (command, argument), or None when the time is over.")
      .def("answer", &Doorbell::answer, nb::arg("done"),
           "Answers the ring returned last: done, or failed with the reason on the channel.");
}

}  // namespace graft::bindings
