// A page to speak to the robot: shows what it is told, and sends what is pressed and typed.
"use strict";
const $ = id => document.getElementById(id), state = {}, key = new URLSearchParams(location.search).get("key");
const scene = movingScene({stamps: [0], shapes: [], poses: [[]]}, $("scene"), 1.75);
let socket = null;

function line(tag, text, kind) {
  const node = document.createElement(tag);
  node.textContent = text;
  node.className = kind;
  return node;
}

const show = {
  title: text => { $("title").textContent = text || "What shall be done?"; document.title = text ? `${text} · spca` : "spca"; },
  doing: text => { $("doing").textContent = text && `${text} …`; $("stop").disabled = !text; },
  goal: text => { $("goal").textContent = text || "Nothing has been asked for yet."; $("goal").className = text ? "" : "soft"; },
  plan: steps => {
    const now = steps.findIndex(step => step.mark !== "done");
    $("plan").replaceChildren(...steps.map((step, i) => line("li", step.text, step.mark || (i === now && state.doing ? "now" : "ahead"))));
  },
  talk: lines => {
    $("talk").replaceChildren(...lines.map(({text, mood, run}) => {
      const node = line("li", run ? "" : text, mood);
      if (run) {
        const link = line("a", text, "");
        Object.assign(link, {href: `/report/${run}?key=${encodeURIComponent(key)}`, target: "_blank"});
        node.append(link);
      }
      return node;
    }));
    $("talk").scrollTop = $("talk").scrollHeight;
  },
  ready: yes => {
    $("say").disabled = $("undo").disabled = $("sentence").disabled = !yes;
    if (yes && matchMedia("(hover: hover)").matches) $("sentence").focus();  // no keyboard pops up on a telephone
    $("speak").classList.toggle("busy", !yes);
  },
  question: text => { $("question").hidden = !text; $("question").querySelector("p").textContent = text; },
  asks: yes => { $("asks").checked = yes; },
  picture: data => { $("camera").querySelector("img").hidden = !data; $("camera").querySelector("p").hidden = !!data; if (data) $("camera").querySelector("img").src = data; },
  poses: row => { if (scene && row.length) { scene.load({stamps: [0], shapes: state.shapes, poses: [row]}); scene.draw(0); } },
};

function connect() {
  socket = new WebSocket(`${location.origin.replace("http", "ws")}/socket?key=${encodeURIComponent(key)}`);
  socket.onopen = () => { $("lost").hidden = true; };
  socket.onmessage = ({data}) => {
    const news = JSON.parse(data);
    Object.assign(state, news);
    for (const name in news) if (show[name]) show[name](news[name]);
    if ("doing" in news) show.plan(state.plan);
  };
  socket.onclose = () => { $("lost").hidden = false; show.ready(false); $("stop").disabled = true; setTimeout(connect, 1000); };
}

const send = order => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(order));
$("speak").addEventListener("submit", event => {
  event.preventDefault();
  if (!$("sentence").value.trim() || !state.ready) return;
  send({say: $("sentence").value});
  $("sentence").value = "";
});
$("undo").addEventListener("click", () => send({say: "undo"}));
$("stop").addEventListener("click", () => send({stop: true}));
$("yes").addEventListener("click", () => send({approve: true, asked: state.asked}));
$("no").addEventListener("click", () => send({approve: false, asked: state.asked}));
$("asks").addEventListener("change", event => send({asks: event.target.checked}));
document.addEventListener("keydown", event => { if (event.key === "Escape" && !$("stop").disabled) send({stop: true}); });
connect();
