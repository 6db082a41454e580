"""ACPBench-Hard (IBM, CDLA-Permissive): do the reader, the engine and the semantics answer as they should?"""
