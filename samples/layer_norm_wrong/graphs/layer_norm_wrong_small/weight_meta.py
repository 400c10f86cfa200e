class Program_weight_tensor_meta_in_0:
    name = "in_0"
    shape = [2, 7, 64]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_in_1:
    name = "in_1"
    shape = [2, 7, 64]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.1
    std = 0.7
    data = None


class Program_weight_tensor_meta_w_0:
    name = "w_0"
    shape = [64]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 1.0
    std = 0.2
    data = None


class Program_weight_tensor_meta_w_1:
    name = "w_1"
    shape = [64]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.0
    std = 0.2
    data = None
