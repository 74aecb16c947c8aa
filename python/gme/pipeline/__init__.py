"""What the commands do on a workspace, one module a step: files in, files out, everything between in the packages below."""
