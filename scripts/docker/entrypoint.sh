#!/usr/bin/env bash
# Inside the image: a level's name (and launch arguments) runs that level on the full stack; `test` runs the tests; `check`
# runs scripts/full_stack_check; a command of spca's runs that; anything else is a program, run with everything sourced.
# `-P`: no module of the working folder is imported.
set -eo pipefail
source /opt/ros/jazzy/setup.bash
source /opt/vendor/install/setup.bash
source /spca/install/setup.bash
export PATH=/spca/.venv-jazzy/bin:$PATH
cd /spca

case "${1:-}" in
  test)
    shift
    status=0
    (cd ros2_ws && colcon test --merge-install --install-base /spca/install --build-base /spca/build \
      --event-handlers console_direct+ --pytest-args -m "not gazebo" "$@") || status=$?
    colcon test-result --test-result-base /spca/build --verbose || status=$?
    ament_flake8 --config scripts/docker/ament_flake8.ini src plugins research judges launch || status=$?
    ament_pep257 --add-ignore D213 D401 D402 D403 -- src plugins research judges launch || status=$?
    ament_xmllint src plugins research judges || status=$?
    ament_lint_cmake src || status=$?
    python -m pytest -q tests -m "not gazebo" "$@" || status=$?
    python -m pytest -q -m gazebo "$@" || status=$?
    exit "$status"
    ;;
  check)
    shift
    exec scripts/full_stack_check --table runs/full-stack.md "$@"
    ;;
  "" | -*)
    exec python -P -m spca --help
    ;;
esac
if command -v -- "$1" > /dev/null; then
  exec "$@"
fi
if python -P -m spca "$1" --help > /dev/null 2>&1; then
  exec python -P -m spca "$@"
fi
level=$1
shift
exec ros2 launch spca bringup.launch.py "level:=$level" headless:=true rviz:=false "$@"
