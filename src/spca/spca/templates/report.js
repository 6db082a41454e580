// The moving parts of a run's report: one time, shown by video, pictures, tree and plots alike.
"use strict";
const run = JSON.parse(document.getElementById("data").textContent);
const video = document.getElementById("video"), area = document.getElementById("time");
const said = stamp => run.unit === "s" ? `${stamp.toFixed(1)} s` : `${Math.round(stamp)} ${run.unit}`;
const first = run.steps.length ? run.steps[0].started : 0;
const origin = run.signals && run.signals.stamps.length ? run.signals.stamps[0] : first;
const begin = origin < 1 ? 0 : Math.min(first, origin);  // a session's clock goes on
const scene = run.signals && run.signals.scene && movingScene(run.signals.scene, document.getElementById("scene"));
const end = Math.max(run.end, begin + 1e-3, ...(run.signals ? run.signals.stamps : []));
const SPEED = run.unit === "s" ? 2 : 4;  // of the run's time, as that of the videos
let now = begin, chosen = null;

// --- pictures ---------------------------------------------------------------------------------------------

function show(id, look, what) {
  const figure = document.getElementById(id);
  figure.hidden = !look;
  if (!look) return;
  figure.querySelector("img").src = document.querySelectorAll("#looks img")[run.looks.indexOf(look)].src;
  figure.querySelector("img").alt = what;
  figure.querySelector("figcaption").textContent = `${what}, at ${said(look.stamp)}. ${look.text}`;
}

function pictures() {
  if (!run.looks.length) return;
  const step = chosen === null ? null : run.steps[chosen];
  const before = step ? run.looks.filter(l => l.stamp <= step.started + 1e-6).pop() : run.looks[0];
  const after = step ? run.looks.find(l => l.stamp >= step.ended - 1e-6) : run.looks[run.looks.length - 1];
  show("before", before || run.looks[0], step ? "The last look before" : "Before");
  show("after", after === before ? null : after, step ? "The first look after" : "After");
  document.querySelector("#shown span").textContent = step ? step.text : "the whole run";
  document.getElementById("whole").hidden = !step;
}

// --- time -------------------------------------------------------------------------------------------------

function inVideo(stamp) {  // seconds in the video at which a time of the run is shown, the last such
  const stamps = run.frames.stamps;
  let best = 0;
  stamps.forEach((s, i) => { if (Math.abs(s - stamp) <= Math.abs(stamps[best] - stamp)) best = i; });
  return (best + 0.5) / run.frames.fps;
}

function ofVideo() {
  const stamps = run.frames.stamps, i = Math.floor(video.currentTime * run.frames.fps);
  return stamps[Math.min(i, stamps.length - 1)];
}

function go(stamp) {
  if (video && run.frames) video.currentTime = inVideo(stamp);
  tell(stamp);
}

let ticking = 0;  // the timer that lets time pass where no video does

function play(on) {
  clearInterval(ticking);
  if (on && now >= end - 0.05) go(begin);
  if (video && run.frames) on ? video.play() : video.pause();
  else if (on) ticking = setInterval(() => { tell(Math.min(now + SPEED / 25, end)); if (now >= end) play(false); }, 40);
  document.getElementById("play").textContent = on ? "❚❚" : "▶";
}

function choose(index) {
  chosen = index;
  pictures();
  go(index === null ? begin : run.steps[index].started);
}

function tell(stamp) {  // show a time everywhere but in the video
  now = stamp;
  const at = run.steps.findLastIndex(s => s.started <= stamp + 1e-6 && stamp < s.ended);
  for (const node of document.querySelectorAll("[data-step]")) {
    node.classList.toggle("now", Number(node.dataset.step) === at);
    node.classList.toggle("chosen", Number(node.dataset.step) === chosen);
  }
  if (area) cursor();
  if (scene) scene.draw(stamp);
}

// --- plots ------------------------------------------------------------------------------------------------

const TALL = {joints: 120}, BAR = 20, LETTER = 6.5, NARROW = 700;  // px; what is narrower has its labels above, not beside
const COLOURS = ["#3b6fd4", "#c4622d", "#2f7d4f", "#a04668", "#8064c8", "#96650f", "#2c7a94"];
const make = (name, attributes, text) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  return node;
};
const round = (span, about) => {  // a round distance of marks
  const power = 10 ** Math.floor(Math.log10(span / about));
  return [1, 2, 5, 10].map(f => f * power).find(d => d >= 0.999 * span / about);
};
let scale = null, readings = [], line = null;

function draw() {
  const wide = area ? area.clientWidth : 0;  // 0 before it is laid out
  if (!wide) return;
  const narrow = wide < NARROW, LEFT = narrow ? 62 : 190, right = narrow ? 12 : 170;
  const samples = run.signals ? run.signals.stamps : [];
  const x = stamp => LEFT + (wide - LEFT - right) * (Math.min(Math.max(stamp, begin), end) - begin) / (end - begin);
  scale = px => begin + (end - begin) * Math.min(Math.max((px - LEFT) / (wide - LEFT - right), 0), 1);
  const svg = make("svg", {width: wide, role: "img", "aria-label": "the run over time"});
  const bands = make("g", {}), marks = make("g", {});
  svg.append(bands, marks);
  readings = [];
  let y = 0;
  const label = (text, at, bold) => svg.append(make("text", bold ? {x: 0, y: at, class: "head"} : {x: LEFT - 10, y: at, "text-anchor": "end"}, text));
  // steps: one bar each, on as many rows as their labels need
  const rows = [];
  run.steps.forEach((step, i) => {
    const from = x(step.started), to = Math.max(x(step.ended), from + 2), needs = LETTER * step.text.length + 8;
    let row = rows.findIndex(taken => taken <= from + 0.5);
    if (row < 0) row = rows.push(0) - 1;
    const group = make("g", {"data-step": i, class: `step ${step.status}`, tabindex: 0, role: "button"});
    group.append(make("title", {}, `${step.text}: ${step.status}, ${said(step.ended - step.started)}${step.failure ? "\n" + step.failure : ""}${step.log ? "\n" + step.log : ""}`));
    group.append(make("rect", {x: from, y: row * (BAR + 3), width: to - from, height: BAR, rx: 3}));
    const letters = Math.floor((to - from - 8) / LETTER), beside = step.text.length > letters && wide - to > needs;
    const text = beside || step.text.length <= letters ? step.text : letters > 3 ? step.text.slice(0, letters - 1) + "…" : "";
    group.append(make("text", {x: beside ? to + 4 : from + 5, y: row * (BAR + 3) + 14, class: beside ? "" : "in"}, text));
    rows[row] = beside ? to + needs : to;
    svg.append(group);
  });
  label("steps", 14, true);
  y = Math.max(rows.length, 1) * (BAR + 3) + 8;
  const columns = Math.max(Math.floor((wide - LEFT) / 135), 1);  // of readings above a plot
  // what was measured
  for (const plot of run.signals ? run.signals.plots : []) {
    const names = Object.keys(plot.lines), all = names.flatMap(n => plot.lines[n]);
    const tall = TALL[plot.title] || 50, low = Math.min(0, ...all), high = Math.max(0, ...all) || 1;
    const step = round(high - low, tall / 25), up = v => y + 6 + (tall - 12) * (high - v) / (high - low);
    label(plot.title, y + 16, true);
    const top = y; if (narrow) y += 16 * Math.ceil(names.length / columns) + 6;
    for (let v = Math.ceil(low / step) * step; v <= high + 1e-9; v += step) {
      marks.append(make("line", {x1: LEFT, x2: wide - right, y1: up(v), y2: up(v), class: v ? "grid" : "zero"}));
      label(`${Number(v.toPrecision(6))} ${plot.unit}`, up(v) + 4);
    }
    names.forEach((name, i) => {
      let path = "";
      samples.forEach((s, k) => { path += `${k && s >= samples[k - 1] ? "L" : "M"}${x(s).toFixed(1)} ${up(plot.lines[name][k]).toFixed(1)}`; });
      svg.append(make("path", {d: path, stroke: COLOURS[i % COLOURS.length], class: "signal"}));
      const beside = {x: wide - right + 10, y: y + 16 + (names.length > 1 ? i * (tall - 14) / (names.length - 1) : 0)};
      const above = {x: LEFT + 135 * (i % columns), y: top + 16 + 16 * Math.floor(i / columns)};
      const text = make("text", {...(narrow ? above : beside), fill: COLOURS[i % COLOURS.length]});
      svg.append(text);
      readings.push({text, name, values: plot.lines[name], unit: plot.unit});
    });
    y += tall + 10;
  }
  // contacts: those that began or ended
  const whole = span => span[0] <= begin + 0.1 && span[1] >= end - 0.1;
  const changing = run.contacts.filter(c => !(c.spans.length === 1 && whole(c.spans[0])));
  changing.forEach((contact, i) => {
    if (!i) y += 4;
    if (narrow) svg.append(make("text", {x: LEFT, y: (y += 13) - 2}, contact.text)); else label(contact.text, y + 12);
    marks.append(make("rect", {x: LEFT, y: y + 1, width: wide - LEFT - right, height: 12, class: "track", rx: 2}));
    for (const [from, to] of contact.spans) svg.append(make("rect", {x: x(from), y: y + 1, width: Math.max(x(to) - x(from), 1.5), height: 12, class: "touch", rx: 2}));
    y += 16;
  });
  // steps as bands behind everything, the axis below, and the line that says what time it is
  run.steps.forEach((step, i) => { if (i % 2 === 0) bands.append(make("rect", {x: x(step.started), y: 0, width: Math.max(x(step.ended) - x(step.started), 0), height: y, class: "band"})); });
  const every = round(end - begin, Math.max(2, (wide - LEFT - right) / 90));
  for (let t = Math.ceil(begin / every - 1e-9) * every; t <= end + 1e-9; t += every) {
    marks.append(make("line", {x1: x(t), x2: x(t), y1: y, y2: y + 5, class: "zero"}));
    svg.append(make("text", {x: x(t), y: y + 18, "text-anchor": "middle"}, Number(t.toPrecision(6))));
  }
  marks.append(make("line", {x1: LEFT, x2: wide - right, y1: y, y2: y, class: "zero"}));
  line = make("line", {y1: 0, y2: y + 5, class: "cursor"});
  svg.append(line);
  svg.setAttribute("height", y + 24);
  area.replaceChildren(svg);
  area.cursorAt = x;
  tell(now);
}

function cursor() {
  const at = area.cursorAt(now);
  line.setAttribute("x1", at);
  line.setAttribute("x2", at);
  document.getElementById("clock").textContent = said(now);
  if (!readings.length) return;
  let k = run.signals.stamps.findLastIndex(s => s <= now + 1e-6);
  if (k < 0) k = 0;
  for (const r of readings) r.text.textContent = `${r.name} ${r.values[k].toFixed(0)} ${r.unit}`;
}

// --- events -----------------------------------------------------------------------------------------------

document.addEventListener("click", event => {
  const node = event.target.closest("[data-step]");
  if (node) choose(Number(node.dataset.step));
  else if (event.target.id === "whole") choose(null);
});
document.addEventListener("keydown", event => {
  const node = event.target.closest && event.target.closest("[data-step]");
  if (node && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); choose(Number(node.dataset.step)); }
});
if (area) {
  const seek = event => { if (!event.target.closest(".step")) go(scale(event.clientX - area.getBoundingClientRect().left)); };
  document.getElementById("play").addEventListener("click", event => play(event.target.textContent === "▶"));
  area.addEventListener("pointerdown", event => { seek(event); area.dragged = true; });
  area.addEventListener("pointermove", event => { if (area.dragged) seek(event); });
  addEventListener("pointerup", () => { area.dragged = false; });
  new ResizeObserver(draw).observe(area);
}
if (video && run.frames) {
  const follow = () => { tell(ofVideo()); if (!video.paused) requestAnimationFrame(follow); };
  for (const kind of ["play", "seeked"]) video.addEventListener(kind, follow);
  video.addEventListener("ended", () => play(false));
  video.addEventListener("click", () => play(video.paused));
}
pictures();
draw();
