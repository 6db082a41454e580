from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "spca_package.py"))["package"]
package("spca_sim", {"console_scripts": ["sim = spca_sim.node:main", "gazebo = spca_sim.gazebo.node:main"]})
