"""ringside for Python: `ringside.torch` is a backend for torch.distributed."""
