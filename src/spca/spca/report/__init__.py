"""A run's report: one self-contained HTML page made from the files of its folder."""

from spca.report.page import write_report

__all__ = ["write_report"]
