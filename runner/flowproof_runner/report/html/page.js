// The page works without this: it adds what a static page cannot do.
(function () {
  "use strict";
  var tools = document.getElementById("tools");
  var flows = Array.prototype.slice.call(document.querySelectorAll("section.flow"));
  var rows = Array.prototype.slice.call(document.querySelectorAll("tbody tr"));

  function open(target) {
    for (var node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") { node.open = true; }
      if (node.classList.contains("flow")) { node.firstElementChild.open = true; }
    }
  }

  function follow() {
    var target = location.hash && document.getElementById(location.hash.slice(1));
    if (target) { open(target); target.scrollIntoView(); }
  }

  function button(label, act) {
    var made = document.createElement("button");
    made.type = "button";
    made.textContent = label;
    made.addEventListener("click", act);
    tools.appendChild(made);
    return made;
  }

  function everything(state) {
    return function () { flows.forEach(function (flow) { flow.firstElementChild.open = state; }); };
  }

  var failing = flows.filter(function (flow) { return /fail|error/.test(flow.dataset.verdict); });
  if (flows.length > 1 && failing.length && failing.length < flows.length) {
    var only = button("only what failed", function () {
      var on = only.getAttribute("aria-pressed") !== "true";
      only.setAttribute("aria-pressed", String(on));
      flows.concat(rows).forEach(function (part) { part.hidden = on && !/fail|error/.test(part.dataset.verdict); });
    });
    only.setAttribute("aria-pressed", "false");
  }
  button("open all", everything(true));
  button("close all", everything(false));
  tools.hidden = !flows.length;
  window.addEventListener("hashchange", follow);
  follow();
})();
