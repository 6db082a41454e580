from pathlib import Path
from runpy import run_path

package = run_path(str(Path(__file__).resolve().parents[2] / "scripts/package.py"))["package"]
package("spca_sim", {"console_scripts": ["sim = spca_sim:start_sim", "gazebo = spca_sim:start_gazebo"]})
