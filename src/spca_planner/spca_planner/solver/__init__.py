"""Deterministic judges of a draft: Unified Planning's reader, Fast Downward, and two plan validators.

They live in a process of their own (`process.SolverProcess`): it is kept warm, so that a judgement takes some
tens of milliseconds; it can be killed with all its children, so that no parser, search or validator that
hangs can outlive its deadline; and its imports cost the rest of the system nothing.
"""
