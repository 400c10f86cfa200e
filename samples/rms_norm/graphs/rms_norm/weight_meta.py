class Program_weight_tensor_meta_in_0:
    name = "in_0"
    shape = [4, 512, 1024]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.0
    std = 1.0
    data = None


class Program_weight_tensor_meta_in_1:
    name = "in_1"
    shape = [4, 512, 1024]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.02
    std = 0.8
    data = None


class Program_weight_tensor_meta_w_0:
    name = "w_0"
    shape = [1024]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 1.0
    std = 0.1
    data = None
