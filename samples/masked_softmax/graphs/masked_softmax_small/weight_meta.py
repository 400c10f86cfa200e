class Program_weight_tensor_meta_in_0:
    name = "in_0"
    shape = [2, 3, 8, 40]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.0
    std = 8.0
    data = None


class Program_weight_tensor_meta_in_1:
    name = "in_1"
    shape = [2, 1, 8, 40]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = -1.0
    std = 2.0
    data = None
