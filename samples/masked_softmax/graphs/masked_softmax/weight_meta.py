class Program_weight_tensor_meta_in_0:
    name = "in_0"
    shape = [4, 12, 256, 256]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.0
    std = 8.0
    data = None


class Program_weight_tensor_meta_in_1:
    name = "in_1"
    shape = [4, 1, 256, 256]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = -1.0
    std = 2.0
    data = None
