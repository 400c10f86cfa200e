import torch


class GraphModule(torch.nn.Module):
    def forward(self, in_0, in_1):
        tmp_0 = in_0 * 0.125;  in_0 = None
        tmp_1 = tmp_0 + in_1;  tmp_0 = in_1 = None
        tmp_2 = torch.nn.functional.softmax(tmp_1, dim=-1);  tmp_1 = None
        return (tmp_2,)
