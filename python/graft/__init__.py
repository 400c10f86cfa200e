"""Graft finds, proves and delivers faster code for PyTorch models.

Importing the package costs milliseconds and never imports torch.
"""

from graft import kernels, pattern
from graft._core import __version__

__all__ = ["__version__", "kernels", "pattern"]
