"""Do the reader, the engine and the semantics answer as they should? ACPBench-Hard and the IPC's files."""
