"""The command line: parse, call one function of the pipeline, print."""
