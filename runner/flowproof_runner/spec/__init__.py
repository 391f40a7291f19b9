"""The grammar of `*.flow.yaml` and `suite.yaml`: text in, checked values out, or every error at once."""
