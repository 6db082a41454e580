# syntax=docker/dockerfile:1
# The full stack: Ubuntu 24.04, ROS 2 Jazzy, Gazebo Harmonic, MoveIt 2, RViz 2. No GPU needed: Mesa draws on the CPU.
#
#   export COMPOSE_FILE=scripts/docker/compose.yaml
#   docker compose run --rm spca stack_01         run a level, headless
#   docker compose run --rm test                  the test suite, then the full stack's launch tests
#
# Stages: `dependencies` changes only with package.xml and scripts/requirements/, `build` with the sources; `runtime` is what runs, `test`
# the same with a project that may be written to.

# The tag's index of October 2026, for amd64 and arm64; `docker buildx imagetools inspect ros:jazzy-ros-base-noble` prints today's.
FROM ros:jazzy-ros-base-noble@sha256:066420e07f60aa18262f2479981def87ebcfcec42eefb0c0c57c4a46098348ca AS dependencies
ENV DEBIAN_FRONTEND=noninteractive
SHELL ["/bin/bash", "-eo", "pipefail", "-c"]

# Gazebo, MoveIt, RViz and controllers; Mesa's EGL and software rasteriser for cameras without a GPU. What the image has is
# brought up to date first: packages of two releases of ROS do not mix.
RUN apt-get update && apt-get upgrade -y && apt-get install -y --no-install-recommends \
      build-essential cmake git ninja-build python3-dev python3-pip python3-venv \
      libegl1 libgl1-mesa-dri libglx-mesa0 libosmesa6 \
      python3-colcon-common-extensions python3-rosdep \
      ros-jazzy-ament-flake8 ros-jazzy-ament-lint-cmake ros-jazzy-ament-pep257 ros-jazzy-ament-xmllint \
      ros-jazzy-gz-ros2-control \
      ros-jazzy-joint-state-broadcaster \
      ros-jazzy-joint-trajectory-controller \
      ros-jazzy-launch-testing-ros \
      ros-jazzy-moveit \
      ros-jazzy-moveit-py \
      ros-jazzy-robot-state-publisher \
      ros-jazzy-ros-gz \
      ros-jazzy-ros2controlcli \
      ros-jazzy-rosbag2-storage-mcap \
      ros-jazzy-rviz2 \
      ros-jazzy-ur-description \
      ros-jazzy-xacro \
    && rm -rf /var/lib/apt/lists/*

# robotiq_description is not released for Jazzy; the commit pins what was read and tried.
ARG ROBOTIQ_COMMIT=3b6cf8ff9106384e72c23de7d3ba989fb6b41141
RUN git init -q /opt/vendor/src/robotiq && cd /opt/vendor/src/robotiq \
    && git fetch -q --depth 1 https://github.com/PickNikRobotics/ros2_robotiq_gripper.git "$ROBOTIQ_COMMIT" \
    && git checkout -q FETCH_HEAD && cd /opt/vendor && source /opt/ros/jazzy/setup.bash \
    && colcon build --packages-select robotiq_description --merge-install \
    && rm -rf build log

# What pip brings goes into a virtual environment that sees the system's packages (PEP 668). Folders as set-up expects.
COPY scripts/requirements /spca/scripts/requirements
COPY scripts/set_up /spca/scripts/set_up
RUN python3 -m venv --system-site-packages /spca/.venv-jazzy \
    && awk '/^[^ #]/ {keep = !/^ros-/} keep' /spca/scripts/requirements/test-lock.txt > /tmp/lock.txt \
    && /spca/.venv-jazzy/bin/pip install --no-cache-dir --no-deps --require-hashes --prefer-binary -r /tmp/lock.txt

FROM dependencies AS build
COPY . /spca
WORKDIR /spca
# The interfaces by set-up (as `bin/spca` does it), then the whole workspace as a ROS user would.
RUN source /opt/ros/jazzy/setup.bash && source /opt/vendor/install/setup.bash \
    && python3 scripts/set_up --test \
    && cd ros2_ws && colcon build --merge-install --install-base /spca/install --build-base /spca/build

FROM dependencies AS runtime
RUN useradd --create-home --uid 1001 spca
COPY --from=build /spca /spca
COPY --chmod=755 scripts/docker/entrypoint.sh /entrypoint.sh
WORKDIR /spca
# Only what a run leaves may be written: code that got out of its sandbox cannot change the project.
RUN install -d -o spca -g spca runs library campaigns
USER spca
ENV SPCA_ROOT=/spca \
    LIBGL_ALWAYS_SOFTWARE=1 \
    PYTHONUNBUFFERED=1
ENTRYPOINT ["/entrypoint.sh"]
CMD ["stack_01"]

# The tests write beside what they test.
FROM runtime AS test
USER root
RUN chown -R spca:spca /spca
USER spca
CMD ["test"]
