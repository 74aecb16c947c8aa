"""What the commands do on a workspace, one module a step: files in, files out, the packages below in between."""
