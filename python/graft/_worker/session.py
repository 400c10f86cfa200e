"""What a worker does when it is asked: load a graph, run it at each ring, hand its outputs over."""

from __future__ import annotations

import gc
import os
import platform
import time

import torch

from graft._core import BellCommand, Doorbell
from graft._worker import compiled, graphs, profile, tensors
from graft._worker.channel import Channel, describe_exception


def _nothing() -> tuple:
    return ()


def _stay_busy(microseconds: int) -> None:
    end = time.perf_counter_ns() + 1000 * microseconds
    while time.perf_counter_ns() < end:
        pass


class Session:
    def __init__(self, channel: Channel, device: str, spin_us: int, doorbell: Doorbell):
        self._channel = channel
        self._device = device
        self._spin_us = spin_us
        self._bell = doorbell
        self._model = None
        self._source: list = []  # inputs in shared memory, in the host's order
        self._inputs: list = []  # this process's own copies
        self._names: list[str] = []
        self._positional: list[str] = []
        self._keywords: list[str] = []
        self._arguments: list = []
        self._keyword_arguments: dict = {}
        self._outputs = None
        self._output_tensors: list = []  # outputs in shared memory
        self._final_inputs: list = []  # room for the inputs as they are after a call
        self._synchronize = _nothing
        self._call_seed = _nothing

    # --- requests ----------------------------------------------------------------------------------------------------

    def load(self, parameters: dict, descriptors: list[int]) -> dict:
        """Maps the inputs, executes the text of the graph, and looks forward()'s parameters up."""
        self.unload({}, [])
        layout = parameters["inputs"]
        buffer = tensors.Buffer(descriptors.pop(), parameters["bytes"], writable=False)
        self._source = [buffer.tensor(entry) for entry in layout]
        self._names = [entry["name"] for entry in layout]
        graphs.seed_everything(graphs.LOAD_SEED)
        names = graphs.load_passes(parameters.get("passes", []), parameters.get("folders", []))
        through = parameters.get("through") or {}
        if "passes" in through:
            rewritten = graphs.build_model(through["passes"], f"rewritten {parameters['file']}", self._device, names)
        self._model = graphs.build_model(parameters["source"], parameters["file"], self._device, names)
        self._positional, self._keywords = graphs.call_plan(self._model, self._names)
        if "passes" in through:
            self._model = compiled.through_passes(self._model, rewritten, self._named_inputs, through["outputs"])
        elif "inductor" in through:
            self._model = compiled.through_inductor(self._model, through["inductor"])
        # Seeding inside the call is the reference evaluator's way of timing.
        self._call_seed = graphs.seed_call if parameters.get("seed_each_call") else _nothing
        if self._device == "cuda":
            self._synchronize = torch.cuda.synchronize
        gc.collect()
        gc.freeze()
        return {}

    def describe(self, parameters: dict, descriptors: list[int]) -> dict:
        """The outputs of the last call, whether it changed its inputs, and which outputs are memory of an input."""
        leaves = tensors.flatten(self._outputs)
        outputs = []
        for leaf in leaves:
            description = tensors.describe(leaf)
            if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
                description["aliases"] = [
                    name for name, value in zip(self._names, self._inputs) if tensors.same_storage(leaf, value)
                ]
            outputs.append(description)
        changed = [
            name for name, value, source in zip(self._names, self._inputs, self._source) if not _same_bytes(value.cpu(), source)
        ]
        return {"outputs": outputs, "inputs_changed": changed}

    def outputs(self, parameters: dict, descriptors: list[int]) -> dict:
        """Maps the buffer that EXPORT fills: {"bytes", "outputs": layout (null for an output that is no tensor), "inputs": layout}."""
        buffer = tensors.Buffer(descriptors.pop(), parameters["bytes"], writable=True)
        self._output_tensors = [entry and buffer.tensor(entry) for entry in parameters["outputs"]]
        self._final_inputs = [buffer.tensor(entry) for entry in parameters["inputs"]]
        return {}

    def serve(self, parameters: dict, descriptors: list[int]) -> dict:
        """Answers the doorbell until QUIT. An exception ends the loop and becomes the reply."""
        bell, spin_us, seed = self._bell, self._spin_us, self._call_seed
        run, prepare = BellCommand.RUN, BellCommand.PREPARE
        try:
            while True:
                request = bell.wait(spin_us, 1000)
                if request is None:
                    continue
                command, argument = request
                if command == run:
                    seed()
                    self._outputs = self._model(*self._arguments, **self._keyword_arguments)
                    self._synchronize()
                elif command == prepare:
                    self._prepare()
                elif command == BellCommand.CALIBRATE:
                    _stay_busy(argument)
                elif command == BellCommand.EXPORT:
                    self._export()
                elif command == BellCommand.QUIT:
                    bell.answer(True)
                    return {}
                bell.answer(True)
        except BaseException:
            bell.answer(False)
            raise

    def gpu_times(self, parameters: dict, descriptors: list[int]) -> dict:
        """Milliseconds of `repeats` calls between two CUDA events each. A diagnostic: the host scores by its own clock."""
        times = []
        for _ in range(parameters["repeats"]):
            if parameters["refresh"]:
                self._prepare()
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            self._outputs = self._model(*self._arguments, **self._keyword_arguments)
            stop.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(stop))
        return {"ms": times}

    def profile(self, parameters: dict, descriptors: list[int]) -> dict:
        """What one call costs the device beside time, see graft._worker.profile. A diagnostic."""
        self._prepare()
        return profile.one_call(lambda: self._model(*self._arguments, **self._keyword_arguments), self._device)

    def bandwidth(self, parameters: dict, descriptors: list[int]) -> dict:
        """Bytes a second that a copy of a large tensor moves on this device: {"bytes_per_second"}."""
        return {"bytes_per_second": profile.copy_bandwidth(self._device)}

    def nonfinite(self, parameters: dict, descriptors: list[int]) -> dict:
        """Draws for elements that came out infinite or not a number: torch.randn_like(tensor) * 0.01, one draw a tensor.

        In shared memory, for each tensor of the request: `count` int64 indices, then room for as many float64 values.
        """
        buffer = tensors.Buffer(descriptors.pop(), parameters["bytes"], writable=True)
        torch.manual_seed(graphs.LOAD_SEED)
        for entry in parameters["tensors"]:
            shape, count, offset = entry["shape"], entry["count"], entry["offset"]
            indices = buffer.tensor({"dtype": "int64", "shape": [count], "offset": offset})
            values = buffer.tensor({"dtype": "float64", "shape": [count], "offset": offset + 8 * count})
            like = torch.empty(shape, dtype=getattr(torch, entry["dtype"]), device=self._device)
            draw = (torch.randn_like(like) * 0.01).cpu().reshape(-1)
            values.copy_(draw[indices].to(torch.float64))
        return {}

    def capture(self, parameters: dict, descriptors: list[int]) -> dict:
        """What Dynamo makes of a graph, see captures.capture_graph(). A loaded graph stays loaded."""
        from graft._worker import captures  # the import of Dynamo is dear, and few workers need it

        return captures.capture_graph(parameters, descriptors, self._device)

    def unload(self, parameters: dict, descriptors: list[int]) -> dict:
        """Forgets the graph and gives its memory back."""
        self._model = self._outputs = None
        self._source, self._inputs, self._names = [], [], []
        self._arguments, self._keyword_arguments = [], {}
        self._output_tensors, self._final_inputs = [], []
        gc.unfreeze()
        gc.collect()
        if self._device == "cuda":
            torch.cuda.empty_cache()
        return {}

    # --- rings -------------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Fresh inputs and seeds. The outputs of the call before live on until the next one, as in a loop of `out = model(x)`."""
        if not all(_same_layout(value, source) for value, source in zip(self._inputs, self._source)):
            self._inputs = []
        if len(self._inputs) != len(self._source):
            # Private copies: a graph that writes its inputs never touches what the host and the other worker see.
            self._inputs = [torch.empty_like(source, device=self._device) for source in self._source]
            by_name = dict(zip(self._names, self._inputs))
            self._arguments = [by_name[name] for name in self._positional]
            self._keyword_arguments = {name: by_name[name] for name in self._keywords}
        for value, source in zip(self._inputs, self._source):
            value.copy_(source)
        graphs.seed_call()
        self._synchronize()

    def _named_inputs(self) -> dict:
        return dict(zip(self._names, self._inputs or self._source))

    def _export(self) -> None:
        leaves = tensors.flatten(self._outputs)
        if len(leaves) != len(self._output_tensors):
            raise RuntimeError("the number of outputs has changed")
        for leaf, room in zip(leaves, self._output_tensors):
            if room is None:
                continue
            if leaf.dtype != room.dtype or leaf.shape != room.shape:
                raise RuntimeError("an output has changed its dtype or shape")
            room.copy_(leaf.detach().resolve_conj().resolve_neg())
        for value, room in zip(self._inputs, self._final_inputs):
            room.copy_(value)

    # --- the loop ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        methods = {
            name: getattr(self, name)
            for name in (
                "load",
                "describe",
                "outputs",
                "serve",
                "gpu_times",
                "profile",
                "bandwidth",
                "nonfinite",
                "capture",
                "unload",
            )  # fmt: skip
        }
        while True:
            received = self._channel.receive()
            if received is None:
                return
            request, descriptors = received
            try:
                reply = {"id": request["id"], "result": methods[request["method"]](request["params"], descriptors)}
            except BaseException as error:  # also SystemExit and KeyboardInterrupt of a pass
                reply = {"id": request["id"], "error": describe_exception(error, _stage(request["method"], error))}
                del error
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            self._channel.send(reply)


def _same_layout(value, source) -> bool:
    return value.dtype == source.dtype and value.shape == source.shape and value.stride() == source.stride()


def _same_bytes(a, b) -> bool:
    if a.numel() == 0:
        return True
    return torch.equal(a.contiguous().view(-1).view(torch.uint8), b.contiguous().view(-1).view(torch.uint8))


def _stage(method: str, error: BaseException) -> str:
    """Where a failure belongs: "load", "compile" or "run"."""
    if method == "load":
        return "load"
    for kind in type(error).__mro__:
        if kind.__name__ in ("CompilationError", "CompileTimeAssertionFailure", "CompileError", "KernelCompileError"):
            return "compile"
    return "run"


def hello(device: str, threads: int) -> dict:
    """Readies torch for the device and says what this process is."""
    if threads > 0:
        torch.set_num_threads(threads)
    hardware = platform.processor() or platform.machine()
    if device == "cuda":
        if not torch.cuda.is_available():
            raise RuntimeError("torch sees no CUDA device")
        torch.cuda.init()
        hardware = torch.cuda.get_device_name()
    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "cpus": sorted(os.sched_getaffinity(0)),
        "device": device,
        "hardware": hardware,
        "pid": os.getpid(),
    }
