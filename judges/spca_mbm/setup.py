import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from spca_package import package

package("spca_mbm", {"spca.benches": ["mbm = spca_mbm.commands:MBM"]})
