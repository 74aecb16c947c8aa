"""The steps of the commands on a workspace, one module each. They read files, call the packages below, write files."""
