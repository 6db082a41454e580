// Robot and things of a run in 3D, drawn with WebGL from recorded shapes and poses.
"use strict";

function solid(kind) {  // triangles of half size 1: x y z and the normal, corner by corner
  const corners = [], face = (...points) => { for (const i of [0, 1, 2, 0, 2, 3]) corners.push(...points[i]); };
  if (kind === "box") {
    for (const axis of [0, 1, 2]) for (const side of [1, -1]) {
      const normal = [0, 0, 0], at = (u, v) => {
        const point = [0, 0, 0];
        point[axis] = normal[axis] = side; point[(axis + 1) % 3] = u; point[(axis + 2) % 3] = v;
        return [...point, ...normal];
      };
      face(at(-1, -1), at(1, -1), at(1, 1), at(-1, 1));
    }
    return corners;
  }
  const N = 32, rows = kind === "sphere" ? 16 : 1, ring = i => [Math.cos(2 * Math.PI * i / N), Math.sin(2 * Math.PI * i / N)];
  const at = (i, row) => {
    const [c, s] = ring(i), angle = Math.PI * (row / rows - 0.5), r = Math.cos(angle), z = Math.sin(angle);
    return kind === "sphere" ? [r * c, r * s, z, r * c, r * s, z] : [c, s, 2 * row - 1, c, s, 0];
  };
  for (let i = 0; i < N; i++) {
    for (let row = 0; row < rows; row++) face(at(i, row), at(i + 1, row), at(i + 1, row + 1), at(i, row + 1));
    if (kind === "cylinder") for (const z of [1, -1]) {
      const middle = [0, 0, z, 0, 0, z];
      face(middle, [...ring(i), z, 0, 0, z], [...ring(i + 1), z, 0, 0, z], middle);
    }
  }
  return corners;
}

function placed([x, y, z], [w, a, b, c], [sx, sy, sz]) {  // a matrix, column by column
  return [sx * (1 - 2 * (b * b + c * c)), sx * 2 * (a * b + w * c), sx * 2 * (a * c - w * b), 0,
    sy * 2 * (a * b - w * c), sy * (1 - 2 * (a * a + c * c)), sy * 2 * (b * c + w * a), 0,
    sz * 2 * (a * c + w * b), sz * 2 * (b * c - w * a), sz * (1 - 2 * (a * a + b * b)), 0, x, y, z, 1];
}

function times(p, q) {  // of two such matrices
  return p.map((_, i) => [0, 1, 2, 3].reduce((sum, k) => sum + p[4 * k + i % 4] * q[4 * Math.floor(i / 4) + k], 0));
}

const VERTEX = `attribute vec3 point, normal; uniform mat4 place, view; uniform vec3 size; varying vec3 facing;
void main() { gl_Position = view * place * vec4(point, 1.0); facing = mat3(place) * (normal / (size * size)); }`;
const FRAGMENT = `precision mediump float; uniform vec3 colour; varying vec3 facing;
void main() { float light = dot(normalize(facing), normalize(vec3(0.5, 0.35, 0.9)));
gl_FragColor = vec4(colour * (0.62 + 0.38 * light), 1.0); }`;

function movingScene(recorded, figure, far = 1.95) {  // returns what draws a time of the run; null where nothing can be drawn
  const canvas = figure.querySelector("canvas"), gl = canvas.getContext("webgl", {antialias: true});
  if (!gl || !recorded.stamps.length) { figure.hidden = true; return null; }
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.enable(gl.DEPTH_TEST);
  const at = Object.fromEntries(["place", "view", "colour", "size"].map(name => [name, gl.getUniformLocation(program, name)]));
  const solids = {}, all = ["box", "cylinder", "sphere"].flatMap(kind => {
    const corners = solid(kind);
    solids[kind] = {first: 0, count: corners.length / 6};
    return corners;
  });
  solids.cylinder.first = solids.box.count;
  solids.sphere.first = solids.cylinder.first + solids.cylinder.count;
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(all), gl.STATIC_DRAW);
  ["point", "normal"].forEach((name, i) => {
    const where = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(where);
    gl.vertexAttribPointer(where, 3, gl.FLOAT, false, 24, 12 * i);
  });
  let locals = [];
  function load(other) {  // show another recording
    recorded = other;
    locals = recorded.shapes.map(shape => placed(shape.position, shape.wxyz, shape.size));
  }
  load(recorded);
  let turn = 0.65, tilt = 0.55, shown = recorded.stamps[0];

  function camera() {  // looks at the middle of the table from `far` away
    const up = [Math.cos(turn), Math.sin(turn)], c = Math.cos(tilt), s = Math.sin(tilt), middle = [0.3, 0, 0.5];
    const axes = [[-up[1], up[0], 0], [-s * up[0], -s * up[1], c], [c * up[0], c * up[1], s]];
    const shift = axes.map(a => -a.reduce((sum, v, i) => sum + v * middle[i], 0));
    const look = [0, 1, 2].flatMap(i => [axes[0][i], axes[1][i], axes[2][i], 0]).concat(shift[0], shift[1], shift[2] - far, 1);
    const f = 2.2, near = 0.05, end = 10;
    return times([f * canvas.height / canvas.width, 0, 0, 0, 0, f, 0, 0, 0, 0, (near + end) / (near - end), -1, 0, 0, 2 * near * end / (near - end), 0], look);
  }

  function bodies(stamp) {  // one matrix a body, between the two recorded times around a stamp
    const stamps = recorded.stamps;
    const i = Math.max(stamps.findLastIndex(s => s <= stamp + 1e-6), 0), next = Math.min(i + 1, stamps.length - 1);
    const part = stamps[next] > stamps[i] ? Math.min(Math.max((stamp - stamps[i]) / (stamps[next] - stamps[i]), 0), 1) : 0;
    const row = [];
    for (let b = 0; b < recorded.poses[i].length; b += 7) {
      const p = recorded.poses[i].slice(b, b + 7), q = recorded.poses[next].slice(b, b + 7);
      const same = p[3] * q[3] + p[4] * q[4] + p[5] * q[5] + p[6] * q[6] >= 0 ? 1 : -1;
      const mix = p.map((v, k) => (1 - part) * v + part * (k > 2 ? same : 1) * q[k]), long = Math.hypot(...mix.slice(3));
      row.push(placed(mix.slice(0, 3).map(v => v / 1e4), mix.slice(3).map(v => v / long), [1, 1, 1]));
    }
    return row;
  }

  function draw(stamp = shown) {
    shown = stamp;
    const wide = Math.round(canvas.clientWidth * devicePixelRatio), high = Math.round(canvas.clientHeight * devicePixelRatio);
    if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high; }
    gl.viewport(0, 0, wide, high);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(at.view, false, camera());
    const there = bodies(stamp);
    recorded.shapes.forEach((shape, i) => {
      gl.uniformMatrix4fv(at.place, false, times(there[shape.body], locals[i]));
      gl.uniform3fv(at.size, shape.size);
      gl.uniform3fv(at.colour, shape.colour.map(c => c / 255));
      gl.drawArrays(gl.TRIANGLES, solids[shape.kind].first, solids[shape.kind].count);
    });
  }

  canvas.addEventListener("pointerdown", event => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", event => {
    if (!event.buttons) return;
    turn -= event.movementX / 150;
    tilt = Math.min(Math.max(tilt + event.movementY / 150, 0.02), 1.55);
    draw();
  });
  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey) return;  // the page scrolls
    event.preventDefault();
    far = Math.min(Math.max(far * Math.exp(event.deltaY / 600), 0.4), 5);
    draw();
  }, {passive: false});
  new ResizeObserver(() => draw()).observe(canvas);
  return {draw, load};
}
